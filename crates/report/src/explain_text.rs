//! Why a run failed, for people.

use std::collections::BTreeSet;

use replay::grouped;
use replay::story::condition_in;

use crate::evidence_text::{
    and_more, as_far_as, besides, difference, doubts, found_by, limits_of, others_that_save, tried_of,
    what_came_of_trials,
};
use crate::explain::{CauseReport, ConditionReport, ExplainReport, LineReport, RecursionReport, UnsetReport};
use crate::paper::{Colour, Paper};
use crate::quote::{listed, plain};
use crate::why::{KnownReport, PlaceReport, StepReport};
use crate::why_text::reaches_beyond;

/// The column at which what is told begins.
const INDENT: usize = 8;
pub(crate) const CUT_SHORT: &str = "cut short: more time or a larger --budget may find more";
pub(crate) const TOLD_IN_PART: &str = "no time was left to follow all that led to the cause and from there to the failure; potential dependences were left out first";

/// What it means that something is told as written beside a value.
pub(crate) const MISSED: [&str; 2] = [
    "wrote to other elements of the same array after the value was made (below each, what led it there);",
    "if the value should have been replaced, this is what may have missed it",
];

impl ExplainReport {
    pub fn text(&self, paper: Paper) -> String {
        let mut page = Page { paper, text: String::new(), width: self.width_of_places(paper) };
        page.failed(self);
        page.recursion(self);
        page.unset(self);
        match self.causes.split_first() {
            Some((cause, others)) => {
                page.cause(cause, self.is_certain);
                page.steps("VALUE", &self.value);
                page.steps("FROM", &cause.before);
                page.others(others, self.left_out);
                page.path(cause, self);
                page.beside(&self.beside);
                page.reading(self.not_told_yet(cause));
            }
            None => {
                match self.comes_of_unset() {
                    true => page.reading(self.computed.iter()),
                    false => page.nothing(self),
                }
                page.beside(&self.beside);
            }
        }
        page.evidence(self);
        page.text
    }

    /// Whether the failure is known to come of something without a value.
    pub fn comes_of_unset(&self) -> bool {
        self.unset.as_ref().is_some_and(|unset| unset.is_on_the_way)
    }

    /// What is to be read after all that is told of a cause: what has to do with it, then what else the failure depends on.
    fn not_told_yet<'r>(&'r self, cause: &'r CauseReport) -> impl Iterator<Item = &'r LineReport> {
        cause.reading.iter().chain(&self.further).filter(self.is_news(cause))
    }

    /// Whether a line is told nowhere before what is to be read.
    pub(crate) fn is_news(&self, cause: &CauseReport) -> impl Fn(&&LineReport) -> bool + use<> {
        let conditions =
            self.causes.iter().map(|cause| &cause.condition).chain(&cause.second).chain(&cause.steps);
        let conditions = conditions.filter_map(|condition| condition.place.as_ref());
        let steps = cause.way().iter().chain(&cause.before).chain(&self.value);
        let steps = steps.filter_map(|step| step.place.as_ref());
        let lines = self.beside.iter().chain(&self.failed_at).map(|line| &line.place);
        let told: BTreeSet<String> = conditions.chain(steps).chain(lines).map(spot).collect();
        move |line: &&LineReport| !told.contains(&spot(&line.place))
    }

    /// The statement that failed, where the way from a cause does not end with it.
    pub(crate) fn end_of_way(&self, cause: &CauseReport) -> Option<&LineReport> {
        let last = match cause.way() {
            [_] => cause.condition.place.as_ref(),
            way => way.last().and_then(|step| step.place.as_ref()),
        };
        let failed = self.failed_at.as_ref().filter(|_| cause.missed_way().is_none());
        failed.filter(|line| last.map(spot) != Some(spot(&line.place)))
    }

    /// How wide the places are that stand under each other.
    fn width_of_places(&self, paper: Paper) -> usize {
        let conditions = self
            .causes
            .iter()
            .flat_map(|cause| [&cause.condition].into_iter().chain(&cause.second).chain(&cause.steps));
        let conditions = conditions.filter_map(|condition| condition.place.as_ref());
        let steps = self.causes.iter().flat_map(|cause| cause.way().iter().chain(&cause.before));
        let steps = steps.chain(&self.value).filter_map(|step| step.place.as_ref());
        let lines = self.causes.iter().flat_map(|cause| &cause.reading).chain(&self.computed);
        let lines =
            lines.chain(&self.beside).chain(&self.further).chain(&self.failed_at).map(|line| &line.place);
        let lines = lines.chain(self.recursion.iter().filter_map(|call| call.place.as_ref()));
        let lines = lines.chain(self.unset.as_ref().and_then(|unset| unset.place.as_ref()));
        let widths = conditions.chain(steps).chain(lines).map(|place| spot(place).chars().count());
        // Long paths must not push the text off the paper.
        widths.max().unwrap_or(0).min(paper.width() / 3)
    }
}

