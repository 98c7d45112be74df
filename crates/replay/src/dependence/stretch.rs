//! Stretches of a block that a pass takes as a whole: the instructions of one statement, one after the other.
//!
//! What a stretch makes is followed through all of its instructions at once, so that what they hand on to each other is never
//! looked for. That holds as long as no instruction reads from memory what an earlier one of the stretch has stored there,
//! which is known when the addresses are; then each instruction is a stretch of its own.

use std::ops::Range;
use std::rc::Rc;

use lift::Op;
use machine::Pass;
use program::BlockId;

use super::code::{InstructionCode, StmtId};
use super::slot_set::{SlotSet, slots_of};
use super::transfer::{self, Makes, Output, Piece, Transfer, Transfers, Wish};

/// Places in a stretch are told in a byte.
const MOST_OPS: usize = 128;
const MOST_WORDS: u16 = 128;
/// What conditional moves chose is told in a byte, a bit each.
const MOST_SELECTS: usize = 8;
/// So many pairs of a store and a later load are looked at each time.
const MOST_PAIRS: usize = 8;

pub struct Stretch {
    /// Which instructions of the block.
    pub instructions: Range<usize>,
    pub stmt: StmtId,
    /// In the function's graph.
    pub block: Option<BlockId>,
    /// It saves or restores registers: copies that are no steps of the program.
    pub is_transit: bool,
    /// The address of the last instruction.
    pub last_address: u64,
    /// Slots that it writes.
    pub writes: SlotSet,
    /// It writes memory.
    pub stores: bool,
    /// It is one instruction that goes over many places at once, or asks the kernel.
    pub is_special: bool,
    /// Where its words are among those of the block.
    pub first_word: u16,
    /// What it stores, in pieces, the last first.
    pub stored: Box<[Stored]>,
    /// What is loaded after something was stored: if they are the same, the stretch cannot be taken as a whole.
    pairs: Box<[Pair]>,
    /// The words with what conditional moves chose.
    selects: Box<[u16]>,
    transfers: Transfers,
}

/// Up to eight bytes that are stored.
#[derive(Clone, Copy)]
pub struct Stored {
    /// The number of the instruction in the stretch, and of its op.
    instruction: u8,
    op: u8,
    /// The first byte of what the op stores.
    first: u8,
    pub length: u8,
    /// The word with the op's address, among those of the stretch.
    word: u16,
}

impl Stored {
    #[inline]
    pub fn output(&self) -> Output {
        Output::Store { instruction: self.instruction, op: self.op, first: self.first }
    }

    /// Where, by the words of the stretch.
    #[inline]
    pub fn at(&self, words: &[u64]) -> u64 {
        words.get(usize::from(self.word)).copied().unwrap_or(0).wrapping_add(u64::from(self.first))
    }
}

/// Bytes of memory that an instruction accesses.
#[derive(Clone, Copy)]
struct Access {
    word: u16,
    length: u8,
}

struct Pair {
    stored: Access,
    loaded: Access,
}

impl Pair {
    #[inline]
    fn overlap(&self, words: &[u64]) -> bool {
        let at = |access: Access| words.get(usize::from(access.word)).copied().unwrap_or(0);
        let (stored, loaded) = (at(self.stored), at(self.loaded));
        loaded.wrapping_sub(stored) < u64::from(self.stored.length)
            || stored.wrapping_sub(loaded) < u64::from(self.loaded.length)
    }
}

impl Stretch {
    /// Whether no instruction loads what another has stored.
    #[inline]
    pub fn is_whole(&self, words: &[u64]) -> bool {
        !self.pairs.iter().any(|pair| pair.overlap(words))
    }

    /// Which sides conditional moves chose, a bit each.
    #[inline]
    pub fn outcome(&self, words: &[u64]) -> u8 {
        let held = |word: &u16| words.get(usize::from(*word)).is_some_and(|word| *word != 0);
        (0..).zip(&self.selects).map(|(number, word)| u8::from(held(word)) << number).sum()
    }

    /// What some bytes of a result come from.
    #[inline]
    pub fn transfer(&self, pass: &Pass<'_>, known: &[InstructionCode], wish: Wish, outcome: u8) -> &Transfer {
        self.transfers.get(wish, outcome, |wish, outcome| self.trace(pass, known, wish, outcome))
    }

    /// What each byte of all results comes from.
    pub fn makes(&self, pass: &Pass<'_>, known: &[InstructionCode], outcome: u8) -> Rc<[Makes]> {
        let slots = slots_of(self.writes).map(|slot| (Output::Slot(slot), 8));
        let stores = self.stored.iter().rev().map(|stored| (stored.output(), stored.length));
        let trace = |wish, outcome| self.trace(pass, known, wish, outcome);
        self.transfers.all(slots.chain(stores), outcome, trace)
    }

    #[cold]
    fn trace(&self, pass: &Pass<'_>, known: &[InstructionCode], wish: Wish, outcome: u8) -> Transfer {
        let own = known.get(self.instructions.clone()).unwrap_or_default();
        let with_ops = self.instructions.clone().zip(own);
        let pieces: Vec<Piece<'_>> =
            with_ops.map(|(index, known)| piece(pass.ops(index), known, self.first_word)).collect();
        transfer::trace(&pieces, wish, outcome)
    }
}

