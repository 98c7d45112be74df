//! Signals, as a pass that goes forwards meets them: the inverse of what the backward pass does.

use lift::{Bytes, Reg};
use linux::Place;
use machine::{Interruption, InterruptionKind, Time};

use super::super::interruptions::{ADDRESS_BYTES, FLAG_BYTES, FLAGS};
use super::super::need::{Need, Use};
use super::super::step::{Made, Watch};
use super::{Came, Forward};

const WHOLE: Bytes = 0xff;

impl<W: Watch> Forward<'_, '_, W> {
    pub(super) fn interruption(&mut self, interruption: &Interruption) {
        match interruption.kind {
            InterruptionKind::Entered { slot, .. } => self.enter_handler(interruption, slot),
            InterruptionKind::Left { .. } => self.leave_handler(interruption),
        }
    }

    fn enter_handler(&mut self, interruption: &Interruption, slot: u64) {
        let from = interruption.from;
        self.be_at(interruption);
        let entry = self.reason_of(interruption, Use::Control).filter(|_| self.follows_control());
        if let Some(need) = entry {
            self.count(need, Made::Call);
        }
        let told = self.reason_of(interruption, Use::Value);
        let saved = self.saved(interruption);
        for range in &interruption.written {
            self.carried.forget(Place::Memory(range.start), range.end.saturating_sub(range.start));
        }
        for reg in interruption.set.iter().chain(&interruption.told) {
            self.carried.take_slot(*reg);
        }
        if let Some(need) = told {
            self.count(need, Made::Register(Reg::RDI));
            interruption.told.iter().for_each(|reg| self.carried.need_slot(*reg, WHOLE, need));
            let written: Vec<u64> = interruption.written.iter().cloned().flatten().collect();
            written.into_iter().for_each(|address| self.carry(address, need));
            self.not_told(interruption);
        }
        saved.into_iter().for_each(|(address, need)| self.carry(address, need));
        let function = self.code.function_at(from);
        self.activations.push(self.code, Some(slot.wrapping_add(8)), function, None, None);
        self.activations.mark_signal();
        self.came_by = Came::ByCall { slot, entry };
    }

    /// The instruction that was interrupted is at hand.
    fn be_at(&mut self, interruption: &Interruption) {
        let from = interruption.from;
        let id = self.code.function_at(from);
        if let Came::ByCall { slot, entry } = std::mem::replace(&mut self.came_by, Came::Otherwise) {
            self.activations.push(self.code, Some(slot), id, entry, None);
        }
        let (function, stmt) = (self.code.function(id), self.code.statement_at(from));
        if let InterruptionKind::Entered { fault: true, .. } = interruption.kind {
            self.activations.come_to(from);
            self.activations.visit(stmt, |_| None);
        }
        self.now.time = Time(interruption.time.0.saturating_sub(1));
        self.now.address = from;
        self.now.block = function.flow.as_ref().and_then(|flow| flow.block_at(from));
        self.now.in_scope = function.in_scope;
        self.now.has_frame_pointer = function.has_frame_pointer;
        self.now.is_transit = false;
        self.now.instance = self.activations.instance().map(|instance| instance.number);
        self.now.reason = self.activations.reason(self.now.block).filter(|_| self.follows_control());
        self.now.anyway = self.anyway();
    }

    /// What the signal carries: that its instruction ran, and what this had its fault from.
    fn reason_of(&mut self, interruption: &Interruption, how: Use) -> Option<Need> {
        self.used.clear();
        let mut need = self.now.anyway;
        for reg in &interruption.operands {
            self.use_slot(&mut need, *reg, WHOLE, how);
        }
        for address in interruption.read.iter().cloned().flatten() {
            self.use_bytes(&mut need, address, 1, how);
        }
        need
    }

    /// What registers carry, by where they are saved.
    fn saved(&mut self, interruption: &Interruption) -> Vec<(u64, Need)> {
        let mut saved = Vec::new();
        for copied in &interruption.copies {
            for byte in 0..copied.length {
                let at = copied.address.wrapping_add(byte.into());
                self.carried
                    .look_at_slot(copied.reg, 1 << (copied.first + byte), |need| saved.push((at, need)));
            }
        }
        let mut flags: Option<Need> = None;
        for reg in FLAGS {
            self.carried.look_at_slot(reg, WHOLE, |need| {
                flags = Some(flags.map_or(need, |known| known.joined(need)));
            });
        }
        saved
            .extend((0..FLAG_BYTES).filter_map(|byte| Some((interruption.flags.wrapping_add(byte), flags?))));
        saved
    }

    /// Registers in the frame, and where the program was, are not told by the kernel.
    fn not_told(&mut self, interruption: &Interruption) {
        for copied in &interruption.copies {
            self.carried.forget(Place::Memory(copied.address), copied.length.into());
        }
        for address in [interruption.flags, interruption.rip] {
            self.carried.forget(Place::Memory(address), ADDRESS_BYTES);
        }
    }

    fn leave_handler(&mut self, interruption: &Interruption) {
        let mut restored: Vec<(Reg, Bytes, Need)> = Vec::new();
        for copied in &interruption.copies {
            for byte in 0..copied.length {
                let at = copied.address.wrapping_add(byte.into());
                let need = self.carried.need_of_memory(at);
                restored.extend(need.map(|need| (copied.reg, 1 << (copied.first + byte), need)));
            }
        }
        for byte in 0..FLAG_BYTES {
            let need = self.carried.need_of_memory(interruption.flags.wrapping_add(byte));
            restored.extend(need.into_iter().flat_map(|need| FLAGS.map(|reg| (reg, WHOLE, need))));
        }
        let target = (0..ADDRESS_BYTES)
            .filter_map(|byte| self.carried.need_of_memory(interruption.rip.wrapping_add(byte)))
            .reduce(Need::joined);
        let copied = interruption.copies.iter().map(|copied| copied.reg);
        for reg in copied.chain(FLAGS).chain(interruption.set.iter().copied()) {
            self.carried.take_slot(reg);
        }
        restored.into_iter().for_each(|(reg, bytes, need)| self.carried.need_slot(reg, bytes, need));
        self.activations.pop_signal();
        self.came_by = Came::Otherwise;
        // The handler has said where to go on.
        if let Some(need) = target.filter(|_| self.follows_control()) {
            self.activations.open(Some(need.used_as(Use::Control)), None);
        }
    }
}
