//! Conditions that save a run when they go the other way.

mod common;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use common::{Failing, Scratch, crashing, example, options, own, printing};
use locate::switching::{Effect, Meter, Options, Order, Parking};
use replay::Heap;

#[test]
fn a_condition_that_is_negated_is_found() {
    let scratch = Scratch::new("triangle");
    let program = scratch.compile(&example("triangle"), &["-O0"]);
    let mut failing = Failing::new(printing(&program, &["6", "5", "4"], "", "9.92"));
    let found = failing.switch(&options());
    assert_eq!(failing.lines(&found), [16], "{:?}", found.statistics);
}

const RECORDS: &str = "3 one\n10 two\n12 three\n7 four\nnone\n4 six\n";
const EXPECTED: &str = "3 4 7 10 12\nlarge 1\nevens 3, last six 53\n";

#[test]
fn a_comparison_that_is_returned_is_a_condition() {
    let scratch = Scratch::new("records");
    let program = scratch.compile(&own("records"), &["-O0"]);
    let mut failing = Failing::new(printing(&program, &[], RECORDS, EXPECTED));
    let found = failing.switch(&options());
    let lines: BTreeSet<u32> = failing.lines(&found).into_iter().collect();
    assert_eq!(lines, BTreeSet::from([20, 51, 52]), "{:?}", found.statistics);
}

/// The meter is asked once a stretch whether it is over, and looks then how far the pass is.
#[test]
fn a_meter_knows_how_far_a_pass_along_the_run_is() {
    let scratch = Scratch::new("metered");
    let program = scratch.compile(&own("records"), &["-O0"]);
    let mut failing = Failing::new(printing(&program, &[], RECORDS, EXPECTED));
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let shares = seen.clone();
    let meter = Arc::new_cyclic(|meter: &Weak<Meter>| {
        let meter = meter.clone();
        Meter::new(move || {
            let share = meter.upgrade().and_then(|meter| meter.pass.percent());
            shares.lock().unwrap().extend(share);
            false
        })
    });
    let metered = failing.switch_until(&options(), &meter);
    assert_eq!(metered.statistics, failing.switch(&options()).statistics);
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 2 && seen.iter().all(|share| *share <= 100), "{seen:?}");
    assert_eq!(meter.pass.percent(), None, "no pass is under way");
}

/// With parking off, each trial runs to its end by itself.
#[test]
fn nothing_depends_on_threads_or_parking() {
    let scratch = Scratch::new("alike");
    for (source, arguments, input, expected) in [
        (example("triangle"), &["6", "5", "4"][..], "", "9.92"),
        (own("records"), &[], RECORDS, EXPECTED),
        (own("records"), &["7"], RECORDS, "3 4 7 10 12\nlarge 2\nevens 3, last six 53\n"),
    ] {
        for flags in ["-O0", "-O1"] {
            let program = scratch.compile(&source, &[flags]);
            for heap in [Heap::Program, Heap::Checked] {
                let case = replay::Case { heap, ..printing(&program, arguments, input, expected) };
                let mut failing = Failing::new(case);
                let alone = failing.switch(&Options { parking: Parking::Never, threads: 1, ..options() });
                let parked = failing.switch(&Options { threads: 1, ..options() });
                let shared = failing.switch(&Options { threads: 3, ..options() });
                let name = source.display();
                assert_eq!(alone.endings(), parked.endings(), "{name} {flags} {heap:?}");
                assert_eq!(parked.statistics, shared.statistics, "{name} {flags} {heap:?}");
                assert_eq!(parked.trials, shared.trials, "{name} {flags} {heap:?}");
                assert!(parked.statistics.instructions < alone.statistics.instructions);
            }
        }
    }
}

#[test]
fn what_the_failure_depends_on_is_tried_first() {
    let scratch = Scratch::new("order");
    let program = scratch.compile(&own("records"), &["-O0"]);
    let mut failing = Failing::new(printing(&program, &[], RECORDS, EXPECTED));
    let prior = failing.switch(&options());
    let lefs = failing.switch(&Options { order: Order::Lefs, ..options() });
    assert_eq!(prior.statistics.candidates, lefs.statistics.candidates);
    assert!(prior.statistics.first < lefs.statistics.first, "{:?} {:?}", prior.statistics, lefs.statistics);
}

/// A condition with which the crash is not come to says nothing about why it happened.
#[test]
fn a_crash_that_is_avoided_is_told_from_one_that_is_not_come_to() {
    let scratch = Scratch::new("settings");
    let program = scratch.compile(&own("settings"), &["-O0"]);
    let mut failing = Failing::new(crashing(&program, &[], "# c\ncolor=red\nname=\nsize=3\n"));
    let found = failing.switch(&options());
    let lines = |effect: Effect| {
        let lines = failing.lines(&found).into_iter().zip(&found.critical);
        let lines = lines.filter(|(_, critical)| critical.effect == effect);
        lines.map(|(line, _)| line).collect::<BTreeSet<u32>>()
    };
    assert_eq!(lines(Effect::Repairs), BTreeSet::from([39]));
    assert!(lines(Effect::Skips).contains(&57), "{:?}", lines(Effect::Skips));
}

