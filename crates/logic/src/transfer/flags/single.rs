//! One flag, as a record defines it.

use super::Transfer;
use crate::state::Record;
use crate::term::Term;
use lift::flags::{AF, CF, OF, PF, SF, ZF};
use lift::{Binary, FlagKind};

impl Transfer<'_> {
    /// A flag as a record defines it.
    pub(super) fn flag_of(&mut self, record: Record, flag: u64) -> Term {
        let width = record.size.bits();
        let (a, b) = (self.terms.extract(width - 1, 0, record.a), self.terms.extract(width - 1, 0, record.b));
        let one = self.terms.bits(width, 1);
        match record.kind {
            FlagKind::Add => self.sum_flag(flag, a, b, None),
            FlagKind::Adc => self.sum_flag(flag, a, b, Some(record.c)),
            FlagKind::Sub => self.difference_flag(flag, a, b, None),
            FlagKind::Sbb => self.difference_flag(flag, a, b, Some(record.c)),
            FlagKind::Inc | FlagKind::Dec if flag == CF => self.bit(record.c, 0),
            FlagKind::Inc => self.sum_flag(flag, a, one, None),
            FlagKind::Dec => self.difference_flag(flag, a, one, None),
            FlagKind::Logic => self.result_flag(flag, a),
            FlagKind::Mul if flag == CF || flag == OF => self.terms.is_nonzero(b),
            FlagKind::Mul => self.result_flag(flag, a),
            FlagKind::Shl | FlagKind::Shr | FlagKind::Sar => self.shift_flag(record, flag, a),
            FlagKind::Raw
            | FlagKind::Rol
            | FlagKind::Ror
            | FlagKind::Rcl
            | FlagKind::Rcr
            | FlagKind::Shld
            | FlagKind::Shrd
            | FlagKind::SetCarry
            | FlagKind::SetZero
            | FlagKind::Load
            | FlagKind::LoadLow
            | FlagKind::Compare => self.bit(record.a, flag.trailing_zeros()),
        }
    }

    /// A flag that tells of the result; the others are clear.
    pub(super) fn result_flag(&mut self, flag: u64, result: Term) -> Term {
        match flag {
            ZF => self.is_zero(result),
            SF => self.bit(result, self.terms.width(result) - 1),
            PF => self.parity(result),
            _ => self.terms.truth(false),
        }
    }

    pub(super) fn sum_flag(&mut self, flag: u64, a: Term, b: Term, carry: Option<Term>) -> Term {
        let width = self.terms.width(a);
        let sum = self.terms.add(a, b);
        let result = match carry {
            None => sum,
            Some(carry) => {
                let carry = self.carry_in(carry, width);
                self.terms.add(sum, carry)
            }
        };
        match flag {
            CF => match carry {
                None => self.terms.unsigned_less(result, a),
                Some(carry) => {
                    let [a, b] = [a, b].map(|term| self.terms.zero_extend(width + 1, term));
                    let carry = self.carry_in(carry, width + 1);
                    let sum = self.terms.add(a, b);
                    let sum = self.terms.add(sum, carry);
                    self.bit(sum, width)
                }
            },
            OF => {
                let differ = self.terms.bits_xor(a, b);
                let alike = self.terms.bits_not(differ);
                let changed = self.terms.bits_xor(a, result);
                let overflow = self.terms.bits_and(alike, changed);
                self.bit(overflow, width - 1)
            }
            AF => self.adjust(a, b, result),
            _ => self.result_flag(flag, result),
        }
    }

    pub(super) fn difference_flag(&mut self, flag: u64, a: Term, b: Term, borrow: Option<Term>) -> Term {
        let width = self.terms.width(a);
        let difference = self.terms.sub(a, b);
        let result = match borrow {
            None => difference,
            Some(borrow) => {
                let borrow = self.carry_in(borrow, width);
                self.terms.sub(difference, borrow)
            }
        };
        match flag {
            CF => match borrow {
                None => self.terms.unsigned_less(a, b),
                Some(borrow) => {
                    let [a, b] = [a, b].map(|term| self.terms.zero_extend(width + 1, term));
                    let borrow = self.carry_in(borrow, width + 1);
                    let taken = self.terms.add(b, borrow);
                    self.terms.unsigned_less(a, taken)
                }
            },
            OF => {
                let differ = self.terms.bits_xor(a, b);
                let changed = self.terms.bits_xor(a, result);
                let overflow = self.terms.bits_and(differ, changed);
                self.bit(overflow, width - 1)
            }
            AF => self.adjust(a, b, result),
            _ => self.result_flag(flag, result),
        }
    }

    pub(super) fn carry_in(&mut self, carry: Term, width: u32) -> Term {
        let carry = self.terms.extract(0, 0, carry);
        self.terms.zero_extend(width, carry)
    }

    /// The carry into bit 4.
    pub(super) fn adjust(&mut self, a: Term, b: Term, result: Term) -> Term {
        let both = self.terms.bits_xor(a, b);
        let carries = self.terms.bits_xor(both, result);
        self.bit(carries, 4)
    }

    /// Of a shift whose count is not zero.
    pub(super) fn shift_flag(&mut self, record: Record, flag: u64, a: Term) -> Term {
        let width = record.size.bits();
        let count = self.count(record);
        let function = match record.kind {
            FlagKind::Shl => Binary::Shl,
            FlagKind::Shr => Binary::Shr,
            _ => Binary::Sar,
        };
        let carry = |transfer: &mut Self| {
            if function == Binary::Shl {
                let wide = transfer.terms.zero_extend(width + 1, a);
                let count = transfer.terms.zero_extend(width + 1, count);
                let shifted = transfer.terms.shift_left(wide, count);
                return transfer.bit(shifted, width);
            }
            let one = transfer.terms.bits(width, 1);
            let before = transfer.terms.sub(count, one);
            let shifted = match function {
                Binary::Shr => transfer.terms.shift_right(a, before),
                _ => transfer.terms.shift_right_signed(a, before),
            };
            transfer.bit(shifted, 0)
        };
        match (flag, function) {
            (CF, _) => carry(self),
            (OF, Binary::Shl) => {
                let carry = carry(self);
                let result = self.terms.shift_left(a, count);
                let top = self.bit(result, width - 1);
                self.terms.xor(top, carry)
            }
            (OF, Binary::Shr) => self.bit(a, width - 1),
            (OF | AF, _) => self.terms.truth(false),
            _ => {
                let result = self.binary(function, a, count);
                self.result_flag(flag, result)
            }
        }
    }

    pub(super) fn is_zero(&mut self, a: Term) -> Term {
        let nonzero = self.terms.is_nonzero(a);
        self.terms.not(nonzero)
    }

    /// Whether the low byte has an even number of ones.
    pub(super) fn parity(&mut self, a: Term) -> Term {
        let mut odd = self.terms.truth(false);
        for bit in 0..8 {
            let bit = self.bit(a, bit);
            odd = self.terms.xor(odd, bit);
        }
        self.terms.not(odd)
    }

    /// The count of a shift, at the width of what is shifted.
    pub(super) fn count(&mut self, record: Record) -> Term {
        let width = record.size.bits();
        let count = self.terms.extract(width - 1, 0, record.b);
        self.shift_count(count)
    }
}