struct Page {
    paper: Paper,
    text: String,
    width: usize,
}

impl Page {
    fn failed(&mut self, report: &ExplainReport) {
        let mut lines = vec![format!("{} {}", plain(&report.command), plain(&report.failed))];
        if let Some(line) = &report.failed_at {
            lines.push(self.at(Some(&line.place), line.text.as_deref().unwrap_or_default()));
        }
        self.section("FAILED", &lines);
    }

    fn unset(&mut self, report: &ExplainReport) {
        let Some(unset) = &report.unset else { return };
        let mut lines = vec![self.at(unset.place.as_ref(), unset.text.as_deref().unwrap_or_default())];
        lines.push(format!("uses {}, {}", plain(&unset.name), never_given(unset)));
        self.section("UNSET", &lines);
    }

    fn recursion(&mut self, report: &ExplainReport) {
        let mut lines = Vec::new();
        for call in &report.recursion {
            lines.push(self.at(call.place.as_ref(), call.text.as_deref().unwrap_or("a call")));
            lines.push(format!("{:1$}   {2}", "", self.width, calls(call)));
        }
        if !lines.is_empty() {
            self.text.push_str(&self.paper.paint(Colour::Headline, "RECURSION"));
            self.text.push('\n');
            self.section("", &lines);
        }
    }

    fn section(&mut self, word: &str, lines: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            let word = if number == 0 { word } else { "" };
            let word = self.paper.paint(Colour::Headline, &format!("{word:INDENT$}"));
            self.text.push_str(format!("{word}{line}").trim_end());
            self.text.push('\n');
        }
        if !lines.is_empty() {
            self.text.push('\n');
        }
    }

    fn at(&self, place: Option<&PlaceReport>, text: &str) -> String {
        let width = self.width;
        let place = Paper::end_of(&place.map(spot).unwrap_or_default(), width);
        let left = self.paper.width().saturating_sub(INDENT + width + 3).max(24);
        format!("{place:width$}   {}", cut(&plain(text), left))
    }

    fn cause(&mut self, cause: &CauseReport, is_certain: bool) {
        let condition = &cause.condition;
        let mut lines = vec![self.at(condition.place.as_ref(), &condition.text())];
        lines.push(format!("{}{};", took(condition), which(condition)));
        if let Some(second) = &cause.second {
            lines.push(self.at(second.place.as_ref(), &second.text()));
            lines.push(format!("{} then;", took(second)));
        }
        lines.push(what_if(cause, is_certain));
        lines.extend(dependents(cause));
        self.section("CAUSE", &lines);
    }

    fn path(&mut self, cause: &CauseReport, report: &ExplainReport) {
        if cause.way().is_empty() {
            return;
        }
        let (first, last) = match cause.missed_way() {
            Some((so, end)) => (format!("{}, {so}", decided(&cause.condition)), end),
            None => (decided(&cause.condition), report.failed.clone()),
        };
        let mut lines = vec![self.at(cause.condition.place.as_ref(), &first)];
        lines.extend(cause.way().iter().skip(1).flat_map(|step| self.step(step)));
        lines.extend(self.listed(report.end_of_way(cause)));
        lines.push(format!("{:1$}   {2}", "", self.width, plain(&last)));
        self.section("PATH", &lines);
    }

    fn steps(&mut self, word: &str, steps: &[StepReport]) {
        let lines: Vec<String> = steps.iter().flat_map(|step| self.step(step)).collect();
        self.section(word, &lines);
    }

    /// What a step did, and below that where it wrote or read beyond what it meant.
    fn step(&self, step: &StepReport) -> Vec<String> {
        let did = self.at(step.place.as_ref(), &did(step));
        let beyond =
            step.overflows.iter().map(|one| format!("{:1$}   {2}", "", self.width, reaches_beyond(one)));
        [did].into_iter().chain(beyond).collect()
    }

    fn others(&mut self, others: &[CauseReport], left_out: usize) {
        let mut lines = Vec::new();
        for other in others {
            lines.push(self.at(other.condition.place.as_ref(), &other.condition.text()));
            lines.push(format!("{:1$}   {2}", "", self.width, took(&other.condition)));
            if let Some(second) = &other.second {
                lines.push(self.at(second.place.as_ref(), &second.text()));
                lines.push(format!("{:1$}   {2} then", "", self.width, took(second)));
            }
            lines.push(format!("{:1$}   {2}", "", self.width, otherwise(other)));
        }
        if left_out > 0 && !others.is_empty() {
            lines.push(and_more(left_out));
        }
        if !lines.is_empty() {
            self.text.push_str(&self.paper.paint(Colour::Headline, "ALSO POSSIBLE"));
            self.text.push('\n');
            self.section("", &lines);
        }
    }

    fn beside(&mut self, beside: &[LineReport]) {
        if beside.is_empty() {
            return;
        }
        let mut lines = self.listed(beside);
        lines.extend(MISSED.map(str::to_owned));
        self.section("BESIDE", &lines);
    }

    /// Lines of the source under each other.
    fn listed<'l>(&self, lines: impl IntoIterator<Item = &'l LineReport>) -> Vec<String> {
        let line = |line: &LineReport| self.at(Some(&line.place), line.text.as_deref().unwrap_or_default());
        lines.into_iter().map(line).collect()
    }

    fn reading<'l>(&mut self, reading: impl Iterator<Item = &'l LineReport>) {
        let lines = self.listed(reading);
        if !lines.is_empty() {
            self.text.push_str(&self.paper.paint(Colour::Headline, "READ NEXT"));
            self.text.push('\n');
            self.section("", &lines);
        }
    }

    fn nothing(&mut self, report: &ExplainReport) {
        let mut lines = nothing_found(report);
        if !report.computed.is_empty() {
            lines.push(format!("{}:", lead_of_computed(report)));
        }
        self.section("CAUSE", &lines);
        let computed = self.listed(&report.computed);
        self.section("", &computed);
    }

    fn evidence(&mut self, report: &ExplainReport) {
        let search = &report.search;
        let mut parts = vec![found_by(report)];
        parts.extend(doubts(report));
        if search.cases + search.wholes + search.pairs > 0 {
            parts.push(format!("besides, because no single decision helped: {}", besides(search)));
        }
        parts.push(what_came_of_trials(search));
        parts.extend(others_that_save(report));
        parts.extend(difference(report));
        parts.extend(limits_of(search));
        if report.is_cut_short {
            parts.push(CUT_SHORT.to_owned());
        }
        if report.is_told_in_part {
            parts.push(TOLD_IN_PART.to_owned());
        }
        self.text.push_str(&self.paper.paint(Colour::Headline, "EVIDENCE"));
        self.text.push('\n');
        self.section("", &parts);
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
    }
}

