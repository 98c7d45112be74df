//! How soon a reader of a report comes to the fault.

use crate::mutate::Lines;
use crate::native::SOURCE;
use crate::tool::{Line, Place, Report};

/// A part of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Failed,
    Cause,
    Path,
    From,
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
            Part::AlsoPossible => "also",
            Part::ReadNext => "read next",
            Part::Computed => "computed",
        }
    }
}

/// The distinct statements of a report in the order in which a person reads it: where it FAILED, what was UNSET, CAUSE with what
/// was decided by it, PATH, FROM, ALSO POSSIBLE, READ NEXT; without a cause what computed the wrong value.
pub fn reading_order(report: &Report) -> Vec<(Place, Part)> {
    let mut read: Vec<(Place, Part)> = Vec::new();
    let mut add = |lines: &mut dyn Iterator<Item = &Line>, part: Part| {
        for place in lines.filter_map(|line| line.place.as_ref()) {
            if read.iter().all(|(known, _)| known != place) {
                read.push((place.clone(), part));
            }
        }
    };
    add(&mut report.failed_at.iter().chain(&report.unset), Part::Failed);
    if let Some((cause, others)) = report.causes.split_first() {
        add(&mut [&cause.condition].into_iter().chain(&cause.second).chain(&cause.steps), Part::Cause);
        add(&mut cause.path.iter(), Part::Path);
        add(&mut cause.before.iter(), Part::From);
        add(&mut others.iter().map(|other| &other.condition), Part::AlsoPossible);
        add(&mut cause.reading.iter(), Part::ReadNext);
    }
    add(&mut report.computed.iter(), Part::Computed);
    read
}

/// The how manieth statement that is read is one of the lines, and in which part; `None` is a miss.
pub fn rank(read: &[(Place, Part)], lines: &Lines) -> Option<(usize, Part)> {
    let is_fault = |place: &Place| {
        let name = place.file.rsplit('/').next();
        name == Some(SOURCE) && lines.contains(&place.line)
    };
    let index = read.iter().position(|(place, _)| is_fault(place))?;
    read.get(index).map(|(_, part)| (index + 1, *part))
}

/// Shares of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub cases: usize,
    pub first: usize,
    pub within_three: usize,
    pub within_five: usize,
    pub within_ten: usize,
    pub missed: usize,
    /// Of all cases, where a miss is worse than any rank; `None` if that is a miss.
    pub median: Option<usize>,
}

impl Summary {
    pub fn new(ranks: &[Option<usize>]) -> Summary {
        let within = |most: usize| ranks.iter().flatten().filter(|rank| **rank <= most).count();
        let mut sorted: Vec<usize> = ranks.iter().map(|rank| rank.unwrap_or(usize::MAX)).collect();
        sorted.sort_unstable();
        let middle = sorted.len().saturating_sub(1) / 2;
        Summary {
            cases: ranks.len(),
            first: within(1),
            within_three: within(3),
            within_five: within(5),
            within_ten: within(10),
            missed: ranks.iter().filter(|rank| rank.is_none()).count(),
            median: sorted.get(middle).copied().filter(|rank| *rank != usize::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Cause;

    fn line(number: usize) -> Line {
        let place = Some(Place { file: SOURCE.to_owned(), line: number });
        Line { place, text: None }
    }

    fn report() -> Report {
        let cause = Cause {
            condition: line(10),
            steps: vec![line(11), line(10)],
            path: vec![line(10), line(12)],
            before: vec![line(5), Line { place: None, ..line(0) }],
            reading: vec![line(5), line(6)],
            second: Some(line(13)),
        };
        let other = Cause { condition: line(20), path: vec![line(98)], ..Cause::default() };
        Report {
            failed_at: Some(line(12)),
            causes: vec![cause, other],
            computed: vec![line(97)],
            ..Report::default()
        }
    }

    #[test]
    fn a_report_is_read_from_top_to_bottom_and_each_statement_once() {
        let read: Vec<usize> = reading_order(&report()).iter().map(|(place, _)| place.line).collect();
        assert_eq!(read, [12, 10, 13, 11, 5, 20, 6, 97]);
    }

    #[test]
    fn the_rank_is_that_of_the_first_line_of_the_fault() {
        let read = reading_order(&report());
        assert_eq!(rank(&read, &Lines::from([12])), Some((1, Part::Failed)));
        assert_eq!(rank(&read, &Lines::from([10])), Some((2, Part::Cause)));
        assert_eq!(rank(&read, &Lines::from([6, 20])), Some((6, Part::AlsoPossible)));
        assert_eq!(rank(&read, &Lines::from([99])), None);
    }

    #[test]
    fn a_line_of_another_file_is_no_fault() {
        let mut report = Report { computed: vec![line(3), line(3)], ..Report::default() };
        report.computed[0].place = Some(Place { file: "other.c".to_owned(), line: 3 });
        assert_eq!(rank(&reading_order(&report), &Lines::from([3])), Some((2, Part::Computed)));
    }

    #[test]
    fn a_miss_is_worse_than_any_rank() {
        let summary = Summary::new(&[Some(1), None, Some(4), Some(11), None]);
        assert_eq!(summary.median, Some(11));
        let counts =
            (summary.first, summary.within_three, summary.within_five, summary.within_ten, summary.missed);
        assert_eq!(counts, (1, 1, 2, 2, 2));
        assert_eq!(Summary::new(&[Some(1), None, None]).median, None);
    }
}
