//! The activations of functions, as a pass that goes backwards in time meets them.
//!
//! An activation begins for such a pass at its return instruction, or is there from the beginning, and ends at the
//! call. It is named by the address of its return slot, which both have in the trace. What comes between without either (a
//! jump to another function, longjmp, an unwound exception) is seen by the function that the code belongs to.

use program::{BlockId, Program, State};

use super::code::{Code, FunctionId, StmtId};
use super::contexts::{Context, Contexts};
use super::need::Need;

/// A statement in execution: a stretch of one statement in one activation.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    pub stmt: StmtId,
    /// Counted from 1, backwards in time.
    pub number: u32,
    /// How it was counted already, see [`Need::ways`].
    pub counted: u32,
}

impl Instance {
    pub const NONE: Instance = Instance { stmt: StmtId::NONE, number: 0, counted: 0 };
}

pub struct Frame {
    /// Address of the return slot; `None` as long as it is not known.
    slot: Option<u64>,
    pub function: FunctionId,
    pub in_scope: bool,
    pub current: Instance,
    /// The instruction of this activation that ran next in time.
    next: u64,
    /// Between here and the statement that follows control went back.
    went_back: bool,
    /// Blocks with instructions of the slice, whose deciding branch has not been met yet.
    pub awaiting: Vec<(BlockId, Need)>,
    /// What is needed because the function itself ran.
    pub awaiting_call: Option<Need>,
    /// What is needed of the memory that an allocator handed out.
    pub result: Option<Need>,
    /// Its conditions are no reasons, nor are those of the library functions that it calls.
    pub only_calls_matter: bool,
    /// How many characters it puts out is a reason for them.
    pads: bool,
    /// Which calls led here.
    pub context: Context,
    /// The nearest frame in scope, from this one on outwards.
    in_scope_at: Option<usize>,
    /// What a signal handler returns to; below it is what the signal interrupted, perhaps on another stack.
    is_signal: bool,
}

impl Frame {
    /// Address of the return slot, if that is known.
    pub fn slot(&self) -> Option<u64> {
        self.slot
    }

    /// All that waits for a decision.
    pub fn awaits(&self) -> Option<Need> {
        self.awaiting.iter().map(|(_, need)| *need).chain(self.awaiting_call).reduce(Need::joined)
    }
}

/// The activations at one instant, the outermost first.
pub struct Frames {
    stack: Vec<Frame>,
    /// Lists of those that have ended, kept for their memory.
    spare: Vec<Vec<(BlockId, Need)>>,
    numbers: u32,
    most: usize,
    /// If somebody wants to know.
    contexts: Option<Contexts>,
}

/// So many callers are looked for at the criterion: a run-away recursion is cut, and its outer activations are met as
/// unknown ones.
const MOST_CALLERS: usize = 100_000;

impl Frames {
    /// The activations of a stopped guest.
    pub fn of(code: &mut Code<'_>, program: &Program, state: &State<'_>, with_contexts: bool) -> Frames {
        let contexts = with_contexts.then(Contexts::default);
        let mut frames = Frames { stack: Vec::new(), spare: Vec::new(), numbers: 0, most: 0, contexts };
        frames.push_found(code, program, state, None);
        frames
    }

    /// The activations of a stopped guest, from the one with this return slot inwards.
    fn push_found(&mut self, code: &mut Code<'_>, program: &Program, state: &State<'_>, from: Option<u64>) {
        for Found { slot, function, address, stmt, is_signal } in found(code, program, state) {
            if from.is_some_and(|from| slot.is_none_or(|slot| slot > from)) {
                continue;
            }
            self.push(code, slot, function, address);
            self.enter_statement(stmt);
            self.mark_signal(is_signal);
        }
    }

    pub fn top(&mut self) -> Option<&mut Frame> {
        self.stack.last_mut()
    }

    /// The activation at hand is one of this function.
    #[inline]
    pub fn is_within(&self, function: FunctionId) -> bool {
        self.stack.last().is_some_and(|top| top.function == function)
    }

    /// The activation at hand waits for a branch of its own.
    #[inline]
    pub fn awaits_branch(&self) -> bool {
        self.stack.last().is_some_and(|top| !top.awaiting.is_empty())
    }

    /// No activation waits for the branch that decided about it.
    pub fn await_nothing(&self) -> bool {
        self.stack.iter().all(|frame| frame.awaiting.is_empty() && frame.awaiting_call.is_none())
    }

    /// No allocator is on its way whose result is needed.
    pub fn await_no_result(&self) -> bool {
        self.stack.iter().all(|frame| frame.result.is_none())
    }

