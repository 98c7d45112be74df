//! Random numbers and the corner values that instructions are likely to get wrong.
//!
//! A generator of our own, so that a seed printed today names the same case on every machine and
//! with every version of every library.

/// SplitMix64: one word of state, so that a generator for every single case costs nothing.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Cases of different groups, seeds and indices are independent of each other.
    pub fn for_case(seed: u64, group: &str, index: u64) -> Random {
        let mut random = Random { state: seed };
        let mut mixed = random.word();
        for byte in group.bytes() {
            random.state ^= u64::from(byte) << 17;
            mixed ^= random.word();
        }
        random.state = mixed ^ index.wrapping_mul(0xd134_2543_de82_ef95);
        random.word();
        random
    }

    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` up to but not including `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low)
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A 64-bit integer, often at an edge of some width.
    pub fn integer(&mut self) -> u64 {
        match self.below(10) {
            0 => self.pick(&[0, 1, u64::MAX, 2, u64::MAX - 1]),
            1 => {
                let sign = 1u64 << self.pick(&[7, 8, 15, 16, 31, 32, 63]);
                sign.wrapping_add(self.below(5)).wrapping_sub(2)
            }
            2 => self.below(256).wrapping_sub(128),
            3 => 1 << self.below(64),
            4 => (1u64 << self.below(64)).wrapping_sub(1),
            5 => self.word() >> self.below(64),
            6 => (self.word() as i64 >> self.below(64)) as u64,
            _ => self.word(),
        }
    }

    /// The bits of a double: specials, denormals, numbers near the limits of integers, numbers
    /// whose sums and products round, overflow and underflow.
    pub fn double(&mut self) -> u64 {
        let sign = self.word() & (1 << 63);
        let fraction = match self.below(4) {
            0 => 0,
            1 => (1u64 << self.below(52)).wrapping_sub(self.below(2)) & ((1 << 52) - 1),
            _ => self.word() >> 12,
        };
        let magnitude = match self.below(16) {
            0 => 0,
            1 => 0x7ff << 52,
            // Signalling and quiet NaNs with payloads.
            2 => (0x7ff << 52) | fraction | 1,
            3 => (0x7ff << 52) | (1 << 51) | fraction,
            4 => fraction,
            5 => self.between(1, 4) << 52 | fraction,
            6 => self.between(0x7fc, 0x7ff) << 52 | fraction,
            7 => (self.integer() as i64 as f64).to_bits() & !(1 << 63),
            8 => (self.below(4096) as f64 / 2.0).to_bits(),
            9 => {
                let limit = self.pick(&[31u32, 32, 52, 53, 63, 64]);
                let half_steps = self.below(9) as f64 / 2.0 - 2.0;
                (2f64.powi(limit as i32) + half_steps).to_bits()
            }
            // Near the edges of single precision, for the conversions.
            10 => self.between(1023 - 151, 1023 - 124) << 52 | fraction,
            11 => self.between(1023 + 126, 1023 + 129) << 52 | fraction,
            12 => self.below(0x7ff) << 52 | fraction,
            _ => self.between(1023 - 30, 1023 + 30) << 52 | fraction,
        };
        sign | magnitude
    }

    /// The bits of a single, chosen as [`Random::double`] does.
    pub fn single(&mut self) -> u32 {
        let sign = (self.word() as u32) & (1 << 31);
        let fraction = match self.below(4) {
            0 => 0,
            1 => (1u32 << self.below(23)).wrapping_sub(self.below(2) as u32) & ((1 << 23) - 1),
            _ => (self.word() >> 41) as u32,
        };
        let magnitude = match self.below(14) {
            0 => 0,
            1 => 0xff << 23,
            2 => (0xff << 23) | fraction | 1,
            3 => (0xff << 23) | (1 << 22) | fraction,
            4 => fraction,
            5 => (self.between(1, 4) as u32) << 23 | fraction,
            6 => (self.between(0xfc, 0xff) as u32) << 23 | fraction,
            7 => (self.integer() as i64 as f32).to_bits() & !(1 << 31),
            8 => (self.below(4096) as f32 / 2.0).to_bits(),
            9 => (2f32.powi(self.pick(&[23, 24, 31, 32, 63, 64])) + self.below(4) as f32).to_bits(),
            10 => (self.below(0xff) as u32) << 23 | fraction,
            _ => (self.between(127 - 14, 127 + 14) as u32) << 23 | fraction,
        };
        sign | magnitude
    }

    /// The 80 bits of an x87 register, chosen as [`Random::double`] does.
    pub fn extended(&mut self) -> u128 {
        const ONE: u64 = 16383;
        const TOP: u64 = 1 << 63;
        let sign = u128::from(self.below(2)) << 79;
        let significand = match self.below(4) {
            0 => TOP,
            1 => TOP | (1u64 << self.below(63)).wrapping_sub(self.below(2)),
            _ => TOP | self.word(),
        };
        let (exponent, significand) = match self.below(20) {
            0 => (0, 0),
            1 => (0x7fff, TOP),
            2 => (0x7fff, significand | 1),
            3 => (0x7fff, significand | 3 << 62),
            // Denormals, and forms that only the first x87 units made.
            4 => (0, significand >> self.between(1, 64)),
            5 => (self.pick(&[0, 1, ONE, 0x7fff]), significand >> self.below(2) & !(self.below(2) << 63)),
            6 => (self.between(1, 70), significand),
            7 => (self.between(0x7fbf, 0x7fff), significand),
            8 => (ONE + self.below(70), significand),
            9 | 10 => {
                let whole = self.below(1 << 20).max(1) << self.below(3);
                let shift = whole.leading_zeros();
                (ONE + 63 - u64::from(shift) - self.below(2), whole << shift)
            }
            // Near the edges of the other formats.
            11 => (ONE - self.pick(&[127, 150, 1023, 1075]) + self.below(6), significand),
            12 => (ONE + self.pick(&[14, 30, 62, 126, 1022]) + self.below(3), significand),
            13 => (self.below(0x7fff), significand),
            _ => (ONE - 30 + self.below(60), significand),
        };
        sign | u128::from(exponent) << 64 | u128::from(significand)
    }

    /// A 128-bit value made of lanes of one kind.
    pub fn vector(&mut self, lanes: Lanes) -> u128 {
        match lanes {
            Lanes::Doubles => u128::from(self.double()) | u128::from(self.double()) << 64,
            Lanes::Singles => (0..4).fold(0, |value, lane| value | u128::from(self.single()) << (32 * lane)),
            Lanes::Integers => {
                let width = self.pick(&[8u32, 16, 32, 64]);
                let mask = u64::MAX >> (64 - width);
                (0..128 / width)
                    .fold(0, |value, lane| value | u128::from(self.integer() & mask) << (width * lane))
            }
        }
    }
}

/// What the lanes of a vector hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    Doubles,
    Singles,
    Integers,
}

impl Lanes {
    pub const ALL: [Lanes; 3] = [Lanes::Doubles, Lanes::Singles, Lanes::Integers];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_named_by_seed_group_and_index() {
        let first = |seed, group, index| Random::for_case(seed, group, index).word();
        assert_eq!(first(7, "alu", 3), first(7, "alu", 3));
        assert_ne!(first(7, "alu", 3), first(8, "alu", 3));
        assert_ne!(first(7, "alu", 3), first(7, "mul", 3));
        assert_ne!(first(7, "alu", 3), first(7, "alu", 4));
    }

    #[test]
    fn floats_cover_every_class() {
        let mut random = Random::for_case(1, "floats", 0);
        let mut seen = [0u32; 5];
        for _ in 0..10_000 {
            seen[f64::from_bits(random.double()).classify() as usize] += 1;
            seen[f32::from_bits(random.single()).classify() as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 200), "{seen:?}");
    }
}
