//! What instructions make their results from, worked out once for each result and set of bytes.
//!
//! A pass meets the same instructions again and again, and nearly always the same bytes of the same results are needed. So
//! the ops are followed once, through temporaries and registers, and what is left is a list of slots and of bytes of memory.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use lift::{Address, Bytes, Op, Reg, SLOTS, Value, low};
use smallvec::SmallVec;

use super::need::Use;
use super::pending::is_no_dependence;
use super::slot_set::{SlotSet, plain_slots_of};

const WHOLE: Bytes = 0xff;
/// The bytes of sign and exponent in the upper slot of an x87 register.
const EXPONENT: Bytes = 0b11;

/// A result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Slot(Reg),
    /// Several at once, none of them of the x87 unit.
    Slots(SlotSet),
    /// What the op of this number stores, of the instruction of this number: eight bytes of it, from this byte on.
    Store {
        instruction: u8,
        op: u8,
        first: u8,
    },
}

/// Some bytes of a result, in words, for the same reason as [`Need`](super::need::Need).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    slots: SlotSet,
    rest: u32,
}

/// What conditional moves chose by is wanted as well.
const CONDITIONS: u32 = 1 << 31;

impl Wish {
    #[inline]
    pub fn new(output: Output, bytes: Bytes) -> Wish {
        let (slots, kind, what, first) = match output {
            Output::Slots(slots) => (slots, 0, 0, 0),
            Output::Slot(reg) => (0, 1, reg.0, 0),
            Output::Store { instruction, op, first } => (instruction.into(), 2, op, first),
        };
        Wish { slots, rest: u32::from_le_bytes([bytes, what, first, kind]) }
    }

    #[inline]
    pub fn output(self) -> Output {
        let [_, what, first, kind] = (self.rest & !CONDITIONS).to_le_bytes();
        match kind {
            0 => Output::Slots(self.slots),
            1 => Output::Slot(Reg(what)),
            _ => Output::Store { instruction: self.slots as u8, op: what, first },
        }
    }

    pub fn bytes(self) -> Bytes {
        self.rest as Bytes
    }

    /// The same, with or without what conditional moves chose by.
    #[inline]
    pub fn with_conditions(self, follows: bool) -> Wish {
        Wish { rest: self.rest | if follows { CONDITIONS } else { 0 }, ..self }
    }

    fn follows_conditions(self) -> bool {
        self.rest & CONDITIONS != 0
    }
}

/// What some bytes of a result come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    pub slots: SmallVec<[(Reg, Bytes, Use); 6]>,
    pub memory: SmallVec<[Read; 4]>,
    /// The first and the last of the instructions that made it, unless it was only moved, or is a frame pointer that was set up,
    /// which is no dependence.
    pub makers: Option<(u8, u8)>,
    /// Some of them chose by a condition, which is a part of what they did.
    pub chooses: bool,
}

/// Bytes of memory that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The word with the address, and the distance from there.
    pub word: u8,
    pub offset: u8,
    pub bytes: Bytes,
    pub how: Use,
}

impl Transfer {
    /// The result comes from nothing.
    pub fn is_nothing(&self) -> bool {
        self.makers.is_none() && self.slots.is_empty() && self.memory.is_empty()
    }

    /// Whether they differ at most in which bytes of the same places are used.
    fn has_places_of(&self, other: &Transfer) -> bool {
        let slots =
            |transfer: &Transfer| transfer.slots.iter().map(|slot| (slot.0, slot.2)).collect::<Vec<_>>();
        let reads = |transfer: &Transfer| {
            let place = |read: &Read| (read.word, read.offset, read.how);
            transfer.memory.iter().map(place).collect::<Vec<_>>()
        };
        self.makers == other.makers && slots(self) == slots(other) && reads(self) == reads(other)
    }
}

/// All that an instruction makes, byte by byte.
pub struct Makes {
    pub output: Output,
    pub kin: Vec<Kin>,
}

/// Bytes of a result that come from bytes of the same places, if not from the same bytes of them.
pub struct Kin {
    pub bytes: Bytes,
    /// What they come from together.
    pub whole: Transfer,
    /// Bytes that come from the same, with what that is.
    pub groups: Vec<(Bytes, Transfer)>,
}

