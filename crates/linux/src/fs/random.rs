//! The bytes of /dev/urandom and getrandom: a fixed stream, so that every run draws the same.

/// SplitMix64. It need not be unpredictable, only equally distributed and the same each time.
#[derive(Clone, Debug, Hash)]
pub struct RandomStream {
    state: u64,
}

impl Default for RandomStream {
    fn default() -> RandomStream {
        RandomStream { state: 0x5dee_ce66_d1ce_4e5b }
    }
}

impl RandomStream {
    /// The stream of the device files, which is another than that of getrandom.
    pub fn of_devices() -> RandomStream {
        RandomStream { state: 0x243f_6a88_85a3_08d3 }
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count.next_multiple_of(8));
        while bytes.len() < count {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_streams_give_the_same_bytes_and_a_clone_goes_on_alike() {
        let (mut a, mut b) = (RandomStream::default(), RandomStream::default());
        assert_eq!(a.bytes(13), b.bytes(13));
        let mut clone = a.clone();
        let next = a.bytes(64);
        assert_eq!(clone.bytes(64), next);
        assert_ne!(next, a.bytes(64));
    }
}
