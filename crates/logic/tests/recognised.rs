//! What compilers made of an expression is recognised as what was written.

mod common;

use common::{Scratch, load};
use logic::concolic::{Concolic, Options};
use logic::solver::{Choice, Limits, Solver};
use machine::Time;
use replay::Cell;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

type Symbols = HashMap<String, u64>;

/// The addresses of the global variables of a program that is not relocated.
fn symbols(program: &Path) -> Symbols {
    let output = Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .filter_map(|words| match words[..] {
            [address, _, name] => Some((name.to_owned(), u64::from_str_radix(address, 16).ok()?)),
            _ => None,
        })
        .collect()
}

/// An expression over the unknowns `a` and `b`, which are v0 and v1: their type, that of the result, and the terms that it may become.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

fn size_of(kind: &str) -> u64 {
    match kind {
        "char" => 1,
        "int" | "unsigned" | "float" => 4,
        _ => 8,
    }
}

/// All cases as functions of one program.
fn source(cases: &[Case]) -> String {
    let mut text = "#include <math.h>\n".to_owned();
    let mut calls = String::new();
    for (n, (kind, result, expression, _)) in cases.iter().enumerate() {
        writeln!(text, "volatile {kind} a{n} = 100, b{n} = 7; {result} output{n};").unwrap();
        writeln!(
            text,
            "__attribute__((noinline)) {result} f{n}({kind} a, {kind} b) {{ return {expression}; }}"
        )
        .unwrap();
        writeln!(calls, "output{n} = f{n}(a{n}, b{n});").unwrap();
    }
    writeln!(text, "int main(void) {{ {calls} return 0; }}").unwrap();
    text
}

/// The term of one case in a program that was compiled from all of them.
fn term_of(program: &Path, symbols: &Symbols, n: usize, case: &Case) -> String {
    let mut process = load(program, &[], b"");
    let mut concolic = Concolic::new(Options::default());
    for name in ["a", "b"] {
        let cell = Cell::Memory { address: symbols[&format!("{name}{n}")], length: size_of(case.0) };
        concolic.make_unknown(&process, cell).unwrap();
    }
    concolic.run(&mut process, Time(10_000_000));
    let mut bytes = vec![0; size_of(case.1) as usize];
    let address = symbols[&format!("output{n}")];
    process.machine.memory.peek(address, &mut bytes);
    let Some(term) = concolic.load(address, &bytes) else { return "concrete".into() };
    concolic.terms().print(term)
}

const COMPILERS: [(&str, &str); 3] = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")];

