//! Which words of a trace an instruction has: one for each address that its ops access, one for which side a
//! conditional move chose, three for a string instruction. Known before it runs, so that only the words themselves have to be kept.

use lift::{Address, Condition, Op};

/// Words of a string instruction: source, target, and how many elements, negative if downwards.
pub const STRING_WORDS: usize = 3;

/// The words of one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    None,
    /// The next word is the address.
    Address(Address),
    /// The address is that of the op before that accesses memory.
    Same,
    /// The next word is 1 if the condition held, else 0.
    Outcome,
    /// The next three.
    String,
}

/// Says op after op of one instruction which words it has.
#[derive(Clone, Copy, Default)]
pub struct Plan {
    /// The last address of this instruction, as long as the registers in it are what they were.
    last: Option<Address>,
}

impl Plan {
    pub fn next(&mut self, op: &Op) -> Words {
        let words = match *op {
            Op::Load { address, .. }
            | Op::Store { address, .. }
            | Op::LoadVector { address, .. }
            | Op::StoreVector { address, .. }
            | Op::LoadExtended { address, .. }
            | Op::StoreExtended { address, .. }
            | Op::Helper { address, .. } => {
                let words = if self.last == Some(address) { Words::Same } else { Words::Address(address) };
                self.last = Some(address);
                words
            }
            Op::Select { .. } => Words::Outcome,
            Op::String { .. } => Words::String,
            _ => Words::None,
        };
        if let Some(Address { segment, base, index, .. }) = self.last {
            op.writes(|reg| {
                if [segment, base, index].contains(&reg) {
                    self.last = None;
                }
            });
        }
        words
    }
}

impl Words {
    pub fn count(self) -> usize {
        match self {
            Words::None | Words::Same => 0,
            Words::Address(_) | Words::Outcome => 1,
            Words::String => STRING_WORDS,
        }
    }
}

/// How many words an instruction has.
pub fn count(ops: &[Op]) -> usize {
    let mut plan = Plan::default();
    ops.iter().map(|op| plan.next(op).count()).sum()
}

/// A word that can be told before its instruction begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    Address(Address),
    Outcome(Condition),
}

/// The words of an instruction, if they can all be told before it begins: none is made from what the instruction
/// computes itself.
pub fn notes(ops: &[Op]) -> Option<Vec<Note>> {
    let mut plan = Plan::default();
    let mut notes = Vec::new();
    for op in ops {
        match plan.next(op) {
            Words::None | Words::Same => {}
            Words::Address(address) => {
                let parts = [address.segment, address.base, address.index];
                if address.narrow || parts.iter().any(|reg| reg.is_temp()) {
                    return None;
                }
                notes.push(Note::Address(address));
            }
            Words::Outcome => notes.push(Note::Outcome(tested(ops, op)?)),
            Words::String => return None,
        }
    }
    Some(notes)
}

/// The condition that a conditional move goes by, if the instruction tests it before anything else.
fn tested(ops: &[Op], select: &Op) -> Option<Condition> {
    match (ops.first()?, select) {
        (Op::Test { condition, dst }, Op::Select { condition: chosen_by, .. }) if dst == chosen_by => {
            Some(*condition)
        }
        _ => None,
    }
}
