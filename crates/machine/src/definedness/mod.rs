//! Uninitialised values: which bits of registers and memory were never given a value, and where the program goes by them.
//!
//! In the manner of memcheck. Bits that nobody has written are undefined, and so is what is computed from them, bit by bit: each op has a
//! rule (`registers`, with `integer`, `flags` and `vectors`) that uses what is known of values, so that what does not depend on an
//! undefined bit is not called undefined. Copying and computing is no harm; a use is a condition, an address or a jump target
//! here, and for whoever knows what system calls are, what the kernel is given. After it was told, the value counts as defined.
//! Routines that read more than they need, and find out by tricks what of it counts, are looked at as a whole (`routine`).
//!
//! [`Definedness`] is an observer of a run. What it cannot see (fresh memory, what the kernel does) it is told.

mod flags;
mod integer;
mod observe;
mod registers;
mod routine;
mod shadow;
#[cfg(test)]
mod soundness;
mod uses;
mod vectors;

pub use uses::{Origin, Use, UseKind};

use crate::{Interruption, Time};
use lift::Reg;
use observe::Pending;
use registers::{OriginCode, Registers};
use shadow::Shadow;
use std::ops::Range;
use uses::Uses;

/// The room below the stack pointer that a function may use without saying so.
const RED_ZONE: u64 = 128;

/// What is undefined in a run, and where that was used.
pub struct Definedness {
    registers: Registers,
    memory: Shadow,
    uses: Uses,
    /// The stack, below whose pointer nothing has a value.
    stack: Range<u64>,
    stack_pointer: u64,
    /// The last instruction was a call or a return, after which what lies below the stack pointer is nobody's, with the red zone.
    crossed: bool,
    /// Where the return address is of a routine that is in progress, of which what it needs has been looked at as a whole.
    inside: Option<u64>,
    /// What the op at hand does to memory.
    pending: Pending,
    time: Time,
    address: u64,
}

impl Definedness {
    /// At the start of a run: of the stack, all is undefined below its pointer. `own` is the code that places are told apart in; what other code
    /// does belongs to the call there that led to it.
    pub fn new(stack: Range<u64>, stack_pointer: u64, own: Vec<Range<u64>>) -> Definedness {
        let mut memory = Shadow::default();
        if stack.contains(&stack_pointer) {
            memory.undefine(stack.start, stack_pointer - stack.start);
        }
        Definedness {
            registers: Registers::default(),
            memory,
            uses: Uses::new(own),
            stack,
            stack_pointer,
            crossed: false,
            inside: None,
            pending: Pending::None,
            time: Time(0),
            address: 0,
        }
    }

    /// The places at which undefined values were used, in the order of the run; not more of them than anybody reads.
    pub fn uses(&self) -> &[Use] {
        self.uses.list()
    }

    /// How often undefined values were used, each place counted as often as that happened there.
    pub fn times(&self) -> u64 {
        self.uses.times()
    }

    /// Memory was handed out that nobody has written.
    pub fn undefine(&mut self, address: u64, length: u64) {
        self.memory.undefine(address, length);
    }

    /// Memory was written by somebody whom an observer does not see.
    pub fn define(&mut self, address: u64, length: u64) {
        self.memory.define(address, length);
    }

    /// So was a register.
    pub fn define_register(&mut self, reg: Reg) {
        self.registers.define(reg);
    }

    /// Memory was copied by somebody whom an observer does not see, to a place that does not overlap the other.
    pub fn copy(&mut self, from: u64, to: u64, length: u64) {
        self.memory.copy(from, to, length);
    }

    /// Memory is used as a whole, by the instruction that ran last.
    pub fn check_memory(&mut self, address: u64, length: u64, kind: UseKind) {
        if let Some((first, origin)) = self.memory.first_undefined(address, length) {
            let origin = uses::decode(origin).unwrap_or(Origin::Memory(first));
            self.uses.add(self.time, self.address, kind, Some(origin));
            self.memory.define(address, length);
        }
    }

    /// The low bits of a register are used as a whole, by the instruction that ran last.
    pub fn check_register(&mut self, reg: Reg, mask: u64, kind: UseKind) {
        if self.registers.get(reg) & mask != 0 {
            self.report(kind, self.registers.origin(reg));
            self.registers.define(reg);
        }
    }

    fn report(&mut self, kind: UseKind, origin: OriginCode) {
        if self.inside.is_some() {
            return;
        }
        self.uses.add(self.time, self.address, kind, uses::decode(origin));
    }

    /// The stack pointer has been changed: what lies below it is nobody's any more.
    fn stack_moved(&mut self, now: u64) {
        let before = std::mem::replace(&mut self.stack_pointer, now);
        let crossed = std::mem::take(&mut self.crossed);
        self.leave_routine(now);
        if !self.stack.contains(&now) {
            return;
        }
        let red_zone = now.saturating_sub(RED_ZONE).max(self.stack.start);
        if now > before && self.stack.contains(&before) {
            let start = before.saturating_sub(RED_ZONE).max(self.stack.start);
            self.memory.undefine(start, red_zone.saturating_sub(start));
        }
        if crossed {
            self.memory.undefine(red_zone, now - red_zone);
        }
    }

    /// A signal handler was entered or left: registers went to memory, or came from there.
    fn interrupted(&mut self, interruption: &Interruption) {
        for range in &interruption.written {
            self.memory.define(range.start, range.end.saturating_sub(range.start));
        }
        let entered = matches!(interruption.kind, crate::InterruptionKind::Entered { .. });
        for copied in &interruption.copies {
            let (shift, length) = (8 * u32::from(copied.first), u64::from(copied.length).min(8));
            let mask = u64::MAX.checked_shr(64 - 8 * length as u32).unwrap_or(0);
            let in_register = mask.checked_shl(shift).unwrap_or(0);
            let undefined = self.registers.get(copied.reg);
            if entered {
                let saved = u128::from((undefined & in_register).checked_shr(shift).unwrap_or(0));
                self.memory.store(copied.address, length, saved, self.registers.origin(copied.reg));
            } else {
                let loaded = self.memory.load(copied.address, length);
                let new = (loaded.undefined as u64).checked_shl(shift).unwrap_or(0);
                self.registers.set(copied.reg, undefined & !in_register | new, loaded.origin);
            }
        }
        // What the flags were set by is not saved, only they themselves.
        self.registers.forget_flags();
        let given = interruption.set.iter().chain(&interruption.told);
        given.for_each(|reg| self.registers.define(*reg));
    }
}
