//! `whydunit dump statements`. `BLESS=1` rewrites the expected text in `golden`.

mod common;

use std::path::Path;

use common::Scratch;

const SOURCE: &str = "int limits[] = {\n    3,\n    5,\n};\n\
                      int sum(int n)\n{\n    int total = 0;\n    for (int i = 0; i < n; i++)\n        total += limits[i %\n            2];\n    return total;\n}\n\
                      int main(int c, char **v) { return sum(c); }\n";

/// Addresses depend on the compiler.
fn normalised(text: &str) -> String {
    let line = |line: &str| {
        if line.trim_start().starts_with("0x") { "    0x…\n".to_owned() } else { format!("{line}\n") }
    };
    text.lines().map(line).collect()
}

#[test]
fn statements_are_printed_with_place_text_and_addresses() {
    let scratch = Scratch::new("statements");
    scratch.compile("sum", SOURCE, &["-O0"]);
    let mut text = String::new();
    for symbol in ["sum", "limits"] {
        let ran = scratch.whydunit(&["dump", "statements", "--", "./sum", symbol]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        text.push_str(&ran.stdout);
        assert_eq!(scratch.whydunit(&["dump", "statements", "--", "./sum", symbol]).stdout, ran.stdout);
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/statements.txt");
    let text = normalised(&text);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&golden).unwrap_or_default());
}

#[test]
fn sources_can_be_mapped_and_their_absence_is_told_on_standard_error() {
    let scratch = Scratch::new("mapped");
    scratch.compile("sum", SOURCE, &["-O0"]);
    let all = scratch.whydunit(&["dump", "statements", "--", "./sum", "sum"]);
    std::fs::create_dir(scratch.path().join("new")).unwrap();
    std::fs::rename(scratch.path().join("sum.c"), scratch.path().join("new/sum.c")).unwrap();
    let ran = scratch.whydunit(&["dump", "statements", "--", "./sum", "sum"]);
    let warning = format!("whydunit: warning: the source {}/sum.c cannot be read", scratch.path().display());
    assert!(ran.status == 0 && ran.stderr.starts_with(&warning), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("sum.c:7 in sum\n    0x") && !ran.stdout.contains("total"), "{}", ran.stdout);
    let rule = format!("{0}={0}/new", scratch.path().display());
    let ran = scratch.whydunit(&["dump", "statements", "--source-map", &rule, "--", "./sum", "sum"]);
    assert_eq!((ran.stdout, ran.stderr), (all.stdout, String::new()));
}

#[test]
fn trust_is_shown_and_can_be_asked_for() {
    let scratch = Scratch::new("trust");
    scratch.compile("sum", SOURCE, &["-O0"]);
    let dump = |options: &[&str]| {
        scratch.whydunit(&[&["dump", "statements"], options, &["--", "./sum", "main"]].concat())
    };
    assert!(!dump(&[]).stdout.contains("trusted"));
    assert!(dump(&["--trust", "*.c"]).stdout.starts_with("sum.c:13 in main (trusted: as *.c says)\n"));
    assert!(!dump(&["--trust", "*.c", "--suspect", "sum.c"]).stdout.contains("trusted"));
}

#[test]
fn a_program_without_debug_information_has_none_and_says_why() {
    let scratch = Scratch::new("bare");
    scratch.compile("sum", SOURCE, &["-g0"]);
    let ran = scratch.whydunit(&["dump", "statements", "--", "./sum", "sum"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("whydunit: warning: ./sum has no debug information"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("\nwhydunit: no statement is known of sum\n"), "{}", ran.stderr);
}

#[test]
fn options_that_make_no_sense_are_told() {
    let scratch = Scratch::new("options");
    scratch.compile("sum", SOURCE, &[]);
    for (option, value, message) in [
        ("--source-map", "nonsense", "a source map has the form OLD=NEW"),
        ("--trust", "a[", "\"a[\" is no pattern for paths"),
    ] {
        let ran = scratch.whydunit(&["dump", "statements", option, value, "--", "./sum", "sum"]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}
