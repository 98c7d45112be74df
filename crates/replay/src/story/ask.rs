//! From what a person asks about to an instant and cells.

use lift::Reg;
use linux::fs::Stream;
use linux::{Exit, Process, signal};
use machine::Time;
use program::{
    Encoding, EvalError, Expression, Frame, LineError, LinePlaces, Piece, Place, Program, State, Stmt,
    SyntaxError, TypeKind, TypedValue,
};

use super::arrivals::{Arrival, arrival, pass_through};
use super::crash;
use super::mentions::mentions;
use crate::Recording;
use crate::dependence::{Cell, Code, Question};

/// What is asked about.
#[derive(Clone, Debug)]
pub enum Target {
    /// Why execution came to a line, or why an expression has its value there.
    Line { file: String, line: u32, expression: Option<Expression>, hit: Hit },
    /// Why the program was killed, or gave up.
    Crash,
    /// Why a byte that it wrote is what it is.
    Output { stream: Stream, offset: u64 },
    /// Why its status is what it is.
    Exit,
    /// What a line decided.
    Condition { file: String, line: u32, hit: Hit },
    /// What comes of a byte of standard input.
    Input { offset: u64 },
    /// What comes of an argument; 0 is the program's name.
    Argument { number: usize },
}

/// Which execution of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    Last,
    /// From 1.
    Nth(u64),
}

/// A question, understood.
#[derive(Clone, Debug)]
pub struct Asked {
    pub question: Question,
    pub subject: Subject,
    /// Where that is, as far as there is such a place.
    pub stmt: Option<Stmt>,
    /// Which execution of the line, and of how many.
    pub hit: Option<(u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Value {
        expression: String,
        value: String,
        /// After the statement, because it writes it.
        is_after: bool,
    },
    Reached,
    /// The signal that killed it; none for one that gave up or did not end.
    Crash {
        signal: Option<i32>,
    },
    Output {
        stream: Stream,
        offset: u64,
        byte: u8,
    },
    Exit {
        status: i32,
    },
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(
        "`{text}` is no place; it is FILE:LINE, FILE:LINE:EXPRESSION, crash, exit, output:BYTE or stderr:BYTE; \
         for slices also condition:FILE:LINE, input:BYTE or argument:NUMBER"
    )]
    Form { text: String },
    #[error("the expression makes no sense: {0}")]
    Syntax(#[from] SyntaxError),
    #[error(transparent)]
    Line(#[from] LineError),
    #[error("line {line} of {file} was never executed")]
    NeverExecuted { file: String, line: u32 },
    #[error("line {line} of {file} was executed {hits} times, so there is no execution {hit}")]
    NoHit { file: String, line: u32, hit: u64, hits: u64 },
    #[error("`{expression}` makes no sense at {file}:{line}: {error}")]
    Evaluation { expression: String, file: String, line: u32, error: Box<EvalError> },
    #[error("the program did not crash: it exited with status {status}, and --at exit asks about that")]
    NoCrash { status: i32 },
    #[error("the program wrote {length} bytes to {}, so there is no byte {offset}", name_of(*.stream))]
    NoOutput { stream: Stream, offset: u64, length: u64 },
    #[error("the program did not exit{}; --at crash asks how it ended", .signal.map_or(String::new(), |signal| format!(": {} killed it", signal::name(signal))))]
    NoExit { signal: Option<i32> },
    #[error(
        "nothing leads to what is given from outside; whydunit slice --kind forward --at tells what comes of it"
    )]
    IsABeginning,
    #[error("only whydunit slice can be asked about a condition")]
    IsACondition,
    #[error(
        "nothing comes of the program's end or of its output; what something came to is asked of \
         FILE:LINE, FILE:LINE:EXPRESSION, condition:FILE:LINE, input:BYTE or argument:NUMBER"
    )]
    IsAnEnd,
    #[error("no branch decided anything in that execution of line {line} of {file}")]
    NoCondition { file: String, line: u32 },
    #[error("the program read {length} bytes of standard input, so there is no byte {offset}")]
    NoInput { offset: u64, length: u64 },
    #[error("the program has {count} arguments, so there is no argument {number}; 0 is its name")]
    NoArgument { number: usize, count: usize },
}

