//! Integer functions on lanes, written so that the compiler turns each into the few vector
//! instructions that it is.

use lift::flags::{CF, ZF};
use lift::vector::PackFrom;
use lift::vector::Signedness::{self, Signed, Unsigned};

/// An integer lane, unsigned; signed functions reinterpret it.
pub trait Lane: Copy + PartialEq + Ord {
    type Signed: Copy + Ord;
    /// As many lanes as a vector has.
    type Array: AsRef<[Self]> + AsMut<[Self]>;
    const BITS: u32;
    const ONES: Self;
    const ZERO: Self;

    fn split(vector: u128) -> Self::Array;
    fn join(lanes: Self::Array) -> u128;
    fn signed(self) -> Self::Signed;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn add_saturating(self, b: Self, range: Signedness) -> Self;
    fn sub_saturating(self, b: Self, range: Signedness) -> Self;
    fn average(self, b: Self) -> Self;
    fn multiply_low(self, b: Self) -> Self;
    fn multiply_high(self, b: Self, signedness: Signedness) -> Self;
    /// The high half of the signed doubled product, rounded.
    fn multiply_rounded(self, b: Self) -> Self;
    /// The negative, of a signed lane.
    fn negative(self) -> Self;
    /// Extended to 64 bits.
    fn extended(self, signedness: Signedness) -> u64;
    /// The low bits.
    fn low(value: u64) -> Self;
    /// Shifts by less than [`Lane::BITS`].
    fn left(self, count: u32) -> Self;
    fn right(self, count: u32) -> Self;
    fn right_signed(self, count: u32) -> Self;
}

macro_rules! lane {
    ($unsigned:ident, $signed:ident, $double:ident, $signed_double:ident, $count:literal) => {
        impl Lane for $unsigned {
            type Signed = $signed;
            type Array = [$unsigned; $count];
            const BITS: u32 = $unsigned::BITS;
            const ONES: $unsigned = $unsigned::MAX;
            const ZERO: $unsigned = 0;

            #[inline(always)]
            fn split(vector: u128) -> Self::Array {
                const BYTES: usize = 16 / $count;
                let bytes = vector.to_le_bytes();
                let (lanes, _) = bytes.as_chunks::<BYTES>();
                std::array::from_fn(|n| $unsigned::from_le_bytes(lanes[n]))
            }

            #[inline(always)]
            fn join(lanes: Self::Array) -> u128 {
                const BYTES: usize = 16 / $count;
                let mut bytes = [0; 16];
                let (chunks, _) = bytes.as_chunks_mut::<BYTES>();
                for (chunk, lane) in chunks.iter_mut().zip(lanes) {
                    *chunk = lane.to_le_bytes();
                }
                u128::from_le_bytes(bytes)
            }

            #[inline(always)]
            fn signed(self) -> $signed {
                self as $signed
            }

            #[inline(always)]
            fn add(self, b: Self) -> Self {
                self.wrapping_add(b)
            }

            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                self.wrapping_sub(b)
            }

            #[inline(always)]
            fn add_saturating(self, b: Self, range: Signedness) -> Self {
                match range {
                    Signed => (self as $signed).saturating_add(b as $signed) as $unsigned,
                    Unsigned => self.saturating_add(b),
                }
            }

            #[inline(always)]
            fn sub_saturating(self, b: Self, range: Signedness) -> Self {
                match range {
                    Signed => (self as $signed).saturating_sub(b as $signed) as $unsigned,
                    Unsigned => self.saturating_sub(b),
                }
            }

            #[inline(always)]
            fn average(self, b: Self) -> Self {
                ((self as $double + b as $double + 1) >> 1) as $unsigned
            }

            #[inline(always)]
            fn multiply_low(self, b: Self) -> Self {
                self.wrapping_mul(b)
            }

            #[inline(always)]
            fn multiply_high(self, b: Self, signedness: Signedness) -> Self {
                match signedness {
                    Signed => {
                        ((self as $signed as $signed_double * b as $signed as $signed_double) >> Self::BITS)
                            as $unsigned
                    }
                    Unsigned => ((self as $double * b as $double) >> Self::BITS) as $unsigned,
                }
            }

            #[inline(always)]
            fn multiply_rounded(self, b: Self) -> Self {
                let product = self as $signed as $signed_double * b as $signed as $signed_double;
                (((product >> (Self::BITS - 2)) + 1) >> 1) as $unsigned
            }

            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }

            #[inline(always)]
            fn extended(self, signedness: Signedness) -> u64 {
                match signedness {
                    Signed => self as $signed as i64 as u64,
                    Unsigned => self as u64,
                }
            }

            #[inline(always)]
            fn low(value: u64) -> Self {
                value as $unsigned
            }

            #[inline(always)]
            fn left(self, count: u32) -> Self {
                self << count
            }

            #[inline(always)]
            fn right(self, count: u32) -> Self {
                self >> count
            }

            #[inline(always)]
            fn right_signed(self, count: u32) -> Self {
                (self as $signed >> count) as $unsigned
            }
        }
    };
}