/// `where` is null, for line 4 should hold.
const UNSET_WHERE: &str = "
static int table[4], limit = 3, *where;
static void set_up(int mode) {
    if (mode > 7)
        where = table;
}
static int is_large(int n) {
    return n > limit;
}
";

/// The point that crashed is an instruction: a statement that is begun need not come to it.
#[test]
fn a_crash_in_the_line_of_a_condition_is_told_by_the_instruction() {
    let scratch = Scratch::new("one-line");
    for (name, crashes) in [
        ("if", "if (n > 3) *where = 1;"),
        ("while", "while (n-- > 0) *where++ = 1;"),
        ("choice", "n = n > 1 ? *where : 0;"),
        ("both", "if (is_large(n) && *where == 1) n = 2;"),
        ("called", "if (n > 3 && is_large(n)) __builtin_memset(where, n, sizeof table);"),
    ] {
        let text = format!(
            "{UNSET_WHERE}int main(int argc, char **argv) {{\n    int n = argc + 4;\n    set_up(n);\n    {crashes}\n    return 0;\n}}\n"
        );
        let program = scratch.compile(&scratch.write(name, &text), &["-O0"]);
        let mut failing = Failing::new(crashing(&program, &[], ""));
        let found = failing.switch(&options());
        let lines = |effect: Effect| {
            let lines = failing.lines(&found).into_iter().zip(&found.critical);
            lines.filter(|(_, one)| one.effect == effect).map(|(line, _)| line).collect::<BTreeSet<u32>>()
        };
        assert_eq!(lines(Effect::Repairs), BTreeSet::from([4]), "{name}");
        assert!(!lines(Effect::Skips).is_empty() && !lines(Effect::Skips).contains(&4), "{name}");
    }
}

/// Without the first call the second one crashes in the same way; it is one round later, for the list is longer.
const TWICE: &str = "
#include <stdio.h>
#include <stdlib.h>
struct item { int key; struct item *next; };
static struct item *items;
static void drop(int key) {
    struct item **at = &items;
    while ((*at)->key != key)
        at = &(*at)->next;
    *at = (*at)->next;
}
int main(int argc, char **argv) {
    for (int i = 0; i < 4; i++) {
        struct item *item = malloc(sizeof *item);
        item->key = i;
        item->next = items;
        items = item;
    }
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-')
            drop(atoi(argv[i] + 1));
    return 0;
}
";

#[test]
fn a_run_that_fails_in_the_same_way_another_time_is_not_helped() {
    let scratch = Scratch::new("postponed");
    let program = scratch.compile(&scratch.write("twice", TWICE), &["-O0"]);
    let mut failing = Failing::new(crashing(&program, &["-2", "-7"], ""));
    let found = failing.switch(&options());
    let postponing = found.critical.iter().filter(|one| one.effect == Effect::Postpones);
    assert!(postponing.count() > 0, "{:?}", found.statistics);
    assert!(found.critical.iter().all(|one| one.effect != Effect::Survives));
    let saving = found.critical.iter().filter(|one| one.effect.saves()).map(|one| one.trial as u64);
    assert_eq!(found.statistics.first, saving.min(), "who only puts the failure off has not saved the run");
}