    /// The statement instance that the code that runs is part of: that of the nearest activation in scope.
    pub fn instance(&mut self) -> Option<&mut Instance> {
        let at = self.stack.last()?.in_scope_at?;
        self.stack.get_mut(at).map(|frame| &mut frame.current)
    }

    /// Which calls led to that activation.
    pub fn context(&self) -> Context {
        let at = self.stack.last().and_then(|frame| frame.in_scope_at);
        at.and_then(|at| self.stack.get(at)).map_or(Context::default(), |frame| frame.context)
    }

    /// A function is entered through its end.
    pub fn enter(&mut self, code: &mut Code<'_>, slot: u64, function: FunctionId, returned_to: u64) {
        // The call is the instruction before the one that was returned to.
        let stmt = match self.stack.last() {
            Some(caller) if caller.in_scope => code.statement_of_call(returned_to.wrapping_sub(1)),
            _ => StmtId::NONE,
        };
        self.enter_statement(stmt);
        self.push(code, Some(slot), function, 0);
    }

    /// A function is left through its beginning, by the call that made this return slot. What its frames were still waiting
    /// for is handed back, with whether it is what the call brought about.
    pub fn leave(&mut self, code: &mut Code<'_>, slot: u64, caller: FunctionId) -> Left {
        let mut left = Left::default();
        let mut found = false;
        let is_below = |frame: &mut Frame| !frame.is_signal && frame.slot.is_some_and(|own| own <= slot);
        while let Some(frame) = self.stack.pop_if(is_below) {
            found |= frame.slot == Some(slot);
            left.add(frame, &mut self.spare);
        }
        if !found && let Some(frame) = self.stack.pop_if(|frame| frame.slot.is_none()) {
            left.add(frame, &mut self.spare);
            // What was left by a jump lies under it.
            while let Some(frame) = self.stack.pop_if(is_below) {
                left.add(frame, &mut self.spare);
            }
        }
        if self.stack.last().is_none_or(|top| top.function != caller) {
            self.push(code, None, caller, 0);
        }
        left
    }

    /// Code of another function runs, and neither a call nor a return led from it to where control was after.
    pub fn jump(&mut self, code: &mut Code<'_>, function: FunctionId) -> Left {
        let mut left = Left::default();
        let (slot, is_signal) = match self.stack.pop() {
            Some(frame) => {
                let known = (frame.slot, frame.is_signal);
                left.add(frame, &mut self.spare);
                known
            }
            None => (None, false),
        };
        self.push(code, slot, function, 0);
        self.mark_signal(is_signal);
        left
    }

    /// A signal handler is entered through its end: first what it returns to.
    pub fn enter_signal(&mut self, code: &Code<'_>, slot: u64, function: FunctionId) {
        self.push(code, Some(slot), function, 0);
        self.mark_signal(true);
    }

    /// A signal handler is left through its beginning, whose return slot is known. What ran then is of `function`.
    pub fn leave_signal(&mut self, code: &Code<'_>, slot: u64, function: FunctionId) -> Left {
        let handler = self.stack.iter().rposition(|frame| frame.slot == Some(slot));
        let around = self.stack.iter().rposition(|frame| frame.is_signal);
        let first = match (handler, around) {
            (Some(handler), Some(around)) if around + 1 == handler => Some(around),
            (Some(handler), _) => Some(handler),
            (None, Some(around)) => Some(around),
            (None, None) => self.stack.iter().rposition(|frame| frame.slot.is_none()),
        };
        let mut left = Left::default();
        if let Some(first) = first {
            let Frames { stack, spare, .. } = self;
            stack.drain(first..).rev().for_each(|frame| left.add(frame, spare));
        }
        if self.stack.last().is_none_or(|top| top.function != function) {
            self.push(code, None, function, 0);
        }
        left
    }

    fn mark_signal(&mut self, is_signal: bool) {
        if let Some(frame) = self.stack.last_mut() {
            frame.is_signal = is_signal;
        }
    }

    /// Control jumped out of this function and of others into the activation at hand, as longjmp does; `state` is the guest
    /// then. What ran in that activation before has nothing to do with what ran after, but for the jump.
    pub fn unwound(&mut self, code: &mut Code<'_>, function: FunctionId, state: &State<'_>) -> Left {
        let mut left = Left::default();
        let slot = self.stack.pop().and_then(|frame| {
            let slot = frame.slot;
            left.add(frame, &mut self.spare);
            slot
        });
        if slot.is_some() {
            let program = code.program();
            self.push_found(code, program, state, slot);
        }
        if self.stack.last().is_none_or(|top| top.function != function) {
            self.push(code, None, function, 0);
        }
        left
    }

