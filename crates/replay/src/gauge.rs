//! How far a pass over a run has come, for those who wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Can be read from another thread; clones show the same.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<Hands>);

#[derive(Debug, Default)]
struct Hands {
    done: AtomicU64,
    all: AtomicU64,
}

impl Gauge {
    /// Something begins that has this much to do.
    pub fn begin(&self, all: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.all.store(all, Ordering::Relaxed);
    }

    /// Of several who do it together, one has done so much more.
    pub fn add(&self, done: u64) {
        self.0.done.fetch_add(done, Ordering::Relaxed);
    }

    pub fn set(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }

    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// In percent, rounded down; `None` if nothing has begun.
    pub fn percent(&self) -> Option<u64> {
        let all = self.0.all.load(Ordering::Relaxed);
        let done = self.0.done.load(Ordering::Relaxed).min(all);
        let percent = u128::from(done) * 100 / u128::from(Some(all).filter(|all| *all > 0)?);
        u64::try_from(percent).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_shows_whole_percents_and_never_more_than_all() {
        let gauge = Gauge::default();
        assert_eq!(gauge.percent(), None);
        gauge.begin(u64::MAX);
        assert_eq!(gauge.clone().percent(), Some(0));
        gauge.set(u64::MAX / 2);
        assert_eq!(gauge.percent(), Some(49));
        gauge.begin(200);
        gauge.add(30);
        gauge.add(20);
        assert_eq!(gauge.percent(), Some(25));
        gauge.set(500);
        assert_eq!(gauge.percent(), Some(100));
    }
}
