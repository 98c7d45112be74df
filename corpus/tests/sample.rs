//! A few cases from mutation to rank, to notice when something in the chain breaks or the ranking drops.

use std::collections::BTreeSet;

use clap::ValueEnum;
use corpus::answer::Reply;
use corpus::cases::{Case, Fails};
use corpus::mutate;
use corpus::programs::{self, Answer, Program, Test};
use corpus::question::{Inquiry, Question, Technique, With};
use corpus::row::{Row, Searched};
use corpus::suites::{self, Draw, Harvest, Suite};
use corpus::tool::{self, Tool};

fn draw(suite: Suite, seed: u64) -> Draw {
    Draw { suite, count: 0, seed, programs: Vec::new(), jobs: 1 }
}

fn harvest(program: &str, count: usize, draw: &Draw) -> (tempfile::TempDir, Harvest) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let program = programs::load(program).expect("a program of the corpus");
    let harvest = suites::harvest(&program, count, draw, place.path()).expect("cases");
    (place, harvest)
}

#[test]
fn a_mutant_differs_from_its_program_where_it_says_so() {
    let program = programs::load("crossing").unwrap();
    let whole = program.source.whole();
    for mutant in mutate::mutants(&program.source) {
        let text = mutant.apply(&program.source);
        let same = whole.bytes().zip(text.bytes()).take_while(|(old, new)| old == new).count();
        let end = whole.bytes().rev().zip(text.bytes().rev()).take_while(|(old, new)| old == new).count();
        assert!(same >= mutant.range.start && end >= whole.len() - mutant.range.end, "{mutant:?}");
        assert_ne!(text, whole, "{mutant:?}");
        assert_eq!(text.lines().count(), whole.lines().count(), "{mutant:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_cases_and_names_do_not_tell_them() {
    let draw = draw(Suite::Mutants, 9);
    let ((_first, one), (place, other)) = (harvest("crossing", 5, &draw), harvest("crossing", 5, &draw));
    assert_eq!(one.cases.len(), 5);
    for (case, same) in one.cases.iter().zip(&other.cases) {
        assert_eq!((&case.name, &case.faults), (&same.name, &same.faults));
        assert_eq!((case.failing, case.fails), (same.failing, same.fails));
        let name = same.directory.strip_prefix(place.path()).unwrap();
        assert!(name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()), "{name:?}");
    }
}

/// Without one of its assignments it prints the bits of what was left on the stack: addresses and a canary.
const LEAVES_UNSET: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static void show(int start)
{
    unsigned long bits[8];
    int next;
    int last;
    int i;
    bits[0] = 1;
    next = start;
    last = next + 1;
    for (i = 0; i < 8; i++)
        printf("%lx\n", i < last ? bits[i] : 0);
}

int main(void)
{
    free(malloc(10));
    show(0);
    return 0;
}
"#;

#[test]
fn a_mutant_that_reads_what_is_unset_is_the_same_case_each_time() {
    let answer = Answer { status: 0, stdout: format!("1\n{}", "0\n".repeat(7)) };
    let program = Program {
        name: "unset".to_owned(),
        source: mutate::Source::parse(LEAVES_UNSET).unwrap(),
        tests: vec![Test::default()],
        answers: vec![answer],
    };
    let all = || {
        let place = tempfile::tempdir().unwrap();
        let harvest = suites::harvest(&program, 100, &draw(Suite::Mutants, 5), place.path()).unwrap();
        let told =
            |case: &Case| (case.name.clone(), case.fails, case.criterion.clone(), case.expectations.clone());
        (harvest.cases.iter().map(told).collect::<Vec<_>>(), harvest.drawn)
    };
    let first = all();
    assert!(first.0.iter().any(|(name, ..)| name.contains("removed-statement")), "{first:?}");
    for _ in 0..3 {
        assert_eq!(all(), first);
    }
}

#[test]
fn both_mistakes_of_a_pair_are_needed_for_its_failure() {
    let (_place, harvest) = harvest("crossing", 1, &draw(Suite::Pairs, 3));
    let case = harvest.cases.first().expect("a pair");
    let program = programs::load("crossing").unwrap();
    let names = case.name.strip_prefix("crossing ").expect("the name of the program comes first");
    let mutants = mutate::mutants(&program.source);
    let pair: Vec<_> = names
        .split(" + ")
        .map(|name| mutants.iter().find(|mutant| mutant.name() == name).expect("a mutant of that name"))
        .collect();
    assert!(case.tests.iter().all(|tested| tested.passes.is_some()), "some tests were not asked");
    let [first, second] = pair[..] else { panic!("{} are not two", pair.len()) };
    let place = tempfile::tempdir().unwrap();
    let workbench = corpus::workbench::Workbench::new(&program, &place.path().join("right")).unwrap();
    let fails = |mistakes: &[&mutate::Mutant]| {
        assert!(workbench.compile(mistakes, place.path()).unwrap());
        let verdicts = workbench.judge(place.path(), |test| test == case.failing).unwrap();
        verdicts[case.failing].as_ref().expect("it was asked").fails()
    };
    assert!(!fails(&[first]) && !fails(&[second]) && fails(&[first, second]), "{}", case.name);
}

/// A case of each program of the suite, drawn with a fixed seed. With the whydunit of the day so many of them were within five; it may be more.
const WITHIN_FIVE: usize = 6;

#[test]
fn no_fewer_faults_are_among_the_first_five_statements_than_before() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let question = Question { technique: Technique::Explain, with: With::Alone };
    let place = tempfile::tempdir().unwrap();
    let harvest = suites::draw(&Draw { count: 9, jobs: 2, ..draw(Suite::Mutants, 4) }, place.path()).unwrap();
    assert_eq!(harvest.cases.len(), 9);
    let mut ranks = Vec::new();
    for case in &harvest.cases {
        let inquiry = Inquiry::new(&tool, case).unwrap();
        let answered = inquiry.ask(question).unwrap().expect("an answer");
        assert_eq!(answered.reply, Reply::Given, "{}", case.name);
        let row = Row::new(&inquiry.case, inquiry.executed().unwrap(), question, &answered);
        assert!(row.share.is_some_and(|share| (0.0..=1.0).contains(&share)), "{:?}", row.share);
        ranks.push((case.name.as_str(), row.strict));
    }
    let near = ranks.iter().filter(|(_, rank)| rank.is_some_and(|rank| rank.expected() <= 5.0)).count();
    assert!(near >= WITHIN_FIVE, "only {near} within five: {ranks:#?}");
}

