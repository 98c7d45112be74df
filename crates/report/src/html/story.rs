//! The story: the cause, the way from there to the failure, and what else there is to say.

use crate::evidence_text::and_more;
use crate::explain::{CauseReport, ConditionReport, ExplainReport, LineReport};
use crate::explain_text::{
    MISSED, calls, decided, dependents, known, lead_of_computed, likelihood, never_given, nothing_found,
    otherwise, took, what_if, which,
};
use crate::html::escape::Html;
use crate::html::marks::{Marks, effect, used};
use crate::quote::listed;
use crate::why::{PlaceReport, StepReport};
use crate::why_text;

/// Shown where there is a keyboard to listen to.
const KEYS: &str = "<span class=\"keys\" hidden>step with <kbd>j</kbd> <kbd>k</kbd></span>";

/// How FROM steps are told apart from those of the path.
pub(super) fn letter(at: usize) -> String {
    u32::try_from(at).ok().and_then(|at| char::from_u32('a' as u32 + at)).unwrap_or('·').to_string()
}

pub(super) fn cause(html: &mut Html, cause: &CauseReport, is_certain: bool, marks: &Marks) {
    let condition = &cause.condition;
    html.raw("<section class=\"cause\" id=\"cause\">\n<h2>Cause");
    if let Some(likely) = likelihood(cause, is_certain) {
        html.raw(" <span class=\"likely\">").text(likely).raw("</span>");
    }
    html.raw("</h2>\n");
    place_and_text(html, condition.place.as_ref(), Some(&condition.text()), marks);
    html.raw("<p>It ").text(&took(condition)).text(&which(condition)).raw(".</p>\n");
    if let Some(second) = &cause.second {
        place_and_text(html, second.place.as_ref(), Some(&second.text()), marks);
        html.raw("<p>It ").text(&took(second)).raw(" then.</p>\n");
    }
    html.raw("<p>").text(&capital(&what_if(cause, is_certain))).raw(".</p>\n");
    if let Some(told) = dependents(cause) {
        html.raw("<p class=\"faint\">").text(&capital(&told)).raw(".</p>\n");
    }
    html.raw("</section>\n");
}

/// Where the run crashed, and by what it did if nobody had given that a value.
pub(super) fn failed_at(html: &mut Html, report: &ExplainReport, marks: &Marks) {
    if let Some(line) = &report.failed_at {
        html.raw("<section id=\"failed\">\n<h2>Failed at</h2>\n");
        place_and_text(html, Some(&line.place), line.text.as_deref(), marks);
        html.raw("</section>\n");
    }
    if !report.recursion.is_empty() {
        html.raw("<section id=\"recursion\">\n<h2>Recursion</h2>\n");
        for call in &report.recursion {
            place_and_text(html, call.place.as_ref(), call.text.as_deref(), marks);
            html.raw("<p class=\"did\">").text(&calls(call)).raw("</p>\n");
        }
        html.raw("</section>\n");
    }
    if let Some(unset) = &report.unset {
        html.raw("<section class=\"cause\" id=\"unset\">\n<h2>Unset</h2>\n");
        place_and_text(html, unset.place.as_ref(), unset.text.as_deref(), marks);
        html.raw("<p>It uses <code>")
            .text(&unset.name)
            .raw("</code>, ")
            .text(never_given(unset))
            .raw(".</p>\n</section>\n");
    }
}

pub(super) fn path(html: &mut Html, cause: &CauseReport, report: &ExplainReport, marks: &Marks) {
    if cause.way().is_empty() {
        return;
    }
    let missed = cause.missed_way();
    let (so, last) = missed.map_or((None, report.failed.clone()), |(so, end)| (Some(so), end));
    html.raw("<section id=\"path\">\n<h2>Path ").raw(KEYS);
    html.raw("</h2>\n<ol class=\"steps\">\n");
    for (at, step) in cause.way().iter().enumerate() {
        dot(html, at + 1);
        match at {
            0 => first_step(html, &cause.condition, so, marks),
            _ => later_step(html, step, at + 1, marks),
        }
        html.raw("</div></li>\n");
    }
    html.raw("<li class=\"end\"><span class=\"dot\" aria-hidden=\"true\">✕</span><div>");
    if let Some(line) = report.end_of_way(cause) {
        html.raw("\n");
        place_and_text(html, Some(&line.place), line.text.as_deref(), marks);
    }
    html.raw("<p>").text(&capital(&last));
    html.raw(".</p></div></li>\n</ol>\n</section>\n");
}

/// Begins a step.
fn dot(html: &mut Html, number: usize) {
    html.raw("<li class=\"step\" id=\"step-").number(number as u64);
    html.raw("\"><span class=\"dot\" aria-hidden=\"true\">").number(number as u64).raw("</span><div>\n");
}

