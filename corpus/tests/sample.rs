//! A few cases from mutation to rank, to notice when something in the chain breaks or the ranking drops.

use corpus::cases::{self, Harvest};
use corpus::table::Row;
use corpus::{programs, tool};

fn harvest(program: &str, count: usize, seed: u64) -> (tempfile::TempDir, Harvest) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let program = programs::load(program).expect("a program of the corpus");
    let harvest = cases::harvest(&program, count, seed, place.path()).expect("cases");
    (place, harvest)
}

#[test]
fn every_program_is_fit_for_mutation() {
    for name in programs::names().unwrap() {
        let program = programs::load(&name).unwrap();
        assert!(program.tests.len() >= 40, "{name} has {} tests", program.tests.len());
        let (_place, harvest) = harvest(&name, 1, 1);
        assert_eq!(harvest.cases.len(), 1, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_cases_and_names_do_not_tell_them() {
    let ((_first, one), (place, other)) = (harvest("crossing", 5, 9), harvest("crossing", 5, 9));
    assert_eq!(one.cases.len(), 5);
    for (case, same) in one.cases.iter().zip(&other.cases) {
        assert_eq!(case.mutant, same.mutant);
        assert_eq!((case.test_number, case.fails), (same.test_number, same.fails));
        assert_ne!(case.right, case.wrong);
        let name = same.directory.strip_prefix(place.path()).unwrap();
        assert!(name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()), "{name:?}");
    }
}

#[test]
fn half_of_a_few_faults_are_among_the_first_three_statements_that_are_read() {
    let tool = tool::binary().unwrap();
    let (_place, harvest) = harvest("crossing", 4, 1);
    let rows: Vec<Row> = harvest
        .cases
        .into_iter()
        .map(|case| {
            let answer = tool::explain(&tool, &case, 60).unwrap();
            assert!(matches!(answer.status, Some(0 | 1)), "status {:?}", answer.status);
            assert!(answer.report.is_some(), "the answer cannot be read");
            Row::new(case, &answer)
        })
        .collect();
    let near = rows.iter().filter(|row| row.strict.is_some_and(|(rank, _)| rank <= 3)).count();
    assert!(near >= 2, "only {near} of {} within three", rows.len());
}
