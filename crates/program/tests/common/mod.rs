//! Small programs, compiled when a test asks for them.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use program::Program;

/// A directory of a test's own, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("whydunit-program-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Compiles `source` with `compiler` and returns the path of the program.
    pub fn compile(&self, compiler: &str, source_name: &str, source: &str, options: &[&str]) -> PathBuf {
        let from = self.0.join(source_name);
        std::fs::write(&from, source).unwrap();
        let to = from.with_extension("out");
        run(Command::new(compiler).args(options).arg("-o").arg(&to).arg(&from));
        to
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The static view of a program that is not loaded.
pub fn open(path: &Path) -> Program {
    open_bytes(path, std::fs::read(path).unwrap()).unwrap()
}

pub fn open_bytes(path: &Path, content: Vec<u8>) -> Option<Program> {
    Program::from_object(path.to_str().unwrap(), Arc::new(content), 0)
}

/// The line of `source` that holds `marker`, from 1.
pub fn line_of(source: &str, marker: &str) -> u32 {
    1 + source.lines().position(|line| line.contains(marker)).unwrap() as u32
}

/// A small generator of its own, so that a failing seed fails again.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
