//! Small programs, compiled, recorded and asked about.
#![allow(dead_code)] // Each test file uses some of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use lift::Reg;
use linux::{Config, HeapMode, Process};
use machine::Time;
use program::{Program, Scope, Stmt};
use replay::{Code, Follow, Question, Recording, Slice, Watch};

pub struct Guest {
    pub recording: Recording,
    pub program: Program,
}

impl Guest {
    /// Compiles a program of these tests, or one of the examples, and records its run.
    pub fn compile(source: &str, options: &[&str], arguments: &[&str]) -> Guest {
        Guest::compile_by("gcc", source, options, arguments)
    }

    pub fn compile_by(compiler: &str, source: &str, options: &[&str], arguments: &[&str]) -> Guest {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = here.join("tests/programs").join(source);
        let example = here.join("../../examples").join(source.trim_end_matches(".c")).join(source);
        let path = if own.exists() { own } else { example.canonicalize().unwrap() };
        Guest::run(compile(compiler, &path, options), arguments)
    }

    pub fn run(program: PathBuf, arguments: &[&str]) -> Guest {
        Guest::run_for(program, arguments, Time(u64::MAX))
    }

    /// The same with a checked heap.
    pub fn run_checked(program: PathBuf, arguments: &[&str]) -> Guest {
        Guest::run_with(program, arguments, Time(u64::MAX), HeapMode::Checked)
    }

    /// Records no more than the run until `limit`.
    pub fn run_for(program: PathBuf, arguments: &[&str], limit: Time) -> Guest {
        Guest::run_with(program, arguments, limit, HeapMode::Program)
    }

    fn run_with(program: PathBuf, arguments: &[&str], limit: Time, heap: HeapMode) -> Guest {
        // By its name alone: where a guest's stack lies, and so how a library copies, depends on the length of its path.
        let mut config = Config::new(program.file_name().unwrap());
        config.cwd = program.parent().unwrap().to_path_buf();
        config.argv.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
        config.heap = heap;
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

/// Where the text of an argument of the program is, and how long it is.
pub fn argument(recording: &mut Recording, number: u64) -> Option<(u64, u64)> {
    let begin = recording.program_start();
    let process = recording.at(begin);
    let read = |address: u64| {
        let mut bytes = [0; 8];
        process.machine.memory.peek(address, &mut bytes);
        bytes
    };
    // After the number of arguments.
    let start = u64::from_le_bytes(read(process.machine.cpu.get(Reg::RSP) + 8 + 8 * number));
    let length = (0..4096).take_while(|offset| read(start + offset)[0] != 0).count() as u64;
    (start != 0).then_some((start, length))
}

/// Where the compiler puts a program: a name of its own for each way to compile it.
pub fn compile(compiler: &str, source: &Path, options: &[&str]) -> PathBuf {
    compile_all(compiler, &[source.to_path_buf()], options)
}

/// The same of a program of several files, named by the first.
pub fn compile_all(compiler: &str, sources: &[PathBuf], options: &[&str]) -> PathBuf {
    let process = std::process::id().to_string();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-programs").join(process);
    std::fs::create_dir_all(&directory).unwrap();
    let stem = sources[0].file_stem().unwrap().to_string_lossy();
    // No longer than all that is asked of it: the path of an include directory differs from place to place.
    let known = options.iter().filter(|option| !option.starts_with("-I"));
    let options_told = known.copied().collect::<String>().replace('/', "");
    let program = directory.join(format!("{stem}-{compiler}{options_told}"));
    let output = Command::new(compiler)
        .args(["-g", "-w"])
        .args(options)
        .arg("-o")
        .arg(&program)
        .args(sources)
        .arg("-lm")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// A directory in the sources of a crate of the workspace that carries a C program.
pub fn carried(package: &str, directory: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline"])
        // What other systems need need not be there.
        .args(["--filter-platform", "x86_64-unknown-linux-gnu", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let found = packages.iter().find(|known| known["name"] == package).unwrap();
    Path::new(found["manifest_path"].as_str().unwrap()).with_file_name(directory)
}

/// The lines of statements.
pub fn lines<'a>(statements: impl Iterator<Item = &'a Stmt>) -> BTreeSet<u32> {
    statements.map(|stmt| stmt.line).collect()
}
