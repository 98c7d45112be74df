//! Failing runs of small programs, compiled when a test asks for them.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use linux::Process;
use locate::criterion::asked_of;
use locate::instances::Instances;
use locate::switching::{Found, Judge, Meter, Options, Order, Parking, Search};
use program::{Program, Scope};
use replay::failure::{Failure, Verdict};
use replay::oracle::{Assertions, examine};
use replay::{Bytes, Case, Channel, Code, Expectation, Flow, Recording, Seed, Stdin};

/// A directory of a test's own, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("whydunit-locate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// A program whose source is this text.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(format!("{name}.c"));
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn compile(&self, source: &Path, options: &[&str]) -> PathBuf {
        let to = self.0.join(source.file_stem().unwrap());
        let extension = source.extension().and_then(|extension| extension.to_str());
        let (compiler, fixed, libraries) = match extension {
            Some("rs") => ("rustc", &["-g", "--edition", "2024"][..], &[][..]),
            Some("cpp") => ("g++", &["-g", "-w"][..], &["-lm"][..]),
            _ => ("gcc", &["-g", "-w"][..], &["-lm"][..]),
        };
        let mut command = Command::new(compiler);
        command.args(fixed).args(options).arg("-o").arg(&to).arg(source).args(libraries);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        to
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The source of one of the repository's examples.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}/{name}.c"))
}

pub fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"))
}

/// A case of a program with arguments, whose output should be a text.
pub fn printing(program: &Path, arguments: &[&str], input: &str, expected: &str) -> Case {
    let mut case = crashing(program, arguments, input);
    let text = Bytes::from(expected);
    case.oracle.expectations.push(Expectation::Text { channel: Channel::Stdout, text });
    case
}

pub fn crashing(program: &Path, arguments: &[&str], input: &str) -> Case {
    let mut case = Case::new(program.to_str().unwrap());
    case.argv.extend(arguments.iter().map(|argument| Bytes::from(*argument)));
    case.stdin = Stdin::Bytes(Bytes::from(input));
    case.limits.instructions = 200_000_000;
    case
}

pub struct Failing {
    pub case: Case,
    pub recording: Recording,
    pub program: Program,
    pub failure: Failure,
    /// What of the input makes the run fail, if a test says so.
    pub inducing: Vec<Seed>,
}

impl Failing {
    pub fn new(case: Case) -> Failing {
        Failing::try_new(case).expect("the run does not fail")
    }

    /// `None` if the run does not fail.
    pub fn try_new(case: Case) -> Option<Failing> {
        let recording = Recording::make(case.load().unwrap(), case.end());
        let view = |process: &Process| Program::from_memory(&process.machine.memory);
        let examined = examine(&case, case.load().unwrap(), &view).unwrap();
        let Verdict::Failed(failure) = examined.verdict else { return None };
        let program = Program::from_memory(&recording.last().machine.memory);
        Some(Failing { case, recording, program, failure, inducing: Vec::new() })
    }

    /// How many decisions there are before the failure.
    pub fn decisions(&mut self) -> usize {
        let (flow, scope) = (Flow::new(&self.program), Scope::new(&[], &[]).unwrap());
        let begin = self.recording.program_start();
        Instances::of(&mut self.recording, &flow, &scope, begin, self.failure.time).list.len()
    }

    pub fn switch(&mut self, options: &Options) -> Found {
        self.switch_until(options, &Meter::default())
    }

    pub fn switch_until(&mut self, options: &Options, meter: &Meter) -> Found {
        let scope = Scope::new(&[], &[]).unwrap();
        let mut code = Code::new(&self.program, scope.clone());
        let flow = Flow::new(&self.program);
        let question = asked_of(&self.failure, &mut self.recording, &mut code).question;
        let assertions = Assertions::of(&self.case).unwrap();
        let view = |process: &Process| Program::from_memory(&process.machine.memory);
        let judge = Judge { case: &self.case, assertions: &assertions, view: &view };
        Search {
            recording: &mut self.recording,
            code: &mut code,
            flow: &flow,
            scope: &scope,
            judge: &judge,
            failure: &self.failure,
            question: &question,
            inducing: &self.inducing,
        }
        .run(options, meter)
    }

    /// The lines of the conditions that were found, in the order in which they were.
    pub fn lines(&self, found: &Found) -> Vec<u32> {
        let line =
            |known: &locate::instances::KnownCondition| known.stmt.as_ref().map_or(0, |stmt| stmt.line);
        let critical = found.critical.iter();
        critical.filter_map(|critical| found.instances.known(&critical.instance)).map(line).collect()
    }
}

pub fn options() -> Options {
    Options {
        order: Order::Prior,
        budget: u64::MAX,
        parking: Parking::WhileItPays,
        checks: false,
        threads: 2,
        goes_beyond: true,
    }
}
