//! Variables, where they are and what they hold, in a guest that runs in the machine.

mod common;
#[path = "common/guest.rs"]
mod guest;

use common::{Scratch, line_of};
use guest::stopped_at_line;
use program::{Frame, Limits, Place, Program, State, ValueKind, VariableKind};

const SOURCE: &str = include_str!("programs/places.c");

fn printed(program: &Program, state: &State<'_>, frame: &Frame) -> Vec<String> {
    let call = &program.calls_at(frame)[0];
    let print = |variable| program.print_variable(variable, Some(frame), state, Limits::default());
    call.variables().map(|variable| format!("{} = {}", variable.name, print(variable))).collect()
}

#[test]
fn variables_of_a_frame_are_found_with_their_values() {
    let scratch = Scratch::new("variables");
    for (compiler, options) in [
        ("gcc", &["-g", "-O0"][..]),
        ("gcc", &["-g", "-gdwarf-4", "-no-pie"]),
        ("clang", &["-g", "-O0"]),
        ("gcc", &["-g", "-O0", "-static"]),
    ] {
        let path = scratch.compile(compiler, "places.c", SOURCE, options);
        let (process, program) = stopped_at_line(&path, line_of(SOURCE, "/* stop */"), 1);
        let state = State::of(&process.machine);
        let frames = program.backtrace_of(&state, 100).frames;
        let what = format!("{compiler} {options:?}");
        let mut texts = printed(&program, &state, &frames[0]);
        // clang has a variable for the length of an array.
        texts.retain(|text| !text.starts_with("__vla"));
        texts.sort();
        let pair = texts.remove(texts.iter().position(|text| text.starts_with("pair")).unwrap());
        assert!(pair.starts_with("pair = 0x") && pair.ends_with(" <table+12>"), "{what}: {pair}");
        assert_eq!(
            texts,
            ["calls = 12", "count = 2", "state = BUSY", "sum = 0", "values = {0, 2}", "weight = 1.5"],
            "{what}"
        );
        let caller = printed(&program, &state, &frames[1]);
        assert!(
            caller[0].starts_with("heap = 0x") && caller[1].starts_with("result = "),
            "{what}: {caller:?}"
        );
        let call = &program.calls_at(&frames[0])[0];
        assert_eq!(call.variable("calls").unwrap().kind, VariableKind::FunctionStatic);
        assert_eq!(call.function.as_deref(), Some("show"));
        assert_eq!(call.position.as_ref().unwrap().line, line_of(SOURCE, "/* stop */"));
        let (name, _) = program.type_of_variable(call.variable("values").unwrap(), Some(&frames[0]), &state);
        assert_eq!(name, "int [2]", "{what}");
    }
}

#[test]
fn inner_variables_come_before_those_that_they_hide() {
    let scratch = Scratch::new("variables-hidden");
    let path = scratch.compile("gcc", "places.c", SOURCE, &["-g", "-O0"]);
    let (process, program) = stopped_at_line(&path, line_of(SOURCE, "values[i] = sum"), 1);
    let state = State::of(&process.machine);
    let frame = &program.backtrace_of(&state, 10).frames[0];
    let call = &program.calls_at(frame)[0];
    let names: Vec<Vec<&str>> = call
        .scopes
        .iter()
        .map(|scope| scope.variables.iter().map(|variable| variable.name.as_str()).collect())
        .collect();
    assert_eq!(names[..2], [vec!["sum"], vec!["i"]]);
    assert_eq!(
        program.print_variable(call.variable("sum").unwrap(), Some(frame), &state, Limits::default()),
        "2"
    );
}

