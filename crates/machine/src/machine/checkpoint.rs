//! The state of a machine, to be kept: a machine itself is mostly caches.

use super::{Machine, Time};
use crate::Cpu;
use crate::block::CodeSpace;
use crate::intervention::Action;
use crate::machine::Core;
use crate::memory::Image;
use std::sync::Arc;

/// A machine at an instant. Machines that go on from there are made of it as often as one likes.
pub struct Checkpoint {
    cpu: Cpu,
    pub memory: Image,
    space: Arc<CodeSpace>,
    private: bool,
    time: Time,
    pending: Vec<(Time, Action)>,
}

impl Machine {
    /// The state as it is, between two instructions. It takes `&mut self` for the reason that [`Machine::fork`] does.
    pub fn checkpoint(&mut self) -> Checkpoint {
        self.follow_code_changes();
        Checkpoint {
            cpu: self.core.cpu.clone(),
            memory: self.core.memory.image(),
            space: self.space_for_another(),
            private: self.private,
            time: self.time,
            pending: self.pending.clone(),
        }
    }

    /// A machine in this state.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Machine {
        let space = match checkpoint.private {
            true => Arc::new(checkpoint.space.another()),
            false => Arc::clone(&checkpoint.space),
        };
        Machine {
            core: Core::assemble(&checkpoint.cpu, checkpoint.memory.clone()),
            space,
            private: checkpoint.private,
            time: checkpoint.time,
            pending: checkpoint.pending.clone(),
            passed: false,
        }
    }
}

impl Checkpoint {
    pub fn time(&self) -> Time {
        self.time
    }

    /// The same with the memory that `change` makes of its memory.
    pub fn map_memory(self, change: impl FnOnce(Image) -> Image) -> Checkpoint {
        Checkpoint { memory: change(self.memory), ..self }
    }

    /// The same state with another memory.
    pub fn with_memory(&self, memory: Image) -> Checkpoint {
        Checkpoint {
            cpu: self.cpu.clone(),
            memory,
            space: Arc::clone(&self.space),
            private: self.private,
            time: self.time,
            pending: self.pending.clone(),
        }
    }
}
