//! Inputs are reduced to what a failure needs, and to nothing that fails in another way.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{crashing, printing};
use linux::Process;
use locate::minimize::{Compared, MinimizeError, Minimized, Minimizer, Options, PartName};
use program::Program;
use replay::failure::FailureKind;
use replay::{Bytes, Case, Expectation, Heap, Stdin};
use tempfile::TempDir;

fn view(process: &Process) -> Program {
    Program::from_memory(&process.machine.memory)
}

fn options() -> Options<'static> {
    Options { threads: 2, budget: u64::MAX, stop: &|| false, watch: &|_| {} }
}

#[track_caller]
fn minimize(case: &Case, options: &Options<'_>) -> Minimized {
    let minimizer = Minimizer::new(case, &view).unwrap();
    let minimized = minimizer.minimize(options);
    assert!(minimizer.fails_with(&minimized.input.apply(case)), "what is left does not fail");
    minimized
}

#[track_caller]
fn text(minimized: &Minimized, name: &PartName) -> String {
    String::from_utf8_lossy(minimized.input.part(name).unwrap().text.bytes()).into_owned()
}

fn arguments(minimized: &Minimized) -> Vec<String> {
    let argument = |number| minimized.input.part(&PartName::Argument(number));
    let texts = (1..20).filter_map(argument).map(|part| part.text.bytes());
    texts.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

fn scratch() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn write(scratch: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = scratch.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn compile(scratch: &TempDir, name: &str, source: &str) -> PathBuf {
    let path = write(scratch, &format!("{name}.c"), source);
    let to = scratch.path().join(name);
    let status = Command::new("gcc").args(["-g", "-w", "-O0", "-o"]).arg(&to).arg(path).status();
    assert!(status.unwrap().success());
    to
}

/// Crashes at a bracket that is not closed on its line, and elsewhere at an exclamation mark; a question mark is refused.
const PARSER: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int depth;
static void one_line(char *line) {
    char *open = strchr(line, '['), *nothing = 0;
    if (strchr(line, '!'))
        *nothing = 1;
    if (open && !strchr(open, ']'))
        nothing[1] = line[0];
    if (strchr(line, '?'))
        exit(2);
    depth++;
}
int main(int argc, char **argv) {
    char line[1000];
    while (fgets(line, sizeof line, stdin))
        one_line(line);
    printf("%d lines\n", depth);
    return 0;
}
"#;

fn long_input(bad: &str) -> String {
    let line = |number: usize| match number {
        57 => format!("name {number}, {bad} = list\n"),
        _ => format!("entry {number}: list[{number}] = value of {number}, another {}\n", number * 7),
    };
    (0..100).map(line).collect()
}

#[test]
fn of_a_long_input_the_token_is_left_that_crashes() {
    let scratch = scratch();
    let program = compile(&scratch, "parser", PARSER);
    let input = long_input("broken [12");
    let minimized = minimize(&crashing(&program, &[], &input), &options());
    assert_eq!(text(&minimized, &PartName::Stdin), "[");
    assert!(!minimized.is_cut_short);
    assert!(minimized.counts.remembered > 0, "{:?}", minimized.counts);
    // Without the bracket the input is empty, and passes.
    let difference = minimized.difference.unwrap();
    let [span] = &difference.spans[..] else { panic!("{difference:?}") };
    let place = input.find("[12 =").unwrap() as u64;
    assert_eq!((span.range.clone(), span.given.clone()), (0..1, Some(place..place + 1)));
}

#[test]
fn a_crash_elsewhere_is_another_failure() {
    let scratch = scratch();
    let program = compile(&scratch, "parser", PARSER);
    // The first line that crashes counts; each of the others would crash alone.
    let input = format!("{}!\n[\n!\n", long_input("broken [12"));
    assert_eq!(text(&minimize(&crashing(&program, &[], &input), &options()), &PartName::Stdin), "[");
    let input = format!("!\n{}", long_input("broken [12"));
    assert_eq!(text(&minimize(&crashing(&program, &[], &input), &options()), &PartName::Stdin), "!");
}

/// The fault is at the same instruction of the library both times.
#[test]
fn a_crash_in_a_library_is_told_by_who_called_it() {
    let scratch = scratch();
    let source = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void drop(char *block) { free(block); }
int main(void) {
    char line[100], *block = malloc(10);
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "twice")) { drop(block); free(block); }
        if (line[0] == 'w') free(line + 1);
    }
    return 0;
}
"#;
    let program = compile(&scratch, "callers", source);
    let case = crashing(&program, &[], "some\ntwice or more\nwild\n");
    let case = Case { heap: Heap::Checked, ..case };
    let minimized = minimize(&case, &options());
    assert_eq!(text(&minimized, &PartName::Stdin), "twice");
}