fn first_step(html: &mut Html, condition: &ConditionReport, so: Option<&str>, marks: &Marks) {
    place_and_text(html, condition.place.as_ref(), condition.text.as_deref(), marks);
    html.raw("<p class=\"did\">").text(&decided(condition)).raw("</p>\n");
    let operands: Vec<String> = condition.operands.iter().map(known).collect();
    if !operands.is_empty() {
        html.raw("<p class=\"with\">with ").text(&listed(&operands)).raw("</p>\n");
    }
    if let Some(so) = so {
        html.raw("<p class=\"did\">").text(so).raw("</p>\n");
    }
}

fn later_step(html: &mut Html, step: &StepReport, number: usize, marks: &Marks) {
    place_and_text(html, step.place.as_ref(), step.text.as_deref(), marks);
    let did = effect(step);
    if !did.is_empty() {
        html.raw("<p class=\"did\">").text(&did).raw("</p>\n");
    }
    values(html, step, number, marks);
}

/// What a step worked with: what it read, what it passed on, and what came from outside.
fn values(html: &mut Html, step: &StepReport, number: usize, marks: &Marks) {
    let mut used = used(step).peekable();
    if used.peek().is_some() {
        html.raw("<p class=\"with\">with ");
        for (at, (name, value, from)) in used.enumerate() {
            html.raw(if at > 0 { ", " } else { "" }).text(name).raw(" = ").text(value);
            // What a later step passed is told there.
            if let Some(from) = from.and_then(|from| marks.step(from)).filter(|from| *from < number) {
                html.raw(" <a class=\"from\" href=\"#step-").number(from as u64).raw("\">from step ");
                html.number(from as u64).raw("</a>");
            }
        }
        html.raw("</p>\n");
    }
    let mut functions: Vec<&str> = Vec::new();
    for function in step.passed.iter().filter_map(|passed| passed.function.as_deref()) {
        if !functions.contains(&function) {
            functions.push(function);
        }
    }
    for function in functions {
        let passed = step.passed.iter().filter(|passed| passed.function.as_deref() == Some(function));
        let passed: Vec<String> = passed
            .map(|passed| match &passed.value {
                Some(value) => format!("{} = {value}", passed.name),
                None => passed.name.clone(),
            })
            .collect();
        html.raw("<p class=\"with\">calls ")
            .text(function)
            .raw(" with ")
            .text(&listed(&passed))
            .raw("</p>\n");
    }
    let origins = why_text::sources(&step.origins);
    if !origins.is_empty() {
        html.raw("<p class=\"with\">").text(&origins).raw("</p>\n");
    }
    if let Some(repeats) = step.repeats.as_ref().filter(|repeats| repeats.times > 1) {
        html.raw("<p class=\"with\">at the last of ").number(repeats.times).raw(" times</p>\n");
    }
}

/// Where came from what the condition compared.
pub(super) fn compared(html: &mut Html, cause: &CauseReport, marks: &Marks) {
    if cause.before.is_empty() {
        return;
    }
    html.raw("<section id=\"from\">\n<h2>From</h2>\n<p class=\"lead\">Where the values that it compared came from, the nearest first.</p>\n<ol class=\"steps\">\n");
    for (at, step) in cause.before.iter().enumerate() {
        html.raw("<li id=\"from-")
            .text(&letter(at))
            .raw("\"><span class=\"dot hollow\" aria-hidden=\"true\">");
        html.text(&letter(at)).raw("</span><div>\n");
        place_and_text(html, step.place.as_ref(), step.text.as_deref(), marks);
        html.raw("<p class=\"did\">").text(&effect(step)).raw("</p>\n");
        let made = step
            .holds
            .map(|_| step.made.iter().filter(|made| made.value.is_some()).map(known).collect::<Vec<_>>());
        if let Some(made) = made.filter(|made| !made.is_empty()) {
            html.raw("<p class=\"with\">").text(&listed(&made)).raw("</p>\n");
        }
        let origins = why_text::sources(&step.origins);
        if !origins.is_empty() {
            html.raw("<p class=\"with\">").text(&origins).raw("</p>\n");
        }
        html.raw("</div></li>\n");
    }
    html.raw("</ol>\n</section>\n");
}

/// Where came from what the failing statement used.
pub(super) fn value(html: &mut Html, steps: &[StepReport], marks: &Marks) {
    if steps.is_empty() {
        return;
    }
    html.raw("<section id=\"value\">\n<h2>Value</h2>\n<p class=\"lead\">Where what the failing statement used came from, the nearest first.</p>\n<ul class=\"plain\">\n");
    for step in steps {
        html.raw("<li>\n");
        place_and_text(html, step.place.as_ref(), step.text.as_deref(), marks);
        html.raw("<p class=\"did\">").text(&effect(step)).raw("</p>\n</li>\n");
    }
    html.raw("</ul>\n</section>\n");
}

