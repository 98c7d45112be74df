//! Slices of small programs, with the answers that a person gives.

mod guest;

use std::collections::BTreeSet;

use guest::{Guest, lines};
use linux::Place;
use linux::fs::Stream;
use replay::{Bounds, Cell, Follow, Question, Slice, Unseen};

/// What the first bytes of standard output depend on.
fn output_slice(guest: &mut Guest, length: u64, follow: Follow) -> Slice {
    let place = Place::Output { stream: Stream::Stdout, offset: 0 };
    let criterion = Question {
        time: guest.recording.end(),
        cells: vec![Cell::Kernel { place, length }],
        why_here: false,
    };
    guest.slice(&criterion, follow, &mut Unseen)
}

#[test]
fn the_data_part_and_the_select_part_of_an_output_are_told_apart() {
    let mut guest = Guest::compile("two_parts.c", &["-O0"], &["2", "1"]);
    let slice = output_slice(&mut guest, 1, Follow::Full);
    assert_eq!(lines(slice.data_part()), BTreeSet::from([10, 15, 18, 21]));
    let select = lines(slice.select_part());
    assert_eq!(select, BTreeSet::from([5, 6, 10, 11, 12, 16, 17]));
    let data = output_slice(&mut guest, 1, Follow::Data);
    assert_eq!(lines(data.statements.keys()), BTreeSet::from([10, 15, 18, 21]));
}

/// Registers of the x87 unit are followed one by one, through pushes, pops and exchanges, in memory at -O0 and on their stack at -O2.
#[test]
fn two_sums_of_long_doubles_are_told_apart() {
    for optimisation in ["-O0", "-O2"] {
        let mut guest = Guest::compile("long_doubles.c", &[optimisation], &["7.5", "1.25"]);
        let of_first = byte_slice(&mut guest, "20.00 0", Follow::Data);
        let of_second = byte_slice(&mut guest, "75", Follow::Data);
        let (first, second) = (lines(of_first.statements.keys()), lines(of_second.statements.keys()));
        let only = |one: &BTreeSet<u32>, other: &BTreeSet<u32>, own: &[u32]| {
            own.iter().all(|line| one.contains(line) && !other.contains(line))
        };
        assert!(only(&first, &second, &[15, 19]), "{optimisation}: {first:?}, not {second:?}");
        assert!(only(&second, &first, &[13, 14, 16, 20]), "{optimisation}: {second:?}, not {first:?}");
    }
}

/// What one byte of standard output depends on.
fn byte_slice(guest: &mut Guest, text: &str, follow: Follow) -> Slice {
    let output = guest.recording.last().kernel.output.contents(Stream::Stdout);
    let offset = output.windows(text.len()).position(|window| window == text.as_bytes()).unwrap() as u64;
    let place = Place::Output { stream: Stream::Stdout, offset };
    let cells = vec![Cell::Kernel { place, length: 1 }];
    let criterion = Question { time: guest.recording.end(), cells, why_here: false };
    guest.slice(&criterion, follow, &mut Unseen)
}

#[test]
fn bytes_of_one_output_have_different_origins() {
    let mut guest = Guest::compile("steps.c", &["-O0"], &["2", "abc"]);
    // The copied text; another character of it; the element of the table and the way to it; the kept number.
    for (text, data, full) in [
        ("axc", &[23, 25, 31][..], &[23, 25, 31][..]),
        ("xc", &[23, 30, 31], &[23, 30, 31]),
        ("30 14", &[6, 16, 21, 29, 31], &[6, 16, 21, 29, 31]),
        ("14\n", &[11, 24, 28, 31], &[11, 21, 24, 27, 28, 31]),
    ] {
        let slice = byte_slice(&mut guest, text, Follow::Data);
        assert_eq!(lines(slice.statements.keys()), data.iter().copied().collect(), "data of {text}");
        let slice = byte_slice(&mut guest, text, Follow::Full);
        assert_eq!(lines(slice.statements.keys()), full.iter().copied().collect(), "full of {text}");
    }
}

