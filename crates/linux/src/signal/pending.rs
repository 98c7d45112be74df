//! Signals that have been sent and not yet taken.

use std::sync::Arc;

use super::{Information, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, bit};

/// Of these, faults are made; they come before all others.
const SYNCHRONOUS: [i32; 6] = [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS];

/// From this signal on each one that is sent counts; of the others one at a time does.
pub const FIRST_REAL_TIME: i32 = 32;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pending {
    /// Bit n-1 stands for signal n.
    set: u64,
    /// In the order in which they were sent.
    queue: Arc<Vec<Information>>,
}

impl Pending {
    pub fn set(&self) -> u64 {
        self.set
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn add(&mut self, information: Information) {
        let bit = bit(information.signal());
        if information.signal() < FIRST_REAL_TIME && self.set & bit != 0 {
            return;
        }
        self.set |= bit;
        Arc::make_mut(&mut self.queue).push(information);
    }

    /// The next of those in `wanted`: synchronous ones first, then by number, then by age.
    pub fn take(&mut self, wanted: u64) -> Option<Information> {
        let found = self.set & wanted;
        let synchronous = SYNCHRONOUS.iter().fold(0, |set, signal| set | bit(*signal)) & found;
        let from = if synchronous != 0 { synchronous } else { found };
        let signal = (from != 0).then(|| from.trailing_zeros() as i32 + 1)?;
        let place = self.queue.iter().position(|information| information.signal() == signal)?;
        let taken = Arc::make_mut(&mut self.queue).remove(place);
        if !self.queue.iter().any(|information| information.signal() == signal) {
            self.set &= !bit(signal);
        }
        Some(taken)
    }

    pub fn discard(&mut self, signal: i32) {
        if self.set & bit(signal) != 0 {
            self.set &= !bit(signal);
            Arc::make_mut(&mut self.queue).retain(|information| information.signal() != signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::information::SI_USER;

    fn sent(signals: &[i32]) -> Pending {
        let mut pending = Pending::default();
        signals.iter().for_each(|signal| pending.add(Information::new(*signal, SI_USER)));
        pending
    }

    fn taken(mut pending: Pending) -> Vec<i32> {
        std::iter::from_fn(|| pending.take(u64::MAX)).map(|information| information.signal()).collect()
    }

    #[test]
    fn faults_come_first_then_the_lowest_number() {
        assert_eq!(taken(sent(&[14, 2, SIGSEGV, 1])), [SIGSEGV, 1, 2, 14]);
    }

    #[test]
    fn a_real_time_signal_counts_each_time_and_others_once() {
        assert_eq!(taken(sent(&[40, 10, 40, 10, 35])), [10, 35, 40, 40]);
    }

    #[test]
    fn what_is_not_wanted_stays() {
        let mut pending = sent(&[10, 12]);
        assert_eq!(pending.take(bit(12)).map(|information| information.signal()), Some(12));
        assert_eq!(pending.set(), bit(10));
        pending.discard(10);
        assert_eq!((pending.set(), pending.len()), (0, 0));
    }
}
