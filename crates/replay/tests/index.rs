//! Execution indices and the alignment of two runs.

mod common;

use std::path::Path;

use common::{Scratch, load, view};
use linux::Process;
use machine::{Time, Unwatched};
use program::{Program, Scope};
use replay::index::{Aligned, Alignment, Index, Indexer, Indices, Point, keys_of_one, keys_of_two};
use replay::{Flow, Recording};

fn sum_list() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sum_list/sum_list.c")
}

/// A program at its start, and the static view of it with all of its libraries.
fn open(program: &Path, arguments: &[&str]) -> (Process, Program) {
    let process = load(program, arguments);
    let mut ended = load(program, arguments);
    ended.run(Time(u64::MAX), &mut Unwatched);
    (process, view(&ended))
}

fn line(program: &Program, point: &Point) -> u32 {
    program.statement_at(point.address).unwrap().line
}

/// The two versions of sum_list.c, aligned; by their lines.
struct SumList {
    steps: Vec<(Option<u32>, Option<u32>)>,
    points: Vec<Aligned>,
    failing: Program,
    reference: Program,
    failing_run: Process,
    reference_run: Process,
    _scratch: Scratch,
}

fn aligned_sum_list(name: &str) -> SumList {
    let scratch = Scratch::new(name);
    let failing = scratch.compile_file(&sum_list(), "failing", &["-O0", "-DFAULT"]);
    let reference = scratch.compile_file(&sum_list(), "reference", &["-O0"]);
    let (mut failing_run, failing) = open(&failing, &[]);
    let (mut reference_run, reference) = open(&reference, &[]);
    let scope = Scope::default();
    let points: Vec<Aligned> = {
        let (left, right) = (Flow::new(&failing), Flow::new(&reference));
        let (left_keys, right_keys) = keys_of_two(&failing, &reference);
        let left = (failing_run.fork(), Indexer::new(&left, &scope, left_keys));
        let right = (reference_run.fork(), Indexer::new(&right, &scope, right_keys));
        Alignment::new(left, right).collect()
    };
    let steps = points.iter().map(|step| match step {
        Aligned::Both(a, b) => (Some(line(&failing, a)), Some(line(&reference, b))),
        Aligned::Left(a) => (Some(line(&failing, a)), None),
        Aligned::Right(b) => (None, Some(line(&reference, b))),
    });
    let steps = steps.collect();
    SumList { steps, points, failing, reference, failing_run, reference_run, _scratch: scratch }
}

#[test]
fn the_skipped_elements_of_sum_list_have_no_partners_and_all_else_has() {
    let SumList { steps, .. } = aligned_sum_list("sum-list");
    let alone: Vec<_> = steps.iter().filter(|(a, b)| a.is_none() || b.is_none()).collect();
    assert_eq!(alone, [&(Some(20), None), &(None, Some(20))], "{steps:?}");
    // The one of the failing run is in its first iteration, that of the reference in its second.
    let place = |step| steps.iter().position(|other| *other == step).unwrap();
    let second =
        steps.iter().enumerate().filter(|(_, step)| **step == (Some(13), Some(13))).nth(1).unwrap().0;
    assert!(place((Some(20), None)) < second && second < place((None, Some(20))), "{steps:?}");
    for (left, right) in steps.iter().filter_map(|(a, b)| a.zip(*b)) {
        assert!(left == right || (left, right) == (15, 17), "{left} is no {right}");
    }
    assert_eq!(steps.iter().filter(|step| **step == (Some(15), Some(17))).count(), 2);
    assert_eq!(steps.iter().filter(|step| **step == (Some(23), Some(23))).count(), 1);
}

#[test]
fn the_index_of_the_skipping_statement_is_the_path_of_conditions_to_it() {
    let SumList { points, failing, reference, mut failing_run, mut reference_run, .. } =
        aligned_sum_list("sum-list-index");
    let alone = |left: bool| {
        let found = points.iter().find_map(|step| match step {
            Aligned::Left(point) if left => Some(*point),
            Aligned::Right(point) if !left => Some(*point),
            _ => None,
        });
        found.unwrap()
    };
    let index = |program: &Program, process: &mut Process, point: Point| {
        let (flow, scope) = (Flow::new(program), Scope::default());
        let mut recording = Recording::make(process.fork(), Time(u64::MAX));
        Indices::new(&flow, &scope).at(&mut recording, point.time).unwrap().to_string()
    };
    assert_eq!(index(&failing, &mut failing_run, alone(true)), "main · 12 true · 19 true · 20");
    assert_eq!(index(&reference, &mut reference_run, alone(false)), "main · 12 true (2) · 19 true · 20");
}

