//! A program that runs in the machine up to a place.

use std::path::Path;

use linux::{Config, Process};
use machine::{Cpu, Observer, Time};
use program::Program;

/// Notes when an address is reached.
struct Watch {
    address: u64,
    left: usize,
    reached: Option<Time>,
}

impl Observer for Watch {
    fn instruction(&mut self, time: Time, address: u64, _: &[lift::Op], _: &Cpu) {
        if address == self.address && self.reached.is_none() {
            match self.left {
                0 => self.reached = Some(time),
                _ => self.left -= 1,
            }
        }
    }
}

fn load(path: &Path) -> Process {
    Process::load(&Config::new(path)).unwrap()
}

/// The guest when it comes to a function for the n-th time (from 0), at its first line after the prologue.
pub fn stopped_at_line(path: &Path, line: u32, pass: usize) -> (Process, Program) {
    let mut process = load(path);
    // The program itself is mapped from the start.
    let program = Program::from_memory(&process.machine.memory);
    let address = address_of(&program, line);
    let mut watch = Watch { address, left: pass, reached: None };
    process.run(Time(50_000_000), &mut watch);
    let time = watch.reached.unwrap_or_else(|| panic!("line {line} is not reached"));
    let mut process = load(path);
    process.run(time, &mut machine::Unwatched);
    assert_eq!(process.machine.cpu.rip, address);
    let program = Program::from_memory(&process.machine.memory);
    (process, program)
}

/// The first instruction of a line of main or of a function that main's file has.
fn address_of(program: &Program, line: u32) -> u64 {
    let symbols = ["main", "visit", "show", "fill", "stop"];
    let found = symbols.iter().filter_map(|name| program.find_symbol(name).ok()).flat_map(|symbol| {
        (symbol.address..symbol.address + symbol.size)
            .find(|address| program.locate(*address).position().is_some_and(|position| position.line == line))
    });
    found.min().unwrap_or_else(|| panic!("no code is of line {line}"))
}
