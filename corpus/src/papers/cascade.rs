//! Cascade fault localization (CaFL): a tree of causes, each an unsatisfiable core of the weakest precondition of a condition.

use super::{Comparable, Headline, Source, Value, markdown, mean, median, short};

pub const SOURCE: Source = Source {
    name: "cascade",
    title: "Explaining Software Failures by Cascade Fault Localization",
    authors: "Qiuping Yi, Zijiang Yang, Jian Liu, Chen Zhao, Chao Wang",
    venue: "ACM Transactions on Design Automation of Electronic Systems 20(3), 2015",
};

/// A faulty version of tcas (Tables III and IV).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Version {
    pub faulty_statements: usize,
    /// Failing test runs. Of each the tree of causes has every executed faulty statement.
    pub runs: usize,
    /// The mean percentage of the executed instructions that are in the tree.
    pub percent: f64,
    /// The level of the tree at which the fault stands.
    pub level: usize,
    /// The mean of a run.
    pub seconds: f64,
    /// Source lines that were explored when the fault was identified, by CaFL and by BugAssist.
    pub lines: usize,
    pub bug_assist: usize,
}

/// What Table III says of a version, and what Table IV adds.
const fn version(
    (faulty_statements, runs): (usize, usize),
    percent: f64,
    level: usize,
    seconds: f64,
    (lines, bug_assist): (usize, usize),
) -> Version {
    Version { faulty_statements, runs, percent, level, seconds, lines, bug_assist }
}

/// Tables III and IV, version 1 first.
pub const TCAS: [Version; 41] = [
    version((1, 131), 8.2, 2, 0.058, (6, 11)),
    version((1, 69), 12.2, 3, 0.055, (11, 13)),
    version((1, 23), 7.3, 2, 0.057, (15, 17)),
    version((1, 20), 8.2, 2, 0.055, (6, 12)),
    version((1, 10), 8.2, 2, 0.054, (15, 14)),
    version((1, 12), 7.5, 2, 0.053, (12, 5)),
    version((1, 36), 13.4, 3, 0.058, (11, 5)),
    version((1, 1), 13.7, 3, 0.052, (8, 13)),
    version((1, 7), 14.6, 3, 0.057, (10, 10)),
    version((2, 14), 7.9, 2, 0.050, (12, 6)),
    version((3, 14), 9.4, 3, 0.042, (7, 9)),
    version((1, 70), 8.2, 2, 0.054, (15, 14)),
    version((1, 4), 7.5, 2, 0.055, (12, 14)),
    version((1, 50), 5.0, 2, 0.031, (3, 1)),
    version((1, 10), 6.6, 2, 0.051, (11, 13)),
    version((1, 70), 11.2, 3, 0.054, (8, 8)),
    version((1, 35), 11.3, 3, 0.060, (7, 4)),
    version((1, 29), 11.3, 3, 0.060, (7, 4)),
    version((1, 19), 11.3, 3, 0.061, (7, 4)),
    version((1, 18), 13.2, 3, 0.051, (6, 13)),
    version((1, 16), 12.2, 3, 0.054, (14, 12)),
    version((1, 11), 10.4, 3, 0.057, (15, 23)),
    version((1, 41), 10.5, 3, 0.053, (9, 8)),
    version((1, 7), 10.8, 3, 0.059, (10, 14)),
    version((1, 3), 5.4, 2, 0.065, (7, 12)),
    version((1, 11), 7.5, 2, 0.053, (11, 14)),
    version((1, 10), 6.7, 2, 0.053, (11, 14)),
    version((1, 76), 12.4, 2, 0.054, (10, 9)),
    version((1, 18), 12.7, 2, 0.059, (10, 12)),
    version((1, 58), 12.4, 3, 0.057, (9, 9)),
    version((3, 14), 5.2, 2, 0.049, (5, 7)),
    version((3, 2), 3.1, 2, 0.055, (4, 10)),
    version((4, 89), 6.7, 1, 0.011, (1, 1)),
    version((1, 77), 6.4, 2, 0.050, (5, 14)),
    version((1, 76), 11.5, 3, 0.057, (9, 9)),
    version((1, 120), 1.1, 1, 0.065, (2, 14)),
    version((1, 93), 10.2, 3, 0.063, (7, 3)),
    version((1, 91), 6.7, 1, 0.012, (5, 2)),
    version((1, 3), 4.9, 2, 0.064, (6, 3)),
    version((2, 120), 3.4, 2, 0.062, (4, 15)),
    version((1, 20), 5.8, 2, 0.053, (6, 12)),
];

