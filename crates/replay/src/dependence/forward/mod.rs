//! The pass that goes forwards over a run and follows what comes of a criterion.
//!
//! It knows at each instant which bytes carry something that came from the criterion. It is the inverse of the
//! backward pass: an instruction is met here if and only if the criterion is in the full backward slice of what it made, by
//! the same rules of what is a dependence. A byte's [`Need`] says here which instance made it and how far that is from the
//! criterion. Since a byte has one maker, who knows all that it used, distances are the least.

mod activations;
mod ahead;
mod interruptions;
mod kernel;
mod ops;
mod strings;

use std::ops::Range;

use lift::{Bytes, Op, Reg, Value};
use linux::{Process, SystemCall};
use machine::{Pass, Time, Unwatched};
use program::{BlockId, State};

use self::activations::Activations;
use self::ahead::Ahead;
use self::ops::Written;
use super::code::{BlockCode, Code, Ending, StmtId};
use super::contexts::Context;
use super::need::{Need, Use};
use super::pending::Pending;
use super::ran::{Ran, forwards};
use super::seed::{Seed, SeedKind};
use super::slice::{Share, Slice, share_of};
use super::step::{Cell, Follow, Made, Step, Watch};
use super::transfer::{Output, Wish};
use crate::Segment;
use crate::events::sets_stack_anew;

pub struct Forward<'c, 'p, W> {
    code: &'c mut Code<'p>,
    follow: Follow,
    /// The bytes that carry something; what is taken is overwritten.
    carried: Pending,
    activations: Activations,
    shares: Vec<Option<Share>>,
    slice: Slice,
    watch: &'c mut W,
    /// What is still to be taken up, the next last.
    seeds: Vec<Seed>,
    /// The statement instances that were under way at the first of them, that of the outermost activation first.
    under_way: Vec<Option<u32>>,
    /// Statement instances whose results are all asked about.
    origins: Vec<u32>,
    /// How control came to what runs next.
    came_by: Came,
    /// The main stack.
    stack: Range<u64>,
    /// No byte of the stack below this carries anything.
    lowest_on_stack: u64,
    /// What the instruction at hand wrote; kept for its memory.
    written: Vec<Written>,
    now: Now,
    /// What the result at hand came from, for those who want to see steps.
    used: Vec<Need>,
}

/// The instruction at hand.
#[derive(Clone, Copy)]
struct Now {
    time: Time,
    address: u64,
    block: Option<BlockId>,
    in_scope: bool,
    has_frame_pointer: bool,
    is_transit: bool,
    /// The number of its statement instance.
    instance: Option<u32>,
    /// What it ran because of carries this.
    reason: Option<Need>,
    /// All that it makes carries this, by what it ran because of or since it is asked about.
    anyway: Option<Need>,
}

enum Came {
    Otherwise,
    /// By a jump that set the stack pointer, as longjmp does.
    Unwinding,
    ByCall {
        slot: u64,
        entry: Option<Need>,
    },
    ByReturn,
}

impl<'c, 'p, W: Watch> Forward<'c, 'p, W> {
    /// A pass from a stopped guest on.
    pub fn new(
        code: &'c mut Code<'p>,
        state: &State<'_>,
        mut seeds: Vec<Seed>,
        follow: Follow,
        watch: &'c mut W,
    ) -> Self {
        seeds.sort_by_key(|seed| std::cmp::Reverse(seed.time));
        let activations = Activations::of(code, state);
        Forward {
            code,
            follow,
            carried: Pending::new(),
            activations,
            shares: Vec::new(),
            slice: Slice::default(),
            watch,
            seeds,
            under_way: Vec::new(),
            origins: Vec::new(),
            came_by: Came::Otherwise,
            stack: linux::STACK_TOP - linux::STACK_SIZE..linux::STACK_TOP,
            lowest_on_stack: u64::MAX,
            written: Vec::new(),
            now: Now {
                time: Time(0),
                address: 0,
                block: None,
                in_scope: false,
                has_frame_pointer: false,
                is_transit: false,
                instance: None,
                reason: None,
                anyway: None,
            },
            used: Vec::new(),
        }
    }

