//! Functions that left the stack by a jump, in backtraces of a guest that runs in the machine.

mod common;
#[path = "common/guest.rs"]
mod guest;

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Scratch, line_of};
use guest::stopped_at_line;
use program::{Limits, Rule, State};

const SOURCE: &str = include_str!("programs/chains.c");

/// Calls of `stop` that one round of the program makes.
const STOPS: usize = 7;

/// Frames up to main's, a line each: the function, its line unless it is the innermost one, `left` for one that is not on the
/// stack any more.
fn frames(path: &Path, source: &str, pass: usize, with_values: bool) -> String {
    let (process, program) = stopped_at_line(path, line_of(source, "/* stop */"), pass);
    let state = State::of(&process.machine);
    let mut text = String::new();
    for frame in program.backtrace_of(&state, 100).frames {
        let call = &program.calls_at(&frame)[0];
        let function = call.function.as_deref().unwrap();
        text.push_str(function);
        if frame.rule == Rule::TailCall {
            let _ = write!(text, " left at {}", call.position.as_ref().unwrap().line);
        }
        for parameter in call.parameters().filter(|_| with_values) {
            let value = program.print_variable(parameter, Some(&frame), &state, Limits::default());
            let _ = write!(text, ", {} = {value}", parameter.name);
        }
        text.push('\n');
        if function == "main" {
            break;
        }
    }
    text
}

fn line(marker: &str) -> u32 {
    line_of(SOURCE, marker)
}

#[test]
fn a_chain_of_jumps_is_told_with_what_was_passed() {
    let scratch = Scratch::new("tails-chain");
    for options in [&["-g", "-O2"][..], &["-gdwarf-4", "-O2"], &["-g", "-O2", "-static"]] {
        let path = scratch.compile("gcc", "chains.c", SOURCE, options);
        let expected = format!(
            "stop, number = 21\nlast left at {}, number = 7\nmiddle left at {}, number = 0\nfirst left at {}, number = 0\nmain\n",
            line("stop(number * 3)"),
            line("last(number + 7)"),
            line("middle(doubled)"),
        );
        assert_eq!(frames(&path, SOURCE, 0, true), expected, "{options:?}");
    }
}

#[test]
fn of_several_chains_the_common_ends_are_told() {
    let scratch = Scratch::new("tails-fork");
    for compiler in ["gcc", "clang"] {
        let path = scratch.compile(compiler, "chains.c", SOURCE, &["-g", "-O2"]);
        let last = format!("last left at {}", line("stop(number * 3)"));
        let to_fork = format!("to_fork left at {}", line("fork(number + 4)"));
        assert_eq!(frames(&path, SOURCE, 1, false), format!("stop\n{last}\n{to_fork}\nmain\n"), "{compiler}");
        assert_eq!(frames(&path, SOURCE, 2, false), format!("stop\n{last}\nmain\n"), "{compiler}");
    }
}

#[test]
fn of_a_function_that_calls_itself_only_the_last_call_is_told() {
    let scratch = Scratch::new("tails-self");
    for compiler in ["gcc", "clang"] {
        let path = scratch.compile(compiler, "chains.c", SOURCE, &["-g", "-O2"]);
        let expected = format!("stop\nping left at {}\nmain\n", line("return stop(number);"));
        for round in [0, 3] {
            assert_eq!(frames(&path, SOURCE, round * STOPS + 4, false), expected, "{compiler} {round}");
        }
    }
}

#[test]
fn jumps_that_nobody_can_know_are_not_told() {
    let scratch = Scratch::new("tails-unknown");
    let path = scratch.compile("gcc", "chains.c", SOURCE, &["-g", "-O2"]);
    // Two jumps to the same place, a jump through a pointer, and no jump at all.
    for pass in [3, 5, 6] {
        assert_eq!(frames(&path, SOURCE, pass, false), "stop\nmain\n", "{pass}");
    }
}

/// Each of these functions can jump to two others: the number of chains doubles from level to level.
fn many_chains(levels: usize) -> String {
    let mut source = "#define APART __attribute__((noinline, noclone, no_icf))\nvolatile int sink;\n\
                      APART static int stop(int n) {\n    sink = n; /* stop */\n    return sink + n;\n}\n\
                      APART static int a0(int n) { sink = 1; return stop(n); }\n\
                      APART static int b0(int n) { sink = 2; return stop(n + 1); }\n"
        .to_owned();
    for level in 1..levels {
        for side in ["a", "b"] {
            let below = level - 1;
            let _ = writeln!(
                source,
                "APART static int {side}{level}(int n) {{ sink = n; if (n & {level}) return a{below}(n + 3); \
                 return b{below}(n * 5); }}"
            );
        }
    }
    let _ = writeln!(source, "int main(void) {{ return a{}(3) & 1; }}", levels - 1);
    source
}

#[test]
fn more_chains_than_can_be_tried_end_soon_and_say_nothing() {
    let scratch = Scratch::new("tails-many");
    let source = many_chains(30);
    let path = scratch.compile("gcc", "many.c", &source, &["-g", "-O2"]);
    let start = Instant::now();
    assert_eq!(frames(&path, &source, 0, false), "stop\nmain\n");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
