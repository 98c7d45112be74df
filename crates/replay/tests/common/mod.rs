//! Small programs, compiled when a test asks for them.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use linux::{Config, Process};
use program::Program;

/// A directory of a test's own, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("whydunit-replay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Compiles a C program, with debug information.
    pub fn compile(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let from = self.0.join(format!("{name}.c"));
        std::fs::write(&from, source).unwrap();
        self.compile_file(&from, name, options)
    }

    /// The same in C++.
    pub fn compile_plus(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let from = self.0.join(format!("{name}.cc"));
        std::fs::write(&from, source).unwrap();
        self.compile_by("g++", &from, name, options)
    }

    /// The same with a source that is there already.
    pub fn compile_file(&self, from: &Path, name: &str, options: &[&str]) -> PathBuf {
        self.compile_by("gcc", from, name, options)
    }

    fn compile_by(&self, compiler: &str, from: &Path, name: &str, options: &[&str]) -> PathBuf {
        let to = self.0.join(name);
        let mut command = Command::new(compiler);
        command.args(["-g", "-w"]).args(options).arg("-o").arg(&to).arg(from).arg("-lm");
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

pub fn load(program: &Path, arguments: &[&str]) -> Process {
    load_with_input(program, arguments, "")
}

pub fn load_with_input(program: &Path, arguments: &[&str], input: &str) -> Process {
    let mut config = Config::new(program);
    config.stdin = input.as_bytes().to_vec().into();
    config.argv.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    Process::load(&config).unwrap()
}

/// The static view of all that a process has mapped.
pub fn view(process: &Process) -> Program {
    Program::from_memory(&process.machine.memory)
}

/// The line of the innermost function that has the instruction.
pub fn line_at(program: &Program, address: u64) -> Option<u32> {
    program.locate(address).position().map(|position| position.line)
}

/// The line of `source` that holds `marker`, from 1.
pub fn line_of(source: &str, marker: &str) -> u32 {
    1 + source.lines().position(|line| line.contains(marker)).unwrap() as u32
}
