//! Tells who waits that something is going on, and how much of it is done: only on a terminal, and only when it takes more
//! than a second.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use replay::Gauge;

use crate::streams::tell;

const PATIENCE: Duration = Duration::from_secs(1);

/// Ends when it is dropped.
pub struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Of passes that tell how far they have come.
    pub fn of(what: &'static str, gauge: Gauge) -> Progress {
        Progress::telling(move || what_and_share(what, gauge.percent()))
    }

    /// Of something that has words of its own for how far it is.
    pub fn telling(what: impl Fn() -> String + Send + 'static) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { running: None };
        }
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            let begun = Instant::now();
            let mut has_told = false;
            while receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                tell(&format!("\r\x1b[K{}", line(&what(), begun.elapsed().as_secs())));
                has_told = true;
            }
            if has_told {
                tell("\r\x1b[K");
            }
        });
        Progress { running: Some((sender, thread)) }
    }
}

fn what_and_share(what: &str, percent: Option<u64>) -> String {
    percent.map_or_else(|| what.to_owned(), |percent| format!("{what}, {percent} %"))
}

fn line(what: &str, seconds: u64) -> String {
    format!("whydunit: {what}, {seconds} s")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_shown_where_it_is_known() {
        assert_eq!(
            line(&what_and_share("following dependences", Some(43)), 5),
            "whydunit: following dependences, 43 %, 5 s"
        );
        assert_eq!(
            line(&what_and_share("running the program", None), 2),
            "whydunit: running the program, 2 s"
        );
    }
}
