//! What each program of the corpus does is what is kept beside it, so that an edit does not change what is right unnoticed. `BLESS=1`
//! rewrites the answers.

use corpus::programs::{self, Program};
use corpus::workbench::{self, Workbench};

/// Small enough to be read, large enough that a fault can be far away from its failure.
const LINES: std::ops::RangeInclusive<usize> = 150..=800;

#[test]
fn every_program_has_tests_and_passes_them() {
    let names = programs::names().unwrap();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let program = programs::load(&name).unwrap();
        assert!(program.tests.len() >= 40, "{name} has {} tests", program.tests.len());
        let lines = program.source.whole().lines().count();
        assert!(LINES.contains(&lines), "{name} has {lines} lines");
        if std::env::var_os("BLESS").is_some() {
            bless(&program);
        } else {
            check(&program);
        }
    }
}

/// Twice, for it shall be the same in each run.
fn check(program: &Program) {
    let place = tempfile::tempdir().unwrap();
    let workbench = Workbench::new(program, place.path()).unwrap();
    let verdicts = workbench.judge(place.path(), |_| true).unwrap();
    assert!(verdicts.iter().all(|verdict| verdict.as_ref().is_some_and(|judged| !judged.fails())));
}

fn bless(program: &Program) {
    let place = tempfile::tempdir().unwrap();
    let answers = workbench::answers(program, place.path()).unwrap();
    programs::bless(&program.name, &answers).unwrap();
}

#[test]
fn a_program_that_does_something_else_than_before_is_refused() {
    let mut program = programs::load("columns").unwrap();
    let place = tempfile::tempdir().unwrap();
    let refusal = |program: &Program| {
        Workbench::new(program, place.path()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    program.answers[3].stdout.push(' ');
    assert!(refusal(&program).contains("test 3"), "{}", refusal(&program));
    program.answers.pop();
    assert!(refusal(&program).contains("answers"), "{}", refusal(&program));
}
