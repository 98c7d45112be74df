//! The walk over a run that keeps the stack of open regions.
//!
//! Its depth is that of the nesting, not of the run: within an activation a condition has one region at most, which counts
//! how often it was decided. An activation is named by the address of its return slot; those below the stack pointer are gone,
//! whether they returned or not.

mod interruptions;

use std::ops::RangeInclusive;
use std::rc::Rc;

use lift::Reg;
use linux::Process;
use machine::{Pass, Time, Trace, Unwatched};
use program::{Program, Scope};

use super::keys::{ConditionKey, Keys, PointKey};
use super::path::{self, Index, Leaf, Side};
use super::plan::{FunctionPlan, MarkKind, PassPlan, Plans, line_at};
use crate::events::Ending;
use crate::flow::Flow;

/// Follows one run.
pub struct Indexer<'p> {
    plans: Plans<'p>,
    state: State,
    /// Instructions that are waited for.
    awaited: Vec<u64>,
}

/// Where a walk is. It can be kept, to go on from there again.
#[derive(Clone)]
pub struct State {
    entries: Vec<Entry>,
    /// The place of the innermost frame.
    frame: usize,
    /// The last pass, and the word that has its return slot.
    previous: Option<(Rc<PassPlan>, u64)>,
    /// The return slot of a signal handler that has just been entered.
    entered: Option<u64>,
    /// The most entries that there ever were.
    deepest: usize,
}

#[derive(Clone)]
enum Entry {
    Frame(Frame),
    Region(Region),
}

#[derive(Clone)]
struct Frame {
    /// Where its return address is.
    slot: u64,
    site: u64,
    key: Key,
    /// `None` for trusted code.
    function: Option<Rc<FunctionPlan>>,
    /// Of the frame around it.
    outer: usize,
    number: u64,
    jumps: u64,
    /// How many call-backs it has made.
    callbacks: u64,
    /// The statement that it is in, and how many calls this has made.
    statement: Option<PointKey>,
    calls: u32,
    /// What a signal handler returns to; below it is what the signal interrupted, perhaps on another stack.
    is_signal: bool,
    /// Of trusted code that a function has jumped to: what that was called as.
    replaced: Option<Key>,
}

impl Frame {
    /// One in which nothing has run yet.
    fn new(
        slot: u64,
        site: u64,
        key: Key,
        function: Option<Rc<FunctionPlan>>,
        outer: usize,
        number: u64,
    ) -> Frame {
        Frame {
            slot,
            site,
            key,
            function,
            outer,
            number,
            jumps: 0,
            callbacks: 0,
            statement: None,
            calls: 0,
            is_signal: false,
            replaced: None,
        }
    }
}

#[derive(Clone)]
struct Region {
    /// The condition, by its place; a loop or a jump back by its address.
    of: Of,
    side: Side,
    close: Option<u64>,
    count: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Condition(u32),
    /// A decision that the graph does not know, by its address.
    Loose(u64),
    Again(u64),
}

/// What a walk comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// All regions from this depth on are left.
    Leave(usize),
    /// A region is entered, one deeper.
    Enter(Key),
    /// An instance of a statement begins.
    Statement { key: PointKey, time: Time, address: u64 },
    /// An instruction is executed that is waited for.
    Come(u64),
}

/// A region, in terms that have a meaning in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Where from (the statement, and which of its calls), where to, and the numbers of [`path::Region::Call`].
    Call {
        site: Option<(PointKey, u32)>,
        function: Option<PointKey>,
        number: u64,
        jumps: u64,
    },
    Trusted {
        site: Option<(PointKey, u32)>,
    },
    Side {
        condition: Option<ConditionKey>,
        side: Side,
        count: u64,
    },
    Again {
        at: Option<PointKey>,
        count: u64,
    },
}

/// A point in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Here {
    /// How many regions are around it.
    pub depth: usize,
    /// The instruction, or the one in scope that called the code that the walk is in, or jumped to it.
    pub address: u64,
    /// Of a jump: the call of the function that jumped, which is left for good.
    pub left: Option<Key>,
}

/// The slot of the frame around everything, which never returns.
const OUTERMOST: u64 = u64::MAX;