#[test]
fn a_program_that_does_nothing_is_shorter_than_any_other() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let place = tempfile::tempdir().unwrap();
    let nothing = tool.length_of_nothing(&place.path().join("nothing")).unwrap();
    let (_place, harvest) = harvest("columns", 1, &draw(Suite::Mutants, 2));
    let question = Question { technique: Technique::Explain, with: With::Alone };
    let inquiry = Inquiry::new(&tool, &harvest.cases[0]).unwrap();
    let length = inquiry.ask(question).unwrap().expect("an answer").length;
    assert!(1000 < nothing && nothing < length, "{nothing} {length}");
}

/// What each technique is asked, and what is ranked.
#[test]
fn every_technique_answers_and_ranks_statements_alone() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let program = programs::load("tokens").unwrap();
    let (_place, harvest) = harvest("tokens", 2, &draw(Suite::Mutants, 2));
    let case = harvest.cases.iter().find(|case| case.criterion.is_some()).expect("a case with a slice");
    let inquiry = Inquiry::new(&tool, case).unwrap();
    let questions = Question::all(Technique::value_variants(), &[With::Alone, With::Passing]);
    let asked: BTreeSet<Technique> = questions.iter().map(|question| question.technique).collect();
    assert_eq!(asked.len(), 8);
    let lines: Vec<&str> = program.source.whole().lines().collect();
    for question in
        questions.into_iter().filter(|question| question.with == With::Alone || !question.explains())
    {
        let answered = inquiry.ask(question).unwrap().expect("an answer");
        assert_eq!(answered.reply, Reply::Given, "{question:?}");
        assert!(!answered.order.is_empty(), "{question:?} names nothing");
        let row = Row::new(&inquiry.case, inquiry.executed().unwrap(), question, &answered);
        assert!(
            row.exam().is_some_and(|share| 0.0 < share && share <= 1.0),
            "{question:?}: {:?}",
            row.exam()
        );
        let is_baseline = !question.explains()
            && !matches!(question.technique, Technique::FullSlice | Technique::RelevantSlice);
        for place in answered.order.places() {
            assert_eq!(
                &inquiry.case.statement(place.clone()),
                place,
                "{question:?} ranks a part of a statement"
            );
        }
        for place in answered.order.places().filter(|_| is_baseline) {
            let text = lines[place.line - 1].trim();
            assert!(
                text.len() > 1 && text.ends_with([';', ')', '{', ',', '}', '&', '|', '/']),
                "{question:?} ranks {text:?}"
            );
        }
    }
}

/// The failure of a case as whydunit is told of it with each kind of help.
fn search(tool: &Tool, case: &Case, with: With) -> Option<(Reply, Searched)> {
    let question = Question { technique: Technique::Switching, with };
    let inquiry = Inquiry::new(tool, case).unwrap();
    let answered = inquiry.ask(question).unwrap()?;
    Row::new(&inquiry.case, inquiry.executed().unwrap(), question, &answered)
        .search
        .map(|searched| (answered.reply, searched))
}

#[test]
fn a_passing_input_and_a_reference_are_of_use() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let (_place, harvest) = harvest("tokens", 6, &draw(Suite::Mutants, 2));
    let is_used = |with: With| {
        harvest.cases.iter().any(|case| {
            let (alone, helped) = (search(&tool, case, With::Alone), search(&tool, case, with));
            helped.is_some_and(|helped| helped.0 == Reply::Given) && helped != alone
        })
    };
    assert!(is_used(With::Passing), "no search is another one with a passing input");
    // Without the reference, wrong output is no failure that shows by itself.
    let mut case =
        harvest.cases.iter().find(|case| case.fails == Fails::Output).expect("a wrong output").clone();
    case.right_status = None;
    case.expectations.clear();
    assert_eq!(search(&tool, &case, With::Alone), None);
    assert!(search(&tool, &case, With::Reference).is_some_and(|(reply, _)| reply == Reply::Given));
}

