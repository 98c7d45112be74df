//! How soon a reader comes to the fault.

use serde::{Deserialize, Serialize};

use crate::answer::Place;
use crate::cases::{Case, Fault};
use crate::mutate::Lines;

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

    /// Where the first statement is that `is_fault`.
    pub fn rank(&self, is_fault: impl Fn(&Place) -> bool) -> Option<Rank> {
        let mut before = 0;
        for group in &self.groups {
            let faulty = group.iter().filter(|place| is_fault(place)).count();
            if faulty > 0 {
                return Some(Rank { before, equals: group.len(), faulty });
            }
            before += group.len();
        }
        None
    }
}

/// Where a fault is in an order: behind so many statements, and anywhere among so many that are as good as each other, of
/// which so many are the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    before: usize,
    equals: usize,
    faulty: usize,
}

impl Rank {
    /// Of an order without equals.
    pub fn exactly(rank: usize) -> Rank {
        Rank { before: rank.saturating_sub(1), equals: 1, faulty: 1 }
    }

    /// How many statements are read until the fault, itself included; among equals the mean of all orders.
    pub fn expected(self) -> f64 {
        // The first of k that lie anywhere among m is expected at (m + 1) / (k + 1).
        self.before as f64 + (self.equals + 1) as f64 / (self.faulty + 1) as f64
    }

    /// How likely the fault is among the first statements, if equals are read in any order.
    pub fn within(self, most: usize) -> f64 {
        let read = most.saturating_sub(self.before).min(self.equals);
        let missed: f64 = (0..read)
            .map(|number| {
                let left = self.equals - number;
                left.saturating_sub(self.faulty) as f64 / left as f64
            })
            .product();
        1.0 - missed
    }
}

/// A miss is worse than any rank.
pub fn or_worst(rank: Option<Rank>) -> f64 {
    rank.map_or(f64::INFINITY, Rank::expected)
}

fn by_expected(a: &Rank, b: &Rank) -> std::cmp::Ordering {
    a.expected().total_cmp(&b.expected())
}

/// As it is told: without a fraction where there is none.
pub fn told(rank: Option<f64>) -> String {
    match rank {
        None => "miss".to_owned(),
        Some(rank) => format!("{rank:.1}").trim_end_matches(".0").to_owned(),
    }
}

/// Whether a statement is one of the lines of a fault.
pub fn names(fault: &Fault, lines: &Lines, place: &Place) -> bool {
    lines.contains(&place.line) && place.is_in(&fault.file)
}

/// The ranks of a case's faults in an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// Of the fault that is come to first, by both rules.
    pub strict: Option<Rank>,
    pub lenient: Option<Rank>,
    /// Of the one that is come to last, by the strict rule.
    pub all: Option<Rank>,
}

impl Ranks {
    pub fn new(case: &Case, order: &Order) -> Ranks {
        let strict = |fault: &Fault, place: &Place| names(fault, &fault.truth.strict, place);
        let lenient = |fault: &Fault, place: &Place| names(fault, &fault.truth.lenient, place);
        let each: Option<Vec<Rank>> =
            case.faults.iter().map(|fault| order.rank(|place| strict(fault, place))).collect();
        Ranks {
            strict: order.rank(|place| case.faults.iter().any(|fault| strict(fault, place))),
            lenient: order.rank(|place| case.faults.iter().any(|fault| lenient(fault, place))),
            all: each.and_then(|ranks| ranks.into_iter().max_by(by_expected)),
        }
    }
}

/// How many of some ranks are good, where one among equals counts in part.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub cases: usize,
    pub first: f64,
    pub within_three: f64,
    pub within_five: f64,
    pub within_ten: f64,
    pub missed: usize,
    /// Of all cases, where a miss is worse than any rank; `None` if that is a miss.
    pub median: Option<f64>,
}