impl<'p> Indexer<'p> {
    /// For a run from its start. `keys` says what is a statement.
    pub fn new(flow: &'p Flow<'p>, scope: &'p Scope, keys: Keys<'p>) -> Indexer<'p> {
        Indexer { plans: Plans::new(flow, scope, keys), state: State::default(), awaited: Vec::new() }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Goes on from a state that this walk had.
    pub fn restore(&mut self, state: State) {
        self.state = state;
    }

    /// The regions that are open, the outermost first: what [`Event::Enter`] told and [`Event::Leave`] has not taken back.
    pub fn path(&self) -> Vec<Key> {
        self.state.path(self.state.entries.len(), self.plans.keys())
    }

    /// The condition that an instruction decides, as [`Key::Side`] tells it.
    pub fn condition(&self, address: u64) -> Option<ConditionKey> {
        self.plans.condition(address)
    }

    /// The innermost point in scope, if the walk is at the instruction at `address`.
    pub fn here(&self, address: u64) -> Here {
        let (mut end, mut frame) = (self.state.entries.len(), self.state.frame);
        let (mut innermost, mut left) = (address, None);
        while let Some(Entry::Frame(Frame { function: None, outer, site, replaced, .. })) =
            self.state.entries.get(frame)
            && frame > 0
        {
            (end, frame, innermost, left) = (frame, *outer, *site, *replaced);
        }
        // What is around everything has no key.
        Here { depth: end.saturating_sub(1), address: innermost, left }
    }

    /// From now on [`Event::Come`] tells of these instructions.
    pub fn wait_for(&mut self, addresses: Vec<u64>) {
        self.awaited = addresses;
    }

    /// Goes on to the instruction that a run has come to, whether it will retire or not.
    pub fn arrive_at(&mut self, there: &mut Process) {
        let plan = self.plans.of_instruction(there.machine.cpu.rip);
        self.enter(&plan, there.machine.time, there, &mut |_| {});
        for mark in &plan.marks {
            match mark.kind {
                MarkKind::Close(address) => self.state.close(address, &mut |_| {}),
                MarkKind::Landing(address) => self.state.land(address, &mut |_| {}),
                MarkKind::Statement(_) => {}
            }
        }
    }

    /// Follows a stretch of the run. `before` is the state at its beginning, and is left as it is.
    pub fn follow(&mut self, trace: &Trace, before: &mut Process, mut event: impl FnMut(Event)) {
        let mut interruptions = trace.interruptions().iter().peekable();
        for pass in trace.forward() {
            let plan = self.plans.of(&pass);
            self.interrupt_until(&mut interruptions, pass.time, before, &mut event);
            self.enter(&plan, pass.time, before, &mut event);
            self.pass(&plan, &pass, 0..=u16::MAX, &mut event);
        }
        self.interrupt_until(&mut interruptions, Time(u64::MAX), before, &mut event);
    }

    /// Follows a stretch, and tells the index of each statement instance that begins in it.
    pub fn follow_indices(&mut self, trace: &Trace, before: &mut Process, mut each: impl FnMut(Time, Index)) {
        let mut interruptions = trace.interruptions().iter().peekable();
        for pass in trace.forward() {
            let plan = self.plans.of(&pass);
            self.interrupt_until(&mut interruptions, pass.time, before, &mut |_| {});
            self.enter(&plan, pass.time, before, &mut |_| {});
            let mut done = 0;
            for mark in plan.marks.iter().filter(|mark| matches!(mark.kind, MarkKind::Statement(_))) {
                let mut begins = None;
                self.pass(&plan, &pass, done..=mark.instruction, &mut |event| {
                    if let Event::Statement { time, address, .. } = event {
                        begins = Some((time, address));
                    }
                });
                done = mark.instruction + 1;
                if let Some((time, address)) = begins {
                    each(time, self.state.index(self.plans.program(), address));
                }
            }
            self.pass(&plan, &pass, done..=u16::MAX, &mut |_| {});
        }
        self.interrupt_until(&mut interruptions, Time(u64::MAX), before, &mut |_| {});
    }

