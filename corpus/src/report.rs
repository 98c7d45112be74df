//! The members of an explanation in JSON that are measured.

use serde::{Deserialize, Serialize};

use crate::tool::Place;

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Report {
    /// Where the run crashed, and the use of something without a value.
    pub failed_at: Option<Line>,
    pub unset: Option<Line>,
    pub is_certain: bool,
    pub is_cut_short: bool,
    pub causes: Vec<Cause>,
    #[serde(default)]
    pub value: Vec<Line>,
    pub computed: Vec<Line>,
    #[serde(default)]
    pub search: Search,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Cause {
    pub condition: Line,
    /// The other condition of a pair.
    #[serde(default)]
    pub second: Option<Line>,
    pub steps: Vec<Line>,
    pub path: Vec<Line>,
    pub before: Vec<Line>,
    pub reading: Vec<Line>,
}

/// A condition, a step or a line: something that is told with its place.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Line {
    pub place: Option<Place>,
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
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
    ReadNext,
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
            Part::ReadNext => "read next",
            Part::Computed => "computed",
        }
    }
}

impl Report {
    /// The statements in the order in which a person reads them: where it FAILED, what was UNSET, CAUSE with what
    /// was decided by it, PATH, FROM, VALUE, ALSO POSSIBLE, READ NEXT; without a cause what computed the wrong value.
    pub fn reading_order(&self) -> Vec<(Place, Part)> {
        let mut read: Vec<(Place, Part)> = Vec::new();
        let mut add = |lines: &mut dyn Iterator<Item = &Line>, part: Part| {
            for place in lines.filter_map(|line| line.place.as_ref()) {
                if read.iter().all(|(known, _)| known != place) {
                    read.push((place.clone(), part));
                }
            }
        };
        add(&mut self.failed_at.iter().chain(&self.unset), Part::Failed);
        if let Some((cause, others)) = self.causes.split_first() {
            add(&mut [&cause.condition].into_iter().chain(&cause.second).chain(&cause.steps), Part::Cause);
            add(&mut cause.path.iter(), Part::Path);
            add(&mut cause.before.iter(), Part::From);
            add(&mut self.value.iter(), Part::Value);
            add(&mut others.iter().map(|other| &other.condition), Part::AlsoPossible);
            add(&mut cause.reading.iter(), Part::ReadNext);
        }
        add(&mut self.computed.iter(), Part::Computed);
        read
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
            before: vec![line(5), Line { place: None }],
            reading: vec![line(5), line(6)],
            second: Some(line(13)),
        };
        let other = Cause { condition: line(20), path: vec![line(98)], ..Cause::default() };
        let report = Report {
            failed_at: Some(line(12)),
            causes: vec![cause, other],
            value: vec![line(5), line(7)],
            computed: vec![line(97)],
            ..Report::default()
        };
        let order = report.reading_order();
        let read: Vec<usize> = order.iter().map(|(place, _)| place.line).collect();
        assert_eq!(read, [12, 10, 13, 11, 5, 7, 20, 6, 97]);
        let part =
            |number: usize| order.iter().find(|(place, _)| place.line == number).map(|(_, part)| *part);
        assert_eq!((part(12), part(13)), (Some(Part::Failed), Some(Part::Cause)));
        assert_eq!((part(20), part(6)), (Some(Part::AlsoPossible), Some(Part::ReadNext)));
    }
}
