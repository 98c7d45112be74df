//! Slices across every way that control can go, and how little is kept about control on the way.

mod guest;

use std::collections::BTreeSet;

use guest::{Guest, lines};
use linux::Place;
use linux::fs::Stream;
use replay::{Cell, Follow, Question, Slice, Unseen};

/// The full slice of the first byte that the program puts out.
fn slice_of(way: &str, given: &str) -> Slice {
    let mut guest = Guest::compile("ways.c", &["-O0"], &[way, given]);
    let place = Place::Output { stream: Stream::Stdout, offset: 0 };
    let cells = vec![Cell::Kernel { place, length: 1 }];
    let question = Question { time: guest.recording.end(), cells, why_here: false };
    let slice = guest.slice(&question, Follow::Full, &mut Unseen);
    println!("{way}: {:?} {:?}", lines(slice.statements.keys()), slice.stacks);
    slice
}

fn assert_lines(slice: &Slice, expected: &[u32]) {
    assert_eq!(lines(slice.statements.keys()), BTreeSet::from_iter(expected.iter().copied()));
}

/// What is usual for activations: those of the program, of the C library's output and of what is called at the end.
const FEW: usize = 24;

#[test]
fn recursion_is_followed_down_and_up() {
    let slice = slice_of("depth", "5");
    assert_lines(&slice, &[12, 13, 14, 15, 117, 119, 120, 133]);
    let slice = slice_of("even", "6");
    assert_lines(&slice, &[103, 105, 110, 111, 112, 117, 131, 132, 133]);
}

#[test]
fn a_deep_recursion_keeps_its_activations_and_nothing_more() {
    let slice = slice_of("depth", "20000");
    assert_lines(&slice, &[12, 13, 14, 15, 117, 119, 120, 133]);
    assert!(slice.stacks.activations <= 20_000 + FEW, "{:?}", slice.stacks);
    assert!(slice.stacks.waiting <= 8, "{:?}", slice.stacks);
}

#[test]
fn an_early_return_from_a_loop_is_decided_by_every_test_before() {
    let slice = slice_of("find", "9");
    assert_lines(&slice, &[8, 20, 21, 22, 117, 121, 122, 133]);
}

#[test]
fn longjmp_is_followed_and_leaves_nothing_behind() {
    let slice = slice_of("jump", "4");
    assert_lines(&slice, &[29, 30, 36, 38, 39, 40, 41, 43, 46, 117, 123, 124, 133]);
    let slice = slice_of("jump", "5000");
    assert!(slice.stacks.activations <= FEW, "{:?}", slice.stacks);
    assert!(slice.stacks.waiting <= 8, "{:?}", slice.stacks);
}

#[test]
fn computed_jumps_decide_like_branches() {
    // The compiler makes one jump of the three, in line 58.
    let slice = slice_of("machine", "bac");
    assert_lines(&slice, &[51, 52, 54, 56, 58, 60, 62, 64, 125, 126, 133]);
}

#[test]
fn millions_of_iterations_are_as_good_as_ten() {
    let long = std::env::var_os("WHYDUNIT_LONG").is_some();
    let slice = slice_of("loop", if long { "10000000" } else { "1000000" });
    assert_lines(&slice, &[69, 71, 72, 73, 76, 117, 127, 128, 133]);
    assert!(slice.stacks.activations <= FEW, "{:?}", slice.stacks);
    assert!(slice.stacks.waiting <= 8, "{:?}", slice.stacks);
}

#[test]
fn loops_in_loops_with_ways_out_are_followed() {
    let slice = slice_of("nest", "12");
    assert_lines(&slice, &[81, 82, 83, 84, 86, 88, 90, 93, 96, 117, 129, 130, 133]);
    assert!(slice.stacks.waiting <= 12, "{:?}", slice.stacks);
}
