//! The story of a value, for people.

use std::collections::BTreeSet;

use crate::paper::{Colour, Paper};
use crate::quote::{listed, plain, quoted};
use crate::why::{
    KnownReport, LinkReport, OperandReport, OriginReport, OverflowReport, PlaceReport, RepeatsReport,
    StepReport, WhyReport,
};

impl WhyReport {
    pub fn text(&self, paper: Paper) -> String {
        let mut text = format!("{}\n", paper.paint(Colour::Headline, &self.headline()));
        if let Some(detail) = &self.asked.detail {
            text.push_str(&format!("  it {}\n", plain(detail)));
        }
        if let Some((line, column)) = &self.asked.line {
            let (line, column) = part(line, *column, paper.width().saturating_sub(2));
            text.push_str(&format!("  {line}\n  {:column$}{}\n", "", paper.paint(Colour::Warning, "^")));
        }
        text.push('\n');
        let layout = Layout::of(self, paper);
        // After a statement the first step is that statement itself.
        if matches!(self.asked.subject, "value" | "reached") && !self.asked.is_after {
            layout.step(&self.end, None, &mut text);
        }
        for step in &self.steps {
            layout.step(step, Some(step.number), &mut text);
        }
        if !self.is_answer() {
            text.push_str("Nothing in the program's own code led to it.\n");
        }
        if self.left_out > 0 {
            let told = format!(
                "\n{} further back; --depth {} tells all\n",
                count(self.left_out, "more statement lies", "more statements lie"),
                self.whole_depth
            );
            text.push_str(&paper.paint(Colour::Faint, &told));
        }
        if let Some(suspect) = &self.suspect {
            let told = format!(
                "\nmost of it happened in trusted code; --suspect '{}' tells what that did\n",
                plain(suspect)
            );
            text.push_str(&paper.paint(Colour::Faint, &told));
        }
        text
    }

    /// The question in words.
    pub fn headline(&self) -> String {
        let asked = &self.asked;
        let place = asked.place.as_ref().map(|place| format!(" at {}", place.spot())).unwrap_or_default();
        let value = asked.value.clone().unwrap_or_default();
        let hit = match asked.hit {
            Some((hit, hits)) if hits > 1 => format!(" (execution {hit} of {hits})"),
            _ => String::new(),
        };
        match asked.subject {
            "value" => {
                let after = if asked.is_after { " after" } else { " at" };
                let place = asked.place.as_ref().map(PlaceReport::spot).unwrap_or_default();
                let expression = asked.expression.clone().unwrap_or_default();
                format!("why is `{}` {}{after} {place}{hit}?", plain(&expression), plain(&value))
            }
            "crash" => match &asked.signal {
                Some(signal) => format!("why did {signal} kill the program{place}?"),
                None => format!("why did the program end{place}?"),
            },
            "output" => format!(
                "why is byte {} of {} {}?",
                asked.offset.unwrap_or(0),
                if asked.stream == Some("stderr") { "standard error" } else { "standard output" },
                quoted(&value)
            ),
            "exit" => format!("why is the exit status {}?", asked.status.unwrap_or(0)),
            _ => format!(
                "why did execution come to {}{hit}?",
                asked.place.as_ref().map(PlaceReport::spot).unwrap_or_default()
            ),
        }
    }
}

