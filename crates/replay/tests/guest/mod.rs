//! Small programs, compiled, recorded and asked about.
#![allow(dead_code)] // Each test file uses some of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use linux::{Config, Process};
use machine::Time;
use program::{Program, Scope, Stmt};
use replay::{Code, Follow, Question, Recording, Slice, Watch};

pub struct Guest {
    pub recording: Recording,
    pub program: Program,
}

impl Guest {
    /// Compiles a program of this directory and records its run.
    pub fn compile(source: &str, options: &[&str], arguments: &[&str]) -> Guest {
        Guest::compile_by("gcc", source, options, arguments)
    }

    pub fn compile_by(compiler: &str, source: &str, options: &[&str], arguments: &[&str]) -> Guest {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        Guest::run(compile(compiler, &path, options), arguments)
    }

    pub fn run(program: PathBuf, arguments: &[&str]) -> Guest {
        Guest::run_for(program, arguments, Time(u64::MAX))
    }

    /// Records no more than the run until `limit`.
    pub fn run_for(program: PathBuf, arguments: &[&str], limit: Time) -> Guest {
        let mut config = Config::new(program);
        config.argv.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
        let process = Process::load(&config).unwrap();
        let recording = Recording::make(process, limit);
        let program = Program::from_memory(&recording.last().machine.memory);
        Guest { recording, program }
    }

    pub fn slice(&mut self, question: &Question, follow: Follow, watch: &mut impl Watch) -> Slice {
        let mut code = Code::new(&self.program, Scope::new(&[], &[]).unwrap());
        self.recording.slice(&mut code, question, follow, watch)
    }
}

/// Where the compiler puts a program: a name of its own for each way to compile it.
pub fn compile(compiler: &str, source: &Path, options: &[&str]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-programs");
    std::fs::create_dir_all(&directory).unwrap();
    let stem = source.file_stem().unwrap().to_string_lossy();
    let program = directory.join(format!(
        "{stem}-{compiler}{}-{}",
        options.join("").replace('/', ""),
        std::process::id()
    ));
    let output = Command::new(compiler)
        .args(["-g", "-w"])
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg("-lm")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// The lines of statements.
pub fn lines<'a>(statements: impl Iterator<Item = &'a Stmt>) -> BTreeSet<u32> {
    statements.map(|stmt| stmt.line).collect()
}
