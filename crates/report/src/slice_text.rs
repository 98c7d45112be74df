//! A slice, for people: marks beside the source, or a table.

use std::fmt::Write;

use crate::paper::{Colour, Paper};
use crate::quote::{listed, plain};
use crate::slice::{Line, LineShare, SliceReport, SourceFile, StatementReport, TriedCounts};

impl SliceReport {
    /// The source, with a mark at each line of the slice.
    pub fn text(&self, paper: Paper) -> String {
        let mut text = self.headline(paper);
        for file in &self.files {
            annotate(file, paper, &mut text);
        }
        if self.statements.is_empty() {
            text.push_str(match self.slice {
                "forward" => "Nothing in the program's own code came of it.\n",
                "chop" => "Nothing in the program's own code lies on a way from one to the other.\n",
                _ => "Nothing in the program's own code led to it.\n",
            });
            return text;
        }
        text.push_str(match self.slice {
            "forward" => "\nD  was computed from it           S  a condition lies on the way\n",
            "bidirectional" => "\nD  by values alone                S  a condition lies on the way\n",
            _ => "\nD  the value was computed there   S  had a part in choosing what computed it\n",
        });
        text.push_str("?  a condition of it decided      N x  how many of its executions are in the slice\n");
        if self.counts.tried.is_some() {
            text.push_str("!  its other side would have changed something   ~  it could have\n");
        }
        text.push('\n');
        text.push_str(&self.figures());
        text
    }

    /// A table, a line for each statement.
    pub fn table(&self, paper: Paper) -> String {
        let mut text = self.headline(paper);
        let place = |statement: &StatementReport| {
            let column = statement.place.column.map(|column| format!(":{column}")).unwrap_or_default();
            format!("{}{column}", statement.place.spot())
        };
        let width = self.statements.iter().map(|one| place(one).chars().count()).max().unwrap_or(0).max(5);
        let _ = writeln!(
            text,
            "{:width$}  part  {:>9}  {:>8}  {:>12}  {:>12}  text",
            "place", "instances", "distance", "first", "last"
        );
        for one in &self.statements {
            let part = marks(one.data_instances > 0, one.select_instances > 0, one.decisions > 0)
                + omission_marks(one.omissions > 0, one.weak_omissions > 0);
            let _ = writeln!(
                text,
                "{:width$}  {:<4}  {:>9}  {:>8}  {:>12}  {:>12}  {}",
                place(one),
                part.trim_end(),
                one.instances,
                one.distance,
                one.first_time,
                one.last_time,
                plain(one.text.as_deref().unwrap_or_default()),
            );
        }
        text.push('\n');
        text.push_str(&self.figures());
        text
    }

    fn headline(&self, paper: Paper) -> String {
        let criteria = listed(&self.criteria);
        let headline = match self.from.as_slice() {
            [] => format!("{} slice: {criteria}", self.slice),
            from => format!("{}: from {} to {criteria}", self.slice, listed(from)),
        };
        format!("{}\n\n", paper.paint(Colour::Headline, &headline))
    }

    fn figures(&self) -> String {
        let counts = &self.counts;
        let mut text = String::new();
        let _ = writeln!(text, "{:14}{:>12}{:>12}", "", "statements", "instances");
        for (name, statements, instances) in [
            ("data part", counts.data_statements, counts.data_instances),
            ("select part", counts.select_statements, counts.select_instances),
            ("predicates", counts.predicates, counts.predicate_instances),
            ("all", counts.statements, counts.instances),
        ] {
            let _ = writeln!(text, "{name:14}{statements:>12}{instances:>12}");
        }
        if let Some(tried) = &counts.tried {
            text.push_str(&trials(tried));
        }
        text
    }
}

fn marks(is_data: bool, is_select: bool, decides: bool) -> String {
    let mark = |is_so, mark| if is_so { mark } else { ' ' };
    [mark(is_data, 'D'), mark(is_select, 'S'), mark(decides, '?')].iter().collect()
}

/// Of conditions whose other side matters.
fn omission_marks(omits: bool, omits_weakly: bool) -> &'static str {
    match (omits, omits_weakly) {
        (true, _) => "!",
        (false, true) => "~",
        (false, false) => " ",
    }
}

fn trials(counts: &TriedCounts) -> String {
    let TriedCounts { tried, telling, cut_short, not_tried, known, .. } = counts;
    let known = match known {
        0 => String::new(),
        _ => format!(" ({known} told by earlier ones)"),
    };
    let mut text = format!(
        "\nmade to go the other way: {tried} executions of conditions{known}; {telling} would have changed something,\n\
         {cut_short} did not come to where both ways meet, {not_tried} more were not tried\n"
    );
    let TriedCounts {
        forced,
        forced_telling,
        forced_ways,
        forced_ended,
        forced_cut_short,
        forced_not_tried,
        ..
    } = counts;
    if forced + forced_not_tried > 0 {
        let _ = writeln!(
            text,
            "with conditions on the other side forced: {forced} of them, by {forced_ways} ways; {forced_telling} could have changed\n\
             something, {forced_ended} ways ended early, {forced_cut_short} were too long, {forced_not_tried} more were not tried"
        );
    }
    text
}

fn annotate(file: &SourceFile, paper: Paper, text: &mut String) {
    let number_width = file.lines.last().map_or(1, |line| line.number.to_string().len());
    let count = |line: &Line| line.share.map_or(0, |share| times(&share).chars().count());
    let omits = |line: &Line| line.share.is_some_and(|share| share.omits || share.omits_weakly);
    let has_omissions = file.lines.iter().any(omits);
    let count_width = file.lines.iter().map(count).max().unwrap_or(0);
    let _ = writeln!(text, "{}", paper.paint(Colour::Place, &format!("--> {}", file.path)));
    let mut before: Option<u32> = None;
    for line in &file.lines {
        if before.is_some_and(|before| before + 1 < line.number) {
            let _ = writeln!(text, "{}", paper.paint(Colour::Place, "..."));
        }
        before = Some(line.number);
        let (mark, times) = match line.share {
            Some(share) => (marks(share.is_data, share.is_select, share.decides), times(&share)),
            None => ("   ".to_owned(), String::new()),
        };
        let mark = match line.share.filter(|_| has_omissions) {
            Some(share) => mark + omission_marks(share.omits, share.omits_weakly),
            None if has_omissions => mark + " ",
            None => mark,
        };
        let number = paper.paint(Colour::Place, &format!("{:>number_width$} |", line.number));
        let gutter = paper.paint(Colour::Number, &format!("{mark} {times:>count_width$}"));
        let bar = paper.paint(Colour::Place, "|");
        let taken = number_width + count_width + 10 + usize::from(has_omissions);
        let source = line.text.as_deref().unwrap_or("(source not found)").replace('\t', "    ");
        let source = Paper::cut(&plain(source.trim_end()), paper.width().saturating_sub(taken).max(20));
        let source = if line.share.is_some() { source } else { paper.paint(Colour::Faint, &source) };
        let _ = writeln!(text, "{}", format!("{number} {gutter} {bar} {source}").trim_end());
    }
}

fn times(share: &LineShare) -> String {
    format!("{} x", share.instances)
}
