//! Random expressions: what gcc compiles them to is what they mean.

mod common;
#[path = "common/guest.rs"]
mod guest;

use std::fmt::Write as _;
use std::process::Command;

use common::{Random, Scratch, line_of};
use guest::stopped_at_line;
use program::{Expression, State};

const HEAD: &str = r#"#include <stdio.h>
char c = -3;
signed char sc = -128;
unsigned char uc = 200;
short s = -300;
unsigned short us = 65000;
int i = -7;
int big = 2147483647;
unsigned u = 4000000000u;
long l = -5000000000;
unsigned long ul = 18446744073709551612ul;
float f = 1.1f;
double d = -2.3;
_Bool b = 1;
enum e { A, B = 5 } e = B;
struct { int x; unsigned low : 5; signed high : 4; unsigned long wide : 40; } st = { -1, 31, -8, 1ul << 39 };
int arr[2][3] = { { 1, -2, 3 }, { -4, 5, -6 } };
int *p = &arr[0][1];
static void show(unsigned long size, int is_float, double real, long long whole) {
    if (is_float)
        printf("%lu %.17g\n", size, real);
    else
        printf("%lu %lld\n", size, whole);
}
#define SHOW(E) show(sizeof(E), _Generic((E), float: 1, double: 1, default: 0), (double) (E), (long long) (E));
int main(void) {
    i = i; /* here */
"#;

const LEAVES: [&str; 24] = [
    "c",
    "sc",
    "uc",
    "s",
    "us",
    "i",
    "big",
    "u",
    "l",
    "ul",
    "f",
    "d",
    "b",
    "e",
    "B",
    "st.x",
    "(+st.low)",
    "(+st.high)",
    "arr[1][2]",
    "p[1]",
    "*(p - 1)",
    "'x'",
    "0x80000000",
    "3000000000",
];

struct Generator(Random);

impl Generator {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.0.below(from.len())]
    }

    /// Any expression; `None` of the operators that it has can go wrong for any value.
    fn any(&mut self, depth: usize) -> String {
        match self.0.below(if depth == 0 { 1 } else { 8 }) {
            0 => self.pick(&LEAVES).to_owned(),
            1 => self.whole(depth),
            2 => format!("({} {})", self.pick(&["-", "+", "!"]), self.any(depth - 1)),
            3 => format!("(({}) {})", self.pick(&["double", "float", "_Bool"]), self.any(depth - 1)),
            4 => format!("({} ? {} : {})", self.any(depth - 1), self.any(depth - 1), self.any(depth - 1)),
            5 => {
                let operator = self.pick(&["<", "<=", ">", ">=", "==", "!=", "&&", "||"]);
                format!("({} {operator} {})", self.any(depth - 1), self.any(depth - 1))
            }
            _ => {
                let operator = self.pick(&["+", "-", "*"]);
                format!("({} {operator} {})", self.any(depth - 1), self.any(depth - 1))
            }
        }
    }

    /// An expression of an integer type: no leaf of it is a float.
    fn whole(&mut self, depth: usize) -> String {
        match self.0.below(if depth == 0 { 1 } else { 7 }) {
            0 => loop {
                let leaf = self.pick(&LEAVES);
                if !matches!(leaf, "f" | "d") {
                    return leaf.to_owned();
                }
            },
            1 => format!("(~{})", self.whole(depth - 1)),
            2 => {
                let to =
                    ["char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "size_t"];
                format!("(({}) {})", self.pick(&to), self.whole(depth - 1))
            }
            3 => format!("({} {} {})", self.whole(depth - 1), self.pick(&["<<", ">>"]), self.0.below(32)),
            4 => format!("({} {} {})", self.whole(depth - 1), self.pick(&["/", "%"]), 2 + self.0.below(100)),
            _ => {
                let operator = self.pick(&["+", "-", "*", "&", "|", "^", "<", "=="]);
                format!("({} {operator} {})", self.whole(depth - 1), self.whole(depth - 1))
            }
        }
    }
}

#[test]
fn random_expressions_mean_what_gcc_makes_of_them() {
    let mut generator = Generator(Random(7));
    let expressions: Vec<String> = (0..600).map(|_| generator.any(4)).collect();
    let mut source = HEAD.replace("#include <stdio.h>", "#include <stdio.h>\n#include <stddef.h>");
    for expression in &expressions {
        let _ = writeln!(source, "    SHOW({expression})");
    }
    source.push_str("    return 0;\n}\n");
    let scratch = Scratch::new("expressions-by-gcc");
    let path = scratch.compile("gcc", "random.c", &source, &["-g", "-O0", "-w", "-fwrapv"]);
    let native = Command::new(&path).output().unwrap();
    assert!(native.status.success());
    let (process, program) = stopped_at_line(&path, line_of(&source, "/* here */"), 0);
    let state = State::of(&process.machine);
    let frame = program.backtrace_of(&state, 1).frames.remove(0);
    let lines = String::from_utf8(native.stdout).unwrap();
    assert_eq!(lines.lines().count(), expressions.len());
    for (text, line) in expressions.iter().zip(lines.lines()) {
        let (size, value) = line.split_once(' ').unwrap();
        let found = Expression::parse(text).unwrap().evaluate(&program, &state, &frame);
        let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found.size.unwrap().to_string(), size, "{text} is a {}", found.type_name);
        let is_same = match found.type_name.as_str() {
            "float" => same(f64::from(found.text.parse::<f32>().unwrap()), value),
            "double" => same(found.text.parse().unwrap(), value),
            // Characters are shown as such, too; unsigned ones wrap when they are printed.
            _ => match found.text.split(' ').next().unwrap() {
                "B" => value == "5",
                "true" => value == "1",
                "false" => value == "0",
                number => number.parse::<i128>().unwrap() as i64 == value.parse::<i64>().unwrap(),
            },
        };
        assert!(is_same, "{text}: {} and not {value}", found.text);
    }
}

fn same(found: f64, printed: &str) -> bool {
    let native: f64 = printed.trim_start_matches('-').parse().unwrap();
    let native = if printed.starts_with('-') { -native } else { native };
    found == native || found.is_nan() && native.is_nan()
}
