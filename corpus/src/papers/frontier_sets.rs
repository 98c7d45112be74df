//! Minimum debugging frontier sets: the run is cut where the state is smallest, and a solver says which side is to blame.

use super::{Comparable, Headline, Source, Value, markdown, mean, median, short};

pub const SOURCE: Source = Source {
    name: "frontier sets",
    title: "Locating Software Faults Based on Minimum Debugging Frontier Set",
    authors: "Feng Li, Zhiyuan Li, Wei Huo, Xiaobing Feng",
    venue: "IEEE Transactions on Software Engineering, doi 10.1109/TSE.2016.2632122",
};

/// A real bug (Tables 1, 2, 3 and 7). The sizes of the frontier sets themselves are in no table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bug {
    pub program: &'static str,
    pub fault: &'static str,
    /// Whether several faults together make the failure.
    pub is_multiple: bool,
    /// States altered, the same as those suspected (Tables 2, 3 and 7).
    pub altered: usize,
    /// Dependences between what is reported and the fault: of the farthest, if there are several.
    pub distance: usize,
    /// Statements that are read until the fault, those nearest to the reported one first.
    pub statements: usize,
    /// From tracing to the report.
    pub seconds: f64,
    /// States said to be wrong that are right, and said to be right that are wrong.
    pub misjudged: (usize, usize),
    /// States suspected when going back step by step from the failure, and when halving.
    pub single_step: usize,
    pub bisection: usize,
}

/// Tables 1 and 2: the report of a bug.
const fn bug(
    (program, fault, is_multiple): (&'static str, &'static str, bool),
    altered: usize,
    (distance, statements): (usize, usize),
    seconds: f64,
    misjudged: (usize, usize),
    (single_step, bisection): (usize, usize),
) -> Bug {
    Bug {
        program,
        fault,
        is_multiple,
        altered,
        distance,
        statements,
        seconds,
        misjudged,
        single_step,
        bisection,
    }
}

/// Tables 1, 2, 3 and 7. Bug 4 has two faults, at distances 0 and 1. Of bug 2, which Table 2 has at distance 1, the text says
/// that the search went the wrong way and missed the fault.
pub const BUGS: [Bug; 16] = [
    bug(("grep 2.6", "incorrect goto", false), 3, (1, 2), 34.27, (0, 0), (6, 17)),
    bug(("grep 2.13", "weak guard", false), 12, (1, 5), 79.61, (0, 1), (20, 10)),
    bug(("grep 2.18", "strong guard", false), 11, (2, 13), 86.08, (1, 0), (23, 12)),
    bug(("grep 2.19", "missing assignments", true), 12, (1, 3), 88.01, (0, 0), (50, 8)),
    bug(("gdb 6.8", "missing calls", true), 15, (1, 2), 149.71, (1, 0), (25, 37)),
    bug(("gdb 6.8", "design error", true), 10, (1, 2), 105.87, (1, 0), (1, 39)),
    bug(("gdb 6.8.50", "missing branch", false), 42, (0, 1), 378.43, (0, 0), (2, 30)),
    bug(("gdb 7.0", "wrong operator", false), 2, (0, 1), 70.94, (0, 0), (16, 63)),
    bug(("sed 4.2", "missing guard", false), 8, (0, 1), 35.28, (1, 0), (13, 79)),
    bug(("sed 4.2.2", "wrong assignment", false), 4, (0, 1), 31.18, (0, 0), (6, 7)),
    bug(("tar 1.22", "missing call", false), 12, (1, 4), 101.10, (0, 0), (36, 24)),
    bug(("tar 1.22", "weak guard", false), 10, (0, 1), 72.62, (0, 4), (4, 21)),
    bug(("tar 1.22", "design error", true), 33, (0, 1), 268.16, (3, 0), (1, 35)),
    bug(("tar 1.23", "design error", false), 7, (2, 4), 142.96, (0, 0), (24, 3)),
    bug(("tar 1.23", "misplaced call", true), 8, (1, 2), 189.45, (0, 0), (22, 18)),
    bug(("tar 1.26", "design error", true), 14, (0, 3), 162.88, (0, 0), (25, 18)),
];

