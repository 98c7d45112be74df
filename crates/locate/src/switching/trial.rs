//! A run in which a condition went the other way, to its end.

use linux::fs::Stream;
use linux::{Exit, Process};
use machine::{Time, Unwatched};
use replay::failure::Verdict;
use replay::oracle::judge;

use super::sweep::Rules;

/// Instructions after which it is looked whether what was written is wrong already.
const FIRST_LOOK: u64 = 1 << 16;
const LONGEST_LOOK: u64 = 1 << 22;

/// What came of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    pub ending: Ending,
    /// Instructions that it took of its own.
    pub instructions: u64,
    /// How often it was parked and woken.
    pub parked: u32,
    pub wakes: u32,
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
    /// In another failure, or in the same one at its own end. `wrote` says that it was given up because of what it wrote.
    Failed { wrote: bool },
}

/// Runs a trial to its end.
pub fn run(process: &mut Process, rules: &Rules<'_>) -> Ending {
    let mut look = FIRST_LOOK;
    let mut written = written_by(process);
    loop {
        let until = Time(process.machine.time.0.saturating_add(look)).min(rules.deadline);
        look = look.saturating_mul(2).min(LONGEST_LOOK);
        let exit = process.run(until, &mut Unwatched);
        let is_over = !matches!(exit, Exit::Until) || process.machine.time >= rules.deadline;
        let now = written_by(process);
        if !is_over && now == written {
            continue;
        }
        written = now;
        match judge(rules.case, process) {
            Verdict::Passed => return Ending::Passed,
            Verdict::Failed(_) => return Ending::Failed { wrote: !is_over },
            Verdict::CannotTell(_) if is_over => return Ending::CutShort,
            Verdict::CannotTell(_) => {}
        }
    }
}

fn written_by(process: &Process) -> u64 {
    let length = |stream| process.kernel.output.length(stream);
    length(Stream::Stdout).saturating_add(length(Stream::Stderr))
}
