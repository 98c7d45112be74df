//! `whydunit stats`, with each kind of failure. `BLESS=1` rewrites the expected verdicts in `golden`.

mod common;

use std::path::Path;

use common::{Ran, Scratch};

const SOURCE: &str = r#"#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int area(int a, int b) {
    int result = a + b; /* should multiply */
    return result;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "area")) {
        printf("%d\n", area(3, 4));
    } else if (!strcmp(how, "null")) {
        return *(int *) argv[argc];
    } else if (!strcmp(how, "assert")) {
        assert(argc == 3);
    } else if (!strcmp(how, "spin")) {
        for (volatile int i = 0;; i++) {
        }
    } else if (!strcmp(how, "copy")) {
        for (int c; (c = getchar()) != EOF;)
            putchar(c);
    } else if (!strcmp(how, "file")) {
        FILE *file = fopen("made.txt", "w");
        fputs("3.1415\n", file);
        fclose(file);
    }
    return argc > 2 ? atoi(argv[2]) : 0;
}
"#;

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.compile("prog", SOURCE, &["-O0"]);
    scratch
}

fn stats(scratch: &Scratch, options: &[&str], words: &[&str]) -> Ran {
    scratch.whydunit(&[&["stats"], options, &["--", "./prog"], words].concat())
}

/// The line that begins so, without that.
fn line<'a>(text: &'a str, start: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(start));
    found.unwrap_or_else(|| panic!("no {start} in {text}")).trim()
}

#[test]
fn the_checkpoints_of_a_recording_are_counted() {
    let scratch = scratch("checkpoints");
    let count = |options: &[&str], words: &[&str]| -> u64 {
        line(&stats(&scratch, options, words).stdout, "checkpoints ").parse().unwrap()
    };
    let (short, long) = (count(&[], &[]), count(&["--max-instructions", "10M"], &["spin"]));
    assert!(0 < short && short < long && long <= 32, "{short} and {long}");
}

#[test]
fn every_kind_of_failure_has_its_verdict() {
    let scratch = scratch("verdicts");
    scratch.write("expected.txt", "12\n");
    let line_of = |marker: &str| 1 + SOURCE.lines().position(|line| line.contains(marker)).unwrap();
    let place = format!("prog.c:{}", line_of("return result;"));
    let wrong = format!("{place}: result == a * b");
    let right = format!("{place}: result == a + b && a < b");
    let never = format!("prog.c:{}: argc > 9", line_of("putchar(c);"));
    let cases: [(&[&str], &[&str]); 20] = [
        (&[], &[]),
        (&["--expect-stdout", "12"], &["area"]),
        (&["--expect-stdout", "7"], &["area"]),
        (&["--expect-stdout", "@expected.txt"], &["area"]),
        (&["--expect-stdout", "7\nmore"], &["area"]),
        (&["--expect-stdout", ""], &["area"]),
        (&["--expect-stdout", "-7.5"], &["area"]),
        (&["--expect-stderr", "oh"], &["area"]),
        (&["--float-tolerance", "0.01", "--expect-file", "made.txt=3.14"], &["file"]),
        (&["--expect-file", "made.txt=3.14"], &["file"]),
        (&["--expect-exit", "0"], &["", "3"]),
        (&["--expect-exit", "3"], &["", "3"]),
        (&[], &["null"]),
        (&["--expect-exit", "139"], &["null"]),
        (&[], &["assert"]),
        (&["--hang-after", "1M"], &["spin"]),
        (&["--max-instructions", "1M"], &["spin"]),
        (&["--assert", &wrong], &["area"]),
        (&["--assert", &right], &["area"]),
        (&["--assert", &never], &["area"]),
    ];
    let mut text = String::new();
    for (options, words) in cases {
        let ran = stats(&scratch, options, words);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{options:?}");
        let verdict = line(&ran.stdout, "verdict ").replace(scratch.path().to_str().unwrap(), "DIR");
        text.push_str(&format!("{} -- {}\n    {verdict}\n", options.join(" "), words.join(" ")));
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/verdicts.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&golden).unwrap_or_default());
}

#[test]
fn figures_are_those_of_the_run_and_the_same_each_time() {
    let scratch = scratch("figures");
    // An end of input that is known is another state than one that is not.
    let input = ["--stdin", "/dev/null"];
    let ran = stats(&scratch, &input, &["area"]);
    let run = scratch.whydunit(&["run", "--stats", "--stdin", "/dev/null", "--", "./prog", "area"]);
    for (ours, theirs) in [("instructions ", "instructions:"), ("state ", "state:")] {
        assert_eq!(line(&ran.stdout, ours), line(&run.stderr, theirs));
    }
    assert_eq!(line(&ran.stdout, "output "), "2 bytes, and 0 to standard error");
    assert_eq!(line(&ran.stdout, "  write "), "1");
    assert_eq!(line(&ran.stdout, "end "), "exited with status 0");
    let in_scope: u64 = line(&ran.stdout, "in scope ").split(' ').next().unwrap().parse().unwrap();
    assert!((10..200).contains(&in_scope), "{in_scope}");
    assert_eq!(stats(&scratch, &input, &["area"]).stdout, ran.stdout);
    let trusted = stats(&scratch, &["--trust", "prog.c"], &["area"]);
    assert_eq!(line(&trusted.stdout, "in scope "), "0 (0.0 %)");
}

