//! What the flags are after an op that defines them.

use super::{ALL, Transfer};
use crate::state::Record;
use crate::term::Term;
use lift::flags::{AF, ARITHMETIC, CF, OF, PF, SF, ZF};
use lift::{Binary, FlagKind, Reg, Size, Value};

impl Transfer<'_> {
    pub(in crate::transfer) fn define_flags(&mut self, kind: FlagKind, size: Size, a: Reg, b: Value, c: Reg) {
        let (a, b, c) = (self.slot(a), self.value(b, 64), self.slot(c));
        let new = Record { kind, size, a, b, c };
        match kind {
            FlagKind::Raw
            | FlagKind::Add
            | FlagKind::Adc
            | FlagKind::Sub
            | FlagKind::Sbb
            | FlagKind::Logic
            | FlagKind::Inc
            | FlagKind::Dec
            | FlagKind::Mul => self.set_record(new),
            FlagKind::Shl | FlagKind::Shr | FlagKind::Sar => self.define_by_shift(new),
            FlagKind::Rol | FlagKind::Ror => self.define_by_rotation(new),
            FlagKind::Rcl | FlagKind::Rcr => self.define_by_carry_rotation(new),
            FlagKind::Shld | FlagKind::Shrd => self.define_by_double_shift(new),
            FlagKind::SetCarry => {
                let carry = self.bit(a, 0);
                self.keep_but(&[(CF, carry)]);
            }
            FlagKind::SetZero => {
                let value = self.terms.extract(size.bits() - 1, 0, a);
                let nonzero = self.terms.is_nonzero(value);
                let zero = self.terms.not(nonzero);
                self.keep_but(&[(ZF, zero)]);
            }
            FlagKind::Load => self.load_word(a, ARITHMETIC),
            FlagKind::LoadLow => {
                let loaded: Vec<(u64, Term)> = ALL
                    .into_iter()
                    .filter(|flag| *flag != OF)
                    .map(|flag| (flag, self.bit(a, flag.trailing_zeros())))
                    .collect();
                self.keep_but(&loaded);
            }
            FlagKind::Compare => self.load_word(a, CF | PF | ZF),
        }
    }

    fn set_record(&mut self, record: Record) {
        let symbolic = [record.a, record.b, record.c].iter().any(|term| !self.terms.is_constant(*term));
        self.registers.set_record(symbolic.then_some(record));
    }

    /// The flags are some bits of a word. One that tells how floats compare is kept as it is, to be recognised.
    fn load_word(&mut self, word: Term, bits: u64) {
        let word = match self.registers.compared(word) {
            Some(_) => word,
            None => {
                let mask = self.terms.bits(64, bits.into());
                self.terms.bits_and(word, mask)
            }
        };
        let zero = self.terms.bits(64, 0);
        self.set_record(Record { kind: FlagKind::Raw, size: Size::B8, a: word, b: zero, c: zero });
    }

    /// All flags as they are, but for those that are given.
    fn keep_but(&mut self, changed: &[(u64, Term)]) {
        let word = self.word_but(changed);
        self.load_word(word, ARITHMETIC);
    }

    /// A shift by zero keeps the flags.
    fn define_by_shift(&mut self, new: Record) {
        let count = self.count(new);
        match self.terms.constant(count) {
            Some(0) => {}
            Some(_) => self.set_record(new),
            None => self.choose(count, new),
        }
    }

    /// The flags of a shift whose count may be zero.
    fn choose(&mut self, count: Term, new: Record) {
        let shifts = self.terms.is_nonzero(count);
        let old = self.record();
        let chosen: Vec<(u64, Term)> = ALL
            .into_iter()
            .map(|flag| {
                let (new, old) = (self.flag_of(new, flag), self.flag_of(old, flag));
                (flag, self.terms.if_then_else(shifts, new, old))
            })
            .collect();
        self.keep_but(&chosen);
    }

    /// Flags that change unless the count is zero.
    fn change_if(&mut self, moves: Term, changed: [(u64, Term); 2]) {
        let old = self.record();
        let changed = changed.map(|(flag, new)| {
            let old = self.flag_of(old, flag);
            (flag, self.terms.if_then_else(moves, new, old))
        });
        self.keep_but(&changed);
    }

    fn define_by_rotation(&mut self, new: Record) {
        let width = new.size.bits();
        let (a, b) = (self.terms.extract(width - 1, 0, new.a), self.terms.extract(width - 1, 0, new.b));
        let count = self.shift_count(b);
        let moves = self.terms.is_nonzero(count);
        let left = new.kind == FlagKind::Rol;
        let result = self.binary(if left { Binary::Rol } else { Binary::Ror }, a, b);
        let top = self.bit(result, width - 1);
        let (carry, other) = match left {
            true => (self.bit(result, 0), top),
            false => (top, self.bit(result, width - 2)),
        };
        let overflow = self.terms.xor(carry, other);
        self.change_if(moves, [(CF, carry), (OF, overflow)]);
    }

    fn define_by_carry_rotation(&mut self, new: Record) {
        let width = new.size.bits();
        let (a, b) = (self.terms.extract(width - 1, 0, new.a), self.terms.extract(width - 1, 0, new.b));
        let steps = self.carry_steps(b);
        let moves = self.terms.is_nonzero(steps);
        let wide = self.terms.zero_extend(width + 1, a);
        let (carry, overflow) = if new.kind == FlagKind::Rcl {
            let shifted = self.terms.shift_left(wide, steps);
            let carry = self.bit(shifted, width);
            let result = self.ternary(lift::Ternary::RotateCarryLeft, new.size, a, b, new.c);
            let top = self.bit(result, width - 1);
            (carry, self.terms.xor(top, carry))
        } else {
            let one = self.terms.bits(width + 1, 1);
            let before = self.terms.sub(steps, one);
            let shifted = self.terms.shift_right(wide, before);
            let (carry, top, entering) = (self.bit(shifted, 0), self.bit(a, width - 1), self.bit(new.c, 0));
            (carry, self.terms.xor(top, entering))
        };
        self.change_if(moves, [(CF, carry), (OF, overflow)]);
    }

    fn define_by_double_shift(&mut self, new: Record) {
        let width = new.size.bits();
        let [a, b, other] = [new.a, new.b, new.c].map(|term| self.terms.extract(width - 1, 0, term));
        let count = self.shift_count(b);
        if self.terms.constant(count) == Some(0) {
            return;
        }
        let moves = self.terms.is_nonzero(count);
        let left = new.kind == FlagKind::Shld;
        let result = self.shift_double(new.size, a, other, b, left);
        // The last bit that leaves, which for counts above the width is one of the other operand.
        let (around, wide) = match left {
            true => (self.terms.concat(a, other), 2 * width),
            false => (self.terms.concat(other, a), 2 * width),
        };
        let one = self.terms.bits(wide, 1);
        let count = self.terms.zero_extend(wide, count);
        let before = self.terms.sub(count, one);
        let carry = match left {
            true => {
                let shifted = self.terms.shift_left(around, before);
                self.bit(shifted, wide - 1)
            }
            false => {
                let shifted = self.terms.shift_right(around, before);
                self.bit(shifted, 0)
            }
        };
        let changed = self.terms.bits_xor(result, a);
        let overflow = self.bit(changed, width - 1);
        let (zero, sign, parity) = (self.is_zero(result), self.bit(result, width - 1), self.parity(result));
        let clear = self.terms.truth(false);
        let old = self.record();
        let flags = [(CF, carry), (PF, parity), (AF, clear), (ZF, zero), (SF, sign), (OF, overflow)];
        let flags = flags.map(|(flag, new)| {
            let old = self.flag_of(old, flag);
            (flag, self.terms.if_then_else(moves, new, old))
        });
        self.keep_but(&flags);
    }
}