impl AskError {
    /// Whether the question itself is wrong, and not only without an answer in this run.
    pub fn is_usage(&self) -> bool {
        match self {
            AskError::Form { .. } | AskError::Syntax(_) | AskError::Line(_) => true,
            AskError::IsABeginning | AskError::IsACondition | AskError::IsAnEnd => true,
            AskError::Evaluation { error, .. } => error.is_lasting(),
            _ => false,
        }
    }
}

fn name_of(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "standard output",
        Stream::Stderr => "standard error",
    }
}

impl Target {
    pub fn parse(text: &str, hit: Hit) -> Result<Target, AskError> {
        let form = || AskError::Form { text: text.to_owned() };
        match text {
            "crash" => return Ok(Target::Crash),
            "exit" => return Ok(Target::Exit),
            _ => {}
        }
        for (prefix, stream) in
            [("output:", Stream::Stdout), ("stdout:", Stream::Stdout), ("stderr:", Stream::Stderr)]
        {
            if let Some(offset) = text.strip_prefix(prefix) {
                return offset.parse().map(|offset| Target::Output { stream, offset }).map_err(|_| form());
            }
        }
        if let Some(offset) = text.strip_prefix("input:").or(text.strip_prefix("stdin:")) {
            return offset.parse().map(|offset| Target::Input { offset }).map_err(|_| form());
        }
        if let Some(number) = text.strip_prefix("argument:") {
            return number.parse().map(|number| Target::Argument { number }).map_err(|_| form());
        }
        if let Some(place) = text.strip_prefix("condition:") {
            return match Target::parse(place, hit)? {
                Target::Line { file, line, expression: None, hit } => {
                    Ok(Target::Condition { file, line, hit })
                }
                _ => Err(form()),
            };
        }
        // A path can have colons; a line is a number after one.
        let mut parts = text.match_indices(':').filter_map(|(at, _)| {
            let (file, rest) = (text.get(..at)?, text.get(at + 1..)?);
            let (line, expression) = match rest.split_once(':') {
                Some((line, expression)) => (line, Some(expression)),
                None => (rest, None),
            };
            Some((file, line.trim().parse::<u32>().ok()?, expression)).filter(|_| !file.is_empty())
        });
        let (file, line, expression) = parts.next().ok_or_else(form)?;
        let expression = expression.map(Expression::parse).transpose()?;
        Ok(Target::Line { file: file.to_owned(), line, expression, hit })
    }

    /// Finds the instant and the cells that are meant.
    pub fn ask(&self, recording: &mut Recording, code: &mut Code<'_>) -> Result<Asked, AskError> {
        match self {
            Target::Line { file, line, expression, hit } => {
                let places = code.program().find_line(file, *line)?;
                ask_line(recording, code.program(), &places, expression.as_ref(), *hit)
            }
            Target::Crash => crash::ask(recording, code),
            Target::Output { stream, offset } => ask_output(recording, *stream, *offset),
            Target::Exit => ask_exit(recording),
            Target::Condition { .. } => Err(AskError::IsACondition),
            Target::Input { .. } | Target::Argument { .. } => Err(AskError::IsABeginning),
        }
    }
}

