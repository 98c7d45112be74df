//! What the lines of the source have to do with the report, and where on the page each of them is.

use std::collections::{BTreeMap, BTreeSet};

use crate::explain::{CauseReport, ExplainReport};
use crate::explain_text::{did, known};
use crate::html::escape::Html;
use crate::page::Page;
use crate::why::{PlaceReport, StepReport};
use crate::why_text::reaches_beyond;

/// What is told of a line.
#[derive(Default)]
pub(super) struct Mark {
    pub is_cause: bool,
    /// The failure came about there: where it is known to have, or else the last step before it.
    pub is_failure: bool,
    /// Numbers of steps, from 1, with what each did.
    pub steps: Vec<(usize, String)>,
    /// Numbers of those from which came what was compared.
    pub compared: Vec<(usize, String)>,
    /// Numbers of other causes, from 1.
    pub others: Vec<usize>,
    pub is_listed: bool,
}

pub(super) struct Marks {
    /// The number of each file's panel, and the lines in it.
    panels: BTreeMap<String, (usize, BTreeSet<u32>)>,
    lines: BTreeMap<(String, u32), Mark>,
    /// Which step of the path a step of the story is.
    steps: BTreeMap<usize, usize>,
}

impl Marks {
    pub fn new(report: &ExplainReport, page: &Page) -> Marks {
        let panels = page.sources.iter().enumerate().map(|(at, source)| {
            let lines = source.lines.iter().map(|line| line.number).collect();
            (source.file.clone(), (at + 1, lines))
        });
        let mut marks = Marks { panels: panels.collect(), lines: BTreeMap::new(), steps: BTreeMap::new() };
        if let Some((cause, others)) = report.causes.split_first() {
            marks.path(cause, report.failed_at.is_none());
            for (at, step) in cause.before.iter().enumerate() {
                marks.with(step.place.as_ref(), |mark| mark.compared.push((at, result(step))));
            }
            for (at, other) in others.iter().enumerate() {
                marks.with(other.condition.place.as_ref(), |mark| mark.others.push(at + 1));
            }
            for line in &cause.reading {
                marks.with(Some(&line.place), |mark| mark.is_listed = true);
            }
            for step in &report.value {
                marks.with(step.place.as_ref(), |mark| mark.is_listed = true);
            }
            marks.with(report.failed_at.as_ref().map(|line| &line.place), |mark| mark.is_failure = true);
        }
        for line in report.beside.iter().chain(&report.further) {
            marks.with(Some(&line.place), |mark| mark.is_listed = true);
        }
        for (at, line) in report.computed.iter().enumerate() {
            marks.with(Some(&line.place), |mark| mark.steps.push((at + 1, String::new())));
        }
        marks
    }

    fn path(&mut self, cause: &CauseReport, ends_with_failure: bool) {
        self.with(cause.condition.place.as_ref(), |mark| mark.is_cause = true);
        let operands: Vec<String> = cause.condition.operands.iter().map(known).collect();
        for (at, step) in cause.way().iter().enumerate() {
            self.steps.insert(step.number, at + 1);
            let (place, what) = match at {
                0 => (cause.condition.place.as_ref(), side(cause.condition.holds, &operands)),
                _ => (step.place.as_ref(), result(step)),
            };
            let is_failure = ends_with_failure && at > 0 && at + 1 == cause.way().len();
            self.with(place, |mark| {
                mark.steps.push((at + 1, what));
                mark.is_failure |= is_failure;
            });
        }
    }

    fn with(&mut self, place: Option<&PlaceReport>, change: impl FnOnce(&mut Mark)) {
        if let Some(place) = place {
            change(self.lines.entry((place.file.clone(), place.line)).or_default());
        }
    }

    pub fn of(&self, file: &str, line: u32) -> Option<&Mark> {
        self.lines.get(&(file.to_owned(), line))
    }

    /// The step of the path that a step of the failure's story is.
    pub fn step(&self, number: usize) -> Option<usize> {
        self.steps.get(&number).copied()
    }

    /// A place, which leads to its line in the source where that is shown.
    pub fn place(&self, html: &mut Html, place: &PlaceReport) {
        let panel = self.panels.get(&place.file).filter(|(_, lines)| lines.contains(&place.line));
        match panel {
            Some((panel, _)) => {
                html.raw("<a class=\"place\" href=\"#f").number(*panel as u64).raw("-").number(place.line);
                html.raw("\">");
                html.text(&place.spot());
                html.raw("</a>");
            }
            None => {
                html.raw("<span class=\"place\">");
                html.text(&place.spot());
                html.raw("</span>");
            }
        }
        if let Some(function) = &place.function {
            html.raw(" <span class=\"function\">in ").text(function).raw("</span>");
        }
    }
}

/// What a step did, if that is more than its text.
pub(super) fn effect(step: &StepReport) -> String {
    let effect = match (step.holds, step.made.iter().any(|made| made.value.is_some())) {
        (Some(holds), _) => format!("is {holds}"),
        (None, true) => did(step),
        (None, false) => String::new(),
    };
    let beyond = step.overflows.iter().map(reaches_beyond);
    let parts: Vec<String> = [effect].into_iter().chain(beyond).filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// What a step used, but for what led it to its places: names and values, with the step of the story that each came from.
pub(super) fn used(step: &StepReport) -> impl Iterator<Item = (&str, &str, Option<usize>)> {
    step.used.iter().filter(|used| !used.is_address).filter_map(|used| {
        let from = used.from.filter(|from| *from != step.number);
        Some((used.name.as_str(), used.value.as_deref()?, from))
    })
}

/// What a step left behind in few words, or what it had to do with if it left nothing.
fn result(step: &StepReport) -> String {
    let made = step.made.iter().filter(|made| made.value.is_some()).map(known);
    let used = || used(step).map(|(name, value, _)| format!("{name} = {value}"));
    let values: Vec<String> = match (step.holds.is_none() && !step.made.is_empty(), step.holds) {
        (true, _) => made.collect(),
        (false, None) => used().collect(),
        (false, Some(_)) => used().chain(made).collect(),
    };
    side(step.holds, &values)
}

/// The side that a condition took, and its values.
fn side(holds: Option<bool>, values: &[String]) -> String {
    let values = values.join(", ");
    match holds {
        Some(holds) if values.is_empty() => holds.to_string(),
        Some(holds) => format!("{holds}: {values}"),
        None => values,
    }
}