/// What a method did with the versions of a program (Table V).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Versions whose fault is in what the method gives.
    pub located: usize,
    /// The percentage of the executed instructions that it gives.
    pub percent: f64,
    pub seconds: f64,
}

const fn covers(located: usize, percent: f64, seconds: f64) -> Coverage {
    Coverage { located, percent, seconds }
}

/// A program of the Siemens suite (Table V).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Program {
    pub name: &'static str,
    pub lines: usize,
    /// The mean length of a failing run.
    pub trace: usize,
    pub versions: usize,
    pub dynamic_slice: Coverage,
    pub relevant_slice: Coverage,
    pub cascade: Coverage,
    /// The level of the tree at which the fault stands.
    pub level: usize,
}

const fn program(
    name: &'static str,
    (lines, trace, versions): (usize, usize, usize),
    dynamic_slice: Coverage,
    relevant_slice: Coverage,
    cascade: Coverage,
    level: usize,
) -> Program {
    Program { name, lines, trace, versions, dynamic_slice, relevant_slice, cascade, level }
}

/// Table V. It has 40 versions of tcas where Tables III and IV have 41, with 8.7 % and 0.04 s on average where the rows of
/// Table III give 8.8 % and 0.053 s.
pub const SIEMENS: [Program; 7] = [
    program("tcas", (143, 276, 40), covers(40, 56.2, 0.01), covers(40, 88.5, 0.01), covers(40, 8.7, 0.04), 2),
    program(
        "schedule2",
        (564, 8327, 3),
        covers(2, 44.3, 1.54),
        covers(3, 87.3, 1.56),
        covers(3, 9.6, 4.52),
        2,
    ),
    program(
        "schedule",
        (374, 7623, 3),
        covers(2, 61.3, 2.11),
        covers(3, 75.3, 2.25),
        covers(3, 4.2, 6.12),
        2,
    ),
    program(
        "totinfo",
        (565, 4377, 6),
        covers(4, 46.2, 3.07),
        covers(6, 81.3, 3.11),
        covers(6, 10.5, 5.73),
        2,
    ),
    program(
        "printtokens2",
        (523, 5094, 7),
        covers(4, 27.0, 2.15),
        covers(7, 73.7, 2.38),
        covers(7, 4.8, 13.71),
        3,
    ),
    program(
        "printtokens",
        (726, 3469, 5),
        covers(4, 58.5, 1.12),
        covers(5, 81.5, 1.44),
        covers(5, 3.0, 5.11),
        2,
    ),
    program(
        "replace",
        (512, 12458, 6),
        covers(4, 46.2, 2.47),
        covers(6, 88.2, 3.69),
        covers(6, 7.6, 7.87),
        2,
    ),
];

/// With which of its savings CaFL ran, in the order of the columns of Tables VI, VII and VIII: none; functions taken as
/// correct and loops recognised; fewer constraints for the solver and slicing; all.
pub const VARIANTS: [&str; 4] = ["none", "C+L", "SO+SL", "all"];

/// A crash of an application of Busybox 1.4.2 or Coreutils 6.10. By variant; `None` if an hour was not enough. The whole tree
/// was computed, also after the fault was in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crash {
    pub name: &'static str,
    /// Executed instructions: all, without the functions taken as correct, after slicing, after both (Table VI).
    pub trace: [usize; 4],
    /// Source lines in the tree (Table VI).
    pub lines: [Option<usize>; 4],
    /// The percentage of the executed instructions in the tree (Table VI).
    pub percent: [Option<f64>; 4],
    /// Seconds of computing preconditions, of the solver, and altogether (Table VII).
    pub seconds: [Option<[f64; 3]>; 4],
    /// Constraints given to the solver (Table VIII).
    pub constraints: [Option<usize>; 4],
}

