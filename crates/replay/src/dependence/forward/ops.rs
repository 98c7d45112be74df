//! What the results of one instruction carry.

use lift::{Bytes, Reg};

use super::super::need::{Need, Use};
use super::super::ran::Ran;
use super::super::slot_set::slots_of;
use super::super::step::{Made, Watch};
use super::super::stretch::Stored;
use super::super::transfer::{Output, Read, Transfer};
use super::Forward;

/// Bytes of a result that carry something.
#[derive(Clone, Copy)]
pub(super) struct Written {
    output: Output,
    /// Where it was stored.
    at: u64,
    bytes: Bytes,
    need: Need,
}

impl<W: Watch> Forward<'_, '_, W> {
    /// One instruction that may use or overwrite what carries something.
    pub(super) fn instruction(&mut self, ran: &Ran<'_, '_>) {
        let known = ran.known;
        if known.is_special {
            return self.special(ran.ops, ran.words, &known.places);
        }
        // All results first: an instruction may use what it overwrites.
        let mut written = std::mem::take(&mut self.written);
        written.clear();
        let uses = self.now.anyway.is_some()
            || known.reads & self.carried.wanted_slots() != 0
            || self.carried.has_memory() && self.touches(ran.words);
        if uses {
            self.results(ran, &mut written);
        }
        for slot in slots_of(known.writes & self.carried.wanted_slots()) {
            self.carried.take_slot(slot);
        }
        if self.carried.has_memory() {
            for stored in ran.stored() {
                self.carried.take_bytes_to(stored.at(ran.words), u64::from(stored.length), |_, _| {});
            }
        }
        for result in &written {
            self.write(result);
        }
        self.written = written;
    }

    fn results(&mut self, ran: &Ran<'_, '_>, written: &mut Vec<Written>) {
        let mut counted = None;
        for made in ran.makes().iter() {
            for kin in made.kin.iter().filter(|kin| !kin.whole.is_nothing()) {
                if kin.groups.len() == 1 || self.is_even(&kin.whole, ran.words) {
                    self.result(ran, made.output, (kin.bytes, &kin.whole), &mut counted, written);
                    continue;
                }
                for (bytes, transfer) in &kin.groups {
                    self.result(ran, made.output, (*bytes, transfer), &mut counted, written);
                }
            }
        }
    }

    /// Some bytes of a result; `counted` is what was counted last of the instruction.
    fn result(
        &mut self,
        ran: &Ran<'_, '_>,
        output: Output,
        (bytes, transfer): (Bytes, &Transfer),
        counted: &mut Option<Need>,
        written: &mut Vec<Written>,
    ) {
        self.used.clear();
        let Some(mut need) = self.gathered(transfer, ran.words, None) else { return };
        let stored = ran.stored().iter().find(|stored| stored.output() == output);
        let at = stored.map_or(0, |stored| stored.at(ran.words));
        // An x87 register that changes its place is nothing that the instruction made.
        let is_made = transfer.makers.is_some();
        if is_made {
            self.watch.carried(self.now.time);
        }
        let is_step = !self.now.is_transit && is_made;
        if is_step && (W::WATCHES || *counted != Some(need)) {
            self.count(need, told(output, at, stored));
            *counted = Some(need);
        }
        if matches!(output, Output::Store { .. }) {
            need = self.kept(need, at);
        }
        match written.last_mut() {
            Some(last) if last.output == output && last.need == need => last.bytes |= bytes,
            _ => written.push(Written { output, at, bytes, need }),
        }
    }

    /// Whether each place carries the same in all bytes that are used of it, so that all bytes of a result do.
    fn is_even(&mut self, transfer: &Transfer, words: &[u64]) -> bool {
        let carried = &mut self.carried;
        transfer.slots.iter().all(|&(reg, bytes, _)| carried.is_slot_even(reg, bytes))
            && (!carried.has_memory()
                || transfer.memory.iter().all(|&Read { word, offset, bytes, .. }| {
                    let word = words.get(usize::from(word)).copied().unwrap_or(0);
                    carried.are_bytes_even(word.wrapping_add(u64::from(offset)), bytes)
                }))
    }

    fn write(&mut self, result: &Written) {
        match result.output {
            Output::Slot(reg) => self.carried.need_slot(reg, result.bytes, result.need),
            Output::Slots(_) | Output::Store { .. } => {
                if self.stack.contains(&result.at) {
                    self.lowest_on_stack = self.lowest_on_stack.min(result.at);
                }
                self.carried.need_bytes(result.at, result.bytes, result.need);
            }
        }
    }

    /// What the instruction at hand makes from this carries; `how` is the use of it all, if it has one in common.
    pub(super) fn gathered(&mut self, transfer: &Transfer, words: &[u64], how: Option<Use>) -> Option<Need> {
        // What only changes its place carries what it carried, as what is on its way to where it is kept does.
        let is_moved = how.is_none() && transfer.makers.is_none();
        let is_transit = self.now.is_transit;
        self.now.is_transit |= is_moved;
        let mut result = self.now.anyway.filter(|_| !self.now.is_transit);
        for &(reg, bytes, own) in &transfer.slots {
            self.use_slot(&mut result, reg, bytes, how.unwrap_or(own));
        }
        if self.carried.has_memory() {
            for &Read { word, offset, bytes, how: own } in &transfer.memory {
                let word = words.get(usize::from(word)).copied().unwrap_or(0);
                let at = word.wrapping_add(u64::from(offset));
                self.use_bytes(&mut result, at, bytes, how.unwrap_or(own));
            }
        }
        self.now.is_transit = is_transit;
        result
    }

    pub(super) fn use_slot(&mut self, result: &mut Option<Need>, reg: Reg, bytes: Bytes, how: Use) {
        let is_left_out = match how {
            Use::Value => false,
            Use::Address => self.now.is_transit,
            Use::Control => !self.follows_control(),
        };
        // What a function saves when it begins is its caller's, who may keep a value there.
        if is_left_out || reg == Reg::RBP && self.now.has_frame_pointer && !self.now.is_transit {
            return;
        }
        let (now, used) = (&self.now, &mut self.used);
        self.carried.look_at_slot(reg, bytes, |need| now.add::<W>(result, used, need, how));
    }

    pub(super) fn use_bytes(&mut self, result: &mut Option<Need>, address: u64, bytes: Bytes, how: Use) {
        let (now, used) = (&self.now, &mut self.used);
        self.carried.look_at_bytes(address, bytes, |need| now.add::<W>(result, used, need, how));
    }

    /// What trusted code puts off the stack it keeps for itself.
    pub(super) fn kept(&self, need: Need, address: u64) -> Need {
        if self.now.in_scope || self.stack.contains(&address) { need } else { need.kept() }
    }

    /// A byte of memory carries something.
    pub(super) fn carry(&mut self, address: u64, need: Need) {
        if self.stack.contains(&address) {
            self.lowest_on_stack = self.lowest_on_stack.min(address);
        }
        self.carried.need_memory(address, need);
    }
}

fn told(output: Output, at: u64, stored: Option<&Stored>) -> Made {
    match (output, stored) {
        (Output::Slot(reg), _) => Made::Register(reg),
        (_, stored) => Made::Memory { address: at, length: stored.map_or(0, |stored| stored.length.into()) },
    }
}
