//! Bytes that go through files, pipes, mappings and streams keep their origin.

mod guest;

use std::collections::BTreeSet;

use guest::{Guest, lines};
use linux::Place;
use linux::fs::Stream;
use machine::Time;
use replay::{Cell, Follow, Made, Question, Slice, Source, Step, Watch};

/// The steps into the output.
#[derive(Default)]
struct Steps(Vec<Step>);

impl Watch for Steps {
    fn step(&mut self, step: Step) {
        self.0.push(step);
    }
}

/// The data slice of a byte of standard output, with its steps.
fn slice_of(guest: &mut Guest, offset: u64) -> (Slice, Vec<Step>) {
    let place = Place::Output { stream: Stream::Stdout, offset };
    let cells = vec![Cell::Kernel { place, length: 1 }];
    let question = Question { time: guest.recording.end(), cells, why_here: false };
    let mut steps = Steps::default();
    let slice = guest.slice(&question, Follow::Data, &mut steps);
    (slice, steps.0)
}

/// The program puts out the byte that went through, a constant, and another byte that went through.
fn check(way: &str, through: &[u32]) {
    let mut guest = Guest::compile("channels.c", &["-O0"], &[way, "xy"]);
    let output = guest.recording.last().kernel.output.contents(Stream::Stdout);
    assert_eq!(output, b"xz.", "{way}");
    for (offset, own) in [(0, [72, 75, 88]), (1, [73, 76, 86])] {
        let (slice, _) = slice_of(&mut guest, offset);
        let expected: BTreeSet<u32> = through.iter().copied().chain(own).collect();
        assert_eq!(lines(slice.statements.keys()), expected, "{way}, byte {offset}");
        // The byte of the argument, and what led to it.
        assert!(slice.sources.keys().all(|source| !matches!(source, Source::Uninitialised { .. })), "{way}");
    }
}

#[test]
fn through_a_file() {
    check("file", &[17, 19]);
    check("at", &[24, 25]);
}

#[test]
fn through_a_pipe() {
    check("pipe", &[32, 33]);
}

#[test]
fn in_pieces() {
    check("vector", &[40, 42]);
}

#[test]
fn through_a_mapping() {
    check("mapping", &[47, 48, 49]);
}

#[test]
fn sent_from_one_file_to_another() {
    check("send", &[57, 58, 59]);
}

#[test]
fn through_a_stream() {
    // The stream that fdopen made, and rewind, which writes out what was buffered.
    check("buffered", &[64, 65, 66, 67]);
}

/// When a byte of standard output was written.
fn write_time(guest: &mut Guest, offset: u64) -> Time {
    let mut found = None;
    guest.recording.forward(Time(0)..Time(u64::MAX), |segment| {
        for call in segment.calls {
            let writes = call.moved.iter().any(|moved| match moved.to {
                Place::Output { stream: Stream::Stdout, offset: start } => {
                    (start..start + moved.length).contains(&offset)
                }
                _ => false,
            });
            found = found.or(writes.then_some(call.time));
        }
        found.is_none()
    });
    found.unwrap()
}

#[test]
fn a_byte_of_output_has_an_emission_and_a_write() {
    let mut guest = Guest::compile("channels.c", &["-O0"], &["file", "xy"]);
    // Written at once: emission and write are one.
    let (_, steps) = slice_of(&mut guest, 0);
    let emission = steps.iter().find(|step| step.user == 0).unwrap();
    assert_eq!(emission.made, Made::Kernel(Place::Output { stream: Stream::Stdout, offset: 0 }));
    assert_eq!(emission.time, write_time(&mut guest, 0));
    // Put into the stream's buffer, and written when the program ends.
    let (slice, steps) = slice_of(&mut guest, 1);
    let emission = steps.iter().find(|step| step.user == 0).unwrap();
    assert!(emission.in_library && matches!(emission.made, Made::Memory { .. }), "{emission:?}");
    assert!(emission.time < write_time(&mut guest, 1));
    let nearest: Vec<_> = slice.statements.iter().filter(|(_, share)| share.distance == 1).collect();
    let [(stmt, share)] = nearest[..] else { panic!("{nearest:?}") };
    assert_eq!(stmt.line, 86);
    assert_eq!(share.last, emission.time);
}