/// Tables VI, VII and VIII.
pub const CRASHES: [Crash; 12] = [
    Crash {
        name: "arp",
        trace: [32_405, 7_399, 9_215, 5_505],
        lines: [None, Some(102), Some(124), Some(102)],
        percent: [None, Some(3.19), Some(7.23), Some(3.19)],
        seconds: [None, Some([4.1, 26.0, 30.9]), Some([3.6, 28.0, 32.0]), Some([1.7, 9.7, 11.9])],
        constraints: [None, Some(65_026), Some(9_601), Some(1_736)],
    },
    Crash {
        name: "tr",
        trace: [15_993, 10_828, 4_739, 3_857],
        lines: [Some(36), Some(24), Some(36), Some(24)],
        percent: [Some(5.11), Some(3.58), Some(5.11), Some(3.58)],
        seconds: [
            Some([9.1, 1146.8, 1156.0]),
            Some([8.1, 16.7, 25.2]),
            Some([3.6, 1.7, 5.6]),
            Some([1.8, 0.2, 2.2]),
        ],
        constraints: [Some(5_813_789), Some(71_480), Some(842), Some(252)],
    },
    Crash {
        name: "top",
        trace: [32_127, 7_719, 9_111, 5_968],
        lines: [None, Some(140), Some(158), Some(140)],
        percent: [None, Some(1.73), Some(9.26), Some(1.73)],
        seconds: [None, Some([3.2, 62.1, 65.6]), Some([4.9, 50.1, 55.2]), Some([3.2, 33.2, 36.8])],
        constraints: [None, Some(182_913), Some(4_481), Some(2_188)],
    },
    Crash {
        name: "printf",
        trace: [9_150, 5_650, 5_362, 4_166],
        lines: [Some(96), Some(72), Some(96), Some(72)],
        percent: [Some(6.52), Some(2.13), Some(6.52), Some(2.13)],
        seconds: [
            Some([5.0, 440.2, 445.9]),
            Some([2.1, 4.5, 6.9]),
            Some([1.1, 4.3, 5.8]),
            Some([0.8, 0.2, 1.2]),
        ],
        constraints: [Some(884_241), Some(13_793), Some(6_628), Some(286)],
    },
    Crash {
        name: "ls",
        trace: [35_769, 8_462, 11_724, 6_186],
        lines: [None, Some(91), Some(123), Some(91)],
        percent: [None, Some(3.24), Some(5.42), Some(3.24)],
        seconds: [None, Some([5.6, 48.5, 54.9]), Some([4.1, 39.7, 44.2]), Some([3.0, 17.6, 20.7])],
        constraints: [None, Some(126_395), Some(17_171), Some(1_194)],
    },
    Crash {
        name: "install",
        trace: [31_999, 7_591, 8_856, 5_692],
        lines: [None, Some(82), Some(115), Some(82)],
        percent: [None, Some(2.02), Some(8.32), Some(2.02)],
        seconds: [None, Some([6.9, 29.5, 37.2]), Some([3.1, 1.0, 4.5]), Some([2.3, 0.1, 2.7])],
        constraints: [None, Some(86_290), Some(3_721), Some(794)],
    },
    Crash {
        name: "paste",
        trace: [10_183, 5_159, 5_816, 3_535],
        lines: [Some(68), Some(53), Some(68), Some(53)],
        percent: [Some(11.68), Some(4.55), Some(11.68), Some(4.55)],
        seconds: [
            Some([7.1, 812.2, 820.6]),
            Some([4.8, 11.2, 16.7]),
            Some([3.5, 1.2, 5.3]),
            Some([0.8, 0.1, 1.1]),
        ],
        constraints: [Some(2_888_436), Some(80_404), Some(1_141), Some(576)],
    },
    Crash {
        name: "mkdir",
        trace: [13_492, 7_504, 7_539, 5_469],
        lines: [Some(77), Some(69), Some(77), Some(69)],
        percent: [Some(14.72), Some(4.85), Some(14.72), Some(4.85)],
        seconds: [
            Some([5.3, 485.2, 494.4]),
            Some([2.3, 18.2, 21.4]),
            Some([2.1, 5.9, 8.9]),
            Some([0.7, 0.1, 1.0]),
        ],
        constraints: [Some(1_997_815), Some(78_701), Some(6_229), Some(944)],
    },
    Crash {
        name: "mkfifo",
        trace: [12_854, 6_896, 6_971, 4_931],
        lines: [Some(74), Some(64), Some(74), Some(64)],
        percent: [Some(16.66), Some(6.33), Some(16.66), Some(6.33)],
        seconds: [
            Some([6.7, 512.8, 520.6]),
            Some([2.1, 20.3, 24.3]),
            Some([1.8, 6.2, 8.5]),
            Some([0.8, 0.1, 1.0]),
        ],
        constraints: [Some(1_988_116), Some(79_936), Some(6_448), Some(950)],
    },
    Crash {
        name: "mknod",
        trace: [13_176, 7_082, 7_026, 4_986],
        lines: [Some(75), Some(67), Some(75), Some(67)],
        percent: [Some(17.08), Some(5.86), Some(17.08), Some(5.86)],
        seconds: [
            Some([6.2, 555.1, 562.5]),
            Some([2.1, 20.4, 24.5]),
            Some([1.9, 6.3, 8.7]),
            Some([0.5, 0.1, 1.0]),
        ],
        constraints: [Some(2_072_425), Some(90_228), Some(6_692), Some(1_018)],
    },
    Crash {
        name: "ptx",
        trace: [130_951, 68_036, 49_467, 45_630],
        lines: [None, None, Some(387), Some(354)],
        percent: [None, None, Some(10.27), Some(7.95)],
        seconds: [None, None, Some([107.4, 158.3, 266.5]), Some([34.1, 79.3, 144.2])],
        constraints: [None, None, Some(52_063), Some(28_705)],
    },
    Crash {
        name: "seq",
        trace: [11_719, 5_583, 6_044, 3_928],
        lines: [Some(97), Some(75), Some(97), Some(75)],
        percent: [Some(14.29), Some(6.54), Some(14.29), Some(6.54)],
        seconds: [
            Some([10.2, 1147.2, 1158.8]),
            Some([2.2, 3.1, 5.7]),
            Some([1.7, 5.7, 7.9]),
            Some([1.3, 0.2, 1.9]),
        ],
        constraints: [Some(6_251_612), Some(132_392), Some(6_263), Some(686)],
    },
];

