//! `whydunit explain` on small failing programs, each with the answer that it gives. `BLESS=1` rewrites the expected answers in
//! `golden/explain`.

mod common;

use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Ran, Scratch, interrupted, normalised};

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
fn where_output_is_missing_what_led_to_what_was_done_in_its_place_is_listed() {
    let scratch = Scratch::new("explain-in-place");
    let source = r#"#include <stdio.h>
#include <string.h>
static int number_of(const char *word)
{
    static const char *const words[] = {"red", "green", "blue"};
    int found = 3;
    for (int i = 0; i < 3; i++) {
        int differs = strcmp(word, words[i]);
        (void)differs;
    }
    return found;
}
int main(int argc, char **argv)
{
    int number = number_of(argv[1]);
    if (number > 2)
        number = -1;
    printf(number < 0 ? "" : "%d\n", number);
    return number < 0 ? 2 : 0;
}
"#;
    scratch.compile("colour", source, &["-O0", "-w"]);
    let ran = explain(&scratch, &["--expect-stdout", "1\n"], &["./colour", "green"], "");
    assert_eq!(ran.status, 1, "{ran:?}");
    golden("in_place", &ran.stdout);
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

/// The dashes before the program are no text that it should print.
#[test]
fn a_text_that_was_forgotten_is_an_error() {
    let scratch = Scratch::new("explain-forgotten");
    let ran = explain(&scratch, &["--expect-stdout"], &["/bin/true"], "");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stdout.is_empty() && ran.stderr.contains("a value is required"), "{ran:?}");
}

#[test]
fn what_is_wrong_beside_an_error_that_the_heap_hides_is_hinted_at() {
    let scratch = Scratch::new("explain-beside");
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                  int main(int argc, char **argv)\n{\n\
                  char *name = malloc(strlen(argv[1]));\n\
                  strcpy(name, argv[1]);\n\
                  if (atoi(argv[2]) > 18)\n        printf(\"%s may enter\\n\", name);\n\
                  return 0;\n}\n";
    scratch.compile("entry", source, &["-O0", "-w"]);
    let words = ["--expect-stdout", "Ann may enter"];
    let ran = explain(&scratch, &words, &["./entry", "Ann", "18"], "");
    assert!(ran.stdout.contains("wrote to memory"), "{ran:?}");
    let hint = "with --heap=program, which does not check the heap, the run printed no more where";
    assert!(ran.stderr.contains(hint), "{ran:?}");
    let ran = explain(&scratch, &["--heap=program", words[0], words[1]], &["./entry", "Ann", "18"], "");
    assert!(ran.stdout.contains("CAUSE   entry.c:8") && !ran.stderr.contains("--heap"), "{ran:?}");
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
    assert!(ran.stdout.contains("byte of stdin;"), "{}", ran.stdout);
    scratch.write("failing.txt", input);
    let words = ["explain", "--passing-input", "failing.txt", "--", &program];
    let ran = scratch.whydunit_apart(&words, input.as_bytes());
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("with failing.txt the program fails as well"), "{}", ran.stderr);
}

const WAITS: &str = "#include <stdio.h>\n\
    int main(void)\n{\n\
    char *names[] = {0, \"some\"};\n\
    int rounds = 0, sum = 0;\n\
    scanf(\"%d\", &rounds);\n\
    for (int i = 0; i < rounds; i++)\n\
    sum += i % 7;\n\
    printf(\"%c %d\\n\", names[rounds > 0][0], sum);\n\
    return 0;\n}\n";

const AS_THEY_ARE: &str = "that is the difference of the two texts as they are: \
    nothing could judge whether the program passes with the other one";

#[test]
fn an_answer_says_when_nothing_could_judge_the_passing_input() {
    let scratch = Scratch::new("explain-unjudged");
    scratch.compile("waits", WAITS, &["-O0"]);
    for (name, rounds) in [("near.txt", "1\n"), ("other.txt", "6\n"), ("long.txt", "3000000\n")] {
        scratch.write(name, rounds);
    }
    // Of the one nobody knows what it should print; the other takes many times as long as the failing run.
    let alone = ["--passing-input", "other.txt", "--expect-stdout", "s 11"];
    let long = ["--passing-input", "long.txt"];
    for (options, input) in [(&alone[..], "5\n"), (&long, "0\n")] {
        let ran = explain(&scratch, options, &["./waits"], input);
        assert!(ran.stdout.contains(AS_THEY_ARE), "{ran:?}");
        let page = explain(&scratch, &[options, &["--format", "html"]].concat(), &["./waits"], input);
        assert!(page.stdout.contains(AS_THEY_ARE), "{}", page.stdout);
        let json = explain(&scratch, &[options, &["--format", "json"]].concat(), &["./waits"], input);
        let answer: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(answer["findings"][0]["difference"]["basis"], "unjudged", "{answer}");
    }
    let ran = explain(&scratch, &["--passing-input", "near.txt"], &["./waits"], "0\n");
    assert!(ran.stdout.contains("in 1 byte of stdin") && !ran.stdout.contains("as they are"), "{ran:?}");
}

#[test]
fn minimizing_tells_what_of_the_input_matters() {
    let scratch = Scratch::new("explain-minimize");
    let program = compile(&scratch, &of_locate("settings"));
    let input = "# c\ncolor=red\nname=\nsize=3\n";
    let ran = explain(&scratch, &["--minimize"], &[&program], input);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("CAUSE   settings.c:39"), "{}", ran.stdout);
    let told =
        "minimizing came to two inputs, of which one fails and one passes, that differ in 1 byte of stdin; ";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let json = explain(&scratch, &["--minimize", "--format", "json"], &[&program], input);
    let answer: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let difference = &answer["findings"][0]["difference"];
    assert_eq!(difference["basis"], "minimized");
    // In the input as it was given, not in what is left of it.
    let place = difference["ranges"][0][0].as_u64().unwrap() as usize;
    let line = input.find("name=").unwrap();
    assert!((line..line + 5).contains(&place), "{difference}");
    assert!(answer["findings"][0]["search"]["on_the_way"].as_u64() > Some(0), "{answer}");
}

