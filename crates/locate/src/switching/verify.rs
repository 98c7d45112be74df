//! What a trial that ended otherwise is worth: it is run once more, and looked at closely.

use std::collections::HashMap;

use linux::fs::Stream;
use linux::{Exit, Process};
use machine::{Intervention, Time, Unwatched};
use program::Scope;
use program::conditions::MemberKind;
use replay::failure::{AbortKind, Failure, FailureKind, Verdict, WrongOutput};
use replay::index::Indices;
use replay::oracle::{Checked, Watched, digest, lacks_output};
use replay::story::{Decided, panic_entry};
use replay::{Bytes, Channel, Flow, Recording, Scanner};

use super::classify::{Altered, Point, Presence};
use super::judging::Judge;
use super::plan::Diverted;
use super::statistics::Statistics;
use super::sweep::Job;
use super::trial::{Ending, Trial};
use crate::instances::{Instance, KnownCondition};

/// So many different outcomes are shown to the commands of the user.
const MOST_ASKED: usize = 1 << 12;
/// So many trials of one condition that passed are run again: a loop can be left at each of its iterations.
const MOST_PASSED: usize = 16;
/// So many of one condition that failed are looked at in any case: was what failed before avoided? And as many of all as these instructions suffice for.
const FAILED_OF_EACH: usize = 4;
const LOOKED_THROUGH: u64 = 1 << 27;

/// What comes of a condition that goes the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The run passes.
    Repairs,
    /// The run does not come to where it crashed, and writes all that is expected, which the failing run has not.
    Fulfils,
    /// The run does not fail where it failed, but it fails later.
    Survives,
    /// The run does not come to where it failed.
    Skips,
    /// The run does not fail where it failed, but another time at the same place in the same way.
    Postpones,
}

impl Effect {
    /// Whether the failure was avoided where it happened, and for good.
    pub fn helps(self) -> bool {
        match self {
            Effect::Repairs | Effect::Fulfils | Effect::Survives => true,
            Effect::Skips | Effect::Postpones => false,
        }
    }

    /// Whether the run does not fail as it did.
    pub fn saves(self) -> bool {
        self != Effect::Postpones
    }
}

/// What was done to a condition.
#[derive(Clone, Debug)]
pub enum Change {
    /// One of its decisions went the other way.
    Once,
    /// One of its decisions led to another case, with these numbers; none stand for all that no case names.
    Case(Vec<(i64, i64)>),
    /// All of its decisions went the other way.
    Inverted,
    /// All of its decisions were true, or false; or one of the two, where it is not known which.
    Always(Option<bool>),
    /// One of its decisions went the other way, and in the run that came of it this one as well.
    With(Box<Second>),
}

/// The second decision of a pair.
#[derive(Clone, Debug)]
pub struct Second {
    pub decided: Decided,
    /// It is one of the same condition as the first.
    pub is_same: bool,
    /// It let a loop go on, which ended otherwise.
    pub leaves_out: bool,
}

/// A condition whose switching saves the run.
#[derive(Clone, Debug)]
pub struct Critical {
    pub instance: Instance,
    /// Its place among all decisions.
    pub place: usize,
    pub change: Change,
    pub effect: Effect,
    /// How the run ended then.
    pub exit: Option<Exit>,
    /// The line that it wrote in the place of the one that is wrong.
    pub line: Option<Bytes>,
    /// By dependence, from what failed.
    pub distance: Option<u32>,
    /// The how manieth trial found it.
    pub trial: usize,
    /// What is done to the run for it.
    pub interventions: Vec<Intervention>,
    /// Whether the run passes then.
    pub passes: bool,
}

pub struct Verifier<'a> {
    judge: &'a Judge<'a>,
    watched: Option<&'a Watched<'a>>,
    failure: &'a Failure,
    deadline: Time,
    crash: Option<Crash<'a>>,
    /// Trials that were looked at, by condition and by whether they passed.
    looked_at: HashMap<(u32, bool), usize>,
    /// What the user's commands say about what runs left behind.
    asked: HashMap<[u8; 32], bool>,
    /// When the lines of assertions were reached first in the failing run.
    reached: Vec<Option<Time>>,
    /// Trials that passed and were not looked at any more, or that nobody could judge.
    unverified: u64,
    /// Trials that failed and were not looked at any more.
    unclassified: u64,
    /// Instructions that were looked through in trials that failed.
    looked_through: u64,
}

/// Where the run crashed.
struct Crash<'a> {
    point: Point,
    indices: Indices<'a>,
    /// Of a panic, after which a run goes on for some time: the instruction with which all of them begin.
    panics: Option<u64>,
    /// It had not written all that is expected.
    lacks_output: bool,
}

/// What is known about a run of which nobody knows yet what it is worth.
pub struct Again {
    has_passed: bool,
    /// It failed in the same way and at the same place as before, be it at another time.
    fails_alike: bool,
    exit: Option<Exit>,
    line: Option<Bytes>,
    interventions: Vec<Intervention>,
}