/// Of arp, the executed instructions that are read until the fault (text); the text counts 32,479 in all, Table VI 32,405.
pub const ARP_READ: usize = 28;

/// The figures of the variant with all savings.
fn with_all<T: Copy>(values: &[Option<T>; 4]) -> Option<T> {
    values[3]
}

pub(super) fn headlines() -> Vec<Headline> {
    let located = |of: fn(&Program) -> usize| Value::Share {
        part: SIEMENS.iter().map(of).sum(),
        of: SIEMENS.iter().map(|program| program.versions).sum(),
    };
    let runs = TCAS.iter().map(|version| version.runs).sum();
    let tree = CRASHES.iter().filter_map(|crash| with_all(&crash.lines)).map(|lines| lines as f64);
    let total = CRASHES.iter().filter_map(|crash| with_all(&crash.seconds)).map(|[_, _, total]| total);
    vec![
        SOURCE.headline(
            "Table III",
            "the tree has the fault, failing runs of tcas",
            Value::Share { part: runs, of: runs },
            Comparable::No,
            "being somewhere in a tree of all possible causes; ours is an order that is cut off, where a miss counts",
        ),
        SOURCE.headline(
            "Table IV",
            "lines explored until the fault, mean, tcas",
            Value::Number(mean(TCAS.iter().map(|version| version.lines as f64))),
            Comparable::Partly,
            "with our rank; the order within a level is not said, the right output is asserted, one program of 143 lines",
        ),
        SOURCE.headline(
            "Table IV",
            "the same of BugAssist",
            Value::Number(mean(TCAS.iter().map(|version| version.bug_assist as f64))),
            Comparable::Partly,
            "as above",
        ),
        SOURCE.headline(
            "Table III",
            "level of the fault in the tree, mean, tcas",
            Value::Number(mean(TCAS.iter().map(|version| version.level as f64))),
            Comparable::No,
            "ours has no levels",
        ),
        SOURCE.headline(
            "Table V",
            "the tree has the fault, versions of Siemens programs",
            located(|program| program.cascade.located),
            Comparable::No,
            "as above; 40 of the versions are of tcas",
        ),
        SOURCE.headline(
            "Table V",
            "the dynamic slice has the fault",
            located(|program| program.dynamic_slice.located),
            Comparable::Partly,
            "with how often our full slice does not miss; executed instructions, not lines",
        ),
        SOURCE.headline(
            "Table V",
            "the relevant slice has the fault",
            located(|program| program.relevant_slice.located),
            Comparable::Partly,
            "with how often our relevant slice does not miss; executed instructions, not lines",
        ),
        SOURCE.headline(
            "Table V",
            "share of the run in the tree, mean of programs",
            Value::Percent(mean(SIEMENS.iter().map(|program| program.cascade.percent))),
            Comparable::No,
            "the size of a set of executed instructions; ours is an order of lines",
        ),
        SOURCE.headline(
            "Table VI",
            "lines in the whole tree, median, twelve crashes",
            Value::Number(median(tree)),
            Comparable::No,
            "the tree was computed to its end, also after the fault was in it",
        ),
        SOURCE.headline(
            "text",
            "executed instructions read until the fault, arp",
            Value::Number(ARP_READ as f64),
            Comparable::Partly,
            "with our rank; one crash, instructions and not lines, by a reader who knows when to stop",
        ),
        SOURCE.headline(
            "Table VII",
            "time with all savings, median, twelve crashes",
            Value::Seconds(median(total)),
            Comparable::No,
            "another machine, of which nothing is said; the whole tree",
        ),
    ]
}

