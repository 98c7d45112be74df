//! The way of a pass through the blocks of a run, the last first: which activation each is of, what decided about it, and which of its
//! instructions may have made what is needed.

use lift::{Op, Reg};
use linux::{Process, SERVED, SystemCall};
use machine::{Pass, Time, Unwatched};
use program::State;

use super::backward::{Backward, Now};
use super::code::{BlockCode, Ending, FunctionId, StmtId};
use super::coming::Coming;
use super::frames::Left;
use super::need::{Need, Use};
use super::ops::Around;
use super::potential::{Decision, Strength};
use super::step::{Made, Watch};
use super::stretch::Stretch;
use crate::Segment;
use crate::events::sets_stack_anew;

impl<W: Watch> Backward<'_, '_, W> {
    /// Goes over a stretch of the run, from its end to its start or to where the program began.
    pub fn pass(&mut self, segment: Segment<'_>) {
        if let Some(potential) = &mut self.potential {
            potential.turn();
        }
        let mut calls = segment.calls;
        let mut interruptions = segment.trace.interruptions();
        let mut ahead = Coming::default();
        for (pass, coming) in segment.trace.backward_announced() {
            if let Some(block) = coming {
                self.code.announce(block, &mut ahead);
            }
            while let Some((last, earlier)) = interruptions.split_last()
                && last.time.0 >= pass.time.0 + pass.length()
            {
                self.interruption(last);
                interruptions = earlier;
            }
            let code = self.code.block(&pass);
            self.slice.instructions += pass.length();
            let around = Around::new(&pass, &code);
            if code.is_straight && around.is_whole && self.frames.is_within(code.function) {
                self.straight_block(&around, segment.before);
            } else {
                let call = code.call_time(&pass).and_then(|time| take_last(&mut calls, time));
                self.block(&around, call, segment.before);
            }
            if self.is_done() || pass.time <= self.begin {
                return;
            }
        }
        interruptions.iter().rev().for_each(|interruption| self.interruption(interruption));
    }

    /// A block of the activation at hand that stays in it, as nearly all do.
    #[inline]
    fn straight_block(&mut self, around: &Around<'_, '_>, before: &mut Process) {
        self.enter_block(around);
        self.frames.visit(around.end.stmt, around.end.address);
        let decides =
            around.code.ending == Ending::Branch && (self.potential.is_some() || self.frames.awaits_branch());
        let operand = if decides { self.decision(around.code, Ending::Branch, before) } else { None };
        self.leave_block(around, operand, None);
    }

    fn block(&mut self, around: &Around<'_, '_>, call: Option<&SystemCall>, before: &mut Process) {
        let ending = around.code.ending(around.pass);
        self.enter_block(around);
        let (left, slot) = self.transfer(around.pass, around.code.function, ending, before);
        self.frames.visit(around.end.stmt, around.end.address);
        let call = match call.filter(|call| call.number == SERVED) {
            Some(served) => {
                self.moved(served);
                None
            }
            None => call,
        };
        if let Some(slot) = slot {
            self.end_uninitialised(slot);
        }
        let called = self.take_over(left, ending);
        let operand = called.or_else(|| self.decision(around.code, ending, before));
        self.leave_block(around, operand, call);
    }

    /// The last instruction is the one at hand.
    #[inline]
    fn enter_block(&mut self, around: &Around<'_, '_>) {
        let (pass, code, last) = (around.pass, around.code, around.end);
        self.repeated = None;
        self.now = Now {
            time: Time(pass.time.0 + pass.length() - 1),
            address: last.address,
            block: last.block,
            in_scope: code.in_scope,
            has_frame_pointer: code.has_frame_pointer,
            is_transit: false,
        };
    }

