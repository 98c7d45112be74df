//! Why a run failed, as it is reported.

use linux::Exit;
use locate::explain::{Cause, Doubt, Explanation, History, RecursiveCall, Unset};
use locate::inducing::{Basis, Inducing};
use locate::switching::{Change, Critical, Effect, Statistics};
use program::{Program, Stmt};
use replay::failure::{Failure, FailureKind};
use replay::story::Decided;
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
    /// Where: the statement of the program's own code that crashed, or that called what did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<LineReport>,
    /// Something that was used before anybody had given it a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unset: Option<UnsetReport>,
    /// Of a stack that was used up: the calls that lead to each other without end, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recursion: Vec<RecursionReport>,
    /// The first is the cause, as certainly as that is known.
    pub is_certain: bool,
    /// Why the cause is not certain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<&'static str>,
    pub is_cut_short: bool,
    /// Nobody waited until all that there is to tell about the causes was found out.
    pub is_told_in_part: bool,
    /// The likeliest first.
    pub causes: Vec<CauseReport>,
    /// Conditions that save the run and are not told of.
    pub left_out: usize,
    /// What gave what the failing statement used its value, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value: Vec<StepReport>,
    /// What wrote to other elements beside the value that was compared, or that is wrong, each followed by what led it there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<LineReport>,
    /// With a cause: what else the failure depends on, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<LineReport>,
    /// Without a cause: the statements that computed what is wrong, the nearest first.
    pub computed: Vec<LineReport>,
    /// Without a cause: what is wrong is not computed from anything.
    pub is_constant: bool,
    /// Without a cause: output is missing, and what is told led to what the program did in its place.
    pub is_missing: bool,
    /// A run without end has no wrong value; what is listed as computed is what it goes by.
    pub is_endless: bool,
    /// The search in numbers.
    pub search: Statistics,
    /// What of the input makes the difference to one with which the program passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<InducingReport>,
}

/// A cause in a few words: all that a program needs that only passes it on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictReport<'a> {
    pub technique: &'static str,
    pub place: Option<&'a PlaceReport>,
    pub text: String,
    /// What the run does without it, as the end of a sentence.
    pub otherwise: &'a str,
    pub is_certain: bool,
}

impl ExplainReport {
    /// The causes, the likeliest first.
    pub fn verdict(&self) -> Vec<VerdictReport<'_>> {
        let causes = self.causes.iter().enumerate();
        let told = causes.map(|(number, cause)| VerdictReport {
            technique: self.kind,
            place: cause.condition.place.as_ref(),
            text: cause.condition.text(),
            otherwise: &cause.otherwise,
            // Of several, the first alone can be.
            is_certain: number == 0 && self.is_certain,
        });
        told.collect()
    }
}

/// Bytes of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InducingReport {
    /// `stdin`, or the path of a file.
    pub part: String,
    pub bytes: u64,
    /// From the first to the last of each piece, from 0.
    pub ranges: Vec<(u64, u64)>,
    /// How it is known: `narrowed`, by runs with inputs between the two; `minimized`, by runs with less and less of the input; `texts`, by comparing the two as they are; `unjudged`, so, for nothing
    /// can judge whether the program passes with the other one; `untried`, so, for there was no time to try it.
    pub basis: &'static str,
}

/// A condition that should perhaps have gone the other way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseReport {
    pub condition: ConditionReport,
    /// What was done to it: `once`, one of its decisions went the other way; `case`, one led to another case; `always`, all went
    /// another way; `pair`, one went the other way together with `second`.
    pub change: &'static str,
    /// The same in words, as the end of a sentence that begins with "when it".
    pub changed: String,
    /// The other condition of a pair, as it was decided in the run in which the first had gone the other way.
    pub second: Option<ConditionReport>,
    /// `repairs`, `fulfils`, `survives`, `skips` or `postpones`.
    pub effect: &'static str,
    /// What the run does when it goes the other way, as the end of a sentence.
    pub otherwise: String,
    /// Conditions that were decided by its outcome and save the run as well.
    pub steps: Vec<ConditionReport>,
    /// From the cause to the failure.
    pub path: Vec<StepReport>,
    /// Where output is missing, so that nothing leads to it: how it comes about when the condition goes the other way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<StepReport>,
    /// What gave what it compared its value, the nearest first.
    pub before: Vec<StepReport>,
    /// What to read, the nearest first.
    pub reading: Vec<LineReport>,
    pub slices: SizesReport,
    /// The how manieth trial found it, and how many dependences it is from the failure.
    pub trial: usize,
    pub distance: Option<u32>,
}

impl ConditionReport {
    /// As it stands in the source; without that, where it is.
    pub(crate) fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| format!("the decision at {:#x}", self.address))
    }
}

impl CauseReport {
    /// From the condition to the failure, or to what should have happened instead.
    pub(crate) fn way(&self) -> &[StepReport] {
        if self.path.is_empty() { &self.missed } else { &self.path }
    }