#[test]
fn globals_statics_and_thread_locals_are_found_by_name() {
    let scratch = Scratch::new("variables-globals");
    for options in [&["-g"][..], &["-g", "-static"], &["-g", "-no-pie"]] {
        let path = scratch.compile("gcc", "places.c", SOURCE, options);
        let (process, program) = stopped_at_line(&path, line_of(SOURCE, "/* stop */"), 0);
        let state = State::of(&process.machine);
        let print = |name: &str| {
            let found = program.find_globals(name);
            let variable = found.first().unwrap_or_else(|| panic!("no {name}"));
            (variable.kind, program.print_variable(variable, None, &state, Limits::default()))
        };
        assert_eq!(print("per_thread"), (VariableKind::Global, "44".to_owned()), "{options:?}");
        assert_eq!(
            print("table"),
            (
                VariableKind::FileStatic,
                r#"{{left = 1, name = "one\000\000\000\000"}, {left = 2, name = "two\000\000\000\000"}, {left = 0, name = "\000\000\000\000\000\000\000"}}"#.to_owned()
            )
        );
        assert!(print("title").1.ends_with(" \"places\""));
        assert!(program.find_globals("no_such_variable").is_empty());
        let frame = &program.backtrace_of(&state, 10).frames[0];
        assert!(program.unit_globals(frame).iter().any(|variable| variable.name == "table"));
        assert_eq!(program.find_variable("count", frame).unwrap().kind, VariableKind::Parameter);
        assert_eq!(program.find_variable("title", frame).unwrap().kind, VariableKind::Global);
    }
}

#[test]
fn optimised_variables_are_in_registers_or_said_to_be_gone() {
    let scratch = Scratch::new("variables-optimised");
    let path = scratch.compile("gcc", "places.c", SOURCE, &["-g", "-O1"]);
    let (process, program) = stopped_at_line(&path, line_of(SOURCE, "/* stop */"), 0);
    let state = State::of(&process.machine);
    let frame = &program.backtrace_of(&state, 10).frames[0];
    let call = &program.calls_at(frame)[0];
    let place = |name: &str| program.place_of(call.variable(name).unwrap(), Some(frame), &state);
    assert!(matches!(place("pair"), Place::Register(_)), "{}", place("pair"));
    let value = program.value_of(call.variable("pair").unwrap(), Some(frame), &state);
    let ValueKind::Pointer(address) = value.kind else { panic!("{value:?}") };
    assert_eq!(state.read_uint(address, 4), Some(77));
    let state_value = program.value_of(call.variable("state").unwrap(), Some(frame), &state);
    assert_eq!(state_value.kind, ValueKind::Enum { value: 3, name: "BUSY".to_owned() });
}

/// The register of the parameter is used for something else before the marked line.
const PASSED: &str = r#"
volatile double sink;
__attribute__((noipa)) static void show(float weight) {
    sink = weight * 2;
    sink = sink + 1;
    sink = sink * 3; /* stop */
}
int main(void) {
    show(0.25f);
    return 0;
}
"#;

#[test]
fn a_float_that_was_passed_is_known_from_the_call() {
    let scratch = Scratch::new("variables-passed");
    let path = scratch.compile("gcc", "passed.c", PASSED, &["-g", "-O1"]);
    let (process, program) = stopped_at_line(&path, line_of(PASSED, "/* stop */"), 0);
    let state = State::of(&process.machine);
    let frames = program.backtrace_of(&state, 10).frames;
    assert_eq!(printed(&program, &state, &frames[0]), ["weight = 0.25"]);
}

const CLASSES: &str = r#"
namespace room {
struct shape {
    static int count;
    int sides;
};
int shape::count = 6;
}
int main() {
    return room::shape::count; /* stop */
}
"#;

/// clang declares them as members, gcc as variables of the class.
#[test]
fn variables_of_classes_are_found_by_their_whole_names() {
    let scratch = Scratch::new("variables-of-classes");
    for (compiler, options) in
        [("g++", &["-g"][..]), ("clang++", &["-g"]), ("clang++", &["-gdwarf-4"]), ("g++", &["-gdwarf-4"])]
    {
        let path = scratch.compile(compiler, "classes.cc", CLASSES, options);
        let (process, program) = stopped_at_line(&path, line_of(CLASSES, "/* stop */"), 0);
        let state = State::of(&process.machine);
        let found = program.find_globals("room::shape::count");
        assert_eq!(found.len(), 1, "{compiler} {options:?}");
        assert_eq!(program.print_variable(&found[0], None, &state, Limits::default()), "6");
        assert!(program.globals().iter().any(|variable| variable.name == "room::shape::count"));
    }
}