#[test]
fn the_answer_for_programs_has_the_envelope() {
    let scratch = scratch("envelope");
    let ran = stats(&scratch, &["--format", "json", "--expect-stdout", "12"], &["area"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&answer["schema"], &answer["command"]), (&"whydunit/1".into(), &"stats".into()));
    assert_eq!(answer["case"]["argv"], serde_json::json!(["./prog", "area"]));
    assert_eq!(answer["failure"]["kind"], "wrong-output");
    assert_eq!(
        (&answer["failure"]["offset"], &answer["failure"]["difference"]),
        (&0.into(), &"different".into())
    );
    assert_eq!(
        (&answer["verdict"]["outcome"], &answer["findings"]),
        (&"failed".into(), &serde_json::json!([]))
    );
    assert_eq!(answer["counts"]["stdout_bytes"], 2);
    let passing = stats(&scratch, &["--format", "json"], &["area"]);
    let answer: serde_json::Value = serde_json::from_str(&passing.stdout).unwrap();
    assert_eq!(
        (&answer["failure"], &answer["verdict"]["outcome"]),
        (&serde_json::Value::Null, &"passed".into())
    );
}

#[test]
fn input_from_a_pipe_is_read_to_its_end_if_it_is_read_at_all() {
    let scratch = scratch("piped");
    let words = ["stats", "--expect-stdout", "typed", "--", "./prog", "copy"];
    let ran = scratch.whydunit_with_input(&words, b"typed\n");
    assert_eq!(line(&ran.stdout, "verdict "), "the program did not fail", "{}", ran.stderr);
    // Nobody ever writes to this one, nor closes it.
    let mut child = scratch
        .command(&["stats", "--", "./prog", "area"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pipe = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(pipe);
}

#[test]
fn a_reference_and_a_command_can_judge() {
    let scratch = scratch("judges");
    scratch.compile("older", &SOURCE.replace("a + b;", "a * b;"), &["-O0"]);
    let ran = stats(&scratch, &["--reference", "./older"], &["area"]);
    assert_eq!(line(&ran.stdout, "verdict "), "FAILED: ./prog printed \"7\", expected \"12\"");
    let ran = stats(&scratch, &["--oracle", "echo no good; exit 1"], &["area"]);
    assert_eq!(line(&ran.stdout, "verdict "), "FAILED: ./prog failed, as the oracle says: no good");
}

#[test]
fn what_cannot_be_asked_is_told_with_status_2() {
    let scratch = scratch("refused");
    let refused: [(&[&str], &str); 9] = [
        (&["--expect-stdout", "@none.txt"], "what is expected cannot be read from none.txt"),
        (&["--reference", "./none"], "the reference cannot be run: ./none: no such file"),
        (&["--ignore-space"], "say which is expected"),
        (&["--assert", "prog.c:7: reslt > 1"], "did you mean `result`?"),
        (&["--assert", "prog.c:900: 1"], "prog.c has no line 900; it has 31 lines"),
        (&["--assert", "prog.c:7 x"], "it has the form FILE:LINE: EXPRESSION"),
        (&["--oracle", "exit 9"], "ended with exit status: 9"),
        (&["--expect-exit", "300"], "300 is not in 0..256"),
        (&["--float-tolerance", "-1"], "a tolerance is a number"),
    ];
    for (options, message) in refused {
        let ran = stats(&scratch, options, &["area"]);
        assert!(
            ran.status == 2 && ran.stderr.contains(message),
            "{options:?}: {} {}",
            ran.status,
            ran.stderr
        );
        assert_eq!(ran.stdout, "");
    }
    let ran = scratch.whydunit(&["stats", "--", "./none"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (2, "whydunit: ./none: no such file\n"));
}

#[test]
fn messages_of_other_languages_are_read() {
    let scratch = Scratch::new("languages");
    let source = "#include <vector>\nint main(int c, char **) { return std::vector<int>(2).at(c + 5); }\n";
    scratch.write("thrown.cc", source);
    scratch.write(
        "panics.rs",
        "fn main() {\n    let n = std::env::args().count();\n    assert!(n > 7, \"only {}\", n);\n}\n",
    );
    for (compiler, file) in [("g++", "thrown.cc"), ("rustc", "panics.rs")] {
        let words = ["-g", "-o", file.split('.').next().unwrap(), file];
        let status = std::process::Command::new(compiler).current_dir(scratch.path()).args(words).status();
        assert!(status.unwrap().success());
    }
    let ran = scratch.whydunit(&["stats", "--", "./thrown"]);
    let verdict = line(&ran.stdout, "verdict ");
    assert!(
        verdict.starts_with("FAILED: ./thrown ended by an exception: std::out_of_range: vector"),
        "{verdict}"
    );
    let ran = scratch.whydunit(&["stats", "--env", "RUST_BACKTRACE=0", "--", "./panics"]);
    assert_eq!(line(&ran.stdout, "verdict "), "FAILED: ./panics panicked at panics.rs:3:5: only 1");
}
