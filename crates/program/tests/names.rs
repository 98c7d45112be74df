//! Names for bytes of memory in a guest that runs in the machine.

mod common;
#[path = "common/guest.rs"]
mod guest;

use std::sync::Arc;

use common::{Scratch, line_of};
use guest::stopped_at_line;
use program::{Allocation, Allocations, NoAllocations, Position, Program, State};

const SOURCE: &str = r#"
#include <stdlib.h>
struct regex { int flags; char *text; };
struct addr { int kind; union { struct regex *regex; long line; } a; };
struct command { struct addr a1; short codes[4]; struct command *next; unsigned low : 3; unsigned rest : 13; char tail; };
struct vector { struct command *cmds; int used; };
struct vector vec;
struct command grid[2][3];
void *untyped;
static int visit(struct command *cur_cmd, int depth) {
    int local = depth;
    return local + cur_cmd->a1.kind; // here
}
int main(void) {
    int local = 7;
    struct command *chain = calloc(1, sizeof *chain);
    chain->next = calloc(1, sizeof *chain);
    chain->next->a1.a.regex = calloc(1, sizeof(struct regex));
    chain->next->a1.a.regex->text = "abc";
    vec.cmds = calloc(3, sizeof *vec.cmds);
    untyped = malloc(40);
    return visit(chain->next, local) + local;
}
"#;

struct Heap(Vec<Allocation>);

impl Allocations for Heap {
    fn block_at(&self, address: u64) -> Option<Allocation> {
        self.0.iter().find(|block| (block.start..block.start + block.size).contains(&address)).cloned()
    }
}

fn word(state: &State<'_>, address: u64) -> u64 {
    state.read_uint(address, 8).unwrap()
}

fn address_of(program: &Program, name: &str) -> u64 {
    program.find_symbol(name).unwrap().address
}

#[test]
fn bytes_are_named_by_the_shortest_way_from_a_live_variable() {
    let scratch = Scratch::new("names");
    for compiler in ["gcc", "clang"] {
        let path = scratch.compile(compiler, "names.c", SOURCE, &["-g", "-O0"]);
        let (process, program) = stopped_at_line(&path, line_of(SOURCE, "// here"), 0);
        let state = State::of(&process.machine);
        let backtrace = program.backtrace_of(&state, 100);
        let names = program.names(&state, &backtrace.frames, &NoAllocations);
        let name = |address, size| names.of_memory(address, size);

        let grid = address_of(&program, "grid");
        assert_eq!(name(grid + 40 * 4 + 16 + 2, 2).as_deref(), Some("grid[1][1].codes[1]"));
        assert_eq!(name(grid + 40 * 4, 4).as_deref(), Some("grid[1][1].a1.kind"));
        assert_eq!(name(grid + 8, 8).as_deref(), Some("grid[0][0].a1.a.regex"));
        assert_eq!(name(grid, 40).as_deref(), Some("grid[0][0]"));
        assert_eq!(name(grid, 80).as_deref(), Some("grid"));
        assert_eq!(name(grid + 34, 1).as_deref(), Some("grid[0][0].tail"));
        assert_eq!(name(grid + 33, 1).as_deref(), Some("grid[0][0].rest"));
        assert_eq!(name(grid + 32, 1).as_deref(), Some("grid[0][0]"), "two bit-fields share the byte");

        let vec = address_of(&program, "vec");
        let cmds = word(&state, vec);
        assert_eq!(name(cmds, 4).as_deref(), Some("vec.cmds->a1.kind"));
        assert_eq!(name(cmds + 40, 4), None, "nobody said that there is more than one");

        // visit's parameter is one step nearer than main's chain->next.
        let call = &program.calls_at(&backtrace.frames[0])[0];
        let place = program.place_of(call.variable("cur_cmd").unwrap(), Some(&backtrace.frames[0]), &state);
        let program::Place::Memory(parameter) = place else { panic!("{place}") };
        assert_eq!(name(parameter, 8).as_deref(), Some("cur_cmd"));
        let current = word(&state, parameter);
        assert_eq!(name(current, 4).as_deref(), Some("cur_cmd->a1.kind"));
        let regex = word(&state, current + 8);
        assert_eq!(name(regex, 4).as_deref(), Some("cur_cmd->a1.a.regex->flags"));
        let text = word(&state, regex + 8);
        assert_eq!(name(text + 1, 1).as_deref(), Some("cur_cmd->a1.a.regex->text[1]"));

        let outer = &program.calls_at(&backtrace.frames[1])[0];
        let local = program.place_of(outer.variable("local").unwrap(), Some(&backtrace.frames[1]), &state);
        let program::Place::Memory(local) = local else { panic!("{local}") };
        assert_eq!(name(local, 4).as_deref(), Some("main::local"), "visit has one of the same name");
        assert_eq!(name(16, 4), None);
    }
}

#[test]
fn heap_blocks_are_arrays_as_long_as_they_are_and_else_named_by_who_allocated_them() {
    let scratch = Scratch::new("names-heap");
    let path = scratch.compile("gcc", "names.c", SOURCE, &["-g", "-O0"]);
    let (process, program) = stopped_at_line(&path, line_of(SOURCE, "// here"), 0);
    let state = State::of(&process.machine);
    let cmds = word(&state, address_of(&program, "vec"));
    let untyped = word(&state, address_of(&program, "untyped"));
    let position = Some(Position { file: Arc::from("/src/compile.c"), line: 25, column: None });
    let heap = Heap(vec![
        Allocation { start: cmds, size: 120, position: None },
        Allocation { start: untyped, size: 40, position },
    ]);
    let backtrace = program.backtrace_of(&state, 100);
    let names = program.names(&state, &backtrace.frames, &heap);
    assert_eq!(names.of_memory(cmds + 80 + 34, 1).as_deref(), Some("vec.cmds[2].tail"));
    assert_eq!(
        names.of_memory(untyped + 8, 4).as_deref(),
        Some("block of 40 bytes allocated at compile.c:25")
    );
}

#[test]
fn variables_in_registers_are_named_and_lead_on() {
    let scratch = Scratch::new("names-registers");
    let source = SOURCE.replace("static int visit", "__attribute__((noipa)) int visit");
    let path = scratch.compile("gcc", "names.c", &source, &["-g", "-O1"]);
    let (process, program) = stopped_at_line(&path, line_of(&source, "// here"), 0);
    let state = State::of(&process.machine);
    let backtrace = program.backtrace_of(&state, 100);
    let names = program.names(&state, &backtrace.frames, &NoAllocations);
    assert_eq!(names.of_register(5), Some("cur_cmd"), "rdi is the first parameter");
    let current = state.registers().get(5).unwrap();
    assert_eq!(names.of_memory(current + 16, 2).as_deref(), Some("cur_cmd->codes[0]"));
}