/// How sure the report is of its first cause; nothing where it is certain.
pub(crate) fn likelihood(cause: &CauseReport, is_certain: bool) -> Option<&'static str> {
    match cause.effect {
        _ if is_certain => None,
        // Among so many pairs one may save the run by chance.
        _ if cause.second.is_some() => Some("perhaps"),
        "repairs" | "fulfils" => Some("most likely"),
        _ => Some("perhaps"),
    }
}

/// What the run does when a condition goes the other way, and how sure that is.
pub(crate) fn what_if(cause: &CauseReport, is_certain: bool) -> String {
    let (this, when) = match &cause.second {
        None => ("this, what it compared, or what it guards is wrong", format!("it {},", cause.changed)),
        Some(_) => (
            "these, what they compared, or what they guard is wrong",
            "both go the other way, and only then,".to_owned(),
        ),
    };
    let likely = likelihood(cause, is_certain).map(|likely| format!("{likely} {this}: "));
    format!("{}when {when} the run {}", likely.unwrap_or_default(), cause.otherwise)
}

/// The same of one that is also possible.
pub(crate) fn otherwise(cause: &CauseReport) -> String {
    let when = match cause.change {
        "pair" => "if both go the other way".to_owned(),
        "once" => "otherwise".to_owned(),
        _ => format!("if it {}", cause.changed),
    };
    format!("{when} the run {}", cause.otherwise)
}

/// Which decision of a condition is meant, where it was decided several times.
pub(crate) fn which(condition: &ConditionReport) -> String {
    match (condition.number, condition.total) {
        (_, 0 | 1) => String::new(),
        (number, total) => format!(" (decision {} of {})", grouped(number), grouped(total)),
    }
}

/// The conditions that were decided by the outcome of a cause and save the run as well.
pub(crate) fn dependents(cause: &CauseReport) -> Option<String> {
    let own = cause.condition.place.as_ref().map(spot);
    let mut places: Vec<String> = Vec::new();
    for place in cause.steps.iter().filter_map(|step| step.place.as_ref()).map(spot) {
        if !places.contains(&place) && own.as_ref() != Some(&place) {
            places.push(place);
        }
    }
    let verb = if places.len() == 1 { "goes" } else { "go" };
    let told = || format!("so it is when {} {verb} the other way, decided by its outcome", listed(&places));
    (!places.is_empty()).then(told)
}

