//! What is told of programs that end badly. `BLESS=1` rewrites the expected reports in `golden`.

mod common;

use std::path::{Path, PathBuf};

use common::Scratch;

const SOURCE: &str = include_str!("programs/crash.c");

/// Each way to end, with the exit status and the options that it needs.
const WAYS: [(&str, i32, &[&str]); 13] = [
    ("null", 139, &[]),
    ("offset", 139, &[]),
    ("divide", 136, &[]),
    ("quotient", 136, &[]),
    ("call", 139, &[]),
    ("constant", 139, &[]),
    ("pointer", 139, &[]),
    ("stack", 139, &[]),
    ("trap", 132, &[]),
    ("align", 139, &[]),
    ("avx", 125, &[]),
    ("spin", 125, &["--max-instructions", "1M"]),
    ("memory", 125, &["--max-memory", "64M", "--heap", "program"]),
];

/// Addresses depend on how the program was linked.
fn normalised(report: &str) -> String {
    let mut text = String::new();
    for line in report.lines() {
        let mut rest = line;
        while let Some(at) = rest.find("0x") {
            let digits = rest[at + 2..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len() - at - 2);
            let short = digits <= 2;
            text.push_str(&rest[..at]);
            text.push_str(if short { &rest[at..at + 2 + digits] } else { "0x…" });
            rest = &rest[at + 2 + digits..];
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}

/// The number of the line of the source that begins so.
fn line_of(start: &str) -> usize {
    1 + SOURCE.lines().position(|text| text.trim_start().starts_with(start)).unwrap()
}

fn golden(way: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{way}.txt"))
}

fn reports_are_as_expected(name: &str, options: &[&str]) {
    let scratch = Scratch::new(name);
    scratch.compile("crash", SOURCE, options);
    for (way, status, words) in WAYS {
        let ran = scratch.whydunit(&[&["run"], words, &["--", "./crash", way]].concat());
        assert_eq!(ran.status, status, "{way}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{way}");
        let report = normalised(&ran.stderr);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(golden(way), &report).unwrap();
        }
        let expected = std::fs::read_to_string(golden(way)).unwrap_or_default();
        assert_eq!(report, expected, "{way} {options:?}");
    }
}

#[test]
fn faults_of_a_static_program_are_reported() {
    reports_are_as_expected("static", &["-O0", "-static"]);
}

#[test]
fn faults_of_a_dynamic_program_are_reported() {
    reports_are_as_expected("dynamic", &["-O0"]);
}

/// Optimised code has no frame pointers, and its lines are less exact; the function and the line must be right.
#[test]
fn faults_of_optimised_programs_are_reported_at_their_line() {
    for options in [&["-O2", "-static"][..], &["-O2"]] {
        let scratch = Scratch::new(if options.len() == 2 { "fast-static" } else { "fast" });
        scratch.compile("crash", SOURCE, options);
        for (way, headline, function, line) in [
            ("null", "SIGSEGV: it read through a null pointer", "main", "return *(volatile int *)"),
            ("divide", "SIGFPE: it divided by zero", "divide", "return a / b;"),
            ("call", "SIGSEGV: it called a null pointer", "call", "function();"),
            ("abort", "SIGABRT: it aborted", "main", "abort();"),
        ] {
            let ran = scratch.whydunit(&["run", "--", "./crash", way]);
            assert!(
                ran.stderr.starts_with(&format!("whydunit: ./crash was killed by {headline}\n")),
                "{}",
                ran.stderr
            );
            let number = line_of(line);
            let place = format!(" {function} at crash.c:{number}:");
            assert!(ran.stderr.contains(&place), "{place}: {}", ran.stderr);
            assert!(ran.stderr.contains(&format!("{number} | ")), "{}", ran.stderr);
        }
    }
}

/// Where in the recursion the stack ends depends on the environment.
#[test]
fn a_runaway_recursion_is_told_by_its_ends() {
    let scratch = Scratch::new("recursion");
    scratch.compile("crash", SOURCE, &["-O0"]);
    let ran = scratch.whydunit(&["run", "--", "./crash", "recursion"]);
    assert_eq!(ran.status, 139);
    let headline = "whydunit: ./crash was killed by SIGSEGV: it used up its stack of 8 MiB, perhaps by endless recursion (";
    assert!(ran.stderr.starts_with(headline), "{}", ran.stderr);
    let inside = format!(" recurse at crash.c:{}:12 (1", line_of("return recurse(depth"));
    let outside = format!("\n  called from main at crash.c:{}:16\n", line_of("return recurse(argc"));
    assert!(ran.stderr.contains(&inside) && ran.stderr.contains(&outside), "{}", ran.stderr);
    assert!(ran.stderr.lines().count() < 10, "{}", ran.stderr);
}

#[test]
fn reports_are_the_same_each_time() {
    let scratch = Scratch::new("same");
    scratch.compile("crash", SOURCE, &["-O0", "-static"]);
    let words = ["run", "--", "./crash", "offset"];
    assert_eq!(scratch.whydunit(&words).stderr, scratch.whydunit(&words).stderr);
}

#[test]
fn without_debug_information_functions_are_named_by_symbol() {
    let scratch = Scratch::new("plain");
    scratch.compile("crash", SOURCE, &["-O0", "-static", "-g0"]);
    let ran = scratch.whydunit(&["run", "--", "./crash", "divide"]);
    assert!(ran.stderr.contains("\n  in divide (crash)\n  called from main (crash)\n"), "{}", ran.stderr);
}
