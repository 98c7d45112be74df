//! The state of a process, to be kept.

use machine::{Checkpoint, Image, Machine, Time};

use crate::kernel::Kernel;
use crate::process::Process;

/// A process at an instant, without the caches that a process needs to run.
pub struct Snapshot {
    pub machine: Checkpoint,
    kernel: Kernel,
}

impl Snapshot {
    pub fn time(&self) -> Time {
        self.machine.time()
    }

    /// A process in this state.
    pub fn process(&self) -> Process {
        Process { machine: Machine::from_checkpoint(&self.machine), kernel: self.kernel.clone() }
    }

    /// A process in this state but for its memory.
    pub fn process_with(&self, memory: Image) -> Process {
        let machine = self.machine.with_memory(memory);
        Process { machine: Machine::from_checkpoint(&machine), kernel: self.kernel.clone() }
    }

    /// The same without the pages of its memory; see [`Snapshot::process_with`].
    pub fn without_pages(self) -> Snapshot {
        Snapshot { machine: self.machine.map_memory(Image::without_pages), ..self }
    }
}

impl Process {
    /// The state as it is.
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot { machine: self.machine.checkpoint(), kernel: self.kernel.clone() }
    }
}
