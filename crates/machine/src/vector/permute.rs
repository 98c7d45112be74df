//! Functions that only move lanes about.

use super::lanes::Lane;
use lift::vector::{Half, Signedness};

/// The lanes of one half of `a` and `b` in turns.
#[inline(always)]
pub fn unpack<L: Lane>(half: Half, a: u128, b: u128) -> u128 {
    let (from_a, from_b) = (L::split(a), L::split(b));
    let mut result = L::split(0);
    let lanes = result.as_mut();
    let first = match half {
        Half::Low => 0,
        Half::High => lanes.len() / 2,
    };
    for (n, pair) in lanes.chunks_exact_mut(2).enumerate() {
        pair[0] = from_a.as_ref()[first + n];
        pair[1] = from_b.as_ref()[first + n];
    }
    L::join(result)
}

#[inline]
pub fn shift_bytes_left(a: u128, count: u8) -> u128 {
    if count < 16 { a << (8 * u32::from(count)) } else { 0 }
}

#[inline]
pub fn shift_bytes_right(a: u128, count: u8) -> u128 {
    if count < 16 { a >> (8 * u32::from(count)) } else { 0 }
}

/// pshufd
#[inline]
pub fn shuffle_dwords(b: u128, imm: u8) -> u128 {
    shuffle_pairs_of_dwords(b, b, imm)
}

/// shufps
#[inline]
pub fn shuffle_pairs_of_dwords(a: u128, b: u128, imm: u8) -> u128 {
    let (a, b) = (u32::split(a), u32::split(b));
    u32::join([a[picked(imm, 0)], a[picked(imm, 1)], b[picked(imm, 2)], b[picked(imm, 3)]])
}

/// pshuflw and pshufhw
#[inline(always)]
pub fn shuffle_words(half: Half, b: u128, imm: u8) -> u128 {
    let mut lanes = u16::split(b);
    let shuffled = match half {
        Half::Low => &mut lanes[..4],
        Half::High => &mut lanes[4..],
    };
    let old = [shuffled[0], shuffled[1], shuffled[2], shuffled[3]];
    for (n, lane) in shuffled.iter_mut().enumerate() {
        *lane = old[picked(imm, n)];
    }
    u16::join(lanes)
}

/// shufpd
#[inline]
pub fn shuffle_pair_of_qwords(a: u128, b: u128, imm: u8) -> u128 {
    let (a, b) = (u64::split(a), u64::split(b));
    u64::join([a[usize::from(imm & 1)], b[usize::from(imm >> 1 & 1)]])
}

/// The lanes of `a` and then `b` that have even numbers, or odd ones for `first` 1.
#[inline(always)]
pub fn every_other<L: Lane>(first: usize, a: u128, b: u128) -> u128 {
    let (a, b) = (L::split(a), L::split(b));
    let both = a.as_ref().iter().chain(b.as_ref());
    let mut result = L::split(0);
    for (lane, source) in result.as_mut().iter_mut().zip(both.skip(first).step_by(2)) {
        *lane = *source;
    }
    L::join(result)
}

/// pshufb
#[inline]
pub fn shuffle_bytes(a: u128, b: u128) -> u128 {
    let a = a.to_le_bytes();
    let picked = |control: u8| if control & 0x80 != 0 { 0 } else { a[usize::from(control & 15)] };
    u128::from_le_bytes(b.to_le_bytes().map(picked))
}

/// palignr
#[inline]
pub fn align(a: u128, b: u128, imm: u8) -> u128 {
    let bits = u32::from(imm) * 8;
    match imm {
        0 => b,
        1..16 => b >> bits | a << (128 - bits),
        16..32 => a >> (bits - 128),
        _ => 0,
    }
}

/// pblendw and its kin.
#[inline(always)]
pub fn blend<L: Lane>(a: u128, b: u128, imm: u8) -> u128 {
    let (mut a, b) = (L::split(a), L::split(b));
    for (n, (lane, other)) in a.as_mut().iter_mut().zip(b.as_ref()).enumerate() {
        if imm >> (n % 8) & 1 != 0 {
            *lane = *other;
        }
    }
    L::join(a)
}

/// pmovsxbw and its kin.
#[inline(always)]
pub fn widen<From: Lane, To: Lane>(b: u128, signedness: Signedness) -> u128 {
    let (b, mut result) = (From::split(b), To::split(0));
    for (lane, source) in result.as_mut().iter_mut().zip(b.as_ref()) {
        *lane = To::low(source.extended(signedness));
    }
    To::join(result)
}

/// The n-th two-bit field of `imm`.
#[inline(always)]
fn picked(imm: u8, n: usize) -> usize {
    usize::from(imm >> (2 * n) & 3)
}