impl<'a> Verifier<'a> {
    pub fn new(
        recording: &mut Recording,
        (flow, scope): (&'a Flow<'_>, &'a Scope),
        judge: &'a Judge<'a>,
        watched: Option<&'a Watched<'a>>,
        (failure, asked_at): (&'a Failure, Time),
        deadline: Time,
    ) -> Verifier<'a> {
        let is_crash = matches!(
            failure.kind,
            FailureKind::Crash { .. } | FailureKind::Abort(_) | FailureKind::GuestFault { .. }
        );
        let crash = is_crash.then(|| {
            let mut indices = Indices::new(flow, scope);
            let is_panic = matches!(&failure.kind, FailureKind::Abort(abort) if abort.by == AbortKind::Panic);
            let panics = panic_entry(flow.program()).filter(|_| is_panic);
            let time = if panics.is_some() { asked_at } else { failure.time };
            let point = Point::at(&mut indices, recording, time);
            Crash { point, indices, panics, lacks_output: lacks_output(judge.case, recording.last()) }
        });
        let reached = watched.and_then(|watched| {
            let mut start = recording.at(recording.start());
            watched.check(&mut start, failure.time).ok()
        });
        let asked = match judge.has_commands() {
            // Who leaves the same behind fails as well.
            true => digest(recording.last()).map(|failing| (failing, false)).into_iter().collect(),
            false => HashMap::new(),
        };
        Verifier {
            judge,
            watched,
            failure,
            deadline,
            crash,
            looked_at: HashMap::new(),
            asked,
            reached: reached.map(|checked| checked.first).unwrap_or_default(),
            unverified: 0,
            unclassified: 0,
            looked_through: 0,
        }
    }

    /// What a trial of one decision that ended so is worth; `None` if nothing.
    pub fn look(
        &mut self,
        recording: &mut Recording,
        instance: &Instance,
        known: &KnownCondition,
        job: &Job,
        trial: &Trial,
    ) -> Option<Critical> {
        if !self.is_worth_it(instance.condition, trial) {
            return None;
        }
        let mut there = recording.at(job.time);
        let Diverted { mut run, interventions, .. } =
            job.switch.divert(&mut there, job.time, &mut Scanner::default());
        let again = self.again(run.process(), job.time, interventions);
        self.remember(instance.condition, trial, &again);
        let effect = match &mut self.crash {
            None => again.has_passed.then_some(Effect::Repairs)?,
            Some(Crash { point, indices, panics, lacks_output }) => {
                let indexer = indices.walk_to(recording, job.time);
                let mut at = recording.at(job.time);
                let mut run = job.switch.divert(&mut at, job.time, &mut Scanner::default()).run;
                let member = known.condition.members.get(usize::from(instance.member));
                let by_jump = member.is_some_and(|member| member.kind == MemberKind::Jump);
                let altered = Altered::First { by_jump };
                let presence = point.seek(indexer, run.process(), altered, (*panics, self.deadline));
                effect(&again, as_it_counts(presence, self.failure), *lacks_output)?
            }
        };
        Some(again.critical(*instance, effect, Change::Once))
    }

    /// What a trial of all decisions of a condition is worth, of which this is the last; `process` is the start of its run.
    pub fn look_at_whole(
        &mut self,
        recording: &mut Recording,
        (instance, known): (&Instance, &KnownCondition),
        change: Change,
        (process, interventions): (&mut Process, &[Intervention]),
        trial: &Trial,
    ) -> Option<Critical> {
        // Each is looked through from the start, so those that failed get no more than what suffices for all of them.
        let is_failed = trial.ending != Ending::Passed && self.crash.is_some();
        if is_failed && self.looked_through > LOOKED_THROUGH {
            self.unclassified += 1;
            return None;
        }
        if !self.is_worth_it(instance.condition, trial) {
            return None;
        }
        let mut run = process.fork();
        let start = process.machine.time;
        let again = self.again(process, start, interventions.to_vec());
        self.remember(instance.condition, trial, &again);
        let effect = match &mut self.crash {
            None => again.has_passed.then_some(Effect::Repairs)?,
            Some(Crash { point, indices, panics, lacks_output }) => {
                // Up to where the program itself begins nothing was altered.
                let begin = recording.program_start();
                let indexer = indices.walk_to(recording, begin);
                run.run(begin, &mut Unwatched);
                let members = known.condition.members.iter();
                let altered =
                    Altered::All(members.filter_map(|member| indexer.condition(member.address)).next());
                let presence = point.seek(indexer, &mut run, altered, (*panics, self.deadline));
                effect(&again, as_it_counts(presence, self.failure), *lacks_output)?
            }
        };
        Some(again.critical(*instance, effect, change))
    }

    /// Adds how much was not looked at.
    pub fn tell(&self, statistics: &mut Statistics) {
        statistics.unverified += self.unverified;
        statistics.unclassified += self.unclassified;
    }

    /// Whether a trial may have come to something that is not known yet.
    fn is_worth_it(&mut self, condition: u32, trial: &Trial) -> bool {
        let has_passed = trial.ending == Ending::Passed;
        if trial.ending == Ending::AsTheSpine || !trial.begun || !has_passed && self.crash.is_none() {
            return false;
        }
        if trial.leavings.is_some_and(|leavings| self.asked.get(&leavings) == Some(&false)) {
            return false;
        }
        let looked_at = self.looked_at.entry((condition, has_passed)).or_default();
        *looked_at += 1;
        let is_enough = match has_passed {
            true => *looked_at > MOST_PASSED,
            false => *looked_at > FAILED_OF_EACH && self.looked_through > LOOKED_THROUGH,
        };
        let is_enough = is_enough || self.asked.len() > MOST_ASKED;
        let passed_over = if has_passed { &mut self.unverified } else { &mut self.unclassified };
        *passed_over += u64::from(is_enough);
        if !has_passed && !is_enough {
            // Twice along the trial: to its end, and for the instant of the crash.
            let length = self.failure.time.0.saturating_add(trial.instructions);
            self.looked_through = self.looked_through.saturating_add(length);
        }
        !is_enough
    }

    fn remember(&mut self, condition: u32, trial: &Trial, again: &Again) {
        let Some(leavings) = trial.leavings else { return };
        self.asked.insert(leavings, again.has_passed);
        // The machine alone took it for one that passes; that it does not is known now of all that are like it.
        if let Some(looked_at) = self.looked_at.get_mut(&(condition, true)).filter(|_| !again.has_passed) {
            *looked_at = looked_at.saturating_sub(1);
        }
    }

    /// Runs it to its end: whether it passes, how it ends, and what it writes where the failing run was wrong. Up to `since` it
    /// was as the failing run.
    fn again(&mut self, process: &mut Process, since: Time, interventions: Vec<Intervention>) -> Again {
        // Whether the assertions held; `None` if nobody knows.
        let has_kept = match self.watched {
            None => {
                process.run(self.deadline, &mut Unwatched);
                Some(true)
            }
            Some(watched) => match watched.check(process, self.deadline) {
                Ok(Checked { violation: Some(_), .. }) => Some(false),
                Ok(Checked { unknown: None, mut first, .. }) => {
                    for (first, before) in first.iter_mut().zip(&self.reached) {
                        *first = first.or(before.filter(|before| *before < since));
                    }
                    watched.unreached(&first).is_none().then_some(true)
                }
                _ => None,
            },
        };
        let verdict = self.judge.verdict(process);
        let has_ended = process.kernel.ended.is_some();
        let is_unknown = has_kept.is_none() || matches!(verdict, Verdict::CannotTell(_)) && has_ended;
        self.unverified += u64::from(is_unknown);
        let has_passed = has_kept == Some(true) && verdict == Verdict::Passed;
        let fails_alike = matches!(&verdict, Verdict::Failed(failed) if failed.is_like(self.failure));
        let (exit, line) = (process.kernel.ended.clone(), self.line(process));
        Again { has_passed, fails_alike, exit, line, interventions }
    }

    fn line(&self, process: &Process) -> Option<Bytes> {
        let FailureKind::WrongOutput(WrongOutput { channel, line, .. }) = &self.failure.kind else {
            return None;
        };
        let stream = match channel {
            Channel::Stdout => Stream::Stdout,
            Channel::Stderr => Stream::Stderr,
            Channel::File(_) => return None,
        };
        let output = process.kernel.output.contents(stream);
        let number = usize::try_from(line.checked_sub(1)?).ok()?;
        let found = output.split(|byte| *byte == b'\n').nth(number)?;
        Some(Bytes::from(found))
    }
}

impl Again {
    fn critical(self, instance: Instance, effect: Effect, change: Change) -> Critical {
        let Again { exit, line, interventions, has_passed: passes, .. } = self;
        let (place, distance, trial) = (0, None, 0);
        Critical { instance, place, change, effect, exit, line, distance, trial, interventions, passes }
    }
}

/// A program that gives up has asked a question before; that it answers it otherwise is what counts. Of other crashes it does not.
fn as_it_counts(presence: Presence, failure: &Failure) -> Presence {
    let counts_guard = matches!(failure.kind, FailureKind::Abort(_));
    Presence { guarded: presence.guarded && counts_guard, ..presence }
}

/// The three cases of the paper, for a run that ended well and for one that did not; and a fourth, where the failing run lacks output that is expected: one that does
/// not come to the failure and yet writes all of that has not merely left something out.
fn effect(again: &Again, presence: Presence, lacks_output: bool) -> Option<Effect> {
    let is_avoided = presence.reached && !presence.ended_there || presence.guarded;
    match (again.has_passed, is_avoided) {
        (true, true) => Some(Effect::Repairs),
        (true, false) if lacks_output => Some(Effect::Fulfils),
        (true, false) => Some(Effect::Skips),
        (false, true) if again.fails_alike => Some(Effect::Postpones),
        (false, true) => Some(Effect::Survives),
        (false, false) => None,
    }
}
