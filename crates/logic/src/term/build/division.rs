//! Divisions by constants, which compilers make of a multiplication and shifts, turned back into divisions.
//!
//! For a number `x` of `k` bits, `⌊x·m / 2^s⌋` is `⌊x / d⌋` for every `x` if `2^s ≤ m·d ≤ 2^s + 2^(s-k)`; and for signed numbers, with one added where
//! `x` is negative, if `2^s < m·d ≤ 2^s + 2^(s-k+1)` (Granlund and Montgomery, 1994). So the constants alone tell whether a form is a division, and
//! by what. Every kind of form that was found is kept as an [`Equivalence`], for a solver to prove.

use crate::term::fold::signed as signed_value;
use crate::term::{BitsBinary, BitsCompare, Node, Term, Terms};

/// A form and the division that was put in its place. They are equal whatever `of`, which is a part of both, may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equivalence {
    pub form: Term,
    pub division: Term,
    pub of: Term,
}

/// `⌊x·factor / 2^shift⌋`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Scaled {
    x: Term,
    factor: u128,
    shift: u32,
    signed: bool,
    /// The product itself.
    product: Term,
}

/// A form with what is divided left open, of which only the width is told: its terms, each over others by their places in the list.
pub(in crate::term) type Kind = (u32, Vec<Node>);

impl Terms {
    /// The kinds of forms that were taken for divisions, each once. Their claims rest on a theorem, and can be proved one by one.
    pub fn equivalences(&self) -> &[Equivalence] {
        &self.equivalences
    }

    /// Whether it is a quotient or remainder by a constant, as forms become.
    pub fn is_division_by_constant(&self, term: Term) -> bool {
        use BitsBinary::{SignedDivide, SignedRemainder, UnsignedDivide, UnsignedRemainder};
        match self.node(term) {
            Node::BitsBinary(
                UnsignedDivide | UnsignedRemainder | SignedDivide | SignedRemainder,
                _,
                divisor,
            ) => self.is_constant(divisor),
            _ => false,
        }
    }

    /// The terms between a form and what is divided in it.
    fn above(&self, form: Node, x: Term) -> Vec<Node> {
        let mut found = vec![x];
        let mut pending: Vec<Term> = form.children().collect();
        while let Some(term) = pending.pop() {
            if !found.contains(&term) {
                found.push(term);
                pending.extend(self.node(term).children());
            }
        }
        let place = |term: Term| Term(found.iter().position(|found| *found == term).unwrap_or(0) as u32);
        let nodes = found.iter().skip(1).map(|term| self.node(*term));
        std::iter::once(form).chain(nodes).map(|node| node.map(place)).collect()
    }

    /// A product with a constant of what was extended, to so many bits that nothing of the product is cut off.
    fn product(&self, term: Term) -> Option<Scaled> {
        let Node::BitsBinary(BitsBinary::Mul, a, b) = self.node(term) else { return None };
        let factor = self.constant(b)?;
        let (x, signed) = match self.node(a) {
            Node::ZeroExtend(_, x) => (x, false),
            Node::SignExtend(_, x) => (x, true),
            _ => return None,
        };
        let (bits, room) = (self.width(x), self.width(term) - self.width(x));
        let is_whole = match signed {
            false => factor
                .checked_mul(u128::MAX >> (128 - bits))
                .is_some_and(|most| most <= self.sort(term).mask()),
            true => room < 128 && signed_value(self.width(term), factor).unsigned_abs() < 1 << room,
        };
        is_whole.then_some(Scaled { x, factor, shift: 0, signed, product: term })
    }

    /// The upper part of such a product: what lies above some bit of it, in full.
    fn upper_part(&self, term: Term) -> Option<Scaled> {
        // Which of the two shifts it is must agree with the sign of the product.
        let (of, below, signed) = match self.node(term) {
            Node::Extract { high, low, of } if u32::from(high) + 1 == self.width(of) => {
                (of, u32::from(low), None)
            }
            Node::BitsBinary(
                function @ (BitsBinary::ShiftRight | BitsBinary::ShiftRightSigned),
                of,
                count,
            ) => {
                let count = u32::try_from(self.constant(count)?).ok()?;
                (of, count, Some(function == BitsBinary::ShiftRightSigned))
            }
            _ => (term, 0, None),
        };
        let inner = match self.node(of) {
            Node::BitsBinary(BitsBinary::Mul, ..) => self.product(of)?,
            Node::Extract { .. } if below > 0 => self.upper_part(of)?,
            _ => return None,
        };
        let agrees = signed.is_none_or(|signed| signed == inner.signed);
        agrees.then_some(Scaled { shift: inner.shift + below, ..inner })
    }