#[test]
fn minimizing_tells_which_byte_of_an_argument_matters() {
    let scratch = Scratch::new("explain-minimize-argument");
    let source = "#include <stdio.h>\n\
                  int main(int argc, char **argv)\n{\n\
                  const char *names[] = {\"one\", 0};\n\
                  int which = 0;\n\
                  if (argc > 1 && argv[1][0])\n\
                  for (char *at = argv[1]; *at; at++)\n\
                  if (*at == '!')\n\
                  which = 1;\n\
                  printf(\"%c\\n\", names[which][0]);\n\
                  return 0;\n}\n";
    scratch.compile("named", source, &["-O0"]);
    let json = explain(&scratch, &["--minimize", "--format", "json"], &["./named", "ab!cd"], "");
    let answer: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let difference = &answer["findings"][0]["difference"];
    assert_eq!((difference["part"].as_str(), &difference["ranges"][0][0]), (Some("argument 1"), &2.into()));
    assert!(answer["findings"][0]["search"]["on_the_way"].as_u64() > Some(0), "{answer}");
}

/// Counts words; with LIMIT 2 a word of three letters is none.
const WORDS: &str = "#include <stdio.h>\n\
                     int main(void)\n{\n\
                     int c, length = 0, words = 0;\n\
                     while ((c = getchar()) != EOF) {\n\
                     if (c != ' ' && c != '\\n')\n\
                     length++;\n\
                     else {\n\
                     if (length > 0 && length <= LIMIT)\n\
                     words++;\n\
                     length = 0;\n}\n}\n\
                     printf(\"%d\\n\", words);\n\
                     return 0;\n}\n";

/// What a reference prints is known of any input.
#[test]
fn a_reference_judges_other_inputs_as_well() {
    let scratch = Scratch::new("explain-reference");
    scratch.compile("right", WORDS, &["-O0", "-DLIMIT=9"]);
    scratch.compile("wrong", WORDS, &["-O0", "-DLIMIT=2"]);
    scratch.write("other.txt", "a to be b\n");
    let input = "a to bee b\n";
    for (options, basis) in
        [(&["--minimize"][..], "minimized"), (&["--passing-input", "other.txt"], "narrowed")]
    {
        let options = [&["--reference", "./right", "--format", "json"], options].concat();
        let json = explain(&scratch, &options, &["./wrong"], input);
        assert_eq!(json.status, 0, "{json:?}");
        let answer: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        let finding = &answer["findings"][0];
        assert_eq!(finding["difference"]["basis"], basis, "{answer}");
        assert_eq!(finding["causes"][0]["condition"]["place"]["line"], 9, "{answer}");
    }
}

