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
}

impl Past for Rerun {
    fn at(&mut self, time: Time) -> Option<&Process> {
        if self.current.as_ref().is_none_or(|current| current.machine.time > time) {
            self.current = Some(self.start.fork());
            self.fed = 0;
        }
        let process = self.current.as_mut()?;
        while let Exit::Input = process.run(time, &mut Unwatched) {
            process.kernel.files.feed_input(self.pieces.get(self.fed)?);
            self.fed += 1;
        }
        (process.machine.time == time).then_some(process)
    }
}