impl Makes {
    fn add(&mut self, byte: u8, transfer: Transfer) {
        let bytes = 1 << byte;
        let Some(kin) = self.kin.iter_mut().find(|kin| kin.whole.has_places_of(&transfer)) else {
            let groups = vec![(bytes, transfer.clone())];
            return self.kin.push(Kin { bytes, whole: transfer, groups });
        };
        kin.bytes |= bytes;
        kin.whole.slots.iter_mut().zip(&transfer.slots).for_each(|(all, own)| all.1 |= own.1);
        kin.whole.memory.iter_mut().zip(&transfer.memory).for_each(|(all, own)| all.bytes |= own.bytes);
        match kin.groups.iter_mut().find(|(_, known)| *known == transfer) {
            Some((known, _)) => *known |= bytes,
            None => kin.groups.push((bytes, transfer)),
        }
    }
}

/// What was asked before of one instruction, the first question first: nearly always there is no other.
#[derive(Default)]
pub struct Transfers {
    first: OnceCell<Known>,
    /// By the sides that conditional moves chose.
    makes: RefCell<Vec<(u8, Rc<[Makes]>)>>,
}

struct Known {
    wish: Wish,
    /// Which sides conditional moves chose, a bit each.
    outcome: u8,
    transfer: Transfer,
    next: OnceCell<Box<Known>>,
}

impl Transfers {
    #[inline]
    pub fn get(&self, wish: Wish, outcome: u8, trace: impl Fn(Wish, u8) -> Transfer) -> &Transfer {
        let make = || Known { wish, outcome, transfer: trace(wish, outcome), next: OnceCell::new() };
        let mut known = self.first.get_or_init(make);
        while known.wish != wish || known.outcome != outcome {
            known = known.next.get_or_init(|| Box::new(make()));
        }
        &known.transfer
    }

    /// What each byte of these results comes from; the number of bytes of each is given.
    pub fn all(
        &self,
        outputs: impl Iterator<Item = (Output, u8)>,
        outcome: u8,
        trace: impl Fn(Wish, u8) -> Transfer,
    ) -> Rc<[Makes]> {
        if let Some((_, known)) = self.makes.borrow().iter().find(|(known, _)| *known == outcome) {
            return known.clone();
        }
        let made: Rc<[Makes]> = outputs
            .map(|(output, length)| {
                let mut makes = Makes { output, kin: Vec::new() };
                for byte in 0..length {
                    makes.add(byte, trace(Wish::new(output, 1 << byte).with_conditions(true), outcome));
                }
                makes
            })
            .collect();
        self.makes.borrow_mut().push((outcome, made.clone()));
        made
    }
}

/// The slots that an op gives a value. Float instructions add to the exception flags, which next to nobody reads, x87 ones tell how
/// they rounded; the rounding mode, which all of them read, is not theirs.
pub fn made_slots(op: &Op, mut each: impl FnMut(Reg)) {
    op.writes(|slot| {
        let is_by_the_way = match op {
            Op::Vector { .. } => slot == Reg::MXCSR,
            Op::X87 { op, .. } => slot == Reg::X87_FLAGS || slot == Reg::X87_CODES && !op.defines_codes(),
            Op::Rotate { .. } => slot == Reg::X87_TOP,
            _ => false,
        };
        if !is_by_the_way {
            each(slot);
        }
    });
}

/// An instruction.
pub struct Piece<'a> {
    pub ops: &'a [Op],
    /// For each op, where its words are, counted from `first_word`.
    pub places: &'a [u8],
    pub first_word: u8,
    /// It is a copy that is no step of the program: by which address is no dependence.
    pub is_transit: bool,
    /// rbp is the function's frame pointer.
    pub has_frame_pointer: bool,
}

/// What is wanted of slots, by use.
struct Wanted {
    slots: [[Bytes; 3]; SLOTS],
    /// The slots of which something may be wanted.
    touched: SmallVec<[Reg; 16]>,
    transfer: Transfer,
    /// Of the instruction at hand: it makes something that is wanted, from something, and the frame pointer.
    makes: bool,
    uses: bool,
    sets_frame_pointer: bool,
    follows_conditions: bool,
}

