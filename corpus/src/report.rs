//! The members of an explanation in JSON that are measured.

use serde::{Deserialize, Serialize};

use crate::answer::Place;

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Report {
    /// Where the run crashed, calls that lead to each other without end, and the use of something without a value.
    pub failed_at: Option<Line>,
    #[serde(default)]
    pub recursion: Vec<Line>,
    pub unset: Option<Line>,
    pub is_certain: bool,
    pub is_cut_short: bool,
    pub is_told_in_part: bool,
    pub causes: Vec<Cause>,
    #[serde(default)]
    pub value: Vec<Line>,
    #[serde(default)]
    pub beside: Vec<Line>,
    #[serde(default)]
    pub further: Vec<Line>,
    pub computed: Vec<Line>,
    pub search: Search,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Cause {
    pub condition: Line,
    /// The other condition of a pair.
    #[serde(deserialize_with = "Option::deserialize")]
    pub second: Option<Line>,
    pub steps: Vec<Line>,
    pub path: Vec<Line>,
    /// Where output is missing, how it would have come about.
    #[serde(default)]
    pub missed: Vec<Line>,
    pub before: Vec<Line>,
    pub reading: Vec<Line>,
}

/// A condition, a step or a line: something that is told with its place.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Line {
    #[serde(deserialize_with = "Option::deserialize")]
    pub place: Option<Place>,
}

impl Cause {
    /// What is told as PATH: from the condition to the failure, or to what should have happened instead.
    pub fn way(&self) -> &[Line] {
        if self.path.is_empty() { &self.missed } else { &self.path }
    }

    fn conditions(&self) -> impl Iterator<Item = &Line> {
        [&self.condition].into_iter().chain(&self.second).chain(&self.steps)
    }
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Search {
    pub candidates: u64,
    pub tried: u64,
    pub cases: u64,
    pub wholes: u64,
    pub pairs: u64,
    pub instructions: u64,
}

impl Search {
    /// All runs that were tried.
    pub fn trials(&self) -> u64 {
        self.tried + self.cases + self.wholes + self.pairs
    }
}

/// A part of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Failed,
    Cause,
    Path,
    From,
    Value,
    AlsoPossible,
    Beside,
    ReadNext,
    Further,
    Computed,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Failed => "failed",
            Part::Cause => "cause",
            Part::Path => "path",
            Part::From => "from",
            Part::Value => "value",
            Part::AlsoPossible => "also",
            Part::Beside => "beside",
            Part::ReadNext => "read next",
            Part::Further => "further",
            Part::Computed => "computed",
        }
    }
}

/// Statements with the part of the report that each is read in first.
#[derive(Default)]
struct Reading(Vec<(Place, Part)>);

impl Reading {
    fn add<'a>(&mut self, lines: impl IntoIterator<Item = &'a Line>, part: Part) {
        for place in lines.into_iter().filter_map(|line| line.place.as_ref()) {
            if self.0.iter().all(|(known, _)| known != place) {
                self.0.push((place.clone(), part));
            }
        }
    }
}

impl Report {
    /// The statements in the order in which a person reads them: where it FAILED, RECURSION, what was UNSET, CAUSE with what
    /// was decided by it, VALUE, FROM, ALSO POSSIBLE, PATH, BESIDE, READ NEXT, FURTHER BACK; without a cause what computed the wrong value, and BESIDE.
    pub fn reading_order(&self) -> Vec<(Place, Part)> {
        let mut read = Reading::default();
        read.add(self.failed_at.iter().chain(&self.recursion).chain(&self.unset), Part::Failed);
        if let Some((cause, others)) = self.causes.split_first() {
            read.add(cause.conditions(), Part::Cause);
            read.add(&self.value, Part::Value);
            read.add(&cause.before, Part::From);
            read.add(
                others.iter().flat_map(|other| [&other.condition].into_iter().chain(&other.second)),
                Part::AlsoPossible,
            );
            read.add(cause.way(), Part::Path);
            read.add(&self.beside, Part::Beside);
            read.add(&cause.reading, Part::ReadNext);
            read.add(&self.further, Part::Further);
        }
        read.add(&self.computed, Part::Computed);
        read.add(&self.beside, Part::Beside);
        read.0
    }

