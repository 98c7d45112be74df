//! Blocks of lifted code, and the spaces that hold them.
//!
//! A block is a straight run of guest instructions, lifted once. It keeps the plain ops, which are the
//! meaning and what observers see, and the fast code made from them.
//!
//! A [`CodeSpace`] is shared by a machine and its forks, also across threads. Blocks are linked to each
//! other directly, without a look at the guest's memory, so this must hold: machines that share a space have
//! the same executable mappings with the same bytes, and none of what was lifted is writable. A machine that
//! changes what is executable leaves for a space of its own; so does one that runs code from a writable page.

use crate::fast::{self, Codes};
use crate::hooks::{Hook, Hooks};
use crate::intervention::Edit;
use crate::trace;
use crate::{Memory, PAGE_SIZE};
use lift::{Decoded, MAX_INSTRUCTION, Op, Trap};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, RwLock};

/// Longest block, in instructions. Short enough that a budget is rarely cut within one.
const MAX_INSTRUCTIONS: usize = 64;
// [`trace::Pass::key`] has so much room.
const _: () = assert!(MAX_INSTRUCTIONS <= 64);

/// Bytes of blocks that a space holds. A guest can start a block at each byte of its code, and blocks are far
/// larger than the code that they come from, so the limit on its memory is no limit on these.
const MAX_SPACE: usize = 128 << 20;

/// The number of the next block that is made.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

// What is asked of a block each time that a pass over a run comes to it stands first, in one line of the host's caches.
#[repr(C)]
pub struct Block {
    /// No other block has it, in any space, also not after this one is gone.
    pub number: u64,
    pub start: u64,
    /// How many instructions it has.
    pub length: u64,
    /// How many words they have in a trace.
    words: usize,
    /// The address after the last instruction.
    pub end: u64,
    pub instructions: Box<[Instruction]>,
    ops: Box<[Op]>,
    pub codes: Codes,
    /// For each code, the instruction that it begins with.
    pub origins: Box<[u16]>,
    /// Where control goes: `[not taken or next, taken or jumped to]`, where that is fixed.
    pub targets: [u64; 2],
    /// What happens before its first instruction.
    pub hook: Option<Hook>,
    /// Its loads may touch forbidden bytes.
    pub unchecked: bool,
}

#[derive(Clone, Copy)]
pub struct Instruction {
    pub address: u64,
    /// How many words it has in a trace.
    pub words: u16,
    first_op: u32,
    end_op: u32,
}

// SAFETY: a code's pointers lead to functions, to the block and to its ops; all of it is never changed once
// the block is made, but for the links, which are atomic.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    pub fn ops_of(&self, instruction: &Instruction) -> &[Op] {
        self.ops.get(instruction.first_op as usize..instruction.end_op as usize).unwrap_or(&[])
    }

    /// How many words these instructions have in a trace.
    pub fn words_of(&self, instructions: &Range<usize>) -> usize {
        let whole = instructions.len() as u64 == self.length;
        if whole {
            return self.words;
        }
        let some = self.instructions.get(instructions.clone()).unwrap_or(&[]);
        some.iter().map(|instruction| instruction.words as usize).sum()
    }

    /// Bytes that it takes.
    fn size(&self) -> usize {
        size_of::<Block>()
            + size_of_val(&*self.instructions)
            + size_of_val(&*self.ops)
            + size_of_val(&*self.origins)
            + self.codes.size()
    }
}

/// Edits by instruction address: what a diversion changes in the program itself.
pub type Edits = HashMap<u64, Edit>;

#[derive(Default)]
pub struct CodeSpace {
    blocks: RwLock<FxHashMap<u64, Box<Block>>>,
    /// Bytes that the blocks take.
    size: AtomicUsize,
    /// Non-empty only in the private space of a diversion.
    edits: Edits,
    hooks: Arc<Hooks>,
    /// Whether its blocks write a trace.
    tracing: bool,
    /// The space of the same code whose blocks write a trace.
    traced: OnceLock<Arc<CodeSpace>>,
}