    /// Nothing carries anything any more, nor will.
    pub fn is_done(&self) -> bool {
        let under_way = self.activations.under_way();
        self.seeds.is_empty()
            && self.origins.iter().all(|origin| !under_way.contains(&Some(*origin)))
            && self.carried.is_empty()
            && self.activations.carry_nothing()
    }

    /// Goes over a stretch of the run.
    pub fn pass(&mut self, segment: Segment<'_>) {
        let mut calls = segment.calls.iter().peekable();
        let mut ahead = Ahead::new(segment.trace);
        let mut interruptions = segment.trace.interruptions().iter().peekable();
        for pass in segment.trace.forward() {
            while let Some(interruption) =
                interruptions.next_if(|interruption| interruption.time <= pass.time)
            {
                self.interruption(interruption);
            }
            let code = self.code.block(&pass);
            self.slice.instructions += pass.instructions().len() as u64;
            let call = code.call_time(&pass).and_then(|time| calls.next_if(|call| call.time == time));
            self.arrive(&pass, &code, segment.before);
            self.block(&pass, &code, code.ending(&pass), call, &mut ahead);
        }
        interruptions.for_each(|interruption| self.interruption(interruption));
    }

    fn follows_control(&self) -> bool {
        self.follow != Follow::Data
    }

    /// Keeps account of activations as control comes to a block.
    fn arrive(&mut self, pass: &Pass<'_>, code: &BlockCode, before: &mut Process) {
        let came_by = std::mem::replace(&mut self.came_by, Came::Otherwise);
        let top = self.activations.top().map(|top| top.function);
        let (called, entry) = match came_by {
            Came::ByCall { slot, entry } => (Some(slot), entry),
            Came::ByReturn if top.is_some() => return,
            Came::Otherwise | Came::Unwinding if top == Some(code.function) => return,
            _ if top.is_none() => (None, None),
            // What ran last has jumped out of its function.
            _ => (None, self.call(None)),
        };
        let allocator = self.code.function(code.function).allocator;
        let result = allocator.map(|arguments| self.allocation(arguments));
        let slot = called.or_else(|| {
            if matches!(came_by, Came::Unwinding) {
                let mut there = before.fork();
                there.run(pass.time, &mut Unwatched);
                let above = there.machine.cpu.get(Reg::RSP).saturating_sub(1);
                while self.activations.pop_left(above).is_some() {}
            }
            self.activations.pop().and_then(|replaced| replaced.slot)
        });
        self.activations.push(self.code, slot, code.function, entry, result);
    }

    fn block(
        &mut self,
        pass: &Pass<'_>,
        code: &BlockCode,
        ending: Ending,
        call: Option<&SystemCall>,
        ahead: &mut Ahead<'_>,
    ) {
        let range = pass.instructions();
        let Some(first) = code.instructions.get(range.start) else { return };
        let Some(last) = code.instructions.get(range.end.saturating_sub(1)) else { return };
        self.now.in_scope = code.in_scope;
        self.now.has_frame_pointer = code.has_frame_pointer;
        self.activations.come_to(first.at.address);
        if first.begins_block {
            self.activations.close(first.at.address);
        }
        let slot = pass.words().last().copied().unwrap_or(0);
        let entry = if call.is_none() && self.can_skip(pass, code, [first.at.block, last.at.block]) {
            self.skip(pass, code, ending, ahead);
            None
        } else {
            self.instructions(pass, code, ending, call, ahead)
        };
        self.activations.passed(last.at.address);
        match ending {
            Ending::Call => {
                self.forget_below(slot);
                self.came_by = Came::ByCall { slot, entry };
            }
            Ending::Return => self.returned(slot),
            Ending::IndirectJump if pass.whole_block().any(|(_, ops)| ops.iter().any(sets_stack_anew)) => {
                self.came_by = Came::Unwinding;
            }
            _ => {}
        }
    }

