//! Random numbers that are the same every time.

/// SplitMix64: small, and good enough to draw samples.
pub struct Random(u64);

impl Random {
    /// Different names give different sequences for one seed.
    pub fn new(seed: u64, name: &str) -> Random {
        let mut random = Random(seed);
        for byte in name.bytes() {
            random.0 ^= u64::from(byte);
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u64::try_from(last).unwrap_or(0) + 1;
            let other = usize::try_from(self.next() % bound).unwrap_or(0);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_all_and_depends_on_seed_and_name_alone() {
        let shuffled = |seed, name| {
            let mut items: Vec<u32> = (0..50).collect();
            Random::new(seed, name).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(1, "a"), shuffled(1, "a"));
        assert_ne!(shuffled(1, "a"), shuffled(2, "a"));
        assert_ne!(shuffled(1, "a"), shuffled(1, "b"));
        let mut sorted = shuffled(7, "c");
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}