fn check(name: &str, cases: &[Case]) {
    let scratch = Scratch::new(name);
    let text = source(cases);
    let mut wrong = Vec::new();
    for (compiler, option) in COMPILERS {
        let program = scratch.compile_text("cases", &text, compiler, &[option, "-no-pie", "-fno-math-errno"]);
        let symbols = symbols(&program);
        for (n, case) in cases.iter().enumerate() {
            let found = term_of(&program, &symbols, n, case);
            if !case.3.contains(&found.as_str()) {
                wrong.push(format!("{} {} by {compiler} {option}: {found}", case.0, case.2));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn divisions_by_constants() {
    check(
        "divisions",
        &[
            ("int", "int", "a / 10", &["(v0 / 10)"]),
            ("int", "int", "a / 3", &["(v0 / 3)"]),
            ("int", "int", "a / 7", &["(v0 / 7)"]),
            ("int", "int", "a / 1000", &["(v0 / 1000)"]),
            ("int", "int", "a % 7", &["(v0 % 7)"]),
            ("int", "int", "a % 10", &["(v0 % 10)"]),
            ("int", "int", "a / 8", &["(v0 / 8)"]),
            ("int", "int", "a / 2", &["(v0 / 2)"]),
            ("int", "int", "a % 16", &["(v0 % 16)"]),
            ("unsigned", "unsigned", "a / 10", &["(v0 /u 10)"]),
            ("unsigned", "unsigned", "a / 7", &["(v0 /u 7)"]),
            ("unsigned", "unsigned", "a % 100", &["(v0 %u 100)"]),
            ("long", "long", "a / 10", &["(v0 / 10)"]),
            ("long", "long", "a % 60", &["(v0 % 60)"]),
            ("unsigned long", "long", "a / 7", &["(v0 /u 7)"]),
            ("unsigned long", "long", "a / 10", &["(v0 /u 10)"]),
            ("int", "int", "a / b", &["(v0 / v1)"]),
            ("int", "int", "a % b", &["(v0 % v1)"]),
        ],
    );
}

/// Divides numbers of every width by each of these, and has what was taken for a division proved.
fn prove(name: &str, divisors: &[i32], solver: &mut Solver) {
    const KINDS: [(&str, u64); 6] =
        [("unsigned char", 1), ("short", 2), ("int", 4), ("unsigned", 4), ("long", 8), ("unsigned long", 8)];
    let (mut text, mut calls) = (String::new(), String::new());
    let cases: Vec<_> = divisors.iter().flat_map(|divisor| KINDS.map(|kind| (divisor, kind))).collect();
    for (n, (divisor, (kind, _))) in cases.iter().enumerate() {
        writeln!(text, "volatile {kind} a{n} = 100, quotient{n};").unwrap();
        writeln!(calls, "quotient{n} = a{n} / {divisor};").unwrap();
    }
    writeln!(text, "int main(void) {{ {calls} return 0; }}").unwrap();
    let scratch = Scratch::new(name);
    for (compiler, option) in COMPILERS {
        let program = scratch.compile_text("divisions", &text, compiler, &[option, "-no-pie"]);
        let symbols = symbols(&program);
        let mut process = load(&program, &[], b"");
        let mut concolic = Concolic::new(Options::default());
        for (n, (_, (_, length))) in cases.iter().enumerate() {
            let cell = Cell::Memory { address: symbols[&format!("a{n}")], length: *length };
            concolic.make_unknown(&process, cell).unwrap();
        }
        concolic.run(&mut process, Time(10_000_000));
        let kinds = concolic.terms().equivalences().len();
        assert!(kinds > cases.len() / 3, "{compiler} {option}: only {kinds} of {} are products", cases.len());
        assert_eq!(solver.prove_divisions(concolic.terms()), Ok(()), "{compiler} {option}");
    }
    assert!(solver.statistics().proofs > 0);
}

#[test]
fn what_is_taken_for_a_division_is_proved_to_be_one() {
    let small: Vec<i32> = (2..=30).collect();
    let divisors = [&small[..], &[100, 127, 641, 1000, 9973, 1_000_000, 999_999_937, i32::MAX]].concat();
    prove("proved", &divisors, &mut Choice::InProcess.open(Limits::default()));
}

#[test]
fn another_solver_proves_divisions_too() {
    prove("proved-by-child", &[7, 10], &mut Choice::command("z3 -in").open(Limits::default()));
}

#[test]
fn comparisons_and_arithmetic() {
    check(
        "arithmetic",
        &[
            ("int", "int", "a < b", &["((v0 < v1) ? 1 : 0)"]),
            ("int", "int", "a >= 5", &["((5 <= v0) ? 1 : 0)", "((4 < v0) ? 1 : 0)"]),
            ("int", "int", "a == b", &["((v0 == v1) ? 1 : 0)"]),
            ("int", "int", "a != 0", &["((v0 == 0) ? 0 : 1)"]),
            ("unsigned", "int", "a <= b", &["((v0 <=u v1) ? 1 : 0)"]),
            ("char", "int", "a > 'x'", &["((120 < v0) ? 1 : 0)", "((121 <= v0) ? 1 : 0)"]),
            ("int", "int", "a * 10 + b", &["((v0 * 10) + v1)", "(v1 + (v0 * 10))"]),
            ("int", "int", "a > b ? a : b", &["((v0 <= v1) ? v1 : v0)", "((v1 < v0) ? v0 : v1)", "v0"]),
            ("int", "long", "(long)a - b", &["(i64(v0) - i64(v1))"]),
        ],
    );
}

#[test]
fn floats() {
    check(
        "floats",
        &[
            (
                "double",
                "double",
                "a * b + 1",
                &["bits(((as_f64(v0) *. as_f64(v1)) +. 1.0))", "bits((1.0 +. (as_f64(v0) *. as_f64(v1))))"],
            ),
            (
                "double",
                "double",
                "-a / 2",
                &["bits((-.as_f64(v0) /. 2.0))", "bits((as_f64(v0) *. -0.5))", "bits((-.as_f64(v0) *. 0.5))"],
            ),
            ("double", "int", "a > b", &["((as_f64(v1) <. as_f64(v0)) ? 1 : 0)"]),
            ("float", "float", "a - b", &["bits((as_f32(v0) -. as_f32(v1)))"]),
            ("double", "int", "(int)a", &["i32_zero(as_f64(v0))"]),
            ("int", "double", "a", &["bits(f64(v0))"]),
            ("double", "double", "sqrt(a)", &["bits(sqrt(as_f64(v0)))"]),
            ("double", "double", "fabs(a)", &["bits(fabs(as_f64(v0)))", "(v0 & 0x7fffffffffffffff)"]),
        ],
    );
}
