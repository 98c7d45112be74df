//! Real programs in lock-step with the processor.
//!
//! Three of them at length, the others only begin; with WHYDUNIT_LONG set, all for a million
//! instructions.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use oracle::lockstep::{self, Command, End, Failure};

const LONG: u64 = 1_000_000;
const USUAL: u64 = 300_000;
const BEGINNING: u64 = 50_000;

/// A program to step.
struct Guest<'a> {
    argv: &'a [&'a str],
    stdin: &'a [u8],
}

impl<'a> Guest<'a> {
    fn new(argv: &'a [&'a str]) -> Guest<'a> {
        Guest { argv, stdin: b"" }
    }

    fn stdin(self, stdin: &'a [u8]) -> Guest<'a> {
        Guest { stdin, ..self }
    }

    fn agrees(self) {
        self.agrees_for(USUAL);
    }

    fn agrees_at_the_beginning(self) {
        self.agrees_for(BEGINNING);
    }

    /// Fails on any difference, on an instruction that the machine lacks, and on a guest that is over
    /// too soon.
    fn agrees_for(self, usual: u64) {
        self.agrees_until(if long_mode() { LONG } else { usual }, &|end| *end == End::Limit);
    }

    /// Fails on any difference, and on an end that is not as it should be.
    fn agrees_until(self, limit: u64, is_right: &dyn Fn(&End) -> bool) {
        let name = self.argv[0];
        let command = Command {
            argv: self.argv.iter().map(Into::into).collect(),
            env: vec!["LC_ALL=C".into(), "PATH=/usr/bin:/bin".into()],
            cwd: inputs(),
            stdin: self.stdin.to_vec(),
        };
        match lockstep::run(&command, limit) {
            Ok(report) => {
                assert!(is_right(&report.end), "{name}: {report}");
                println!("{name} {report}");
            }
            Err(Failure::NotPermitted(reason)) => skip(name, &reason),
            Err(failure) => panic!("{name}: {failure}"),
        }
    }
}

fn long_mode() -> bool {
    std::env::var_os("WHYDUNIT_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Past the test runner's capture, and into a file that `./test` shows: a skip is no pass.
fn skip(name: &str, reason: &str) {
    let line = format!("SKIPPED lock-step of {name}: {reason}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("SKIPPED");
    if let Ok(mut list) = fs::File::options().create(true).append(true).open(list) {
        let _ = list.write_all(line.as_bytes());
    }
}

/// A directory with files for the programs to work on, the same in every run.
fn inputs() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lockstep");
    fs::create_dir_all(&directory).unwrap();
    // Written aside and renamed: other tests use the directory at the same time.
    for (name, content) in [("words", words(0)), ("other", words(17))] {
        let own = (std::process::id(), std::thread::current().id());
        let aside = directory.join(format!("{name}.{own:?}"));
        fs::write(&aside, content).unwrap();
        fs::rename(&aside, directory.join(name)).unwrap();
    }
    directory
}

/// Lines of words and numbers, some of them alike; `skew` changes a few.
fn words(skew: u64) -> String {
    const WORDS: [&str; 12] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
    ];
    let mut text = String::new();
    let mut seed = 42u64;
    for line in 0..3000u64 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let pick = |shift: u32| WORDS[(seed >> shift) as usize % WORDS.len()];
        let number = (seed >> 33) % 10_000 + if line % 50 == 7 { skew } else { 0 };
        text.push_str(&format!("{} {} {number} {}\n", pick(20), pick(30), pick(40)));
    }
    text
}

/// One of tests/guests, compiled.
fn guest(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = inputs().join(name);
    // Aside and renamed, as above.
    let aside = program.with_extension(format!("{:?}", std::thread::current().id()));
    let status = std::process::Command::new("gcc")
        .args(["-w", "-g", "-O1", "-o"])
        .arg(&aside)
        .arg(root.join(format!("tests/guests/{name}.c")))
        .arg("-lm")
        .status()
        .unwrap();
    assert!(status.success(), "gcc could not compile {name}");
    fs::rename(&aside, &program).unwrap();
    program.to_string_lossy().into_owned()
}

/// The guest runs to its end on both sides, through all of its signal handlers, or for long, if it waits for processor time to go by.
fn handlers_agree(name: &str) {
    Guest::new(&[&guest(name)]).agrees_until(LONG, &|end| matches!(end, End::Exited(0) | End::Limit));
}

#[test]
fn handlers_of_faults_agree_with_the_processor() {
    handlers_agree("signal_faults");
}

#[test]
fn handlers_of_signals_that_are_sent_agree_with_the_processor() {
    handlers_agree("signal_handlers");
}

#[test]
fn handlers_on_stacks_of_their_own_agree_with_the_processor() {
    handlers_agree("signal_stacks");
}

#[test]
fn handlers_of_timers_agree_with_the_processor() {
    handlers_agree("signal_timers");
}

#[test]
fn ends_by_signals_agree_with_the_processor() {
    let program = guest("signal_ends");
    let is_end = |end: &End| matches!(end, End::Exited(_) | End::Stopped(_) | End::Fault(_));
    for way in ["reraise", "default-then-fault", "once", "exit", "fault-in-handler", "blocked", "ignored"] {
        Guest::new(&[&program, way]).agrees_until(LONG, &is_end);
    }
    for way in ["abort", "bad-handler", "bad-other-stack", "no-stack-but-another", "rubbish", "alarm", "pipe"]
    {
        Guest::new(&[&program, way]).agrees_until(LONG, &is_end);
    }
}

#[test]
fn grep_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/grep", "-n", "-E", "(alpha|mu) .*[0-9]{3} (eta|zeta)", "words"]).agrees();
}

#[test]
fn sort_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/sort", "-k3,3n", "-k1,1", "words"]).agrees();
}

#[test]
fn gzip_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/gzip", "-9", "-c"]).stdin(words(3).as_bytes()).agrees();
}

#[test]
fn sed_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/sed", "-E", "s/([a-z]+) ([a-z]+)/\\2-\\1/g; /^mu/d", "words"])
        .agrees_at_the_beginning();
}

#[test]
fn bzip2_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/bzip2", "-c"]).stdin(words(5).as_bytes()).agrees_at_the_beginning();
}

#[test]
fn diff_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/diff", "-u", "words", "other"]).agrees_at_the_beginning();
}

#[test]
fn md5sum_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/md5sum", "words", "other"]).agrees_at_the_beginning();
}

#[test]
fn od_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/od", "-A", "x", "-t", "x1z", "-t", "d4", "words"]).agrees_at_the_beginning();
}

#[test]
fn find_agrees_with_the_processor() {
    Guest::new(&["/usr/bin/find", "/etc", "/usr/lib", "-name", "*.conf", "-type", "f"])
        .agrees_at_the_beginning();
}

#[test]
fn m4_agrees_with_the_processor() {
    let factorials = "f(9) f(10)\n".repeat(20);
    let input = format!("define(`f', `ifelse($1, 0, 1, `eval($1 * f(decr($1)))')'){factorials}");
    Guest::new(&["/usr/bin/m4"]).stdin(input.as_bytes()).agrees_at_the_beginning();
}