    /// Follows a stretch up to an instant in it, and says which point that is; `None` if the stretch ends before.
    pub fn follow_to(&mut self, time: Time, trace: &Trace, before: &mut Process) -> Option<Index> {
        let mut interruptions = trace.interruptions().iter().peekable();
        for pass in trace.forward() {
            let plan = self.plans.of(&pass);
            self.interrupt_until(&mut interruptions, pass.time, before, &mut |_| {});
            self.enter(&plan, pass.time, before, &mut |_| {});
            if time.0 < pass.time.0 + u64::from(plan.count) {
                let instruction = time.0.saturating_sub(pass.time.0) as u16;
                self.pass(&plan, &pass, 0..=instruction, &mut |_| {});
                let address = address_of(&pass, instruction);
                return Some(self.state.index(self.plans.program(), address));
            }
            self.pass(&plan, &pass, 0..=u16::MAX, &mut |_| {});
        }
        self.interrupt_until(&mut interruptions, Time(u64::MAX), before, &mut |_| {});
        None
    }

    /// Control comes from the pass before to this one.
    fn enter(&mut self, plan: &PassPlan, time: Time, before: &mut Process, event: &mut impl FnMut(Event)) {
        if let Some(slot) = self.state.entered.take() {
            return self.state.enter_handler(plan, slot, event);
        }
        let Some((previous, slot)) = self.state.previous.take() else {
            self.state.arrive(plan, 0, event);
            return;
        };
        let keys = self.plans.keys();
        match previous.ending {
            Ending::Call { .. } => {
                self.state.forget_below(slot.saturating_add(8), event);
                self.state.call(&previous, plan, slot, keys, event);
            }
            Ending::Return { .. } => self.state.forget_below(slot.saturating_add(8), event),
            Ending::Indirect { stack: true } => {
                let mut there = before.fork();
                there.run(time, &mut Unwatched);
                self.state.unwind_to(there.machine.cpu.get(Reg::RSP), event);
                if !plan.is_landing() {
                    self.state.jump_back(plan, keys, event);
                }
            }
            Ending::Next
            | Ending::Jump
            | Ending::Branch { .. }
            | Ending::Indirect { stack: false }
            | Ending::System => {
                if self.state.is_in(&previous) {
                    self.state.decide(&previous, plan.start, keys, event);
                }
            }
        }
        self.state.arrive(plan, previous.last, event);
    }

    /// What begins and ends in a pass, at some of its instructions.
    fn pass(
        &mut self,
        plan: &Rc<PassPlan>,
        pass: &Pass<'_>,
        part: RangeInclusive<u16>,
        event: &mut impl FnMut(Event),
    ) {
        let come = self.awaited.iter().find_map(|address| Some((place_of(plan, pass, *address)?, *address)));
        let mut come = come.filter(|(place, _)| part.contains(place));
        for mark in plan.marks.iter().filter(|mark| part.contains(&mark.instruction)) {
            if let Some((_, address)) = come.take_if(|(place, _)| *place < mark.instruction) {
                event(Event::Come(address));
            }
            match mark.kind {
                MarkKind::Close(address) => self.state.close(address, event),
                MarkKind::Landing(address) => self.state.land(address, event),
                MarkKind::Statement(key) => {
                    let Some(frame) = self.state.frame_mut() else { continue };
                    if frame.statement == Some(key) {
                        continue;
                    }
                    frame.statement = Some(key);
                    frame.calls = 0;
                    let time = Time(pass.time.0 + u64::from(mark.instruction));
                    event(Event::Statement { key, time, address: address_of(pass, mark.instruction) });
                }
            }
        }
        if let Some((_, address)) = come {
            event(Event::Come(address));
        }
        let slot = match plan.ending {
            Ending::Call { slot, .. } | Ending::Return { slot } => {
                pass.words().get(usize::from(slot)).copied().unwrap_or(0)
            }
            _ => 0,
        };
        self.state.previous = Some((Rc::clone(plan), slot));
    }
}

/// Which instruction of a pass is at an address.
fn place_of(plan: &PassPlan, pass: &Pass<'_>, address: u64) -> Option<u16> {
    let is_within = (plan.start..=plan.last).contains(&address);
    let place = is_within.then(|| pass.forward().position(|there| there.address == address))?;
    u16::try_from(place?).ok()
}