/// Why there is no block at an address.
pub enum NoBlock {
    /// Nothing executable is mapped there, from this address on.
    Unfetchable(u64),
    /// It is not lifted yet, and the space has no room for more: time for another one.
    Full,
}

impl CodeSpace {
    /// An empty space with other edits.
    pub fn with_edits(&self, edits: Edits) -> CodeSpace {
        CodeSpace { edits, hooks: Arc::clone(&self.hooks), ..CodeSpace::default() }
    }

    /// An empty space with the same edits and hooks.
    pub fn another(&self) -> CodeSpace {
        CodeSpace { tracing: self.tracing, ..self.with_edits(self.edits.clone()) }
    }

    /// An empty space with other hooks.
    pub fn with_hooks(&self, hooks: Arc<Hooks>) -> CodeSpace {
        CodeSpace { hooks, ..self.another() }
    }

    /// The space of the same code whose blocks write a trace.
    pub fn traced(&self) -> Arc<CodeSpace> {
        let make = || Arc::new(CodeSpace { tracing: true, ..self.another() });
        Arc::clone(self.traced.get_or_init(make))
    }

    /// An empty space with the same edits, whose blocks write no trace.
    pub fn untraced(&self) -> CodeSpace {
        CodeSpace { tracing: false, ..self.another() }
    }

    pub fn edits(&self) -> &Edits {
        &self.edits
    }

    pub fn hooks(&self) -> &Arc<Hooks> {
        &self.hooks
    }

    /// Changes hooks in code of which nothing has been lifted.
    pub fn change_hooks(&mut self, change: impl FnOnce(&mut Hooks)) {
        change(Arc::make_mut(&mut self.hooks));
        self.traced = OnceLock::new();
    }

    /// Whether anything of a stretch of code has been lifted.
    pub fn has_lifted(&self, code: &Range<u64>) -> bool {
        let overlaps = |block: &Block| block.start < code.end && code.start < block.end;
        self.blocks.read().is_ok_and(|blocks| blocks.values().any(|block| overlaps(block)))
    }

    /// Whether a block has been lifted that begins at an address.
    pub fn begins_at(&self, address: u64) -> bool {
        self.blocks.read().is_ok_and(|blocks| blocks.contains_key(&address))
    }

    pub fn block_count(&self) -> usize {
        self.blocks.read().map_or(0, |blocks| blocks.len())
    }

    /// The block at `address`, lifted now if it is new. The pointer is good for as long as the space is:
    /// blocks are boxed and never removed.
    pub fn block_at(&self, address: u64, memory: &Memory) -> Result<*const Block, NoBlock> {
        if let Ok(blocks) = self.blocks.read()
            && let Some(block) = blocks.get(&address)
        {
            return Ok(&raw const **block);
        }
        if self.size.load(Relaxed) >= MAX_SPACE {
            return Err(NoBlock::Full);
        }
        let block = self.lift_block(address, memory)?;
        self.size.fetch_add(block.size(), Relaxed);
        // A poisoned lock means that another thread panicked between two complete states.
        let mut blocks = self.blocks.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(&raw const **blocks.entry(address).or_insert(block))
    }

