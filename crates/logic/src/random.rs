//! Random numbers for tests.

/// Numbers without a pattern, the same every time.
pub struct Random(machine::testing::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(machine::testing::Random(seed))
    }

    pub fn any(&mut self) -> u64 {
        self.0.bits()
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.0.pick(from)
    }

    /// One in so many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// So much for the normal run of tests, or for the long one.
pub fn rounds(normal: usize, long: usize) -> usize {
    if std::env::var_os("WHYDUNIT_LONG").is_some() { long } else { normal }
}