    /// The code that runs belongs to this statement; `address` is the last instruction of its stretch.
    #[inline]
    pub fn visit(&mut self, stmt: StmtId, address: u64) {
        let Some(frame) = self.stack.last_mut() else { return };
        frame.went_back |= frame.next <= address && frame.next != 0;
        if stmt == StmtId::NONE {
            return;
        }
        let went_back = std::mem::take(&mut frame.went_back);
        if frame.current.stmt != stmt || went_back {
            self.numbers += 1;
            frame.current = Instance { stmt, number: self.numbers, ..Instance::NONE };
        }
    }

    /// The first instruction of what was visited.
    #[inline]
    pub fn passed(&mut self, address: u64) {
        if let Some(frame) = self.stack.last_mut() {
            frame.next = address;
        }
    }

    /// Passes over a block of several statements, of which none is in the slice.
    pub fn skip_to(&mut self, stmt: StmtId) {
        self.numbers += 1;
        let number = self.numbers;
        if let Some(frame) = self.stack.last_mut() {
            frame.current = Instance { stmt, number, ..Instance::NONE };
        }
    }

    /// What gave a variable its first value, long before.
    pub fn initialiser(&mut self, stmt: StmtId) -> Instance {
        self.numbers += 1;
        Instance { stmt, number: self.numbers, ..Instance::NONE }
    }

    fn enter_statement(&mut self, stmt: StmtId) {
        let Some(frame) = self.stack.last_mut() else { return };
        if stmt != StmtId::NONE && frame.current.stmt != stmt {
            self.numbers += 1;
            frame.current = Instance { stmt, number: self.numbers, ..Instance::NONE };
        }
    }

    fn push(&mut self, code: &Code<'_>, slot: Option<u64>, function: FunctionId, next: u64) {
        let known = code.function(function);
        let in_scope = known.in_scope;
        let inherited = self.stack.last().is_some_and(|frame| frame.only_calls_matter);
        let around = self.stack.last().and_then(|frame| frame.in_scope_at);
        let in_scope_at = if in_scope { Some(self.stack.len()) } else { around };
        let context = match (&mut self.contexts, self.stack.last()) {
            (Some(contexts), Some(caller)) => contexts.within(caller.context, caller.current.stmt),
            _ => Context::default(),
        };
        self.stack.push(Frame {
            slot,
            context,
            function,
            in_scope,
            current: Instance::NONE,
            next,
            went_back: false,
            awaiting: self.spare.pop().unwrap_or_default(),
            awaiting_call: None,
            result: None,
            only_calls_matter: !in_scope && (inherited || known.is_output),
            pads: known.pads,
            in_scope_at,
            is_signal: false,
        });
        self.most = self.most.max(self.stack.len());
    }

    /// How many activations there were at most at the same time.
    pub fn most(&self) -> usize {
        self.most
    }
}

/// An activation of a stopped guest.
pub struct Found {
    pub slot: Option<u64>,
    pub function: FunctionId,
    /// Where it goes on, and the statement that it is in.
    pub address: u64,
    pub stmt: StmtId,
    /// It is what a signal handler returns to.
    pub is_signal: bool,
}

/// The activations of a stopped guest, the outermost first.
pub fn found(code: &mut Code<'_>, program: &Program, state: &State<'_>) -> Vec<Found> {
    let found = program.stack_of(state, MOST_CALLERS).frames;
    let whole = found.iter().enumerate().rev().map(|(depth, frame)| {
        let caller = found.get(depth + 1);
        Found {
            slot: caller.and_then(|caller| caller.registers.rsp()).map(|rsp| rsp.wrapping_sub(8)),
            // Others go on after a call, which is what they are looked up by.
            is_signal: caller.is_some_and(|caller| caller.lookup == caller.address),
            function: code.function_at(frame.lookup),
            address: frame.address,
            stmt: code.statement_of_frame(frame),
        }
    });
    whole.collect()
}

/// What activations left open when they began.
#[derive(Default)]
pub struct Left {
    /// The nearest of what no branch of theirs decided.
    pub control: Option<Need>,
    /// What is needed of the memory that an allocator handed out.
    pub result: Option<Need>,
    /// That was an allocator.
    pub function: Option<FunctionId>,
    /// The call said how many characters are put out.
    pub pads: bool,
}

impl Left {
    fn add(&mut self, mut frame: Frame, spare: &mut Vec<Vec<(BlockId, Need)>>) {
        self.pads |= frame.pads;
        let open = frame.awaiting.drain(..).map(|(_, need)| need).chain(frame.awaiting_call);
        self.control = open.chain(self.control).reduce(Need::joined);
        spare.push(frame.awaiting);
        if frame.result.is_some() {
            (self.result, self.function) = (frame.result, Some(frame.function));
        }
    }
}