    /// Fetches and lifts from `address` to the first control transfer, or to the next hook.
    fn lift_block(&self, address: u64, memory: &Memory) -> Result<Box<Block>, NoBlock> {
        let hook = self.hooks.get(address);
        let unchecked = self.hooks.is_unchecked(address);
        let mut ops = Vec::new();
        let mut instructions = Vec::new();
        let mut at = address;
        while instructions.len() < MAX_INSTRUCTIONS {
            let first_op = ops.len();
            let first = instructions.is_empty();
            if !first && (self.hooks.get(at).is_some() || self.hooks.is_unchecked(at) != unchecked) {
                break;
            }
            let length = match hook {
                Some(Hook::Serve) => lift_return(at, &mut ops),
                _ => lift_one(at, memory, &self.edits, &mut ops, first)?,
            };
            let Some(length) = length else { break };
            let ends = ops[first_op..].iter().any(Op::ends_block);
            let words = trace::count(&ops[first_op..]) as u16;
            instructions.push(Instruction {
                address: at,
                words,
                first_op: first_op as u32,
                end_op: ops.len() as u32,
            });
            at = at.wrapping_add(length);
            if ends {
                break;
            }
        }
        let block = Lifted { start: address, end: at, instructions, ops, hook, unchecked };
        Ok(assemble(block, self.tracing))
    }
}

/// What the blocks of a space are made from.
struct Lifted {
    start: u64,
    end: u64,
    instructions: Vec<Instruction>,
    ops: Vec<Op>,
    hook: Option<Hook>,
    unchecked: bool,
}

/// What stands where a function is served: the return to its caller.
fn lift_return(at: u64, ops: &mut Vec<Op>) -> Option<u64> {
    const RETURN: [u8; 1] = [0xc3];
    match lift::decode(&RETURN, at) {
        Decoded::Instruction(instruction) => {
            lift::lift(&instruction, ops);
            Some(RETURN.len() as u64)
        }
        Decoded::Truncated | Decoded::Invalid => None,
    }
}

/// Appends one instruction and says how long it is. An instruction that cannot be fetched ends the block
/// before it, unless it would be the first.
fn lift_one(
    at: u64,
    memory: &Memory,
    edits: &Edits,
    ops: &mut Vec<Op>,
    first: bool,
) -> Result<Option<u64>, NoBlock> {
    let mut bytes = [0; MAX_INSTRUCTION];
    let available = memory.fetch(at, &mut bytes);
    let unfetchable = NoBlock::Unfetchable(at.wrapping_add(available as u64));
    match lift::decode(&bytes[..available], at) {
        Decoded::Instruction(instruction) => {
            let start = ops.len();
            lift::lift(&instruction, ops);
            if let Some(edit) = edits.get(&at) {
                edit.apply(ops, start);
            }
            Ok(Some(instruction.len() as u64))
        }
        Decoded::Truncated if first => Err(unfetchable),
        Decoded::Truncated => Ok(None),
        Decoded::Invalid => {
            ops.push(Op::Trap(Trap::InvalidOpcode));
            Ok(Some(1))
        }
    }
}

fn assemble(lifted: Lifted, tracing: bool) -> Box<Block> {
    let Lifted { start, end, instructions, ops, hook, unchecked } = lifted;
    let targets = match ops.last() {
        Some(&Op::Branch { taken, not_taken, .. }) => [not_taken, taken],
        Some(&Op::Jump { target: lift::Value::Const(target) })
        | Some(&Op::Call { target: lift::Value::Const(target), .. }) => [end, target],
        _ => [end, end],
    };
    let mut block = Box::new(Block {
        number: NEXT_NUMBER.fetch_add(1, Relaxed),
        start,
        end,
        length: instructions.len() as u64,
        words: instructions.iter().map(|instruction| instruction.words as usize).sum(),
        instructions: instructions.into(),
        ops: ops.into(),
        codes: Codes::new(Vec::new(), 0, std::ptr::null()),
        origins: Box::default(),
        targets,
        hook,
        unchecked,
    });
    let (code, origins) = fast::compile(&block, tracing);
    block.codes = Codes::new(code, block.length, &raw const *block);
    block.origins = origins.into();
    block
}

/// The pages that a block's bytes lie in.
pub fn pages_of(block: &Block) -> impl Iterator<Item = u64> {
    let first = block.start & !(PAGE_SIZE - 1);
    let last = block.end.wrapping_sub(1) & !(PAGE_SIZE - 1);
    [first, last].into_iter().take(if first == last { 1 } else { 2 })
}