    /// The divisor for which an unsigned product is a quotient.
    fn unsigned_divisor(&self, scaled: Scaled) -> Option<u128> {
        let bits = self.width(scaled.x);
        if scaled.signed || scaled.shift < bits {
            return None;
        }
        divisor(scaled.factor, scaled.shift, scaled.shift - bits, 0).filter(|divisor| divisor >> bits == 0)
    }

    /// `⌊x·m / 2^s⌋`, as it is without corrections.
    pub(super) fn unsigned_quotient(&mut self, form: Node) -> Option<Term> {
        let (of, below, width) = match form {
            Node::BitsBinary(BitsBinary::ShiftRight, of, count) => {
                (of, u32::try_from(self.constant(count)?).ok()?, self.width(of))
            }
            Node::Extract { high, low, of } if u32::from(high) + 1 == self.width(of) => {
                (of, low.into(), u32::from(high - low) + 1)
            }
            _ => return None,
        };
        if let Some(found) = self.corrected_quotient(form, of, below) {
            return Some(found);
        }
        let inner = self.upper_part(of)?;
        let scaled = Scaled { shift: inner.shift + below, ..inner };
        if width < self.width(scaled.x) {
            return None;
        }
        let divisor = self.unsigned_divisor(scaled)?;
        self.divided(form, scaled, divisor, BitsBinary::UnsignedDivide, width)
    }

    /// `(((x - t) >> 1) + t) >> s` with `t = ⌊x·m / 2^k⌋`, where the factor `2^k + m` would have one bit too many.
    fn corrected_quotient(&mut self, form: Node, sum: Term, below: u32) -> Option<Term> {
        let Node::BitsBinary(BitsBinary::Add, one, other) = self.node(sum) else { return None };
        for (half, part) in [(one, other), (other, one)] {
            let Node::BitsBinary(BitsBinary::ShiftRight, difference, count) = self.node(half) else {
                continue;
            };
            let Node::BitsBinary(BitsBinary::Sub, x, same) = self.node(difference) else { continue };
            if self.constant(count) != Some(1) || same != part {
                continue;
            }
            let Some(scaled) = self.upper_part(part) else { continue };
            let bits = self.width(x);
            if scaled.x != x || scaled.shift != bits || scaled.signed || bits > 64 {
                continue;
            }
            let factor = scaled.factor.checked_add(1 << bits)?;
            let whole = Scaled { factor, shift: bits + 1 + below, ..scaled };
            let divisor = self.unsigned_divisor(whole)?;
            return self.divided(form, whole, divisor, BitsBinary::UnsignedDivide, bits);
        }
        None
    }

    /// Puts the division in place of the form.
    fn divided(
        &mut self,
        form: Node,
        scaled: Scaled,
        divisor: u128,
        function: BitsBinary,
        width: u32,
    ) -> Option<Term> {
        let bits = self.width(scaled.x);
        let constant = self.bits(bits, divisor);
        let quotient = self.build(Node::BitsBinary(function, scaled.x, constant));
        let division = self.zero_extend(width, quotient);
        let kind = (bits, self.above(form, scaled.x));
        if self.kinds.insert(kind) {
            let form = self.intern(form);
            self.equivalences.push(Equivalence { form, division, of: scaled.x });
        }
        Some(division)
    }

    /// The number of a signed form before one is added for negative numbers: the product shifted, or, where the factor has one bit too many, with `x`
    /// added before the last shift.
    fn signed_part(&self, term: Term) -> Option<Scaled> {
        // The product shifted as a whole, of which the low half is kept.
        let cut = match self.node(term) {
            Node::Extract { low: 0, of, .. } => of,
            _ => term,
        };
        let plain = self.upper_part(cut).filter(|scaled| scaled.signed);
        let scaled = plain.or_else(|| self.signed_part_with_sum(term))?;
        let bits = self.width(scaled.x);
        (self.width(term) == bits).then_some(scaled)
    }

    fn signed_part_with_sum(&self, term: Term) -> Option<Scaled> {
        let (sum, below) = match self.node(term) {
            Node::BitsBinary(BitsBinary::ShiftRightSigned, sum, count) => {
                (sum, u32::try_from(self.constant(count)?).ok()?)
            }
            _ => (term, 0),
        };
        let Node::BitsBinary(BitsBinary::Add, one, other) = self.node(sum) else { return None };
        [(one, other), (other, one)].into_iter().find_map(|(x, part)| {
            let scaled = self.upper_part(part)?;
            let bits = self.width(x);
            let fits = scaled.x == x && scaled.shift == bits && scaled.signed && bits <= 64;
            // The factor is what it is in the product, and 2^k; below 2^k, or the sum would be cut off.
            let factor = scaled.factor.wrapping_add(1 << bits) & self.sort(scaled.product).mask();
            (fits && factor >> bits == 0).then_some(Scaled { factor, shift: bits + below, ..scaled })
        })
    }

