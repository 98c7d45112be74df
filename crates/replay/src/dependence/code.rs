//! What a pass over a run asks of code, worked out once a block: functions, statements, and what can be passed over.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use lift::{Address, Decoded, Op, Reg, Value};
use machine::{Pass, Plan, Time, Words};
use program::{BlockId, Part, Program, Scope, Stmt, Trust};

use super::nameless::spread_statements;
use super::pending::NumberMap;
use super::slot_set::{SlotSet, slot_bit};
use super::stretch::{Stretch, stretches};
use super::transfer;
use crate::flow::{Flow, FunctionFlow};

/// A statement, by its number in [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StmtId(pub u32);

impl StmtId {
    /// Code of no statement: what the compiler added, and all that is trusted.
    pub const NONE: StmtId = StmtId(u32::MAX);
}

/// A function, by its number in [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionId(pub u32);

#[derive(Clone)]
pub struct Function {
    pub flow: Option<Rc<FunctionFlow>>,
    pub in_scope: bool,
    /// rbp is its frame pointer, whose value is no dependence.
    pub has_frame_pointer: bool,
    /// It puts text together and out: what it puts out is made of what it is given, and its own conditions are no reasons.
    pub is_output: bool,
    /// It puts out as many characters as it is told, so that this number is a reason for each of them.
    pub pads: bool,
    /// It hands out memory: how many of its arguments say which.
    pub allocator: Option<usize>,
}

/// One block of the machine.
pub struct BlockCode {
    pub function: FunctionId,
    /// Of the function.
    pub in_scope: bool,
    pub has_frame_pointer: bool,
    pub instructions: Box<[InstructionCode]>,
    /// The first and the last of them.
    pub begin: Position,
    pub end: Position,
    /// Slots that some instruction reads.
    pub reads: SlotSet,
    /// Slots that some instruction writes.
    pub writes: SlotSet,
    /// Whether some instruction accesses memory.
    pub accesses: bool,
    /// Whether some instruction writes memory.
    pub stores: bool,
    /// Some instruction goes over many places at once, or asks the kernel.
    pub is_special: bool,
    /// The instructions of statements.
    pub stretches: Box<[Stretch]>,
    /// The same, each instruction for itself; made when it is asked for.
    singly: OnceCell<Box<[Stretch]>>,
    /// The blocks of the function's graph that the last instruction decides about, a bit each; made when it is asked for.
    decides: OnceCell<Box<[u64]>>,
    /// All instructions are of one statement.
    pub is_uniform: bool,
    /// It stands for a function that is served.
    is_served: bool,
    /// It neither calls nor returns nor asks for anything: control stays in the function unless it jumps out of it.
    pub is_straight: bool,
    pub ending: Ending,
    /// Where the ways from the branch or jump at its end meet again.
    pub meeting: Option<u64>,
}

pub struct InstructionCode {
    pub at: Position,
    /// Slots that it reads.
    pub reads: SlotSet,
    /// Slots that it writes.
    pub writes: SlotSet,
    /// Where its words are among those of the block, and how many.
    pub first_word: u16,
    pub words: u8,
    pub accesses: bool,
    /// It writes memory.
    pub stores: bool,
    /// It goes over many places at once, or asks the kernel.
    pub is_special: bool,
    /// It saves or restores a register: a copy that is no step of the program.
    pub is_transit: bool,
    /// rbp is the frame pointer of its function.
    pub has_frame_pointer: bool,
    /// It is the first of its block of the function's graph.
    pub begins_block: bool,
    /// For each op, where its words are among those of the instruction.
    pub places: Box<[u8]>,
}

impl BlockCode {
    /// How a pass over it ended.
    #[inline]
    pub fn ending(&self, pass: &Pass<'_>) -> Ending {
        if pass.instructions().end == self.instructions.len() { self.ending } else { Ending::Plain }
    }

    /// The time of the system call that a pass over it ended with, or of the function of the heap that was served in its place.
    #[inline]
    pub fn call_time(&self, pass: &Pass<'_>) -> Option<Time> {
        match self.ending(pass) {
            _ if self.is_served => Some(pass.time),
            Ending::Syscall => Some(Time(pass.time.0 + pass.length() - 1)),
            _ => None,
        }
    }

    /// Each instruction for itself.
    pub fn singly(&self, pass: &Pass<'_>) -> &[Stretch] {
        self.singly.get_or_init(|| stretches(pass, &self.instructions, true))
    }

