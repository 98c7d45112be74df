//! The pass that goes backwards over a run and follows what a criterion depends on.
//!
//! It knows at each instant which bytes are needed, and why. An instruction that gives such a byte its value is a part of
//! the slice, and what it used is needed in its place. With control dependences, the activation then waits for the branch
//! that decided about the instruction: the first one met, going backwards, on which its block depends.

use std::collections::BTreeMap;
use std::ops::Range;

use lift::{Op, Reg};
use linux::{Process, SERVED, SystemCall};
use machine::{Pass, Time, Unwatched};
use program::{BlockId, State};

use super::code::{BlockCode, Code, Ending, FunctionId, StmtId};
use super::coming::Coming;
use super::frames::{Frames, Instance, Left};
use super::need::{Need, Use};
use super::ops::{Around, Served};
use super::pending::Pending;
use super::potential::{Decision, Experiments, Potential, Strength};
use super::sharing::Sharing;
use super::slice::{Share, Slice, share_of};
use super::step::{Cell, Follow, Made, Step, Watch};
use super::stretch::Stretch;
use crate::Segment;
use crate::events::sets_stack_anew;
use crate::patience::Patience;

pub struct Backward<'c, 'p, W> {
    pub(super) code: &'c mut Code<'p>,
    follow: Follow,
    pub(super) pending: Pending,
    pub(super) frames: Frames,
    pub(super) shares: Vec<Option<Share>>,
    pub(super) slice: Slice,
    pub(super) watch: &'c mut W,
    /// The instruction that ran next in time.
    next: u64,
    /// The main stack.
    pub(super) stack: Range<u64>,
    /// No byte of the stack below this is needed.
    pub(super) lowest_on_stack: u64,
    /// When the program began.
    pub(super) begin: Time,
    /// Initialisers that are in the slice.
    pub(super) initialisers: BTreeMap<StmtId, Instance>,
    pub(super) potential: Option<Potential>,
    /// What was contributed last in the block at hand: the next is nearly always the same.
    pub(super) repeated: Option<Repeated>,
    /// What the instruction at hand made; kept for its memory.
    pub(super) served: Vec<Served>,
    pub(super) sharing: Sharing,
    /// The instruction at hand.
    pub(super) now: Now,
}

/// A contribution of the statement instance at hand that changes nothing when it comes again.
#[derive(Clone, Copy)]
pub(super) struct Repeated {
    need: Need,
    stmt: StmtId,
    block: Option<BlockId>,
    passed: Need,
}

/// The instruction at hand.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub time: Time,
    pub address: u64,
    pub block: Option<BlockId>,
    pub in_scope: bool,
    pub has_frame_pointer: bool,
    pub is_transit: bool,
}

impl<'c, 'p, W: Watch> Backward<'c, 'p, W> {
    /// A pass from a stopped guest on.
    pub fn new(
        code: &'c mut Code<'p>,
        state: &State<'_>,
        begin: Time,
        follow: Follow,
        watch: &'c mut W,
    ) -> Self {
        let program = code.program();
        let frames = Frames::of(code, program, state, W::CONTEXTS);
        let next = state.registers().rip().unwrap_or(0);
        Backward {
            code,
            follow,
            pending: Pending::new(),
            frames,
            shares: Vec::new(),
            slice: Slice::default(),
            watch,
            next,
            stack: linux::STACK_TOP - linux::STACK_SIZE..linux::STACK_TOP,
            lowest_on_stack: u64::MAX,
            begin,
            initialisers: BTreeMap::new(),
            repeated: None,
            served: Vec::new(),
            sharing: Sharing::default(),
            potential: match follow {
                Follow::Relevant(bounds) => Some(Potential::new(bounds)),
                Follow::Data | Follow::Full => None,
            },
            now: Now {
                time: Time(0),
                address: next,
                block: None,
                in_scope: true,
                has_frame_pointer: false,
                is_transit: false,
            },
        }
    }

    /// Adds to what is asked about.
    pub fn ask(&mut self, cell: Cell) {
        let need = Need::of_criterion();
        match cell {
            Cell::Register(reg, bytes) => {
                self.note_slot(reg, need);
                self.pending.need_slot(reg, bytes, need);
            }
            Cell::Memory { address, length } => {
                (0..length).for_each(|byte| self.need_memory(address.wrapping_add(byte), need));
            }
            Cell::Kernel { place, length } => {
                (0..length).for_each(|byte| self.pending.need_place(place.plus(byte), need));
            }
        }
    }