lane!(u8, i8, u16, i16, 16);
lane!(u16, i16, u32, i32, 8);
lane!(u32, i32, u64, i64, 4);
lane!(u64, i64, u128, i128, 2);

/// The function of each pair of lanes.
#[inline(always)]
pub fn zip<L: Lane>(a: u128, b: u128, function: impl Fn(L, L) -> L) -> u128 {
    let mut lanes = L::split(a);
    let b = L::split(b);
    for (lane, b) in lanes.as_mut().iter_mut().zip(b.as_ref()) {
        *lane = function(*lane, *b);
    }
    L::join(lanes)
}

/// The function of each lane.
#[inline(always)]
pub fn map<L: Lane>(a: u128, function: impl Fn(L) -> L) -> u128 {
    let mut lanes = L::split(a);
    for lane in lanes.as_mut() {
        *lane = function(*lane);
    }
    L::join(lanes)
}

/// All ones or all zeroes.
#[inline(always)]
pub fn truth<L: Lane>(holds: bool) -> L {
    if holds { L::ONES } else { L::ZERO }
}

#[inline(always)]
pub fn shift_left<L: Lane>(a: u128, count: u64) -> u128 {
    if count >= u64::from(L::BITS) { 0 } else { map::<L>(a, |lane| lane.left(count as u32)) }
}

#[inline(always)]
pub fn shift_right<L: Lane>(a: u128, count: u64) -> u128 {
    if count >= u64::from(L::BITS) { 0 } else { map::<L>(a, |lane| lane.right(count as u32)) }
}

#[inline(always)]
pub fn shift_right_signed<L: Lane>(a: u128, count: u64) -> u128 {
    let count = count.min(u64::from(L::BITS - 1)) as u32;
    map::<L>(a, |lane| lane.right_signed(count))
}

/// pmuludq
#[inline]
pub fn multiply_even(a: u128, b: u128) -> u128 {
    zip::<u64>(a, b, |a, b| u64::from(a as u32) * u64::from(b as u32))
}

/// pmaddwd. Only the sum of two squares of the lowest number exceeds 32 bits; it wraps around.
#[inline]
pub fn multiply_add_pairs(a: u128, b: u128) -> u128 {
    zip::<u32>(a, b, |a, b| {
        let low = i32::from(a as i16) * i32::from(b as i16);
        let high = ((a as i32) >> 16) * ((b as i32) >> 16);
        low.wrapping_add(high) as u32
    })
}

/// psadbw
#[inline]
pub fn sum_differences(a: u128, b: u128) -> u128 {
    zip::<u64>(a, b, |a, b| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(b))).sum()
    })
}