pub(super) fn table() -> String {
    let tcas = (1..=3).map(|level| {
        let versions: Vec<&Version> = TCAS.iter().filter(|version| version.level == level).collect();
        let means: [fn(&Version) -> f64; 3] =
            [|version| version.percent, |version| version.lines as f64, |version| version.bug_assist as f64];
        let mut row = vec![level.to_string(), versions.len().to_string()];
        row.extend(means.map(|of| short(mean(versions.iter().map(|version| of(version))))));
        row
    });
    let siemens = SIEMENS.iter().map(|program| {
        let mut row = vec![program.name.to_owned(), program.trace.to_string(), program.versions.to_string()];
        for coverage in [program.dynamic_slice, program.relevant_slice, program.cascade] {
            row.push(format!("{} ({} %)", coverage.located, short(coverage.percent)));
        }
        row.extend([program.level.to_string(), short(program.cascade.seconds)]);
        row
    });
    let crashes = CRASHES.iter().map(|crash| {
        let seconds = |of: [f64; 3]| short(of[2]);
        let mut row = vec![crash.name.to_owned(), crash.trace[0].to_string(), crash.trace[3].to_string()];
        row.push(with_all(&crash.lines).map_or(String::new(), |lines| lines.to_string()));
        row.push(with_all(&crash.percent).map_or(String::new(), short));
        row.extend(crash.seconds.map(|of| of.map_or("> 3600".to_owned(), seconds)));
        row.push(with_all(&crash.constraints).map_or(String::new(), |count| count.to_string()));
        row
    });
    let seconds: String = VARIANTS.iter().map(|name| format!(" seconds, {name} |")).collect();
    format!(
        "### Cascade (Tables III to VIII)\n\n{}\n{}\n{}",
        markdown(
            "| tcas: level of the fault | versions | mean % of the run in the tree | mean lines | mean lines, BugAssist |\n|---:|---:|---:|---:|---:|",
            tcas
        ),
        markdown(
            "| Siemens program | run | versions | in dynamic slice | in relevant slice | in tree | level | seconds |\n|---|---:|---:|---:|---:|---:|---:|---:|",
            siemens
        ),
        markdown(
            &format!(
                "| crash | run | simplified | lines | % of the run |{seconds} constraints |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
            ),
            crashes
        ),
    )
}

#[cfg(test)]
mod tests;
