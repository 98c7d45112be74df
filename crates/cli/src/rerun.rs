//! The run again, to look at earlier instants of it.

use linux::{Exit, Process};
use machine::{Time, Unwatched};

use crate::fault_report::Past;

/// A process before its first instruction, with the standard input that it was given later, piece by piece.
pub struct Rerun {
    start: Process,
    pub pieces: Vec<Vec<u8>>,
    current: Option<Process>,
    /// Pieces that the current one has been given.
    fed: usize,
}

impl Rerun {
    pub fn new(process: &mut Process) -> Rerun {
        Rerun { start: process.fork(), pieces: Vec::new(), current: None, fed: 0 }
    }

    /// The end of the run if the dead part of the stack is overwritten at an instant; `None` if the run then goes another way.
    pub fn end_without_dead_stack(&mut self, time: Time, end: Time) -> Option<Process> {
        self.at(time)?;
        let mut process = self.current.as_mut()?.fork();
        process.clear_dead_stack();
        let exit = run(&mut process, Time(u64::MAX), &self.pieces, &mut self.fed.clone())?;
        (matches!(exit, Exit::Exited(_)) && process.machine.time == end).then_some(process)
    }
}

/// Runs a process, and gives it the pieces of input from the one on that comes next. `None` if there are no more.
fn run(process: &mut Process, until: Time, pieces: &[Vec<u8>], fed: &mut usize) -> Option<Exit> {
    loop {
        match process.run(until, &mut Unwatched) {
            Exit::Input => process.kernel.files.feed_input(pieces.get(*fed)?),
            exit => return Some(exit),
        }
        *fed += 1;
    }
}

impl Past for Rerun {
    fn at(&mut self, time: Time) -> Option<&Process> {
        if self.current.as_ref().is_none_or(|current| current.machine.time > time) {
            self.current = Some(self.start.fork());
            self.fed = 0;
        }
        let process = self.current.as_mut()?;
        run(process, time, &self.pieces, &mut self.fed)?;
        (process.machine.time == time).then_some(process)
    }
}