#[test]
fn statements_are_not_aligned_by_how_often_they_were_executed() {
    let SumList { points, failing, reference, .. } = aligned_sum_list("sum-list-count");
    // Both runs execute line 20 once; whoever pairs by count pairs these two.
    let count = |left: bool| {
        let at_20 = points.iter().filter(|step| match step {
            Aligned::Both(a, b) => line(&failing, a) == 20 || line(&reference, b) == 20,
            Aligned::Left(a) => left && line(&failing, a) == 20,
            Aligned::Right(b) => !left && line(&reference, b) == 20,
        });
        at_20.count()
    };
    assert_eq!((count(true), count(false)), (1, 1));
    let paired = |step: &&Aligned| matches!(step, Aligned::Both(a, _) if line(&failing, a) == 20);
    assert!(!points.iter().any(|step| paired(&step)));
}

/// The indices of all statement instances of a run, in order, and how deep the walk was. Some of them are asked for
/// once more by their times.
fn indices(program: &Path) -> (Vec<(Time, Index)>, usize) {
    let (mut process, program) = open(program, &["5"]);
    let (flow, scope) = (Flow::new(&program), Scope::default());
    let mut recording = Recording::make(process.fork(), Time(u64::MAX));
    let mut walk = Indexer::new(&flow, &scope, keys_of_one(&program));
    let mut found = Vec::new();
    let end = recording.end();
    recording.forward(Time(0)..end, |segment| {
        walk.follow_indices(segment.trace, segment.before, |time, index| found.push((time, index)));
        true
    });
    let mut all = Indices::new(&flow, &scope);
    for (time, index) in found.iter().step_by(found.len() / 10 + 1) {
        assert_eq!(all.at(&mut recording, *time).as_ref(), Some(index), "{time:?}");
    }
    (found, walk.state().deepest())
}

fn texts(found: &[(Time, Index)]) -> Vec<String> {
    found.iter().map(|(_, index)| index.to_string()).collect()
}

/// No two statement instances of a run have the same index.
fn assert_unique(found: &[(Time, Index)]) {
    let mut sorted: Vec<&Index> = found.iter().map(|(_, index)| index).collect();
    sorted.sort();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    assert!(twice.is_none(), "{}", twice.unwrap()[0]);
}

const RECURSION: &str = "
static int down(int n)
{
    if (n == 0)
        return 0;
    return down(n - 1) + 1;
}
int main(void) { return down(100) == 100 ? 0 : 1; }
";

#[test]
fn recursion_is_as_deep_as_it_is_and_early_returns_close_what_they_leave() {
    let scratch = Scratch::new("index-recursion");
    let program = scratch.compile("recursion", RECURSION, &["-O0"]);
    let (found, deepest) = indices(&program);
    assert_unique(&found);
    // A call and the side of its condition for each of 101 activations, main, and what is around it.
    assert!((200..220).contains(&deepest), "{deepest}");
    let last = found.last().unwrap().1.to_string();
    assert!(last.starts_with("main · "), "{last}");
    assert!(
        texts(&found).contains(&"main · down · 4 false · down · 4 false · down · 4".to_owned()),
        "{found:?}"
    );
}

const LOOPS: &str = "
#include <stdlib.h>
int main(int count, char **words)
{
    volatile long sum = 0;
    long most = atol(words[1]);
    for (long i = 0; i < most; i++)
        sum += i;
    for (long i = 0; i < 3; i++)
        for (long j = 0; j < 3; j++) {
            if (j == 1)
                continue;
            if (i == 2)
                break;
            sum += j;
        }
    return sum < 0;
}
";

#[test]
fn iterations_are_counted_and_not_stacked() {
    let scratch = Scratch::new("index-loops");
    let program = scratch.compile("loops", LOOPS, &["-O0"]);
    let (found, short) = indices(&program);
    assert_unique(&found);
    let texts = texts(&found);
    assert!(texts.contains(&"main · 7 true (5) · 8".to_owned()), "{texts:#?}");
    assert!(
        texts.contains(&"main · 9 true (2) · 10 true (3) · 11 false · 13 false · 15".to_owned()),
        "{texts:#?}"
    );
    // Ten million iterations, and not a single entry more.
    let (mut process, program) = open(&program, &["10000000"]);
    let (flow, scope) = (Flow::new(&program), Scope::default());
    let mut recording = Recording::make(process.fork(), Time(u64::MAX));
    let mut all = Indices::new(&flow, &scope);
    let end = recording.end();
    let late = Time(end.0 * 9 / 10);
    let index = all.at(&mut recording, late).unwrap().to_string();
    assert!(index.starts_with("main · 7 true (8") || index.starts_with("main · 7 true (9"), "{index}");
    all.at(&mut recording, Time(end.0 - 1)).unwrap();
    assert_eq!(all.deepest(), short);
}

