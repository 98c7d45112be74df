//! Runs that signals interrupt: recorded, sought in, and asked about.

mod guest;

use std::collections::BTreeSet;

use guest::{Guest, lines};
use linux::fs::Stream;
use linux::{Exit, Place};
use machine::{InterruptionKind, Time, Trace, Unwatched};
use program::Scope;
use replay::index::{Indexer, Region, keys_of_one};
use replay::{Cell, Flow, Follow, Question, Slice, Unseen};

const WAYS: [(&str, &str, &str); 5] = [
    ("fault", "4", "47"),
    ("divide", "5", "42"),
    ("raise", "4", "24"),
    ("skip", "1", "34"),
    ("compute", "3", "12000"),
];

fn run(way: &str, input: &str, optimisation: &str) -> Guest {
    Guest::compile("interrupted.c", &[optimisation], &[way, input])
}

/// What the first byte of the output depends on.
fn slice(guest: &mut Guest, follow: Follow) -> Slice {
    let place = Place::Output { stream: Stream::Stdout, offset: 0 };
    let cells = vec![Cell::Kernel { place, length: 1 }];
    let criterion = Question { time: guest.recording.end(), cells, why_here: false };
    guest.slice(&criterion, follow, &mut Unseen)
}

/// The lines of a slice that are not those of main.
fn own_lines(slice: &Slice) -> BTreeSet<u32> {
    lines(slice.statements.keys()).into_iter().filter(|line| *line < 73).collect()
}

#[test]
fn what_a_handler_computed_is_in_the_slice_of_what_was_made_of_it() {
    for optimisation in ["-O0", "-O1"] {
        let mut guest = run("fault", "4", optimisation);
        let data = own_lines(&slice(&mut guest, Follow::Data));
        assert!(data.is_superset(&BTreeSet::from([15, 37, 41])), "{optimisation}: {data:?}");
        assert!(!data.contains(&16) && !data.contains(&38), "{optimisation}: {data:?}");
        // That the handler ran is due to the place that could not be written to.
        let full = own_lines(&slice(&mut guest, Follow::Full));
        assert!(full.is_superset(&BTreeSet::from([15, 37, 38, 40, 41])), "{optimisation}: {full:?}");
        assert!(!full.contains(&16), "{optimisation}: {full:?}");
    }
}

#[test]
fn a_division_by_zero_leads_on_to_the_divisor() {
    for optimisation in ["-O0", "-O1"] {
        let mut guest = run("divide", "5", optimisation);
        let full = own_lines(&slice(&mut guest, Follow::Full));
        assert!(full.is_superset(&BTreeSet::from([15, 45, 47, 48])), "{optimisation}: {full:?}");
        let data = own_lines(&slice(&mut guest, Follow::Data));
        assert!(data.contains(&15) && !data.contains(&45), "{optimisation}: {data:?}");
    }
}

#[test]
fn what_was_in_registers_around_a_handler_keeps_its_origin() {
    for optimisation in ["-O0", "-O1", "-O2"] {
        let mut guest = run("raise", "4", optimisation);
        let data = own_lines(&slice(&mut guest, Follow::Data));
        assert!(data.is_superset(&BTreeSet::from([21, 52])), "{optimisation}: {data:?}");
        assert!(!data.contains(&22), "{optimisation}: {data:?}");
        // Interrupted again and again in the midst of a sum.
        let mut guest = run("compute", "3", optimisation);
        let own = own_lines(&slice(&mut guest, Follow::Data));
        assert!(own.contains(&69) && !own.contains(&33), "{optimisation}: {own:?}");
    }
}

#[test]
fn what_a_handler_put_into_a_register_comes_from_it() {
    let mut guest = run("skip", "1", "-O0");
    let data = own_lines(&slice(&mut guest, Follow::Data));
    assert!(data.is_superset(&BTreeSet::from([27, 28])), "{data:?}");
    assert!(!data.contains(&29), "{data:?}");
    // Where the program went on was the handler's decision.
    let full = own_lines(&slice(&mut guest, Follow::Full));
    assert!(full.contains(&29), "{full:?}");
}

#[test]
fn every_instant_of_a_run_with_signals_leads_to_the_same_end() {
    for (way, input, output) in WAYS {
        let mut guest = run(way, input, "-O0");
        let recording = &mut guest.recording;
        let text = recording.last().kernel.output.contents(Stream::Stdout);
        assert_eq!(text, format!("{output}\n").into_bytes(), "{way}");
        let (start, end, last) = (recording.program_start(), recording.end(), recording.last().state_hash());
        let mut trace = Trace::new();
        recording.at(start).run_traced(end, &mut trace);
        let mut times: Vec<Time> = trace.interruptions().iter().map(|found| found.time).collect();
        assert!(!times.is_empty(), "{way}");
        times.truncate(3);
        for time in times.iter().flat_map(|time| time.0 - 3..time.0 + 4) {
            let mut process = recording.at(Time(time));
            assert_eq!(process.machine.time, Time(time));
            let before = process.state_hash();
            // However the way there was divided.
            let mut other = recording.at(start);
            for step in time.saturating_sub(20)..=time {
                assert_eq!(other.run(Time(step), &mut Unwatched), Exit::Until);
            }
            assert_eq!(other.state_hash(), before, "{way} at {time}");
            process.run(Time(u64::MAX), &mut Unwatched);
            assert_eq!(process.state_hash(), last, "{way} from {time}");
        }
    }
}

#[test]
fn a_trace_tells_handlers_that_were_entered_and_left() {
    for (way, input, _) in WAYS {
        let mut guest = run(way, input, "-O0");
        let (start, end) = (guest.recording.program_start(), guest.recording.end());
        let mut trace = Trace::new();
        guest.recording.at(start).run_traced(end, &mut trace);
        let entered = |found: &&machine::Interruption| matches!(found.kind, InterruptionKind::Entered { .. });
        let entries = trace.interruptions().iter().filter(entered).count();
        let exits = trace.interruptions().len() - entries;
        match way {
            "fault" | "divide" => assert_eq!((entries, exits), (1, 0), "{way}"),
            "raise" | "skip" => assert_eq!((entries, exits), (1, 1), "{way}"),
            _ => assert!(entries > 10 && exits == entries, "{way}: {entries} {exits}"),
        }
    }
}

#[test]
fn each_run_of_a_handler_has_an_index_of_its_own_within_what_it_interrupts() {
    for (way, input, _) in WAYS {
        let mut guest = run(way, input, "-O0");
        let flow = Flow::new(&guest.program);
        let scope = Scope::default();
        let mut indexer = Indexer::new(&flow, &scope, keys_of_one(&guest.program));
        let mut seen = BTreeSet::new();
        let mut handled = 0;
        let end = guest.recording.end();
        guest.recording.forward(Time(0)..end, |segment| {
            indexer.follow_indices(segment.trace, segment.before, |_, index| {
                let names = index.regions.iter().filter_map(|region| match region {
                    Region::Call { name, .. } => Some(&**name),
                    _ => None,
                });
                let names: Vec<&str> = names.collect();
                if names.iter().any(|name| ["on_fault", "on_signal", "tick", "skip"].contains(name)) {
                    assert!(names.len() >= 3 && names[0] == "main", "{way}: {names:?}");
                    handled += 1;
                }
                assert!(seen.insert(format!("{index:?}")), "{way}: twice {index:?}");
            });
            true
        });
        assert!(handled > 0, "{way}");
        assert!(indexer.state().depth() < 20, "{way}: {}", indexer.state().depth());
    }
}
