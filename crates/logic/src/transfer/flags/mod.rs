//! Flags. They are kept as in the machine, as what defined them, and computed only when somebody asks: so a condition after `cmp a, b` is a comparison of
//! `a` and `b`.

mod define;
mod single;

use super::Transfer;
use crate::state::Record;
use crate::term::Term;
use lift::flags::{AF, CF, OF, PF, SF, ZF};
use lift::{Condition, FlagKind, Size};

const ALL: [u64; 6] = [CF, PF, AF, ZF, SF, OF];

impl Transfer<'_> {
    /// What the flags were last set by.
    pub(super) fn record(&mut self) -> Record {
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

    pub(super) fn word_but(&mut self, changed: &[(u64, Term)]) -> Term {
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
    pub(in crate::transfer) fn flag_word(&mut self) -> Term {
        self.word_but(&[])
    }

    /// A word of 64 bits, of which these are given and the rest is zero. The bits come in rising order.
    pub(in crate::transfer) fn assemble(&mut self, bits: &[(u32, Term)]) -> Term {
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

    /// One of the flags as they are.
    pub(in crate::transfer) fn flag(&mut self, flag: u64) -> Term {
        let record = self.record();
        self.flag_of(record, flag)
    }

    /// Whether a condition holds on the flags.
    pub(in crate::transfer) fn condition(&mut self, condition: Condition) -> Term {
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
