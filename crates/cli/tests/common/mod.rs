//! Runs the `whydunit` command as a user does, on small programs that are compiled when a test asks for them.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A directory of a test's own, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("whydunit-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        // Reports tell paths relative to the working directory, which has no links in it.
        Scratch(path.canonicalize().unwrap())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Compiles a C source to a program of its name.
    pub fn compile(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        self.write(&format!("{name}.c"), source);
        let output = Command::new("gcc")
            .current_dir(&self.0)
            .args(["-g", "-o", name, &format!("{name}.c")])
            .args(options)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.0.join(name)
    }

    /// Compiles a C, C++ or Rust source that is here already; the name of the program.
    pub fn build(&self, source: &str, options: &[String]) -> String {
        let (name, language) = source.rsplit_once('.').unwrap();
        let (compiler, own): (_, &[&str]) = match language {
            "c" => ("gcc", &[]),
            "cpp" => ("g++", &[]),
            "rs" => ("rustc", &["--edition", "2024"]),
            _ => panic!("nobody compiles {source}"),
        };
        let mut command = Command::new(compiler);
        command.current_dir(&self.0).args(own).args(["-g", "-o", name, source]).args(options);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        name.to_owned()
    }

    /// Runs `whydunit` here.
    pub fn whydunit(&self, words: &[&str]) -> Ran {
        self.whydunit_with_input(words, b"")
    }

    pub fn whydunit_with_input(&self, words: &[&str], input: &[u8]) -> Ran {
        self.run(self.command(words), input)
    }

    /// The same with an environment that is the same everywhere: where things lie on the guest's stack, and so how a
    /// library copies them, depends on it.
    pub fn whydunit_apart(&self, words: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(words);
        command.env_clear().env("PATH", "/usr/bin:/bin");
        self.run(command, input)
    }

    fn run(&self, mut command: Command, input: &[u8]) -> Ran {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that does not read its input closes the pipe early.
                let _ = stdin.write_all(input);
            });
            ran(child.wait_with_output().unwrap())
        })
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whydunit"));
        command.current_dir(&self.0).args(words);
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn ran(output: Output) -> Ran {
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Past the test runner's capture, and into a file that `./test` shows: a skip is no pass.
pub fn skip(what: &str, reason: &str) {
    let line = format!("SKIPPED {what}: {reason}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("SKIPPED");
    if let Ok(mut list) = std::fs::File::options().create(true).append(true).open(list) {
        let _ = list.write_all(line.as_bytes());
    }
}

/// Addresses depend on the host's libraries, and how long a run is on its environment.
pub fn normalised(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n', ',', ';']);
    let word = |word: &str| match word.find("0x") {
        Some(at) => {
            format!("{}0x…{}", &word[..at], word.trim_start_matches(|one: char| !one.is_whitespace()))
        }
        None => word.to_owned(),
    };
    let text: String = words.map(word).collect();
    let lines = text.lines().map(|line| match line.split_once(" instructions in all") {
        Some((before, _)) => {
            let is_digit = |one: char| one.is_ascii_digit() || one == ',';
            format!("{}… instructions in all", before.trim_end_matches(is_digit))
        }
        None => line.to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}

/// Starts a command, interrupts it as Ctrl-C does some time after it has begun to listen to that, and waits for its end.
pub fn interrupted(mut command: Command, after: Duration) -> Ran {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let begun = Instant::now();
    while !catches_interrupts(child.id()) {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(after);
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    ran(child.wait_with_output().unwrap())
}

/// Whether a process has a handler for SIGINT.
fn catches_interrupts(process: u32) -> bool {
    const SIGINT: u64 = 1 << 1;
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & SIGINT != 0
}
