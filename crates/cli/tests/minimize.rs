//! `whydunit minimize` as a user meets it.

mod common;

use std::path::Path;
use std::time::Duration;

use common::{Ran, Scratch, interrupted, ran};
use serde_json::Value;

/// Crashes at a bracket that is not closed; with `slow`, after a while.
const PARSER: &str = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char line[1000], *nothing = 0;
    FILE *file = argc > 2 ? fopen(argv[2], "r") : stdin;
    if (argc > 1 && !strcmp(argv[1], "slow"))
        for (volatile int i = 0; i < 20000000; i++);
    while (file && fgets(line, sizeof line, file)) {
        char *open = strchr(line, '[');
        if (open && !strchr(open, ']'))
            *nothing = 1;
    }
    return 0;
}
"#;

const INPUT: &str = "first = [1]\nsecond = [2]\nthird = [3\nfourth = 4\n";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.compile("parse", PARSER, &["-O0"]);
    scratch.write("input.txt", INPUT);
    scratch
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path().join(name)).unwrap()
}

/// The command line that the answer tells.
fn command(told: &str) -> &str {
    let mut lines = told.lines().skip_while(|line| *line != "fails in the same way:");
    lines.nth(1).unwrap_or_else(|| panic!("no command in {told}")).trim()
}

fn natively(scratch: &Scratch, command: &str) -> Ran {
    // A shell that has more to do tells a signal by a status.
    let script = format!("{command}; exit $?");
    let mut bash = std::process::Command::new("bash");
    ran(bash.current_dir(scratch.path()).args(["-c", &script]).output().unwrap())
}

#[test]
fn standard_input_is_reduced_and_the_command_that_is_told_fails() {
    let scratch = scratch("stdin");
    let ran = scratch.whydunit(&["minimize", "--stdin", "input.txt", "--", "./parse", "x"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("./parse was killed by SIGSEGV\n\n"), "{}", ran.stdout);
    let figures = format!("stdin: {} → 1 byte; arguments: 1 → 0 (1 → 0 bytes); ", INPUT.len());
    assert!(ran.stdout.contains(&figures), "{}", ran.stdout);
    assert_eq!(command(&ran.stdout), "./parse < whydunit-minimized/stdin");
    assert_eq!(read(&scratch, "whydunit-minimized/stdin"), "[");
    let place = INPUT.find("[3\n").unwrap();
    let difference = format!(
        "the difference to an input that passes, in stdin:\n  byte 0, \"[\" (byte {place} of what was given)\n"
    );
    assert!(ran.stdout.contains(&difference), "{}", ran.stdout);
    assert_eq!(natively(&scratch, command(&ran.stdout)).status, 139);

    // It is never overwritten.
    let again = scratch.whydunit(&["minimize", "--stdin", "input.txt", "--", "./parse"]);
    assert_eq!((again.status, again.stdout.as_str()), (2, ""));
    assert!(again.stderr.contains("not empty; name another directory with -o"), "{}", again.stderr);
    // What is minimal stays as it is, and nothing is written.
    let words = ["minimize", "-o", "other", "--stdin", "whydunit-minimized/stdin", "--", "./parse"];
    let ran = scratch.whydunit(&words);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("nothing can be left out"), "{}", ran.stdout);
    assert!(!scratch.path().join("other").exists());
}

