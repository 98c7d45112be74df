//! A term as an expression of C.

use super::numbers::{is_negative, number};
use super::{Kind, Names};
use crate::term::{BitsBinary, BitsCompare, BitsUnary, FloatArithmetic, FloatCompare, Format, Rounding};
use crate::{Node, Sort, Term, Terms};

/// What lies deeper is left out: nobody reads that far, and the host's stack has an end.
const DEEPEST: usize = 48;
/// Text beyond this is left out.
const LONGEST: usize = 2000;
const LEFT_OUT: &str = "…";

/// How tightly the operators of C bind, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Prefix,
    Atom,
}

/// A term as C, with the names that unknowns have in the source.
pub fn in_c(terms: &Terms, names: &dyn Names, term: Term) -> String {
    let mut writer = Writer { terms, names, text: String::new() };
    writer.write(term, Binding::Choice, 0);
    writer.text
}

struct Writer<'a> {
    terms: &'a Terms,
    names: &'a dyn Names,
    text: String,
}

impl Writer<'_> {
    /// Writes a term where an operator stands that binds so tightly.
    fn write(&mut self, term: Term, around: Binding, depth: usize) {
        if depth > DEEPEST || self.text.len() > LONGEST {
            if !self.text.ends_with(LEFT_OUT) {
                self.text.push_str(LEFT_OUT);
            }
            return;
        }
        let term = self.plain(term);
        let own = self.binding(term);
        let is_enclosed = own < around;
        self.text.push_str(if is_enclosed { "(" } else { "" });
        self.bare(term, own, depth + 1);
        self.text.push_str(if is_enclosed { ")" } else { "" });
    }

    /// What is left of a term when that is taken away which nobody writes: the bits of a float are the float.
    fn plain(&self, mut term: Term) -> Term {
        loop {
            term = match self.terms.node(term) {
                Node::FloatFromBits(_, of) if self.is_float(of) => of,
                Node::FloatToBits(of) => of,
                Node::FloatConvert(format, _, of) if self.is_widening(format, of) => of,
                Node::ZeroExtend(_, of) if self.truth(of).is_some() => of,
                _ => return term,
            }
        }
    }

    /// The variable that was widened, where C does so by itself beside an operand of the wider type.
    fn narrow(&self, term: Term) -> Option<Term> {
        match self.terms.node(self.plain(term)) {
            Node::SignExtend(_, of) if self.is_of(of, Kind::Signed) => Some(of),
            Node::ZeroExtend(_, of) if self.is_of(of, Kind::Unsigned) => Some(of),
            _ => None,
        }
    }

    fn is_of(&self, term: Term, kind: Kind) -> bool {
        matches!(self.terms.node(term), Node::Variable(variable) if self.names.kind(variable) == kind)
    }

    /// Whether the bits are those of a float: of a variable that is one, or of what was computed as one.
    fn is_float(&self, bits: Term) -> bool {
        self.is_of(bits, Kind::Float)
            || matches!(self.terms.node(bits), Node::FloatToBits(_) | Node::Constant(..))
    }

    fn is_widening(&self, format: Format, of: Term) -> bool {
        matches!(self.terms.sort(of), Sort::Float(from) if from.bits() < format.bits())
    }

    /// The condition of which a term is the value as a number, 1 or 0.
    fn truth(&self, term: Term) -> Option<Term> {
        let Node::IfThenElse(condition, yes, no) = self.terms.node(term) else { return None };
        let is = |term, value| self.terms.constant(term) == Some(value);
        (self.terms.sort(term) != Sort::Bool && is(yes, 1) && is(no, 0)).then_some(condition)
    }

    fn binding(&self, term: Term) -> Binding {
        match self.terms.node(term) {
            Node::Constant(sort, value) => match sort {
                Sort::Bits(width) if is_negative(width.into(), value) => Binding::Prefix,
                _ => Binding::Atom,
            },
            Node::IfThenElse(..) => match self.truth(term) {
                Some(condition) => self.binding(condition),
                None => Binding::Choice,
            },
            Node::Implies(..) | Node::Or(..) => Binding::Or,
            Node::And(..) => Binding::And,
            Node::Xor(..) | Node::Equal(..) | Node::FloatCompare(FloatCompare::Equal, ..) => {
                Binding::Equality
            }
            Node::BitsCompare(..) | Node::FloatCompare(..) => Binding::Relation,
            Node::BitsBinary(function, ..) => binding_of(function),
            Node::FloatArithmetic(FloatArithmetic::Add | FloatArithmetic::Sub, ..) => Binding::Sum,
            Node::FloatArithmetic(FloatArithmetic::Mul | FloatArithmetic::Div, ..) => Binding::Product,
            Node::Concat(..) => Binding::BitOr,
            Node::Extract { low: 0, .. } => Binding::Prefix,
            Node::Extract { .. } => Binding::BitAnd,
            Node::Not(of) => match self.opposite(of) {
                Some(_) => self.binding(of),
                None => Binding::Prefix,
            },
            Node::BitsUnary(..) | Node::FloatNegate(_) => Binding::Prefix,
            Node::ZeroExtend(..)
            | Node::SignExtend(..)
            | Node::FloatConvert(..)
            | Node::FloatFromSigned(..)
            | Node::FloatToSigned(_, Rounding::Zero, _) => Binding::Prefix,
            Node::Variable(_)
            | Node::FloatRemainder(..)
            | Node::FloatSquareRoot(..)
            | Node::FloatRound(..)
            | Node::FloatAbsolute(_)
            | Node::FloatIsNan(_)
            | Node::FloatFromBits(..)
            | Node::FloatToBits(_)
            | Node::FloatToSigned(..) => Binding::Atom,
        }
    }

    fn bare(&mut self, term: Term, own: Binding, depth: usize) {
        match self.terms.node(term) {
            Node::Constant(sort, value) => self.text.push_str(&number(sort, value, Kind::Signed)),
            Node::Variable(variable) => self.text.push_str(&self.names.name(variable)),
            Node::Not(of) => self.negation(of, depth),
            Node::And(a, b) => self.infix(a, " && ", b, own, depth),
            Node::Or(a, b) => self.infix(a, " || ", b, own, depth),
            Node::Xor(a, b) => self.compare(a, " != ", b, depth),
            Node::Implies(a, b) => {
                self.text.push('!');
                self.write(a, Binding::Prefix, depth);
                self.text.push_str(" || ");
                self.write(b, own, depth);
            }
            Node::IfThenElse(condition, yes, no) => match self.truth(term) {
                Some(condition) => self.bare(condition, own, depth),
                None => self.choice(condition, yes, no, depth),
            },
            Node::Equal(a, b) => self.compare(a, " == ", b, depth),
            Node::BitsUnary(BitsUnary::Not, of) => self.prefix("~", of, depth),
            Node::BitsUnary(BitsUnary::Negate, of) => self.prefix("-", of, depth),
            Node::BitsBinary(function, a, b) => self.arithmetic(function, a, b, own, depth),
            Node::BitsCompare(relation, a, b) => self.relation(relation, a, b, depth),
            Node::Concat(high, low) => {
                self.write(high, Binding::Shift, depth);
                self.text.push_str(&format!(" << {} | ", self.terms.width(low)));
                self.write(low, Binding::BitOr, depth);
            }
            Node::Extract { high, low, of } => self.extract(high, low, of, depth),
            Node::ZeroExtend(to, of) => {
                let from = self.terms.width(of);
                self.text.push_str(&format!("({})", integer_type(to.into(), false)));
                if !self.is_of(of, Kind::Unsigned) {
                    self.text.push_str(&format!("({})", integer_type(from, false)));
                }
                self.write(of, Binding::Prefix, depth);
            }
            Node::SignExtend(to, of) => self.cast(integer_type(to.into(), true), of, depth),
            Node::FloatArithmetic(function, _, a, b) => {
                self.infix(a, float_operator(function), b, own, depth)
            }
            Node::FloatRemainder(a, b) => self.call("remainder", &[a, b], depth),
            Node::FloatSquareRoot(_, of) => self.call("sqrt", &[of], depth),
            Node::FloatRound(rounding, of) => self.call(round_function(rounding), &[of], depth),
            Node::FloatNegate(of) => self.prefix("-", of, depth),
            Node::FloatAbsolute(of) => self.call("fabs", &[of], depth),
            Node::FloatCompare(relation, a, b) => self.compare(a, float_relation(relation), b, depth),
            Node::FloatIsNan(of) => self.call("isnan", &[of], depth),
            Node::FloatFromBits(format, of) => {
                self.call(&format!("bits_as_{}", float_type(format)), &[of], depth)
            }
            Node::FloatToBits(of) => self.call("bits_of", &[of], depth),
            Node::FloatConvert(format, _, of) | Node::FloatFromSigned(format, _, of) => {
                self.cast(float_type(format).to_owned(), of, depth);
            }
            Node::FloatToSigned(to, Rounding::Zero, of) => {
                self.cast(integer_type(to.into(), true), of, depth)
            }
            Node::FloatToSigned(_, rounding, of) => {
                self.call(&format!("l{}", round_function(rounding)), &[of], depth)
            }
        }
    }

    fn infix(&mut self, a: Term, operator: &str, b: Term, own: Binding, depth: usize) {
        self.write(a, own, depth);
        self.text.push_str(operator);
        self.write(b, tighter(own), depth);
    }

    fn prefix(&mut self, operator: &str, of: Term, depth: usize) {
        self.text.push_str(operator);
        // Two signs in a row would be another operator.
        let before = self.text.len();
        self.write(of, Binding::Prefix, depth);
        if operator == "-" && self.text.get(before..).is_some_and(|text| text.starts_with('-')) {
            self.text.insert(before, ' ');
        }
    }

    fn cast(&mut self, to: String, of: Term, depth: usize) {
        self.text.push_str(&format!("({to})"));
        self.write(of, Binding::Prefix, depth);
    }

    fn call(&mut self, name: &str, operands: &[Term], depth: usize) {
        self.text.push_str(name);
        self.text.push('(');
        for (number, operand) in operands.iter().enumerate() {
            self.text.push_str(if number > 0 { ", " } else { "" });
            self.write(*operand, Binding::Choice, depth);
        }
        self.text.push(')');
    }

    fn choice(&mut self, condition: Term, yes: Term, no: Term, depth: usize) {
        self.write(condition, Binding::Or, depth);
        self.text.push_str(" ? ");
        self.write(yes, Binding::Choice, depth);
        self.text.push_str(" : ");
        self.write(no, Binding::Choice, depth);
    }

    fn extract(&mut self, high: u8, low: u8, of: Term, depth: usize) {
        let width = u32::from(high - low) + 1;
        if low == 0 && width.is_power_of_two() && width >= 8 {
            return self.cast(integer_type(width, true), of, depth);
        }
        let (mask, shift) = (u128::MAX >> (128 - width), u32::from(low));
        self.write(of, if shift == 0 { Binding::BitAnd } else { Binding::Shift }, depth);
        if shift > 0 {
            self.text.push_str(&format!(" >> {shift}"));
        }
        self.text.push_str(&format!(" & {mask:#x}"));
    }

    fn arithmetic(&mut self, function: BitsBinary, a: Term, b: Term, own: Binding, depth: usize) {
        // The builders write `a - 1` as the sum of `a` and the negative number.
        let constant = self.terms.constant(b).filter(|value| is_negative(self.terms.width(b), *value));
        if let (BitsBinary::Add, Some(value)) = (function, constant) {
            let magnitude = value.wrapping_neg() & self.terms.sort(b).mask();
            self.write(a, own, depth);
            self.text.push_str(&format!(" - {magnitude}"));
            return;
        }
        let reads_unsigned = matches!(
            function,
            BitsBinary::UnsignedDivide | BitsBinary::UnsignedRemainder | BitsBinary::ShiftRight
        );
        if reads_unsigned {
            self.as_unsigned(a, own, depth);
            self.text.push_str(operator_of(function));
            // The count of a shift is no number with a sign.
            match function {
                BitsBinary::ShiftRight => self.write(b, tighter(own), depth),
                _ => self.as_unsigned(b, tighter(own), depth),
            }
            return;
        }
        // One operand that is as wide as the result is enough for C to widen the other.
        let is_wide = |term| self.narrow(term).is_none() && self.terms.constant(term).is_none();
        let (a, b) = match (self.narrow(a), self.narrow(b)) {
            (_, Some(narrow)) => (a, narrow),
            (Some(narrow), None) if is_wide(b) => (narrow, b),
            _ => (a, b),
        };
        self.infix(a, operator_of(function), b, own, depth);
    }

    /// A term that is to be read without a sign; it says so unless its type does, or it is a number.
    fn as_unsigned(&mut self, term: Term, around: Binding, depth: usize) {
        let plain = match self.narrow(term) {
            Some(narrow) if self.is_of(narrow, Kind::Unsigned) => narrow,
            // The sign is widened before it is read as none.
            Some(narrow) => return self.cast(integer_type(self.terms.width(term), false), narrow, depth),
            None => self.plain(term),
        };
        let says_so = match self.terms.node(plain) {
            Node::Constant(sort, value) => {
                let text = number(sort, value, Kind::Unsigned);
                self.text.push_str(&text);
                return;
            }
            Node::Variable(variable) => matches!(self.names.kind(variable), Kind::Unsigned | Kind::Pointer),
            Node::ZeroExtend(..) => true,
            _ => false,
        };
        match says_so {
            true => self.write(plain, around, depth),
            false => self.cast(integer_type(self.terms.width(plain), false), plain, depth),
        }
    }

    fn relation(&mut self, relation: BitsCompare, a: Term, b: Term, depth: usize) {
        match relation {
            BitsCompare::SignedLess => self.compare(a, " < ", b, depth),
            BitsCompare::SignedLessOrEqual => self.compare(a, " <= ", b, depth),
            BitsCompare::UnsignedLess | BitsCompare::UnsignedLessOrEqual => {
                self.as_unsigned(a, Binding::Shift, depth);
                self.text.push_str(if relation == BitsCompare::UnsignedLess { " < " } else { " <= " });
                self.as_unsigned(b, Binding::Shift, depth);
            }
        }
    }

    /// A comparison; a constant is spelled as the type of what it is compared with has it.
    fn compare(&mut self, a: Term, operator: &str, b: Term, depth: usize) {
        // What is asked about comes first: `x == 2`, but `2 < x` stays as it is, for its sense is in its order.
        let is_symmetric = matches!(operator.trim(), "==" | "!=");
        let (a, b) = match is_symmetric && self.terms.constant(a).is_some() {
            true => (b, a),
            false => (a, b),
        };
        let binding = if is_symmetric { Binding::Relation } else { Binding::Shift };
        self.operand(a, b, binding, depth);
        self.text.push_str(operator);
        self.operand(b, a, binding, depth);
    }

    /// One side of a comparison with another.
    fn operand(&mut self, term: Term, other: Term, around: Binding, depth: usize) {
        let plain = self.narrow(term).unwrap_or(self.plain(term));
        let Node::Constant(sort, value) = self.terms.node(plain) else {
            return self.write(plain, around, depth);
        };
        let other = self.narrow(other).unwrap_or(self.plain(other));
        let text = match self.terms.node(other) {
            Node::Variable(variable) => {
                // The bits that the variable has: what the comparison widened is not its own.
                let own = value & self.terms.sort(other).mask();
                let kind = self.names.kind(variable);
                let spelled = self.names.spell(variable, own);
                spelled.unwrap_or_else(|| number(sort, value, kind))
            }
            _ => number(sort, value, Kind::Signed),
        };
        self.text.push_str(&text);
    }

    /// `!(a < b)` is `a >= b`, except of floats, which may be neither.
    fn negation(&mut self, of: Term, depth: usize) {
        match self.opposite(of) {
            Some((a, operator, b, is_unsigned)) if is_unsigned => {
                self.as_unsigned(a, Binding::Shift, depth);
                self.text.push_str(operator);
                self.as_unsigned(b, Binding::Shift, depth);
            }
            Some((a, operator, b, _)) => self.compare(a, operator, b, depth),
            None => self.prefix("!", of, depth),
        }
    }

    /// The comparison that holds when another does not, and whether it reads its operands without a sign.
    fn opposite(&self, of: Term) -> Option<(Term, &'static str, Term, bool)> {
        match self.terms.node(of) {
            Node::Equal(a, b) => Some((a, " != ", b, false)),
            Node::Xor(a, b) => Some((a, " == ", b, false)),
            Node::FloatCompare(FloatCompare::Equal, a, b) => Some((a, " != ", b, false)),
            Node::BitsCompare(relation, a, b) => Some(match relation {
                BitsCompare::SignedLess => (a, " >= ", b, false),
                BitsCompare::SignedLessOrEqual => (a, " > ", b, false),
                BitsCompare::UnsignedLess => (a, " >= ", b, true),
                BitsCompare::UnsignedLessOrEqual => (a, " > ", b, true),
            }),
            _ => None,
        }
    }
}

