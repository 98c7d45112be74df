//! The verdict about a process that has ended.

use linux::{Exit, Process, signal};
use machine::{Access, Cause, Fault, FaultKind, PAGE_SIZE, Time};

use super::compare::{Mismatch, line_at, mismatch};
use super::expected_status;
use super::leavings::{contents, status, time_of_write};
use super::messages::{PANIC_STATUS, abort_message};
use crate::case::{Bytes, Case, Channel, Expectation};
use crate::failure::{
    Abort, AbortKind, Criterion, Difference, Failure, FailureKind, Subject, Verdict, WrongOutput,
};

/// What can be said of a process at its end without another run. References, assertions and commands of the user are not
/// looked at; see [`examine`](super::examine).
///
/// A crash counts before wrong output, and that before a wrong status. Of several texts the first counts that
/// the case names. A run that was cut short fails if what it wrote so far is wrong already.
pub fn judge(case: &Case, process: &Process) -> Verdict {
    let exit = process.kernel.ended.as_ref().unwrap_or(&Exit::Until);
    if let Some(failure) = ended_badly(case, process, exit) {
        return Verdict::Failed(failure);
    }
    let cut_short = why_cut_short(exit);
    for expectation in &case.oracle.expectations {
        let found = output_against(case, process, expectation);
        let is_final = |wrong: &(WrongOutput, Failure)| {
            cut_short.is_none()
                || wrong.0.difference != Difference::Missing && !matches!(wrong.0.channel, Channel::File(_))
        };
        if let Some((_, failure)) = found.filter(is_final) {
            return Verdict::Failed(failure);
        }
    }
    if let Some(reason) = cut_short {
        return Verdict::CannotTell(reason);
    }
    match (expected_status(case), status(exit)) {
        (Some(expected), Some(actual)) if expected != actual => {
            Verdict::Failed(wrong_exit(process, actual, expected))
        }
        _ => Verdict::Passed,
    }
}

/// Whether output is expected that a process has not written, however it ended.
pub fn lacks_output(case: &Case, process: &Process) -> bool {
    case.oracle.expectations.iter().any(|expectation| output_against(case, process, expectation).is_some())
}

fn output_against(
    case: &Case,
    process: &Process,
    expectation: &Expectation,
) -> Option<(WrongOutput, Failure)> {
    match expectation {
        Expectation::Exactly { channel, text } => wrong_output(case, process, channel, text, true),
        Expectation::Text { channel, text } => wrong_output(case, process, channel, text, false),
        _ => None,
    }
}

/// A crash, an abort or a hang, unless its status is what was expected.
fn ended_badly(case: &Case, process: &Process, exit: &Exit) -> Option<Failure> {
    if expected_status(case).is_some_and(|expected| status(exit) == Some(expected)) {
        return None;
    }
    let now = process.machine.time;
    let stderr = || contents(case, process, &Channel::Stderr).unwrap_or_default();
    match exit {
        Exit::Killed { signal: signal::SIGABRT, fault: None } if tells_of_overflow(&stderr()) => {
            let time = last_instruction(process);
            let kind =
                FailureKind::StackOverflow { size: linux::STACK_SIZE, address: process.machine.cpu.rip };
            let criterion = vec![Criterion { subject: Subject::Reached, time }];
            Some(Failure { criterion, ..Failure::new(kind, time) })
        }
        Exit::Killed { signal: signal::SIGABRT, fault: None } => {
            let unknown = Abort { by: AbortKind::Unknown, message: None, position: None };
            Some(abort(abort_message(&stderr()).unwrap_or(unknown), last_instruction(process)))
        }
        Exit::Killed { fault: Some(fault), .. } if process.heap_fault().is_some() => {
            let what = process.heap_fault()?.tell(None, None);
            let kind = FailureKind::GuestFault { what, address: fault.rip };
            Some(Failure { kind, ..crash(signal::SIGSEGV, Some(*fault), process) })
        }
        Exit::Killed { signal, fault } => {
            let failure = crash(*signal, *fault, process);
            let overflow = fault.and_then(|fault| stack_overflow(&fault, process));
            Some(Failure { kind: overflow.unwrap_or(failure.kind), ..failure })
        }
        Exit::Exited(PANIC_STATUS) => {
            let message = abort_message(&stderr()).filter(|abort| abort.by == AbortKind::Panic)?;
            Some(abort(message, last_instruction(process)))
        }
        Exit::Deadlock { call } => Some(hang(Some(call), last_instruction(process))),
        Exit::Until if case.oracle.hang_after().is_some_and(|most| now.0 >= most) => Some(hang(None, now)),
        _ => None,
    }
}

/// The instruction that retired last: the system call that ended the process.
fn last_instruction(process: &Process) -> Time {
    Time(process.machine.time.0.saturating_sub(1))
}

fn crash(signal: i32, fault: Option<Fault>, process: &Process) -> Failure {
    let time = fault.map_or_else(|| last_instruction(process), |fault| fault.time);
    let subject = match fault {
        Some(fault) => Subject::Access { instruction: fault.rip },
        None => Subject::Reached,
    };
    Failure {
        criterion: vec![Criterion { subject, time }],
        property: fault.and_then(|fault| property_of(&fault)),
        ..Failure::new(FailureKind::Crash { signal, fault }, time)
    }
}

