//! Each kind of failure, in real runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use linux::signal;
use machine::Time;
use replay::failure::{AbortKind, Difference, Outcome, Subject, Verdict};
use replay::oracle::{ExamineError, Examined, judge};
use replay::{Bytes, Case, Channel, Expectation, Failure, FailureKind};

const SOURCE: &str = include_str!("programs/fails.c");

fn examine(case: &Case) -> Result<Examined, ExamineError> {
    let view = |process: &linux::Process| ::program::Program::from_memory(&process.machine.memory);
    replay::oracle::examine(case, case.load()?, &view)
}

struct Program(PathBuf);

impl Program {
    fn new(name: &str) -> Program {
        let directory = std::env::temp_dir().join(format!("whydunit-oracle-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("fails.c"), SOURCE).unwrap();
        let status = Command::new("gcc")
            .args(["-g", "-O0", "-o", "fails", "fails.c"])
            .current_dir(&directory)
            .status();
        assert!(status.unwrap().success());
        Program(directory)
    }

    fn case(&self, words: &[&str]) -> Case {
        let path = self.0.join("fails");
        let mut case = Case::new(path.as_path());
        case.cwd = Bytes::from(self.0.as_path());
        case.argv = std::iter::once("fails").chain(words.iter().copied()).map(Bytes::from).collect();
        case.limits.instructions = 10_000_000;
        case
    }

    fn examine(&self, words: &[&str], expectations: Vec<Expectation>) -> Examined {
        let mut case = self.case(words);
        case.oracle.expectations = expectations;
        examine(&case).unwrap()
    }

    fn failure(&self, words: &[&str], expectations: Vec<Expectation>) -> Failure {
        match self.examine(words, expectations).verdict {
            Verdict::Failed(failure) => failure,
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(channel: Channel, text: &str) -> Expectation {
    Expectation::Text { channel, text: Bytes::from(text) }
}

fn line_of(marker: &str) -> usize {
    1 + SOURCE.lines().position(|line| line.contains(marker)).unwrap()
}

#[test]
fn crashes_say_by_which_signal_and_what_should_have_been() {
    let program = Program::new("crash");
    let failure = program.failure(&["null"], vec![]);
    let FailureKind::Crash { signal: signal::SIGSEGV, fault: Some(fault) } = failure.kind else {
        panic!("{failure:?}")
    };
    assert_eq!(failure.time, fault.time);
    assert_eq!(failure.property.as_deref(), Some("the pointer that is written through is not null"));
    assert_eq!(failure.criterion[0].subject, Subject::Access { instruction: fault.rip });
    let failure = program.failure(&["divide"], vec![]);
    assert!(matches!(failure.kind, FailureKind::Crash { signal: signal::SIGFPE, .. }));
    assert_eq!(failure.property.as_deref(), Some("the divisor is not 0, and the quotient fits"));
    assert_eq!(failure.to_string(), "was killed by SIGFPE");
}

#[test]
fn a_crash_that_is_expected_is_none() {
    let program = Program::new("expected-crash");
    assert_eq!(program.examine(&["null"], vec![Expectation::Exit(139)]).verdict, Verdict::Passed);
    let failure = program.failure(&["null"], vec![Expectation::Exit(0)]);
    assert!(matches!(failure.kind, FailureKind::Crash { .. }));
}

#[test]
fn failed_assertions_and_aborts_are_told_apart() {
    let program = Program::new("abort");
    let failure = program.failure(&["assert"], vec![]);
    let FailureKind::Abort(abort) = &failure.kind else { panic!("{failure:?}") };
    assert_eq!(abort.by, AbortKind::Assertion);
    let position = abort.position.as_ref().unwrap();
    assert_eq!((position.file.as_str(), position.line as usize), ("fails.c", line_of("assert(zero > 0")));
    assert_eq!(failure.property.as_deref(), Some("zero > 0 && \"more than nothing\""));
    let failure = program.failure(&["abort"], vec![]);
    assert_eq!(failure.to_string(), "aborted");
}

#[test]
fn wrong_output_is_told_by_its_first_byte_and_its_write() {
    let program = Program::new("output");
    let words = ["print", "second 10\nthird\n"];
    let expected = text(Channel::Stdout, "first\nsecond 12\nthird");
    let Examined { process, verdict, .. } = program.examine(&words, vec![expected]);
    let failure = verdict.failure().unwrap();
    let FailureKind::WrongOutput(wrong) = &failure.kind else { panic!("{failure:?}") };
    assert_eq!((wrong.offset, wrong.line, wrong.difference), (14, 2, Difference::Different));
    assert_eq!((&wrong.actual[..], &wrong.expected[..]), (&b"second 10"[..], &b"second 12"[..]));
    assert_eq!(failure.to_string(), "printed \"second 10\", expected \"second 12\" (line 2)");
    // The write is a system call: the second one that wrote.
    let writes: Vec<Time> = process.kernel.output.since(0).map(|write| write.time).collect();
    assert_eq!(failure.write.map(|time| time.0 + 1), writes.get(1).map(|time| time.0));
    let passing = text(Channel::Stdout, "first\nsecond 10\nthird");
    assert_eq!(program.examine(&words, vec![passing]).verdict, Verdict::Passed);
}

#[test]
fn missing_and_surplus_output_are_told_apart() {
    let program = Program::new("surplus");
    let kind = |expected: &str| {
        let failure = program.failure(&["print", "second\n"], vec![text(Channel::Stdout, expected)]);
        match failure.kind {
            FailureKind::WrongOutput(wrong) => (wrong.difference, wrong.offset, failure.write.is_some()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kind("first"), (Difference::Surplus, 6, true));
    assert_eq!(kind("first\nsecond\nthird"), (Difference::Missing, 13, false));
    let silent = program.failure(&[], vec![text(Channel::Stdout, "anything")]);
    assert_eq!(silent.to_string(), "printed no more where \"anything\" was expected");
}

#[test]
fn standard_error_files_and_statuses_are_compared() {
    let program = Program::new("channels");
    let failure = program.failure(&["complain", "no\n"], vec![text(Channel::Stderr, "yes")]);
    assert_eq!(failure.to_string(), "printed to standard error \"no\", expected \"yes\"");
    let file = || Channel::File(Bytes::from("made-by-the-program"));
    let failure = program.failure(&["file", "made\n"], vec![text(file(), "mode")]);
    assert_eq!(failure.to_string(), "wrote to made-by-the-program \"made\", expected \"mode\"");
    assert_eq!(program.examine(&["file", "made\n"], vec![text(file(), "made")]).verdict, Verdict::Passed);
    assert!(!Path::new(&program.0).join("made-by-the-program").exists());
    let failure = program.failure(&[], vec![text(file(), "")]);
    assert!(
        matches!(failure.kind, FailureKind::WrongOutput(wrong) if wrong.difference == Difference::Missing)
    );
    let failure = program.failure(&["exit", "3"], vec![Expectation::Exit(0)]);
    assert_eq!(failure.to_string(), "exited with status 3, expected 0");
    assert_eq!(program.examine(&["exit", "3"], vec![]).verdict, Verdict::Passed);
}

#[test]
fn a_hang_is_a_failure_and_a_limit_is_none() {
    let program = Program::new("hang");
    let failure = program.failure(&["spin"], vec![Expectation::EndsWithin(2_000_000)]);
    assert_eq!(failure.to_string(), "was still running after 2,000,000 instructions");
    let limited = program.examine(&["spin"], vec![]);
    assert!(matches!(limited.verdict, Verdict::CannotTell(_)), "{:?}", limited.verdict);
    let failure = program.failure(&["wait"], vec![]);
    assert_eq!(failure.to_string(), "waits for ever in pause");
}

#[test]
fn what_was_written_before_a_run_was_cut_short_can_be_wrong_already() {
    let program = Program::new("cut");
    let mut case = program.case(&["print", "second\n"]);
    case.oracle.expectations = vec![text(Channel::Stdout, "first\nsecond\n")];
    let whole = examine(&case).unwrap();
    let end = whole.process.machine.time;
    case.limits.instructions = end.0 - 1;
    assert!(matches!(examine(&case).unwrap().verdict, Verdict::CannotTell(_)));
    case.oracle.expectations = vec![text(Channel::Stdout, "last\n")];
    assert!(matches!(examine(&case).unwrap().verdict, Verdict::Failed(_)));
}

#[test]
fn an_assertion_stops_the_run_where_it_is_first_false() {
    let program = Program::new("assertion");
    let line = line_of("/* adding */");
    let holds = |text: &str| Expectation::Holds(format!("fails.c:{line}: {text}"));
    let failure = program.failure(&["sum"], vec![holds("total < 3 || i == 0")]);
    let FailureKind::AssertViolated(violation) = &failure.kind else { panic!("{failure:?}") };
    assert_eq!(violation.values, [("total", "3"), ("i", "2")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(failure.criterion.len(), 2);
    // The same instant again: nothing of the statement has been executed.
    let mut process = program.case(&["sum"]).load().unwrap();
    process.run(failure.time, &mut machine::Unwatched);
    let view = ::program::Program::from_memory(&process.machine.memory);
    let at = view.statement_at(process.machine.cpu.rip).unwrap();
    assert_eq!(at.line as usize, line);
    let passed = program.examine(&["sum"], vec![holds("total == i * (i + 1) / 2 && count == 4")]);
    assert_eq!((passed.verdict, passed.assertions_evaluated), (Verdict::Passed, 4));
}

#[test]
fn assertions_that_make_no_sense_are_refused() {
    let program = Program::new("senseless");
    let line = line_of("/* adding */");
    let message = |text: String| {
        let mut case = program.case(&["sum"]);
        case.oracle.expectations = vec![Expectation::Holds(text)];
        examine(&case).err().unwrap().to_string()
    };
    assert!(message(format!("fails.c:{line}: totl > 1")).ends_with("did you mean `total`?"));
    assert!(message("fails.c:9000: 1".to_owned()).contains("has no line 9000"));
    assert!(message("fial.c:3: 1".to_owned()).ends_with("did you mean `fails.c`?"));
    assert!(message("fails.c:3: 1 +".to_owned()).contains("something is missing"));
    assert!(message("fails.c: x".to_owned()).contains("FILE:LINE: EXPRESSION"));
    let never = line_of("return divide(1, zero)");
    let unreached = program.examine(&["sum"], vec![Expectation::Holds(format!("fails.c:{never}: 0"))]);
    let Verdict::CannotTell(reason) = unreached.verdict else { panic!("{:?}", unreached.verdict) };
    assert!(reason.ends_with("was never executed"), "{reason}");
    let null =
        program.examine(&["sum"], vec![Expectation::Holds(format!("fails.c:{line}: *(int *) 0 == 1"))]);
    assert!(matches!(null.verdict, Verdict::CannotTell(reason) if reason.contains("Cannot access memory")));
}

#[test]
fn a_reference_is_the_expectation() {
    let program = Program::new("reference");
    let changed = SOURCE
        .replace("total += numbers[i];", "total -= numbers[i];")
        .replace("fputs(argv[2], file)", "fputs(\"else\", file)");
    std::fs::write(program.0.join("older.c"), changed).unwrap();
    let older = program.0.join("older");
    let status = Command::new("gcc").arg("-o").arg(&older).arg(program.0.join("older.c")).status();
    assert!(status.unwrap().success());
    let like = || vec![Expectation::LikeReference(Bytes::from(older.as_path()))];
    let failure = program.failure(&["sum"], like());
    assert_eq!(failure.to_string(), "printed \"10\", expected \"-10\"");
    let failure = program.failure(&["file", "made"], like());
    assert!(failure.to_string().ends_with("\"made\", expected \"else\""), "{failure}");
    assert_eq!(program.examine(&["complain", "no"], like()).verdict, Verdict::Passed);
    let mut case = program.case(&["null"]);
    case.oracle.expectations = like();
    assert!(examine(&case).err().unwrap().to_string().contains("fails itself: it was killed by SIGSEGV"));
    // Later runs need the reference no more.
    let examined = program.examine(&["sum"], like());
    std::fs::remove_file(&older).unwrap();
    assert!(matches!(judge(&examined.case, &examined.process), Verdict::Failed(_)));
}

#[test]
fn a_command_sees_what_the_run_leaves_behind() {
    let program = Program::new("command");
    let ask = |words: &[&str], command: &str| {
        let mut case = program.case(words);
        case.oracle.expectations = vec![Expectation::Command(Bytes::from(command))];
        examine(&case).map(|examined| examined.verdict)
    };
    let words = ["file", "made"];
    let check = format!(
        "test \"$(cat files{}/made-by-the-program)\" = made && test \"$(cat exit)\" = 0",
        program.0.display()
    );
    assert_eq!(ask(&words, &check).unwrap(), Verdict::Passed);
    assert_eq!(ask(&["print", "x"], "grep -q x \"$WHYDUNIT_DIR\"/stdout").unwrap(), Verdict::Passed);
    let Verdict::Failed(failure) = ask(&["exit", "3"], "echo bad; cat exit; exit 1").unwrap() else {
        panic!()
    };
    assert_eq!(failure.to_string(), "failed, as the oracle says: bad\n3");
    assert!(matches!(ask(&[], "exit 125").unwrap(), Verdict::CannotTell(_)));
    let error = ask(&[], "echo oh; exit 7").unwrap_err().to_string();
    assert!(error.contains("exit status: 7") && error.ends_with("it printed: oh"), "{error}");
}

#[test]
fn runs_are_compared_by_kind_and_place() {
    let program = Program::new("outcome");
    let output = |words: &[&str], expected: &str| {
        program.examine(words, vec![text(Channel::Stdout, expected)]).verdict
    };
    let original = program.failure(&["print", "b"], vec![text(Channel::Stdout, "first\na")]);
    assert_eq!(Outcome::of(&output(&["print", "b"], "first\na"), &original), Outcome::SameFailure);
    assert_eq!(Outcome::of(&output(&["print", "c"], "first\na"), &original), Outcome::SameFailure);
    assert_eq!(Outcome::of(&output(&["print", "ab"], "first\na"), &original), Outcome::OtherFailure);
    assert_eq!(Outcome::of(&output(&["print", "a"], "first\na"), &original), Outcome::Pass);
    assert_eq!(Outcome::of(&output(&["null"], "first\na"), &original), Outcome::OtherFailure);
    assert_eq!(Outcome::of(&Verdict::CannotTell(String::new()), &original), Outcome::CutShort);
    let null = program.failure(&["null"], vec![]);
    assert_eq!(Outcome::of(&program.examine(&["null"], vec![]).verdict, &null), Outcome::SameFailure);
    assert_eq!(Outcome::of(&program.examine(&["divide"], vec![]).verdict, &null), Outcome::OtherFailure);
}