/// How near a method came to the fault within an hour (Table 5): bugs at distance 0, at 1, between 1 and 3, and missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    pub method: &'static str,
    pub at_fault: usize,
    pub one_step: usize,
    pub farther: usize,
    pub missed: usize,
}

/// Table 5. The other two were written again by the same authors; of several decisions that help, the nearest to the fault
/// counts, however late it is found. Values were replaced without a training set.
pub const REACHES: [Reach; 3] = [
    Reach { method: "frontier sets", at_fault: 7, one_step: 7, farther: 2, missed: 0 },
    Reach { method: "predicate switching", at_fault: 3, one_step: 3, farther: 1, missed: 9 },
    Reach { method: "value replacement", at_fault: 0, one_step: 0, farther: 0, missed: 16 },
];

/// Table 6: the bugs on which mutants could be made, and those whose fault a ranking by mutants has at all. The rest of the
/// table is left out: two of its rows (bugs 11 and 15) have fewer cells than columns, and the text counts bug 11 among those
/// found where the row as it stands has no number.
pub const MUTATION_TRIED: usize = 12;
pub const MUTATION_FOUND: [usize; 5] = [1, 4, 11, 12, 16];

/// Times of the exploration when going step by step and when halving, relative to that of frontier sets (Table 7).
pub const RELATIVE_TIMES: (f64, f64) = (1.43, 1.63);

pub(super) fn headlines() -> Vec<Headline> {
    let bugs = |fits: fn(&Bug) -> bool| Value::Share {
        part: BUGS.iter().filter(|bug| fits(bug)).count(),
        of: BUGS.len(),
    };
    let statements = || BUGS.iter().map(|bug| bug.statements as f64);
    let switching = REACHES[1];
    vec![
        SOURCE.headline(
            "Table 2",
            "the fault is what is reported",
            bugs(|bug| bug.distance == 0),
            Comparable::Partly,
            "with our first; of several faults in one bug the farthest counts",
        ),
        SOURCE.headline(
            "Table 2",
            "one statement is read until the fault",
            bugs(|bug| bug.statements == 1),
            Comparable::InKind,
            "with our first; real bugs of large programs, no miss is counted though the text has one",
        ),
        SOURCE.headline(
            "Table 2",
            "no more than two statements are read",
            bugs(|bug| bug.statements <= 2),
            Comparable::InKind,
            "with our rank, as above",
        ),
        SOURCE.headline(
            "Table 2",
            "statements read until the fault, mean",
            Value::Number(mean(statements())),
            Comparable::InKind,
            "with our rank; ours has no mean, because it counts misses",
        ),
        SOURCE.headline(
            "Table 2",
            "statements read until the fault, median",
            Value::Number(median(statements())),
            Comparable::InKind,
            "with our median; sixteen bugs",
        ),
        SOURCE.headline(
            "Table 2",
            "states altered, median",
            Value::Number(median(BUGS.iter().map(|bug| bug.altered as f64))),
            Comparable::No,
            "a state is explored with a solver; ours runs the program",
        ),
        SOURCE.headline(
            "Table 2",
            "time, median",
            Value::Seconds(median(BUGS.iter().map(|bug| bug.seconds))),
            Comparable::No,
            "another machine, of which nothing is said; larger programs",
        ),
        SOURCE.headline(
            "Table 5",
            "predicate switching, a decision at most two dependences from the fault within an hour",
            Value::Share { part: BUGS.len() - switching.missed, of: BUGS.len() },
            Comparable::Partly,
            "with how often ours finds a cause; one decision at a time, the best of all found, in a program that others wrote after the paper",
        ),
        SOURCE.headline(
            "Table 6",
            "ranking by mutants has the fault",
            Value::Share { part: MUTATION_FOUND.len(), of: MUTATION_TRIED },
            Comparable::No,
            "found at any rank, one of them at 155; a week of computing",
        ),
    ]
}

