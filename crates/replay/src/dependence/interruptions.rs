//! Signals, as a pass that goes backwards meets them. What the kernel does between two instructions is treated like what a system call
//! does: registers that it saves in a handler's frame, and restores from there, keep their origin and are no step of the
//! program; what it tells the handler comes from it; that the handler ran at all is due to what the signal interrupted.

use lift::{Bytes, Reg};
use linux::Place;
use machine::{Interruption, InterruptionKind, Time};

use super::backward::{Backward, Now};
use super::need::{Need, Use};
use super::slice::Source;
use super::step::{Made, Watch};

const WHOLE: Bytes = 0xff;
/// The slots that RFLAGS are put together from, but for those bits that no program computes.
pub(super) const FLAGS: [Reg; 5] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C, Reg::DIRECTION];
/// The bytes of RFLAGS that they are in.
pub(super) const FLAG_BYTES: u64 = 2;
/// Of rip.
pub(super) const ADDRESS_BYTES: u64 = 8;

/// What was needed and turned out to be the kernel's doing.
#[derive(Default)]
struct Found {
    /// Saved from registers.
    saved: Vec<(Reg, Bytes, Need)>,
    told: Vec<(Need, Made)>,
}

impl<W: Watch> Backward<'_, '_, W> {
    pub(super) fn interruption(&mut self, interruption: &Interruption) {
        self.repeated = None;
        match interruption.kind {
            InterruptionKind::Left { stack } => self.leave_handler(interruption, stack),
            InterruptionKind::Entered { signal, slot, fault, .. } => {
                self.enter_handler(interruption, signal, slot, fault);
            }
        }
    }

    /// Registers are as a frame said. Where the program went on, too: what waits for a decision may have that from there.
    fn leave_handler(&mut self, interruption: &Interruption, stack: u64) {
        let mut needed = Vec::new();
        for copied in &interruption.copies {
            for (bytes, need) in self.pending.take_slot(copied.reg).iter() {
                let own = (0..copied.length).filter(|byte| bytes >> (copied.first + byte) & 1 != 0);
                needed.extend(own.map(|byte| (copied.address.wrapping_add(byte.into()), need)));
            }
        }
        for reg in FLAGS {
            for (_, need) in self.pending.take_slot(reg).iter() {
                needed.extend((0..FLAG_BYTES).map(|byte| (interruption.flags.wrapping_add(byte), need)));
            }
        }
        for reg in interruption.set.iter().chain(&[Reg::X87_TOP, Reg::SYSTEM_FLAGS]) {
            self.pending.take_slot(*reg);
        }
        if self.follows_control()
            && let Some(need) = self.frames.top().and_then(|frame| frame.awaits())
        {
            needed.extend((0..ADDRESS_BYTES).map(|byte| (interruption.rip.wrapping_add(byte), need)));
        }
        needed.into_iter().for_each(|(address, need)| self.need_memory(address, need));
        let function = self.code.function_at(interruption.from);
        self.frames.enter_signal(self.code, stack, function);
    }

    fn enter_handler(&mut self, interruption: &Interruption, signal: i32, slot: u64, is_fault: bool) {
        let from = interruption.from;
        let id = self.code.function_at(from);
        let left = self.frames.leave_signal(self.code, slot, id);
        let (function, stmt) = (self.code.function(id), self.code.statement_at(from));
        self.now = Now {
            // Nothing ran at the time itself but the handler.
            time: Time(interruption.time.0.saturating_sub(1)),
            address: from,
            block: function.flow.as_ref().and_then(|flow| flow.block_at(from)),
            in_scope: function.in_scope,
            has_frame_pointer: function.has_frame_pointer,
            is_transit: true,
        };
        // One that faulted was tried, which may be followed by being executed: that is not to go back.
        if is_fault {
            self.frames.visit(stmt, from.wrapping_sub(1));
            self.frames.passed(from);
        }
        let Found { saved, told } = self.take_frame(interruption);
        saved.into_iter().for_each(|(reg, bytes, need)| self.need_slot(reg, bytes, need));
        self.now.is_transit = false;
        for (need, made) in told {
            let passed = self.contribute(need, made);
            self.end(passed, Source::Signal { signal });
            self.need_operands(interruption, self.used_as(passed, Use::Value));
        }
        if let Some(need) = left.control.filter(|_| self.follows_control()) {
            let passed = self.contribute(need, Made::Call);
            self.need_operands(interruption, self.used_as(passed, Use::Control));
        }
    }

    /// All that the kernel made, before anything that it used is needed.
    fn take_frame(&mut self, interruption: &Interruption) -> Found {
        let mut found = Found::default();
        for reg in &interruption.set {
            self.pending.take_slot(*reg);
        }
        for reg in &interruption.told {
            let taken = self.pending.take_slot(*reg);
            found.told.extend(taken.iter().map(|(_, need)| (need, Made::Register(*reg))));
        }
        for copied in &interruption.copies {
            for (offset, need) in self.take_needed(copied.address, copied.length.into()) {
                found.saved.push((copied.reg, 1 << (u64::from(copied.first) + offset), need));
            }
        }
        for (_, need) in self.take_needed(interruption.flags, ADDRESS_BYTES) {
            found.saved.extend(FLAGS.map(|reg| (reg, WHOLE, need)));
        }
        // Where the program was is no computed value.
        self.take_needed(interruption.rip, ADDRESS_BYTES);
        for range in &interruption.written {
            for (offset, need) in self.take_needed(range.start, range.end.saturating_sub(range.start)) {
                let address = range.start.wrapping_add(offset);
                found.told.push((need, Made::Memory { address, length: 1 }));
            }
        }
        found
    }

    fn take_needed(&mut self, address: u64, length: u64) -> Vec<(u64, Need)> {
        let offsets = self.pending.offsets_needed(Place::Memory(address), length);
        let take = |offset| Some((offset, self.pending.take_memory(address.wrapping_add(offset))?));
        offsets.into_iter().filter_map(take).collect()
    }

    /// What an instruction that faulted had its fault from.
    fn need_operands(&mut self, interruption: &Interruption, need: Need) {
        interruption.operands.iter().for_each(|reg| self.need_slot(*reg, WHOLE, need));
        for address in interruption.read.iter().cloned().flatten() {
            self.need_memory(address, need);
        }
    }
}