    /// Whether the last instruction decides about a block of the function's graph.
    #[inline]
    pub fn decides(&self, code: &Code<'_>, block: BlockId) -> bool {
        let set = self.decides.get_or_init(|| {
            let function = code.function(self.function);
            function.flow.as_ref().map_or(Box::default(), |flow| flow.controlled_by(self.end.address))
        });
        set.get(block.0 as usize / 64).is_some_and(|word| word >> (block.0 % 64) & 1 != 0)
    }
}

/// Where an instruction is.
#[derive(Clone, Copy)]
pub struct Position {
    pub address: u64,
    pub stmt: StmtId,
    /// In the function's graph.
    pub block: Option<BlockId>,
}

impl Position {
    const NONE: Position = Position { address: 0, stmt: StmtId::NONE, block: None };
}

/// How a block of the machine ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Goes on, jumps to a fixed place, or stops.
    Plain,
    Branch,
    IndirectJump,
    Call,
    Return,
    Syscall,
}

/// Allocators by name, with how many arguments decide what they hand out. Where they take it from is their own business.
const ALLOCATORS: [(&str, usize); 26] = [
    ("malloc", 1),
    ("calloc", 2),
    ("realloc", 2),
    ("reallocarray", 3),
    ("memalign", 2),
    ("aligned_alloc", 2),
    ("valloc", 1),
    ("pvalloc", 1),
    ("__libc_malloc", 1),
    ("__libc_calloc", 2),
    ("__libc_realloc", 2),
    ("__libc_memalign", 2),
    ("_Znwm", 1),
    ("_Znam", 1),
    ("_ZnwmRKSt9nothrow_t", 1),
    ("_ZnamRKSt9nothrow_t", 1),
    ("_ZnwmSt11align_val_t", 2),
    ("_ZnamSt11align_val_t", 2),
    ("_ZnwmSt11align_val_tRKSt9nothrow_t", 2),
    ("_ZnamSt11align_val_tRKSt9nothrow_t", 2),
    ("__rust_alloc", 2),
    ("__rust_alloc_zeroed", 2),
    ("__rust_realloc", 4),
    ("__rdl_alloc", 2),
    ("__rdl_realloc", 4),
    ("__rdl_alloc_zeroed", 2),
];

/// How many of its arguments say which memory a function hands out, if it is an allocator.
fn allocator(name: &str) -> Option<usize> {
    // Rust's are mangled in newer versions: _RNvC…7___rustc12___rust_alloc.
    let plain = name.split_once("7___rustc").and_then(|(_, rest)| {
        rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix('_')
    });
    let plain = plain.unwrap_or(name);
    ALLOCATORS.iter().find(|(known, _)| *known == plain).map(|found| found.1)
}

/// Functions of the C library that put text together or out, without the prefixes and suffixes of their variants.
const OUTPUT: [&str; 14] = [
    "printf", "fprintf", "dprintf", "sprintf", "snprintf", "asprintf", "puts", "fputs", "putc", "fputc",
    "putchar", "fwrite", "putw", "perror",
];

/// The C library's functions that put out a number of equal characters: the stream, the character, and how many.
const PADDING: [&str; 2] = ["_IO_padn", "_IO_wpadn"];

fn is_output(name: &str) -> bool {
    let bare = name.trim_start_matches('_').trim_start_matches("IO_").trim_end_matches("_chk");
    let bare = bare.trim_end_matches("_unlocked");
    OUTPUT.contains(&bare) || bare.strip_prefix('v').is_some_and(|rest| OUTPUT.contains(&rest))
}

/// A program's code, as far as passes have met it.
pub struct Code<'p> {
    pub flow: Flow<'p>,
    scope: Scope,
    /// By [`Pass::block`], which counts them from the first.
    pub(super) blocks: Vec<Option<Rc<BlockCode>>>,
    functions: Vec<Rc<Function>>,
    function_ids: NumberMap<u64, FunctionId>,
    statements: Vec<Stmt>,
    statement_ids: HashMap<Stmt, StmtId>,
    by_address: NumberMap<u64, StmtId>,
    /// Statements of calls that have no line of their own.
    pub(super) nameless_calls: NumberMap<u64, StmtId>,
}

