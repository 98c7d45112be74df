//! The machine at full speed, checked against the machine in lock-step.
//!
//! One instruction at a time, and watched, the machine goes its slow and simple way. What users
//! run is the fast way: whole blocks, with ops fused and dead flags left out. So a fork of the
//! process runs unwatched behind the compared one, stretch by stretch, and must get to the same
//! state.

use linux::{Exit, Process};
use machine::Unwatched;

use super::compare;
use super::instruction::Step;
use super::state::{Difference, State};

pub struct Shadow {
    pub(super) process: Process,
    /// Flags whose last definition left them open, and where the led side has taken the processor's bits.
    open_flags: u64,
}

impl Shadow {
    pub fn of(process: &mut Process) -> Shadow {
        Shadow { process: process.fork(), open_flags: 0 }
    }

    /// Starts anew from the compared process if that has just stored flags, in the frame of a handler, that are open.
    pub fn renew_if_open(&mut self, process: &mut Process) {
        if self.open_flags != 0 {
            *self = Shadow::of(process);
        }
    }

    /// To be told of every instruction, and of the flags that the led side took from the processor after it.
    pub fn note(&mut self, step: &Step, taken_over: u64) {
        let defined = step.modified_flags & !step.undefined_flags;
        self.open_flags = self.open_flags & !defined | taken_over;
    }

    /// Whether open flags go on to where they are compared: into a register or the stack.
    pub fn is_open_to(&self, step: &Step) -> bool {
        self.open_flags & step.read_flags != 0
    }

    /// Catches up with the compared process and says in what it differs.
    pub fn catch_up(&mut self, led: &Process) -> Vec<Difference> {
        let now = led.machine.time;
        let exit = self.process.run(now, &mut Unwatched);
        if exit != Exit::Until {
            return vec![difference("end of the run", format!("{exit:?}"), "none".to_owned())];
        }
        let machine = &self.process.machine;
        let mut differences = State::differences(
            &compare::state(&machine.cpu),
            &compare::state(&led.machine.cpu),
            self.open_flags,
        );
        if machine.memory.hash() != led.machine.memory.hash() {
            differences.push(difference(
                "memory hash",
                format!("{:#x}", machine.memory.hash()),
                format!("{:#x}", led.machine.memory.hash()),
            ));
        }
        for difference in &mut differences {
            difference.what.push_str(" of the machine unwatched against the machine watched");
        }
        differences
    }
}

fn difference(what: &str, machine: String, native: String) -> Difference {
    Difference { what: what.to_owned(), machine, native }
}
