//! Concolic fault abstraction: the failing run as a program without branches, and interpolants that say what of it matters.

use super::{Comparable, Headline, Source, Value, markdown, short};

pub const SOURCE: Source = Source {
    name: "fault abstraction",
    title: "Concolic Fault Abstraction",
    authors: "Chanseok Oh, Martin Schäf, Daniel Schwartz-Narbonne, Thomas Wies",
    venue: "without venue or year in the copy that was read, its newest references of 2013",
};

/// A bug (Table I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bug {
    pub program: &'static str,
    pub lines: u32,
    /// Of the plain and of the instrumented program.
    pub seconds: f64,
    pub instrumented_seconds: f64,
    pub slowdown: f64,
    pub log_kilobytes: u32,
    /// Executable lines of the failing run as a program.
    pub trace: u32,
    /// What is left of them with one variable for each memory location that is accessed, and with addresses left out.
    pub address_sensitive: u32,
    pub address_insensitive: u32,
    /// What Bug-Assist reports on that trace: locations that have to do with the bug, and others.
    pub bug_assist: (u32, u32),
    /// The rank that F3 gives the fault, and of how many.
    pub f3: (u32, u32),
}

/// Table I. The text has 976 statements for sed's 985 lines, and has F3 rank sed's fault 13 of 19.
pub const BUGS: [Bug; 2] = [
    Bug {
        program: "sed 2.05",
        lines: 11_990,
        seconds: 0.052,
        instrumented_seconds: 0.305,
        slowdown: 5.8,
        log_kilobytes: 36,
        trace: 985,
        address_sensitive: 11,
        address_insensitive: 4,
        bug_assist: (0, 2),
        f3: (3, 19),
    },
    Bug {
        program: "gzip 1.2.4",
        lines: 7_328,
        seconds: 0.042,
        instrumented_seconds: 0.172,
        slowdown: 4.1,
        log_kilobytes: 18,
        trace: 232,
        address_sensitive: 51,
        address_insensitive: 49,
        bug_assist: (2, 1),
        f3: (3, 80),
    },
];

/// Seconds of SMTInterpol 2.1 on gzip's trace as a whole, and on its two halves (text).
pub const GZIP_WHOLE: f64 = 4.53;
pub const GZIP_HALVES: (f64, f64) = (2.49, 0.94);

fn percent(part: u32, of: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(of)
}

pub(super) fn headlines() -> Vec<Headline> {
    let [sed, gzip] = BUGS;
    let why = "the size of an explanation, two bugs, and whether it has the fault is told in words only";
    vec![
        SOURCE.headline(
            "Table I",
            "sed, lines left of the run",
            Value::Share { part: sed.address_insensitive as usize, of: sed.trace as usize },
            Comparable::No,
            why,
        ),
        SOURCE.headline(
            "Table I",
            "gzip, lines left of the run",
            Value::Share { part: gzip.address_insensitive as usize, of: gzip.trace as usize },
            Comparable::No,
            why,
        ),
        SOURCE.headline(
            "Table I",
            "slowdown by recording the run, both bugs",
            Value::Range(gzip.slowdown, sed.slowdown),
            Comparable::No,
            "instrumented source, and runs of 50 milliseconds",
        ),
        SOURCE.headline(
            "text",
            "time of the interpolants, gzip in two halves",
            Value::Seconds(GZIP_HALVES.0 + GZIP_HALVES.1),
            Comparable::No,
            "one bug, another machine, the solver alone",
        ),
    ]
}

pub(super) fn table() -> String {
    let rows = BUGS.iter().map(|bug| {
        let left = |lines: u32| format!("{lines} ({} %)", short(percent(lines, bug.trace)));
        let ((related, unrelated), (rank, of)) = (bug.bug_assist, bug.f3);
        vec![
            bug.program.to_owned(),
            bug.trace.to_string(),
            left(bug.address_sensitive),
            left(bug.address_insensitive),
            format!("{} ×", short(bug.slowdown)),
            format!("{related} + {unrelated}"),
            format!("{rank} of {of}"),
        ]
    });
    let header = "| bug | run | left, with addresses | left, without | slowdown | Bug-Assist, related + other | F3 |\n\
                  |---|---:|---:|---:|---:|---:|---:|";
    format!("### Fault abstraction (Table I)\n\n{}", markdown(header, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.305 / 0.052 is 5.87: the table cuts it to 5.8 rather than rounds.
    #[test]
    fn the_slowdown_is_that_of_the_times() {
        for bug in BUGS {
            let slowdown = bug.instrumented_seconds / bug.seconds;
            assert!((slowdown - bug.slowdown).abs() < 0.1, "{}: {slowdown}", bug.program);
        }
    }

    #[test]
    fn less_is_left_without_addresses() {
        for bug in BUGS {
            assert!(bug.address_insensitive < bug.address_sensitive && bug.address_sensitive < bug.trace);
            assert!(bug.trace < bug.lines);
        }
    }

    /// The text has 13 of 19 for sed; where the two differ, the table is kept.
    #[test]
    fn the_ranks_of_f3_are_those_of_the_table() {
        assert_eq!(BUGS.map(|bug| bug.f3), [(3, 19), (3, 80)]);
        assert!(table().contains("| 3 of 19 |"), "{}", table());
    }

    /// The text adds the halves up to 3.43 seconds.
    #[test]
    fn two_halves_are_faster_than_the_whole() {
        assert!((GZIP_HALVES.0 + GZIP_HALVES.1 - 3.43).abs() < 0.001);
        assert!(GZIP_HALVES.0 + GZIP_HALVES.1 < GZIP_WHOLE);
    }
}