impl<'p> Code<'p> {
    pub fn new(program: &'p Program, scope: Scope) -> Code<'p> {
        Code {
            flow: Flow::new(program),
            scope,
            blocks: Vec::new(),
            functions: Vec::new(),
            function_ids: NumberMap::default(),
            statements: Vec::new(),
            statement_ids: HashMap::new(),
            by_address: NumberMap::default(),
            nameless_calls: NumberMap::default(),
        }
    }

    pub fn program(&self) -> &'p Program {
        self.flow.program()
    }

    #[inline]
    pub fn block(&mut self, pass: &Pass<'_>) -> Rc<BlockCode> {
        match self.blocks.get(pass.block() as usize) {
            Some(Some(known)) => known.clone(),
            _ => self.new_block(pass),
        }
    }

    #[cold]
    fn new_block(&mut self, pass: &Pass<'_>) -> Rc<BlockCode> {
        let key = pass.block() as usize;
        let made = Rc::new(self.make_block(pass));
        if self.blocks.len() <= key {
            self.blocks.resize(key + 1, None);
        }
        self.blocks[key] = Some(made.clone());
        made
    }

    pub fn function(&self, id: FunctionId) -> Rc<Function> {
        self.functions[id.0 as usize].clone()
    }

    pub fn statement(&self, id: StmtId) -> Option<&Stmt> {
        self.statements.get(id.0 as usize)
    }

    /// The statement in scope that the code at `address` belongs to. Inlined code of others belongs to the call.
    pub fn statement_at(&mut self, address: u64) -> StmtId {
        if let Some(known) = self.by_address.get(&address) {
            return *known;
        }
        let found = if self.trusts_object_at(address) { None } else { self.statement_in_scope(address) };
        let id = found.map_or(StmtId::NONE, |stmt| self.intern(stmt));
        self.by_address.insert(address, id);
        id
    }

    fn statement_in_scope(&self, address: u64) -> Option<Stmt> {
        let found = self.program().statements_at(address).into_iter().find(|stmt| self.is_in_scope(stmt));
        found.or_else(|| self.without_lines(address))
    }

    /// The statement in scope that gives the data at `address` the value that it has at the start.
    pub fn statement_of_data(&self, address: u64) -> Option<Stmt> {
        if self.trusts_object_at(address) {
            return None;
        }
        self.program().statement_of_data(address).filter(|stmt| self.is_in_scope(stmt))
    }

    /// Whether nothing there is in scope: the object's debug information, which takes time to read, cannot say otherwise.
    pub fn trusts_object_at(&self, address: u64) -> bool {
        self.scope.trusts_object_at(self.program(), address)
    }

    pub fn is_in_scope(&self, stmt: &Stmt) -> bool {
        self.scope.of_statement(self.program(), stmt) == Trust::InScope
    }

    /// Whether the code at an address is trusted, and why.
    pub fn trust(&self, address: u64) -> Trust {
        self.scope.of(self.program(), address)
    }

    /// In a program without debug information, a function stands for its statements.
    fn without_lines(&self, address: u64) -> Option<Stmt> {
        let program = self.program();
        if self.scope.of(program, address) != Trust::InScope || program.has_debug_info(address) {
            return None;
        }
        let location = program.locate(address);
        let function = location.function_name().map(str::to_owned).or_else(|| program.nameless(address));
        let function = function.map(Arc::from);
        let object = location.object?;
        Some(Stmt { object, file: "".into(), line: 0, part: Part::Line, function })
    }

    pub fn intern(&mut self, stmt: Stmt) -> StmtId {
        if let Some(known) = self.statement_ids.get(&stmt) {
            return *known;
        }
        let id = StmtId(self.statements.len() as u32);
        self.statements.push(stmt.clone());
        self.statement_ids.insert(stmt, id);
        id
    }

    /// The function that the code at `address` belongs to.
    pub fn function_at(&mut self, address: u64) -> FunctionId {
        let flow = self.flow.function(address);
        let entry = match &flow {
            Some(flow) => flow.entry(),
            // One for all code without a graph, by object at least.
            None => self.program().function_at(address).map_or(0, |(start, _)| start),
        };
        if let Some(known) = self.function_ids.get(&entry) {
            return *known;
        }
        let program = self.program();
        // Where it begins, not where it was met first: what was inlined there may be of others.
        let begin = if flow.is_some() { entry } else { address };
        let in_scope = self.scope.of(program, begin) == Trust::InScope && !program.is_linker_stub(address);
        let name = program.symbol_at(entry);
        let is_output = !in_scope && name.is_some_and(is_output);
        let allocator = name.filter(|_| !in_scope).and_then(allocator);
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(Rc::new(Function {
            flow,
            in_scope,
            is_output,
            pads: !in_scope && name.is_some_and(|name| PADDING.contains(&name)),
            has_frame_pointer: has_frame_pointer(program, entry),
            allocator,
        }));
        self.function_ids.insert(entry, id);
        id
    }

