//! Resource limits as getrlimit tells them: usual values of a Linux system, whatever the host has.
//!
//! They are remembered and, but for the one on descriptors, not enforced; what the guest really may use is up to [`crate::kernel::Limits`].

use std::sync::Arc;

use crate::stack::STACK_SIZE;

/// One resource's soft and hard limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    pub soft: u64,
    pub hard: u64,
}

/// The limit on descriptors.
pub const RLIMIT_NOFILE: u64 = 7;

const UNLIMITED: u64 = u64::MAX;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resources {
    limits: Arc<[Limit; 16]>,
}

impl Default for Resources {
    fn default() -> Resources {
        let limit = |soft, hard| Limit { soft, hard };
        let none = limit(UNLIMITED, UNLIMITED);
        Resources {
            // In the order of their numbers: processor time, file size, data, stack, core, resident set, processes,
            // files, locked memory, address space, locks, pending signals, message queues, nice, priority, real time.
            limits: Arc::new([
                none,
                none,
                none,
                limit(STACK_SIZE, UNLIMITED),
                limit(0, UNLIMITED),
                none,
                limit(4096, 4096),
                limit(1024, 1 << 20),
                limit(8 << 20, 8 << 20),
                none,
                none,
                limit(4096, 4096),
                limit(819_200, 819_200),
                limit(0, 0),
                limit(0, 0),
                none,
            ]),
        }
    }
}

impl Resources {
    pub fn get(&self, resource: u64) -> Option<Limit> {
        self.limits.get(usize::try_from(resource).ok()?).copied()
    }

    pub fn set(&mut self, resource: u64, limit: Limit) {
        let limits = Arc::make_mut(&mut self.limits);
        if let Some(slot) = usize::try_from(resource).ok().and_then(|index| limits.get_mut(index)) {
            *slot = limit;
        }
    }
}
