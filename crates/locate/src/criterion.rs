//! What of a failure is asked about.

use crate::emission;
use linux::Place;
use linux::fs::Stream;
use machine::Time;
use replay::failure::{Difference, Failure, FailureKind, Subject};
use replay::story::{Asked, Subject as Asking, Target};
use replay::{Cell, Channel, Code, Question, Recording};

/// So many bytes of a stream are asked about where nobody says which of them are wrong.
const MOST_WRITTEN: u64 = 1 << 12;

/// The cells whose history explains a failure; where there are none, why the run came to where it failed.
pub fn asked_of(failure: &Failure, recording: &mut Recording, code: &mut Code<'_>) -> Asked {
    let target = match (&failure.kind, failure.criterion.first().map(|criterion| &criterion.subject)) {
        (
            FailureKind::Crash { .. }
            | FailureKind::StackOverflow { .. }
            | FailureKind::Abort(_)
            | FailureKind::GuestFault { .. },
            _,
        ) => Some(Target::Crash),
        (_, Some(Subject::Output { channel, offset })) => stream_of(channel, *offset),
        (_, Some(Subject::Status)) => Some(Target::Exit),
        _ => None,
    };
    let asked = target.and_then(|target| target.ask(recording, code).ok());
    if let Some(asked) = asked {
        return asked;
    }
    if matches!(failure.kind, FailureKind::OracleSaysSo { .. })
        && let Some(asked) = all_that_was_written(recording)
    {
        return asked;
    }
    let last = Time(recording.end().0.saturating_sub(1));
    let mut question = Question { time: failure.time.min(last), cells: Vec::new(), why_here: true };
    for criterion in &failure.criterion {
        if let Subject::Value { place: program::Place::Memory(address), size } = criterion.subject {
            question.time = criterion.time;
            question.cells.push(Cell::Memory { address, length: size });
        }
    }
    // A value that is wrong says more than that the run came there.
    question.why_here = question.cells.is_empty();
    // What never ends is somewhere.
    let is_hang = matches!(failure.kind, FailureKind::Hang { .. });
    let stmt = is_hang.then(|| recording.statement_under_way(code, question.time)).flatten();
    Asked { question, subject: Asking::Reached, stmt, hit: None }
}

/// Of a byte of output that is wrong: the value that it was printed from, if it was printed by a format.
pub fn printed_from(
    failure: &Failure,
    asked: &Asked,
    recording: &mut Recording,
    code: &mut Code<'_>,
) -> Option<Question> {
    let (Asking::Output { stream, .. }, FailureKind::WrongOutput(wrong)) = (&asked.subject, &failure.kind)
    else {
        return None;
    };
    emission::question(recording, code, &asked.question, *stream, wrong)
}

/// Output that is missing has no history. What the program did in its place has: how it ended, what it said on standard error, and
/// what it wrote last.
pub fn in_place_of_missing(
    failure: &Failure,
    recording: &mut Recording,
    code: &mut Code<'_>,
) -> Option<Question> {
    let FailureKind::WrongOutput(wrong) = &failure.kind else { return None };
    if wrong.difference != Difference::Missing {
        return None;
    }
    let mut question = Target::Exit.ask(recording, code).ok()?.question;
    question.cells.extend(written(recording, Stream::Stderr));
    let length = recording.last().kernel.output.length(Stream::Stdout);
    question.cells.extend(length.checked_sub(1).map(|offset| {
        let place = Place::Output { stream: Stream::Stdout, offset };
        Cell::Kernel { place, length: 1 }
    }));
    Some(question)
}

/// What was written to a stream, if anything was.
fn written(recording: &Recording, stream: Stream) -> Option<Cell> {
    let length = recording.last().kernel.output.length(stream);
    let place = Place::Output { stream, offset: 0 };
    (length > 0).then_some(Cell::Kernel { place, length: length.min(MOST_WRITTEN) })
}

/// Nobody says what of the output is wrong, so all of it is asked about.
fn all_that_was_written(recording: &Recording) -> Option<Asked> {
    let time = recording.end();
    let cells = [Stream::Stdout, Stream::Stderr].into_iter().filter_map(|stream| written(recording, stream));
    let cells: Vec<Cell> = cells.collect();
    let question = Question { time, cells, why_here: true };
    (!question.cells.is_empty()).then_some(Asked {
        question,
        subject: Asking::Reached,
        stmt: None,
        hit: None,
    })
}

/// A byte of an output stream.
pub(crate) fn stream_of(channel: &Channel, offset: u64) -> Option<Target> {
    let stream = match channel {
        Channel::Stdout => Stream::Stdout,
        Channel::Stderr => Stream::Stderr,
        Channel::File(_) => return None,
    };
    Some(Target::Output { stream, offset })
}
