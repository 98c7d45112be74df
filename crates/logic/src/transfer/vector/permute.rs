//! Functions that only move lanes about.

use super::{Operands, Transfer};
use crate::term::Term;
use lift::Size;
use lift::vector::{Direction, Half, Shuffle};

/// The lanes of one half of `a` and `b` in turns.
pub(super) fn unpack(half: Half, a: &[Term], b: &[Term]) -> Vec<Term> {
    let middle = a.len() / 2;
    let range = match half {
        Half::Low => 0..middle,
        Half::High => middle..a.len(),
    };
    range.flat_map(|n| [a[n], b[n]]).collect()
}

pub(super) fn blend(a: &[Term], b: &[Term], imm: u8) -> Vec<Term> {
    let lanes = a.iter().zip(b).enumerate();
    lanes.map(|(n, (a, b))| if imm >> (n % 8) & 1 != 0 { *b } else { *a }).collect()
}

/// The n-th two-bit field of `imm`.
fn picked(imm: u8, n: usize) -> usize {
    usize::from(imm >> (2 * n) & 3)
}

impl Transfer<'_> {
    pub(super) fn shift_bytes(&mut self, direction: Direction, bytes: &[Term], imm: u8) -> Vec<Term> {
        let zero = self.terms.bits(8, 0);
        let count = usize::from(imm);
        let from = |n: usize| match direction {
            Direction::Left => n.checked_sub(count),
            Direction::Right => n.checked_add(count),
        };
        (0..bytes.len()).map(|n| from(n).and_then(|from| bytes.get(from)).copied().unwrap_or(zero)).collect()
    }

    pub(super) fn align(&mut self, operands: Operands, imm: u8) -> Vec<Term> {
        let (a, b) = self.both(operands, Size::B1);
        let zero = self.terms.bits(8, 0);
        let both = [b, a].concat();
        (0..16).map(|n| both.get(n + usize::from(imm)).copied().unwrap_or(zero)).collect()
    }

    pub(super) fn shuffle(&mut self, operands: Operands, shuffle: Shuffle, imm: u8) -> Vec<Term> {
        match shuffle {
            Shuffle::Dwords => {
                let (_, b) = self.both(operands, Size::B4);
                (0..4).map(|n| b[picked(imm, n)]).collect()
            }
            Shuffle::Words(half) => {
                let (_, b) = self.both(operands, Size::B2);
                let first = match half {
                    Half::Low => 0,
                    Half::High => 4,
                };
                let from = |n: usize| {
                    if (first..first + 4).contains(&n) { first + picked(imm, n - first) } else { n }
                };
                (0..8).map(|n| b[from(n)]).collect()
            }
            Shuffle::PairsOfDwords => {
                let (a, b) = self.both(operands, Size::B4);
                vec![a[picked(imm, 0)], a[picked(imm, 1)], b[picked(imm, 2)], b[picked(imm, 3)]]
            }
            Shuffle::PairOfQwords => {
                let (a, b) = self.both(operands, Size::B8);
                vec![a[usize::from(imm & 1)], b[usize::from(imm >> 1 & 1)]]
            }
        }
    }

    pub(super) fn shuffle_bytes(&mut self, operands: Operands) -> Vec<Term> {
        let (a, b) = self.both(operands, Size::B1);
        b.into_iter().map(|control| self.picked_byte(&a, control)).collect()
    }

    /// One of 16 bytes, or zero; a choice, if the control is not a constant.
    fn picked_byte(&mut self, bytes: &[Term], control: Term) -> Term {
        let zero = self.terms.bits(8, 0);
        let number = self.terms.extract(3, 0, control);
        let mut chosen = bytes[0];
        for (n, byte) in bytes.iter().enumerate().skip(1) {
            let wanted = self.terms.bits(4, n as u128);
            let is_wanted = self.terms.equal(number, wanted);
            chosen = self.terms.if_then_else(is_wanted, *byte, chosen);
        }
        let negative = self.terms.signed_less(control, zero);
        self.terms.if_then_else(negative, zero, chosen)
    }
}