/// packsswb and its kin.
#[inline(always)]
pub fn pack(from: PackFrom, range: Signedness, a: u128, b: u128) -> u128 {
    match from {
        PackFrom::Words => {
            let (a, b) = (u16::split(a), u16::split(b));
            let narrow = |lane: u16| match range {
                Signed => (lane as i16).clamp(i8::MIN.into(), i8::MAX.into()) as u8,
                Unsigned => (lane as i16).clamp(0, u8::MAX.into()) as u8,
            };
            u8::join(std::array::from_fn(|n| narrow(if n < 8 { a[n] } else { b[n - 8] })))
        }
        PackFrom::Dwords => {
            let (a, b) = (u32::split(a), u32::split(b));
            let narrow = |lane: u32| match range {
                Signed => (lane as i32).clamp(i16::MIN.into(), i16::MAX.into()) as u16,
                Unsigned => (lane as i32).clamp(0, u16::MAX.into()) as u16,
            };
            u16::join(std::array::from_fn(|n| narrow(if n < 4 { a[n] } else { b[n - 4] })))
        }
    }
}

/// The lanes' sign bits, the lowest lane's first.
#[inline(always)]
pub fn sign_mask<L: Lane>(b: u128) -> u128 {
    let lanes = L::split(b);
    let signs = lanes.as_ref().iter().enumerate();
    signs.fold(0, |mask: u32, (n, lane)| mask | u32::from(lane.signed() < L::ZERO.signed()) << n).into()
}

/// `a`, its negative, or zero, by the sign of `b`.
#[inline(always)]
pub fn sign<L: Lane>(a: L, b: L) -> L {
    match b.signed().cmp(&L::ZERO.signed()) {
        std::cmp::Ordering::Less => a.negative(),
        std::cmp::Ordering::Equal => L::ZERO,
        std::cmp::Ordering::Greater => a,
    }
}

/// pabsb and its kin.
#[inline(always)]
pub fn absolute<L: Lane>(b: u128) -> u128 {
    map::<L>(b, |lane| if lane.signed() < L::ZERO.signed() { lane.negative() } else { lane })
}

/// pmuldq
#[inline]
pub fn multiply_even_signed(a: u128, b: u128) -> u128 {
    zip::<u64>(a, b, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64)
}

/// pmaddubsw
#[inline]
pub fn multiply_add_bytes(a: u128, b: u128) -> u128 {
    zip::<u16>(a, b, |a, b| {
        let [a, b] = [a, b].map(u16::to_le_bytes);
        let product = |n: usize| i32::from(a[n]) * i32::from(b[n] as i8);
        (product(0) + product(1)).clamp(i16::MIN.into(), i16::MAX.into()) as u16
    })
}

/// mpsadbw
#[inline]
pub fn sliding_differences(a: u128, b: u128, imm: u8) -> u128 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    let (first, chosen) = (usize::from(imm >> 2 & 1) * 4, usize::from(imm & 3) * 4);
    u16::join(std::array::from_fn(|n| {
        (0..4).map(|byte| u16::from(a[first + n + byte].abs_diff(b[chosen + byte]))).sum()
    }))
}

/// phminposuw
#[inline]
pub fn minimum_position(b: u128) -> u128 {
    let lanes = u16::split(b);
    let least = (0u16..).zip(lanes).min_by_key(|&(n, lane)| (lane, n));
    least.map_or(0, |(n, lane)| u128::from(lane) | u128::from(n) << 16)
}

/// ptest
#[inline]
pub fn test_bits(a: u128, b: u128) -> u128 {
    let (zero, carry) = (a & b == 0, !a & b == 0);
    u128::from(if zero { ZF } else { 0 } | if carry { CF } else { 0 })
}

/// crc32: the checksum of Castagnoli, bits in reverse order.
#[inline]
pub fn checksum(a: u128, b: u128, bytes: usize) -> u128 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let data = b.to_le_bytes();
    let crc = data.iter().take(bytes).fold(a as u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 != 0 { POLYNOMIAL } else { 0 })
    });
    u128::from(crc)
}
