//! Passes over a recording from its end to its start.
//!
//! Segments are run and traced by a thread of its own, some ahead of the one that is looked at: they are what they would be
//! without it, in the same order.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::Builder;

use linux::{Exit, Process, SystemCall};
use machine::{Time, Trace, Unwatched};

use super::store::Store;
use super::{AHEAD, LEAST_FINE, LEVEL, MOST_FINE, Recording, SEGMENT, Segment};

impl Recording {
    /// Goes from `end` back to the start, segment by segment, as long as `visit` says true.
    pub fn backward(&mut self, end: Time, mut visit: impl FnMut(Segment<'_>) -> bool) {
        let whole = end.min(self.end());
        let Recording { first, checkpoints, options, gauge, .. } = self;
        gauge.begin(whole.0.saturating_sub(first.time().0));
        let mut look = |traced: &mut Traced| {
            gauge.set(whole.0.saturating_sub(traced.end.0));
            let Traced { before, end, buffer: Buffer { trace, calls } } = traced;
            visit(Segment { start: before.machine.time, before, end: *end, trace, calls })
        };
        let (memory, directory) = (options.memory / 4, &*options.directory);
        let has_thread = std::thread::scope(|scope| {
            let (ready, segments) = sync_channel(AHEAD);
            let (used, buffers) = channel();
            let mut tracer = Tracer { end: whole, to: Ahead { ready, buffers }, memory, directory };
            let checkpoints = &*checkpoints;
            if Builder::new().spawn_scoped(scope, move || tracer.trace(checkpoints)).is_err() {
                return false;
            }
            while let Ok(mut traced) = segments.recv() {
                if !look(&mut traced) {
                    break;
                }
                // Nobody needs it if the thread has come to the start.
                let _ = used.send(traced.buffer);
            }
            true
        });
        if !has_thread {
            Tracer { end: whole, to: look, memory, directory }.trace(checkpoints);
        }
    }
}

/// A segment that has been run.
struct Traced {
    before: Process,
    end: Time,
    buffer: Buffer,
}

#[derive(Default)]
struct Buffer {
    trace: Trace,
    calls: Vec<SystemCall>,
}

/// Who gets segments.
trait Consumer {
    /// Whether the pass is to go on.
    fn take(&mut self, traced: Traced) -> bool;
    /// One that was used, for its memory.
    fn buffer(&mut self) -> Buffer {
        Buffer::default()
    }
}

/// Another thread.
struct Ahead {
    ready: SyncSender<Traced>,
    buffers: Receiver<Buffer>,
}

impl Consumer for Ahead {
    fn take(&mut self, traced: Traced) -> bool {
        self.ready.send(traced).is_ok()
    }

    fn buffer(&mut self) -> Buffer {
        self.buffers.try_recv().unwrap_or_default()
    }
}

/// The same thread, where the host has no other.
impl<F: FnMut(&mut Traced) -> bool> Consumer for F {
    fn take(&mut self, mut traced: Traced) -> bool {
        self(&mut traced)
    }
}

struct Tracer<'a, C> {
    /// Where the part that was traced begins.
    end: Time,
    to: C,
    memory: u64,
    directory: &'a Path,
}

impl<C: Consumer> Tracer<'_, C> {
    fn trace(&mut self, checkpoints: &Store) {
        for index in (0..checkpoints.len()).rev() {
            if checkpoints.time(index).is_none_or(|time| time >= self.end) {
                continue;
            }
            // What cannot be read back is run again from further back.
            let Some(process) = checkpoints.open(index) else { continue };
            if !self.stretch(process) {
                return;
            }
        }
    }

    /// Goes from the end back to where `process` is. Whether the pass is to go on.
    fn stretch(&mut self, mut process: Process) -> bool {
        let length = self.end.0.saturating_sub(process.machine.time.0);
        if length <= SEGMENT {
            return self.segment(process);
        }
        let start = process.machine.time.0;
        let mut spacing = SEGMENT;
        while length.div_ceil(spacing) > MOST_FINE {
            spacing = spacing.saturating_mul(LEVEL);
        }
        let mut fine = Store::new(process.snapshot(), self.memory, LEAST_FINE, self.directory);
        loop {
            let now = process.machine.time.0;
            let next = Time(now.saturating_add(spacing - (now - start) % spacing));
            if next >= self.end || !matches!(process.run(next, &mut Unwatched), Exit::Until) {
                break;
            }
            fine.push(process.snapshot());
            // Rather fewer of them, and another level, than a file that is written and read all the time.
            if fine.is_over(&process) && fine.len() > 2 {
                spacing = spacing.saturating_mul(2);
                fine.thin(|time| (time.0 - start).is_multiple_of(spacing));
            }
        }
        drop(process);
        while fine.len() > 0 {
            if let Some(before) = fine.pop()
                && !self.stretch(before)
            {
                return false;
            }
        }
        true
    }

    fn segment(&mut self, mut before: Process) -> bool {
        let end = std::mem::replace(&mut self.end, before.machine.time);
        let mut buffer = self.to.buffer();
        buffer.trace.clear();
        buffer.calls.clear();
        before.fork().run_followed(end, &mut buffer.trace, &mut buffer.calls);
        self.to.take(Traced { before, end, buffer })
    }
}

#[cfg(test)]
mod tests {
    use linux::Config;

    use super::*;

    #[test]
    fn segments_are_the_same_where_the_host_has_no_thread() {
        let process = Process::load(&Config::new("/bin/true")).unwrap();
        let mut recording = Recording::make(process, Time(u64::MAX));
        let (mut ahead, mut alone) = (Vec::new(), Vec::new());
        recording.backward(Time(u64::MAX), |segment| {
            ahead.push((segment.start, segment.end, segment.trace.length()));
            true
        });
        let to = |traced: &mut Traced| {
            alone.push((traced.before.machine.time, traced.end, traced.buffer.trace.length()));
            true
        };
        let directory = &*recording.options.directory;
        Tracer { end: recording.end(), to, memory: 1 << 20, directory }.trace(&recording.checkpoints);
        assert!(ahead.len() > 1);
        assert_eq!(ahead, alone);
    }
}
