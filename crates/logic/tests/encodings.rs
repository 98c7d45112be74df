//! What is said of addresses, and what is made unknown, in recorded runs.

mod common;

use common::{Scratch, load};
use logic::concolic::{Addresses, Concolic, ConstraintKind, Fallback, Options, Unknown};
use machine::{Cpu, Observer, Time};
use program::Program;
use replay::{Cell, Recording};

const TABLE: &str = "
    int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    int input = 5;
    int main(void) {
        int index = input & 7;
        int found = table[index];
        int twice = index * 2;
        return found + twice;
    }";

/// The first time at which an instruction of a line runs that stores.
struct Line {
    program: Program,
    line: u32,
    now: (Time, u64),
    found: Option<Time>,
}

impl Observer for Line {
    fn instruction(&mut self, time: Time, address: u64, _: &[lift::Op], _: &Cpu) {
        self.now = (time, address);
    }

    fn store(&mut self, _: u64, _: u64) {
        let (time, address) = self.now;
        let place = self.program.locate(address);
        let position = place.position();
        let is_there = position.is_some_and(|p| p.line == self.line && p.file.ends_with("table.c"));
        if is_there && self.found.is_none() {
            self.found = Some(time);
        }
    }
}

fn record() -> (Scratch, Recording) {
    let scratch = Scratch::new("encodings");
    let program = scratch.compile_text("table", TABLE, "gcc", &["-O0"]);
    let recording = Recording::make(load(&program, &[], b""), Time(1_000_000));
    (scratch, recording)
}

fn stored_at_line(recording: &mut Recording, line: u32) -> Time {
    let program = Program::from_memory(&recording.last().machine.memory);
    let mut search = Line { program, line, now: (Time(0), 0), found: None };
    let (start, end) = (recording.start(), recording.end());
    recording.events(start..end, &mut search);
    search.found.expect("the line stores")
}

/// The index of a table is unknown.
fn follow(addresses: Addresses) -> Concolic {
    let (_scratch, mut recording) = record();
    let time = stored_at_line(&mut recording, 5);
    let (end, options) = (recording.end(), Options { addresses, ..Options::default() });
    Concolic::follow(&mut recording, time..end, &[Unknown::Result(time)], options)
}

#[test]
fn the_result_of_an_instance_is_unknown() {
    let concolic = follow(Addresses::Insensitive);
    let inputs = concolic.inputs();
    assert_eq!(inputs.len(), 1, "{inputs:?}");
    assert_eq!(inputs[0].value, 5);
}

#[test]
fn an_address_that_is_not_asserted_is_counted() {
    let concolic = follow(Addresses::Insensitive);
    assert!(concolic.constraints().iter().all(|constraint| constraint.kind != ConstraintKind::Address));
    let counted = concolic.fallbacks().counts().find(|(fallback, _)| *fallback == Fallback::Address);
    assert_eq!(counted, Some((Fallback::Address, 1)));
}

#[test]
fn an_address_is_asserted() {
    let mut concolic = follow(Addresses::Sensitive);
    let addresses: Vec<_> = concolic
        .constraints()
        .iter()
        .filter(|constraint| constraint.kind == ConstraintKind::Address)
        .copied()
        .collect();
    assert_eq!(addresses.len(), 1);
    assert_eq!(concolic.value(addresses[0].term), 1);
    assert_eq!(concolic.fallbacks().counts().find(|(fallback, _)| *fallback == Fallback::Address), None);
    // It goes by the index alone.
    assert_eq!(concolic.terms().variables([addresses[0].term]), [concolic.inputs()[0].variable]);
}

#[test]
fn a_division_that_faults_is_not_said_not_to() {
    let scratch = Scratch::new("faults");
    let text = "int main(int count, char **a) { int d = a[1][0] - '0', n = a[2][0]; return n / d; }";
    let program = scratch.compile_text("division", text, "gcc", &["-O0"]);
    for (divisor, divisions) in [("2", 1), ("0", 0)] {
        let mut recording = Recording::make(load(&program, &[divisor, "7"], b""), Time(1_000_000));
        let (start, end) = (recording.program_start(), recording.end());
        // The arguments' texts, which the stack begins with.
        let process = recording.at(start);
        let mut vector = [0; 8];
        process.machine.memory.peek(process.machine.cpu.get(lift::Reg::RSP) + 16, &mut vector);
        let cell = Cell::Memory { address: u64::from_le_bytes(vector), length: 1 };
        let unknown = Unknown::Cell { time: start, cell };
        let mut concolic = Concolic::follow(&mut recording, start..end, &[unknown], Options::default());
        let found = concolic.constraints().to_vec();
        let count = found.iter().filter(|constraint| constraint.kind == ConstraintKind::Division).count();
        assert_eq!(count, divisions, "{found:?}");
        assert!(found.iter().all(|constraint| concolic.value(constraint.term) == 1), "{found:?}");
    }
}

#[test]
fn too_many_terms_end_it() {
    let (_scratch, mut recording) = record();
    let time = stored_at_line(&mut recording, 5);
    let (end, options) = (recording.end(), Options { most_terms: 3, ..Options::default() });
    let concolic = Concolic::follow(&mut recording, time..end, &[Unknown::Result(time)], options);
    assert!(concolic.is_stopped());
    assert!(concolic.terms().len() < 100);
}
