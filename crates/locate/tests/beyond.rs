//! Failures that no single condition explains, and oracles that look at more than the end of a run.

mod common;

use std::path::{Path, PathBuf};

use common::{Failing, Scratch, crashing, options, printing};
use locate::switching::{Change, Effect, Found, Options};
use replay::{Bytes, Case, Expectation};

const SHAPES: &str = r#"#include <stdio.h>
static int corners(char kind)
{
    int count;
    switch (kind) {
    case 't': count = 3; break;
    case 's': count = 4; break;
    case 'p': count = 5; break;
    case 'h': count = 6; break;
    case 'o': count = 8; break;
    default: count = 0; break;
    }
    return count;
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (char *at = argv[1]; *at; at++)
        sum += corners(*at);
    printf("%d corners\n", sum);
    return 0;
}
"#;

fn compiled(scratch: &Scratch, name: &str, text: &str, flags: &[&str]) -> PathBuf {
    scratch.compile(&scratch.write(name, text), flags)
}

fn lines(failing: &Failing, found: &Found) -> Vec<u32> {
    failing.lines(found)
}

/// With 5 for 's' the sum would be right: some input was meant to be a 'p'.
#[test]
fn another_case_of_a_switch_is_tried_when_no_condition_helps() {
    let scratch = Scratch::new("cases");
    for (name, flags) in [("tables", &["-O0"][..]), ("chains", &["-O0", "-fno-jump-tables"])] {
        let program = compiled(&scratch, name, SHAPES, flags);
        let mut failing = Failing::new(printing(&program, &["ts"], "", "8 corners"));
        let found = failing.switch(&options());
        assert!(found.statistics.cases > 0, "{:?}", found.statistics);
        assert!(lines(&failing, &found).contains(&5), "{name} {:?}", found.statistics);
        let cases: Vec<&Change> = found.critical.iter().map(|critical| &critical.change).collect();
        let is_p = |change: &&&Change| matches!(change, Change::Case(values) if values[..] == [(112, 112)]);
        assert_eq!(cases.iter().filter(is_p).count(), 1, "{name} {cases:?}");
    }
}

const COUNTING: &str = r#"#include <stdio.h>
int main(int argc, char **argv)
{
    int small = 0, large = 0;
    for (int i = 1; i < argc; i++) {
        int value = 0;
        sscanf(argv[i], "%d", &value);
        if (value >= 10)
            small++;
        else
            large++;
    }
    printf("%d small, %d large\n", small, large);
    return 0;
}
"#;

#[test]
fn a_condition_that_is_always_wrong_is_found_when_no_single_decision_helps() {
    let scratch = Scratch::new("wholes");
    let program = compiled(&scratch, "counting", COUNTING, &["-O0"]);
    let words = ["1", "2", "3", "4", "50"];
    let mut failing = Failing::new(printing(&program, &words, "", "4 small, 1 large"));
    let found = failing.switch(&options());
    let inverted = |change: &Change| matches!(change, Change::Inverted);
    let repairing: Vec<_> = found.critical.iter().filter(|one| one.effect == Effect::Repairs).collect();
    assert!(repairing.iter().any(|one| inverted(&one.change)), "{:?} {repairing:?}", found.statistics);
    assert!(lines(&failing, &found).contains(&8));
    let always = |change: &Change| matches!(change, Change::Always(_));
    assert!(!repairing.iter().any(|one| always(&one.change)), "all large would be wrong, too");
}

const PLACES: &str = r#"#include <stdio.h>
#include <stdlib.h>
static const char *names[] = {0, 0, 0, "three"};
static int *after[] = {0};

static void insist(const char *name)
{
    if (!name)
        abort();
}

int main(int argc, char **argv)
{
    int places = 0;
    insist("first");
    for (int i = 2; i < argc; i++)
        if (argv[i][0] >= 'm')
            places++;
    switch (argv[1][0]) {
    case 'a':
        insist(names[places]);
        break;
    case 's':
        if (places == 0)
            printf("%d\n", *after[0]);
        break;
    default:
        printf("%c\n", names[places][0]);
        if (argv[1][0] == 'l')
            printf("%d\n", *after[0]);
    }
    return 0;
}
"#;

/// What came of the condition at a line, when all of its decisions went another way.
fn wholes(failing: &Failing, found: &Found, line: u32) -> Vec<Effect> {
    let is_whole = |change: &Change| matches!(change, Change::Inverted | Change::Always(_));
    let critical = found.critical.iter().zip(lines(failing, found));
    let at = critical.filter(|(critical, at)| *at == line && is_whole(&critical.change));
    let mut effects: Vec<Effect> = at.map(|(critical, _)| critical.effect).collect();
    effects.dedup();
    effects
}