#[test]
fn files_are_written_beside_it_and_named_in_the_command() {
    let scratch = scratch("files");
    let ran = scratch.whydunit(&["minimize", "-o", "a b", "--", "./parse", "x y", "input.txt", "more"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains(&format!("input.txt: {} → 1 byte; arguments: 3 → 2", INPUT.len())),
        "{}",
        ran.stdout
    );
    assert_eq!(command(&ran.stdout), "./parse '' 'a b/input.txt'");
    assert_eq!(
        (read(&scratch, "a b/input.txt").as_str(), read(&scratch, "input.txt").as_str()),
        ("[", INPUT)
    );
    assert_eq!(natively(&scratch, command(&ran.stdout)).status, 139);
}

#[test]
fn the_difference_to_a_passing_input_is_told_by_place() {
    let scratch = scratch("passing");
    scratch.write("good.txt", &INPUT.replace("third = [3", "other = [3]"));
    let words = ["minimize", "--passing-input", "good.txt", "--stdin", "input.txt", "--", "./parse"];
    let ran = scratch.whydunit(&words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let place = INPUT.find("[3\n").unwrap() + 2;
    let told =
        format!("the difference to the passing input, in stdin:\n  before byte {place}, \"]\" is missing\n");
    assert!(ran.stdout.contains(&told), "{}", ran.stdout);
    scratch.write("bad.txt", "[");
    for (file, message) in [("bad.txt", "fails in the same way"), ("none.txt", "cannot be read")] {
        let words = ["minimize", "-o", "x", "--passing-input", file, "--stdin", "input.txt", "--", "./parse"];
        let ran = scratch.whydunit(&words);
        assert!(ran.status == 2 && ran.stderr.contains(message), "{file}: {} {}", ran.status, ran.stderr);
    }
}

#[test]
fn what_cannot_be_minimized_is_said_with_its_status() {
    let scratch = scratch("refused");
    scratch.write("good.txt", "[]\n");
    let cases: [(&[&str], i32, &str); 4] = [
        (&["--stdin", "good.txt", "--", "./parse"], 3, "the program did not fail"),
        (
            &["--stdin", "good.txt", "--expect-stdout", "x", "--", "./parse"],
            2,
            "minimizing needs an oracle that can judge any input",
        ),
        (&["--stdin", "good.txt", "--expect-exit", "1", "--", "./parse"], 2, "--oracle or --reference"),
        (&["--max-instructions", "1000", "--stdin", "input.txt", "--", "./parse"], 1, "nobody can tell"),
    ];
    for (words, status, message) in cases {
        let ran = scratch.whydunit(&[&["minimize"], words].concat());
        assert!(ran.status == status && ran.stderr.contains(message), "{words:?}: {ran:?}");
        assert!(ran.stdout.is_empty());
    }
}

#[test]
fn a_command_judges_every_candidate() {
    let scratch = scratch("oracle");
    let source = "#include <stdio.h>\nint main(void) { for (int c; (c = getchar()) != EOF;) putchar(c == 'q' ? 'p' : c); }\n";
    scratch.compile("copy", source, &[]);
    scratch.write("text", "a quick one\nand a question\n");
    let words = ["minimize", "--stdin", "text", "--oracle", "! grep -q p stdout", "--", "./copy"];
    let ran = scratch.whydunit(&words);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(read(&scratch, "whydunit-minimized/stdin"), "q");
}

#[test]
fn a_budget_cuts_it_short_and_says_so() {
    let scratch = scratch("budget");
    let words = ["minimize", "--budget", "3", "--stdin", "input.txt", "--", "./parse"];
    let ran = scratch.whydunit(&words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("cut short by --budget: perhaps more can be left out\n"), "{}", ran.stdout);
    let left = read(&scratch, "whydunit-minimized/stdin");
    assert!(left.len() < INPUT.len() && left.contains("[3\n"), "{left:?}");
}

#[test]
fn ctrl_c_keeps_the_best_so_far() {
    let scratch = scratch("interrupted");
    scratch.write("long.txt", &INPUT.repeat(200));
    let words = ["minimize", "--stdin", "long.txt", "--", "./parse", "slow"];
    // A single run takes long, and the whole search many times that, so it has not ended yet.
    let ran = interrupted(scratch.command(&words), Duration::ZERO);
    assert!(ran.stdout.contains("cut short by Ctrl-C"), "{ran:?}");
    // Whether something was left out by then depends on how fast the machine is.
    match ran.status {
        0 => assert!(read(&scratch, "whydunit-minimized/stdin").contains('[')),
        status => assert_eq!(status, 1, "{ran:?}"),
    }
}

#[test]
fn the_run_of_a_bundle_is_minimized_without_its_files() {
    let scratch = scratch("bundle");
    let words = ["record", "-o", "run.wdb", "--stdin", "input.txt", "--", "./parse", "x"];
    assert_eq!(scratch.whydunit(&words).status, 0);
    for name in ["input.txt", "parse"] {
        std::fs::remove_file(scratch.path().join(name)).unwrap();
    }
    let ran = scratch.whydunit(&["minimize", "run.wdb"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(read(&scratch, "whydunit-minimized/stdin"), "[");
}

#[test]
fn the_answer_for_programs_is_as_the_schema_says() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/whydunit-1.json");
    let schema = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let scratch = scratch("schema");
    let words = ["minimize", "--format", "json", "--stdin", "input.txt", "--", "./parse"];
    let ran = scratch.whydunit(&words);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let errors: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", ran.stdout);
    let finding = &answer["findings"][0];
    assert_eq!((&answer["command"], &answer["failure"]["kind"]), (&"minimize".into(), &"crash".into()));
    assert_eq!(finding["command"], "./parse < whydunit-minimized/stdin");
    assert_eq!((&finding["is_confirmed"], &finding["cut_short"]), (&true.into(), &Value::Null));
    assert_eq!((&finding["parts"][0]["name"], &finding["parts"][0]["after"]), (&"stdin".into(), &1.into()));
    assert_eq!(finding["difference"]["spans"][0]["bytes"], "[");
}