/// Of what stands on the right of an operator: there an operator that binds as tightly is enclosed.
fn tighter(binding: Binding) -> Binding {
    match binding {
        Binding::Choice => Binding::Or,
        // Chains of these mean the same however they are enclosed.
        Binding::Or => Binding::Or,
        Binding::And => Binding::And,
        Binding::BitOr => Binding::BitOr,
        Binding::BitXor => Binding::BitXor,
        Binding::BitAnd => Binding::BitAnd,
        Binding::Equality => Binding::Relation,
        Binding::Relation => Binding::Shift,
        Binding::Shift => Binding::Sum,
        Binding::Sum => Binding::Product,
        Binding::Product => Binding::Prefix,
        Binding::Prefix | Binding::Atom => Binding::Atom,
    }
}

fn binding_of(function: BitsBinary) -> Binding {
    match function {
        BitsBinary::Add | BitsBinary::Sub => Binding::Sum,
        BitsBinary::Mul
        | BitsBinary::UnsignedDivide
        | BitsBinary::UnsignedRemainder
        | BitsBinary::SignedDivide
        | BitsBinary::SignedRemainder => Binding::Product,
        BitsBinary::And => Binding::BitAnd,
        BitsBinary::Or => Binding::BitOr,
        BitsBinary::Xor => Binding::BitXor,
        BitsBinary::ShiftLeft | BitsBinary::ShiftRight | BitsBinary::ShiftRightSigned => Binding::Shift,
    }
}

