//! What of a failure is asked about.

use machine::Time;
use replay::failure::{Failure, FailureKind, Subject};
use replay::story::{Asked, Subject as Asking, Target};
use replay::{Cell, Channel, Code, Question, Recording};

/// The cells whose history explains a failure; where there are none, why the run came to where it failed.
pub fn asked_of(failure: &Failure, recording: &mut Recording, code: &mut Code<'_>) -> Asked {
    let target = match (&failure.kind, failure.criterion.first().map(|criterion| &criterion.subject)) {
        (FailureKind::Crash { .. } | FailureKind::Abort(_) | FailureKind::GuestFault { .. }, _) => {
            Some(Target::Crash)
        }
        (_, Some(Subject::Output { channel, offset })) => stream_of(channel, *offset),
        (_, Some(Subject::Status)) => Some(Target::Exit),
        _ => None,
    };
    let asked = target.and_then(|target| target.ask(recording, code).ok());
    if let Some(asked) = asked {
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
    Asked { question, subject: Asking::Reached, stmt: None, hit: None }
}

fn stream_of(channel: &Channel, offset: u64) -> Option<Target> {
    use linux::fs::Stream;
    let stream = match channel {
        Channel::Stdout => Stream::Stdout,
        Channel::Stderr => Stream::Stderr,
        Channel::File(_) => return None,
    };
    Some(Target::Output { stream, offset })
}