fn ask_line(
    recording: &mut Recording,
    program: &Program,
    places: &LinePlaces,
    expression: Option<&Expression>,
    hit: Hit,
) -> Result<Asked, AskError> {
    let (file, line) = (places.file.to_string(), places.line);
    let arrival = arrival_at(recording, places, hit)?;
    let process = recording.at(arrival.time);
    let address = process.machine.cpu.rip;
    let here =
        places.statements.iter().find(|placed| placed.ranges.iter().any(|range| range.contains(&address)));
    let stmt = here.or(places.statements.first()).map(|placed| placed.stmt.clone());
    let hit = Some((arrival.hit, arrival.hits));
    let Some(expression) = expression else {
        let question = Question { time: arrival.time, cells: Vec::new(), why_here: true };
        return Ok(Asked { question, subject: Subject::Reached, stmt, hit });
    };
    let failed = |error: EvalError| AskError::Evaluation {
        expression: expression.text().to_owned(),
        file: file.clone(),
        line,
        error: Box::new(error),
    };
    let before = Seen::at(program, &process, expression).map_err(failed)?;
    let watched: Vec<_> = before.cells.iter().filter_map(memory_range).collect();
    let passage = pass_through(recording, places, arrival.time, &watched);
    let text = stmt.as_ref().and_then(|stmt| program.text_of(stmt)).unwrap_or_default();
    let names_it = mentions(&text).iter().any(|found| found.is_assigned && found.text == expression.text());
    // Who asks about what a statement writes wants to know what it has written.
    let after = match passage.left {
        Some(left) => {
            let seen = Seen::at(program, &recording.at(left), expression).ok();
            let is_other = seen.as_ref().is_some_and(|seen| seen.value != before.value);
            seen.filter(|_| passage.wrote || names_it && is_other).map(|seen| (left, seen))
        }
        None => None,
    };
    let is_after = after.is_some();
    let (time, seen) = after.unwrap_or((arrival.time, before));
    let subject = Subject::Value { expression: expression.text().to_owned(), value: seen.value, is_after };
    Ok(Asked { question: Question { time, cells: seen.cells, why_here: false }, subject, stmt, hit })
}

/// The execution of a line that is meant.
pub(super) fn arrival_at(
    recording: &mut Recording,
    places: &LinePlaces,
    hit: Hit,
) -> Result<Arrival, AskError> {
    let wanted = match hit {
        Hit::Last => None,
        Hit::Nth(hit) => Some(hit),
    };
    let (file, line) = (places.file.to_string(), places.line);
    arrival(recording, places, wanted).map_err(|hits| match (hits, wanted) {
        (1.., Some(hit)) => AskError::NoHit { file, line, hit, hits },
        _ => AskError::NeverExecuted { file, line },
    })
}

fn memory_range(cell: &Cell) -> Option<std::ops::Range<u64>> {
    match cell {
        Cell::Memory { address, length } => Some(*address..address.saturating_add(*length)),
        Cell::Register(..) | Cell::Kernel { .. } => None,
    }
}

/// An expression in a stopped guest.
struct Seen {
    value: String,
    cells: Vec<Cell>,
}

impl Seen {
    fn at(program: &Program, process: &Process, expression: &Expression) -> Result<Seen, EvalError> {
        let state = State::of(&process.machine);
        let frame = program.backtrace_of(&state, 1).frames.into_iter().next();
        let Some(frame) = frame else { return Ok(Seen { value: String::new(), cells: Vec::new() }) };
        let value = expression.evaluate(program, &state, &frame)?;
        let mut cells = match &value.place {
            Some(_) => cells_of(program, &value),
            None => operand_cells(program, &state, &frame, expression),
        };
        cells.extend(text_cell(&value, &state));
        let value = super::fresh::without_fill(value, &state);
        Ok(Seen { value: super::describe::value_text(&value), cells })
    }
}

/// The characters that a pointer leads to, where they are what is told of it: who asks about a text means these.
fn text_cell(value: &TypedValue, state: &State<'_>) -> Option<Cell> {
    let (pointer, _) = value.text.split_once(" \"")?;
    let (_, number) = pointer.split_once("0x")?;
    // The name of what is there may follow.
    let digits = number.split_once(' ').map_or(number, |(digits, _)| digits);
    let address = u64::from_str_radix(digits, 16).ok()?;
    let mut byte = [0];
    let is_part = |at: &u64| !state.is_forbidden(*at) && state.read(*at, &mut byte) && byte != [0];
    let length = (address..).take(LONGEST_TEXT).take_while(is_part).count() as u64;
    // With the zero at its end.
    Some(Cell::Memory { address, length: length + u64::from(byte == [0]) }).filter(|_| length > 0)
}

/// What a value that was computed is made of.
fn operand_cells(program: &Program, state: &State<'_>, frame: &Frame, expression: &Expression) -> Vec<Cell> {
    let operands = expression.operands();
    let values = operands.iter().filter_map(|operand| operand.evaluate(program, state, frame).ok());
    values.flat_map(|value| cells_of(program, &value)).collect()
}

