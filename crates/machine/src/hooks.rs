//! Addresses at which something happens before the instruction there: who wants to serve a function in its place, or to look at
//! its arguments, hangs a hook on its entry.
//!
//! Nobody looks for hooks as the guest runs. A block never goes on over an address with a hook, so that one which has a hook begins
//! there, and knows it since it was lifted.

use crate::{AccessFault, Cpu, Memory};
use lift::Reg;
use std::collections::BTreeMap;
use std::ops::Range;

/// Whether a call with these arguments may go on: what it will read is checked before it does.
pub type Check = fn(&Cpu, &dyn Readable) -> Result<(), AccessFault>;

/// Memory as a [`Check`] sees it.
pub trait Readable {
    /// Whether anybody cares about what lies there.
    fn is_checked(&self, address: u64) -> bool;
    /// Copies bytes as far as they are mapped, and says how many.
    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize;
    /// An argument of the routine.
    fn argument(&self, cpu: &Cpu, reg: Reg) -> u64 {
        cpu.get(reg)
    }
    /// Whether all of these may be read.
    fn check_readable(&self, address: u64, length: u64) -> Result<(), AccessFault>;
}

impl Readable for Memory {
    fn is_checked(&self, address: u64) -> bool {
        self.checked().contains(&address)
    }

    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        Memory::peek(self, address, buffer)
    }

    fn check_readable(&self, address: u64, length: u64) -> Result<(), AccessFault> {
        Memory::check_readable(self, address, length)
    }
}

/// What happens at an address.
#[derive(Clone, Copy, Debug)]
pub enum Hook {
    /// The machine stops, and somebody else does what the function at the address is for. Then it returns to its caller: that is one
    /// instruction, whatever stands there.
    Serve,
    /// The machine stops, and then goes on with what stands there.
    Pause,
    /// What the function at the address is going to read is checked; a fault is one of its first instruction.
    Check(Check),
}

/// All hooks of a space of code.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    at: BTreeMap<u64, Hook>,
    /// Code whose loads are not checked one by one, by where it begins: where it ends.
    unchecked: BTreeMap<u64, u64>,
}

impl Hooks {
    pub fn add(&mut self, address: u64, hook: Hook) {
        self.at.insert(address, hook);
    }

    /// Loads of this code may touch bytes that are [forbidden](Memory::set_forbidden).
    pub fn leave_unchecked(&mut self, code: Range<u64>) {
        let end = self.unchecked.entry(code.start).or_insert(code.end);
        *end = code.end.max(*end);
    }

    /// Takes off all hooks in a range, which holds other code from now on.
    pub fn forget(&mut self, range: Range<u64>) {
        self.at.retain(|address, _| !range.contains(address));
        self.unchecked.retain(|start, _| !range.contains(start));
    }

    pub fn get(&self, address: u64) -> Option<Hook> {
        self.at.get(&address).copied()
    }

    pub fn is_unchecked(&self, address: u64) -> bool {
        self.unchecked.range(..=address).next_back().is_some_and(|(_, &end)| address < end)
    }
}
