//! What a run did, in little space: which blocks it passed through and which addresses it accessed. All else
//! follows from the ops of the blocks, which the trace leads to.
//!
//! A trace is written by the fast executor itself: in a [`CodeSpace`] for tracing, a block begins with a code that
//! notes the block, and each instruction that accesses memory is preceded by codes that note the addresses. So a traced
//! run costs little more than one that nobody watches. What the fast executor leaves to the reference
//! executor is noted by a [`Log`].

mod log;
mod plan;

pub use log::{Log, MOST_WORDS};
pub use plan::{Note, Plan, Words, count, notes};

use crate::block::{Block, CodeSpace, Instruction};
use crate::fast::SLICE;
use crate::hooks::Hook;
use crate::prefetch::prefetch;
use crate::{Core, Interruption, Time};
use lift::Op;
use std::ops::Range;
use std::sync::Arc;

/// How many passes ahead a block is fetched from memory, and how many ahead it is announced. Who goes over a run takes some hundred
/// cycles a block, which is about what it takes to get something that is not in the nearest caches.
const FETCHED: usize = 6;
const ANNOUNCED: usize = 4;

/// Where the codes for tracing write. Null when nobody traces.
#[repr(C)]
pub struct Cursor {
    pub pass: *mut u64,
    pub word: *mut u64,
}

impl Cursor {
    pub const NONE: Cursor = Cursor { pass: std::ptr::null_mut(), word: std::ptr::null_mut() };
}

/// A stretch of a run.
#[derive(Default)]
pub struct Trace {
    parts: Vec<Part>,
    interruptions: Vec<Interruption>,
}

/// A stretch within one space.
struct Part {
    /// Keeps the blocks alive.
    space: Arc<CodeSpace>,
    start: Time,
    end: Time,
    /// Pointers to blocks, or, with bit 0 set, places in `cuts`.
    passes: Vec<u64>,
    cuts: Vec<Cut>,
    words: Vec<u64>,
}

/// A pass through a part of a block.
#[derive(Clone, Copy)]
struct Cut {
    block: *const Block,
    first: u32,
    end: u32,
}

// SAFETY: the pointers lead to blocks, which are safe under threads, of spaces that the parts keep alive.
unsafe impl Send for Trace {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Trace {}

/// Some instructions of a block that ran one after the other.
pub struct Pass<'a> {
    /// When the first of them ran.
    pub time: Time,
    block: &'a Block,
    instructions: Range<usize>,
    words: &'a [u64],
}

/// One instruction that ran.
pub struct Executed<'a> {
    pub time: Time,
    pub address: u64,
    pub ops: &'a [Op],
    /// Its words, for the ops that have some, in order; see [`Plan`].
    pub words: &'a [u64],
}

impl Trace {
    pub fn new() -> Trace {
        Trace::default()
    }

    /// How many instructions ran.
    pub fn length(&self) -> u64 {
        self.parts.iter().map(|part| part.end.0.saturating_sub(part.start.0)).sum()
    }

    /// Bytes that it takes.
    pub fn size(&self) -> usize {
        self.parts
            .iter()
            .map(|part| size_of_val(&*part.passes) + size_of_val(&*part.cuts) + size_of_val(&*part.words))
            .sum()
    }