/// Failing programs, and the lines of the conditions with which they pass.
const CRASHES_BEYOND: [(&str, &str, &str, &[u32]); 3] = [
    // What is jumped to cannot be executed: the run is at no instruction of the program's own then.
    (
        "nowhere",
        "-O0",
        "#include <stdio.h>
static void (*greet)(int);
static void hello(int n) { printf(\"%d\\n\", n); }
static void set_up(int mode) {
    if (mode > 7)
        greet = hello;
}
int main(int argc, char **argv) {
    int n = argc + 4, odd = 0;
    set_up(n);
    if (n % 2)
        odd = 1;
    greet(n + odd);
    return 0;
}
",
        &[5],
    ),
    // The decision was made in the call that crashed.
    (
        "within",
        "-O0",
        "#include <search.h>
#include <stddef.h>
static int keys[3], seen;
static int compare(const void *a, const void *b) { return (a > b) - (a < b); }
static void visit(const void *node, VISIT which, int depth) {
    if (which == preorder)
        ((void **)node)[2] = (void *)8;
    if (depth > 0)
        seen++;
}
int main(void) {
    void *root = NULL;
    for (int i = 0; i < 3; i++)
        tsearch(&keys[i], &root, compare);
    twalk(root, visit);
    return 0;
}
",
        &[6, 13],
    ),
    // Who calls the library last jumps to it, and is gone.
    (
        "jumped",
        "-O2",
        "#include <stdio.h>
#include <stdlib.h>
static char fixed[8];
__attribute__((noinline)) static char *choose(int n, char *text) {
    if (n < 5) {
        puts(\"fixed\");
        return fixed;
    }
    return text;
}
__attribute__((noinline)) static void drop(char *text) { free(text); }
int main(int argc, char **argv) {
    drop(choose(argc, malloc(8)));
    puts(\"done\");
    return 0;
}
",
        &[5],
    ),
];

#[test]
fn a_crash_beyond_the_programs_own_code_is_known_again() {
    let scratch = Scratch::new("beyond-own");
    for (name, flag, text, passing) in CRASHES_BEYOND {
        let program = scratch.compile(&scratch.write(name, text), &[flag]);
        let mut failing = Failing::new(crashing(&program, &[], ""));
        let found = failing.switch(&options());
        let lines = failing.lines(&found).into_iter().zip(found.critical.iter().map(|one| one.effect));
        let helping: BTreeSet<_> = lines.filter(|(_, effect)| *effect != Effect::Skips).collect();
        let passing = passing.iter().map(|line| (*line, Effect::Repairs)).collect();
        assert_eq!(helping, passing, "{name}: {:?}", found.statistics);
    }
}

/// The loop has no end once its last decision has gone the other way, and takes a page with every few instructions.
const GREEDY: &str = "
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    long taken = 0;
    while (taken != 2) {
        char *block = malloc(1 << 20);
        if (block == NULL)
            abort();
        for (char *byte = block; byte < block + (1 << 20); byte += 4096)
            *byte = 1;
        taken++;
    }
    printf(\"%ld\\n\", taken);
}
";

#[test]
fn a_trial_that_takes_memory_without_end_is_given_up() {
    let scratch = Scratch::new("greedy");
    let program = scratch.compile(&scratch.write("greedy", GREEDY), &["-O0"]);
    for heap in [Heap::Program, Heap::Checked] {
        let case = replay::Case { heap, ..printing(&program, &[], "", "3\n") };
        let found = Failing::new(case).switch(&options());
        assert!(!found.trials.is_empty());
        let longest = found.trials.iter().map(|(_, trial)| trial.instructions).max();
        // A trial is also given up after a million instructions more than the run took; with a page for every few of them that is too late.
        assert!(longest > Some(100_000) && longest < Some(600_000), "{heap:?}: {longest:?}");
    }
}

/// All but the last of the decisions that are tried lead to the same crash; the last one leads past it, to another.
const LAST_OF_MANY: &str = "
#include <stdio.h>
static int value = 7;
static int *slots[40];
static int wanted(int i) {
    if (i > 0)
        return 1;
    return 0;
}
int main(int argc, char **argv) {
    int skipped = 0, *end = NULL;
    for (int i = 0; i < 40; i++) {
        if (wanted(i))
            slots[i] = &value;
        else
            skipped++;
    }
    printf(\"%d skipped\\n\", skipped);
    int first = *slots[0];
    printf(\"%d\\n\", first);
    if (argc > 0)
        *end = first;
    return 0;
}
";

#[test]
fn each_decision_of_a_condition_is_looked_at_for_whether_it_avoids_the_crash() {
    let scratch = Scratch::new("last-of-many");
    let program = scratch.compile(&scratch.write("last", LAST_OF_MANY), &["-O0"]);
    let mut failing = Failing::new(crashing(&program, &[], ""));
    let found = failing.switch(&options());
    let survives = found.critical.iter().any(|critical| critical.effect == Effect::Survives);
    assert!(survives, "{:?}", found.statistics);
    assert_eq!(found.statistics.unclassified, 0);
    assert!(failing.lines(&found).contains(&13), "{:?}", failing.lines(&found));
}

#[test]
fn no_more_instructions_are_taken_than_the_budget_has() {
    let scratch = Scratch::new("budget");
    let program = scratch.compile(&own("records"), &["-O0"]);
    let mut failing = Failing::new(printing(&program, &[], RECORDS, EXPECTED));
    let all = failing.switch(&options()).statistics;
    for budget in [0, 1, all.instructions / 3, all.instructions - 1] {
        for threads in [1, 3] {
            let found = failing.switch(&Options { budget, threads, ..options() });
            assert!(found.statistics.instructions <= budget, "{budget}: {:?}", found.statistics);
            assert!(found.is_cut_short && found.statistics.tried < all.tried, "{budget}");
        }
    }
    let found = failing.switch(&Options { budget: all.instructions, ..options() });
    assert_eq!((found.statistics, found.is_cut_short), (all, false));
}

/// Whoever ends a search early gets what was found so far.
#[test]
fn all_trials_that_have_ended_are_told_of_when_a_search_is_ended() {
    let scratch = Scratch::new("ended");
    let program = scratch.compile(&own("records"), &["-O0"]);
    let mut failing = Failing::new(printing(&program, &[], RECORDS, EXPECTED));
    let mut ended_midway = 0;
    for calls in (1..200).step_by(9) {
        let asked = AtomicU64::new(0);
        let meter = Meter::new(move || asked.fetch_add(1, Ordering::Relaxed) > calls);
        let found = failing.switch_until(&Options { threads: 1, ..options() }, &meter);
        assert!(found.trials.len() as u64 >= meter.tried.load(Ordering::Relaxed), "after {calls} calls");
        ended_midway += usize::from(found.is_cut_short && !found.critical.is_empty());
    }
    assert!(ended_midway > 0, "no search was ended after something was found");
}