    /// Asks why the guest came to where it is.
    pub fn ask_why_here(&mut self) {
        let need = Need::of_criterion().used_as(Use::Control);
        let address = self.next;
        if let Some(frame) = self.frames.top() {
            let function = self.code.function(frame.function);
            match function.flow.as_ref().and_then(|flow| flow.block_at(address)) {
                Some(block) => frame.awaiting.push((block, need)),
                None => frame.awaiting_call = Some(need),
            }
        }
    }

    /// Nothing is looked for any more.
    pub fn is_done(&self) -> bool {
        self.pending.is_empty()
            && self.frames.await_no_result()
            && (self.follow == Follow::Data || self.frames.await_nothing())
    }

    /// Goes over a stretch of the run, from its end to its start or to where the program began.
    pub fn pass(&mut self, segment: Segment<'_>) {
        if let Some(potential) = &mut self.potential {
            potential.turn();
        }
        let mut calls = segment.calls.iter().rev().peekable();
        let mut interruptions = segment.trace.interruptions().iter().rev().peekable();
        let mut ahead = Coming::default();
        for (pass, coming) in segment.trace.backward_announced() {
            if let Some(block) = coming {
                self.code.announce(block, &mut ahead);
            }
            let end = pass.time.0 + pass.instructions().len() as u64;
            while let Some(interruption) = interruptions.next_if(|interruption| interruption.time.0 >= end) {
                self.interruption(interruption);
            }
            let code = self.code.block(&pass);
            self.slice.instructions += pass.instructions().len() as u64;
            let call = code.call_time(&pass).and_then(|time| calls.next_if(|call| call.time == time));
            self.block(&pass, &code, code.ending(&pass), call, segment.before);
            if self.is_done() || pass.time <= self.begin {
                return;
            }
        }
        interruptions.for_each(|interruption| self.interruption(interruption));
    }