fn piece<'a>(ops: &'a [Op], known: &'a InstructionCode, first_word: u16) -> Piece<'a> {
    Piece {
        ops,
        places: &known.places,
        first_word: (known.first_word - first_word) as u8,
        is_transit: known.is_transit,
        has_frame_pointer: known.has_frame_pointer,
    }
}

/// The stretches of a block, the first first; each as long as it can be, or each of one instruction.
pub fn stretches(pass: &Pass<'_>, known: &[InstructionCode], singly: bool) -> Box<[Stretch]> {
    let mut made = Vec::new();
    let mut growing: Option<Growing> = None;
    for (index, instruction) in known.iter().enumerate() {
        let next = Growing::of(index, instruction, pass.ops(index));
        growing = match growing.take() {
            Some(before) if !singly && before.can_take(&next, known) => Some(before.with(next)),
            before => {
                made.extend(before.map(|before| before.done(known)));
                Some(next)
            }
        };
    }
    made.extend(growing.map(|last| last.done(known)));
    made.into()
}

/// A stretch that may become longer; its words are those of the block.
struct Growing {
    instructions: Range<usize>,
    ops: usize,
    words: Range<u16>,
    stored: Vec<Stored>,
    loads: Vec<Access>,
    stores: Vec<Access>,
    pairs: Vec<Pair>,
    selects: Vec<u16>,
}

impl Growing {
    fn of(index: usize, known: &InstructionCode, ops: &[Op]) -> Growing {
        let mut growing = Growing {
            instructions: index..index + 1,
            ops: ops.len(),
            words: known.first_word..known.first_word.saturating_add(known.words.into()),
            stored: Vec::new(),
            loads: Vec::new(),
            stores: Vec::new(),
            pairs: Vec::new(),
            selects: Vec::new(),
        };
        for (op, (what, place)) in (0..).zip(ops.iter().zip(&known.places)) {
            growing.add(op, what, known.first_word.saturating_add((*place).into()));
        }
        growing
    }

    fn add(&mut self, op: u8, what: &Op, word: u16) {
        let mut store = |lengths: &[u8]| {
            for (first, length) in (0..).step_by(8).zip(lengths) {
                self.stored.push(Stored { instruction: 0, op, first, length: *length, word });
            }
            self.stores.push(Access { word, length: lengths.iter().sum() });
        };
        match what {
            Op::Store { size, .. } => store(&[size.bytes() as u8]),
            Op::StoreVector { .. } => store(&[8, 8]),
            Op::StoreExtended { .. } => store(&[8, 2]),
            Op::Load { size, .. } => self.loads.push(Access { word, length: size.bytes() as u8 }),
            Op::LoadVector { .. } => self.loads.push(Access { word, length: 16 }),
            Op::LoadExtended { .. } => self.loads.push(Access { word, length: 10 }),
            Op::Select { .. } => self.selects.push(word),
            _ => {}
        }
    }

    fn can_take(&self, next: &Growing, known: &[InstructionCode]) -> bool {
        let (Some(first), Some(then)) =
            (known.get(self.instructions.start), known.get(next.instructions.start))
        else {
            return false;
        };
        first.at.stmt == then.at.stmt
            && first.at.block == then.at.block
            && first.is_transit == then.is_transit
            && !first.is_special
            && !then.is_special
            && self.ops + next.ops <= MOST_OPS
            && next.words.end - self.words.start <= MOST_WORDS
            && self.selects.len() + next.selects.len() <= MOST_SELECTS
            && self.pairs.len() + self.stores.len() * next.loads.len() <= MOST_PAIRS
    }

    fn with(mut self, next: Growing) -> Growing {
        let number = self.instructions.len() as u8;
        for stored in &self.stores {
            self.pairs.extend(next.loads.iter().map(|loaded| Pair { stored: *stored, loaded: *loaded }));
        }
        self.stored.extend(next.stored.into_iter().map(|stored| Stored { instruction: number, ..stored }));
        self.stores.extend(next.stores);
        self.loads.extend(next.loads);
        self.selects.extend(next.selects);
        self.instructions.end = next.instructions.end;
        self.words.end = next.words.end;
        self.ops += next.ops;
        self
    }

    fn done(mut self, known: &[InstructionCode]) -> Stretch {
        let own = known.get(self.instructions.clone()).unwrap_or_default();
        let first_word = self.words.start;
        self.stored.reverse();
        self.stored.iter_mut().for_each(|stored| stored.word -= first_word);
        self.selects.iter_mut().for_each(|word| *word -= first_word);
        for pair in &mut self.pairs {
            pair.stored.word -= first_word;
            pair.loaded.word -= first_word;
        }
        Stretch {
            instructions: self.instructions,
            stmt: own.first().map_or(StmtId::NONE, |first| first.at.stmt),
            block: own.first().and_then(|first| first.at.block),
            is_transit: own.first().is_some_and(|first| first.is_transit),
            is_special: own.first().is_some_and(|first| first.is_special),
            last_address: own.last().map_or(0, |last| last.at.address),
            writes: own.iter().fold(0, |set, instruction| set | instruction.writes),
            stores: own.iter().any(|instruction| instruction.stores),
            first_word,
            stored: self.stored.into(),
            pairs: self.pairs.into(),
            selects: self.selects.into(),
            transfers: Transfers::default(),
        }
    }
}
