//! Passes over a recording from its end to its start.
//!
//! Segments are run and traced by a thread of its own, one ahead of the one that is looked at: which is what they would be
//! without it, in the same order.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use linux::{Exit, Process, SystemCall};
use machine::{Time, Trace, Unwatched};

use super::store::Store;
use super::{LEVEL, MOST_FINE, Recording, SEGMENT, Segment};

impl Recording {
    /// Goes from `end` back to the start, segment by segment, as long as `visit` says true.
    pub fn backward(&mut self, end: Time, mut visit: impl FnMut(Segment<'_>) -> bool) {
        let whole = end.min(self.end());
        let Recording { first, checkpoints, options, gauge, .. } = self;
        gauge.begin(whole.0.saturating_sub(first.time().0));
        std::thread::scope(|scope| {
            let (ready, segments) = sync_channel(1);
            let (used, buffers) = channel();
            let (memory, directory) = (options.memory / 4, &*options.directory);
            let tracer = Tracer { end: whole, ready, buffers, memory, directory };
            scope.spawn(|| tracer.trace(checkpoints));
            while let Ok(Traced { mut before, end, buffer }) = segments.recv() {
                let start = before.machine.time;
                let (trace, calls) = (&buffer.trace, &*buffer.calls);
                gauge.set(whole.0.saturating_sub(end.0));
                if !visit(Segment { before: &mut before, start, end, trace, calls }) {
                    break;
                }
                // Nobody needs it if the thread has come to the start.
                let _ = used.send(buffer);
            }
        });
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

struct Tracer<'a> {
    /// Where the part that was traced begins.
    end: Time,
    ready: SyncSender<Traced>,
    /// Those that were used, for their memory.
    buffers: Receiver<Buffer>,
    memory: u64,
    directory: &'a Path,
}

impl Tracer<'_> {
    fn trace(mut self, checkpoints: &mut Store) {
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
        let mut fine = Store::new(process.snapshot(), self.memory, self.directory);
        loop {
            let now = process.machine.time.0;
            let next = Time(now.saturating_add(spacing - (now - start) % spacing));
            if next >= self.end || !matches!(process.run(next, &mut Unwatched), Exit::Until) {
                break;
            }
            fine.push(process.snapshot());
            // Rather fewer of them, and another level, than a file that is written and read all the time.
            if fine.is_over() && fine.len() > 2 {
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
        let mut buffer = self.buffers.try_recv().unwrap_or_default();
        buffer.trace.clear();
        buffer.calls.clear();
        before.fork().run_followed(end, &mut buffer.trace, &mut buffer.calls);
        self.ready.send(Traced { before, end, buffer }).is_ok()
    }
}
