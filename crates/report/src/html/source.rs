//! The source, with what is told of its lines in the margin and behind them.

use crate::html::escape::Html;
use crate::html::marks::{Mark, Marks};
use crate::html::story::letter;
use crate::page::{Page, SourceLine, SourceReport};

/// A longer line is cut.
const LONGEST_LINE: usize = 400;
/// Values behind a line are to be taken in at a glance; the step tells them whole.
const LONGEST_VALUE: usize = 64;

pub(super) fn panels(html: &mut Html, page: &Page, marks: &Marks) {
    if page.sources.is_empty() {
        return;
    }
    html.raw("<div class=\"sources\" id=\"source\">\n");
    for (at, source) in page.sources.iter().enumerate() {
        panel(html, at as u64 + 1, source, marks);
    }
    html.raw("</div>\n");
}

fn panel(html: &mut Html, number: u64, source: &SourceReport, marks: &Marks) {
    html.raw("<section class=\"panel\">\n<h2>").text(&source.file).raw("</h2>\n");
    if !source.is_there {
        html.raw("<p class=\"notice\">This source could not be read, so its lines are told by number. --source-map says where sources are.</p>\n");
    }
    if source.is_newer {
        html.raw("<p class=\"notice\">This file was changed after the program was built: its lines may not be those that were compiled.</p>\n");
    }
    html.raw("<div class=\"code\" tabindex=\"0\" role=\"region\" aria-label=\"source of ")
        .attribute(&source.file);
    html.raw("\"><table>\n<thead><tr><th>step</th><th>line</th><th>source</th></tr></thead>\n<tbody>\n");
    let mut before: Option<u32> = None;
    for line in &source.lines {
        let skipped = line.number.saturating_sub(before.unwrap_or(0)).saturating_sub(1);
        if skipped > 0 {
            html.raw("<tr class=\"gap\"><td></td><td>⋮</td><td>").number(skipped);
            html.raw(if skipped == 1 { " line</td></tr>\n" } else { " lines</td></tr>\n" });
        }
        before = Some(line.number);
        row(html, number, line, marks.of(&source.file, line.number));
    }
    html.raw("</tbody>\n</table></div>\n</section>\n");
}

fn row(html: &mut Html, panel: u64, line: &SourceLine, mark: Option<&Mark>) {
    html.raw("<tr id=\"f").number(panel).raw("-").number(line.number).raw("\"");
    html.raw(match mark {
        Some(Mark { is_cause: true, .. }) => " class=\"is-cause\"",
        Some(Mark { is_failure: true, .. }) => " class=\"is-failure\"",
        Some(mark) if !mark.steps.is_empty() => " class=\"is-step\"",
        Some(mark) if mark.is_listed || !mark.compared.is_empty() || !mark.others.is_empty() => {
            " class=\"is-near\""
        }
        _ => "",
    });
    html.raw("><td class=\"marks\">");
    if let Some(mark) = mark {
        margin(html, mark);
    }
    html.raw("</td><td class=\"number\">").number(line.number).raw("</td><td class=\"text\"><code>");
    match &line.text {
        Some(text) => html.bytes_within(text.strip_suffix(b"\r").unwrap_or(text), LONGEST_LINE),
        None => html.raw("<span class=\"faint\">(source not found)</span>"),
    };
    html.raw("</code>");
    if let Some(mark) = mark {
        behind(html, mark);
    }
    html.raw("</td></tr>\n");
}

fn margin(html: &mut Html, mark: &Mark) {
    for (step, _) in &mark.steps {
        html.raw("<a class=\"dot\" href=\"#step-")
            .number(*step as u64)
            .raw("\" title=\"step ")
            .number(*step as u64);
        html.raw("\">").number(*step as u64).raw("</a>");
    }
    for (at, _) in &mark.compared {
        html.raw("<a class=\"dot hollow\" href=\"#from-")
            .attribute(&letter(*at))
            .raw("\">")
            .text(&letter(*at))
            .raw("</a>");
    }
    for other in &mark.others {
        html.raw("<a class=\"dot hollow\" href=\"#other-").number(*other as u64);
        html.raw("\" title=\"also possible\">?</a>");
    }
}

/// The values that a line left behind, as a debugger shows them.
fn behind(html: &mut Html, mark: &Mark) {
    if mark.is_cause {
        html.raw("<span class=\"tag\">cause</span>");
    } else if mark.is_failure {
        html.raw("<span class=\"tag\">failure</span>");
    }
    let told = mark.steps.iter().chain(&mark.compared).map(|(_, what)| what.as_str());
    for what in told.filter(|what| !what.is_empty()) {
        html.raw("<span class=\"value\">").text_within(what, LONGEST_VALUE).raw("</span>");
    }
}