#[test]
fn nothing_depends_on_the_number_of_threads() {
    let scratch = scratch();
    let program = compile(&scratch, "parser", PARSER);
    let case = crashing(&program, &[], &long_input("broken [12"));
    let with = |threads, budget| minimize(&case, &Options { threads, budget, ..options() });
    let (alone, short) = (with(1, u64::MAX), with(1, 9));
    assert!(short.is_cut_short && short.input.size() > alone.input.size());
    for threads in 2..=4 {
        assert_eq!(with(threads, u64::MAX), alone);
        assert_eq!(with(threads, 9), short);
    }
}

const SUM: &str = r#"#include <assert.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int low = 0, high = 10;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "low=", 4)) low = atoi(argv[i] + 4);
        if (!strncmp(argv[i], "high=", 5)) high = atoi(argv[i] + 5);
    }
    assert(low < high);
    return 0;
}
"#;

#[test]
fn of_several_arguments_those_are_left_that_violate_an_assertion_together() {
    let scratch = scratch();
    let program = compile(&scratch, "sum", SUM);
    let case = crashing(&program, &["-v", "low=7", "name=x", "high=5", "again"], "not read");
    let minimized = minimize(&case, &options());
    // A bound of zero is what is left of the number that was given.
    assert_eq!(arguments(&minimized), ["high="]);
    let case = crashing(&program, &["-v", "low=70", "name=x", "high=50", "again", "low=60"], "");
    let case = Case {
        oracle: replay::Oracle {
            expectations: vec![Expectation::Holds("sum.c:10: low < high || high < 20".to_owned())],
            ..case.oracle.clone()
        },
        ..case
    };
    // The assertion of the program is violated later than that of the case.
    let minimized = minimize(&case, &options());
    assert_eq!(arguments(&minimized), ["high=50", "low=60"]);
}

const READER: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *path = strncmp(argv[i], "--in=", 5) ? argv[i] : argv[i] + 5;
        FILE *file = fopen(path, "r");
        if (!file) return 1;
        struct stat about;
        stat(path, &about);
        int size = 0;
        char *last = 0;
        for (int c; (c = getc(file)) != EOF; size++)
            if (c == '%') last = malloc(1);
        if (size != about.st_size) return 3;
        fclose(file);
        if (last && strstr(argv[i], "second"))
            return *(volatile char *) 1;
    }
    return 0;
}
"#;

#[test]
fn files_that_arguments_name_are_reduced_and_the_hosts_are_left_alone() {
    let scratch = scratch();
    let program = compile(&scratch, "reader", READER);
    let first = write(&scratch, "first.txt", "much 100% to read\n");
    let second = write(&scratch, "second.txt", &long_input("a % b"));
    let option = format!("--in={}", second.display());
    let case = crashing(&program, &[first.to_str().unwrap(), &option], "");
    let minimized = minimize(&case, &options());
    assert_eq!(arguments(&minimized), [option]);
    let name = PartName::File(Bytes::from(std::fs::canonicalize(&second).unwrap().as_path()));
    assert_eq!(text(&minimized, &name), "%");
    assert_eq!(std::fs::read_to_string(&second).unwrap(), long_input("a % b"));

    // The same as standard input: a file that can be sought in, from an offset on.
    let parser = compile(&scratch, "parser", PARSER);
    let stdin = Stdin::File { path: Bytes::from(second.as_path()), offset: 10 };
    std::fs::write(&second, "[ [ [ [ [ \nfirst [\nsecond\n").unwrap();
    let minimized = minimize(&Case { stdin, ..crashing(&parser, &[], "") }, &options());
    assert_eq!(text(&minimized, &PartName::Stdin), "[");
}

fn like(reference: &Path, case: Case) -> Case {
    let mut case = case;
    let reference = Expectation::LikeReference(Bytes::from(reference));
    case.oracle.expectations = vec![reference];
    case
}

const SORT: &str = r#"#include <stdio.h>
int main(void) {
    int list[100], count = 0;
    while (count < 100 && scanf("%d", &list[count]) == 1) count++;
    for (int i = 0; i < count; i++)
        for (int j = 0; j + 1 < count LAST; j++)
            if (list[j] > list[j + 1]) { int t = list[j]; list[j] = list[j + 1]; list[j + 1] = t; }
    for (int i = 0; i < count; i++) printf("%d\n", list[i]);
    return 0;
}
"#;

