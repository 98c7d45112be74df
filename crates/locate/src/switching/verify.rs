//! What a trial that ended otherwise is worth: it is run once more from the very start, and looked at closely.

use std::collections::HashMap;

use linux::fs::Stream;
use linux::{Exit, Process};
use machine::{Time, Unwatched};
use program::Scope;
use program::conditions::MemberKind;
use replay::failure::{Failure, FailureKind, Verdict, WrongOutput};
use replay::index::Indices;
use replay::oracle::judge;
use replay::{Bytes, Case, Channel, Expectation, Flow, Recording, Scanner};

use super::classify::{Point, Presence};
use super::plan::Switch;
use super::trial::Ending;
use crate::instances::{Instance, KnownCondition};

/// So many trials of one condition that passed are run again, and so many that failed elsewhere are looked at: was what
/// failed avoided? A loop can be left at each of its iterations.
const MOST_OF_ONE: usize = 16;

/// What comes of a condition that goes the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The run passes.
    Repairs,
    /// The run does not fail where it failed, but it fails later.
    Survives,
    /// The run does not come to where it failed.
    Skips,
}

/// A condition whose switching saves the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Critical {
    pub instance: Instance,
    /// Its place among all decisions.
    pub place: usize,
    pub effect: Effect,
    /// How the run ended then.
    pub exit: Option<Exit>,
    /// The line that it wrote in the place of the one that is wrong.
    pub line: Option<Bytes>,
    /// By dependence, from what failed.
    pub distance: Option<u32>,
    /// The how manieth trial found it.
    pub trial: usize,
}

pub struct Verifier<'a> {
    case: &'a Case,
    failure: &'a Failure,
    deadline: Time,
    /// Where the run crashed, if it did and nothing else is expected of it.
    crash: Option<(Point, Indices<'a>)>,
    /// Trials that were looked at, by condition and by whether they passed.
    looked_at: HashMap<(u32, bool), usize>,
    /// Those that passed and were not looked at any more.
    pub unverified: u64,
}

impl<'a> Verifier<'a> {
    pub fn new(
        recording: &mut Recording,
        flow: &'a Flow<'_>,
        scope: &'a Scope,
        case: &'a Case,
        failure: &'a Failure,
        deadline: Time,
    ) -> Verifier<'a> {
        let is_crash = matches!(
            failure.kind,
            FailureKind::Crash { .. } | FailureKind::Abort(_) | FailureKind::GuestFault { .. }
        );
        let crash = (is_crash && !expects_text(case)).then(|| {
            let mut indices = Indices::new(flow, scope);
            (Point::at(&mut indices, recording, failure.time), indices)
        });
        Verifier { case, failure, deadline, crash, looked_at: HashMap::new(), unverified: 0 }
    }

    /// What a trial that ended so is worth; `None` if nothing.
    pub fn look(
        &mut self,
        recording: &mut Recording,
        instance: &Instance,
        known: &KnownCondition,
        ending: &Ending,
    ) -> Option<Critical> {
        let has_passed = *ending == Ending::Passed;
        if *ending == Ending::AsTheSpine || !has_passed && self.crash.is_none() {
            return None;
        }
        let looked_at = self.looked_at.entry((instance.condition, has_passed)).or_default();
        *looked_at += 1;
        if *looked_at > MOST_OF_ONE {
            self.unverified += u64::from(has_passed);
            return None;
        }
        let switch = Switch::of(known, instance);
        let (has_passed, exit, line) = self.again(recording, instance, &switch);
        let effect = match &mut self.crash {
            None => has_passed.then_some(Effect::Repairs)?,
            Some((point, indices)) => {
                let indexer = indices.walk_to(recording, instance.time);
                let is_own = Point::of(indexer) == *point;
                let mut at = recording.at(instance.time);
                let (mut run, _) = switch.divert(&mut at, instance.time, &mut Scanner::default());
                let member = known.condition.members.get(usize::from(instance.member));
                let by_jump = member.is_some_and(|member| member.kind == MemberKind::Jump);
                let presence = point.seek(indexer, &mut run, by_jump, self.deadline);
                // A program that gives up has asked a question before; that it answers it otherwise is what counts.
                let counts_guard = matches!(self.failure.kind, FailureKind::Abort(_));
                let presence = Presence { guarded: presence.guarded && counts_guard, ..presence };
                effect(has_passed, is_own, presence)?
            }
        };
        Some(Critical { instance: *instance, place: 0, effect, exit, line, distance: None, trial: 0 })
    }

    /// Runs it from the very start: whether it passes, how it ends, and what it writes where the failing run was wrong.
    fn again(
        &self,
        recording: &mut Recording,
        instance: &Instance,
        switch: &Switch,
    ) -> (bool, Option<Exit>, Option<Bytes>) {
        let mut fresh = recording.at(recording.start());
        fresh.run(instance.time, &mut Unwatched);
        let (mut diversion, _) = switch.divert(&mut fresh, instance.time, &mut Scanner::default());
        let process = diversion.process();
        process.run(self.deadline, &mut Unwatched);
        let has_passed = judge(self.case, process) == Verdict::Passed;
        (has_passed, process.kernel.ended.clone(), self.line(process))
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

fn expects_text(case: &Case) -> bool {
    case.oracle.expectations.iter().any(|expectation| {
        matches!(expectation, Expectation::Text { .. } | Expectation::Exactly { .. } | Expectation::Exit(_))
    })
}

/// The three cases of the paper, for a run that ended well and for one that did not.
fn effect(has_passed: bool, is_own: bool, presence: Presence) -> Option<Effect> {
    let is_avoided = presence.reached && !presence.ended_there || presence.guarded;
    match (has_passed, is_avoided && !is_own) {
        (true, true) => Some(Effect::Repairs),
        (true, false) => Some(Effect::Skips),
        (false, true) => Some(Effect::Survives),
        (false, false) => None,
    }
}