/// Not one place fewer than three has a name, so that no single decision helps.
#[test]
fn a_crash_that_all_decisions_together_avoid_is_told_from_one_that_is_not_come_to() {
    let scratch = Scratch::new("avoided");
    let program = compiled(&scratch, "places", PLACES, &["-O0"]);
    for (kind, effect) in [("p", Effect::Repairs), ("a", Effect::Repairs), ("l", Effect::Survives)] {
        let mut failing = Failing::new(crashing(&program, &[kind, "a", "b", "c"], ""));
        let found = failing.switch(&options());
        assert_eq!(wholes(&failing, &found, 17), [effect], "{kind} {:?}", found.statistics);
    }
    let mut failing = Failing::new(crashing(&program, &["s", "a", "b", "c"], ""));
    let found = failing.switch(&options());
    assert_eq!(wholes(&failing, &found, 17), [Effect::Skips], "{:?}", found.statistics);
}

#[test]
fn the_condition_around_a_crash_avoids_nothing_when_all_its_decisions_are_others() {
    let scratch = Scratch::new("around");
    let program = compiled(&scratch, "places", PLACES, &["-O0"]);
    let mut failing = Failing::new(crashing(&program, &["a", "a", "b", "c"], ""));
    let found = failing.switch(&options());
    assert_eq!(wholes(&failing, &found, 8), [Effect::Skips], "{:?}", found.statistics);
}

const PERMITS: &str = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int may_read = 0, may_write = 0;
    if (strcmp(argv[1], "root") == 0)
        may_read = 1;
    printf("checking\n");
    if (strchr(argv[2], 'W'))
        may_write = 1;
    printf("%s\n", may_read + may_write == 2 ? "granted" : "denied");
    return 0;
}
"#;

#[test]
fn two_conditions_that_help_only_together_are_found_as_a_pair() {
    let scratch = Scratch::new("pairs");
    let program = compiled(&scratch, "permits", PERMITS, &["-O0"]);
    let source = PERMITS
        .replace("may_read + may_write == 2 ? \"granted\" : \"denied\"", "names[may_read + may_write]");
    let source = source
        .replace("int may_read", "const char *names[] = {\"none\", \"some\", \"all\"};\n    int may_read");
    let tabled = compiled(&scratch, "tabled", &source, &["-O0"]);
    for (program, expected) in [(&program, "checking\ngranted"), (&tabled, "checking\nall")] {
        let mut failing = Failing::new(printing(program, &["rot", "w"], "", expected));
        let found = failing.switch(&options());
        if expected.ends_with("granted") {
            // One condition decides what is printed.
            assert_eq!(found.statistics.pairs, 0);
            continue;
        }
        assert!(found.statistics.pairs > 0, "{:?}", found.statistics);
        let found_lines = lines(&failing, &found);
        assert!(found_lines.contains(&7), "{found_lines:?} {:?}", found.statistics);
        let second = found.critical.iter().find_map(|critical| match &critical.change {
            Change::With(second) => second.decided.stmt.as_ref().map(|stmt| stmt.line),
            _ => None,
        });
        assert_eq!(second, Some(10));
    }
}

fn judged(program: &Path, words: &[&str], expectation: Expectation) -> Case {
    let mut case = crashing(program, words, "");
    case.oracle.expectations.push(expectation);
    case
}

const DISCOUNT: &str = r#"#include <stdio.h>
#include <stdlib.h>
static int price(int amount, int is_member)
{
    int rebate = 0;
    if (amount > 100 || is_member)
        rebate = amount;
    if (amount == 7)
        printf("lucky\n");
    return amount - rebate;
}

int main(int argc, char **argv)
{
    int total = price(atoi(argv[1]), argc > 2);
    printf("%d\n", total);
    return 0;
}
"#;

#[test]
fn an_assertion_judges_each_trial() {
    let scratch = Scratch::new("asserted");
    let program = compiled(&scratch, "discount", DISCOUNT, &["-O0"]);
    let holds = Expectation::Holds("discount.c:16: total > 0".to_owned());
    let mut failing = Failing::new(judged(&program, &["200"], holds));
    let one = failing.switch(&Options { threads: 1, ..options() });
    let three = failing.switch(&Options { threads: 3, ..options() });
    assert_eq!(lines(&failing, &one), [6], "{:?}", one.statistics);
    assert_eq!(one.statistics, three.statistics);
}

#[test]
fn a_command_judges_each_trial_by_what_it_left_behind() {
    let scratch = Scratch::new("commanded");
    let program = compiled(&scratch, "discount", DISCOUNT, &["-O0"]);
    let command = Expectation::Command(Bytes::from("test \"$(tail -n 1 stdout)\" != 0"));
    let mut failing = Failing::new(judged(&program, &["200"], command));
    let one = failing.switch(&Options { threads: 1, ..options() });
    let three = failing.switch(&Options { threads: 3, ..options() });
    assert_eq!(lines(&failing, &one), [6], "{:?}", one.statistics);
    assert_eq!(one.statistics, three.statistics);
}