    /// `operand` says why it is needed what the last instruction decides by, or calls.
    #[inline]
    fn leave_block(&mut self, around: &Around<'_, '_>, operand: Option<Need>, call: Option<&SystemCall>) {
        if operand.is_some() || call.is_some() || !self.has_no_part(around.code) {
            self.instructions(around, operand, call);
        } else if !around.code.is_uniform {
            self.frames.skip_to(around.begin.stmt);
        }
        self.frames.passed(around.begin.address);
        self.next = around.begin.address;
    }

    /// Nothing that the block writes can be needed.
    fn has_no_part(&self, code: &BlockCode) -> bool {
        code.writes & self.pending.wanted_slots() == 0 && !(code.stores && self.pending.has_memory())
    }

    /// `operand` says why it is needed what the last instruction decides by, or calls.
    fn instructions(&mut self, around: &Around<'_, '_>, operand: Option<Need>, call: Option<&SystemCall>) {
        let (pass, code) = (around.pass, around.code);
        if around.is_whole && !W::CHOOSES {
            self.stretches(&code.stretches, around, operand, call);
        } else if let Some(stretches) = code.singly(pass).get(pass.instructions()) {
            self.stretches(stretches, around, operand, call);
        }
    }

    fn stretches(
        &mut self,
        stretches: &[Stretch],
        around: &Around<'_, '_>,
        mut operand: Option<Need>,
        call: Option<&SystemCall>,
    ) {
        let mut stmt = StmtId::NONE;
        for stretch in stretches.iter().rev() {
            if stretch.stmt != stmt {
                if stmt != StmtId::NONE {
                    self.frames.passed(u64::MAX);
                    self.frames.visit(stretch.stmt, stretch.last_address);
                    self.repeated = None;
                }
                stmt = stretch.stmt;
            }
            let operand = operand.take();
            if operand.is_none() && stretch.writes & self.pending.wanted_slots() == 0 && !stretch.stores {
                continue;
            }
            let words = around.words(stretch);
            if stretch.is_special {
                self.special_stretch(stretch, around, words, call);
            } else if stretch.is_whole(words) {
                self.stretch(stretch, around, words, operand);
            } else {
                self.singly(stretch, around, operand);
            }
        }
    }

    /// A stretch whose instructions read what others have stored.
    #[cold]
    fn singly(&mut self, stretch: &Stretch, around: &Around<'_, '_>, mut operand: Option<Need>) {
        let singly = around.code.singly(around.pass).get(stretch.instructions.clone()).unwrap_or_default();
        for single in singly.iter().rev() {
            self.stretch(single, around, around.words(single), operand.take());
        }
    }

    fn special_stretch(
        &mut self,
        stretch: &Stretch,
        around: &Around<'_, '_>,
        words: &[u64],
        call: Option<&SystemCall>,
    ) {
        self.put(stretch, around, 0);
        self.tell_stretch(stretch, around);
        let ops = around.pass.ops(stretch.instructions.start);
        if ops.last() != Some(&Op::Syscall) {
            let known = around.code.instructions.get(stretch.instructions.start);
            return known.into_iter().for_each(|known| self.special(ops, words, &known.places));
        }
        if let Some(call) = call {
            self.system_call(call);
        }
        self.stretch(stretch, around, words, None);
    }

    /// Keeps account of activations. What those that begin here left open comes back, and the return slot of a call.
    fn transfer(
        &mut self,
        pass: &Pass<'_>,
        function: FunctionId,
        ending: Ending,
        before: &mut Process,
    ) -> (Left, Option<u64>) {
        let slot = pass.words().last().copied();
        match (ending, slot) {
            (Ending::Return, Some(slot)) => {
                self.frames.enter(self.code, slot, function, self.next);
                if self.code.function(function).allocator.is_some() {
                    self.take_result();
                }
                (Left::default(), None)
            }
            (Ending::Call, Some(slot)) => (self.frames.leave(self.code, slot, function), Some(slot)),
            _ if self.frames.top().is_none_or(|top| top.function != function) => {
                let unwinds = |(_, ops): (u64, &[Op])| ops.iter().any(sets_stack_anew);
                if ending != Ending::IndirectJump || !pass.whole_block().any(unwinds) {
                    return (self.frames.jump(self.code, function), None);
                }
                let mut there = before.fork();
                there.run(pass.time, &mut Unwatched);
                (self.frames.unwound(self.code, function, &State::of(&there.machine)), None)
            }
            _ => (Left::default(), None),
        }
    }