    /// A function is served by the machine: it is an allocator also where its own code is in scope, which does not run.
    fn is_served(&mut self, function: FunctionId, address: u64) {
        let allocator = self.program().symbol_at(address).and_then(allocator);
        if let Some(known) = self.functions.get_mut(function.0 as usize) {
            *known = Rc::new(Function { allocator, ..Function::clone(known) });
        }
    }

    fn make_block(&mut self, pass: &Pass<'_>) -> BlockCode {
        let start = pass.start();
        let function = self.function_at(start);
        if pass.is_served() {
            self.is_served(function, start);
        }
        let known = self.function(function);
        let mut ending = Ending::Plain;
        let entry = known.flow.as_ref().map_or(0, |flow| flow.entry());
        let entry_block = known.flow.as_ref().and_then(|flow| flow.block_at(entry));
        let own_block = known.flow.as_ref().and_then(|flow| flow.block_at(start));
        let mut parameters =
            if own_block == entry_block { parameters_at(self.program(), entry, start) } else { 0 };
        let mut instructions: Vec<InstructionCode> = Vec::new();
        let mut words = 0u16;
        for (address, ops) in pass.whole_block() {
            let stmt = if known.in_scope { self.statement_at(address) } else { StmtId::NONE };
            let block = known.flow.as_ref().and_then(|flow| flow.block_at(address));
            let start = known.flow.as_ref().zip(block).and_then(|(flow, block)| flow.cfg().block(block));
            ending = ops.last().map_or(Ending::Plain, ending_of);
            let (places, own_words) = places_of_words(ops);
            instructions.push(InstructionCode {
                at: Position { address, stmt, block },
                reads: read_slots(ops),
                writes: written_slots(ops),
                first_word: words,
                words: own_words,
                accesses: ops.iter().any(accesses_memory),
                stores: ops.iter().any(writes_memory),
                is_special: ops.iter().any(is_special),
                is_transit: is_transit(ops) || puts_away(ops, &mut parameters) && block == entry_block,
                has_frame_pointer: known.has_frame_pointer,
                begins_block: start.is_some_and(|block| block.start == address),
                places,
            });
            words = words.saturating_add(own_words.into());
        }
        if let Some(last) = instructions.last_mut().filter(|_| known.in_scope) {
            match ending {
                Ending::Call => last.at.stmt = self.statement_of_call(last.at.address),
                Ending::IndirectJump => last.at.stmt = self.statement_of_jump(last.at.address),
                _ => {}
            }
        }
        spread_statements(&mut instructions);
        if let (Ending::Return, Some(flow)) = (ending, &known.flow) {
            let entry = self.statement_at(flow.entry());
            pass_results(&mut instructions, pass, entry);
        }
        let begin = instructions.first().map_or(Position::NONE, |instruction| instruction.at);
        let last = instructions.last().filter(|last| last.at.block.is_some()).map(|last| last.at.address);
        BlockCode {
            function,
            in_scope: known.in_scope,
            has_frame_pointer: known.has_frame_pointer,
            reads: instructions.iter().fold(0, |set, instruction| set | instruction.reads),
            writes: instructions.iter().fold(0, |set, instruction| set | instruction.writes),
            accesses: instructions.iter().any(|instruction| instruction.accesses),
            stores: instructions.iter().any(|instruction| instruction.stores),
            is_special: instructions.iter().any(|instruction| instruction.is_special),
            stretches: stretches(pass, &instructions, false),
            singly: OnceCell::new(),
            decides: OnceCell::new(),
            is_served: pass.is_served(),
            is_straight: matches!(ending, Ending::Plain | Ending::Branch) && !pass.is_served(),
            is_uniform: instructions.iter().all(|instruction| instruction.at.stmt == begin.stmt),
            begin,
            end: instructions.last().map_or(Position::NONE, |instruction| instruction.at),
            ending,
            meeting: known.flow.as_ref().zip(last).and_then(|(flow, last)| flow.reconvergence(last)),
            instructions: instructions.into(),
        }
    }
}

