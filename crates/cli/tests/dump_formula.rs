//! `whydunit dump formula`: values as C over the names of the source.

mod common;

use common::{Scratch, normalised};

const TRIANGLE: &str = include_str!("../../../examples/triangle/triangle.c");

const TRICKS: &str = r#"#include <stdio.h>
#include <stdlib.h>
enum mood { SAD, FINE, HAPPY };
struct item { unsigned char letter; unsigned count; long total; float share; };
static enum mood judged(const struct item *item)
{
    enum mood mood = item->total > 40 ? HAPPY : SAD;
    return mood;
}
int main(int argc, char **argv)
{
    struct item item = { 'a', 0, 0, 0 };
    int step = atoi(argv[1]);
    item.count = (unsigned)step * 3u % 7u;
    item.letter += step;
    item.total = item.count - step;
    for (int round = 0; round < 2; round++)
        item.total = item.total * step + round;
    item.share = (float)item.total / step;
    enum mood mood = judged(&item);
    printf("%d %c %f\n", mood, item.letter, item.share);
    return mood;
}
"#;

fn formula(scratch: &Scratch, at: &str, command: &[&str]) -> String {
    let ran = scratch.whydunit(&[&["dump", "formula", "--at", at, "--"], command].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    normalised(&ran.stdout)
}

#[test]
fn a_value_is_told_by_what_the_program_computed_it_from() {
    let scratch = Scratch::new("formula-triangle");
    scratch.compile("triangle", TRIANGLE, &["-O0", "-lm"]);
    let text = formula(&scratch, "triangle.c:35:area", &["./triangle", "6", "5", "4"]);
    assert!(text.contains("area = (double)(b * c) / 2.0, which is 10.0"), "{text}");
    assert!(text.contains("b = 5\n"), "{text}");
}

#[test]
fn results_that_are_overwritten_are_numbered() {
    let scratch = Scratch::new("formula-tricks");
    scratch.compile("tricks", TRICKS, &["-O0"]);
    let text = formula(&scratch, "tricks.c:19:item.total", &["./tricks", "5"]);
    let has = |line: &str| assert!(text.lines().any(|one| one.contains(line)), "{line}\n{text}");
    has("item.count = (unsigned)(step * 3) % 7, which is 1");
    has("item.total#1 = (unsigned long)(unsigned)(item.count - step), which is 4294967292");
    has("item.total#3 = step * item.total#2 + round#2");
    assert!(!text.contains("item.total#4"), "{text}");
    let share = formula(&scratch, "tricks.c:20:item.share", &["./tricks", "5"]);
    assert!(share.contains("item.share = (float)item.total#3 / (float)step"), "{share}");
}

#[test]
fn what_a_library_computed_is_given() {
    let scratch = Scratch::new("formula-library");
    scratch.compile("tricks", TRICKS, &["-O0"]);
    let text = formula(&scratch, "exit", &["./tricks", "5"]);
    assert!(text.contains("--suspect '*' follows libraries, too"), "{text}");
}

#[test]
fn only_values_have_formulas() {
    let scratch = Scratch::new("formula-usage");
    scratch.compile("tricks", TRICKS, &["-O0"]);
    let ran = scratch.whydunit(&["dump", "formula", "--at", "tricks.c:20", "--", "./tricks", "5"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("only values have formulas"), "{ran:?}");
}

fn against(scratch: &Scratch, should: &str, solver: &[&str]) -> String {
    let asked = ["dump", "formula", "--at", "tricks.c:19:item.total", "--should", should];
    let ran = scratch.whydunit(&[&asked, solver, &["--", "./tricks", "5"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    normalised(&ran.stdout)
}

#[test]
fn what_contradicts_a_value_that_should_be_is_told_by_any_solver() {
    let scratch = Scratch::new("formula-should");
    scratch.compile("tricks", TRICKS, &["-O0"]);
    for solver in [&[][..], &["--solver", "z3 -in"]] {
        let text = against(&scratch, "item.total < 0", solver);
        assert!(
            text.contains("`item.total < 0` is contradicted by these definitions, and by no fewer"),
            "{text}"
        );
        assert!(text.contains("step * item.total"), "{text}");
        assert!(!text.contains("item.letter"), "{text}");
        let parity = against(&scratch, "item.total % 2 == 1", solver);
        assert!(parity.contains("holds") != parity.contains("is contradicted"), "{parity}");
    }
    assert!(against(&scratch, "item.total > 0", &[]).contains("`item.total > 0` holds"));
    assert!(against(&scratch, "item.total != item.total", &[]).contains("holds for no value of it"));
}

#[test]
fn a_solver_that_is_missing_is_told_and_the_rest_goes_on() {
    let scratch = Scratch::new("formula-solver");
    scratch.compile("tricks", TRICKS, &["-O0"]);
    let text = against(&scratch, "item.total < 0", &["--solver", "no-such-solver"]);
    assert!(text.contains("may hold or not: the solver `no-such-solver` cannot be started"), "{text}");
}

#[test]
fn what_should_be_speaks_of_the_value_that_is_asked_about() {
    let scratch = Scratch::new("formula-should-usage");
    scratch.compile("tricks", TRICKS, &["-O0"]);
    for should in ["item.total <", "step == 4"] {
        let asked =
            ["dump", "formula", "--at", "tricks.c:19:item.total", "--should", should, "--", "./tricks", "5"];
        let ran = scratch.whydunit(&asked);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains("--should"), "{ran:?}");
    }
}
