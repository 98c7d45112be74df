//! `whydunit explain` on small failing programs, each with the answer that it gives. `BLESS=1` rewrites the expected answers in
//! `golden/explain`.

mod common;

use std::path::{Path, PathBuf};

use common::{Ran, Scratch, normalised};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}/{name}.c"))
}

fn of_locate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../locate/tests/programs/{name}.c"))
}

/// Compiles a copy of a source here.
fn compile(scratch: &Scratch, source: &Path) -> String {
    let stem = source.file_stem().unwrap().to_str().unwrap();
    scratch.compile(stem, &std::fs::read_to_string(source).unwrap(), &["-O0", "-w", "-lm"]);
    format!("./{stem}")
}

fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/explain/{name}.txt"));
    let text = normalised(text);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default());
}

/// The answer, which is the same whatever the number of threads.
fn explain(scratch: &Scratch, options: &[&str], command: &[&str], input: &str) -> Ran {
    let one = scratch
        .whydunit_apart(&[&["explain", "--jobs", "1"], options, &["--"], command].concat(), input.as_bytes());
    let three = scratch
        .whydunit_apart(&[&["explain", "--jobs", "3"], options, &["--"], command].concat(), input.as_bytes());
    assert_eq!((one.status, &one.stdout, &one.stderr), (three.status, &three.stdout, &three.stderr));
    one
}