    /// How the way goes on after the condition, if it is one that was not gone; and what it ends with.
    pub(crate) fn missed_way(&self) -> Option<(&'static str, String)> {
        let is_missed = self.path.is_empty() && !self.missed.is_empty();
        is_missed
            .then(|| ("otherwise it would have come to this:", format!("and the run {}", self.otherwise)))
    }
}

/// How many statements the slices around a condition have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizesReport {
    /// What it came from and what came of it.
    pub both_ways: usize,
    /// What lies on a way from what makes the input fail, and what of that is around the condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chop: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chop_both_ways: Option<usize>,
}

/// A use of something that nobody had given a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnsetReport {
    /// That the failure, or what the cause compared, comes of it by dependence.
    pub is_on_the_way: bool,
    pub name: String,
    pub place: Option<PlaceReport>,
    pub text: Option<String>,
}

/// A call that leads to itself again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecursionReport {
    pub caller: String,
    pub callee: String,
    pub place: Option<PlaceReport>,
    pub text: Option<String>,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionReport {
    pub place: Option<PlaceReport>,
    pub text: Option<String>,
    pub condition: Option<String>,
    /// It is that of a switch, which is neither true nor false.
    #[serde(skip)]
    pub is_switch: bool,
    pub holds: Option<bool>,
    pub operands: Vec<KnownReport>,
    /// Of the instruction that decided, in its object's file.
    pub address: u64,
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

/// What a report is made from.
pub struct Explained<'a> {
    pub explanation: &'a Explanation,
    pub failure: &'a Failure,
    pub inducing: Option<&'a Inducing>,
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
            doubts: explanation.doubts().into_iter().map(doubt).collect(),
            is_cut_short: explanation.is_cut_short,
            is_told_in_part: explanation.is_told_in_part,
            failed_at: from.failed_at(),
            unset: explanation.unset.as_ref().map(|unset| from.unset(unset)),
            recursion: explanation.recursion.iter().map(|call| from.recursion(call)).collect(),
            causes: explanation.causes.iter().map(|cause| from.cause(cause)).collect(),
            left_out: explanation.left_out,
            value: explanation.value.iter().map(|told| step(told, from.shorten)).collect(),
            beside: from.lines(&explanation.beside),
            further: from.lines(&explanation.further),
            computed: from.lines(&explanation.computed),
            is_constant: explanation.history == History::Constant,
            is_missing: explanation.history == History::InPlaceOfMissing,
            is_endless: explanation.history == History::Endless,
            search: explanation.statistics,
            difference: from.inducing.map(|inducing| InducingReport {
                part: (from.shorten)(&inducing.part.to_string()),
                bytes: inducing.bytes(),
                ranges: inducing
                    .ranges
                    .iter()
                    .map(|range| (range.start, range.end.saturating_sub(1)))
                    .collect(),
                basis: match inducing.basis {
                    Basis::Narrowed => "narrowed",
                    Basis::Minimized => "minimized",
                    Basis::Texts => "texts",
                    Basis::Unjudged => "unjudged",
                    Basis::Untried => "untried",
                },
            }),
        }
    }
}