fn operator_of(function: BitsBinary) -> &'static str {
    match function {
        BitsBinary::Add => " + ",
        BitsBinary::Sub => " - ",
        BitsBinary::Mul => " * ",
        BitsBinary::UnsignedDivide | BitsBinary::SignedDivide => " / ",
        BitsBinary::UnsignedRemainder | BitsBinary::SignedRemainder => " % ",
        BitsBinary::And => " & ",
        BitsBinary::Or => " | ",
        BitsBinary::Xor => " ^ ",
        BitsBinary::ShiftLeft => " << ",
        BitsBinary::ShiftRight | BitsBinary::ShiftRightSigned => " >> ",
    }
}

fn float_operator(function: FloatArithmetic) -> &'static str {
    match function {
        FloatArithmetic::Add => " + ",
        FloatArithmetic::Sub => " - ",
        FloatArithmetic::Mul => " * ",
        FloatArithmetic::Div => " / ",
    }
}

fn float_relation(relation: FloatCompare) -> &'static str {
    match relation {
        FloatCompare::Equal => " == ",
        FloatCompare::Less => " < ",
        FloatCompare::LessOrEqual => " <= ",
    }
}

fn round_function(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::Nearest => "rint",
        Rounding::Down => "floor",
        Rounding::Up => "ceil",
        Rounding::Zero => "trunc",
    }
}

fn float_type(format: Format) -> &'static str {
    match format {
        Format::Single => "float",
        Format::Double => "double",
        Format::Extended => "long double",
    }
}

/// The name of an integer type of a width.
fn integer_type(width: u32, is_signed: bool) -> String {
    let name = match (width, is_signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned",
        (64, true) => "long",
        (64, false) => "unsigned long",
        (width, true) => return format!("_BitInt({width})"),
        (width, false) => return format!("unsigned _BitInt({width})"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests;