impl Summary {
    pub fn new(ranks: &[Option<Rank>]) -> Summary {
        // A sum of nothing would be a negative zero.
        let within = |most: usize| ranks.iter().flatten().fold(0.0, |sum, rank| sum + rank.within(most));
        let mut sorted: Vec<f64> = ranks.iter().map(|rank| or_worst(*rank)).collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len().saturating_sub(1) / 2;
        Summary {
            cases: ranks.len(),
            first: within(1),
            within_three: within(3),
            within_five: within(5),
            within_ten: within(10),
            missed: ranks.iter().filter(|rank| rank.is_none()).count(),
            median: sorted.get(middle).copied().filter(|rank| rank.is_finite()),
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
        assert_eq!(order.rank(|place| place.line == 7), Some(Rank::exactly(3)));
        assert_eq!(order.rank(|place| place.line >= 5), Some(Rank::exactly(2)));
        assert_eq!(order.rank(|place| place.line == 9), None);
    }

    fn expected(order: &Order, is_fault: impl Fn(usize) -> bool) -> Option<f64> {
        order.rank(|place| is_fault(place.line)).map(Rank::expected)
    }

    #[test]
    fn among_equals_the_rank_is_the_expected_one() {
        let scores = [(1, 0.9), (2, 0.5), (3, 0.5), (4, 0.5), (5, 0.1)];
        let order = Order::by_score(scores.map(|(line, score)| (place(line), score)));
        assert_eq!(expected(&order, |line| line == 3), Some(3.0));
        assert_eq!(expected(&order, |line| line == 3 || line == 4), Some(1.0 + 4.0 / 3.0));
        assert_eq!(expected(&order, |line| (2..=4).contains(&line)), Some(2.0));
        assert_eq!(expected(&order, |line| line == 5), Some(5.0));
    }

    #[test]
    fn among_equals_a_hit_counts_in_part() {
        let tied = Rank { before: 0, equals: 2, faulty: 1 };
        assert_eq!((tied.within(1), tied.within(2), tied.expected()), (0.5, 1.0, 1.5));
        let later = Rank { before: 3, equals: 4, faulty: 2 };
        let shares = [3, 4, 5, 6, 10].map(|most| later.within(most));
        assert_eq!(shares, [0.0, 0.5, 1.0 - 2.0 / 4.0 * (1.0 / 3.0), 1.0, 1.0]);
        let summary = Summary::new(&[Some(tied), Some(later), None]);
        assert_eq!((summary.first, summary.within_three, summary.missed), (0.5, 1.0, 1));
        assert_eq!(summary.median, Some(3.0 + 5.0 / 3.0));
    }

    #[test]
    fn a_random_order_finds_one_of_many_as_late_as_theory_says() {
        let (statements, rounds) = (99_usize, 4000);
        let total: f64 = (0..rounds)
            .map(|seed| {
                let mut places: Vec<Place> = (1..=statements).map(place).collect();
                Random::new(seed, "order").shuffle(&mut places);
                expected(&Order::of(places), |line| line == 42).unwrap_or(0.0)
            })
            .sum();
        // The mean is (n + 1) / 2, its standard error n / sqrt(12 · rounds).
        let (mean, error) = (total / rounds as f64, 99.0 / (12.0 * rounds as f64).sqrt());
        assert!((mean - 50.0).abs() < 4.0 * error, "{mean}");
    }

    #[test]
    fn a_line_of_another_file_is_no_fault() {
        let other = Place { file: "other.c".to_owned(), line: 3 };
        let fault = |place: &Place| place.file == SOURCE && place.line == 3;
        assert_eq!(Order::of([other, place(3)]).rank(fault), Some(Rank::exactly(2)));
    }

    #[test]
    fn a_median_is_the_middle_or_between_the_middle_two() {
        assert_eq!(median([5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median([5.0, 1.0, 3.0, 4.0]), 3.5);
        assert_eq!(median([]), 0.0);
    }

    #[test]
    fn a_miss_is_worse_than_any_rank() {
        let ranks = [Some(1), None, Some(4), Some(11), None].map(|rank| rank.map(Rank::exactly));
        let summary = Summary::new(&ranks);
        assert_eq!(summary.median, Some(11.0));
        let counts =
            (summary.first, summary.within_three, summary.within_five, summary.within_ten, summary.missed);
        assert_eq!(counts, (1.0, 1.0, 2.0, 2.0, 2));
        assert_eq!(Summary::new(&[Some(Rank::exactly(1)), None, None]).median, None);
    }
}