fn address_of(pass: &Pass<'_>, instruction: u16) -> u64 {
    pass.forward().nth(usize::from(instruction)).map_or(0, |there| there.address)
}

impl Default for State {
    fn default() -> State {
        let outermost = Frame::new(OUTERMOST, 0, Key::Trusted { site: None }, None, 0, 0);
        State { entries: vec![Entry::Frame(outermost)], frame: 0, previous: None, entered: None, deepest: 1 }
    }
}

impl State {
    /// How many regions are open.
    pub fn depth(&self) -> usize {
        self.entries.len()
    }

    /// The most regions that were ever open.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    fn frame(&self) -> Option<&Frame> {
        match self.entries.get(self.frame) {
            Some(Entry::Frame(frame)) => Some(frame),
            _ => None,
        }
    }

    fn frame_mut(&mut self) -> Option<&mut Frame> {
        match self.entries.get_mut(self.frame) {
            Some(Entry::Frame(frame)) => Some(frame),
            _ => None,
        }
    }

    /// Whether the innermost frame is of the function of a pass.
    fn is_in(&self, plan: &PassPlan) -> bool {
        let mine = self.frame().and_then(|frame| frame.function.as_ref());
        match (mine, &plan.function) {
            (Some(mine), Some(other)) => Rc::ptr_eq(mine, other),
            (None, None) => true,
            _ => false,
        }
    }

    fn truncate(&mut self, depth: usize, event: &mut impl FnMut(Event)) {
        if depth < self.entries.len() {
            self.entries.truncate(depth);
            event(Event::Leave(depth));
        }
    }

    fn push(&mut self, entry: Entry, key: Key, event: &mut impl FnMut(Event)) {
        self.entries.push(entry);
        self.deepest = self.deepest.max(self.entries.len());
        event(Event::Enter(key));
    }

    /// The keys of the first so many entries, without what is around everything.
    fn path(&self, end: usize, keys: &Keys<'_>) -> Vec<Key> {
        let mut function: Option<&FunctionPlan> = None;
        let mut path = Vec::new();
        for (place, entry) in self.entries.iter().take(end).enumerate() {
            let key = match entry {
                Entry::Frame(frame) => {
                    function = frame.function.as_deref();
                    frame.key
                }
                Entry::Region(Region { of: Of::Again(address), count, .. }) => {
                    Key::Again { at: keys(*address), count: *count }
                }
                Entry::Region(Region { of: Of::Loose(address), side, count, .. }) => {
                    let condition = keys(*address).map(|key| (key, 0));
                    Key::Side { condition, side: *side, count: *count }
                }
                Entry::Region(Region { of: Of::Condition(condition), side, count, .. }) => {
                    let planned = function.and_then(|function| function.conditions.get(*condition as usize));
                    let condition = planned.and_then(|planned| planned.key);
                    Key::Side { condition, side: *side, count: *count }
                }
            };
            if place > 0 {
                path.push(key);
            }
        }
        path
    }

    /// The point at `address`, in the regions that are open.
    fn index(&self, program: &Program, address: u64) -> Index {
        let mut regions = Vec::new();
        let mut function: Option<&FunctionPlan> = None;
        let line = |address: u64| line_at(program, address);
        for (place, entry) in self.entries.iter().enumerate() {
            match entry {
                Entry::Frame(frame) => {
                    function = frame.function.as_deref();
                    let site = frame.site;
                    match function {
                        Some(function) => regions.push(path::Region::Call {
                            site,
                            function: function.entry,
                            name: function.name.clone(),
                            number: frame.number,
                            jumps: frame.jumps,
                        }),
                        // What is around everything is no news, and the innermost is the leaf.
                        None if place == 0 || place == self.frame => {}
                        None => regions.push(path::Region::Trusted { site, line: line(site) }),
                    }
                }
                Entry::Region(Region { of: Of::Again(address), count, .. }) => {
                    regions.push(path::Region::Again {
                        address: *address,
                        line: line(*address),
                        count: *count,
                    });
                }
                Entry::Region(Region { of: Of::Loose(address), side, count, .. }) => {
                    let (condition, line) = (*address, line(*address));
                    regions.push(path::Region::Side { condition, line, side: *side, count: *count });
                }
                Entry::Region(Region { of: Of::Condition(condition), side, count, .. }) => {
                    let planned = function.and_then(|function| function.conditions.get(*condition as usize));
                    regions.extend(planned.map(|planned| path::Region::Side {
                        condition: planned.address,
                        line: planned.line,
                        side: *side,
                        count: *count,
                    }));
                }
            }
        }
        let address = match self.frame() {
            Some(Frame { function: None, site, .. }) => *site,
            _ => address,
        };
        Index { regions, leaf: Leaf { address, line: line(address) } }
    }

    /// The stack ends here: activations below are gone, but for what a signal interrupted.
    fn forget_below(&mut self, stack: u64, event: &mut impl FnMut(Event)) {
        while self.frame().is_some_and(|frame| frame.slot < stack && !frame.is_signal) {
            self.pop(event);
        }
    }

    /// A jump has set the stack pointer to there: activations below are gone.
    fn unwind_to(&mut self, stack: u64, event: &mut impl FnMut(Event)) {
        while self.frame().is_some_and(|frame| frame.slot < stack) {
            self.pop(event);
        }
    }

    fn pop(&mut self, event: &mut impl FnMut(Event)) {
        if let Some(frame) = self.frame() {
            let (depth, outer) = (self.frame, frame.outer);
            self.truncate(depth, event);
            self.frame = outer;
        }
    }

    fn call(
        &mut self,
        from: &PassPlan,
        to: &PassPlan,
        slot: u64,
        keys: &Keys<'_>,
        event: &mut impl FnMut(Event),
    ) {
        let outer = self.frame;
        let Some(frame) = self.frame_mut() else { return };
        let trusted = frame.function.is_none();
        if trusted && to.function.is_none() {
            return;
        }
        let (site, number) = match trusted {
            true => {
                frame.callbacks += 1;
                (0, frame.callbacks)
            }
            false => {
                frame.calls += 1;
                (from.last, 0)
            }
        };
        let place = keys(site).filter(|_| !trusted).map(|key| (key, frame.calls));
        let key = match &to.function {
            Some(function) => Key::Call { site: place, function: function.key, number, jumps: 0 },
            None => Key::Trusted { site: place },
        };
        let function = to.function.clone();
        let frame = Frame::new(slot, site, key, function, outer, number);
        self.frame = self.entries.len();
        self.push(Entry::Frame(frame), key, event);
    }

    /// Control is in this pass now, however it came there. Where that is another function than the one that the innermost
    /// frame is of, one function has jumped to the other.
    fn arrive(&mut self, plan: &PassPlan, from: u64, event: &mut impl FnMut(Event)) {
        if self.is_in(plan) {
            return;
        }
        let (depth, function) = (self.frame, plan.function.clone());
        let Some(frame) = self.frame().cloned() else { return };
        let key_of = |number: u64, jumps: u64| match &function {
            Some(function) => Key::Call { site: None, function: function.key, number, jumps },
            None => Key::Trusted { site: None },
        };
        if frame.slot == OUTERMOST {
            // There is always something around what runs.
            let Some(outermost) = self.frame_mut() else { return };
            outermost.callbacks += 1;
            let number = outermost.callbacks;
            let key = key_of(number, 0);
            let inner = Frame { slot: OUTERMOST - 1, site: 0, key, outer: depth, number, function, ..frame };
            self.frame = self.entries.len();
            self.push(Entry::Frame(inner), key, event);
            return;
        }
        // A stub of the linker, or the dynamic loader, is no function that ends in a jump: it is a part of the call.
        let jumps = frame.jumps + u64::from(frame.function.is_some());
        let site = if frame.function.is_some() { from } else { frame.site };
        let key = match (frame.key, &function) {
            (Key::Trusted { site }, Some(function)) => {
                Key::Call { site, function: function.key, number: frame.number, jumps }
            }
            _ => key_of(frame.number, jumps),
        };
        let replaced = Some(frame.key).filter(|_| frame.function.is_some() && function.is_none());
        let next =
            Frame { site, key, function, jumps, statement: None, calls: 0, callbacks: 0, replaced, ..frame };
        self.truncate(depth, event);
        self.push(Entry::Frame(next), key, event);
    }

    /// A pass of the function that the innermost frame is of has ended, and goes on at `next`.
    fn decide(&mut self, from: &PassPlan, next: u64, keys: &Keys<'_>, event: &mut impl FnMut(Event)) {
        if let Some((condition, side)) = from.decided(next)
            && let Some(function) = &from.function
            && let Some(planned) = function.conditions.get(condition as usize)
        {
            let count = self.open(Of::Condition(condition), side, planned.close, event);
            event(Event::Enter(Key::Side { condition: planned.key, side, count }));
        }
        if let Some(side) = from.loose(next) {
            let count = self.open(Of::Loose(from.last), side, None, event);
            let condition = keys(from.last).map(|key| (key, 0));
            event(Event::Enter(Key::Side { condition, side, count }));
        }
        if let Some(endless) = from.goes_back(next) {
            if let Some(frame) = self.frame_mut() {
                frame.statement = None;
            }
            if endless {
                let count = self.open(Of::Again(next), Side::True, None, event);
                event(Event::Enter(Key::Again { at: keys(next), count }));
            }
        }
    }

    /// Control has come back to an activation by a jump from a deeper one.
    fn jump_back(&mut self, to: &PassPlan, keys: &Keys<'_>, event: &mut impl FnMut(Event)) {
        let Some(function) = &to.function else { return };
        if self.is_in(to) {
            if !self.is_again(function.entry) {
                self.truncate(self.frame + 1, event);
            }
            let count = self.open(Of::Again(function.entry), Side::True, None, event);
            event(Event::Enter(Key::Again { at: keys(function.entry), count }));
            if let Some(frame) = self.frame_mut() {
                frame.statement = None;
            }
        }
    }

    /// Whether the first region in the frame is that of jumps back.
    fn is_again(&self, address: u64) -> bool {
        matches!(self.entries.get(self.frame + 1), Some(Entry::Region(region)) if region.of == Of::Again(address))
    }

    /// Opens a region, or opens it again; its count. The event that tells of it is left to the caller.
    fn open(&mut self, of: Of, side: Side, close: Option<u64>, event: &mut impl FnMut(Event)) -> u64 {
        let regions = self.entries.get(self.frame + 1..).unwrap_or(&[]);
        let known =
            regions.iter().position(|entry| matches!(entry, Entry::Region(region) if region.of == of));
        let count = match known {
            Some(place) => {
                let place = self.frame + 1 + place;
                let count = match self.entries.get(place) {
                    Some(Entry::Region(region)) => region.count + 1,
                    _ => 1,
                };
                self.truncate(place, event);
                count
            }
            None => 1,
        };
        self.entries.push(Entry::Region(Region { of, side, close, count }));
        self.deepest = self.deepest.max(self.entries.len());
        count
    }

    /// An exception has been caught: regions that ended where control does not come any more end here.
    fn land(&mut self, address: u64, event: &mut impl FnMut(Event)) {
        let Some(function) = self.frame().and_then(|frame| frame.function.clone()) else { return };
        let regions = self.entries.get(self.frame + 1..).unwrap_or(&[]);
        let is_over = |entry: &Entry| match entry {
            Entry::Region(Region { close: Some(close), .. }) => !function.ends_after(address, *close),
            _ => false,
        };
        if let Some(first) = regions.iter().position(is_over) {
            self.truncate(self.frame + 1 + first, event);
        }
    }

    /// Control has come to an address at which regions may end.
    fn close(&mut self, address: u64, event: &mut impl FnMut(Event)) {
        let regions = self.entries.get(self.frame + 1..).unwrap_or(&[]);
        let ends = |entry: &Entry| matches!(entry, Entry::Region(region) if region.close == Some(address));
        if let Some(first) = regions.iter().position(ends) {
            self.truncate(self.frame + 1 + first, event);
        }
    }
}
