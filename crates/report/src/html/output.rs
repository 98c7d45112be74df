//! What the program printed, and what was expected of it.

use crate::html::escape::Html;
use crate::page::{ComparisonReport, PrintedReport, Row, RowKind};

/// A longer line is cut, at both ends if what differs is far behind its beginning.
const LONGEST_LINE: usize = 240;
const LONGEST_BEGINNING: usize = 60;

pub(super) fn comparison(html: &mut Html, comparison: &ComparisonReport) {
    html.raw("<figure class=\"output\">\n<figcaption>").text(&comparison.channel).raw("</figcaption>\n");
    html.raw("<div class=\"code\" tabindex=\"0\" role=\"region\" aria-label=\"expected and actual output\"><table>\n");
    html.raw("<thead><tr><th>which</th><th>line</th><th>text</th></tr></thead>\n<tbody>\n");
    let mut before = None;
    for row in &comparison.rows {
        if let (Some(before), RowKind::Same) = (before, row.kind)
            && row.number > before + 1
        {
            html.raw("<tr class=\"gap\"><td></td><td>⋮</td><td></td></tr>\n");
        }
        if row.kind != RowKind::Expected {
            before = Some(row.number);
        }
        line(html, row);
    }
    html.raw("</tbody>\n</table></div>\n");
    if comparison.left_out > 0 {
        html.raw("<p class=\"faint\">and ")
            .number(comparison.left_out as u64)
            .raw(" more lines that differ</p>\n");
    }
    html.raw("</figure>\n");
}

fn line(html: &mut Html, row: &Row) {
    html.raw(match row.kind {
        RowKind::Same => "<tr><td class=\"which\"></td>",
        RowKind::Expected => "<tr class=\"expected\"><td class=\"which\">expected</td>",
        RowKind::Actual => "<tr class=\"actual\"><td class=\"which\">printed</td>",
    });
    html.raw("<td class=\"number\">").number(row.number as u64).raw("</td><td class=\"text\"><code>");
    let (changed, text) = (&row.changed, &row.text);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let start = match changed.start > LONGEST_LINE / 2 {
        true => changed.start - LONGEST_BEGINNING,
        false => 0,
    };
    if start > 0 {
        html.raw("…");
    }
    html.bytes_within(part(start, changed.start), LONGEST_LINE);
    if row.kind != RowKind::Same && !changed.is_empty() {
        html.raw("<mark>").bytes_within(part(changed.start, changed.end), LONGEST_LINE).raw("</mark>");
    }
    html.bytes_within(part(changed.end, text.len()), LONGEST_LINE).raw("</code></td></tr>\n");
}

pub(super) fn printed(html: &mut Html, printed: &PrintedReport) {
    html.raw("<figure class=\"output\">\n<figcaption>").text(&printed.channel);
    if printed.left_out > 0 {
        html.raw(", without its first ").number(printed.left_out as u64).raw(" lines");
    }
    html.raw("</figcaption>\n<pre tabindex=\"0\">");
    for line in &printed.lines {
        html.bytes_within(line.strip_suffix(b"\r").unwrap_or(line), LONGEST_LINE).raw("\n");
    }
    html.raw("</pre>\n</figure>\n");
}
