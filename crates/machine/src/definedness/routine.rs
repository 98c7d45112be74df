//! Routines that read more than they need.
//!
//! A search in whole vectors finds matches in what lies behind the end of a string, too, and drops them by arithmetic on the mask of
//! matches, which no rule about single bits sees through. So such a routine is taken as a whole: what it needs by its contract is
//! looked at when it is entered; what it goes by then is not told, and its result is defined. What it copies is followed all the same.

use super::registers::OriginCode;
use super::shadow::Shadow;
use super::uses::{self, Origin};
use super::{Definedness, UseKind};
use crate::{Access, AccessFault, Cause, Check, Cpu, Memory, Readable};
use lift::Reg;
use std::cell::{Cell, RefCell};

/// The result, and what a function may leave anything in.
const LEFT_BEHIND: [Reg; 9] =
    [Reg::RAX, Reg::RCX, Reg::RDX, Reg::RSI, Reg::RDI, Reg::R8, Reg::R9, Reg::R10, Reg::R11];

/// Memory in which what is undefined may not be read.
struct Defined<'a> {
    memory: &'a Memory,
    shadow: RefCell<&'a mut Shadow>,
    found: Cell<Option<(u64, OriginCode)>>,
    /// A bit for each argument that the routine looks at.
    arguments: Cell<u16>,
}

impl Readable for Defined<'_> {
    fn is_checked(&self, _: u64) -> bool {
        true
    }

    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        self.memory.peek(address, buffer)
    }

    fn argument(&self, cpu: &Cpu, reg: Reg) -> u64 {
        if reg.is_general() {
            self.arguments.set(self.arguments.get() | 1 << reg.0);
        }
        cpu.get(reg)
    }

    fn check_readable(&self, address: u64, length: u64) -> Result<(), AccessFault> {
        let Some(found) = self.shadow.borrow_mut().first_undefined(address, length) else { return Ok(()) };
        self.found.set(Some(found));
        Err(AccessFault { address: found.0, access: Access::Read, cause: Cause::Forbidden })
    }
}

impl Definedness {
    pub(super) fn enter_routine(&mut self, check: Check, cpu: &Cpu, memory: &Memory) {
        if self.inside.is_some() {
            return;
        }
        let defined = Defined {
            memory,
            shadow: RefCell::new(&mut self.memory),
            found: Cell::new(None),
            arguments: Cell::new(0),
        };
        // Whatever is wrong with it is in `found`.
        let _ = check(cpu, &defined);
        let (found, arguments) = (defined.found.get(), defined.arguments.get());
        if let Some((address, origin)) = found {
            let origin = uses::decode(origin).unwrap_or(Origin::Memory(address));
            self.uses.add(self.time, self.address, UseKind::Condition, Some(origin));
        }
        // The first is always a pointer; what the others are depends on the routine.
        for (reg, kind) in
            [(Reg::RDI, UseKind::Address), (Reg::RSI, UseKind::Condition), (Reg::RDX, UseKind::Condition)]
        {
            if arguments >> reg.0 & 1 != 0 {
                self.check_register(reg, u64::MAX, kind);
            }
        }
        self.inside = Some(cpu.get(Reg::RSP));
    }

    /// The stack pointer has been changed.
    pub(super) fn leave_routine(&mut self, stack_pointer: u64) {
        if self.inside.is_some_and(|slot| stack_pointer > slot) {
            self.inside = None;
            LEFT_BEHIND.into_iter().for_each(|reg| self.registers.define(reg));
            self.registers.forget_flags();
        }
    }
}