impl Explained<'_> {
    /// Of a failure that happened somewhere.
    fn failed_at(&self) -> Option<LineReport> {
        let happens = matches!(
            self.failure.kind,
            FailureKind::Crash { .. }
                | FailureKind::StackOverflow { .. }
                | FailureKind::Abort(_)
                | FailureKind::GuestFault { .. }
                | FailureKind::Hang { .. }
        );
        let stmt = self.explanation.story.end.stmt.as_ref().filter(|_| happens)?;
        self.lines(&[(stmt.clone(), 0)]).into_iter().next()
    }

    fn unset(&self, unset: &Unset) -> UnsetReport {
        UnsetReport {
            is_on_the_way: unset.is_on_the_way,
            name: unset.name.clone(),
            place: unset.stmt.as_ref().map(|stmt| PlaceReport::new(stmt, self.shorten)),
            text: unset.text.clone(),
        }
    }

    fn recursion(&self, call: &RecursiveCall) -> RecursionReport {
        RecursionReport {
            caller: call.caller.clone(),
            callee: call.callee.clone(),
            place: call.stmt.as_ref().map(|stmt| PlaceReport::new(stmt, self.shorten)),
            text: call.stmt.as_ref().and_then(|stmt| self.program.text_of(stmt)),
        }
    }

    fn cause(&self, cause: &Cause) -> CauseReport {
        CauseReport {
            condition: self.condition(&cause.decided, &cause.critical, cause.total),
            change: match cause.critical.change {
                Change::Once => "once",
                Change::Case(_) => "case",
                Change::Inverted | Change::Always(_) => "always",
                Change::With(_) => "pair",
            },
            changed: changed(&cause.critical.change),
            second: match &cause.critical.change {
                Change::With(second) => Some(self.decided(&second.decided, 0, 0, 0)),
                _ => None,
            },
            effect: match cause.critical.effect {
                Effect::Repairs => "repairs",
                Effect::Fulfils => "fulfils",
                Effect::Survives => "survives",
                Effect::Skips => "skips",
                Effect::Postpones => "postpones",
            },
            otherwise: otherwise(&cause.critical, &self.failure.kind),
            steps: cause
                .steps
                .iter()
                .map(|(critical, decided)| self.condition(decided, critical, 0))
                .collect(),
            path: cause.path.iter().map(|told| step(told, self.shorten)).collect(),
            missed: cause.missed.iter().map(|told| step(told, self.shorten)).collect(),
            before: cause.from.iter().map(|told| step(told, self.shorten)).collect(),
            reading: self.lines(&cause.reading),
            slices: SizesReport {
                both_ways: cause.sizes.both_ways,
                chop: cause.sizes.chop,
                chop_both_ways: cause.sizes.chop_both_ways,
            },
            trial: cause.critical.trial,
            distance: cause.critical.distance,
        }
    }

    fn condition(&self, decided: &Decided, critical: &Critical, total: u64) -> ConditionReport {
        let instance = &critical.instance;
        self.decided(decided, instance.number, total, instance.time.0)
    }

    fn decided(&self, decided: &Decided, number: u64, total: u64, time: u64) -> ConditionReport {
        let known = |operand: &replay::story::Known| KnownReport {
            name: operand.name.clone(),
            value: operand.value.clone(),
        };
        ConditionReport {
            place: decided.stmt.as_ref().map(|stmt| PlaceReport::new(stmt, self.shorten)),
            text: decided.text.clone(),
            condition: decided.condition.clone(),
            is_switch: decided.is_switch,
            holds: decided.holds,
            operands: decided.operands.iter().map(known).collect(),
            address: decided.address,
            number,
            total,
            time,
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

/// Why the likeliest cause is not certain, in a word.
fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::Unrepaired => "unrepaired",
        Doubt::Several => "several",
        Doubt::Case => "case",
        Doubt::Others => "others",
        Doubt::Untried => "untried",
        Doubt::LeavesOut => "leaves-out",
        Doubt::Unrelated => "unrelated",
        Doubt::Compared => "compared",
        Doubt::OnTheWay => "on-the-way",
    }
}

/// What was done to a condition.
fn changed(change: &Change) -> String {
    match change {
        Change::Once => "goes the other way".to_owned(),
        Change::Case(values) => match values.is_empty() {
            true => "leads to the default case".to_owned(),
            false => format!("leads to the case of {}", numbers(values)),
        },
        Change::Inverted => "goes the other way each time".to_owned(),
        Change::Always(Some(side)) => format!("is {side} each time"),
        Change::Always(None) => "goes one way each time".to_owned(),
        Change::With(_) => "and another one go the other way".to_owned(),
    }
}

/// The numbers of a case, those that are letters as letters.
fn numbers(values: &[(i64, i64)]) -> String {
    let one = |number: i64| match u8::try_from(number) {
        Ok(letter) if letter.is_ascii_graphic() => format!("{number} ('{}')", char::from(letter)),
        _ => number.to_string(),
    };
    let range = |&(first, last): &(i64, i64)| match first == last {
        true => one(first),
        false => format!("{} to {}", one(first), one(last)),
    };
    crate::quote::listed(&values.iter().map(range).collect::<Vec<_>>())
}

/// What the run does when the condition goes the other way.
fn otherwise(critical: &Critical, failure: &FailureKind) -> String {
    let ended = match &critical.exit {
        Some(Exit::Exited(status)) => format!("exits with status {status}"),
        Some(Exit::Killed { signal, .. }) => format!("is killed by {} later", linux::signal::name(*signal)),
        Some(_) => "ends otherwise".to_owned(),
        None => "goes on for longer".to_owned(),
    };
    match (critical.effect, failure, &critical.line) {
        // Where too much is printed, there may be no line in its place.
        (Effect::Repairs, FailureKind::WrongOutput(_), Some(line)) if !line.is_empty() => {
            format!("prints \"{}\"", replay::escaped(line))
        }
        (Effect::Repairs, FailureKind::WrongOutput(_), _) => "writes what is expected".to_owned(),
        (Effect::Repairs, FailureKind::OracleSaysSo { .. }, _) => format!("{ended}, and the oracle agrees"),
        (Effect::Repairs, FailureKind::AssertViolated(_), _) => {
            format!("keeps what was asserted, and {ended}")
        }
        (
            Effect::Repairs,
            FailureKind::Hang { .. } | FailureKind::StackOverflow { .. } | FailureKind::WrongExit { .. },
            _,
        ) => ended,
        (Effect::Repairs, ..) => format!("passes there and {ended}"),
        (Effect::Fulfils, ..) => format!("does not come there, but writes all that is expected, and {ended}"),
        (Effect::Survives, ..) => format!("passes there, but {ended}"),
        (Effect::Skips, ..) => format!("does not come there, and {ended}"),
        (Effect::Postpones, ..) => "passes there, but fails in the same way later".to_owned(),
    }
}
