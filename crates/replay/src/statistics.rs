//! The figures of a run.

use std::collections::BTreeMap;

use linux::fs::Stream;
use linux::{Event, Exit, Process, SERVED, syscall_name};
use machine::{Time, Trace};
use program::{Program, Scope, Trust};

/// Instructions that are traced at a time.
const SEGMENT: u64 = 1 << 18;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub instructions: u64,
    /// Those of code under suspicion.
    pub in_scope: u64,
    /// How often each was called, by name.
    pub system_calls: BTreeMap<String, u64>,
    /// Pages of memory that the process has at its end.
    pub pages: u64,
    /// Bytes of standard output and of standard error.
    pub stdout: u64,
    pub stderr: u64,
    /// A hash of the last state.
    pub state: u64,
}

/// For each stretch of a block, by its key, how many of its instructions are in scope.
type Stretches = BTreeMap<u64, u64>;

impl Statistics {
    /// Of the run from `start` to its end, or to `end`. `program` is the view of the run's end, when all of its libraries are
    /// there.
    pub fn of(start: Process, end: Time, program: &Program, scope: &Scope) -> Statistics {
        let mut process = start;
        let begin = process.machine.time;
        let mut statistics = Statistics::default();
        let mut trace = Trace::new();
        let mut is_in_scope: BTreeMap<u64, bool> = BTreeMap::new();
        let mut stretches = Stretches::new();
        let mut is_over = false;
        while !is_over && process.machine.time < end {
            trace.clear();
            let until = Time(process.machine.time.0.saturating_add(SEGMENT)).min(end);
            is_over = statistics.run(&mut process, until, &mut trace);
            for pass in trace.backward() {
                statistics.in_scope += *stretches.entry(pass.key()).or_insert_with(|| {
                    let mut suspect = |address: u64| {
                        *is_in_scope
                            .entry(address)
                            .or_insert_with(|| scope.of(program, address) == Trust::InScope)
                    };
                    pass.backward().filter(|executed| suspect(executed.address)).count() as u64
                });
            }
        }
        statistics.instructions = process.machine.time.0 - begin.0;
        statistics.pages = process.machine.memory.resident_pages();
        statistics.state = process.state_hash();
        for write in process.kernel.output.since(0) {
            let bytes = write.bytes.len() as u64;
            match write.stream {
                Stream::Stdout => statistics.stdout += bytes,
                Stream::Stderr => statistics.stderr += bytes,
            }
        }
        statistics
    }

    /// Runs a stretch and counts its system calls; says whether the process has ended.
    fn run(&mut self, process: &mut Process, until: Time, trace: &mut Trace) -> bool {
        loop {
            match process.run_to_event_traced(until, trace) {
                // Functions of the heap are no system calls.
                Event::Called(SERVED) => {}
                Event::Called(number) => {
                    let name = syscall_name(number).map_or_else(|| format!("number {number}"), str::to_owned);
                    *self.system_calls.entry(name).or_default() += 1;
                }
                Event::Interrupted => {}
                Event::Exit(exit) => return exit != Exit::Until,
            }
        }
    }
}