#[test]
fn minimizing_before_an_explanation_needs_an_oracle_for_any_input() {
    let scratch = Scratch::new("explain-minimize-refused");
    scratch.compile("waits", WAITS, &["-O0"]);
    let ran = explain(&scratch, &["--minimize", "--expect-stdout", "s 11"], &["./waits"], "5\n");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("minimizing needs an oracle that can judge any input"), "{}", ran.stderr);
    let ran = explain(&scratch, &["--minimize", "--passing-input", "x"], &["./waits"], "5\n");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
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
    let cause = &answer["verdict"]["causes"][0];
    assert_eq!((&cause["place"]["line"], &cause["is_certain"]), (&16.into(), &false.into()));
}

/// A line too many is printed, by a call that computes nothing: the condition around it is all that can be wrong. Where its side sets a variable that is
/// printed later, that may be what is wrong.
#[test]
fn a_cause_is_certain_only_where_nothing_that_came_of_it_was_computed() {
    let scratch = Scratch::new("explain-certain");
    let guarded = "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    puts(\"one\");\n    if (argc > 1)\n        puts(\"two\");\n    return 0;\n}\n";
    let computed = "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    int n = 1;\n    if (argc > 1)\n        n = 2;\n    printf(\"%d\\n\", n);\n    return 0;\n}\n";
    for (name, source, right, is_certain) in
        [("guarded", guarded, "one\n", true), ("computed", computed, "1\n", false)]
    {
        scratch.compile(name, source, &["-O0"]);
        let program = format!("./{name}");
        let options = ["--expect-stdout", right, "--format", "json"];
        let ran = explain(&scratch, &options, &[&program, "x"], "");
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let cause = &answer["verdict"]["causes"][0];
        assert_eq!(
            (&cause["place"]["line"], &cause["is_certain"]),
            (&5.into(), &is_certain.into()),
            "{name}"
        );
    }
}

#[test]
fn a_budget_that_suffices_for_nothing_leaves_everything_open() {
    let scratch = Scratch::new("explain-budget");
    let program = compile(&scratch, &example("triangle"));
    let options = ["--budget", "0", "--expect-stdout", "9.92"];
    let ran = explain(&scratch, &options, &[&program, "6", "5", "4"], "");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("not found: 0 of 5 decisions were tried the other way"), "{}", ran.stdout);
    assert!(ran.stdout.contains("cut short"), "{}", ran.stdout);
}

/// The last decision comes first with LEFS; with the scope of everything there are more of them.
#[test]
fn the_order_and_the_scope_of_decisions_can_be_chosen() {
    let scratch = Scratch::new("explain-choices");
    let program = compile(&scratch, &example("triangle"));
    let counts = |options: &[&str]| {
        let options = [options, &["--format", "json", "--expect-stdout", "9.92"]].concat();
        let ran = explain(&scratch, &options, &[&program, "6", "5", "4"], "");
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(answer["verdict"]["causes"][0]["place"]["line"], 16, "{options:?}");
        let count = |name: &str| answer["counts"][name].as_u64().unwrap();
        (count("candidates"), count("first"))
    };
    let (own, by_priority) = counts(&["--order", "prior"]);
    let (same, last_first) = counts(&["--order", "lefs"]);
    assert_eq!(own, same);
    assert_ne!(by_priority, last_first);
    assert!(counts(&["--scope", "all"]).0 > own);
}

#[test]
fn the_arguments_of_a_source_come_after_the_dashes() {
    let scratch = Scratch::new("explain-dashes");
    compile(&scratch, &example("triangle"));
    let ran = scratch.whydunit(&["explain", "triangle.c", "--expect-stdout", "9.92", "6", "5", "4"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("the arguments of triangle.c come after --"), "{}", ran.stderr);
}

#[test]
fn a_run_of_which_nobody_can_tell_whether_it_failed_has_no_answer() {
    let scratch = Scratch::new("explain-unknown");
    let program = compile(&scratch, &example("triangle"));
    let options = ["--max-instructions", "1000", "--expect-stdout", "9.92"];
    let ran = explain(&scratch, &options, &[&program, "6", "5", "4"], "");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("nobody can tell whether it failed"), "{}", ran.stderr);
}

/// Each round makes decisions that matter until the end, so that there is enough to try.
const ENDLESS: &str = "#include <stdio.h>\n\
                       int main(void)\n{\n\
                       unsigned sum = 1;\n\
                       for (unsigned i = 0; i < 60000; i++)\n\
                       sum = sum & 1 ? sum * 3 + i : sum / 2 + i;\n\
                       printf(\"%u\\n\", sum);\n}\n";

