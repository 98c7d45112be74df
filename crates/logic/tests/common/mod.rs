//! Small programs, compiled when a test asks for them, and runs of which every op is checked.
#![allow(dead_code)]

use lift::{Op, Reg};
use linux::{Config, Exit, Follower, Process, SystemCall};
use logic::concolic::{Concolic, Options};
use machine::{Check, Cpu, Interruption, Memory, Observer, Peek, Time};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory of a test's own, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("whydunit-logic-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// Compiles a program of this directory.
    pub fn compile(&self, name: &str, compiler: &str, options: &[&str]) -> PathBuf {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
        self.compile_file(&from, name, compiler, options)
    }

    pub fn compile_text(&self, name: &str, text: &str, compiler: &str, options: &[&str]) -> PathBuf {
        let from = self.0.join(format!("{name}.c"));
        std::fs::write(&from, text).unwrap();
        self.compile_file(&from, name, compiler, options)
    }

    fn compile_file(&self, from: &Path, name: &str, compiler: &str, options: &[&str]) -> PathBuf {
        let to = self.0.join(format!("{name}-{compiler}{}", options.concat()));
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

pub fn load(program: &Path, arguments: &[&str], input: &[u8]) -> Process {
    let mut config = Config::new(program);
    config.stdin = input.to_vec().into();
    config.argv.extend(arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    Process::load(&config).unwrap()
}

pub fn is_long() -> bool {
    std::env::var_os("WHYDUNIT_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Follows a run, and compares after each op the value of each term that it made with what the machine computed.
pub struct Checked {
    pub concolic: Concolic,
    written: Vec<Reg>,
    op: Option<Op>,
    /// How many ops made a term, and how many ops there were.
    pub terms: u64,
    pub ops: u64,
}

impl Checked {
    pub fn new(options: Options) -> Checked {
        Checked { concolic: Concolic::new(options), written: Vec::new(), op: None, terms: 0, ops: 0 }
    }

    /// Runs until there is an end of the program, of the instructions or of the terms.
    pub fn run(&mut self, process: &mut Process, until: Time) -> Exit {
        loop {
            let next = until.min(Time(process.machine.time.0 + (1 << 16)));
            let exit = process.run_followed_by(next, self);
            self.check(&process.machine.cpu);
            if exit != Exit::Until || next == until || self.concolic.is_stopped() {
                return exit;
            }
        }
    }

    fn check(&mut self, cpu: &Cpu) {
        let Some(op) = self.op.take() else { return };
        let mut any = false;
        for reg in self.written.drain(..) {
            let Some(term) = self.concolic.register(reg) else { continue };
            // How an x87 result was rounded is not followed.
            let kept = if reg == Reg::X87_CODES { !lift::x87::C1 } else { u64::MAX };
            let value = self.concolic.value(term) as u64;
            if (value ^ cpu.get(reg)) & kept != 0 {
                let text = self.concolic.terms().print(term);
                panic!("{reg} is {:#x}, its term {value:#x}, after {op:?}: {text}", cpu.get(reg));
            }
            any = true;
        }
        self.terms += u64::from(any);
        self.ops += 1;
    }
}

impl Observer for Checked {
    fn instruction(&mut self, time: Time, address: u64, ops: &[Op], cpu: &Cpu) {
        self.check(cpu);
        self.concolic.instruction(time, address, ops, cpu);
    }

    fn routine(&mut self, check: Check, cpu: &Cpu, memory: &Memory) {
        self.concolic.routine(check, cpu, memory);
    }

    fn op(&mut self, op: &Op, cpu: &Cpu) {
        self.check(cpu);
        self.concolic.op(op, cpu);
        op.writes(|reg| self.written.push(reg));
        self.op = Some(*op);
    }

    fn load_from(&mut self, memory: &impl Peek, address: u64, bytes: u64) {
        self.concolic.load_from(memory, address, bytes);
    }

    fn store(&mut self, address: u64, bytes: u64) {
        self.concolic.store(address, bytes);
    }

    fn string(&mut self, source: u64, target: u64, elements: i64) {
        self.concolic.string(source, target, elements);
    }

    fn interruption(&mut self, interruption: &Interruption) {
        self.op = None;
        self.written.clear();
        self.concolic.interruption(interruption);
    }
}

impl Follower for Checked {
    fn called(&mut self, call: &SystemCall, process: &Process) {
        self.op = None;
        self.written.clear();
        self.concolic.called(call, process);
    }
}
