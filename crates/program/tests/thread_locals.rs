//! Thread-local variables of libraries, in a guest that runs in the machine.

mod common;
#[path = "common/guest.rs"]
mod guest;

use std::path::PathBuf;
use std::process::Command;

use common::{Scratch, line_of};
use guest::stopped_at_line;
use program::{Limits, Place, Program, Reason, State};

/// Linked with the program, or loaded by it.
const LIBRARY: &str = r#"
__thread int PREFIX_first = 11;
__attribute__((tls_model(MODEL))) __thread long PREFIX_second = 22;
static __thread char PREFIX_text[] = "thread";
__thread int PREFIX_zero;
int PREFIX_use(int value) {
    PREFIX_first += value;
    PREFIX_second -= value;
    PREFIX_text[0] = 'T';
    return PREFIX_first;
}
"#;

const PROGRAM: &str = r#"
#include <dlfcn.h>
extern int early_use(int), fixed_use(int);
__thread int own = 3;
int stop(int n) {
    return n + own; /* stop */
}
int main(void) {
    early_use(1);
    fixed_use(2);
    void *library = dlopen(LATE, RTLD_NOW);
    if (!library)
        return 1;
    stop(1);
    int (*use)(int) = (int (*)(int))dlsym(library, "late_use");
    use(3);
    stop(2);
    return 0;
}
"#;

/// The program, with a library of each kind: found by the dynamic vector, beside the thread's own data, loaded while it runs.
fn build(scratch: &Scratch) -> PathBuf {
    let library = |prefix: &str, model: &str| {
        let source = scratch.path().join(format!("{prefix}.c"));
        let text = LIBRARY.replace("PREFIX", prefix).replace("MODEL", &format!("\"{model}\""));
        std::fs::write(&source, text).unwrap();
        let to = scratch.path().join(format!("lib{prefix}.so"));
        common::run(Command::new("gcc").args(["-g", "-shared", "-fPIC", "-o"]).arg(&to).arg(&source));
        to
    };
    let late = library("late", "global-dynamic");
    let linked = [library("early", "global-dynamic"), library("fixed", "initial-exec")];
    let linked = linked.map(|path| path.to_str().unwrap().to_owned());
    let late = format!("-DLATE=\"{}\"", late.display());
    scratch.compile(
        "gcc",
        "main.c",
        PROGRAM,
        &["-g", "-O0", "-Wl,--no-as-needed", &late, &linked[0], &linked[1]],
    )
}

fn printed(program: &Program, state: &State<'_>, name: &str) -> String {
    let found = program.find_globals(name);
    let variable = found.first().unwrap_or_else(|| panic!("no {name}"));
    program.print_variable(variable, None, state, Limits::default())
}

fn place(program: &Program, state: &State<'_>, name: &str) -> Place {
    program.place_of(&program.find_globals(name)[0], None, state)
}

#[test]
fn thread_locals_of_libraries_are_found_as_the_loader_placed_them() {
    let scratch = Scratch::new("thread-locals");
    let path = build(&scratch);
    let line = line_of(PROGRAM, "/* stop */");
    let (process, program) = stopped_at_line(&path, line, 1);
    let state = State::of(&process.machine);
    for (prefix, first, second) in [("early", "12", "21"), ("fixed", "13", "20"), ("late", "14", "19")] {
        assert_eq!(printed(&program, &state, &format!("{prefix}_first")), first, "{prefix}");
        assert_eq!(printed(&program, &state, &format!("{prefix}_second")), second, "{prefix}");
        assert_eq!(printed(&program, &state, &format!("{prefix}_text")), "\"Thread\"", "{prefix}");
        assert_eq!(printed(&program, &state, &format!("{prefix}_zero")), "0", "{prefix}");
    }
    assert_eq!(printed(&program, &state, "own"), "3");
}

#[test]
fn thread_locals_that_are_not_allocated_yet_have_no_place() {
    let scratch = Scratch::new("thread-locals-late");
    let path = build(&scratch);
    let (process, program) = stopped_at_line(&path, line_of(PROGRAM, "/* stop */"), 0);
    let state = State::of(&process.machine);
    assert_eq!(place(&program, &state, "late_first"), Place::Unavailable(Reason::NotAllocated));
    assert_eq!(printed(&program, &state, "early_first"), "12");
}

/// Only the loader knows, so that without its memory nobody does.
#[test]
fn thread_locals_are_unknown_where_the_loader_cannot_be_asked() {
    let scratch = Scratch::new("thread-locals-unknown");
    let path = build(&scratch);
    let (process, program) = stopped_at_line(&path, line_of(PROGRAM, "/* stop */"), 0);
    let whole = State::of(&process.machine);
    let blind = State::new(*whole.registers(), |_, _: &mut [u8]| false).with_thread_pointer(0x1000);
    assert_eq!(place(&program, &blind, "early_first"), Place::Unavailable(Reason::ThreadLocal));
    let alone = common::open(&scratch.path().join("libearly.so"));
    assert_eq!(place(&alone, &whole, "early_first"), Place::Unavailable(Reason::ThreadLocal));
}
