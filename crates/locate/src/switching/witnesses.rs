//! A check of what is claimed about trials that wait: some of them run on beside the spine, and whenever somebody looks, the whole state of such a
//! witness has to be that of the spine with the differences put in.

use std::collections::HashMap;

use lift::Reg;
use linux::Process;
use linux::fs::Stream;
use machine::{Time, Unwatched};

use super::difference::Difference;
use super::parked::Parked;
use super::trial::{Ending, Trial};

/// One of so many trials has a witness.
const ONE_OF: usize = 7;
/// So many are there at a time.
const MOST: usize = 8;

/// Trials, each with how often it had been parked when its witness was made, and the witness.
#[derive(Default)]
pub struct Witnesses {
    known: HashMap<usize, (u32, Process)>,
}

impl Witnesses {
    /// A trial is parked, for the how manieth time, in this state.
    pub fn add(&mut self, trial: usize, parked: u32, process: &mut Process) {
        self.known.remove(&trial);
        if trial.is_multiple_of(ONE_OF) && self.known.len() < MOST {
            self.known.insert(trial, (parked, process.fork()));
        }
    }

    /// Looks at all that wait where the spine is now.
    pub fn check(&mut self, parked: &Parked, spine: &mut Process, results: &mut [Trial]) {
        let now = spine.machine.time;
        self.known.retain(|trial, (times, witness)| {
            let waits = |result: &&mut Trial| result.parked == *times && result.ending == Ending::CutShort;
            let Some(result) = results.get_mut(*trial).filter(waits) else { return false };
            // The spine may not have come to where it waits.
            let Some(waiting) = parked.get(*trial as u32) else { return true };
            let own = Time(now.0.wrapping_add(waiting.ahead));
            witness.run(own, &mut Unwatched);
            let mut claimed = spine.fork();
            claimed.machine.time = own;
            let is_so = waiting.difference.apply(&mut claimed) && are_alike(witness, &claimed);
            result.checked += 1;
            result.refuted += u32::from(!is_so);
            true
        });
    }
}

/// Whether two processes of one origin are in the same state. When their output was written and their memory allocated is none of it.
fn are_alike(one: &Process, other: &Process) -> bool {
    let mut kernel = other.kernel.clone();
    kernel.output = one.kernel.output.clone();
    kernel.checked_heap = one.kernel.checked_heap.clone();
    let written = |stream| [one, other].map(|process| process.kernel.output.contents(stream));
    let [outputs, errors] = [written(Stream::Stdout), written(Stream::Stderr)];
    // The record of what defined the flags has parts that do not count, and each executor leaves others in them.
    let is_record = |reg: &Reg| [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C].contains(reg);
    let is_none = |difference: Difference| {
        difference.memory().is_empty() && difference.registers.iter().all(|(reg, _)| is_record(reg))
    };
    Difference::between(one, other).is_some_and(is_none)
        && one.machine.cpu.rflags() == other.machine.cpu.rflags()
        && one.machine.cpu.rip == other.machine.cpu.rip
        && one.kernel.hash(0) == kernel.hash(0)
        && outputs[0] == outputs[1]
        && errors[0] == errors[1]
}
