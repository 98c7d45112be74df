//! The routines of the C library that read more than they need: no string that fits its block is a fault, and every one that does not is.

mod guest;

use std::path::Path;

use guest::compile;
use linux::fs::Stream;
use linux::{Config, Exit, HeapMode, Process};
use machine::{Cause, FaultKind, Time, Unwatched};
use program::{Program, Scope, State, Trust};

const FUNCTIONS: u64 = 21;

fn process(options: &[&str], arguments: &[&str]) -> Process {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/lengths.c");
    // The compiler would know what many of these functions return.
    let options = [&["-O0", "-fno-builtin"], options].concat();
    let mut config = Config::new(compile("gcc", &source, &options));
    config.argv.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    config.stdin_open = true;
    config.heap = HeapMode::Checked;
    Process::load(&config).unwrap()
}

#[test]
fn strings_that_fit_their_blocks_exactly_are_no_fault_at_any_length_and_offset() {
    for options in [&[][..], &["-static"]] {
        let mut process = process(options, &["fit"]);
        let exit = process.run(Time(u64::MAX), &mut Unwatched);
        assert_eq!(exit, Exit::Exited(0), "{options:?}");
        assert_eq!(process.kernel.output.contents(Stream::Stdout), b"all fit\n");
    }
}

#[test]
fn strings_without_an_end_in_their_block_are_a_fault_of_the_function_that_passed_them() {
    for options in [&[][..], &["-static"]] {
        let mut before = process(options, &[]);
        assert_eq!(before.run(Time(u64::MAX), &mut Unwatched), Exit::Input);
        let program = Program::from_memory(&before.machine.memory);
        let scope = Scope::new(&[], &[]).unwrap();
        for function in 0..FUNCTIONS {
            for length in 0..=200 {
                for offset in [length % 64, (length * 29 + 5) % 64] {
                    let mut process = before.fork();
                    process.kernel.files.feed_input(format!("{function} {length} {offset}\n").as_bytes());
                    process.kernel.files.feed_input(b"");
                    let exit = process.run(Time(u64::MAX), &mut Unwatched);
                    let context = format!("{options:?} function {function} length {length} offset {offset}");
                    let Exit::Killed { fault: Some(fault), .. } = &exit else {
                        panic!("{context}: {exit:?}")
                    };
                    let FaultKind::Memory(access) = fault.kind else { panic!("{context}: {fault:?}") };
                    assert_eq!(access.cause, Cause::Forbidden, "{context}");
                    let nearby = process.kernel.checked_heap.nearby(access.address).unwrap();
                    assert_eq!(nearby.relation, linux::Relation::After(0), "{context}");
                    let caller = caller_in_scope(&process, &program, &scope);
                    assert_eq!(caller.as_deref(), Some("probe"), "{context}");
                }
            }
        }
    }
}

/// The innermost function of the program itself.
fn caller_in_scope(process: &Process, program: &Program, scope: &Scope) -> Option<String> {
    let state = State::of(&process.machine);
    let frames = program.backtrace_of(&state, 16).frames;
    let own = frames.iter().find(|frame| scope.of(program, frame.lookup) == Trust::InScope)?;
    program.symbol_at(own.lookup).map(str::to_owned)
}
