//! What `whydunit explain` calls things: how a run failed, conditions and their values, and what it has counted.

mod common;

use common::{Ran, Scratch};

fn explain(scratch: &Scratch, options: &[&str], command: &[&str]) -> Ran {
    scratch.whydunit_apart(&[&["explain"], options, &["--"], command].concat(), b"")
}

#[track_caller]
fn says(ran: &Ran, wanted: &[&str]) {
    for text in wanted {
        assert!(ran.stdout.contains(text), "{text:?} is missing\n{}{}", ran.stdout, ran.stderr);
    }
}

const DIVIDES: &str = "#include <stdlib.h>
int mean(const int *v, int n, int least)
{
    int sum = 0, count = 0;
    for (int i = 0; i < n; i++)
        if (v[i] > least)
            sum += v[i], count++;
    return sum / count;
}
int main(int argc, char **argv)
{
    int v[] = {1, 2, 3};
    return mean(v, 3, atoi(argv[1]));
}
";

#[test]
fn a_crash_is_told_as_run_tells_it_and_the_path_ends_where_it_happened() {
    let scratch = Scratch::new("words-divides");
    scratch.compile("divides", DIVIDES, &["-O0"]);
    let doing = "was killed by SIGFPE: it divided by zero";
    let ran = scratch.whydunit(&["run", "--", "./divides", "10"]);
    assert!(ran.stderr.contains(doing), "{}", ran.stderr);
    let ran = explain(&scratch, &[], &["./divides", "10"]);
    let path = "PATH    divides.c:6    (v[i] > least) is false
        divides.c:8    return sum / count;
                       was killed by SIGFPE: it divided by zero
";
    says(&ran, &[&format!("FAILED  ./divides 10 {doing}"), path]);
    // What more would save the run is not announced where nothing is listed.
    assert!(!ran.stdout.contains("ALSO POSSIBLE"), "{}", ran.stdout);
    says(&ran, &["2 more decisions save the run"]);
    let ran = explain(&scratch, &["--format", "json"], &["./divides", "10"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["failure"]["text"], doing);
    assert_eq!(answer["findings"][0]["failed"], doing);
}

#[test]
fn the_page_ends_the_path_where_it_happened_and_tells_each_line_once() {
    let scratch = Scratch::new("words-page");
    scratch.compile("divides", DIVIDES, &["-O0"]);
    let page = explain(&scratch, &["--format", "html"], &["./divides", "10"]).stdout;
    let section = |name: &str| {
        let rest = page.split(&format!("<section id=\"{name}\">")).nth(1)?;
        rest.split("</section>").next().map(str::to_owned)
    };
    let path = section("path").unwrap();
    assert!(path.contains("divides.c:8") && path.contains("it divided by zero"), "{path}");
    let listed = section("read").unwrap_or_default() + &section("further").unwrap_or_default();
    for line in ["divides.c:6<", "divides.c:8<"] {
        assert!(!listed.contains(line), "{line} is told again: {listed}");
    }
}

#[test]
fn a_block_of_the_heap_is_told_with_its_history() {
    let scratch = Scratch::new("words-heap");
    let source = "#include <stdlib.h>
int main(int argc, char **argv)
{
    int *p = malloc(16);
    if (argc < 5)
        free(p);
    p[1] = 3;
    return 0;
}
";
    scratch.compile("frees", source, &["-O0"]);
    let doing = "wrote to memory after it was freed, 4 bytes into a block of 16 allocated at frees.c:4 and freed at frees.c:6";
    let ran = scratch.whydunit(&["run", "--", "./frees"]);
    assert!(ran.stderr.contains(doing), "{}", ran.stderr);
    says(&explain(&scratch, &[], &["./frees"]), &[&format!("FAILED  ./frees {doing}")]);
}

#[test]
fn a_pointer_that_was_asked_for_is_told() {
    let scratch = Scratch::new("words-pointer");
    let source = "#include <stdio.h>
static int numbers[4] = {5, 6, 7, 8};
int main(int argc, char **argv)
{
    int *found = NULL;
    for (int i = 0; i < 4; i++)
        if (numbers[i] > 5 && !found)
            found = &numbers[i];
    printf(\"%d\\n\", *found);
    return 0;
}
";
    scratch.compile("finds", source, &["-O0"]);
    let ran = explain(&scratch, &["--expect-stdout", "8"], &["./finds"]);
    says(&ran, &["was false with numbers[i] = 8, i = 3 and found = <numbers+4>"]);
}

#[test]
fn conditions_of_rust_are_true_or_false() {
    let scratch = Scratch::new("words-rust");
    scratch.write(
        "discount.rs",
        "fn discount(count: u32) -> u32 { if count > 10 { 10 } else { 0 } }
fn main() {
    let count: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    println!(\"{}\", 100 - discount(count));
}
",
    );
    scratch.build("discount.rs", &["-g".to_owned()]);
    let ran = explain(&scratch, &["--expect-stdout", "90"], &["./discount", "10"]);
    says(&ran, &["was false with count = 10;", "discount.rs:1   (count > 10) is false"]);
}

#[test]
fn the_condition_of_a_function_in_one_line_is_its_expression() {
    let scratch = Scratch::new("words-method");
    scratch.write(
        "reads.cpp",
        "#include <cstdio>
#include <cstring>
struct Reader {
    const char *text; size_t at;
    bool more() const { return at < strlen(text) - 1; }
};
int main(int argc, char **argv)
{
    Reader reader{argv[1], 0};
    int count = 0;
    while (reader.more()) { reader.at++; count++; }
    printf(\"%d\\n\", count);
}
",
    );
    scratch.build("reads.cpp", &["-g".to_owned(), "-O0".to_owned()]);
    let ran = explain(&scratch, &["--expect-stdout", "3"], &["./reads", "abc"]);
    says(&ran, &["(at < strlen(text) - 1) is false"]);
}

#[test]
fn several_calls_in_one_line_are_one_recursion() {
    let scratch = Scratch::new("words-recursion");
    let source = "int fill(int y, int x)
{
    if (y == 9 && x == 9)
        return 0;
    return 1 + fill(y - 1, x) + fill(y + 1, x);
}
int main(void) { return fill(1, 1); }
";
    // Half of the rounds take one of the calls, half the other.
    let source = source.replace("fill(y - 1, x) +", "(y % 2 ? fill(y - 1, x) : 0) +");
    scratch.compile("fills", &source, &["-O0"]);
    let ran = explain(&scratch, &[], &["./fills"]);
    assert_eq!(ran.stdout.matches("fill calls itself, and so on").count(), 1, "{}", ran.stdout);
}

#[test]
fn an_oracle_that_does_not_work_is_told_of_after_a_crash_too() {
    let scratch = Scratch::new("words-oracle");
    scratch.compile("divides", DIVIDES, &["-O0"]);
    let ran = explain(&scratch, &["--oracle", "no-such-command"], &["./divides", "10"]);
    assert!(ran.stderr.contains("warning: the oracle `no-such-command` ended with"), "{}", ran.stderr);
}

#[test]
fn what_libraries_decide_comes_after_what_the_program_does() {
    let scratch = Scratch::new("words-scope");
    scratch.compile("divides", DIVIDES, &["-O0"]);
    let ran = explain(&scratch, &["--scope", "all"], &["./divides", "10"]);
    says(&ran, &["CAUSE   divides.c:6 "]);
}

#[test]
fn without_a_trial_it_is_said_what_was_computed() {
    let scratch = Scratch::new("words-budget");
    scratch.compile("divides", DIVIDES, &["-O0"]);
    let ran = explain(&scratch, &["--budget", "0"], &["./divides", "10"]);
    says(&ran, &["CAUSE   not found: 0 of ", "What computed what is wrong, the nearest first"]);
    assert!(!ran.stdout.contains(" 0 by budget"), "{}", ran.stdout);
}

#[test]
fn a_run_without_end_is_a_hang_although_nobody_says_how_long_it_may_take() {
    let scratch = Scratch::new("words-hang");
    let source = "#include <stdlib.h>
int main(int argc, char **argv)
{
    int low = 0, high = argc + 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (middle > 7)
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}
";
    scratch.compile("searches", source, &["-O0"]);
    let ran = explain(&scratch, &[], &["./searches"]);
    says(
        &ran,
        &["FAILED  ./searches was still running after 5,000,000,000 instructions", "CAUSE   searches.c:5"],
    );
}