    /// Nothing of what runs carries anything, or is overwritten that does.
    fn can_skip(&mut self, pass: &Pass<'_>, code: &BlockCode, blocks: [Option<BlockId>; 2]) -> bool {
        let end = pass.time.0 + pass.instructions().len() as u64;
        self.seeds.last().is_none_or(|seed| seed.time.0 >= end)
            && (self.origins.is_empty() || !self.is_in_origin())
            && blocks.iter().all(|block| self.activations.reason(*block).is_none())
            && (code.reads | code.writes) & self.carried.wanted_slots() == 0
            && !(code.accesses
                && self.carried.has_memory()
                && (code.is_special || self.touches(pass.words())))
    }

    fn is_in_origin(&mut self) -> bool {
        let number = self.activations.instance().map(|instance| instance.number);
        number.is_some_and(|number| self.origins.contains(&number))
    }

    /// Whether some access may be to a byte that carries something.
    fn touches(&mut self, words: &[u64]) -> bool {
        words.iter().any(|word| self.carried.needs_memory(*word, 16))
    }

    fn skip(&mut self, pass: &Pass<'_>, code: &BlockCode, ending: Ending, ahead: &mut Ahead<'_>) {
        let ran = code.instructions.get(pass.instructions()).unwrap_or_default();
        for begun in ran.iter().skip(1).filter(|instruction| instruction.begins_block) {
            self.activations.close(begun.at.address);
        }
        let Some((first, last)) = ran.first().zip(ran.last()) else { return };
        if code.is_uniform || ran.iter().all(|instruction| instruction.at.stmt == first.at.stmt) {
            let known = &mut *self.code;
            self.activations.visit(first.at.stmt, |from| ahead.statement(known, pass, from));
        } else {
            self.activations.skip_to(last.at.stmt);
        }
        if matches!(ending, Ending::Branch | Ending::IndirectJump) && last.at.block.is_some() {
            self.activations.open(None, code.meeting);
        }
        self.now.time = Time(pass.time.0 + pass.instructions().len() as u64 - 1);
        self.now.anyway = None;
        self.now.instance = self.activations.instance().map(|instance| instance.number);
    }

    /// Goes over the instructions of a block; what a call at its end carries comes back.
    fn instructions(
        &mut self,
        pass: &Pass<'_>,
        code: &BlockCode,
        ending: Ending,
        call: Option<&SystemCall>,
        ahead: &mut Ahead<'_>,
    ) -> Option<Need> {
        let mut before = None;
        let last = pass.instructions().end;
        let mut entry = None;
        for (index, ran) in (pass.instructions().start..).zip(forwards(pass, code)) {
            let known = ran.known;
            if known.begins_block && before.is_some() {
                self.activations.close(known.at.address);
            }
            if before != Some(known.at.stmt) {
                let code = &mut *self.code;
                self.activations.visit(known.at.stmt, |from| ahead.statement(code, pass, from));
                before = Some(known.at.stmt);
            }
            self.now.time = ran.time;
            self.now.address = known.at.address;
            self.now.block = known.at.block;
            self.now.is_transit = known.is_transit;
            self.now.instance = self.activations.instance().map(|instance| instance.number);
            let is_asked = self.take_up();
            self.now.reason = self.activations.reason(known.at.block).filter(|_| self.follows_control());
            self.now.anyway = self.anyway();
            match ran.ops.last() {
                Some(Op::Syscall) => call.into_iter().for_each(|call| self.system_call(call)),
                _ if pass.is_served() => call.into_iter().for_each(|call| self.system_call(call)),
                _ if self.concerns(&ran) => self.instruction(&ran),
                _ => {}
            }
            if index + 1 == last {
                match ending {
                    Ending::Branch | Ending::IndirectJump => {
                        self.decide(&ran, code.meeting, is_asked);
                    }
                    Ending::Call => entry = self.call(Some(&ran)),
                    _ => {}
                }
            }
        }
        entry
    }