#[test]
fn the_run_of_a_reference_on_the_reduced_input_is_what_is_expected() {
    let scratch = scratch();
    let wrong = compile(&scratch, "wrong", &SORT.replace("LAST", "- 1"));
    let right = compile(&scratch, "right", &SORT.replace("LAST", ""));
    let case = like(&right, crashing(&wrong, &[], "31 41 59 26 53 58 97 93 23 84\n"));
    let minimizer = Minimizer::new(&case, &view).unwrap();
    assert!(matches!(minimizer.failure().kind, FailureKind::WrongOutput(_)));
    let minimized = minimizer.minimize(&options());
    let left = text(&minimized, &PartName::Stdin);
    let numbers: Vec<u32> = left.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [a, b] = numbers[..] else { panic!("{left:?}") };
    assert!(a > b && left.len() == 3, "{left:?}");
}

#[test]
fn a_text_that_is_expected_of_one_input_cannot_judge_others() {
    let scratch = scratch();
    let program = compile(&scratch, "wrong", &SORT.replace("LAST", "- 1"));
    let error = Minimizer::new(&printing(&program, &[], "2 1", "1\n2"), &view).err().unwrap();
    assert!(matches!(error, MinimizeError::NeedsOracle { .. }));
    for option in ["--reference", "--oracle", "--assert", "--hang-after"] {
        assert!(error.to_string().contains(option), "{error}");
    }
    let passing = printing(&program, &[], "1", "1");
    assert!(matches!(Minimizer::new(&passing, &view), Err(MinimizeError::DidNotFail)));
    let parser = compile(&scratch, "parser", PARSER);
    // A crash is one whatever else was expected.
    let minimized = minimize(&printing(&parser, &[], "a [ b", "1 lines"), &options());
    assert_eq!(text(&minimized, &PartName::Stdin), "[");
    let nothing = compile(&scratch, "nothing", "int main(void) { return *(volatile char *) 1; }");
    assert!(matches!(Minimizer::new(&crashing(&nothing, &[], ""), &view), Err(MinimizeError::NoInput)));
}

#[test]
fn a_hang_is_kept_a_hang() {
    let scratch = scratch();
    let source = "#include <stdio.h>\nint main(void) { for (int c; (c = getchar()) != EOF;) while (c == '@'); return 0; }\n";
    let program = compile(&scratch, "spin", source);
    let mut case = crashing(&program, &[], "no use\nmail@example\n");
    case.oracle.expectations = vec![Expectation::EndsWithin(1_000_000)];
    assert_eq!(text(&minimize(&case, &options()), &PartName::Stdin), "@");
}

#[test]
fn the_difference_to_a_passing_input_is_one_byte_where_it_can_be() {
    let scratch = scratch();
    let program = compile(&scratch, "parser", PARSER);
    let (failing, passing) =
        (long_input("broken [12"), long_input("sound [12]").replace("entry 9", "entrée 9"));
    let minimizer = Minimizer::new(&crashing(&program, &[], &failing), &view).unwrap();
    let compare = |threads| minimizer.compare(passing.as_bytes(), &Options { threads, ..options() });
    let compared = compare(1);
    let Compared::Different(difference, counts) = &compared else { panic!("{compared:?}") };
    assert_eq!(difference.part, PartName::Stdin);
    // What the failing input lacks is the bracket that closes.
    let [span] = &difference.spans[..] else { panic!("{difference:?}") };
    assert_eq!((&span.bytes[..], &span.instead[..]), (&b""[..], &b"]"[..]));
    assert!(counts.asked < 40, "{counts:?}");
    assert_eq!(compare(3), compared);

    // An input that fails, one that fails in another way.
    let same = minimizer.compare(b"[", &options());
    assert_eq!(same, Compared::Fails { is_same: true });
    assert_eq!(minimizer.compare(b"!", &options()), Compared::Fails { is_same: false });
}

#[test]
fn who_stops_it_has_the_best_so_far() {
    let scratch = scratch();
    let program = compile(&scratch, "parser", PARSER);
    let case = crashing(&program, &[], &long_input("broken [12"));
    let seen = std::sync::atomic::AtomicU64::new(0);
    let stop = || seen.load(std::sync::atomic::Ordering::Relaxed) > 12;
    let watch = |progress: locate::minimize::Progress| {
        seen.store(progress.runs, std::sync::atomic::Ordering::Relaxed);
    };
    let minimized = minimize(&case, &Options { stop: &stop, watch: &watch, ..options() });
    let size = minimized.input.size();
    assert!(minimized.is_cut_short && size > 1 && size < long_input("broken [12").len() as u64, "{size}");
}
