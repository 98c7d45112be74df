//! What the paper states of its rows, and where its own numbers differ from each other.

use super::*;

fn near(computed: f64, stated: f64, most: f64) {
    assert!((computed - stated).abs() <= most, "{computed} computed, {stated} stated");
}

/// The text says 1600 failing inputs; the rows have 1598.
#[test]
fn the_runs_of_tcas_are_1598() {
    assert_eq!(TCAS.iter().map(|version| version.runs).sum::<usize>(), 1598);
}

/// The average ratio of Table IV, 0.86, is that of the averages; the average of its ratios would be 1.10. Only one ratio of a
/// row differs from its numbers (version 3: 15 / 17 is 0.88, printed 0.85).
#[test]
fn the_average_lines_of_table_4_are_those_of_its_rows() {
    let lines = mean(TCAS.iter().map(|version| version.lines as f64));
    let bug_assist = mean(TCAS.iter().map(|version| version.bug_assist as f64));
    near(lines, 8.51, 0.005);
    near(bug_assist, 9.93, 0.005);
    near(lines / bug_assist, 0.86, 0.005);
    near(mean(TCAS.iter().map(|version| version.lines as f64 / version.bug_assist as f64)), 1.10, 0.01);
    let fewer = TCAS.iter().filter(|version| version.lines < version.bug_assist).count();
    let more = TCAS.iter().filter(|version| version.lines > version.bug_assist).count();
    assert_eq!((fewer, more), (21, 15));
}

#[test]
fn table_3_and_the_row_of_tcas_in_table_5_differ_slightly() {
    near(mean(TCAS.iter().map(|version| version.percent)), 8.83, 0.01);
    near(mean(TCAS.iter().map(|version| version.seconds)), 0.053, 0.0005);
    assert_eq!((SIEMENS[0].versions, SIEMENS[0].cascade.percent), (40, 8.7));
}

#[test]
fn the_averages_of_table_5_are_those_of_its_rows() {
    let average = |of: fn(&Program) -> f64| mean(SIEMENS.iter().map(of));
    near(average(|program| program.lines as f64), 487.0, 0.5);
    near(average(|program| program.trace as f64), 5946.0, 0.5);
    near(average(|program| program.versions as f64), 10.0, 0.0);
    near(average(|program| program.dynamic_slice.located as f64), 8.6, 0.05);
    near(average(|program| program.dynamic_slice.percent), 48.5, 0.05);
    near(average(|program| program.dynamic_slice.seconds), 1.78, 0.005);
    near(average(|program| program.relevant_slice.located as f64), 10.0, 0.0);
    near(average(|program| program.relevant_slice.percent), 82.3, 0.05);
    near(average(|program| program.relevant_slice.seconds), 2.06, 0.005);
    near(average(|program| program.cascade.located as f64), 10.0, 0.0);
    near(average(|program| program.cascade.percent), 6.9, 0.05);
    near(average(|program| program.cascade.seconds), 6.16, 0.005);
    near(average(|program| program.level as f64), 2.1, 0.05);
}

/// The text says that dynamic slices missed 9 faults; by the rows, and by their average of 8.6, it is 10.
#[test]
fn dynamic_slices_miss_ten() {
    let missed: usize = SIEMENS.iter().map(|program| program.versions - program.dynamic_slice.located).sum();
    assert_eq!(missed, 10);
}

#[test]
fn the_others_miss_none() {
    for program in SIEMENS {
        assert_eq!(
            (program.cascade.located, program.relevant_slice.located),
            (program.versions, program.versions)
        );
    }
}

/// The text: the tree is the same with and without the savings that only make it faster.
#[test]
fn the_tree_depends_on_two_of_the_savings_only() {
    for crash in CRASHES {
        for (slow, fast) in [(0, 2), (1, 3)] {
            if crash.lines[slow].is_some() {
                assert_eq!(crash.lines[slow], crash.lines[fast], "{}", crash.name);
                assert_eq!(crash.percent[slow], crash.percent[fast], "{}", crash.name);
            }
        }
    }
}

#[test]
fn all_tables_time_out_at_the_same_places() {
    let timeouts = |variant: usize| CRASHES.iter().filter(|crash| crash.lines[variant].is_none()).count();
    assert_eq!([0, 1, 2, 3].map(timeouts), [5, 1, 0, 0]);
    for crash in CRASHES {
        for variant in 0..4 {
            let has = crash.lines[variant].is_some();
            assert_eq!(crash.percent[variant].is_some(), has, "{}", crash.name);
            assert_eq!(crash.seconds[variant].is_some(), has, "{}", crash.name);
            assert_eq!(crash.constraints[variant].is_some(), has, "{}", crash.name);
        }
    }
}

#[test]
fn a_simplified_trace_is_shorter() {
    for crash in CRASHES {
        let [all, correct, sliced, both] = crash.trace;
        assert!(both < correct && both < sliced && correct < all && sliced < all, "{}", crash.name);
    }
}

/// A timeout counts as an hour in the averages of Table VII, which are then cut to whole seconds.
#[test]
fn the_averages_of_table_7_are_those_of_its_rows() {
    let average = |variant: usize, column: usize| {
        mean(CRASHES.iter().map(|crash| crash.seconds[variant].map_or(3600.0, |seconds| seconds[column])))
    };
    let whole = |variant: usize| [0, 1, 2].map(|column| average(variant, column).floor());
    assert_eq!(whole(0), [1504.0, 1924.0, 1929.0]);
    assert_eq!(whole(1), [303.0, 321.0, 326.0]);
    for (variant, stated) in [(2, [11.6, 25.7, 37.8]), (3, [4.3, 11.7, 18.8])] {
        for (column, stated) in stated.into_iter().enumerate() {
            near(average(variant, column), stated, 0.0501);
        }
    }
}

#[test]
fn the_parts_of_a_time_are_no_more_than_the_whole() {
    for crash in CRASHES {
        for [preconditions, solver, total] in crash.seconds.into_iter().flatten() {
            assert!(preconditions + solver <= total + 0.001, "{}", crash.name);
        }
    }
}

/// The text says that all twelve took 20 seconds or less with all savings; by the rows nine did.
#[test]
fn three_crashes_took_longer_than_the_text_says() {
    let total = |crash: &&Crash| with_all(&crash.seconds).is_some_and(|[_, _, total]| total > 20.0);
    let longer: Vec<&str> = CRASHES.iter().filter(total).map(|crash| crash.name).collect();
    assert_eq!(longer, ["top", "ls", "ptx"]);
}

/// Less than a percent of the run is read until the fault, says the text; arp is the one that it counts.
#[test]
fn little_of_arp_is_read() {
    let arp = CRASHES.iter().find(|crash| crash.name == "arp").expect("arp is a row");
    near(100.0 * ARP_READ as f64 / arp.trace[0] as f64, 0.086, 0.001);
}