    /// Whether an instruction may use what carries something, or overwrites it.
    fn concerns(&mut self, ran: &Ran<'_, '_>) -> bool {
        let known = ran.known;
        self.now.anyway.is_some()
            || (known.reads | known.writes) & self.carried.wanted_slots() != 0
            || self.carried.has_memory() && known.accesses && (known.is_special || self.touches(ran.words))
    }

    /// What is asked about from this instant on. Whether the branch at hand is.
    fn take_up(&mut self) -> bool {
        let mut is_asked = false;
        while let Some(seed) = self.seeds.pop_if(|seed| seed.time <= self.now.time) {
            if self.under_way.is_empty() {
                self.under_way = self.activations.under_way();
            }
            match seed.kind {
                SeedKind::Cells(cells) => cells.into_iter().for_each(|cell| self.ask(cell)),
                SeedKind::Statement => self.origins.extend(self.now.instance),
                SeedKind::Decision => is_asked = true,
            }
        }
        is_asked
    }

    fn ask(&mut self, cell: Cell) {
        let need = Need::of_criterion();
        match cell {
            Cell::Register(reg, bytes) => self.carried.need_slot(reg, bytes, need),
            Cell::Memory { address, length } => {
                (0..length).for_each(|byte| self.carry(address.wrapping_add(byte), need));
            }
            Cell::Kernel { place, length } => {
                (0..length).for_each(|byte| self.carried.need_place(place.plus(byte), need));
            }
        }
    }

    /// What all results of the instruction at hand carry.
    fn anyway(&self) -> Option<Need> {
        let number = self.now.instance?;
        let ran = self.now.reason.and_then(|need| self.now.used(need, Use::Control));
        let ran = ran.map(|need| need.passed_on(number));
        let own = self.origins.contains(&number).then(|| Need::of_instance(number));
        ran.into_iter().chain(own).reduce(Need::joined)
    }

    /// A branch has decided: what runs until its ways meet runs because of it.
    fn decide(&mut self, ran: &Ran<'_, '_>, meeting: Option<u64>, is_asked: bool) {
        let mut need = self.operand(ran);
        if let Some(number) = self.now.instance.filter(|_| is_asked) {
            need = need.into_iter().chain([Need::of_instance(number)]).reduce(Need::joined);
        }
        if let Some(need) = need {
            self.count(need, Made::Decision);
            self.slice.decisions += u64::from(self.now.in_scope);
        }
        if ran.known.at.block.is_some() {
            self.activations.open(need, meeting);
        }
    }

    /// What a call, or a jump to another function, carries.
    fn call(&mut self, at: Option<&Ran<'_, '_>>) -> Option<Need> {
        self.used.clear();
        let need = match at {
            Some(ran) => self.operand(ran),
            None => self.now.anyway,
        }?;
        self.count(need, Made::Call);
        Some(need)
    }

    /// What the last instruction carries that decides by something or calls it.
    fn operand(&mut self, ran: &Ran<'_, '_>) -> Option<Need> {
        self.used.clear();
        let operand = operand_of(ran.ops).filter(|_| self.follows_control());
        let Some((operand, bytes)) = operand else { return self.now.anyway };
        let transfer = ran.transfer(Wish::new(Output::Slot(operand), bytes));
        self.gathered(transfer, ran.words, Some(Use::Control))
    }

    /// What an allocator hands out comes of what is asked of it.
    fn allocation(&mut self, arguments: usize) -> Option<Need> {
        self.used.clear();
        let mut need = self.now.anyway;
        for reg in [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX].into_iter().take(arguments) {
            self.use_slot(&mut need, reg, 0xff, Use::Value);
        }
        self.count(need?, Made::Register(Reg::RAX));
        need
    }