    /// What predicate switching alone has to say: the conditions that save the run, the likeliest first, and then the statements
    /// around the first of them, by dependence.
    pub fn switching_order(&self) -> Vec<(Place, Part)> {
        let mut read = Reading::default();
        if let Some((cause, others)) = self.causes.split_first() {
            read.add(cause.conditions(), Part::Cause);
            read.add(others.iter().flat_map(Cause::conditions), Part::AlsoPossible);
            read.add(&cause.reading, Part::ReadNext);
        }
        read.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: usize) -> Line {
        Line { place: Some(Place { file: "main.c".to_owned(), line: number }) }
    }

    #[test]
    fn a_report_is_read_from_top_to_bottom_and_each_statement_once() {
        let cause = Cause {
            condition: line(10),
            steps: vec![line(11), line(10)],
            path: vec![line(10), line(12)],
            missed: vec![line(99)],
            before: vec![line(5), Line { place: None }],
            reading: vec![line(5), line(6)],
            second: Some(line(13)),
        };
        let other = Cause { condition: line(20), steps: vec![line(21)], ..Cause::default() };
        let report = Report {
            failed_at: Some(line(12)),
            recursion: vec![line(14)],
            unset: Some(line(15)),
            causes: vec![cause, other],
            value: vec![line(5), line(7)],
            beside: vec![line(30), line(5)],
            further: vec![line(40)],
            computed: vec![line(97)],
            ..Report::default()
        };
        let order = report.reading_order();
        let read: Vec<usize> = order.iter().map(|(place, _)| place.line).collect();
        assert_eq!(read, [12, 14, 15, 10, 13, 11, 5, 7, 20, 30, 6, 40, 97]);
        let switching: Vec<usize> = report.switching_order().iter().map(|(place, _)| place.line).collect();
        assert_eq!(switching, [10, 13, 11, 20, 21, 5, 6]);
        let part =
            |number: usize| order.iter().find(|(place, _)| place.line == number).map(|(_, part)| *part);
        assert_eq!((part(12), part(13)), (Some(Part::Failed), Some(Part::Cause)));
        assert_eq!((part(20), part(6)), (Some(Part::AlsoPossible), Some(Part::ReadNext)));
    }

    /// What an answer may leave out cannot be missed there, so its names are held against the schema.
    #[test]
    fn what_may_be_left_out_is_named_as_the_schema_does() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../docs/schema/whydunit-1.json")).unwrap();
        let has = |part: &str, name: &str| schema["$defs"][part]["properties"][name].is_object();
        for name in ["failed_at", "recursion", "unset", "value", "beside", "further"] {
            assert!(has("switching", name), "{name}");
        }
        assert!(has("cause", "missed"));
    }

    #[test]
    fn what_is_always_there_is_missed() {
        let search =
            r#"{"candidates": 1, "tried": 1, "cases": 0, "wholes": 0, "pairs": 0, "instructions": 9}"#;
        let cause = r#"{"condition": {"place": null}, "second": null, "steps": [], "path": [], "before": [], "reading": []}"#;
        let text = format!(
            r#"{{"is_certain": false, "is_cut_short": false, "is_told_in_part": false, "causes": [{cause}], "computed": [], "search": {search}}}"#
        );
        let is_read = |text: &str| serde_json::from_str::<Report>(text).is_ok();
        assert!(is_read(&text), "{text}");
        let members = [
            "is_certain",
            "is_cut_short",
            "is_told_in_part",
            "causes",
            "computed",
            "search",
            "condition",
            "place",
            "second",
            "steps",
            "path",
        ];
        for name in members.iter().chain(&["before", "reading", "candidates", "tried", "instructions"]) {
            let renamed = text.replacen(&format!("\"{name}\""), "\"other\"", 1);
            assert!(!is_read(&renamed), "{name}");
        }
    }

    #[test]
    fn the_path_to_missing_output_is_the_one_that_was_not_gone() {
        let cause = Cause { condition: line(3), missed: vec![line(3), line(8)], ..Cause::default() };
        let report = Report { causes: vec![cause], ..Report::default() };
        let last = report.reading_order().pop();
        assert_eq!(last.map(|(place, part)| (place.line, part)), Some((8, Part::Path)));
    }
}