/// For each op, where its words are among those of the instruction, and how many these are.
fn places_of_words(ops: &[Op]) -> (Box<[u8]>, u8) {
    let mut plan = Plan::default();
    let (mut next, mut last) = (0u8, 0u8);
    let place = |op: &Op| {
        let words = plan.next(op);
        let place = if words == Words::Same { last } else { next };
        if matches!(words, Words::Address(_)) {
            last = next;
        }
        next = next.saturating_add(words.count() as u8);
        place
    };
    let places = ops.iter().map(place).collect();
    (places, next)
}

fn ending_of(op: &Op) -> Ending {
    match op {
        Op::Branch { .. } => Ending::Branch,
        Op::Jump { target: Value::Reg(_) } => Ending::IndirectJump,
        Op::Call { .. } => Ending::Call,
        Op::Return { .. } => Ending::Return,
        Op::Syscall => Ending::Syscall,
        _ => Ending::Plain,
    }
}

fn written_slots(ops: &[Op]) -> SlotSet {
    let mut set = 0;
    for op in ops {
        transfer::made_slots(op, |reg| set |= slot_bit(reg));
    }
    set & !slot_bit(Reg::RSP)
}

fn read_slots(ops: &[Op]) -> SlotSet {
    let mut set = 0;
    ops.iter().for_each(|op| op.reads(|reg| set |= slot_bit(reg)));
    set & !slot_bit(Reg::RSP)
}

fn accesses_memory(op: &Op) -> bool {
    writes_memory(op) || matches!(op, Op::Load { .. } | Op::LoadVector { .. } | Op::LoadExtended { .. })
}

fn writes_memory(op: &Op) -> bool {
    matches!(op, Op::Store { .. } | Op::StoreVector { .. } | Op::StoreExtended { .. }) || is_special(op)
}

fn is_special(op: &Op) -> bool {
    matches!(op, Op::String { .. } | Op::Helper { .. } | Op::Syscall)
}

/// push and pop of a register, and leave: memory at the stack pointer, which they move, and a register.
fn is_transit(ops: &[Op]) -> bool {
    let copies = |op: &Op| match op {
        Op::Store { src: Value::Reg(src), address, .. } => src.is_general() && is_of_frame(address),
        Op::Load { address, .. } => is_of_frame(address),
        Op::Move { src: Value::Reg(src), .. } => src.is_temp(),
        Op::Binary { dst, .. } => *dst == Reg::RSP,
        _ => false,
    };
    let moves_stack = ops.iter().any(|op| matches!(op, Op::Binary { dst: Reg::RSP, .. }));
    moves_stack && ops.iter().all(copies)
}

/// The registers that parameters come in.
const PARAMETERS: SlotSet = {
    let general = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX, Reg::R8, Reg::R9];
    let (mut set, mut n) = (0, 0);
    while n < general.len() {
        set |= slot_bit(general[n]);
        n += 1;
    }
    n = 0;
    while n < 8 {
        set |= slot_bit(Reg::xmm(n as u8));
        n += 1;
    }
    set
};

/// So many instructions at the beginning of a function are looked at for parameters that are put away.
const MOST_PUTTING_AWAY: usize = 64;

/// The slots that hold parameters at an instruction of a function's first block: a run can be taken up anywhere in it.
fn parameters_at(program: &Program, entry: u64, address: u64) -> SlotSet {
    let (mut at, mut ops, mut parameters) = (entry, Vec::new(), PARAMETERS);
    for _ in 0..MOST_PUTTING_AWAY {
        if at == address {
            return parameters;
        }
        if at > address {
            return 0;
        }
        let bytes = program.file_bytes(at).unwrap_or_default();
        let Decoded::Instruction(instruction) = lift::decode(bytes, at) else { return 0 };
        ops.clear();
        lift::lift(&instruction, &mut ops);
        if ops.iter().any(Op::ends_block) {
            return 0;
        }
        puts_away(&ops, &mut parameters);
        at = at.wrapping_add(instruction.len() as u64);
    }
    0
}