/// Rust has a handler for what happens when no stack is left, which says so and gives up.
fn tells_of_overflow(stderr: &[u8]) -> bool {
    const MESSAGE: &[u8] = b"has overflowed its stack\n";
    stderr.windows(MESSAGE.len()).any(|window| window == MESSAGE)
}

fn stack_overflow(fault: &Fault, process: &Process) -> Option<FailureKind> {
    let FaultKind::Memory(access) = fault.kind else { return None };
    let size = linux::overflowed_stack(&process.machine.memory, access.address)?;
    Some(FailureKind::StackOverflow { size, address: fault.rip })
}

/// What should have been true so that an instruction had not faulted.
fn property_of(fault: &Fault) -> Option<String> {
    let text = match fault.kind {
        FaultKind::Memory(access) => {
            let what = match access.access {
                Access::Read => "that is read through",
                Access::Write => "that is written through",
                Access::Execute => "that is called",
            };
            match access.address < PAGE_SIZE {
                _ if access.cause == Cause::Forbidden => {
                    format!("the pointer {what} leads into a block of the heap")
                }
                true => format!("the pointer {what} is not null"),
                false => format!("the pointer {what} leads to memory that is there"),
            }
        }
        FaultKind::Misuse => {
            "the pointer that is freed is that of a block, which was not freed before".to_owned()
        }
        FaultKind::DivideError => "the divisor is not 0, and the quotient fits".to_owned(),
        FaultKind::GeneralProtection
        | FaultKind::InvalidOpcode
        | FaultKind::Breakpoint
        | FaultKind::Privileged
        | FaultKind::FloatException => return None,
    };
    Some(text)
}

fn abort(abort: Abort, time: Time) -> Failure {
    let property = abort.message.clone().filter(|_| abort.by == AbortKind::Assertion);
    Failure {
        criterion: vec![Criterion { subject: Subject::Reached, time }],
        property,
        ..Failure::new(FailureKind::Abort(abort), time)
    }
}

fn hang(call: Option<&'static str>, time: Time) -> Failure {
    Failure {
        criterion: vec![Criterion { subject: Subject::Reached, time }],
        property: Some("the program ends".to_owned()),
        ..Failure::new(FailureKind::Hang { call, given_up: None }, time)
    }
}

fn wrong_exit(process: &Process, actual: i32, expected: i32) -> Failure {
    let time = last_instruction(process);
    Failure {
        criterion: vec![Criterion { subject: Subject::Status, time }],
        property: Some(format!("the exit status is {expected}")),
        expected: Some(Bytes::from(expected.to_string().as_str())),
        ..Failure::new(FailureKind::WrongExit { actual, expected }, time)
    }
}

/// Why nobody can tell how a run would have ended.
fn why_cut_short(exit: &Exit) -> Option<String> {
    Some(match exit {
        Exit::Exited(_) | Exit::Killed { .. } | Exit::Deadlock { .. } => return None,
        Exit::Until => "the run was cut short by its limit of instructions".to_owned(),
        Exit::Input => "the program waits for input that is not there".to_owned(),
        Exit::Unsupported(unsupported) => {
            format!("the instruction {} is not supported by whydunit", unsupported.text)
        }
        Exit::OutOfMemory { .. } => "the run was cut short by its memory limit".to_owned(),
        Exit::TooMuchOutput { .. } => "the run was cut short by its output limit".to_owned(),
    })
}

/// The line that was expected in the place of the one that is wrong.
fn expected_line(actual: &[u8], expected: &[u8], found: &Mismatch) -> Bytes {
    let before = found.actual.checked_sub(1).and_then(|before| actual.get(before));
    let is_line_start = before.is_none_or(|before| *before == b'\n');
    match found.difference {
        // Nothing was, if what is too much begins a line.
        Difference::Surplus if is_line_start => Bytes::default(),
        _ => line_at(expected, found.expected).1,
    }
}

fn wrong_output(
    case: &Case,
    process: &Process,
    channel: &Channel,
    expected: &Bytes,
    is_exact: bool,
) -> Option<(WrongOutput, Failure)> {
    // A file that is not there has no bytes, and so all that was expected is missing.
    let found = contents(case, process, channel);
    let is_absent = found.is_none();
    let actual = found.unwrap_or_default();
    let found = mismatch(&actual, expected, is_exact, case.oracle.comparison);
    let found = match found {
        Some(found) => found,
        None if is_absent => Mismatch { difference: Difference::Missing, actual: 0, expected: 0 },
        None => return None,
    };
    let (line, actual_line) = line_at(&actual, found.actual);
    let wrong = WrongOutput {
        channel: channel.clone(),
        offset: found.actual as u64,
        difference: found.difference,
        line,
        actual: actual_line,
        expected: expected_line(&actual, expected, &found),
    };
    let write = time_of_write(process, channel, wrong.offset);
    let time = write.unwrap_or_else(|| last_instruction(process));
    let subject = match found.difference {
        // There is no byte to ask about.
        Difference::Missing => Subject::Reached,
        Difference::Surplus | Difference::Different => {
            Subject::Output { channel: channel.clone(), offset: wrong.offset }
        }
    };
    let failure = Failure {
        write: write.filter(|_| found.difference != Difference::Missing),
        criterion: vec![Criterion { subject, time }],
        expected: Some(wrong.expected.clone()),
        ..Failure::new(FailureKind::WrongOutput(wrong.clone()), time)
    };
    Some((wrong, failure))
}
