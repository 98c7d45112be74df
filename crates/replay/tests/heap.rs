//! Recordings of runs with a checked heap, and what values that go through its blocks depend on.

mod guest;

use std::collections::BTreeSet;

use guest::{Guest, compile, lines};
use linux::fs::Stream;
use linux::{BlockState, Place, SERVED};
use machine::{Time, Trace, Unwatched};
use replay::{Cell, Follow, Question, Source, Unseen};

fn guest(arguments: &[&str]) -> Guest {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/blocks.c");
    Guest::run_checked(compile("gcc", &source, &["-O0"]), arguments)
}

/// The slice of a byte of the output.
fn slice(guest: &mut Guest, offset: u64) -> (BTreeSet<u32>, Vec<Source>) {
    let place = Place::Output { stream: Stream::Stdout, offset };
    let cells = vec![Cell::Kernel { place, length: 1 }];
    let question = Question { time: guest.recording.end(), cells, why_here: false };
    let slice = guest.slice(&question, Follow::Data, &mut Unseen);
    (lines(slice.statements.keys()), slice.sources.into_keys().collect())
}

#[test]
fn what_realloc_copies_keeps_its_origin() {
    let mut guest = guest(&["9"]);
    let output = guest.recording.last().kernel.output.contents(Stream::Stdout);
    assert_eq!(output, b"30 9\n");
    // The digit of numbers[0].
    let (lines, sources) = slice(&mut guest, 3);
    assert!(lines.contains(&23), "the assignment: {lines:?}");
    assert!(!lines.contains(&24), "the other element, in the same block: {lines:?}");
    assert!(sources.iter().all(|source| !matches!(source, Source::Uninitialised { .. })), "{sources:?}");
}

#[test]
fn what_nobody_wrote_to_a_block_is_uninitialised_and_zeros_of_calloc_are_not() {
    let mut guest = guest(&["own"]);
    let (_, sources) = slice(&mut guest, 0);
    let heap = |source: &Source| matches!(source, Source::Uninitialised { address } if linux::HEAP.contains(address));
    assert!(sources.iter().any(heap), "{sources:?}");
    let counted = guest.recording.last().kernel.checked_heap.live();
    assert!(counted.iter().all(|block| block.state == BlockState::Live));
}

#[test]
fn a_recording_gives_back_every_instant_of_a_run_with_a_checked_heap() {
    let mut guest = guest(&["9"]);
    let end = guest.recording.end();
    let mut fresh = guest.recording.at(Time(0));
    for part in 0..=20 {
        let time = Time(end.0 * part / 20);
        fresh.run(time, &mut Unwatched);
        assert_eq!(guest.recording.at(time).state_hash(), fresh.state_hash(), "at {time:?}");
    }
}

#[test]
fn a_served_call_is_one_instruction_and_all_ways_to_run_tell_it_alike() {
    let mut guest = guest(&["9"]);
    let end = guest.recording.end();
    let (mut trace, mut calls) = (Trace::new(), Vec::new());
    let mut followed = guest.recording.at(Time(0));
    followed.run_followed(end, &mut trace, &mut calls);
    assert_eq!(followed.state_hash(), guest.recording.at(end).state_hash());
    let times: Vec<Time> = calls.iter().filter(|call| call.number == SERVED).map(|call| call.time).collect();
    let passes: Vec<Time> = trace.forward().filter(|pass| pass.is_served()).map(|pass| pass.time).collect();
    assert_eq!(passes, times);
    // Four nodes, one array, three times resized, one text, and all of them freed; the C library has blocks of its own.
    assert!(times.len() >= 15, "{}", times.len());
    for time in times {
        let before = guest.recording.at(time).machine.cpu.get(lift::Reg::RSP);
        let after = guest.recording.at(Time(time.0 + 1)).machine.cpu.get(lift::Reg::RSP);
        assert_eq!(after, before + 8, "it returns");
    }
}