/// That there is no cause, and what that says.
pub(crate) fn nothing_found(report: &ExplainReport) -> Vec<String> {
    let tried = report.search.tried;
    match (report.is_cut_short, report.search.candidates) {
        (_, 0) => {
            vec!["the program's own code decided no condition before the failure that could be made to go another way".to_owned()]
        }
        (true, _) => {
            vec![format!("not found: {}", tried_of(&report.search))]
        }
        (false, _) => vec![
            match tried {
                1 => "no condition explains this: the only decision was tried the other way,".to_owned(),
                tried => format!("no condition explains this: each of the {} decisions was tried the other way,", grouped(tried)),
            },
            match besides(&report.search) {
                tried if tried.is_empty() => format!("and none of that saves the run{}.", as_far_as(&report.search)),
                tried => format!("besides {tried}: none of that saves the run{}.", as_far_as(&report.search)),
            },
            match (report.is_missing, report.is_constant) {
                _ if report.is_endless => "So what the run goes by is most likely computed wrongly, or decided wrongly more than once.".to_owned(),
                (true, _) => "What is missing was never written, so nothing leads to it.".to_owned(),
                (_, true) => "What is wrong is a constant of the program: it is itself wrong, or no single condition selected it."
                    .to_owned(),
                _ if report.search.candidates < 2 => "So the wrong value is most likely computed, not selected.".to_owned(),
                _ => "So the wrong value is most likely computed, not selected; if it was selected, then by several decisions together.".to_owned(),
            },
        ],
    }
}

/// What the statements are that are listed in place of a cause.
pub(crate) fn lead_of_computed(report: &ExplainReport) -> &'static str {
    match report.is_missing {
        true => {
            "What led to what the program did in its place (how it ended, what it wrote last), the nearest first"
        }
        false if report.is_endless => "What the run was at, the nearest first",
        // Nothing has been said of what is wrong.
        false if report.is_cut_short || report.search.candidates == 0 => {
            "What computed what is wrong, the nearest first, then what decided about it"
        }
        false => "What computed it, the nearest first, then what decided about it",
    }
}

/// What is known about something that a statement uses.
pub(crate) fn never_given(unset: &UnsetReport) -> &'static str {
    match unset.is_on_the_way {
        true => "which was never given a value",
        false => "which was never given a value; whether the failure comes of that is not known",
    }
}

/// Who calls whom without end.
pub(crate) fn calls(call: &RecursionReport) -> String {
    match call.caller == call.callee {
        true => format!("{} calls itself, and so on", plain(&call.caller)),
        false => format!("{} calls {}, and so on", plain(&call.caller), plain(&call.callee)),
    }
}

fn spot(place: &PlaceReport) -> String {
    plain(&place.spot())
}

pub(crate) fn known(known: &KnownReport) -> String {
    match &known.value {
        Some(value) => format!("{} = {}", plain(&known.name), plain(value)),
        None => plain(&known.name),
    }
}

/// Which way a condition went, and by what.
pub(crate) fn took(condition: &ConditionReport) -> String {
    let side = match condition.holds {
        Some(true) => "was true",
        Some(false) => "was false",
        None if condition.is_switch => "went to one of its cases",
        None => "went one way",
    };
    let operands: Vec<String> = condition.operands.iter().map(known).collect();
    match operands.is_empty() {
        true => side.to_owned(),
        false => format!("{side} with {}", listed(&operands)),
    }
}

pub(crate) fn decided(condition: &ConditionReport) -> String {
    let text = condition.condition.as_deref().unwrap_or("the condition");
    match condition.holds {
        Some(holds) => format!("({}) is {holds}", plain(text)),
        None if condition.is_switch => format!("({}) chooses a case", plain(text)),
        None => format!("({}) is decided", plain(text)),
    }
}

/// What a step did.
pub(crate) fn did(step: &StepReport) -> String {
    let text = step.text.as_deref().map(plain).unwrap_or_default();
    if let Some(holds) = step.holds {
        return format!("({}) is {holds}", condition_in(&text));
    }
    let made: Vec<String> = step
        .made
        .iter()
        .filter_map(|made| Some(format!("{} is given {}", plain(&made.name), plain(made.value.as_deref()?))))
        .collect();
    match made.is_empty() {
        true => text,
        false => listed(&made),
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