#[test]
fn a_search_that_is_interrupted_tells_what_it_has() {
    let scratch = Scratch::new("explain-interrupt");
    scratch.compile("endless", ENDLESS, &["-O0"]);
    // To try all of it takes minutes.
    let command = scratch.command(&["explain", "--expect-stdout", "1", "--", "./endless"]);
    let ran = interrupted(command, Duration::from_millis(1500));
    assert!(ran.stdout.starts_with("FAILED") && ran.stdout.contains("cut short"), "{ran:?}");
}

/// Nobody waits at all: what is known at once is told, and that it is not all.
#[test]
fn an_answer_that_is_wanted_at_once_says_that_it_is_cut_short() {
    let scratch = Scratch::new("explain-at-once");
    let program = compile(&scratch, &of_locate("settings"));
    let ran = explain(&scratch, &["--timeout", "0"], &[&program], "# c\ncolor=red\nname=\nsize=3\n");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stdout
            .contains("settings was killed by SIGSEGV: it read through a null pointer\n        settings.c:"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("cut short: more time"), "{}", ran.stdout);
    assert!(ran.stdout.contains("no time was left"), "{}", ran.stdout);
}

/// What functions returned that a condition asked is in no variable.
#[test]
fn conditions_are_told_with_what_their_calls_returned() {
    let scratch = Scratch::new("explain-calls");
    let source = "#include <stdio.h>\n#include <string.h>\n\
                  static int digits(const char *text)\n{\n\
                  int count = 0;\n\
                  for (; *text; text++)\n\
                  count += *text >= '0' && *text <= '9';\n\
                  return count;\n}\n\
                  int main(int argc, char **argv)\n{\n\
                  if (strcmp(argv[1], \"go\") > 0 || digits(argv[1]) + digits(argv[2]) > 3)\n\
                  puts(\"many\");\n\
                  return 0;\n}\n";
    scratch.compile("calls", source, &["-O0"]);
    let ran = explain(&scratch, &["--expect-stdout", "many"], &["./calls", "a12", "b7"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    let told = "was false with strcmp(argv[1], \"go\") = -";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    // Which of these two was called first is for the compiler to choose.
    assert!(!ran.stdout.contains("digits(argv[1]) ="), "{}", ran.stdout);
}

/// Strings of C++ are objects, and are told by their text.
#[test]
fn strings_are_told_by_their_text() {
    let scratch = Scratch::new("explain-strings");
    let source = "#include <iostream>\n#include <string>\n#include <string_view>\n\
                  static bool fits(const std::string &word, std::string_view end)\n{\n\
                  return word.size() < 4 && end != word;\n}\n\
                  int main(int argc, char **argv)\n{\n\
                  std::string first = argv[1];\n\
                  if (first == \"one\" || fits(first, argv[2]))\n\
                  std::cout << \"fits\\n\";\n\
                  }\n";
    scratch.write("strings.cpp", source);
    scratch.build("strings.cpp", &["-O0".to_owned(), "-std=c++17".to_owned()]);
    let ran = explain(&scratch, &["--expect-stdout", "fits"], &["./strings", "none", "or"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    let told = "was false with word.size() = 4, word = \"none\" and end = \"or\"";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    assert!(ran.stdout.contains("first is given \"none\""), "{}", ran.stdout);
}

#[test]
fn an_endless_recursion_is_told_by_its_calls_and_by_what_should_end_it() {
    let scratch = Scratch::new("explain-recursion");
    let source = "#include <stdio.h>\n\
                  static int odd(int n);\n\
                  static int even(int n)\n{\n\
                  if (n == 0)\n\
                  return 1;\n\
                  return odd(n - 1);\n}\n\
                  static int odd(int n)\n{\n\
                  if (n == 1)\n\
                  return 1;\n\
                  return even(n - 1);\n}\n\
                  int main(void)\n{\n\
                  printf(\"%d\\n\", odd(4));\n\
                  return 0;\n}\n";
    scratch.compile("endless", source, &["-O0"]);
    let ran = explain(&scratch, &[], &["./endless"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    for told in [
        "FAILED  ./endless used up its stack of 8 MiB\n",
        "endless.c:13   return even(n - 1);\n                       odd calls even, and so on\n",
        "endless.c:7    return odd(n - 1);\n                       even calls odd, and so on\n",
        "CAUSE   endless.c:",
        "if (n == 1)\n",
        "the run exits with status 0",
    ] {
        assert!(ran.stdout.contains(told), "{told}\n{}", ran.stdout);
    }
}

/// To keep from using what has no value is no repair, and that it has none is the answer.
#[test]
fn what_has_no_value_is_told_without_conditions_that_only_lead_elsewhere() {
    let scratch = Scratch::new("explain-unset");
    let source = "#include <stdio.h>\n#include <stdlib.h>\n\
                  struct item { char *name; int count; };\n\
                  int main(int argc, char **argv)\n{\n\
                  struct item *item = malloc(sizeof *item);\n\
                  item->count = argc;\n\
                  if (item->count > 0)\n\
                  puts(item->name);\n\
                  return 0;\n}\n";
    scratch.compile("unset", source, &["-O0"]);
    let ran = explain(&scratch, &[], &["./unset"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("uses item->name, which was never given a value"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("CAUSE") && !ran.stdout.contains("ALSO POSSIBLE"), "{}", ran.stdout);
    assert!(ran.stdout.contains("READ NEXT\n"), "{}", ran.stdout);
}

#[test]
fn a_program_without_symbols_is_told_by_addresses() {
    let scratch = Scratch::new("explain-stripped");
    let source = "#include <stdio.h>\n\
                  int main(int argc, char **argv)\n{\n\
                  if (argc > 3)\n\
                  puts(\"many\");\n\
                  else\n\
                  puts(\"few\");\n\
                  return 0;\n}\n";
    scratch.compile("stripped", source, &["-O0", "-s"]);
    let ran = explain(&scratch, &["--expect-stdout", "many"], &["./stripped", "a", "b"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains("somewhere"), "{}", ran.stdout);
    assert!(ran.stdout.contains("CAUSE   function at 0x"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the decision at 0x"), "{}", ran.stdout);
}

#[test]
fn bytes_that_are_no_text_are_written_out() {
    let scratch = Scratch::new("explain-bytes");
    let source = "#include <stdio.h>\n\
                  int main(int argc, char **argv)\n{\n\
                  printf(\"%c%s\\n\", argc > 2 ? 0xfe : 0xff, argv[1]);\n\
                  return 0;\n}\n";
    scratch.compile("bytes", source, &["-O0"]);
    scratch.write("expected", "");
    std::fs::write(scratch.path().join("expected"), b"\xfea\n").unwrap();
    let ran = explain(&scratch, &["--expect-stdout", "@expected"], &["./bytes", "a"], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains(r#"printed "\xffa", expected "\xfea""#), "{}", ran.stdout);
    assert!(ran.stdout.contains(r#"the run prints "\xfea""#), "{}", ran.stdout);
}

/// Backtraces that a panic prints would be made inside of the machine, which takes a thousand times as long as the run.
#[test]
fn a_program_in_rust_is_not_asked_for_backtraces() {
    let scratch = Scratch::new("explain-backtrace");
    let source = "fn main() {\n    let count = std::env::args().count();\n    let limit = if count > 1 { 9 } else { 0 };\n    assert!(count < limit);\n}\n";
    scratch.write("panics.rs", source);
    scratch.build("panics.rs", &[]);
    let told = |words: &[&str]| {
        let output = scratch.command(words).env("RUST_BACKTRACE", "1").output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let message = "the program does not get RUST_BACKTRACE";
    assert!(told(&["explain", "--", "./panics"]).contains(message));
    assert!(!told(&["explain", "--", "/bin/true"]).contains(message));
    let asked = ["explain", "--timeout", "1", "--env", "RUST_BACKTRACE=0", "--", "./panics"];
    assert!(!told(&asked).contains(message));
}

/// Neither the blanks before a number nor the newline after it come from an operand of any instruction.
#[test]
fn a_byte_of_a_printed_number_is_asked_about_by_the_number() {
    const SOURCE: &str = r#"#include <stdio.h>
#include <stdlib.h>
static long total(long count, long price)
{
    long sum = count + price;
    return sum;
}
static void report(const char *label, long sum, double share)
{
    printf("%s%*ld|%-8.2f|\n", label, 10, sum, share);
}
int main(int argc, char **argv)
{
    long sum = total(atol(argv[1]), atol(argv[2]));
    report("sum", sum, sum * 0.5);
    return 0;
}
"#;
    let scratch = Scratch::new("explain-emission");
    scratch.compile("total", SOURCE, &["-O0"]);
    // The first wrong byte is a blank, a digit, and with 19 x 1 the blank of a number that is too long.
    for (count, price, right) in [("40", "30", "1200"), ("40", "3", "120"), ("19", "1", "19")] {
        let number: f64 = right.parse().unwrap();
        let expected = format!("sum{right:>10}|{:<8.2}|\n", number * 0.5);
        let ran = scratch.whydunit(&["explain", "--expect-stdout", &expected, "--", "./total", count, price]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stdout.contains("long sum = count + price;"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("a constant of the program"), "{}", ran.stdout);
    }
}
