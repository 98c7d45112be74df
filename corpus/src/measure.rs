//! How soon a reader comes to the fault.

use crate::cases::{Case, Fault};
use crate::mutate::{Lines, Truth};
use crate::tool::Place;

/// Statements in the order in which they are read. Those of a group are as good as each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    groups: Vec<Vec<Place>>,
}

impl Order {
    /// One statement after the other; only the first time counts that one is read.
    pub fn of(places: impl IntoIterator<Item = Place>) -> Order {
        let mut groups: Vec<Vec<Place>> = Vec::new();
        for place in places {
            if !groups.iter().flatten().any(|known| *known == place) {
                groups.push(vec![place]);
            }
        }
        Order { groups }
    }

    /// By a score, the highest first.
    pub fn by_score(scored: impl IntoIterator<Item = (Place, f64)>) -> Order {
        let mut scored: Vec<(Place, f64)> = scored.into_iter().collect();
        scored.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        let groups = scored.chunk_by(|(_, x), (_, y)| x == y);
        Order { groups: groups.map(|group| group.iter().map(|(place, _)| place.clone()).collect()).collect() }
    }

    pub fn len(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.groups.iter().flatten()
    }

    /// How many statements are read until one that `is_fault`, itself included; within a group on average.
    pub fn rank(&self, is_fault: impl Fn(&Place) -> bool) -> Option<usize> {
        let mut before = 0;
        for group in &self.groups {
            let faulty = group.iter().filter(|place| is_fault(place)).count();
            if faulty > 0 {
                // The first of k that lie anywhere among m is expected at (m + 1) / (k + 1).
                return Some(before + (group.len() + 1).div_ceil(faulty + 1));
            }
            before += group.len();
        }
        None
    }
}

/// Whether a statement is one of the lines of a fault.
pub fn names(fault: &Fault, lines: &Lines, place: &Place) -> bool {
    place.file == fault.file && lines.contains(&place.line)
}

/// The ranks of a case's faults in an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// Of the fault that is come to first, by both rules.
    pub strict: Option<usize>,
    pub lenient: Option<usize>,
    /// Of the one that is come to last, by the strict rule.
    pub all: Option<usize>,
}

impl Ranks {
    pub fn new(case: &Case, order: &Order) -> Ranks {
        let rank = |fault: &Fault, rule: fn(&Truth) -> &Lines| {
            order.rank(|place| names(fault, rule(&fault.truth), place))
        };
        let strict: Vec<Option<usize>> =
            case.faults.iter().map(|fault| rank(fault, |truth| &truth.strict)).collect();
        let lenient = case.faults.iter().filter_map(|fault| rank(fault, |truth| &truth.lenient)).min();
        let all =
            strict.iter().copied().collect::<Option<Vec<usize>>>().and_then(|all| all.into_iter().max());
        Ranks { strict: strict.into_iter().flatten().min(), lenient, all }
    }
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

/// Of none it is 0.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.into_iter().collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The mean of the middle two, if there are two; of none it is 0.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    let middle = if values.len() % 2 == 1 { half..half + 1 } else { half.saturating_sub(1)..half + 1 };
    mean(values.get(middle).unwrap_or_default().iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::SOURCE;
    use crate::random::Random;

    fn place(line: usize) -> Place {
        Place { file: SOURCE.to_owned(), line }
    }

    #[test]
    fn a_statement_counts_where_it_is_read_first() {
        let order = Order::of([3, 5, 3, 7].map(place));
        assert_eq!(order.len(), 3);
        assert_eq!(order.rank(|place| place.line == 7), Some(3));
        assert_eq!(order.rank(|place| place.line >= 5), Some(2));
        assert_eq!(order.rank(|place| place.line == 9), None);
    }

    #[test]
    fn among_equals_the_rank_is_the_expected_one() {
        let scores = [(1, 0.9), (2, 0.5), (3, 0.5), (4, 0.5), (5, 0.1)];
        let order = Order::by_score(scores.map(|(line, score)| (place(line), score)));
        assert_eq!(order.rank(|place| place.line == 3), Some(3));
        assert_eq!(order.rank(|place| place.line == 3 || place.line == 4), Some(3));
        assert_eq!(order.rank(|place| (2..=4).contains(&place.line)), Some(2));
        assert_eq!(order.rank(|place| place.line == 5), Some(5));
    }

    #[test]
    fn a_random_order_finds_one_of_many_as_late_as_theory_says() {
        let (statements, rounds) = (99_usize, 4000);
        let total: usize = (0..rounds)
            .map(|seed| {
                let mut places: Vec<Place> = (1..=statements).map(place).collect();
                Random::new(seed, "order").shuffle(&mut places);
                Order::of(places).rank(|place| place.line == 42).unwrap_or(0)
            })
            .sum();
        // The mean is (n + 1) / 2, its standard error n / sqrt(12 · rounds).
        let (mean, error) = (total as f64 / rounds as f64, 99.0 / (12.0 * rounds as f64).sqrt());
        assert!((mean - 50.0).abs() < 4.0 * error, "{mean}");
    }

    #[test]
    fn a_line_of_another_file_is_no_fault() {
        let other = Place { file: "other.c".to_owned(), line: 3 };
        let fault = |place: &Place| place.file == SOURCE && place.line == 3;
        assert_eq!(Order::of([other, place(3)]).rank(fault), Some(2));
    }

    #[test]
    fn a_median_is_the_middle_or_between_the_middle_two() {
        assert_eq!(median([5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median([5.0, 1.0, 3.0, 4.0]), 3.5);
        assert_eq!(median([]), 0.0);
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
