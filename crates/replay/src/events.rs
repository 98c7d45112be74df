//! What happens in a pass through a block, read off its ops once and then known.
//!
//! A trace says which blocks ran and which addresses they accessed. Those who walk over it ask of each pass the same few
//! things: where it is, how it ends, where the stack is at a call or return, what it stores. [`Shapes`]
//! answers without a look at the ops.

use std::collections::HashMap;
use std::ops::Range;

use lift::{Binary, Op, Reg, StringKind, Value};
use machine::{Executed, Pass, Plan, Words};
use rustc_hash::FxBuildHasher;

/// How control leaves a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It goes on with the next instruction, or nobody knows yet.
    Next,
    /// To a fixed place.
    Jump,
    /// To `taken`, or on to the next instruction.
    Branch {
        taken: u64,
    },
    /// To a place that was computed. `stack` says that the stack pointer was set on the way to something that is
    /// no function of itself or of the frame pointer, as longjmp does.
    Indirect {
        stack: bool,
    },
    /// `slot` is the word of the pass with the address of the return address.
    Call {
        slot: u16,
        return_address: u64,
    },
    Return {
        slot: u16,
    },
    System,
}

/// What a pass through a block, or through a part of one, does.
#[derive(Debug)]
pub struct Shape {
    /// Of the instructions, in order; never empty.
    addresses: Box<[u64]>,
    pub ending: Ending,
    stores: Box<[Store]>,
    /// The registers that it writes, a bit each.
    pub registers: RegisterSet,
}

/// Registers, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet([u64; 4]);

#[derive(Clone, Copy, Debug)]
struct Store {
    /// Which instruction of the pass.
    instruction: u16,
    word: u16,
    /// Of a string instruction, those of an element.
    bytes: u64,
    is_string: bool,
}

/// The shapes of the passes that were met, by [`Pass::key`].
#[derive(Default)]
pub struct Shapes {
    places: HashMap<u64, u32, FxBuildHasher>,
    shapes: Vec<Shape>,
}

impl Shapes {
    pub fn of(&mut self, pass: &Pass<'_>) -> &Shape {
        let place = self.place(pass);
        &self.shapes[place as usize]
    }

    /// The number of the shape: small, and the same for the same key.
    pub fn place(&mut self, pass: &Pass<'_>) -> u32 {
        if let Some(&place) = self.places.get(&pass.key()) {
            return place;
        }
        let place = self.shapes.len() as u32;
        self.shapes.push(Shape::new(pass));
        self.places.insert(pass.key(), place);
        place
    }

    pub fn get(&self, place: u32) -> Option<&Shape> {
        self.shapes.get(place as usize)
    }
}

impl Shape {
    pub fn new(pass: &Pass<'_>) -> Shape {
        let mut addresses = Vec::new();
        let mut stores = Vec::new();
        let mut registers = RegisterSet::default();
        let mut ending = Ending::Next;
        let mut word = 0u16;
        let mut sets_stack = false;
        for (number, executed) in (0..).zip(pass.forward()) {
            addresses.push(executed.address);
            let mut last_word = word;
            let mut plan = Plan::default();
            for op in executed.ops {
                let words = plan.next(op);
                if matches!(words, Words::Address(_) | Words::String) {
                    last_word = word;
                }
                word += words.count() as u16;
                op.writes(|register| registers.add(register));
                sets_stack |= sets_stack_anew(op);
                if let Some((bytes, is_string)) = stored(op) {
                    stores.push(Store { instruction: number, word: last_word, bytes, is_string });
                }
                ending = end_of(op, last_word, sets_stack);
            }
        }
        Shape { addresses: addresses.into(), ending, stores: stores.into(), registers }
    }

    pub fn start(&self) -> u64 {
        self.addresses.first().copied().unwrap_or(0)
    }

    /// The address of the last instruction.
    pub fn last(&self) -> u64 {
        self.addresses.last().copied().unwrap_or(0)
    }

    /// Of the instructions, in order.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// Which of its instructions has the address.
    pub fn find(&self, address: u64) -> Option<usize> {
        self.addresses.binary_search(&address).ok()
    }

    /// Calls `each` with the ranges of memory that the first `instructions` of it stored to.
    pub fn stores(&self, pass: &Pass<'_>, instructions: usize, mut each: impl FnMut(Range<u64>)) {
        for store in self.stores.iter().take_while(|store| usize::from(store.instruction) < instructions) {
            let word = |offset: u16| pass.words().get(usize::from(store.word + offset)).copied().unwrap_or(0);
            if store.is_string {
                each(elements(word(1), word(2) as i64, store.bytes));
            } else {
                each(word(0)..word(0).saturating_add(store.bytes));
            }
        }
    }
}

impl RegisterSet {
    pub fn add(&mut self, register: Reg) {
        if !register.is_temp() {
            self.0[register.index() / 64] |= 1 << (register.index() % 64);
        }
    }

    pub fn add_all(&mut self, other: &RegisterSet) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub fn contains(&self, register: Reg) -> bool {
        self.0[register.index() / 64] >> (register.index() % 64) & 1 != 0
    }