    /// What an allocator handed out depends on what was asked of it, not on how it found it.
    fn take_result(&mut self) {
        let needs = self.pending.take_slot(Reg::RAX);
        let need = needs.iter().map(|(_, need)| need).reduce(Need::joined);
        if let Some(frame) = self.frames.top() {
            frame.result = need;
        }
    }

    /// What a function left open when it began is the business of the call, or the jump, that led there. Says why it is needed
    /// what was called.
    fn take_over(&mut self, left: Left, ending: Ending) -> Option<Need> {
        if let (Some(need), Some(function)) = (left.result, left.function) {
            let passed = self.contribute(need, Made::Register(Reg::RAX));
            let arguments = self.code.function(function).allocator.unwrap_or(0);
            for reg in [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX].into_iter().take(arguments) {
                self.need_slot(reg, 0xff, passed);
            }
        }
        let passed = self.contribute(left.control?, Made::Call);
        let passed = self.used_as(passed, Use::Control);
        if left.pads && ending == Ending::Call {
            self.need_slot(Reg::RDX, 0x0f, passed);
        }
        (ending == Ending::Call).then_some(passed)
    }

    /// A branch that decided about something in the slice is in it as well, and so is one that left something out. Says why it is
    /// needed what it decided by.
    fn decision(&mut self, code: &BlockCode, ending: Ending, before: &mut Process) -> Option<Need> {
        if !matches!(ending, Ending::Branch | Ending::IndirectJump) {
            return None;
        }
        let omitted = self.omission(ending, before);
        let decided = self.decided(code).filter(|_| self.is_on_the_way());
        if omitted.is_none() && decided.is_none() {
            return None;
        }
        self.slice.decisions += u64::from(decided.is_some() && self.now.in_scope);
        let decided = decided.map(|need| self.contribute(need, Made::Decision));
        let omitted = omitted.map(|(need, strength)| self.contribute(need, Made::Omission(strength)));
        let passed = decided.into_iter().chain(omitted).reduce(Need::joined)?;
        Some(self.used_as(passed, Use::Control))
    }

    /// What in the slice waits for the branch at hand.
    fn decided(&mut self, code: &BlockCode) -> Option<Need> {
        let frame = self.frames.top().filter(|frame| !frame.awaiting.is_empty())?;
        let mut resolved: Option<Need> = None;
        frame.awaiting.retain(|(block, need)| {
            let decides = code.decides(self.code, *block);
            if decides {
                resolved = Some(resolved.map_or(*need, |known| known.joined(*need)));
            }
            !decides
        });
        resolved
    }

    /// What is needed and would have been written, had the branch or jump at hand gone another way.
    fn omission(&mut self, ending: Ending, before: &mut Process) -> Option<(Need, Strength)> {
        let potential = self.potential.as_mut()?;
        if !self.now.in_scope || self.pending.is_empty() {
            return None;
        }
        let frame = self.frames.top().and_then(|frame| frame.slot()).filter(|_| self.now.has_frame_pointer);
        let Now { time, address, .. } = self.now;
        let decision = Decision { time, address, went: self.next, frame };
        let pending = &mut self.pending;
        match ending {
            Ending::Branch => potential.omission(self.code, before, decision, pending),
            _ => potential.switch_omission(self.code, before, decision, pending),
        }
    }
}

/// The last of the calls, if it was made then.
fn take_last<'s>(calls: &mut &'s [SystemCall], time: Time) -> Option<&'s SystemCall> {
    let (last, earlier) = calls.split_last().filter(|(last, _)| last.time == time)?;
    *calls = earlier;
    Some(last)
}
