//! The search in numbers.

use locate::switching::Statistics;
use replay::grouped;

use crate::evidence_text::{difference, doubts, found_by, others_that_save};
use crate::explain::ExplainReport;
use crate::explain_text::{CUT_SHORT, TOLD_IN_PART};
use crate::html::escape::Html;

pub(super) fn evidence(html: &mut Html, report: &ExplainReport) {
    html.raw("<section id=\"evidence\">\n<h2>Evidence</h2>\n<p>").text(&found_by(report)).raw("</p>\n");
    for (is_so, what) in [(report.is_cut_short, CUT_SHORT), (report.is_told_in_part, TOLD_IN_PART)] {
        if is_so {
            html.raw("<p>").text(what).raw("</p>\n");
        }
    }
    for line in doubts(report).into_iter().chain(difference(report)).chain(others_that_save(report)) {
        html.raw("<p>").text(&line).raw("</p>\n");
    }
    html.raw("<table class=\"numbers\">\n<caption>The search in numbers</caption>\n<tbody>\n");
    for (what, number) in numbers(&report.search) {
        html.raw("<tr><th scope=\"row\">")
            .raw(what)
            .raw("</th><td>")
            .text(&grouped(number))
            .raw("</td></tr>\n");
    }
    html.raw("</tbody>\n</table>\n</section>\n");
}

fn numbers(search: &Statistics) -> Vec<(&'static str, u64)> {
    let Statistics {
        candidates,
        tried,
        parked_for_good,
        woken,
        wrong_output,
        cut_short,
        left_out,
        unverified,
        unclassified,
        instructions,
        first,
        on_the_way,
        cases,
        wholes,
        pairs,
    } = *search;
    let always = [("decisions before the failure", candidates), ("tried the other way", tried)];
    let sometimes = [
        ("on a way from what the passing input has otherwise", on_the_way),
        ("trial that saved the run first", first.unwrap_or(0)),
        ("other cases of switch statements", cases),
        ("times all decisions of one condition together", wholes),
        ("pairs of decisions", pairs),
        ("trials that made no difference", parked_for_good),
        ("trials that waited, and were run on when something read what they had done otherwise", woken),
        ("given up because of what they printed", wrong_output),
        ("given up before they ended", cut_short),
        ("earlier decisions, not looked at", left_out),
        ("passed as far as is known, not run again or not judged", unverified),
        ("failed as well, not looked at whether they avoided the crash", unclassified),
    ];
    let last = [("instructions of all trials", instructions)];
    always.into_iter().chain(sometimes.into_iter().filter(|(_, number)| *number > 0)).chain(last).collect()
}