const JUMPS: &str = r#"
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf place;
static int sum;
static void deep(int n)
{
    if (n == 0)
        longjmp(place, 1);
    deep(n - 1);
    sum++;
}
static int choose(int n)
{
    switch (n) {
    case 0: return 5;
    case 1: sum += 1;
    case 2: sum += 2; break;
    case 3: sum += 3; break;
    case 4: sum += 4; break;
    case 5: sum += 5; break;
    case 6: sum += 6; break;
    default: sum += 7;
    }
    return 0;
}
static int compare(const void *a, const void *b)
{
    sum++;
    return *(const int *)a - *(const int *)b;
}
static int twice(int n) { return n * 2; }
static int once(int n) { return n + 1; }
int main(void)
{
    volatile int tries = 0;
    setjmp(place);
    if (tries++ < 3)
        deep(tries * 3);
    for (int i = 0; i < 9; i++)
        choose(i);
    int list[4] = {4, 2, 3, 1};
    qsort(list, 4, sizeof *list, compare);
    static void *volatile targets[3];
    targets[0] = &&first;
    targets[1] = &&second;
    targets[2] = &&third;
    int n = 0;
next:
    goto *targets[n++];
first:
    sum += 10;
    goto next;
second:
    sum += 20;
    goto next;
third:
    sum += once(1) + twice(once(2)) + once(3);
    for (;;) {
        sum++;
        if (sum > 100) exit(0);
    }
}
"#;

#[test]
fn jumps_of_all_kinds_leave_no_regions_behind() {
    let scratch = Scratch::new("index-jumps");
    let program = scratch.compile("jumps", JUMPS, &["-O0"]);
    let (found, deepest) = indices(&program);
    assert_unique(&found);
    // deep(9) is the deepest: two entries each.
    assert!(deepest < 40, "{deepest}");
    let texts = texts(&found);
    // deep never returns, so the regions of the condition before it last until main ends.
    for expected in [
        "main · 38 true · deep · 8",
        "main · 35 again · 38 true · deep · 8 false · deep · 8",
        "main · 35 again (3) · 38 false · 40 true (3) · choose · 15 case 2 · 18",
        "main · 35 again (3) · 38 false · 40 true (9) · choose · 15 default · 23",
        "main · 35 again (3) · 38 false · 43 · compare (2) · 29",
    ] {
        assert!(texts.iter().any(|text| text == expected), "no {expected} in {:#?}", &texts[..300]);
    }
}

#[test]
fn indices_are_unique_in_optimised_code_too() {
    let scratch = Scratch::new("index-optimised");
    for (name, source) in [("loops", LOOPS), ("jumps", JUMPS)] {
        let program = scratch.compile(name, source, &["-O2"]);
        let (found, deepest) = indices(&program);
        assert!(found.len() > 5, "{name}: {found:?}");
        assert_unique(&found);
        assert!(deepest < 250, "{name}: {deepest}");
    }
}

const EXCEPTIONS: &str = r#"
static int sum;
static void thrower(int n)
{
    if (n % 3 == 0)
        throw n;
    sum += n;
}
int main()
{
    for (int i = 0; i < 7; i++) {
        try {
            if (i != 5)
                thrower(i);
            sum++;
        } catch (int n) {
            sum += 100;
        }
        sum += 2;
    }
    return sum == 333 ? 0 : 1;
}
"#;

#[test]
fn exceptions_leave_the_regions_that_they_are_thrown_out_of() {
    let scratch = Scratch::new("index-exceptions");
    let program = scratch.compile_plus("exceptions", EXCEPTIONS, &["-O0"]);
    let (found, deepest) = indices(&program);
    assert_unique(&found);
    assert!(deepest < 12, "{deepest}");
    let texts = texts(&found);
    for expected in [
        "main · 11 true · 13 true · thrower · 5 true · 6",
        "main · 11 true (2) · 15",
        "main · 11 true (4) · 17",
        "main · 11 true (4) · 19",
        "main · 11 true (5) · 19",
    ] {
        assert!(texts.iter().any(|text| text == expected), "no {expected} in {texts:#?}");
    }
}