    /// What ran, the last first.
    pub fn backward(&self) -> impl Iterator<Item = Pass<'_>> {
        self.backward_announced().map(|(pass, _)| pass)
    }

    /// The same, each with the block of a pass that comes some passes later, so that what is known of it can be fetched in time.
    pub fn backward_announced(&self) -> impl Iterator<Item = (Pass<'_>, Option<u64>)> {
        self.parts.iter().rev().flat_map(Part::backward)
    }

    /// What ran, the first first.
    pub fn forward(&self) -> impl Iterator<Item = Pass<'_>> {
        self.parts.iter().flat_map(Part::forward)
    }

    /// What came between the instructions, in order. One may come before the first of them, and one after the last.
    pub fn interruptions(&self) -> &[Interruption] {
        &self.interruptions
    }

    /// Adds what has just come after all that ran.
    pub fn interrupt(&mut self, interruption: Interruption) {
        self.interruptions.push(interruption);
    }

    /// Forgets everything but keeps its memory for the next stretch.
    pub fn clear(&mut self) {
        self.interruptions.clear();
        self.parts.truncate(1);
        if let Some(part) = self.parts.first_mut() {
            part.passes.clear();
            part.cuts.clear();
            part.words.clear();
            part.end = part.start;
        }
    }

    /// From now on the run is in this space.
    pub(crate) fn enter(&mut self, space: &Arc<CodeSpace>, now: Time) {
        if let Some(part) = self.parts.last_mut() {
            if part.passes.is_empty() {
                part.space = Arc::clone(space);
                (part.start, part.end) = (now, now);
                return;
            }
            if Arc::ptr_eq(&part.space, space) && part.end == now {
                return;
            }
        }
        let (passes, cuts, words) = Default::default();
        self.parts.push(Part { space: Arc::clone(space), start: now, end: now, passes, cuts, words });
    }

    /// Lets the fast executor write for one slice.
    pub(crate) fn lend(&mut self, core: &mut Core) {
        let Some(part) = self.parts.last_mut() else { return };
        // Every block has an instruction at least, and none has more words.
        part.passes.reserve(SLICE as usize + 1);
        part.words.reserve((SLICE as usize + 1) * MOST_WORDS);
        core.trace = Cursor {
            // SAFETY: both are at the end of what is initialised, within the capacity.
            pass: unsafe { part.passes.as_mut_ptr().add(part.passes.len()) },
            // SAFETY: as above.
            word: unsafe { part.words.as_mut_ptr().add(part.words.len()) },
        };
    }

    /// Takes back what [`Trace::lend`] lent.
    pub(crate) fn take_back(&mut self, core: &mut Core, now: Time) {
        let Some(part) = self.parts.last_mut() else { return };
        // SAFETY: the executor has initialised what lies between the end of before and the cursors, which it has
        // moved on by no more than was reserved.
        unsafe {
            let passes = core.trace.pass.offset_from(part.passes.as_ptr());
            let words = core.trace.word.offset_from(part.words.as_ptr());
            part.passes.set_len(passes as usize);
            part.words.set_len(words as usize);
        }
        core.trace = Cursor::NONE;
        part.end = now;
    }

    /// The last pass came only to the instruction `end`, of which `noted` words are noted already.
    pub(crate) fn cut(&mut self, block: *const Block, end: usize, noted: usize, now: Time) {
        let Some(part) = self.parts.last_mut() else { return };
        part.passes.pop();
        part.words.truncate(part.words.len().saturating_sub(noted));
        part.end = now;
        if end > 0 {
            part.add_cut(Cut { block, first: 0, end: end as u32 });
        }
    }

    /// The reference executor has run one instruction of a block.
    pub(crate) fn note(&mut self, block: *const Block, index: usize, log: &Log, now: Time) {
        let Some(part) = self.parts.last_mut() else { return };
        part.words.extend_from_slice(log.words());
        part.end = now;
        let index = index as u32;
        match part.last_cut() {
            Some(cut) if std::ptr::eq(cut.block, block) && cut.end == index => cut.end += 1,
            _ => part.add_cut(Cut { block, first: index, end: index + 1 }),
        }
    }
}

impl Part {
    fn add_cut(&mut self, cut: Cut) {
        self.passes.push((self.cuts.len() as u64) << 1 | 1);
        self.cuts.push(cut);
    }

    /// The cut that the last pass is, if it is one.
    fn last_cut(&mut self) -> Option<&mut Cut> {
        let pass = *self.passes.last()?;
        if pass & 1 == 0 { None } else { self.cuts.get_mut((pass >> 1) as usize) }
    }

    fn cut(&self, pass: u64) -> Cut {
        if pass & 1 != 0
            && let Some(&cut) = self.cuts.get((pass >> 1) as usize)
        {
            return cut;
        }
        let block = pass as usize as *const Block;
        // SAFETY: it was noted by a block of the space that this part keeps alive.
        Cut { block, first: 0, end: unsafe { (*block).length } as u32 }
    }

