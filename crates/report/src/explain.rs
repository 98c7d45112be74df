//! Why a run failed, as it is reported.

use linux::Exit;
use locate::explain::{Cause, Explanation};
use locate::switching::{Critical, Effect, Statistics};
use program::{Program, Stmt};
use replay::failure::Failure;
use replay::story::{Decided, Story};
use serde::Serialize;

use crate::Shorten;
use crate::why::{KnownReport, PlaceReport, StepReport, step};

/// The answer of `whydunit explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainReport {
    /// What kind of finding it is.
    pub kind: &'static str,
    /// The command line.
    pub command: String,
    /// What went wrong, as the end of a sentence that begins with the command.
    pub failed: String,
    /// The first is the cause, as certainly as that is known.
    pub is_certain: bool,
    pub is_cut_short: bool,
    /// The likeliest first.
    pub causes: Vec<CauseReport>,
    /// Conditions that save the run and are not told of.
    pub left_out: usize,
    /// Without a cause: the statements that computed what is wrong, the nearest first.
    pub computed: Vec<LineReport>,
    pub search: SearchReport,
}

/// A condition that should perhaps have gone the other way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseReport {
    pub condition: ConditionReport,
    /// `repairs`, `survives` or `skips`.
    pub effect: &'static str,
    /// What the run does when it goes the other way, as the end of a sentence.
    pub otherwise: String,
    /// Conditions that depend on it and save the run as well.
    pub steps: Vec<ConditionReport>,
    /// From the cause to the failure.
    pub path: Vec<StepReport>,
    /// Where came from what it was decided by, the newest first.
    pub before: Vec<StepReport>,
    /// What to read, the nearest first.
    pub reading: Vec<LineReport>,
    /// The how manieth trial found it, and how many dependences it is from the failure.
    pub trial: usize,
    pub distance: Option<u32>,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionReport {
    pub place: Option<PlaceReport>,
    pub text: Option<String>,
    pub condition: Option<String>,
    pub holds: Option<bool>,
    pub operands: Vec<KnownReport>,
    /// The how manieth decision of the condition, and of how many.
    pub number: u64,
    pub total: u64,
    pub time: u64,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineReport {
    pub place: PlaceReport,
    pub text: Option<String>,
    pub distance: u32,
}

/// The search in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SearchReport {
    pub candidates: u64,
    pub tried: u64,
    pub parked_for_good: u64,
    pub woken: u64,
    pub wrong_output: u64,
    pub cut_short: u64,
    pub left_out: u64,
    pub unverified: u64,
    pub instructions: u64,
    pub first: Option<u64>,
}

/// What a report is made from.
pub struct Explained<'a> {
    pub explanation: &'a Explanation,
    pub failure: &'a Failure,
    pub command: String,
    pub program: &'a Program,
    pub shorten: Shorten<'a>,
}

impl ExplainReport {
    pub fn new(from: &Explained<'_>) -> ExplainReport {
        let explanation = from.explanation;
        ExplainReport {
            kind: "switching",
            command: from.command.clone(),
            failed: from.failure.to_string(),
            is_certain: explanation.is_certain(),
            is_cut_short: explanation.is_cut_short,
            causes: explanation.causes.iter().map(|cause| from.cause(cause, &explanation.story)).collect(),
            left_out: explanation.left_out,
            computed: from.lines(&explanation.computed),
            search: SearchReport::new(&explanation.statistics),
        }
    }
}

impl Explained<'_> {
    fn cause(&self, cause: &Cause, story: &Story) -> CauseReport {
        let told = |number: &usize| story.steps.iter().find(|told| told.number == *number);
        CauseReport {
            condition: self.condition(&cause.decided, &cause.critical, cause.total),
            effect: match cause.critical.effect {
                Effect::Repairs => "repairs",
                Effect::Survives => "survives",
                Effect::Skips => "skips",
            },
            otherwise: otherwise(&cause.critical),
            steps: cause
                .steps
                .iter()
                .map(|(critical, decided)| self.condition(decided, critical, 0))
                .collect(),
            path: cause.path.iter().filter_map(told).map(|told| step(told, self.shorten)).collect(),
            before: cause.before.steps.iter().map(|told| step(told, self.shorten)).collect(),
            reading: self.lines(&cause.reading),
            trial: cause.critical.trial,
            distance: cause.critical.distance,
        }
    }

    fn condition(&self, decided: &Decided, critical: &Critical, total: u64) -> ConditionReport {
        let known = |operand: &replay::story::Known| KnownReport {
            name: operand.name.clone(),
            value: operand.value.clone(),
        };
        ConditionReport {
            place: decided.stmt.as_ref().map(|stmt| PlaceReport::new(stmt, self.shorten)),
            text: decided.text.clone(),
            condition: decided.condition.clone(),
            holds: decided.holds,
            operands: decided.operands.iter().map(known).collect(),
            number: critical.instance.number,
            total,
            time: critical.instance.time.0,
        }
    }

    fn lines(&self, statements: &[(Stmt, u32)]) -> Vec<LineReport> {
        let line = |(stmt, distance): &(Stmt, u32)| LineReport {
            place: PlaceReport::new(stmt, self.shorten),
            text: self.program.text_of(stmt),
            distance: *distance,
        };
        statements.iter().map(line).collect()
    }
}

impl SearchReport {
    fn new(statistics: &Statistics) -> SearchReport {
        let Statistics {
            candidates,
            tried,
            parked_for_good,
            woken,
            wrong_output,
            cut_short,
            instructions,
            left_out,
            unverified,
            first,
        } = *statistics;
        SearchReport {
            candidates,
            tried,
            parked_for_good,
            woken,
            wrong_output,
            cut_short,
            left_out,
            unverified,
            instructions,
            first,
        }
    }
}

/// What the run does when the condition goes the other way.
fn otherwise(critical: &Critical) -> String {
    let ended = match &critical.exit {
        Some(Exit::Exited(status)) => format!("exits with status {status}"),
        Some(Exit::Killed { signal, .. }) => format!("is killed by {} later", linux::signal::name(*signal)),
        Some(_) => "ends otherwise".to_owned(),
        None => "goes on for longer".to_owned(),
    };
    match (critical.effect, &critical.line) {
        (Effect::Repairs, Some(line)) => {
            format!("prints {}", crate::quote::quoted(&String::from_utf8_lossy(line)))
        }
        (Effect::Repairs, None) => format!("passes there and {ended}"),
        (Effect::Survives, _) => format!("passes there, but {ended}"),
        (Effect::Skips, _) => format!("does not come there, and {ended}"),
    }
}
