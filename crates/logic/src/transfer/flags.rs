//! Flags. They are kept as in the machine, as what defined them, and computed only when somebody asks: so a condition after `cmp a, b` is a comparison of
//! `a` and `b`.

use super::Transfer;
use crate::state::Record;
use crate::term::Term;
use lift::flags::{AF, ARITHMETIC, CF, OF, PF, SF, ZF};
use lift::{Binary, Condition, FlagKind, Reg, Size, Value};

const ALL: [u64; 6] = [CF, PF, AF, ZF, SF, OF];

impl Transfer<'_> {
    /// What the flags were last set by.
    fn record(&mut self) -> Record {
        if let Some(record) = self.registers.record() {
            return record;
        }
        // A concrete record is as good as the flags themselves.
        let flags = self.cpu.flag_record().flags();
        self.raw(flags.into())
    }

    fn raw(&mut self, flags: u128) -> Record {
        let (a, zero) = (self.terms.bits(64, flags), self.terms.bits(64, 0));
        Record { kind: FlagKind::Raw, size: Size::B8, a, b: zero, c: zero }
    }

    pub(super) fn define_flags(&mut self, kind: FlagKind, size: Size, a: Reg, b: Value, c: Reg) {
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

    fn word_but(&mut self, changed: &[(u64, Term)]) -> Term {
        let old = self.record();
        let flags: Vec<(u32, Term)> = ALL
            .into_iter()
            .map(|flag| {
                let given = changed.iter().find(|(changed, _)| *changed == flag);
                let value = given.map_or_else(|| self.flag_of(old, flag), |(_, value)| *value);
                (flag.trailing_zeros(), value)
            })
            .collect();
        self.assemble(&flags)
    }

    /// The word of all flags.
    pub(super) fn flag_word(&mut self) -> Term {
        self.word_but(&[])
    }

    /// A word of 64 bits, of which these are given and the rest is zero. The bits come in rising order.
    pub(super) fn assemble(&mut self, bits: &[(u32, Term)]) -> Term {
        let mut word: Option<Term> = None;
        for (position, truth) in bits {
            let bit = self.terms.truth_to_bits(*truth, 1);
            word = Some(match word {
                None if *position == 0 => bit,
                None => {
                    let zero = self.terms.bits(*position, 0);
                    self.terms.concat(bit, zero)
                }
                Some(low) => {
                    let low = self.terms.zero_extend(*position, low);
                    self.terms.concat(bit, low)
                }
            });
        }
        match word {
            Some(word) => self.terms.zero_extend(64, word),
            None => self.terms.bits(64, 0),
        }
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

    /// The count of a shift, at the width of what is shifted.
    fn count(&mut self, record: Record) -> Term {
        let width = record.size.bits();
        let count = self.terms.extract(width - 1, 0, record.b);
        self.shift_count(count)
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

    fn is_zero(&mut self, a: Term) -> Term {
        let nonzero = self.terms.is_nonzero(a);
        self.terms.not(nonzero)
    }

    /// Whether the low byte has an even number of ones.
    fn parity(&mut self, a: Term) -> Term {
        let mut odd = self.terms.truth(false);
        for bit in 0..8 {
            let bit = self.bit(a, bit);
            odd = self.terms.xor(odd, bit);
        }
        self.terms.not(odd)
    }

    /// One of the flags as they are.
    pub(super) fn flag(&mut self, flag: u64) -> Term {
        let record = self.record();
        self.flag_of(record, flag)
    }

    /// A flag as a record defines it.
    fn flag_of(&mut self, record: Record, flag: u64) -> Term {
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
    fn result_flag(&mut self, flag: u64, result: Term) -> Term {
        match flag {
            ZF => self.is_zero(result),
            SF => self.bit(result, self.terms.width(result) - 1),
            PF => self.parity(result),
            _ => self.terms.truth(false),
        }
    }

    fn sum_flag(&mut self, flag: u64, a: Term, b: Term, carry: Option<Term>) -> Term {
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

    fn difference_flag(&mut self, flag: u64, a: Term, b: Term, borrow: Option<Term>) -> Term {
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

    fn carry_in(&mut self, carry: Term, width: u32) -> Term {
        let carry = self.terms.extract(0, 0, carry);
        self.terms.zero_extend(width, carry)
    }

    /// The carry into bit 4.
    fn adjust(&mut self, a: Term, b: Term, result: Term) -> Term {
        let both = self.terms.bits_xor(a, b);
        let carries = self.terms.bits_xor(both, result);
        self.bit(carries, 4)
    }

    /// Of a shift whose count is not zero.
    fn shift_flag(&mut self, record: Record, flag: u64, a: Term) -> Term {
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

    /// Whether a condition holds on the flags.
    pub(super) fn condition(&mut self, condition: Condition) -> Term {
        use Condition::*;
        // Conditions come in pairs of opposites, of which the second is the negation of the first.
        let (condition, negated) = match condition {
            Overflow | Below | Equal | BelowOrEqual | Sign | Parity | Less | LessOrEqual => {
                (condition, false)
            }
            NotOverflow => (Overflow, true),
            AboveOrEqual => (Below, true),
            NotEqual => (Equal, true),
            Above => (BelowOrEqual, true),
            NotSign => (Sign, true),
            NotParity => (Parity, true),
            GreaterOrEqual => (Less, true),
            Greater => (LessOrEqual, true),
        };
        let record = self.record();
        let holds = match self.comparison(record, condition) {
            Some(holds) => holds,
            None => self.condition_by_flags(record, condition),
        };
        if negated { self.terms.not(holds) } else { holds }
    }

    /// The condition as a comparison of what defined the flags, where it is one.
    fn comparison(&mut self, record: Record, condition: Condition) -> Option<Term> {
        let width = record.size.bits();
        let (a, b) = match record.kind {
            FlagKind::Sub => (record.a, record.b),
            FlagKind::Logic if condition == Condition::Overflow => return Some(self.terms.truth(false)),
            FlagKind::Logic => (record.a, self.terms.bits(64, 0)),
            // CF is from before.
            FlagKind::Dec if !matches!(condition, Condition::Below | Condition::BelowOrEqual) => {
                (record.a, self.terms.bits(64, 1))
            }
            FlagKind::Inc if !matches!(condition, Condition::Below | Condition::BelowOrEqual) => {
                (record.a, self.terms.bits(64, u128::MAX))
            }
            FlagKind::Raw => {
                let (a, b) = self.registers.compared(record.a)?;
                return self.float_comparison(condition, a, b);
            }
            _ => return None,
        };
        let (a, b) = (self.terms.extract(width - 1, 0, a), self.terms.extract(width - 1, 0, b));
        match condition {
            Condition::Below => Some(self.terms.unsigned_less(a, b)),
            Condition::BelowOrEqual => Some(self.terms.unsigned_less_or_equal(a, b)),
            Condition::Equal => Some(self.terms.equal(a, b)),
            Condition::Less => Some(self.terms.signed_less(a, b)),
            Condition::LessOrEqual => Some(self.terms.signed_less_or_equal(a, b)),
            _ => None,
        }
    }

    /// CF is set if `a` is less, ZF if they are equal, and all three if they do not compare.
    fn float_comparison(&mut self, condition: Condition, a: Term, b: Term) -> Option<Term> {
        match condition {
            Condition::Below => {
                let at_least = self.terms.float_less_or_equal(b, a);
                Some(self.terms.not(at_least))
            }
            Condition::BelowOrEqual => {
                let greater = self.terms.float_less(b, a);
                Some(self.terms.not(greater))
            }
            Condition::Equal => {
                let (equal, unordered) = (self.terms.float_equal(a, b), self.terms.float_unordered(a, b));
                Some(self.terms.or(unordered, equal))
            }
            Condition::Parity => Some(self.terms.float_unordered(a, b)),
            _ => None,
        }
    }

    fn condition_by_flags(&mut self, record: Record, condition: Condition) -> Term {
        match condition {
            Condition::Overflow => self.flag_of(record, OF),
            Condition::Below => self.flag_of(record, CF),
            Condition::Equal => self.flag_of(record, ZF),
            Condition::Sign => self.flag_of(record, SF),
            Condition::Parity => self.flag_of(record, PF),
            Condition::BelowOrEqual => {
                let (carry, zero) = (self.flag_of(record, CF), self.flag_of(record, ZF));
                self.terms.or(carry, zero)
            }
            Condition::LessOrEqual => {
                let (less, zero) = (self.less(record), self.flag_of(record, ZF));
                self.terms.or(zero, less)
            }
            _ => self.less(record),
        }
    }

    fn less(&mut self, record: Record) -> Term {
        let (sign, overflow) = (self.flag_of(record, SF), self.flag_of(record, OF));
        self.terms.xor(sign, overflow)
    }
}