pub(super) fn others(html: &mut Html, others: &[CauseReport], left_out: usize, marks: &Marks) {
    if others.is_empty() {
        return;
    }
    html.raw("<section id=\"others\">\n<h2>Also possible</h2>\n<ul class=\"plain\">\n");
    for (at, other) in others.iter().enumerate() {
        let condition = &other.condition;
        html.raw("<li id=\"other-").number(at as u64 + 1).raw("\">\n");
        place_and_text(html, condition.place.as_ref(), Some(&condition.text()), marks);
        html.raw("<p class=\"did\">").text(&took(condition)).raw("</p>\n");
        if let Some(second) = &other.second {
            place_and_text(html, second.place.as_ref(), Some(&second.text()), marks);
            html.raw("<p class=\"did\">").text(&took(second)).raw(" then</p>\n");
        }
        html.raw("<p class=\"with\">").text(&otherwise(other)).raw("</p>\n</li>\n");
    }
    if left_out > 0 {
        html.raw("<li class=\"faint\">").text(&and_more(left_out)).raw("</li>\n");
    }
    html.raw("</ul>\n</section>\n");
}

/// What may have missed the value.
pub(super) fn beside(html: &mut Html, beside: &[LineReport], marks: &Marks) {
    if beside.is_empty() {
        return;
    }
    html.raw("<section id=\"beside\">\n<h2>Beside</h2>\n<p class=\"lead\">These ");
    html.text(&MISSED.join(" ")).raw(".</p>\n");
    lines(html, beside, marks);
    html.raw("</section>\n");
}

pub(super) fn reading<'l>(html: &mut Html, reading: impl Iterator<Item = &'l LineReport>, marks: &Marks) {
    let mut reading = reading.peekable();
    if reading.peek().is_none() {
        return;
    }
    html.raw("<section id=\"read\">\n<h2>Read next</h2>\n<p class=\"lead\">What has to do with the cause and with the failure, the nearest first.</p>\n");
    lines(html, reading, marks);
    html.raw("</section>\n");
}

/// What else the failure depends on.
pub(super) fn further<'l>(html: &mut Html, further: impl Iterator<Item = &'l LineReport>, marks: &Marks) {
    let mut further = further.peekable();
    if further.peek().is_none() {
        return;
    }
    html.raw("<section id=\"further\">\n<h2>Further back</h2>\n<p class=\"lead\">What else the failure depends on, the nearest first.</p>\n");
    lines(html, further, marks);
    html.raw("</section>\n");
}

pub(super) fn nothing(html: &mut Html, report: &ExplainReport, marks: &Marks) {
    html.raw(
        "<section class=\"cause\" id=\"cause\">\n<h2>Cause <span class=\"likely\">not found</span></h2>\n<p>",
    );
    html.text(&capital(&nothing_found(report).join(" "))).raw("</p>\n</section>\n");
    if !report.computed.is_empty() {
        html.raw("<section id=\"computed\">\n<h2>Computed by ");
        html.raw(KEYS).raw("</h2>\n<p class=\"lead\">");
        html.text(lead_of_computed(report)).raw(".</p>\n<ol class=\"steps\">\n");
        for (at, line) in report.computed.iter().enumerate() {
            dot(html, at + 1);
            place_and_text(html, Some(&line.place), line.text.as_deref(), marks);
            html.raw("</div></li>\n");
        }
        html.raw("</ol>\n");
        html.raw("</section>\n");
    }
}

fn lines<'l>(html: &mut Html, lines: impl IntoIterator<Item = &'l LineReport>, marks: &Marks) {
    html.raw("<ol class=\"reading\">\n");
    for line in lines {
        html.raw("<li>");
        place_and_text(html, Some(&line.place), line.text.as_deref(), marks);
        html.raw("</li>\n");
    }
    html.raw("</ol>\n");
}

fn place_and_text(html: &mut Html, place: Option<&PlaceReport>, text: Option<&str>, marks: &Marks) {
    html.raw("<p class=\"at\">");
    match place {
        Some(place) => marks.place(html, place),
        None => {
            html.raw("<span class=\"place\">a place that is not known</span>");
        }
    }
    html.raw("</p>\n");
    if let Some(text) = text {
        html.raw("<p class=\"statement\"><code>").text(text).raw("</code></p>\n");
    }
}

/// As a sentence begins.
fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