/// Whether an instruction at the beginning of a function puts a parameter where the function keeps it, in its frame or in
/// another register: a copy that is no step of the program. `parameters` are the slots that hold one.
fn puts_away(ops: &[Op], parameters: &mut SlotSet) -> bool {
    let holds = |reg: Reg, parameters: SlotSet| slot_bit(reg) & parameters != 0;
    let mut copies = *parameters != 0 && !ops.is_empty();
    for op in ops {
        match op {
            Op::Store { src: Value::Reg(src), address, .. } if is_of_frame(address) => {
                copies &= holds(*src, *parameters);
            }
            Op::Move { dst, src: Value::Reg(src) } | Op::ZeroExtend { dst, src, .. }
                if holds(*src, *parameters) =>
            {
                *parameters |= slot_bit(*dst);
            }
            _ => {
                copies = false;
                op.writes(|reg| *parameters &= !slot_bit(reg));
            }
        }
    }
    copies
}

/// Where a function has one way out, its result waits in the frame or in a register until then. Loading it is no step of
/// the program; the statement is that of the closing brace, unless all of the function is one.
fn pass_results(instructions: &mut [InstructionCode], pass: &Pass<'_>, entry: StmtId) {
    let Some(last) = instructions.last().map(|instruction| instruction.at.stmt).filter(|stmt| *stmt != entry)
    else {
        return;
    };
    let mut ops = pass.whole_block().map(|(_, ops)| ops).peekable();
    let mut goes_back = false;
    for instruction in instructions {
        let Some(own) = ops.next() else { return };
        let goes = goes_round(own, ops.peek().copied().unwrap_or_default());
        instruction.is_transit |= instruction.at.stmt == last && (loads_result(own) || goes || goes_back);
        goes_back = goes;
    }
}

/// A float goes through a general register and back, as compilers that do not optimise let it at the closing brace.
fn goes_round(ops: &[Op], next: &[Op]) -> bool {
    let copies = |ops: &[Op], to: Reg, from: Reg| {
        let copies = |op: &Op| match op {
            Op::Move { dst, src: Value::Reg(src) } | Op::ZeroExtend { dst, src, .. } => {
                (*dst, *src) == (to, from)
            }
            _ => false,
        };
        ops.iter().any(copies) && ops.iter().all(|op| copies(op) || clears(op))
    };
    copies(ops, Reg::RAX, Reg::xmm(0)) && copies(next, Reg::xmm(0), Reg::RAX)
}

fn clears(op: &Op) -> bool {
    matches!(op, Op::Move { src: Value::Const(0), .. })
}

fn loads_result(ops: &[Op]) -> bool {
    let is_result = |reg: &Reg| [Reg::RAX, Reg::RDX, Reg::xmm(0), Reg::xmm(1)].contains(reg);
    let loads =
        |op: &Op| matches!(op, Op::Load { dst, address, .. } if is_result(dst) && is_of_frame(address));
    ops.iter().any(loads) && ops.iter().all(|op| loads(op) || clears(op))
}

fn is_of_frame(address: &Address) -> bool {
    let Address { segment, base, index, .. } = *address;
    segment == Reg::ZERO && index == Reg::ZERO && [Reg::RSP, Reg::RBP].contains(&base)
}

/// So many instructions at the beginning of a function are looked at for its frame pointer.
const PROLOGUE: usize = 8;

/// Whether a function makes rbp its frame pointer.
fn has_frame_pointer(program: &Program, entry: u64) -> bool {
    let Some(mut bytes) = program.file_bytes(entry) else { return false };
    let (mut at, mut ops) = (entry, Vec::new());
    for _ in 0..PROLOGUE {
        let Decoded::Instruction(instruction) = lift::decode(bytes, at) else { return false };
        ops.clear();
        lift::lift(&instruction, &mut ops);
        if ops.iter().any(sets_frame_pointer) {
            return true;
        }
        if ops.iter().any(Op::ends_block) {
            return false;
        }
        at = at.wrapping_add(instruction.len() as u64);
        bytes = bytes.get(instruction.len()..).unwrap_or_default();
    }
    false
}

/// mov rbp, rsp and lea rbp, [rsp + …]
fn sets_frame_pointer(op: &Op) -> bool {
    match op {
        Op::Move { dst: Reg::RBP, src: Value::Reg(Reg::RSP) } => true,
        Op::Lea { dst: Reg::RBP, address, .. } => address.base == Reg::RSP && address.index == Reg::ZERO,
        _ => false,
    }
}