#[test]
fn a_negated_condition_is_the_cause_of_a_wrong_number() {
    let scratch = Scratch::new("explain-triangle");
    let program = compile(&scratch, &example("triangle"));
    let ran = explain(&scratch, &["--expect-stdout", "9.92"], &[&program, "6", "5", "4"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    golden("triangle", &ran.stdout);
}

#[test]
fn a_comparison_that_is_returned_is_the_cause_of_a_wrong_count() {
    let scratch = Scratch::new("explain-records");
    let program = compile(&scratch, &of_locate("records"));
    let expected = "3 4 7 10 12\nlarge 1\nevens 3, last six 53";
    let input = "3 one\n10 two\n12 three\n7 four\nnone\n4 six\n";
    let ran = explain(&scratch, &["--expect-stdout", expected], &[&program], input);
    assert_eq!(ran.status, 0, "{ran:?}");
    golden("records", &ran.stdout);
}

#[test]
fn an_empty_value_that_became_none_is_the_cause_of_a_crash() {
    let scratch = Scratch::new("explain-settings");
    let program = compile(&scratch, &of_locate("settings"));
    let ran = explain(&scratch, &[], &[&program], "# c\ncolor=red\nname=\nsize=3\n");
    assert_eq!(ran.status, 0, "{ran:?}");
    golden("settings", &ran.stdout);
}

#[test]
fn a_value_that_is_computed_wrongly_is_no_matter_of_conditions() {
    let scratch = Scratch::new("explain-computed");
    let source = "#include <stdio.h>\n\
                  #include <stdlib.h>\n\
                  int main(int argc, char **argv)\n{\n\
                  int width = atoi(argv[1]), height = atoi(argv[2]);\n\
                  int area = width + height;\n\
                  if (argc > 3)\n        return 2;\n\
                  printf(\"%d\\n\", area);\n\
                  return 0;\n}\n";
    scratch.compile("computed", source, &["-O0"]);
    let ran = explain(&scratch, &["--expect-stdout", "12"], &["./computed", "3", "4"], "");
    assert_eq!(ran.status, 1, "{ran:?}");
    golden("computed", &ran.stdout);
}

/// One statement does all of it, but what it prints comes from the input; and without lines the function stands for them.
#[test]
fn a_value_that_comes_from_the_input_is_not_called_a_constant() {
    let scratch = Scratch::new("explain-one-line");
    let source = "#include <stdio.h>\n#include <stdlib.h>\n\
                  int main(int argc, char **argv)\n{\n\
                  printf(\"%d\\n\", atoi(argv[1]) * 2);\n\
                  return 0;\n}\n";
    for (name, flags, place) in [("lines", &["-O0"][..], "lines.c:5"), ("bare", &["-O0", "-g0"], "main")] {
        scratch.compile(name, source, flags);
        let ran = explain(&scratch, &["--expect-stdout", "9"], &[&format!("./{name}"), "4"], "");
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(!ran.stdout.contains("constant"), "{}", ran.stdout);
        assert!(ran.stdout.contains(&format!("        {place}")), "{}", ran.stdout);
        assert!(!ran.stderr.contains("the source  cannot be read"), "{}", ran.stderr);
    }
}

#[test]
fn a_run_that_does_not_fail_is_told_so() {
    let scratch = Scratch::new("explain-passes");
    let program = compile(&scratch, &example("triangle"));
    let ran = explain(&scratch, &["--expect-stdout", "10.00"], &[&program, "6", "5", "4"], "");
    assert_eq!(ran.status, 3);
    assert!(ran.stderr.contains("the program did not fail; it printed \"10.00\\n\""), "{}", ran.stderr);
}

#[test]
fn a_command_of_the_user_judges_the_trials() {
    let scratch = Scratch::new("explain-oracle");
    let program = compile(&scratch, &example("triangle"));
    let oracle = ["--oracle", "grep -q 9.92 stdout"];
    let ran = explain(&scratch, &oracle, &[&program, "6", "5", "4"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("CAUSE   triangle.c:16"), "{}", ran.stdout);
    assert!(ran.stdout.contains("exits with status 0, and the oracle agrees"), "{}", ran.stdout);
}

#[test]
fn an_assertion_at_a_line_judges_the_trials() {
    let scratch = Scratch::new("explain-assert");
    let program = compile(&scratch, &example("triangle"));
    let holds = ["--assert", "triangle.c:35: area > 9.9 && area < 9.95"];
    let ran = explain(&scratch, &holds, &[&program, "6", "5", "4"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("CAUSE   triangle.c:16"), "{}", ran.stdout);
    assert!(ran.stdout.contains("keeps what was asserted"), "{}", ran.stdout);
}

#[test]
fn a_source_is_compiled_first() {
    let scratch = Scratch::new("explain-source");
    scratch.write("triangle.c", &std::fs::read_to_string(example("triangle")).unwrap());
    let words = ["explain", "triangle.c", "--expect-stdout", "9.92", "--", "6", "5", "4"];
    let ran = scratch.whydunit(&words);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("CAUSE   triangle.c:16"), "{}", ran.stdout);
    assert!(ran.stdout.contains("FAILED  triangle.c 6 5 4 printed"), "{}", ran.stdout);
    assert_eq!(ran.stdout, scratch.whydunit(&words).stdout, "the same report each time");
    scratch.write("wrong.c", "int main(void) { return x; }\n");
    let ran = scratch.whydunit(&["explain", "wrong.c", "--"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("could not compile wrong.c"), "{}", ran.stderr);
    let ran = scratch.whydunit(&["explain", "missing.c", "--"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("missing.c cannot be compiled"), "{}", ran.stderr);
    let ran = scratch.whydunit(&["explain", "triangle.txt", "--", "./prog"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("triangle.txt is no C or C++ file"), "{}", ran.stderr);
}

#[test]
fn what_differs_from_a_passing_input_is_tried_first() {
    let scratch = Scratch::new("explain-passing");
    let program = compile(&scratch, &of_locate("settings"));
    scratch.write("passing.txt", "# c\ncolor=red\nname=x\nsize=3\n");
    let input = "# c\ncolor=red\nname=\nsize=3\n";
    let ran = explain(&scratch, &["--passing-input", "passing.txt"], &[&program], input);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("CAUSE   settings.c:39"), "{}", ran.stdout);
    assert!(ran.stdout.contains("bytes of stdin;"), "{}", ran.stdout);
    scratch.write("failing.txt", input);
    let words = ["explain", "--passing-input", "failing.txt", "--", &program];
    let ran = scratch.whydunit_apart(&words, input.as_bytes());
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("with failing.txt the program fails as well"), "{}", ran.stderr);
}

#[test]
fn an_endless_loop_is_explained_by_the_condition_that_should_end_it() {
    let scratch = Scratch::new("explain-hang");
    let source = "#include <stdio.h>\n\
                  int main(void)\n{\n\
                  int left = 5, steps = 0;\n\
                  while (left != 0) {\n\
                  steps++;\n\
                  left -= 2;\n}\n\
                  printf(\"%d\\n\", steps);\n\
                  return 0;\n}\n";
    scratch.compile("hang", source, &["-O0"]);
    let ran = explain(&scratch, &["--hang-after", "300K"], &["./hang"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("CAUSE   hang.c:5"), "{}", ran.stdout);
}

#[test]
fn answers_for_programs_are_as_the_schema_says() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/whydunit-1.json");
    let schema = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let scratch = Scratch::new("explain-schema");
    let program = compile(&scratch, &example("triangle"));
    let options = ["--expect-stdout", "9.92", "--format", "json"];
    let ran = explain(&scratch, &options, &[&program, "6", "5", "4"], "");
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let errors: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(answer["findings"][0]["causes"][0]["condition"]["place"]["line"], 16);
}