#[test]
fn a_condition_that_omitted_something_is_in_the_relevant_slice_alone() {
    let mut guest = Guest::compile("omitted.c", &["-O0"], &[]);
    // The failed assertion: why control came to abort.
    let criterion = Question { time: guest.recording.end(), cells: Vec::new(), why_here: true };
    let slice = guest.slice(&criterion, Follow::Full, &mut Unseen);
    assert_eq!(lines(slice.statements.keys()), BTreeSet::from([6, 8, 10, 14, 16]));
    let relevant = guest.slice(&criterion, Follow::Relevant(Bounds::default()), &mut Unseen);
    assert_eq!(lines(relevant.statements.keys()), BTreeSet::from([6, 7, 8, 10, 11, 14, 16]));
}

#[test]
fn sums_in_loops_calls_and_recursion_have_all_their_parts() {
    for (compiler, level) in [("gcc", "-O0"), ("clang", "-O0")] {
        let mut guest = Guest::compile_by(compiler, "sums.c", &[level], &[]);
        let slice = byte_slice(&mut guest, "9\n1", Follow::Data);
        assert_eq!(lines(slice.statements.keys()), BTreeSet::from([20, 22, 23, 27]), "{compiler}");
        let count = |slice: &Slice, line| -> u64 {
            slice
                .statements
                .iter()
                .filter(|(stmt, _)| stmt.line == line)
                .map(|(_, share)| share.instances)
                .sum()
        };
        assert_eq!(count(&slice, 23), 4, "{compiler}");
        let slice = byte_slice(&mut guest, "9\n1", Follow::Full);
        assert_eq!(lines(slice.statements.keys()), BTreeSet::from([20, 22, 23, 27]), "{compiler}");
        let slice = byte_slice(&mut guest, "112", Follow::Full);
        assert_eq!(
            lines(slice.statements.keys()),
            BTreeSet::from([8, 13, 14, 15, 20, 22, 23, 26, 28]),
            "{compiler}"
        );
        assert_eq!((count(&slice, 13), count(&slice, 14), count(&slice, 15)), (4, 1, 3), "{compiler}");
    }
}

#[test]
fn a_condition_of_two_parts_that_could_have_redefined_is_relevant_and_one_that_could_not_is_not() {
    let mut guest = Guest::compile("triangle.c", &["-O0"], &["6", "5", "4"]);
    let full = byte_slice(&mut guest, "10.00", Follow::Full);
    let relevant = byte_slice(&mut guest, "10.00", Follow::Relevant(Bounds::default()));
    let more: BTreeSet<u32> = &lines(relevant.statements.keys()) - &lines(full.statements.keys());
    assert_eq!(more, BTreeSet::from([18]));
    assert!(!relevant.contains(14));
    for line in [12, 16, 17, 20, 22] {
        assert!(full.contains(line), "{line}");
    }
}

#[test]
fn the_closing_brace_is_no_step_whatever_type_is_returned() {
    for compiler in ["gcc", "clang"] {
        let mut guest = Guest::compile_by(compiler, "doubles.c", &["-O0"], &["6"]);
        for (text, expected) in [
            ("3.0 1", &[9, 34, 35][..]),
            ("1.50", &[16, 34, 35]),
            ("2 40", &[23, 34, 35]),
            // For clang a return and the closing brace are one.
            ("4018", if compiler == "gcc" { &[28, 29, 34, 35] } else { &[28, 34, 35] }),
        ] {
            let slice = byte_slice(&mut guest, text, Follow::Data);
            let expected: BTreeSet<u32> = expected.iter().copied().collect();
            assert_eq!(lines(slice.statements.keys()), expected, "{text} by {compiler}");
        }
    }
}

#[test]
fn a_width_or_a_precision_is_a_reason_for_padding_and_for_nothing_else() {
    let mut guest = Guest::compile("padding.c", &["-O0"], &["6", "42", "abc"]);
    // Before the number, of the number, of the name and behind the name, where its length counts.
    for (text, expected) in [
        ("    42", &[7, 10][..]),
        ("42|", &[8, 10]),
        ("abc", &[9, 10]),
        ("   \n", &[7, 9, 10]),
        ("000042", &[7, 11]),
        ("42\n", &[8, 11]),
    ] {
        let slice = byte_slice(&mut guest, text, Follow::Full);
        assert_eq!(lines(slice.statements.keys()), expected.iter().copied().collect(), "{text:?}");
    }
}
