//! The argument that a byte of output was printed from.
//!
//! A byte that `printf` makes is made by the value that it prints, however it came about within the library: the blanks before a number come from no
//! operand of any instruction, and the newline after it stands where it does because of the digits before. So a byte that is wrong is asked about
//! by the argument of the conversion that it belongs to, at the call.

mod arguments;

use linux::fs::Stream;
use logic::format::{Kind, Piece};
use machine::{Cpu, Observer, Time};
use program::State;
use replay::failure::WrongOutput;
use replay::{Code, Follow, Question, Recording, Step, StmtId, Watch};
use std::ops::Range;

use arguments::{Arguments, Convention};

/// So many frames are looked at for the one that called the library.
const MOST_FRAMES: usize = 64;
/// So long before the byte was made its call may have begun.
const WINDOWS: [u64; 4] = [1 << 12, 1 << 16, 1 << 20, 1 << 24];

/// The question about what the first wrong byte of a stream was printed from; `None` if the program did not print it by a format.
pub fn question(
    recording: &mut Recording,
    code: &mut Code<'_>,
    byte: &Question,
    stream: Stream,
    wrong: &WrongOutput,
) -> Option<Question> {
    let mut made = MadeAt(None);
    recording.slice(code, byte, Follow::Data, &mut made);
    let made = made.0?;
    let call = call_of(recording, code, made)?;
    let entered = entry_time(recording, &call, made)?;
    let process = recording.at(entered);
    let arguments = Arguments::of(&process, call.convention)?;
    let contents = recording.last().kernel.output.contents(stream);
    let printed = printed_at(&arguments, &contents, usize::try_from(wrong.offset).ok()?)?;
    let cells = match is_only_moved(&contents, &printed.at, wrong) {
        true => arguments.amounts_of(printed.piece),
        false => arguments.cells_of(printed.piece),
    };
    (!cells.is_empty()).then_some(Question { time: entered, cells, why_here: true })
}

/// When what is asked about was made; what it was made from is not followed.
struct MadeAt(Option<Time>);

impl Watch for MadeAt {
    const CHOOSES: bool = true;

    fn step(&mut self, step: Step) {
        if step.user == 0 && step.in_library {
            self.0 = self.0.max(Some(step.time));
        }
    }

    fn is_on_the_way(&mut self, _time: Time) -> bool {
        self.0.is_none()
    }
}

/// A function of the library that the program called.
struct Call {
    /// Where it begins.
    entry: u64,
    /// Where its return address is.
    slot: u64,
    convention: Convention,
}

/// The call from the program's own code that is under way.
fn call_of(recording: &mut Recording, code: &mut Code<'_>, time: Time) -> Option<Call> {
    let process = recording.at(time);
    let state = State::of(&process.machine);
    let frames = code.program().backtrace_of(&state, MOST_FRAMES).frames;
    let own = frames.iter().position(|frame| code.statement_of_frame(frame) != StmtId::NONE)?;
    let function = code.program().locate(frames.get(own.checked_sub(1)?)?.lookup).function?;
    let caller = frames.get(own)?;
    Some(Call {
        entry: function.start,
        slot: caller.registers.rsp()?.checked_sub(8)?,
        convention: Convention::of(&function.name)?,
    })
}

/// When the function was entered, with its arguments where the caller put them.
fn entry_time(recording: &mut Recording, call: &Call, end: Time) -> Option<Time> {
    struct Entry<'a> {
        call: &'a Call,
        found: Option<Time>,
    }
    impl Observer for Entry<'_> {
        fn instruction(&mut self, time: Time, address: u64, _: &[lift::Op], cpu: &Cpu) {
            if address == self.call.entry && cpu.get(lift::Reg::RSP) == self.call.slot {
                self.found = Some(time);
            }
        }
    }
    let mut end = end;
    for window in WINDOWS {
        let start = Time(end.0.saturating_sub(window));
        let mut search = Entry { call, found: None };
        recording.events(start..end, &mut search);
        if search.found.is_some() {
            return search.found;
        }
        end = start;
    }
    None
}

/// What a conversion printed.
struct Printed {
    /// Which piece of the format it is.
    piece: usize,
    /// Where that is in the output.
    at: Range<usize>,
}

/// The conversion that printed the byte at a place of the output; of what is printed as it stands in the format, the last one before it.
fn printed_at(arguments: &Arguments<'_>, contents: &[u8], place: usize) -> Option<Printed> {
    let (text, parts) = arguments.printed()?;
    let first = (place + 1).saturating_sub(text.len());
    let mut found = (first..=place).filter(|start| {
        contents.get(*start..).is_some_and(|rest| rest.starts_with(&text)) && *start + text.len() > place
    });
    let start = found.next()?;
    // A text that repeats itself may lie there in more than one way.
    if found.next().is_some() {
        return None;
    }
    let part = parts.iter().position(|part| part.contains(&(place - start)))?;
    let pieces = arguments.format.pieces.get(..=part)?;
    let piece = match pieces.last()? {
        // A byte of a text was copied, so its own history is exact.
        Piece::Conversion(conversion) if conversion.kind == Kind::Text => return None,
        _ => pieces.iter().rposition(|piece| matches!(piece, Piece::Conversion(_)))?,
    };
    let at = parts.get(piece)?;
    Some(Printed { piece, at: start + at.start..start + at.end })
}

/// Whether the right thing was printed, with more or fewer blanks than it should have been.
fn is_only_moved(contents: &[u8], at: &Range<usize>, wrong: &WrongOutput) -> bool {
    let line = contents
        .get(..at.start)
        .map_or(0, |before| before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    let printed = contents.get(at.clone()).unwrap_or_default().trim_ascii();
    let expected = wrong.expected.get(at.start - line..).unwrap_or_default().trim_ascii_start();
    let rest = expected.strip_prefix(printed);
    let ends = |rest: &[u8]| !rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
    contents.get(at.clone()).is_some_and(|all| all.len() > printed.len()) && rest.is_some_and(ends)
}
