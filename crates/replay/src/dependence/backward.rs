//! The pass that goes backwards over a run and follows what a criterion depends on.
//!
//! It knows at each instant which bytes are needed, and why. An instruction that gives such a byte its value is a part of
//! the slice, and what it used is needed in its place. With control dependences, the activation then waits for the branch
//! that decided about the instruction: the first one met, going backwards, on which its block depends.

use std::collections::BTreeMap;
use std::ops::Range;

use lift::Reg;
use machine::Time;
use program::{BlockId, State};

use super::code::{Code, StmtId};
use super::frames::{Frames, Instance};
use super::need::{Need, Use};
use super::ops::Served;
use super::pending::Pending;
use super::potential::{Experiments, Potential, Strength};
use super::sharing::Sharing;
use super::slice::{Share, Slice, share_of};
use super::step::{Cell, Follow, Made, Step, Watch};
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
    pub(super) next: u64,
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

    pub(super) fn follows_control(&self) -> bool {
        self.follow != Follow::Data
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
        if W::WATCHES {
            self.watch.works(self.now.address, in_scope);
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
            match made {
                Made::Decision => share.decisions += u64::from(in_scope),
                Made::Omission(Strength::Strong) => share.omissions += 1,
                Made::Omission(Strength::Weak) => share.weak_omissions += 1,
                Made::Register(_) | Made::Memory { .. } | Made::Kernel(_) | Made::Call => {}
            }
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
            } else if made == Made::Decision {
                self.watch.decides_within(time, step.distance);
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
    pub(super) fn is_on_the_way(&mut self) -> bool {
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
    #[inline(always)]
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
