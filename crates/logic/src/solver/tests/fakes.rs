//! Solvers that misbehave: little shell scripts.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

/// What comes of a query when the solver is this shell script.
fn answer_of(script: &str, limits: Limits) -> Answer {
    let directory = tempfile::tempdir().expect("a place for a script");
    let path = directory.path().join("solver");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let mut terms = Terms::new();
    let [small, square, large, _] = squares(&mut terms);
    let words = vec!["/bin/sh".to_owned(), path.to_string_lossy().into_owned()];
    Choice::Command(words).open(limits).check(&terms, &query(&[small, square, large], Wanted::Core))
}

fn reason(script: &str) -> Unknown {
    match answer_of(script, Limits { seconds: 5, ..Limits::default() }) {
        Answer::Unknown(reason) => {
            let message = reason.to_string();
            assert!(!message.contains('\n'), "one line: {message}");
            reason
        }
        answer => panic!("{answer:?}"),
    }
}

#[test]
fn a_program_that_is_not_there() {
    let mut terms = Terms::new();
    let [small, ..] = squares(&mut terms);
    let mut solver = Choice::command("/no/such/solver -in").open(Limits::default());
    let Answer::Unknown(reason) = solver.check(&terms, &query(&[small], Wanted::Core)) else {
        panic!("nobody can have answered");
    };
    let message = reason.to_string();
    assert!(message.contains("`/no/such/solver -in` cannot be started"), "{message}");
    assert!(message.contains("install it, or name another with --solver"), "{message}");
}

#[test]
fn no_program_at_all() {
    let mut terms = Terms::new();
    let [small, ..] = squares(&mut terms);
    let answer = Choice::command("  ").open(Limits::default()).check(&terms, &query(&[small], Wanted::Core));
    assert!(matches!(answer, Answer::Unknown(Unknown::Missing(_))), "{answer:?}");
}

#[test]
fn one_that_ends_without_a_word() {
    let Unknown::Died { how, .. } = reason("exit 3") else { panic!("it ended") };
    assert_eq!(how, "ended with status 3");
}

#[test]
fn one_that_says_why_it_ends() {
    let Unknown::Died { said, .. } = reason("echo 'unknown option' >&2; exit 1") else { panic!("it ended") };
    assert_eq!(said, "unknown option");
}

#[test]
fn one_that_crashes() {
    let Unknown::Died { how, .. } = reason("kill -SEGV $$") else { panic!("it crashed") };
    assert_eq!(how, "was killed by signal 11");
}

#[test]
fn one_that_crashes_after_its_verdict() {
    let died = reason(
        "while read line; do [ \"$line\" != '(check-sat)' ] || break; done; echo unsat; kill -SEGV $$",
    );
    assert!(matches!(died, Unknown::Died { .. }), "{died}");
}

#[test]
fn one_that_hangs() {
    let start = Instant::now();
    let limits = Limits { seconds: 1, ..Limits::default() };
    let answer = answer_of("sleep 600", limits);
    assert!(matches!(answer, Answer::Unknown(Unknown::Time { seconds: 1, .. })), "{answer:?}");
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn one_that_computes_without_end() {
    let limits = Limits { seconds: 1, ..Limits::default() };
    let answer = answer_of("while :; do :; done", limits);
    assert!(matches!(answer, Answer::Unknown(Unknown::Time { .. })), "{answer:?}");
}

#[test]
fn one_that_wants_too_much_memory() {
    let limits = Limits { memory: 200, seconds: 20, ..Limits::default() };
    let answer = answer_of("exec awk 'BEGIN { text = \"x\"; while (1) text = text text }'", limits);
    assert!(matches!(answer, Answer::Unknown(Unknown::Died { .. })), "{answer:?}");
}

#[test]
fn one_that_talks_nonsense() {
    for script in
        ["echo maybe", "echo ')'", "echo '(error \"line 1: no\")'", "printf '\\377\\376 sat'", "yes '('"]
    {
        let nonsense = reason(script);
        assert!(matches!(nonsense, Unknown::Nonsense { .. }), "{script}: {nonsense}");
    }
}

#[test]
fn one_that_talks_nonsense_where_a_core_should_be() {
    for core in ["(c0 c7)", "(foo)", "sat", "((c0))"] {
        let nonsense = reason(&format!("cat >/dev/null & echo unsat; echo '{core}'; wait"));
        assert!(matches!(nonsense, Unknown::Nonsense { .. }), "{core}: {nonsense}");
    }
}

#[test]
fn one_that_lies() {
    let lie = reason("echo sat; echo '((v0 #x00000001))'; cat >/dev/null");
    assert_eq!(lie, Unknown::ModelFails);
}

#[test]
fn one_that_acknowledges_and_knows_not_all_options() {
    let answer = answer_of(
        "echo success; echo unsupported; echo unsat; echo '(c0 c2)'; cat >/dev/null",
        Limits::default(),
    );
    assert_eq!(answer, Answer::Unsat(vec![Name(0), Name(2)]));
}

#[test]
fn one_that_does_not_know() {
    let told = reason("echo unknown; echo '(:reason-unknown \"too hard\")'; cat >/dev/null");
    assert_eq!(told, Unknown::Incomplete("too hard".to_owned()));
    let told = reason("echo unknown; echo '(:reason-unknown memout)'; cat >/dev/null");
    assert!(matches!(told, Unknown::Memory(_)));
}
