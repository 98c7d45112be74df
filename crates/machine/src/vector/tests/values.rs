//! Operands to try: corner values and random ones.

/// A small generator of random numbers, the same ones each time.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn choose<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// A vector of integers: random, or made of corner values of some lane size.
    pub fn integers(&mut self) -> u128 {
        let random = u128::from(self.next()) << 64 | u128::from(self.next());
        let bits = match self.below(5) {
            0 => 8,
            1 => 16,
            2 => 32,
            3 => 64,
            _ => return random,
        };
        let ones = (1_u128 << bits) - 1;
        let mut vector = random;
        for lane in 0..128 / bits {
            let sign = 1_u128 << (bits - 1);
            let values = [0, 1, 2, sign - 1, sign, sign + 1, ones - 1, ones, bits, bits - 1];
            if self.below(3) > 0 {
                let value = self.choose(&values) & ones;
                vector = vector & !(ones << (lane * bits)) | value << (lane * bits);
            }
        }
        vector
    }

    /// A vector of singles or doubles: corner values, random bits, or numbers of like size.
    pub fn floats(&mut self) -> u128 {
        if self.below(2) == 0 {
            (0..4).fold(0, |vector, _| vector << 32 | u128::from(self.single()))
        } else {
            (0..2).fold(0, |vector, _| vector << 64 | u128::from(self.double()))
        }
    }

    fn single(&mut self) -> u32 {
        match self.below(4) {
            0 | 1 => self.choose(SINGLES),
            2 => self.next() as u32,
            _ => self.next() as u32 & 0x807f_ffff | (100 + self.below(50) as u32) << 23,
        }
    }

    fn double(&mut self) -> u64 {
        match self.below(4) {
            0 | 1 => self.choose(DOUBLES),
            2 => self.next(),
            _ => self.next() & 0x800f_ffff_ffff_ffff | (1000 + self.below(80)) << 52,
        }
    }
}

/// Zeroes, denormals, limits, infinities, quiet and signalling NaNs with payloads, and what is near the
/// bounds of integers.
pub const SINGLES: &[u32] = &[
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x0040_0000,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x1f80_0000,
    0x3f00_0000,
    0x3f7f_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x3fc0_0000,
    0x4020_0000,
    0x4b00_0001,
    0x4eff_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x5eff_ffff,
    0x5f00_0000,
    0xdf00_0000,
    0xdf00_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0000,
    0x7fd2_3456,
    0xffea_bcde,
    0x7f80_0001,
    0xffa5_4321,
];

pub const DOUBLES: &[u64] = &[
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x8000_0000_0000_0001,
    0x0008_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x8010_0000_0000_0000,
    0x0010_0000_0000_0001,
    0x1ff0_0000_0000_0000,
    // Around the smallest singles, normal and denormal.
    0x3690_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x36b8_0000_0000_0001,
    0x380f_ffff_e000_0000,
    0x380f_ffff_f000_0000,
    0x3810_0000_0000_0000,
    0xb80f_ffff_ffff_ffff,
    // Around the largest single.
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0xc7f0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    // Around 2^31, 2^63 and their negatives.
    0x41df_ffff_ffc0_0000,
    0x41df_ffff_ffe0_0000,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0xc1e0_0000_0010_0000,
    0xc1e0_0000_0020_0000,
    0x43df_ffff_ffff_ffff,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0xc3e0_0000_0000_0001,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0000,
    0x7ffa_1234_5678_9abc,
    0xfffd_cba9_8765_4321,
    0x7ff0_0000_0000_0001,
    0xfff4_3210_fedc_ba98,
];