    fn signed_divisor(&self, scaled: Scaled) -> Option<u128> {
        let bits = self.width(scaled.x);
        let positive = signed_value(self.width(scaled.product), scaled.factor) > 0;
        if !positive || scaled.shift < bits {
            return None;
        }
        let found = divisor(scaled.factor, scaled.shift, scaled.shift + 1 - bits, 1);
        found.filter(|divisor| divisor >> (bits - 1) == 0)
    }

    /// A form, as a difference or a sum, that adds one for negative numbers.
    pub(super) fn signed_quotient(&mut self, form: Node) -> Option<Term> {
        let candidates = match form {
            Node::BitsBinary(BitsBinary::Sub, part, sign) => [Some((part, sign, false)), None],
            Node::BitsBinary(BitsBinary::Add, one, other) => {
                [Some((one, other, true)), Some((other, one, true))]
            }
            _ => return None,
        };
        for (part, sign, added) in candidates.into_iter().flatten() {
            let Some(scaled) = self.signed_part(part) else { continue };
            if !self.tells_sign(sign, scaled, added) {
                continue;
            }
            let divisor = self.signed_divisor(scaled)?;
            let width = self.width(part);
            return self.divided(form, scaled, divisor, BitsBinary::SignedDivide, width);
        }
        None
    }

    /// Whether a term is one, or minus one if it is not to be added, where the number is negative, and zero elsewhere.
    fn tells_sign(&self, sign: Term, scaled: Scaled, added: bool) -> bool {
        match self.node(sign) {
            Node::BitsBinary(BitsBinary::ShiftRightSigned, x, count) if !added => {
                x == scaled.x && self.constant(count) == Some(u128::from(self.width(x)) - 1)
            }
            Node::IfThenElse(condition, yes, no) if added => {
                let Node::BitsCompare(BitsCompare::SignedLess, a, zero) = self.node(condition) else {
                    return false;
                };
                let constants = [zero, yes, no].map(|term| self.constant(term));
                constants == [Some(0), Some(1), Some(0)] && self.has_sign_of(a, scaled.x)
            }
            _ => false,
        }
    }

    /// Whether a term is negative where `x` is and nowhere else, because it is `x`, or a positive multiple of it, rounded down.
    fn has_sign_of(&self, term: Term, x: Term) -> bool {
        let multiple =
            self.product(term).or_else(|| self.signed_part(term)).filter(|multiple| multiple.signed);
        let is_positive = |multiple: Scaled| signed_value(self.width(multiple.product), multiple.factor) > 0;
        term == x || multiple.is_some_and(|multiple| multiple.x == x && is_positive(multiple))
    }

    /// `x - (x / d) * d`
    pub(super) fn remainder(&mut self, x: Term, product: Term) -> Option<Term> {
        let (quotient, factor) = self.multiple(product);
        self.remainder_of(x, quotient, factor)
    }

    /// `x + (x / d) * -d`
    pub(super) fn remainder_by_sum(&mut self, x: Term, product: Term) -> Option<Term> {
        let (quotient, factor) = self.multiple(product);
        self.remainder_of(x, quotient, factor.wrapping_neg() & self.sort(x).mask())
    }

    fn remainder_of(&mut self, x: Term, quotient: Term, factor: u128) -> Option<Term> {
        let Node::BitsBinary(function, dividend, divisor) = self.node(quotient) else { return None };
        if dividend != x || self.constant(divisor) != Some(factor) || factor == 0 {
            return None;
        }
        match function {
            BitsBinary::UnsignedDivide => Some(self.unsigned_remainder(x, divisor)),
            BitsBinary::SignedDivide => Some(self.signed_remainder(x, divisor)),
            _ => None,
        }
    }

    /// `(x < 0 ? x + (2^n - 1) : x) >> n`, in any of its spellings, is the signed division by `2^n`.
    pub(super) fn signed_quotient_by_power(&mut self, biased: Term, count: u32) -> Option<Term> {
        let (x, bias) = self.biased(biased)?;
        // The highest power is a negative number.
        (bias == count && count + 1 < self.width(x)).then(|| {
            let divisor = self.bits(self.width(x), 1 << count);
            self.intern(Node::BitsBinary(BitsBinary::SignedDivide, x, divisor))
        })
    }

