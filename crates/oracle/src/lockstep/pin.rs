//! Tracer and child on one processor: a stop then needs no interrupt to another one, and costs a
//! quarter.

use std::time::{Duration, Instant};

use super::ptrace::{self, Pid};

/// A stretch of steps that took longer per step than this had to share its processor.
const CROWDED: Duration = Duration::from_micros(40);

/// Where the two are. The choice matters for speed only, so that errors are passed over.
pub struct Pinned {
    processors: Vec<usize>,
    current: usize,
    since: Instant,
}

impl Pinned {
    /// This thread, and the child that it is about to start.
    pub fn new() -> Pinned {
        let processors = ptrace::processors().unwrap_or_default();
        let here = ptrace::current_processor();
        let current = processors.iter().position(|&processor| Some(processor) == here).unwrap_or(0);
        if let Some(&processor) = processors.get(current) {
            let _ = ptrace::pin(0, processor);
        }
        Pinned { processors, current, since: Instant::now() }
    }

    /// After so many steps: tries the next processor if this one is crowded, for the scheduler may
    /// not move a pinned thread itself.
    pub fn reconsider(&mut self, child: Pid, steps: u32) {
        let crowded = self.since.elapsed() > CROWDED * steps;
        self.since = Instant::now();
        if !crowded || self.processors.len() < 2 {
            return;
        }
        self.current = (self.current + 1) % self.processors.len();
        let processor = self.processors[self.current];
        let _ = ptrace::pin(child, processor);
        let _ = ptrace::pin(0, processor);
    }
}
