//! Expressions about stopped guests.

mod common;
#[path = "common/guest.rs"]
mod guest;

use common::{Scratch, line_of};
use guest::stopped_at_line;
use program::{Expression, Place, Program, State, TypedValue};

const C: &str = r#"#include <stdio.h>
#include <string.h>

enum colour { RED, GREEN = 5, BLUE };
enum { LEFT_OUT = 77 };
typedef struct node { int value; struct node *next; } node_t;
struct mixed {
    unsigned char small;
    short numbers[3];
    unsigned low : 3;
    signed high : 5;
    double real;
    union { int as_int; float as_float; };
    enum colour colour;
    const char *name;
    char text[4];
};
static int counter = 42;
int matrix[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
float ratio = 0.25f;
long double exact = 2.5L;

void stop(struct mixed *m, node_t list, int xs) {
    int counter = 7;
    unsigned big = 3000000000u;
    {
        int inner = xs + 1;
        printf("%d\n", inner + counter); /* here */
    }
    printf("%p %p %u\n", (void *) m, (void *) list.next, big);
}

int main(void) {
    node_t last = { 30, NULL };
    node_t middle = { 20, &last };
    node_t first = { 10, &middle };
    struct mixed m = { 200, { -1, -2, -3 }, 5, -3, 1.5, { .as_float = 1.0f }, BLUE, "name", { 'a', 'b', 'c', 'd' } };
    stop(&m, first, 4);
    return counter;
}
"#;

struct Stopped {
    process: linux::Process,
    program: Program,
}

impl Stopped {
    fn evaluate(&self, text: &str) -> Result<TypedValue, String> {
        let state = State::of(&self.process.machine);
        let frame = self.program.backtrace_of(&state, 1).frames.remove(0);
        let expression = Expression::parse(text).map_err(|error| error.to_string())?;
        expression.evaluate(&self.program, &state, &frame).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(&self, text: &str, value: &str) {
        assert_eq!(self.evaluate(text).map(|value| value.text), Ok(value.to_owned()), "{text}");
    }

    #[track_caller]
    fn fails(&self, text: &str, message: &str) {
        assert_eq!(self.evaluate(text).map(|value| value.text), Err(message.to_owned()), "{text}");
    }
}

fn stopped(name: &str, compiler: &str, file: &str, source: &str) -> (Scratch, Stopped) {
    let scratch = Scratch::new(name);
    let path = scratch.compile(compiler, file, source, &["-g", "-O0"]);
    let (process, program) = stopped_at_line(&path, line_of(source, "/* here */"), 0);
    (scratch, Stopped { process, program })
}

#[test]
fn what_is_visible_at_a_line_can_be_named() {
    for compiler in ["gcc", "clang"] {
        let (_scratch, here) = stopped(&format!("expressions-{compiler}"), compiler, "here.c", C);
        here.check("xs", "4");
        here.check("inner == xs + 1", "1");
        here.check("counter", "7");
        here.check("list.next->next->value * 2", "60");
        here.check("*list.next->next", "{value = 30, next = 0x0}");
        here.check("list.next->next->next == NULL && !list.next->next->next", "1");
        here.check("m->numbers[2] + m->small", "197");
        here.check("m->low", "5");
        here.check("m->high", "-3");
        here.check("m->real * 2", "3");
        here.check("m->as_int == 0x3f800000 && m->as_float == 1", "1");
        here.check("m->colour == BLUE && BLUE == 6 && RED == 0", "1");
        here.check("m->colour", "BLUE");
        here.check("LEFT_OUT", "77");
        here.check("matrix[1][2] + **matrix", "7");
        here.check("*(matrix[1] + 1)", "5");
        here.check("sizeof matrix + sizeof(matrix[0]) + sizeof(node_t)", "52");
        here.check("ratio < 0.3 && exact == 2.5", "1");
        here.check("big > 0 && (int) big < 0", "1");
        here.check("m->name == \"name\" && m->name != \"nam\" && m->text == \"abcd\"", "1");
        here.check("m->name[1] == 'a'", "1");
        here.check("&m->numbers[2] - m->numbers", "2");
        here.check("((node_t *) list.next)->value + ((struct node *) list.next)->value", "40");
        here.check("(unsigned char) -xs", "252");
        here.check("m.small", "200 '\\310'");
        here.check("xs > 3 ? m->numbers[0] : 1 / 0", "-1");
    }
}

#[test]
fn what_is_not_there_is_told_with_what_is_near() {
    let (_scratch, here) = stopped("expressions-wrong", "gcc", "here.c", C);
    here.fails("x == 1", "there is no variable `x` there; did you mean `m` or `xs`?");
    here.fails("inne", "there is no variable `inne` there; did you mean `inner`?");
    here.fails("list.nxt", "`node_t` has no member `nxt`; did you mean `next`?");
    here.fails("list + 1", "`list` has members, and no value of its own; name one");
    here.fails("xs.value", "a `int` has no members");
    here.fails(
        "list.next->next->next->value",
        "`list.next->next->next->value` has no value there: Cannot access memory at address 0x0",
    );
    here.fails("&m->low", "`m->low` has no address: it is a bit-field");
    here.fails("xs == \"4\"", "a text can only be compared by == and != with characters");
}

#[test]
fn a_place_is_told_with_its_value() {
    let (_scratch, here) = stopped("expressions-places", "gcc", "here.c", C);
    let matrix = here.program.find_symbol("matrix").unwrap().address;
    let element = here.evaluate("matrix[1][0]").unwrap();
    assert_eq!((element.place, element.size), (Some(Place::Memory(matrix + 12)), Some(4)));
    let row = here.evaluate("matrix[1]").unwrap();
    assert_eq!((row.place, row.size, row.truth), (Some(Place::Memory(matrix + 12)), Some(12), Some(true)));
    assert_eq!(row.type_name, "int [3]");
    let Some(Place::Pieces(pieces)) = here.evaluate("m->high").unwrap().place else { panic!("no pieces") };
    assert_eq!((pieces[0].bits, pieces[0].first_bit), (5, 3));
    let computed = here.evaluate("xs + 1").unwrap();
    assert_eq!((computed.place, computed.type_name.as_str()), (None, "int"));
    assert_eq!(here.evaluate("list").unwrap().truth, None);
}

#[test]
fn optimised_code_says_what_is_gone() {
    let source = "int __attribute__((noinline)) stop(int x, int unused) {\n    int gone = unused * 3;\n    (void) gone;\n    return x + 1; /* here */\n}\nint main(int argc, char **argv) { (void) argv; return stop(argc, 5) - 2; }\n";
    let scratch = Scratch::new("expressions-optimised");
    let path = scratch.compile("gcc", "here.c", source, &["-g", "-O2"]);
    let (process, program) = stopped_at_line(&path, line_of(source, "/* here */"), 0);
    let here = Stopped { process, program };
    let x = here.evaluate("x").unwrap();
    assert_eq!((x.text.as_str(), x.place), ("1", Some(Place::Register(5))));
    here.check("x + 1", "2");
}

#[test]
fn members_of_this_references_and_bases_are_found_in_cpp() {
    let source = r#"#include <cstdio>
namespace space { int depth = 3; }
struct Base { int base = 11; };
struct Thing : Base {
    static int shared;
    int own = 22;
    int show(int &reference) {
        return std::printf("%d\n", own + reference); /* here */
    }
};
int Thing::shared = 33;
int main() {
    Thing thing;
    int number = 4;
    return thing.show(number) + space::depth + Thing::shared;
}
"#;
    let scratch = Scratch::new("expressions-cpp");
    let path = scratch.compile("g++", "here.cc", source, &["-g", "-O0"]);
    let mut process = linux::Process::load(&linux::Config::new(&path)).unwrap();
    // The program itself is mapped from the start.
    let program = Program::from_memory(&process.machine.memory);
    let line = program.find_line("here.cc", line_of(source, "/* here */")).unwrap();
    while !line.starts.contains(&process.machine.cpu.rip) {
        let next = machine::Time(process.machine.time.0 + 1);
        assert!(matches!(process.run(next, &mut machine::Unwatched), linux::Exit::Until));
    }
    let here = Stopped { program: Program::from_memory(&process.machine.memory), process };
    here.check("own + base + reference", "37");
    here.check("this->own == own && this->base == 11", "1");
    here.check("space::depth", "3");
    here.check("this->shared", "33");
}