/// Follows instructions back from some bytes of a result.
pub fn trace(pieces: &[Piece<'_>], wish: Wish, outcome: u8) -> Transfer {
    let mut wanted = Wanted {
        slots: [[0; 3]; SLOTS],
        touched: SmallVec::new(),
        transfer: Transfer::default(),
        makes: false,
        uses: false,
        sets_frame_pointer: false,
        follows_conditions: wish.follows_conditions(),
    };
    let (pieces, end) = wanted.begin(pieces, wish);
    let is_select = |op: &&Op| matches!(op, Op::Select { .. });
    let ran =
        |number: usize, piece: &Piece<'_>| if number + 1 == pieces.len() { end } else { piece.ops.len() };
    let all = pieces.iter().enumerate();
    let mut selects: usize =
        all.map(|(number, piece)| piece.ops.iter().take(ran(number, piece)).filter(is_select).count()).sum();
    for (number, piece) in pieces.iter().enumerate().rev() {
        for (op, place) in piece.ops.iter().zip(piece.places).take(ran(number, piece)).rev() {
            selects -= usize::from(is_select(&op));
            wanted.through(op, piece.first_word + place, outcome >> selects & 1 != 0);
        }
        wanted.leave(number as u8, piece);
    }
    wanted.touched.sort_unstable();
    for reg in &wanted.touched {
        let by_use = wanted.slots[reg.index()];
        for (how, bytes) in USES.into_iter().zip(by_use).filter(|(_, bytes)| *bytes != 0) {
            wanted.transfer.slots.push((*reg, bytes, how));
        }
    }
    wanted.transfer
}

const USES: [Use; 3] = [Use::Value, Use::Address, Use::Control];

impl Wanted {
    /// What a wish wants; with the instructions that made it, and how many ops of the last one.
    fn begin<'a, 'b>(&mut self, pieces: &'a [Piece<'b>], wish: Wish) -> (&'a [Piece<'b>], usize) {
        let bytes = wish.bytes();
        let all = pieces.last().map_or(0, |last| last.ops.len());
        match wish.output() {
            Output::Slot(reg) => self.add(reg, bytes, Use::Value),
            Output::Slots(set) => plain_slots_of(set).for_each(|reg| self.add(reg, bytes, Use::Value)),
            Output::Store { instruction, op, first } => {
                let pieces = pieces.get(..=usize::from(instruction)).unwrap_or(pieces);
                self.makes = true;
                match pieces.last().and_then(|piece| piece.ops.get(usize::from(op))) {
                    Some(Op::Store { src, address, .. }) => {
                        self.value(*src, bytes, Use::Value);
                        self.address(address);
                    }
                    Some(Op::StoreVector { src, address, .. } | Op::StoreExtended { src, address }) => {
                        let half = if first == 0 { *src } else { src.high_half() };
                        self.slot(half, bytes, Use::Value);
                        self.address(address);
                    }
                    _ => {}
                }
                return (pieces, usize::from(op));
            }
        }
        (pieces, all)
    }

    /// The beginning of an instruction is reached.
    fn leave(&mut self, number: u8, piece: &Piece<'_>) {
        let only_sets_frame_pointer = self.sets_frame_pointer && !self.uses;
        if self.makes && !only_sets_frame_pointer {
            let last = self.transfer.makers.map_or(number, |(_, last)| last);
            self.transfer.makers = Some((number, last));
        }
        (self.makes, self.uses, self.sets_frame_pointer) = (false, false, false);
        for reg in self.touched.iter().copied() {
            let by_use = &mut self.slots[reg.index()];
            // What a function saves when it begins is its caller's, who may keep a value there.
            let is_frame = reg == Reg::RBP && piece.has_frame_pointer && !piece.is_transit;
            if reg.is_temp() || is_no_dependence(reg) || is_frame {
                *by_use = [0; 3];
            }
            if piece.is_transit {
                by_use[Use::Address as usize] = 0;
            }
        }
    }

    fn slot(&mut self, reg: Reg, bytes: Bytes, how: Use) {
        if reg != Reg::ZERO && bytes != 0 {
            self.uses = true;
            self.add(reg, bytes, how);
        }
    }

    fn add(&mut self, reg: Reg, bytes: Bytes, how: Use) {
        if !self.touched.contains(&reg) {
            self.touched.push(reg);
        }
        self.slots[reg.index()][how as usize] |= bytes;
    }

    fn value(&mut self, value: Value, bytes: Bytes, how: Use) {
        if let Value::Reg(reg) = value {
            self.slot(reg, bytes, how);
        }
    }

    fn address(&mut self, address: &Address) {
        self.address_used(address, Use::Address);
    }

    fn address_used(&mut self, address: &Address, how: Use) {
        self.slot(address.base, WHOLE, how);
        self.slot(address.index, WHOLE, how);
    }

    /// What is wanted after the op is replaced by what is wanted before it.
    fn through(&mut self, op: &Op, place: u8, chose: bool) {
        // All of it is taken before anything is added: an op may read what it overwrites.
        let mut taken = SmallVec::<[_; 4]>::new();
        made_slots(op, |slot| taken.push((slot, std::mem::take(&mut self.slots[slot.index()]))));
        for (slot, by_use) in taken {
            for (how, bytes) in USES.into_iter().zip(by_use).filter(|(_, bytes)| *bytes != 0) {
                // An x87 register that changes its place is no step of the program.
                self.makes |= !op.moves_x87();
                self.made_by(op, slot, bytes, how, place, chose);
            }
        }
    }

    fn made_by(&mut self, op: &Op, slot: Reg, bytes: Bytes, how: Use, place: u8, chose: bool) {
        match op {
            Op::Load { size, address, .. } => self.load(bytes & low(*size), 0, address, how, place),
            Op::LoadVector { dst, address, .. } => {
                self.load(bytes, if slot == *dst { 0 } else { 8 }, address, how, place);
            }
            Op::LoadExtended { dst, address } => {
                let (bytes, offset) = if slot == *dst { (bytes, 0) } else { (bytes & EXPONENT, 8) };
                self.load(bytes, offset, address, how, place);
            }
            Op::Select { size, condition, yes, no, .. } => {
                let bytes = bytes & low(*size);
                self.slot(if chose { *yes } else { *no }, bytes, how);
                if bytes != 0 && self.follows_conditions {
                    self.transfer.chooses = true;
                    self.slot(*condition, 1, Use::Control);
                }
            }
            _ => {
                let sources = op.sources(slot, bytes);
                let mut slots = sources.slots();
                if slot == Reg::RBP
                    && slots.next().is_some_and(|(reg, _)| reg == Reg::RSP)
                    && slots.next().is_none()
                {
                    self.sets_frame_pointer = true;
                    return;
                }
                for (reg, bytes) in sources.slots() {
                    self.slot(reg, bytes, how);
                }
            }
        }
    }

    fn load(&mut self, bytes: Bytes, offset: u8, address: &Address, how: Use, place: u8) {
        if bytes == 0 {
            return;
        }
        self.uses = true;
        self.transfer.memory.push(Read { word: place, offset, bytes, how });
        self.address_used(address, how.max(Use::Address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lift::{Binary, Size};

    fn piece<'a>(ops: &'a [Op], places: &'a [u8], first_word: u8) -> Piece<'a> {
        Piece { ops, places, first_word, is_transit: false, has_frame_pointer: true }
    }

    fn of_rax(bytes: Bytes) -> Wish {
        Wish::new(Output::Slots(1 << Reg::RAX.0), bytes)
    }

    #[test]
    fn a_register_that_is_loaded_through_itself_is_an_address_before() {
        let address = Address::register(Reg::RAX);
        let ops = [Op::Load { size: Size::B8, dst: Reg::RAX, address }];
        let transfer = trace(&[piece(&ops, &[0], 0)], of_rax(1), 0);
        assert_eq!(*transfer.slots, [(Reg::RAX, WHOLE, Use::Address)]);
        assert_eq!(*transfer.memory, [Read { word: 0, offset: 0, bytes: 1, how: Use::Value }]);
    }

    #[test]
    fn temporaries_are_gone_and_memory_that_is_added_to_is_read_as_well() {
        let (address, temp) = (Address::offset(Reg::RBX, 8), Reg::temp(0));
        let ops = [
            Op::Load { size: Size::B4, dst: temp, address },
            Op::Binary { function: Binary::Add, size: Size::B4, dst: temp, a: temp, b: Reg::RCX.into() },
            Op::Store { size: Size::B4, src: temp.into(), address },
        ];
        let output = Output::Store { instruction: 0, op: 2, first: 0 };
        let transfer = trace(&[piece(&ops, &[0, 1, 0], 0)], Wish::new(output, 0b10), 0);
        assert_eq!(*transfer.slots, [(Reg::RCX, 0b11, Use::Value), (Reg::RBX, WHOLE, Use::Address)]);
        assert_eq!(*transfer.memory, [Read { word: 0, offset: 0, bytes: 0b11, how: Use::Value }]);
    }

    #[test]
    fn bytes_of_a_sum_are_kin_and_the_zeros_above_are_others() {
        let (dst, b) = (Reg::RAX, Reg::RCX.into());
        let ops = [Op::Binary { function: Binary::Add, size: Size::B4, dst, a: dst, b }];
        let outputs = [(Output::Slot(dst), 8)].into_iter();
        let whole = |wish, outcome| trace(&[piece(&ops, &[0], 0)], wish, outcome);
        let makes = Transfers::default().all(outputs, 0, whole);
        let kin: Vec<_> = makes[0].kin.iter().map(|kin| (kin.bytes, kin.groups.len())).collect();
        assert_eq!(kin, [(0x0f, 4), (0xf0, 1)]);
        assert_eq!(*makes[0].kin[0].whole.slots, [(dst, 0x0f, Use::Value), (Reg::RCX, 0x0f, Use::Value)]);
    }

    #[test]
    fn a_conditional_move_takes_one_side_and_the_condition() {
        let (condition, size) = (Reg::RDX, Size::B8);
        let ops = [Op::Select { size, dst: Reg::RAX, condition, yes: Reg::RBX, no: Reg::RCX }];
        for (outcome, side) in [(0, Reg::RCX), (1, Reg::RBX)] {
            let wish = of_rax(WHOLE).with_conditions(true);
            let mut transfer = trace(&[piece(&ops, &[0], 0)], wish, outcome);
            transfer.slots.sort_by_key(|(_, _, how)| *how);
            assert_eq!(*transfer.slots, [(side, WHOLE, Use::Value), (condition, 1, Use::Control)]);
            assert!(transfer.chooses, "also where the condition comes from elsewhere");
            let data = trace(&[piece(&ops, &[0], 0)], of_rax(WHOLE), outcome);
            assert_eq!(*data.slots, [(side, WHOLE, Use::Value)]);
            assert!(!data.chooses);
        }
    }

    #[test]
    fn instructions_hand_on_to_each_other_and_the_frame_pointer_is_nothing() {
        let (counter, index) = (Address::offset(Reg::RBP, -8), Address::register(Reg::RCX));
        let load = [Op::Load { size: Size::B8, dst: Reg::RCX, address: counter }];
        let other = [Op::Move { dst: Reg::RDX, src: Value::Const(1) }];
        let read = [Op::Load { size: Size::B4, dst: Reg::RAX, address: index }];
        let pieces = [piece(&load, &[0], 0), piece(&other, &[0], 1), piece(&read, &[0], 1)];
        let transfer = trace(&pieces, of_rax(1), 0);
        assert_eq!(*transfer.slots, []);
        let reads = [(1, 1, Use::Value), (0, WHOLE, Use::Address)];
        assert_eq!(*transfer.memory, reads.map(|(word, bytes, how)| Read { word, offset: 0, bytes, how }));
        assert_eq!(transfer.makers, Some((0, 2)));
    }
}
