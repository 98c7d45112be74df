//! Tells who waits that something is going on: only on a terminal, and only when it takes more than a second.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::streams::tell;

const PATIENCE: Duration = Duration::from_secs(1);

/// Ends when it is dropped.
pub struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub fn begin(what: &'static str) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { running: None };
        }
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            let begun = Instant::now();
            let mut has_told = false;
            while receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                tell(&format!("\r\x1b[Kwhydunit: {what}, {} s", begun.elapsed().as_secs()));
                has_told = true;
            }
            if has_told {
                tell("\r\x1b[K");
            }
        });
        Progress { running: Some((sender, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.running.take() {
            drop(sender);
            // A thread that panicked has told so itself.
            let _ = thread.join();
        }
    }
}