/// The machine fills what is new on the heap, and notices what is written beyond a block; natively both go unnoticed.
#[test]
fn questions_go_by_what_the_machine_shows() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let text = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n  int *a = malloc(8);\n  int b = 3;\n  if (argc < 7)\n    b = 1;\n  \
        a[b] = 2;\n  printf(\"%d\\n\", b);\n  return 0;\n}\n";
    let program = Program {
        name: "heap".to_owned(),
        source: mutate::Source::parse(text).unwrap(),
        tests: vec![Test::default()],
        answers: vec![Answer { status: 0, stdout: "1\n".to_owned() }],
    };
    let place = tempfile::tempdir().unwrap();
    let harvest = suites::harvest(&program, 100, &draw(Suite::Mutants, 5), place.path()).unwrap();
    let differing = harvest.cases.iter().filter(|case| case.name.contains("relational")).find_map(|case| {
        let inquiry = Inquiry::new(&tool, case).unwrap();
        (case.fails == Fails::Output && inquiry.case.fails == Fails::Crash).then_some(inquiry)
    });
    let inquiry = differing.expect("a failure that is another one in the machine");
    assert_eq!(inquiry.case.criterion.as_deref(), Some("crash"));
    for technique in [Technique::Explain, Technique::FullSlice] {
        let answered = inquiry.ask(Question { technique, with: With::Alone }).unwrap().expect("an answer");
        assert!(answered.reply == Reply::Given && !answered.order.is_empty(), "{technique:?}");
    }
}

#[test]
fn a_failure_that_the_machine_does_not_show_is_told_apart_from_a_miss() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let (_place, harvest) = harvest("tokens", 1, &draw(Suite::Mutants, 2));
    let mut case = harvest.cases.first().expect("a case").clone();
    case.executable = case.reference.clone().expect("a reference");
    let question = Question { technique: Technique::Explain, with: With::Alone };
    let inquiry = Inquiry::new(&tool, &case).unwrap();
    assert_eq!(inquiry.ask(question).unwrap().map(|answered| answered.reply), Some(Reply::NotReproduced));
}

fn written(text: &str, runs: &[(&str, &str)]) -> Program {
    let test = |(stdin, _): &(&str, &str)| {
        let mut test = Test::default();
        test.stdin = (*stdin).to_owned();
        test
    };
    let answer = |(_, stdout): &(&str, &str)| Answer { status: 0, stdout: (*stdout).to_owned() };
    Program {
        name: "written".to_owned(),
        source: mutate::Source::parse(text).unwrap(),
        tests: runs.iter().map(test).collect(),
        answers: runs.iter().map(answer).collect(),
    }
}

#[test]
fn output_that_is_too_much_or_missing_or_other_is_asked_about() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let text = "#include <stdio.h>\nint main(void)\n{\n  for (int i = 1; i < 9; i++) {\n    printf(\"%d\\n\", i);\n    \
        if (i > 1)\n      break;\n  }\n  return 0;\n}\n";
    let place = tempfile::tempdir().unwrap();
    let program = written(text, &[("", "1\n2\n")]);
    let harvest = suites::harvest(&program, 100, &draw(Suite::Mutants, 5), place.path()).unwrap();
    let criterion = |case: &Case| Inquiry::new(&tool, case).unwrap().case.criterion;
    let asked: BTreeSet<Option<String>> = harvest.cases.iter().map(criterion).collect();
    let wanted = [None, Some("output:0".to_owned()), Some("output:4".to_owned())];
    assert!(asked.is_superset(&BTreeSet::from(wanted)), "{asked:?}");
}

/// What is written beyond the block goes unnoticed natively.
#[test]
fn a_test_that_crashes_in_the_machine_is_no_passing_twin() {
    let tool = Tool { binary: tool::binary().unwrap(), seconds: 60, budget: 2_000_000_000 };
    let text = "#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{\n  char *a = malloc(8);\n  int n = getchar();\n  \
        a[8] = 1;\n  if (n > 'c')\n    n = 'z';\n  printf(\"%c\\n\", n);\n  return 0;\n}\n";
    let place = tempfile::tempdir().unwrap();
    let program = written(text, &[("c", "c\n"), ("e", "z\n"), ("a", "a\n")]);
    let harvest = suites::harvest(&program, 100, &draw(Suite::Mutants, 5), place.path()).unwrap();
    let has_twin = |case: &&Case| case.tests.iter().any(|tested| tested.passes == Some(true));
    let case = harvest.cases.iter().find(has_twin).expect("a case with a test that passes natively");
    let inquiry = Inquiry::new(&tool, case).unwrap();
    let ask = |with: With| inquiry.ask(Question { technique: Technique::Explain, with }).unwrap();
    assert!(ask(With::Alone).is_some_and(|answered| answered.reply == Reply::Given));
    assert!(ask(With::Passing).is_none());
}
