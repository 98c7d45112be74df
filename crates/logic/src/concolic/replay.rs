//! Stretches of recorded runs, followed with chosen cells unknown.

use super::{Concolic, Options};
use lift::{Op, Reg};
use linux::Process;
use machine::{Cpu, Observer, Time};
use replay::{Cell, Recording};
use std::ops::Range;

/// What is to be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// A cell in the state before the instruction of this time.
    Cell { time: Time, cell: Cell },
    /// All that the instruction of this time gives a value, where the stack is excepted.
    Result(Time),
}

impl Unknown {
    /// The state in which it is there.
    fn time(&self) -> Time {
        match self {
            Unknown::Cell { time, .. } => *time,
            Unknown::Result(time) => Time(time.0.saturating_add(1)),
        }
    }
}

impl Concolic {
    /// Follows a stretch of a recorded run. What is to be unknown at times outside of it is left alone.
    pub fn follow(
        recording: &mut Recording,
        range: Range<Time>,
        unknowns: &[Unknown],
        options: Options,
    ) -> Concolic {
        let mut concolic = Concolic::new(options);
        let mut process = recording.at(range.start);
        let mut unknowns: Vec<&Unknown> = unknowns.iter().collect();
        unknowns.sort_by_key(|unknown| unknown.time());
        for unknown in
            unknowns.into_iter().filter(|unknown| (range.start..range.end).contains(&unknown.time()))
        {
            let cells = match *unknown {
                Unknown::Cell { time, cell } => {
                    concolic.run(&mut process, time);
                    vec![cell]
                }
                Unknown::Result(time) => {
                    concolic.run(&mut process, time);
                    let cells = results(&mut process.fork());
                    concolic.run(&mut process, Time(time.0.saturating_add(1)));
                    cells
                }
            };
            if process.machine.time != unknown.time() || concolic.is_stopped() {
                break;
            }
            for cell in cells {
                concolic.make_unknown(&process, cell);
            }
        }
        if !concolic.is_stopped() {
            concolic.run(&mut process, range.end);
        }
        concolic
    }
}

/// What the next instruction gives a value.
fn results(process: &mut Process) -> Vec<Cell> {
    let mut results = Results::default();
    let next = Time(process.machine.time.0.saturating_add(1));
    process.run(next, &mut results);
    results.cells
}

#[derive(Default)]
struct Results {
    cells: Vec<Cell>,
}

impl Observer for Results {
    fn op(&mut self, op: &Op, _: &Cpu) {
        op.writes(|reg| {
            let is_value = reg.is_general() && reg != Reg::RSP || reg.0 >= Reg::xmm(0).0;
            // Sign and exponent of an x87 register: the rest of the slot tells whether it is in use.
            let is_upper = reg.is_st() && !(reg.0 - Reg::st(0).0).is_multiple_of(2);
            let cell = Cell::Register(reg, if is_upper { 0b11 } else { lift::WHOLE });
            if is_value && !reg.is_temp() && !self.cells.contains(&cell) {
                self.cells.push(cell);
            }
        });
    }

    fn store(&mut self, address: u64, bytes: u64) {
        // As much as a term holds.
        const MOST: u64 = 16;
        let pieces = (0..bytes)
            .step_by(MOST as usize)
            .map(|at| Cell::Memory { address: address.wrapping_add(at), length: MOST.min(bytes - at) });
        self.cells.extend(pieces);
    }
}