    /// A number to which `2^n - 1` is added if it is negative: the number, and `n`.
    fn biased(&self, term: Term) -> Option<(Term, u32)> {
        match self.node(term) {
            Node::IfThenElse(condition, yes, no) => {
                let (x, negative, positive) = match self.node(condition) {
                    Node::BitsCompare(BitsCompare::SignedLess, x, zero) if self.constant(zero) == Some(0) => {
                        (x, yes, no)
                    }
                    Node::BitsCompare(BitsCompare::SignedLessOrEqual, zero, x)
                        if self.constant(zero) == Some(0) =>
                    {
                        (x, no, yes)
                    }
                    _ => return None,
                };
                let (base, offset) = self.offset(negative);
                (base == x && positive == x).then_some((x, ones(offset)?))
            }
            Node::BitsBinary(BitsBinary::Add, one, other) => {
                [(one, other), (other, one)].into_iter().find_map(|(x, bias)| Some((x, self.bias(x, bias)?)))
            }
            _ => None,
        }
    }

    /// `2^n - 1` where `x` is negative, and zero elsewhere: `n`.
    fn bias(&self, x: Term, bias: Term) -> Option<u32> {
        let width = self.width(x);
        match self.node(bias) {
            Node::IfThenElse(condition, yes, no) => {
                let Node::BitsCompare(BitsCompare::SignedLess, a, zero) = self.node(condition) else {
                    return None;
                };
                let fits = a == x && self.constant(zero) == Some(0) && self.constant(no) == Some(0);
                fits.then(|| ones(self.constant(yes)?))?
            }
            Node::BitsBinary(BitsBinary::ShiftRight, sign, count) => {
                let Node::BitsBinary(BitsBinary::ShiftRightSigned, a, all) = self.node(sign) else {
                    return None;
                };
                let count = u32::try_from(self.constant(count)?).ok()?;
                let fits = a == x && self.constant(all) == Some(u128::from(width) - 1) && count < width;
                fits.then(|| width - count)
            }
            _ => None,
        }
    }

    /// `x - (b & -2^n)`, where `b` is `x` with `2^n - 1` added if it is negative, is the signed remainder by `2^n`.
    pub(super) fn signed_remainder_by_mask(&mut self, x: Term, masked: Term) -> Option<Term> {
        let Node::BitsBinary(BitsBinary::And, sum, mask) = self.node(masked) else { return None };
        let (same, n) = self.biased(sum)?;
        let mask = !self.constant(mask)? & self.sort(x).mask();
        (same == x && ones(mask) == Some(n) && n + 1 < self.width(x)).then(|| {
            let divisor = self.bits(self.width(x), 1 << n);
            self.intern(Node::BitsBinary(BitsBinary::SignedRemainder, x, divisor))
        })
    }

    /// `((x + b) & (2^n - 1)) - b`, where `b` is `2^n - 1` for negative numbers, is the signed remainder by `2^n`.
    pub(super) fn signed_remainder_by_power(&mut self, masked: Term, bias: Term) -> Option<Term> {
        let (sum, mask) = match self.node(masked) {
            Node::BitsBinary(BitsBinary::And, sum, mask) => (sum, self.constant(mask)?),
            _ => return None,
        };
        let Node::BitsBinary(BitsBinary::Add, one, other) = self.node(sum) else { return None };
        let x = if other == bias { one } else { other };
        let n = self.bias(x, bias)?;
        let fits = (one == bias || other == bias) && ones(mask) == Some(n) && n + 1 < self.width(x);
        fits.then(|| {
            let divisor = self.bits(self.width(x), 1 << n);
            self.intern(Node::BitsBinary(BitsBinary::SignedRemainder, x, divisor))
        })
    }
}

/// How many ones a mask of low bits has.
fn ones(mask: u128) -> Option<u32> {
    let is_mask = mask != 0 && mask.checked_add(1).is_none_or(u128::is_power_of_two);
    is_mask.then(|| mask.trailing_ones())
}

/// The `d` for which `2^shift + least ≤ factor·d ≤ 2^shift + 2^room`.
fn divisor(factor: u128, shift: u32, room: u32, least: u128) -> Option<u128> {
    if factor < 2 || shift > 126 {
        return None;
    }
    let power = 1u128 << shift;
    let divisor = (power + least).div_ceil(factor);
    let product = factor.checked_mul(divisor)?;
    let most = power.checked_add(1 << room.min(126))?;
    (divisor >= 2 && product <= most).then_some(divisor)
}