pub(super) fn table() -> String {
    let bugs = BUGS.iter().enumerate().map(|(index, bug)| {
        vec![
            (index + 1).to_string(),
            bug.program.to_owned(),
            bug.fault.to_owned(),
            bug.distance.to_string(),
            bug.statements.to_string(),
            short(bug.seconds),
            bug.altered.to_string(),
            bug.single_step.to_string(),
            bug.bisection.to_string(),
        ]
    });
    let (single_step, bisection) = RELATIVE_TIMES;
    let times = [String::new(), "relative time of the exploration".to_owned()].into_iter();
    let times = times.chain(vec![String::new(); 4]).chain([1.0, single_step, bisection].map(short));
    let reaches = REACHES.iter().map(|reach| {
        let counts = [reach.at_fault, reach.one_step, reach.farther, reach.missed];
        [vec![reach.method.to_owned()], counts.map(|count| count.to_string()).to_vec()].concat()
    });
    format!(
        "### Frontier sets (Tables 2 to 7)\n\n{}\n{}",
        markdown(
            "| bug | program | fault | distance | read until fault | seconds | states | states, step by step | states, halving |\n|---:|---|---|---:|---:|---:|---:|---:|---:|",
            bugs.chain([times.collect()])
        ),
        markdown(
            "| within an hour | at the fault | one step | farther | missed |\n|---|---:|---:|---:|---:|",
            reaches
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rates_of_misjudging_are_those_of_the_rows() {
        let states: usize = BUGS.iter().map(|bug| bug.altered).sum();
        let rate = |of: fn(&Bug) -> usize| 100.0 * BUGS.iter().map(of).sum::<usize>() as f64 / states as f64;
        assert_eq!(states, 203);
        assert!((rate(|bug| bug.misjudged.0) - 3.45).abs() < 0.005);
        assert!((rate(|bug| bug.misjudged.1) - 2.46).abs() < 0.005);
    }

    #[test]
    fn the_distances_of_table_2_are_those_that_table_5_counts() {
        let count = |distance: usize| BUGS.iter().filter(|bug| bug.distance == distance).count();
        let reach = REACHES[0];
        assert_eq!((count(0), count(1), count(2)), (reach.at_fault, reach.one_step, reach.farther));
    }

    #[test]
    fn every_method_answers_for_sixteen_bugs() {
        for reach in REACHES {
            assert_eq!(
                reach.at_fault + reach.one_step + reach.farther + reach.missed,
                BUGS.len(),
                "{reach:?}"
            );
        }
    }

    #[test]
    fn ten_need_no_more_than_two_statements() {
        assert_eq!(headlines()[2].value, Value::Share { part: 10, of: 16 });
    }

    #[test]
    fn six_have_several_faults() {
        let several: Vec<usize> =
            (1..).zip(&BUGS).filter(|(_, bug)| bug.is_multiple).map(|(id, _)| id).collect();
        assert_eq!(several, [4, 5, 6, 13, 15, 16]);
    }

    #[test]
    fn a_fault_that_is_single_and_reported_is_the_first_statement() {
        for bug in BUGS.iter().filter(|bug| !bug.is_multiple) {
            assert_eq!(bug.statements == 1, bug.distance == 0, "{bug:?}");
        }
    }

    /// Table 7 marks in each row the strategy with the fewest states.
    #[test]
    fn frontier_sets_suspect_the_fewest_states_in_nine() {
        let fewest = |of: fn(&Bug) -> usize| {
            let is_fewest = |bug: &&Bug| of(bug) == bug.altered.min(bug.single_step).min(bug.bisection);
            BUGS.iter().filter(is_fewest).count()
        };
        let counts = (fewest(|bug| bug.altered), fewest(|bug| bug.single_step), fewest(|bug| bug.bisection));
        assert_eq!(counts, (9, 4, 3));
    }
}