/// Where a value is.
fn cells_of(program: &Program, value: &TypedValue) -> Vec<Cell> {
    let size = if is_extended(program, value) { EXTENDED } else { value.size.unwrap_or(8) };
    match &value.place {
        Some(Place::Pieces(pieces)) => pieces.iter().filter_map(cell_of_piece).collect(),
        Some(place) => cell_of(place, size).into_iter().collect(),
        None => Vec::new(),
    }
}

/// So many characters of a text are asked about.
const LONGEST_TEXT: usize = 200;
/// The bytes of a long double that mean something; it takes up more, which nobody writes.
const EXTENDED: u64 = 10;
/// So many typedefs and qualifiers around a type are looked through.
const DEEPEST: usize = 16;

fn is_extended(program: &Program, value: &TypedValue) -> bool {
    let mut of = value.of;
    for _ in 0..DEEPEST {
        let Some(found) = of.and_then(|id| program.type_of(id)) else { return false };
        of = match &found.kind {
            TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } => *of,
            TypeKind::Base(Encoding::Float) => {
                return found.size.is_some_and(|size| size > EXTENDED)
                    && found.name.as_deref() == Some("long double");
            }
            _ => return false,
        };
    }
    false
}

fn cell_of_piece(piece: &Piece) -> Option<Cell> {
    let first = piece.first_bit / 8;
    let length = (piece.first_bit.saturating_add(piece.bits)).div_ceil(8).saturating_sub(first);
    match piece.place {
        Place::Memory(address) => Some(Cell::Memory { address: address.wrapping_add(first), length }),
        _ => cell_of(&piece.place, first.saturating_add(length)),
    }
}

fn cell_of(place: &Place, size: u64) -> Option<Cell> {
    match place {
        Place::Memory(address) => Some(Cell::Memory { address: *address, length: size }),
        Place::Register(number) => {
            let bytes = if size >= 8 { 0xff } else { (1u16 << size).wrapping_sub(1) as u8 };
            Some(Cell::Register(register(*number)?, bytes))
        }
        _ => None,
    }
}

/// By DWARF's numbers.
pub(super) fn register(number: u16) -> Option<Reg> {
    const GENERAL: [Reg; 8] =
        [Reg::RAX, Reg::RDX, Reg::RCX, Reg::RBX, Reg::RSI, Reg::RDI, Reg::RBP, Reg::RSP];
    match number {
        0..=7 => GENERAL.get(usize::from(number)).copied(),
        8..=15 => Some(Reg::general(number as u8)),
        17..=32 => Some(Reg::xmm((number - 17) as u8)),
        33..=40 => Some(Reg::st((number - 33) as u8)),
        _ => None,
    }
}

fn ask_output(recording: &Recording, stream: Stream, offset: u64) -> Result<Asked, AskError> {
    let contents = recording.last().kernel.output.contents(stream);
    let byte = usize::try_from(offset).ok().and_then(|offset| contents.get(offset)).copied();
    let length = contents.len() as u64;
    let byte = byte.ok_or(AskError::NoOutput { stream, offset, length })?;
    let place = linux::Place::Output { stream, offset };
    let cells = vec![Cell::Kernel { place, length: 1 }];
    let question = Question { time: recording.end(), cells, why_here: false };
    Ok(Asked { question, subject: Subject::Output { stream, offset, byte }, stmt: None, hit: None })
}

fn ask_exit(recording: &mut Recording) -> Result<Asked, AskError> {
    let status = match recording.exit() {
        Exit::Exited(status) => *status,
        Exit::Killed { signal, .. } => return Err(AskError::NoExit { signal: Some(*signal) }),
        _ => return Err(AskError::NoExit { signal: None }),
    };
    // The system call that ended it is the last instruction, and its first argument the status.
    let time = Time(recording.end().0.saturating_sub(1));
    let question = Question { time, cells: vec![Cell::Register(Reg::RDI, 1)], why_here: false };
    Ok(Asked { question, subject: Subject::Exit { status }, stmt: None, hit: None })
}
