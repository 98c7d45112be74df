//! A run in which a condition went the other way, to its end.

use linux::fs::Stream;
use linux::{Exit, Process};
use machine::{Time, Unwatched};
use replay::failure::{Failure, FailureKind, Verdict};
use replay::oracle::{Checked, Watched, digest, judge};

use super::sweep::Rules;

/// Instructions after which it is looked whether what was written is wrong already.
const FIRST_LOOK: u64 = 1 << 10;
const LONGEST_LOOK: u64 = 1 << 22;

/// What came of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    pub ending: Ending,
    /// Instructions that it took of its own.
    pub instructions: u64,
    /// What it took to wait, in instructions of a plain run.
    pub spent: u64,
    /// If it did not end as the spine: from its beginning to its end, and the last part of that, in which it ran on by itself.
    pub length: u64,
    pub ran_out: u64,
    /// How often it was parked and woken, and how many instructions were followed in its world.
    pub parked: u32,
    pub wakes: u32,
    pub followed: u64,
    /// How often it was looked, for a check, whether it differs from the spine as is claimed; and how often it did not.
    pub checked: u32,
    pub refuted: u32,
    /// It was begun.
    pub begun: bool,
    /// Where the commands of the user have the last word: what it left behind.
    pub leavings: Option<[u8; 32]>,
}

/// How a trial ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ending {
    /// Nobody knows.
    #[default]
    CutShort,
    /// As the run that failed.
    AsTheSpine,
    /// As the oracle wants it.
    Passed,
    /// In another failure, or in the same one at its own end.
    Failed {
        /// It was given up because of what it wrote.
        wrote: bool,
        /// How much of what it wrote is right, if that is what is wrong.
        right: Option<u64>,
    },
}

impl Ending {
    fn failed(failure: &Failure, wrote: bool) -> Ending {
        let right = match &failure.kind {
            FailureKind::WrongOutput(wrong) => Some(wrong.offset),
            _ => None,
        };
        Ending::Failed { wrote, right }
    }
}

/// Runs a trial to its end, and says what it left behind if somebody else has to judge that.
pub fn run(
    process: &mut Process,
    rules: &Rules<'_>,
    watched: Option<&Watched<'_>>,
) -> (Ending, Option<[u8; 32]>) {
    let ending = match watched {
        Some(watched) => run_watched(process, rules, watched),
        None => run_plainly(process, rules),
    };
    let leavings = (ending == Ending::Passed && rules.judge.has_commands()).then(|| digest(process));
    (ending, leavings.flatten())
}

/// Each time that a line with an assertion is reached, it is looked whether that holds.
fn run_watched(process: &mut Process, rules: &Rules<'_>, watched: &Watched<'_>) -> Ending {
    match watched.check(process, rules.deadline) {
        Ok(Checked { violation: Some(failure), .. }) => Ending::failed(&failure, false),
        Ok(_) => match judge(rules.judge.case, process) {
            Verdict::Passed => Ending::Passed,
            Verdict::Failed(failure) => Ending::failed(&failure, false),
            Verdict::CannotTell(_) => Ending::CutShort,
        },
        Err(_) => Ending::CutShort,
    }
}

/// It is given up as soon as what it has written is wrong.
fn run_plainly(process: &mut Process, rules: &Rules<'_>) -> Ending {
    let mut look = FIRST_LOOK;
    let mut written = written_by(process);
    loop {
        let until = Time(process.machine.time.0.saturating_add(look)).min(rules.deadline);
        look = look.saturating_mul(2).min(LONGEST_LOOK);
        let exit = process.run(until, &mut Unwatched);
        let is_over = !matches!(exit, Exit::Until) || process.machine.time >= rules.deadline;
        let now = written_by(process);
        if !is_over && now == written {
            if rules.meter.is_over() {
                return Ending::CutShort;
            }
            continue;
        }
        written = now;
        match judge(rules.judge.case, process) {
            Verdict::Passed => return Ending::Passed,
            Verdict::Failed(failure) => return Ending::failed(&failure, !is_over),
            Verdict::CannotTell(_) if is_over => return Ending::CutShort,
            Verdict::CannotTell(_) => {}
        }
    }
}

fn written_by(process: &Process) -> u64 {
    let length = |stream| process.kernel.output.length(stream);
    length(Stream::Stdout).saturating_add(length(Stream::Stderr))
}