    /// Takes one out.
    pub fn remove(&mut self, register: Reg) {
        self.0[register.index() / 64] &= !(1 << (register.index() % 64));
    }

    /// Those that are in both.
    pub fn common(&self, other: &RegisterSet) -> RegisterSet {
        RegisterSet(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        (0u8..).zip(self.0).flat_map(|(number, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as u8;
                let register = (word != 0).then(|| Reg(64 * number + bit));
                word &= word.wrapping_sub(1);
                register
            })
        })
    }
}

impl FromIterator<Reg> for RegisterSet {
    fn from_iter<I: IntoIterator<Item = Reg>>(registers: I) -> RegisterSet {
        let mut set = RegisterSet::default();
        registers.into_iter().for_each(|register| set.add(register));
        set
    }
}

/// Memory that an instruction read or wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    pub range: Range<u64>,
    pub write: bool,
}

/// The accesses of an instruction that ran, in the order of its ops.
pub fn accesses(executed: &Executed<'_>) -> Vec<MemoryAccess> {
    let mut found = Vec::new();
    let mut plan = Plan::default();
    let mut words = executed.words.iter().copied();
    let mut address = 0;
    for op in executed.ops {
        match plan.next(op) {
            Words::Address(_) => address = words.next().unwrap_or(0),
            Words::String => {
                let [source, target, count] = [(); 3].map(|()| words.next().unwrap_or(0));
                string_accesses(op, source, target, count as i64, &mut found);
                continue;
            }
            Words::Outcome => {
                words.next();
                continue;
            }
            Words::None => continue,
            Words::Same => {}
        }
        if let Some(bytes) = loaded(op) {
            found.push(MemoryAccess { range: address..address.saturating_add(bytes), write: false });
        }
        if let Some((bytes, false)) = stored(op) {
            found.push(MemoryAccess { range: address..address.saturating_add(bytes), write: true });
        }
    }
    found
}

fn string_accesses(op: &Op, source: u64, target: u64, count: i64, found: &mut Vec<MemoryAccess>) {
    let Op::String { kind, size, .. } = op else { return };
    let (read, write): (&[u64], bool) = match kind {
        StringKind::Move => (&[source], true),
        StringKind::Load => (&[source], false),
        StringKind::Store => (&[], true),
        StringKind::Scan => (&[target], false),
        StringKind::Compare => (&[source, target], false),
    };
    let range = |first: u64| elements(first, count, size.bytes());
    found.extend(read.iter().map(|first| MemoryAccess { range: range(*first), write: false }));
    if write {
        found.push(MemoryAccess { range: range(target), write: true });
    }
}

/// The bytes of so many elements from `first` on; if negative, towards lower addresses.
fn elements(first: u64, count: i64, bytes: u64) -> Range<u64> {
    let length = count.unsigned_abs().saturating_mul(bytes);
    let start = if count < 0 { first.wrapping_add(bytes).wrapping_sub(length) } else { first };
    start..start.saturating_add(length)
}

/// How many bytes an op reads at its address.
fn loaded(op: &Op) -> Option<u64> {
    match op {
        Op::Load { size, .. } => Some(size.bytes()),
        Op::LoadVector { .. } => Some(16),
        Op::LoadExtended { .. } => Some(10),
        Op::Helper { helper, .. } => Some(helper.effects().loads).filter(|bytes| *bytes > 0),
        _ => None,
    }
}

/// How many bytes an op writes at its address, or for each element; and whether there are elements.
fn stored(op: &Op) -> Option<(u64, bool)> {
    match op {
        Op::Store { size, .. } => Some((size.bytes(), false)),
        Op::StoreVector { .. } => Some((16, false)),
        Op::StoreExtended { .. } => Some((10, false)),
        Op::Helper { helper, .. } => Some((helper.effects().stores, false)).filter(|(bytes, _)| *bytes > 0),
        Op::String { kind: StringKind::Move | StringKind::Store, size, .. } => Some((size.bytes(), true)),
        _ => None,
    }
}

/// Whether the stack pointer gets a value that follows neither from itself nor from the frame pointer.
pub(crate) fn sets_stack_anew(op: &Op) -> bool {
    match *op {
        Op::Move { dst: Reg::RSP, src } => !matches!(src, Value::Reg(Reg::RBP | Reg::RSP)),
        Op::Binary { function: Binary::Add | Binary::Sub | Binary::And, dst: Reg::RSP, a, .. } => {
            !matches!(a, Reg::RSP | Reg::RBP)
        }
        Op::Lea { dst: Reg::RSP, address, .. } => !matches!(address.base, Reg::RSP | Reg::RBP),
        Op::Load { dst: Reg::RSP, .. } => true,
        _ => false,
    }
}

fn end_of(op: &Op, slot: u16, stack: bool) -> Ending {
    match *op {
        Op::Jump { target: Value::Const(_) } => Ending::Jump,
        Op::Jump { target: Value::Reg(_) } => Ending::Indirect { stack },
        Op::Branch { taken, .. } => Ending::Branch { taken },
        Op::Call { return_address, .. } => Ending::Call { slot, return_address },
        Op::Return { .. } => Ending::Return { slot },
        Op::Syscall => Ending::System,
        _ => Ending::Next,
    }
}