    fn block(
        &mut self,
        pass: &Pass<'_>,
        code: &BlockCode,
        ending: Ending,
        call: Option<&SystemCall>,
        before: &mut Process,
    ) {
        let around = Around::new(pass, code);
        let (begin, last) = (around.begin, around.end);
        self.repeated = None;
        self.now.in_scope = code.in_scope;
        self.now.has_frame_pointer = code.has_frame_pointer;
        self.now.address = last.address;
        self.now.time = Time(pass.time.0 + pass.instructions().len() as u64 - 1);
        self.now.block = last.block;
        self.now.is_transit = false;
        let (left, slot) = self.transfer(pass, code.function, ending, before);
        self.frames.visit(last.stmt, last.address);
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
        let omitted = self.omission(ending, before);
        let operand = called.or_else(|| self.decide(code, ending, omitted));
        if operand.is_none() && call.is_none() && self.has_no_part(code) {
            if !code.is_uniform {
                self.frames.skip_to(begin.stmt);
            }
        } else {
            self.instructions(&around, operand, call);
        }
        self.frames.passed(begin.address);
        self.next = begin.address;
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

    pub(super) fn follows_control(&self) -> bool {
        self.follow != Follow::Data
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

    /// A branch that decided about something in the slice is in it as well. Says why it is needed what it decided by.
    fn decide(
        &mut self,
        code: &BlockCode,
        ending: Ending,
        omitted: Option<(Need, Strength)>,
    ) -> Option<Need> {
        if !matches!(ending, Ending::Branch | Ending::IndirectJump) {
            return None;
        }
        let decided = self.decided(code).filter(|_| self.is_on_the_way());
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
        if !matches!(ending, Ending::Branch | Ending::IndirectJump)
            || !self.now.in_scope
            || self.pending.is_empty()
        {
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

    /// Goes on with what is known of experiments with the run; more are made as long as somebody waits.
    pub(crate) fn remember(&mut self, experiments: Experiments, patience: Patience) {
        if let Some(potential) = &mut self.potential {
            potential.remember(experiments, patience);
        }
    }

    /// What is known of them now.
    pub(crate) fn experiments(&mut self) -> Option<Experiments> {
        Some(std::mem::take(&mut self.potential.as_mut()?.experiments))
    }

    /// The statement instance at hand made something that is needed: it is in the slice, and what it used for that is
    /// needed as the result says.
    pub(super) fn contribute(&mut self, need: Need, made: Made) -> Need {
        self.contribute_since(need, made, self.now.time)
    }

    /// The same where it has been at it since an earlier time.
    pub(super) fn contribute_since(&mut self, need: Need, made: Made, since: Time) -> Need {
        if !self.is_on_the_way() {
            return Need::NONE;
        }
        if self.now.is_transit && matches!(made, Made::Register(_) | Made::Memory { .. }) {
            self.hand_users_on(made);
            return need;
        }
        let Now { time, in_scope, .. } = self.now;
        if let Some(repeated) = &self.repeated
            && repeated.need == need
            && repeated.block == self.now.block
            && !matches!(made, Made::Decision | Made::Omission(_) | Made::Call)
        {
            let (stmt, passed) = (repeated.stmt, repeated.passed);
            self.worked(stmt, since, time);
            return passed;
        }
        let Some(instance) = self.frames.instance() else { return need };
        let mut passed = need.passed_on(instance.number);
        if in_scope {
            passed = passed.in_scope();
        }
        let (stmt, maker) = (instance.stmt, instance.number);
        if stmt != StmtId::NONE {
            let share = share_of(&mut self.shares, stmt, time);
            share.count(passed, instance);
            (share.first, share.last) = (share.first.min(since), share.last.max(time));
            share.decisions += u64::from(made == Made::Decision && in_scope);
            share.omissions += u64::from(made == Made::Omission(Strength::Strong));
            share.weak_omissions += u64::from(made == Made::Omission(Strength::Weak));
        }
        if W::WATCHES {
            self.watch.works(self.now.address, in_scope);
        }
        if W::WATCHES {
            let step = Step {
                user: need.user(),
                how: need.how(),
                maker,
                stmt,
                context: self.frames.context(),
                time,
                address: self.now.address,
                made,
                distance: passed.distance(),
                in_library: !in_scope,
            };
            if need.user() != maker {
                self.watch.step(step);
            }
            self.tell_others(step);
        }
        self.wait_for_branch(passed);
        if !W::WATCHES {
            self.repeated = Some(Repeated { need, stmt, block: self.now.block, passed });
        }
        passed
    }

    /// A statement that is in the slice has done something for it.
    fn worked(&mut self, stmt: StmtId, first: Time, last: Time) {
        if let Some(Some(share)) = self.shares.get_mut(stmt.0 as usize) {
            (share.first, share.last) = (share.first.min(first), share.last.max(last));
        }
    }

    /// What the statement at hand decided by, it worked out since then.
    pub(super) fn worked_since(&mut self, time: Time) {
        if let Some(stmt) = self.frames.instance().map(|instance| instance.stmt) {
            self.worked(stmt, time, time);
        }
    }

    /// Whether what the instruction at hand makes is followed at all.
    fn is_on_the_way(&mut self) -> bool {
        !W::CHOOSES || self.watch.is_on_the_way(self.now.time)
    }

    /// The need of what the code at hand uses so.
    pub(super) fn used_as(&self, need: Need, how: Use) -> Need {
        if self.now.in_scope { need.used_as(how) } else { need.used_by_library(how) }
    }

    /// With control dependences, what is in the slice waits for the branch that decided about it.
    fn wait_for_branch(&mut self, need: Need) {
        if self.follow == Follow::Data {
            return;
        }
        let need = self.used_as(need, Use::Control);
        let block = self.now.block;
        let Some(frame) = self.frames.top() else { return };
        match block.filter(|_| !frame.only_calls_matter) {
            None => frame.awaiting_call = Some(frame.awaiting_call.map_or(need, |known| known.joined(need))),
            Some(block) => match frame.awaiting.iter_mut().find(|(known, _)| *known == block) {
                Some((_, known)) => *known = known.joined(need),
                None => {
                    frame.awaiting.push((block, need));
                    let waiting = &mut self.slice.stacks.waiting;
                    *waiting = frame.awaiting.len().max(*waiting);
                }
            },
        }
    }

    pub(super) fn need_slot(&mut self, reg: Reg, bytes: lift::Bytes, need: Need) {
        // What a function saves when it begins is its caller's, who may keep a value there.
        if reg == Reg::RBP && self.now.has_frame_pointer && !self.now.is_transit
            || W::CHOOSES && need.is_none()
        {
            return;
        }
        self.note_slot(reg, need);
        self.pending.need_slot(reg, bytes, need);
    }

    pub(super) fn need_memory(&mut self, address: u64, need: Need) {
        if W::CHOOSES && need.is_none() {
            return;
        }
        if self.stack.contains(&address) {
            self.lowest_on_stack = self.lowest_on_stack.min(address);
        }
        self.note_bytes(address, 1, need);
        self.pending.need_memory(address, need);
    }

    /// Some of up to 8 bytes.
    pub(super) fn need_bytes(&mut self, address: u64, bytes: lift::Bytes, need: Need) {
        if W::CHOOSES && need.is_none() {
            return;
        }
        if self.stack.contains(&address) {
            let first = address.saturating_add(u64::from(bytes.trailing_zeros()));
            self.lowest_on_stack = self.lowest_on_stack.min(first);
        }
        self.note_bytes(address, bytes, need);
        self.pending.need_bytes(address, bytes, need);
    }

    pub(super) fn is_on_stack(&self, address: u64) -> bool {
        self.stack.contains(&address)
    }
}