    fn returned(&mut self, slot: u64) {
        while let Some(popped) = self.activations.pop_up_to(slot) {
            let Some(result) = popped.result else { continue };
            self.carried.take_slot(Reg::RAX);
            if let Some(need) = result {
                self.carried.need_slot(Reg::RAX, 0xff, need);
            }
        }
        self.came_by = Came::ByReturn;
    }

    /// What lies below the return slot of a call belongs to nobody any more.
    fn forget_below(&mut self, slot: u64) {
        if self.lowest_on_stack >= slot || !self.stack.contains(&slot) {
            return;
        }
        let start = self.lowest_on_stack;
        if self.carried.has_memory_within(start, slot) {
            self.carried.forget(linux::Place::Memory(start), slot - start);
        }
        self.lowest_on_stack = slot;
    }

    /// The instruction at hand made something that carries this: its statement instance is in the slice.
    fn count(&mut self, need: Need, made: Made) {
        let now = self.now;
        self.watch.carried(now.time);
        let Some(instance) = self.activations.instance() else { return };
        if instance.stmt == StmtId::NONE {
            return;
        }
        let (stmt, maker) = (instance.stmt, instance.number);
        let share = share_of(&mut self.shares, stmt, now.time);
        share.count(need, instance);
        share.last = now.time;
        share.decisions += u64::from(made == Made::Decision && now.in_scope);
        if !W::WATCHES {
            return;
        }
        self.used.extend(now.reason.map(|reason| reason.used_as(Use::Control)));
        // It is asked about itself.
        self.used.extend(Some(Need::of_criterion()).filter(|_| need.distance() == 0));
        for used in std::mem::take(&mut self.used).into_iter().filter(|used| used.user() != maker) {
            self.watch.step(Step {
                user: used.user(),
                how: used.how(),
                maker,
                stmt,
                context: Context::default(),
                time: now.time,
                address: now.address,
                made,
                distance: need.distance(),
                in_library: !now.in_scope,
            });
        }
    }

    /// The statement instances that were under way at the first criterion, by number, that of the outermost activation first.
    pub(super) fn under_way(&mut self) -> Vec<Option<u32>> {
        std::mem::take(&mut self.under_way)
    }

    /// The slice, when the end of the run is reached.
    pub fn finish(mut self) -> Slice {
        (self.slice.stacks.activations, self.slice.stacks.waiting) = self.activations.most();
        for (index, share) in self.shares.iter().enumerate() {
            if let (Some(stmt), Some(share)) = (self.code.statement(StmtId(index as u32)), share) {
                self.slice.statements.insert(stmt.clone(), *share);
            }
        }
        self.slice
    }
}

/// What the last op of an instruction decides by, or calls.
pub(super) fn operand_of(ops: &[Op]) -> Option<(Reg, Bytes)> {
    match ops.last()? {
        Op::Branch { condition, .. } => Some((*condition, 1)),
        Op::Jump { target: Value::Reg(target) } | Op::Call { target: Value::Reg(target), .. } => {
            Some((*target, 0xff))
        }
        _ => None,
    }
}

impl Now {
    /// What a byte carries, used so. What trusted code has kept for itself and then goes by leads nowhere.
    fn used(&self, need: Need, how: Use) -> Option<Need> {
        match how {
            Use::Value => Some(need),
            Use::Address | Use::Control if self.in_scope => Some(need.used_as(how)),
            Use::Address | Use::Control if need.is_internal() => None,
            Use::Address | Use::Control => Some(need.used_by_library(how).in_scope()),
        }
    }

    /// Adds what a byte that the instruction used so carries to what its result does.
    fn add<W: Watch>(&self, result: &mut Option<Need>, told: &mut Vec<Need>, need: Need, how: Use) {
        let Some(used) = self.used(need, how) else { return };
        if W::WATCHES {
            told.push(used);
        }
        let passed = match self.instance.filter(|_| !self.is_transit) {
            Some(number) if self.in_scope => used.passed_on(number).in_scope(),
            Some(number) => used.passed_on(number),
            None => used,
        };
        *result = Some(result.map_or(passed, |known| known.joined(passed)));
    }
}