    fn forward(&self) -> impl Iterator<Item = Pass<'_>> {
        let mut time = self.start.0;
        let mut words = &self.words[..];
        self.passes.iter().map(move |&pass| {
            let Cut { block, first, end } = self.cut(pass);
            // SAFETY: as above.
            let block = unsafe { &*block };
            let instructions = first as usize..end as usize;
            let begin = time;
            time = time.saturating_add(instructions.len() as u64);
            let own;
            (own, words) = words.split_at(block.words_of(&instructions).min(words.len()));
            Pass { time: Time(begin), block, instructions, words: own }
        })
    }

    fn backward(&self) -> impl Iterator<Item = (Pass<'_>, Option<u64>)> {
        let mut time = self.end.0;
        let mut words = &self.words[..];
        self.passes.iter().enumerate().rev().map(move |(index, &pass)| {
            let coming = self.announced(index);
            let Cut { block, first, end } = self.cut(pass);
            // SAFETY: as above.
            let block = unsafe { &*block };
            let instructions = first as usize..end as usize;
            time = time.saturating_sub(instructions.len() as u64);
            let own;
            (words, own) = words.split_at(words.len().saturating_sub(block.words_of(&instructions)));
            (Pass { time: Time(time), block, instructions, words: own }, coming)
        })
    }

    /// The block of a pass some passes later than this one, going backwards. One still later is fetched, for when it is asked for in
    /// its turn.
    #[inline]
    fn announced(&self, index: usize) -> Option<u64> {
        let earlier = |distance: usize| self.passes.get(index.wrapping_sub(distance)).copied();
        if let Some(pass) = earlier(FETCHED) {
            // The first line of it is enough.
            prefetch(pass as usize as *const u64);
        }
        let pass = earlier(ANNOUNCED).filter(|pass| pass & 1 == 0)?;
        let block = pass as usize as *const Block;
        // SAFETY: it was noted by a block of the space that this part keeps alive.
        Some(unsafe { (*block).number })
    }
}

impl<'a> Pass<'a> {
    /// Names the block that the instructions are of, in this and every other trace.
    pub fn block(&self) -> u64 {
        self.block.number
    }

    /// Names what ran: passes with the same key ran the same instructions, in this and every other trace.
    pub fn key(&self) -> u64 {
        // No block has more than 64 instructions.
        self.block.number << 13 | (self.instructions.start as u64) << 7 | self.instructions.end as u64
    }

    /// The instructions, the first first.
    pub fn forward(&self) -> impl Iterator<Item = Executed<'a>> {
        let (block, mut words) = (self.block, self.words);
        let (first, time) = (self.instructions.start, self.time);
        self.instructions.clone().filter_map(move |index| {
            let instruction = block.instructions.get(index)?;
            let own;
            (own, words) = words.split_at((instruction.words as usize).min(words.len()));
            Some(Executed {
                time: Time(time.0 + (index - first) as u64),
                address: instruction.address,
                ops: block.ops_of(instruction),
                words: own,
            })
        })
    }

    /// An instruction of the block, whether it ran or not.
    pub(crate) fn instruction(&self, index: usize) -> Option<(&'a Block, &'a Instruction)> {
        Some((self.block, self.block.instructions.get(index)?))
    }

    /// Whether the one instruction stands for a function that was served.
    pub fn is_served(&self) -> bool {
        matches!(self.block.hook, Some(Hook::Serve))
    }

    /// Whether what the function here is going to read was checked before its first instruction.
    pub fn is_checked(&self) -> bool {
        matches!(self.block.hook, Some(Hook::Check(_)))
    }

    /// The address of the block's first instruction, whether that is among those that ran or not.
    pub fn start(&self) -> u64 {
        self.block.start
    }

    /// All instructions of the block, with their ops, whether they ran or not.
    pub fn whole_block(&self) -> impl Iterator<Item = (u64, &'a [Op])> + use<'a> {
        let block = self.block;
        block.instructions.iter().map(|instruction| (instruction.address, block.ops_of(instruction)))
    }

    /// The ops of one instruction of the block, whether it ran or not.
    #[inline]
    pub fn ops(&self, index: usize) -> &'a [Op] {
        self.block.instructions.get(index).map_or(&[], |instruction| self.block.ops_of(instruction))
    }

    /// Which of the block's instructions ran.
    pub fn instructions(&self) -> Range<usize> {
        self.instructions.clone()
    }

    /// How many of the block's instructions ran.
    #[inline]
    pub fn length(&self) -> u64 {
        (self.instructions.end - self.instructions.start) as u64
    }

    pub fn words(&self) -> &'a [u64] {
        self.words
    }

    /// The instructions, the last first.
    pub fn backward(&self) -> impl Iterator<Item = Executed<'a>> {
        let (block, mut words) = (self.block, self.words);
        let (first, time) = (self.instructions.start, self.time);
        self.instructions.clone().rev().filter_map(move |index| {
            let instruction = block.instructions.get(index)?;
            let own;
            (words, own) = words.split_at(words.len().saturating_sub(instruction.words as usize));
            Some(Executed {
                time: Time(time.0 + (index - first) as u64),
                address: instruction.address,
                ops: block.ops_of(instruction),
                words: own,
            })
        })
    }
}