/// The part of a line around a character that fits, and where the character is in it.
fn part(line: &str, column: usize, width: usize) -> (String, usize) {
    if line.chars().count() <= width {
        return (line.to_owned(), column);
    }
    let start = column.saturating_sub(width / 2);
    (line.chars().skip(start).take(width).collect(), column - start)
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn spot(place: &PlaceReport, by_name: bool) -> String {
    let spot = place.spot();
    if by_name { file_name(&spot).to_owned() } else { spot }
}

/// Whether no two files have the same name.
fn have_names_of_their_own(places: &[&PlaceReport]) -> bool {
    let paths: BTreeSet<&str> = places.iter().map(|place| place.file.as_str()).collect();
    let names: BTreeSet<&str> = paths.iter().map(|path| file_name(path)).collect();
    names.len() == paths.len()
}

/// The columns of a story.
struct Layout {
    paper: Paper,
    /// How wide numbers with their brackets are, and places.
    numbers: usize,
    places: usize,
    /// Files are told without their folders.
    by_name: bool,
}

impl Layout {
    fn of(report: &WhyReport, paper: Paper) -> Layout {
        let steps = report.steps.iter().chain([&report.end]);
        let places: Vec<&PlaceReport> = steps.filter_map(|step| step.place.as_ref()).collect();
        let numbers = report.steps.len().to_string().len() + 2;
        // Long paths must not push the text off the paper.
        let widest =
            |by_name| places.iter().map(|place| spot(place, by_name).chars().count()).max().unwrap_or(0);
        let by_name = widest(false) > paper.width() / 4 && have_names_of_their_own(&places);
        Layout { paper, numbers, places: widest(by_name).min(paper.width() / 3), by_name }
    }

    fn step(&self, step: &StepReport, number: Option<usize>, text: &mut String) {
        let margin = self.numbers + 1 + self.places;
        let width = self.paper.width().saturating_sub(margin + 5).max(20);
        let number = number.map(|number| format!("[{number}]")).unwrap_or_default();
        let place = step.place.as_ref().map_or_else(|| "?".to_owned(), |place| spot(place, self.by_name));
        let place = Paper::end_of(&place, self.places);
        let source = step.text.as_deref().map_or_else(|| "(source not found)".to_owned(), plain);
        let numbers = self.paper.paint(Colour::Number, &format!("{number:>0$}", self.numbers));
        let places = self.paper.paint(Colour::Place, &format!("{place:<0$}", self.places));
        let bar = self.paper.paint(Colour::Place, "|");
        let source = self.paper.paint(Colour::Headline, &Paper::cut(&source, width));
        text.push_str(&format!("{numbers} {places} {bar} {source}\n"));
        for detail in details(step) {
            for (index, line) in Paper::wrap(&detail.text, width.saturating_sub(2)).iter().enumerate() {
                let indent = if index == 0 { "  " } else { "    " };
                let line =
                    if detail.is_warning { self.paper.paint(Colour::Warning, line) } else { line.clone() };
                text.push_str(&format!("{:margin$} {bar} {indent}{line}\n", ""));
            }
        }
    }
}

/// A line below the source.
struct Detail {
    text: String,
    is_warning: bool,
}

fn details(step: &StepReport) -> Vec<Detail> {
    let mut found: Vec<Detail> = Vec::new();
    let mut add = |text: String| {
        if !text.is_empty() {
            found.push(Detail { text, is_warning: false });
        }
    };
    add(deed(step));
    let links: Vec<String> = step.links.iter().map(|one| link(one, step.number)).collect();
    add(listed(&links));
    add(arguments(step));
    add(sources(&step.origins));
    add(reasons(step));
    add(step.repeats.as_ref().map(repeats).unwrap_or_default());
    for origin in step.origins.iter().filter(|origin| origin.kind == "uninitialised") {
        let text = match &origin.name {
            Some(name) => {
                format!("`{name}` was used before it was given a value: it held what was left over")
            }
            None => "uses memory that was never given a value".to_owned(),
        };
        found.push(Detail { text, is_warning: true });
    }
    for overflow in &step.overflows {
        found.push(Detail { text: reaches_beyond(overflow), is_warning: true });
    }
    if step.left_out > 0 {
        let text = format!("… {} further back", count(step.left_out, "more step", "more steps"));
        found.push(Detail { text, is_warning: false });
    }
    found
}

/// What the step did, and with what.
fn deed(step: &StepReport) -> String {
    let made = listed(&step.made.iter().map(known).collect::<Vec<_>>());
    let values: Vec<&OperandReport> = step.used.iter().filter(|operand| !operand.is_address).collect();
    let addresses: Vec<&OperandReport> = step.used.iter().filter(|operand| operand.is_address).collect();
    let tell = |operands: &[&OperandReport]| {
        listed(&operands.iter().map(|one| operand(one, step.number)).collect::<Vec<_>>())
    };
    let mut parts: Vec<String> = Vec::new();
    match step.role {
        "decides" => {
            let outcome = match step.holds {
                Some(true) => "true",
                Some(false) => "false",
                None => "",
            };
            let all: Vec<&OperandReport> = step.used.iter().collect();
            let with = if all.is_empty() { String::new() } else { format!("with {}", tell(&all)) };
            return [outcome, with.as_str()]
                .iter()
                .filter(|part| !part.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join(" ");
        }
        "initialises" => return format!("{made}, from the beginning"),
        "asked" | "calls" => parts.push(tell(&step.used.iter().collect::<Vec<_>>())),
        _ => {
            parts.push(made);
            if !values.is_empty() {
                let copies = match (step.made.as_slice(), values.as_slice()) {
                    ([_], [used]) => is_copy(step, used),
                    _ => false,
                };
                let phrase = match (step.made.is_empty(), copies, !step.calls.is_empty()) {
                    (true, ..) => "",
                    (false, true, _) => "copied from ",
                    (false, false, true) => "with ",
                    (false, false, false) => "computed from ",
                };
                parts.push(format!("{phrase}{}", tell(&values)));
            }
            if !addresses.is_empty() {
                parts.push(format!("looked up with {}", tell(&addresses)));
            }
            match (&step.library, step.calls.first()) {
                (Some(library), _) if step.made.is_empty() => parts.push(format!("in {library}")),
                (Some(library), _) => parts.push(format!("written by {library}")),
                (None, Some(called)) if is_result(step) => parts.push(format!("returned by {called}")),
                _ => {}
            }
            if is_constant(step) {
                parts.push("a constant".to_owned());
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Whether the statement does no more than assign what it used.
fn is_copy(step: &StepReport, used: &OperandReport) -> bool {
    let assigned = step.text.as_deref().and_then(|text| text.trim_end_matches(';').rsplit_once('='));
    assigned.is_some_and(|(_, right)| right.trim() == used.name)
}

/// Whether what the step made came from a call into a library.
fn is_result(step: &StepReport) -> bool {
    let assigns = step.text.as_deref().is_some_and(|text| text.contains('='));
    assigns && !step.made.is_empty() && step.links.iter().all(|link| link.kind != "returned")
}

/// What the step passed on.
fn arguments(step: &StepReport) -> String {
    let mut functions: Vec<&Option<String>> = Vec::new();
    for passed in &step.passed {
        if !functions.contains(&&passed.function) {
            functions.push(&passed.function);
        }
    }
    let told = functions.into_iter().map(|function| {
        let own = step.passed.iter().filter(|passed| passed.function == *function);
        let values: Vec<String> = own
            .map(|passed| known(&KnownReport { name: passed.name.clone(), value: passed.value.clone() }))
            .collect();
        let to = function.as_deref().map(|name| format!(" to {}", bare(name))).unwrap_or_default();
        format!("passes {}{to}", listed(&values))
    });
    listed(&told.collect::<Vec<_>>())
}

/// An access that goes by one variable and lands in another.
pub(crate) fn reaches_beyond(overflow: &OverflowReport) -> String {
    let verb = if overflow.is_write { "writes" } else { "reads" };
    match overflow.access.ends_with(']') {
        true => format!("{verb} `{}`, which lies in `{}`", overflow.access, overflow.lies_in),
        false => format!("{verb} past the end of `{}`, into `{}`", overflow.access, overflow.lies_in),
    }
}

/// Whether nothing but the step itself says what it made.
fn is_constant(step: &StepReport) -> bool {
    step.used.is_empty()
        && step.links.is_empty()
        && step.origins.is_empty()
        && step.library.is_none()
        && step.calls.is_empty()
        && !step.made.is_empty()
        && step.left_out == 0
        && step.repeats.as_ref().is_none_or(|repeats| repeats.from.is_empty())
}

fn known(known: &KnownReport) -> String {
    match &known.value {
        Some(value) => {
            // They stay together when lines are broken.
            format!("{} = {}", plain(&known.name), plain(value)).replacen(" = ", "\u{a0}=\u{a0}", 1)
        }
        None => plain(&known.name),
    }
}

fn operand(operand: &OperandReport, own: usize) -> String {
    let told = known(&KnownReport { name: operand.name.clone(), value: operand.value.clone() });
    match operand.from {
        Some(from) => format!("{told}\u{a0}{}", reference(from, operand.is_earlier, own)),
        None => told,
    }
}

/// A function's name without its parameters.
fn bare(name: &str) -> String {
    let mut depth = 0usize;
    let end = name.char_indices().find(|(_, character)| {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *character == '(' && depth == 0
    });
    plain(name.get(..end.map_or(name.len(), |(at, _)| at)).unwrap_or(name))
}

fn reference(number: usize, is_earlier: bool, own: usize) -> String {
    match (number == own, is_earlier) {
        (true, _) => "from the time before".to_owned(),
        (false, true) => format!("[{number}, earlier]"),
        (false, false) => format!("[{number}]"),
    }
}

fn link(link: &LinkReport, own: usize) -> String {
    let by = reference(link.by, link.is_earlier, own);
    match (link.kind, &link.name) {
        ("returned", Some(name)) => format!("returned by {} {by}", bare(name)),
        ("passed", Some(name)) => {
            let known = known(&KnownReport { name: name.clone(), value: link.value.clone() });
            format!("{known} passed by {by}")
        }
        ("passed", None) => format!("passed by {by}"),
        ("address", _) => format!("found by way of {by}"),
        _ => format!("from {by}"),
    }
}

/// Where the chain ends: `from argument 1 "6" and argument 2 "5"`.
pub(crate) fn sources(origins: &[OriginReport]) -> String {
    let mut told: Vec<(&'static str, Vec<String>)> = Vec::new();
    for (verb, what) in origins.iter().filter_map(source) {
        match told.last_mut() {
            Some((same, list)) if *same == verb => list.push(what),
            _ => told.push((verb, vec![what])),
        }
    }
    let parts = told.into_iter().map(|(verb, list)| format!("{verb}{}", listed(&list)));
    listed(&parts.collect::<Vec<_>>())
}

fn source(origin: &OriginReport) -> Option<(&'static str, String)> {
    let text = origin.text.as_deref().map(|text| format!(" {}", quoted(text))).unwrap_or_default();
    let bytes = match origin.bytes {
        Some((first, last)) if first == last => format!("byte {first}"),
        Some((first, last)) => format!("bytes {first} to {last}"),
        None => String::new(),
    };
    let name = origin.name.as_deref().map(plain).unwrap_or_default();
    Some(match origin.kind {
        "argument" => match origin.index {
            Some(0) => ("from ", format!("the name that the program was called by{text}")),
            index => ("from ", format!("argument {}{text}", index.unwrap_or(0))),
        },
        "argument-count" => ("from ", "the number of arguments".to_owned()),
        "environment" => ("from ", format!("the environment variable {name}")),
        "stdin" => ("read from standard input: ", format!("{bytes}{text}")),
        "file" => ("read from ", format!("{name}, {bytes}{text}")),
        "pipe" => ("read from a pipe: ", bytes),
        "zero" => ("", format!("`{name}` is zero from the beginning")),
        "system" => ("as the system said: ", name),
        _ => return None,
    })
}

/// Why the step was executed at all.
fn reasons(step: &StepReport) -> String {
    let numbers = |list: &[usize]| {
        let others: Vec<usize> = list.iter().copied().filter(|number| *number != step.number).collect();
        listed(&others.iter().map(|number| format!("[{number}]")).collect::<Vec<_>>())
    };
    let (chosen, called) = (numbers(&step.chosen_by), numbers(&step.called_by));
    let mut parts = Vec::new();
    if !chosen.is_empty() {
        let noun = if chosen.contains("and") { "conditions" } else { "condition" };
        parts.push(format!("chosen by the {noun} {chosen}"));
    }
    if !called.is_empty() {
        parts.push(format!("called by {called}"));
    }
    parts.join(", ")
}

/// So many origins of earlier executions are told.
const MOST_EARLIER: usize = 3;

fn repeats(repeats: &RepeatsReport) -> String {
    let before = repeats.times.saturating_sub(1);
    let mut text = format!("and {before} {} before", if before == 1 { "time" } else { "times" });
    if !repeats.first_made.is_empty() {
        let made: Vec<String> = repeats.first_made.iter().map(known).collect();
        text.push_str(&format!(", first {}", listed(&made)));
    }
    if !repeats.from.is_empty() {
        let from: Vec<String> = repeats.from.iter().map(|number| format!("[{number}]")).collect();
        text.push_str(&format!(", also from {}", listed(&from)));
    }
    let nearest = repeats.origins.get(..MOST_EARLIER).unwrap_or(&repeats.origins);
    let origins = sources(nearest);
    if !origins.is_empty() {
        text.push_str(&format!(", {origins}"));
        let more = repeats.origins.len() - nearest.len();
        if more > 0 {
            text.push_str(&format!(", and {more} more"));
        }
    }
    text
}
