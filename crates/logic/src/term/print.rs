//! Terms as text, for tests and dumps: close to C, and no longer than somebody reads.

use super::{
    BitsBinary, BitsCompare, BitsUnary, FloatArithmetic, FloatCompare, Format, Node, Sort, Term, Terms,
};
use std::fmt::Write;

/// Text beyond this is left out.
const LONGEST: usize = 4000;

/// What is still to be written, the next last.
enum Piece {
    Term(Term),
    Text(&'static str),
    Owned(String),
}

impl Terms {
    /// The term as text. Names for unknowns are `v0`, `v1` and so forth.
    pub fn print(&self, term: Term) -> String {
        let mut text = String::new();
        let mut pieces = vec![Piece::Term(term)];
        while let Some(piece) = pieces.pop() {
            if text.len() > LONGEST {
                text.push('…');
                break;
            }
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Owned(piece) => text.push_str(&piece),
                Piece::Term(term) => {
                    let mut parts = self.pieces(term);
                    parts.reverse();
                    pieces.append(&mut parts);
                }
            }
        }
        text
    }

    fn pieces(&self, term: Term) -> Vec<Piece> {
        use Piece::Text;
        let infix = |a: Term, operator: &'static str, b: Term| {
            vec![Text("("), Piece::Term(a), Text(operator), Piece::Term(b), Text(")")]
        };
        let prefix = |operator: &'static str, a: Term| vec![Text(operator), Piece::Term(a)];
        let call = |name: String, operands: &[Term]| {
            let mut parts = vec![Piece::Owned(name), Text("(")];
            for (n, operand) in operands.iter().enumerate() {
                parts.extend((n > 0).then_some(Text(", ")));
                parts.push(Piece::Term(*operand));
            }
            parts.push(Text(")"));
            parts
        };
        match self.node(term) {
            Node::Constant(sort, value) => vec![Piece::Owned(constant(sort, value))],
            Node::Variable(variable) => vec![Piece::Owned(format!("v{}", variable.index()))],
            Node::Not(a) => prefix("!", a),
            Node::And(a, b) => infix(a, " && ", b),
            Node::Or(a, b) => infix(a, " || ", b),
            Node::Xor(a, b) => infix(a, " != ", b),
            Node::Implies(a, b) => infix(a, " => ", b),
            Node::IfThenElse(c, a, b) => vec![
                Text("("),
                Piece::Term(c),
                Text(" ? "),
                Piece::Term(a),
                Text(" : "),
                Piece::Term(b),
                Text(")"),
            ],
            Node::Equal(a, b) => infix(a, " == ", b),
            Node::BitsUnary(BitsUnary::Not, a) => prefix("~", a),
            Node::BitsUnary(BitsUnary::Negate, a) => prefix("-", a),
            Node::BitsBinary(function, a, b) => infix(a, operator(function), b),
            Node::BitsCompare(relation, a, b) => infix(
                a,
                match relation {
                    BitsCompare::UnsignedLess => " <u ",
                    BitsCompare::UnsignedLessOrEqual => " <=u ",
                    BitsCompare::SignedLess => " < ",
                    BitsCompare::SignedLessOrEqual => " <= ",
                },
                b,
            ),
            Node::Concat(a, b) => infix(a, " : ", b),
            Node::Extract { high, low, of } => {
                vec![Piece::Term(of), Piece::Owned(format!("[{high}..{low}]"))]
            }
            Node::ZeroExtend(to, a) => call(format!("u{to}"), &[a]),
            Node::SignExtend(to, a) => call(format!("i{to}"), &[a]),
            Node::FloatArithmetic(function, _, a, b) => infix(
                a,
                match function {
                    FloatArithmetic::Add => " +. ",
                    FloatArithmetic::Sub => " -. ",
                    FloatArithmetic::Mul => " *. ",
                    FloatArithmetic::Div => " /. ",
                },
                b,
            ),
            Node::FloatRemainder(a, b) => call("remainder".into(), &[a, b]),
            Node::FloatSquareRoot(_, a) => call("sqrt".into(), &[a]),
            Node::FloatRound(rounding, a) => call(format!("round_{rounding}"), &[a]),
            Node::FloatNegate(a) => prefix("-.", a),
            Node::FloatAbsolute(a) => call("fabs".into(), &[a]),
            Node::FloatCompare(relation, a, b) => infix(
                a,
                match relation {
                    FloatCompare::Equal => " ==. ",
                    FloatCompare::Less => " <. ",
                    FloatCompare::LessOrEqual => " <=. ",
                },
                b,
            ),
            Node::FloatIsNan(a) => call("isnan".into(), &[a]),
            Node::FloatFromBits(format, a) => call(format!("as_{format}"), &[a]),
            Node::FloatToBits(a) => call("bits".into(), &[a]),
            Node::FloatConvert(format, _, a) | Node::FloatFromSigned(format, _, a) => {
                call(format.to_string(), &[a])
            }
            Node::FloatToSigned(width, rounding, a) => call(format!("i{width}_{rounding}"), &[a]),
        }
    }
}

fn operator(function: BitsBinary) -> &'static str {
    match function {
        BitsBinary::Add => " + ",
        BitsBinary::Sub => " - ",
        BitsBinary::Mul => " * ",
        BitsBinary::UnsignedDivide => " /u ",
        BitsBinary::UnsignedRemainder => " %u ",
        BitsBinary::SignedDivide => " / ",
        BitsBinary::SignedRemainder => " % ",
        BitsBinary::And => " & ",
        BitsBinary::Or => " | ",
        BitsBinary::Xor => " ^ ",
        BitsBinary::ShiftLeft => " << ",
        BitsBinary::ShiftRight => " >>u ",
        BitsBinary::ShiftRightSigned => " >> ",
    }
}

/// Numbers near zero in decimal, others in hexadecimal; floats as numbers where they have that many bits.
fn constant(sort: Sort, value: u128) -> String {
    let mut text = String::new();
    let _ = match sort {
        Sort::Bool => write!(text, "{}", value != 0),
        Sort::Bits(width) => {
            let signed = super::fold::signed(width.into(), value);
            match signed {
                -4096..=4096 if width > 1 => write!(text, "{signed}"),
                _ => write!(text, "{value:#x}"),
            }
        }
        Sort::Float(Format::Single) => write!(text, "{:?}f", f32::from_bits(value as u32)),
        Sort::Float(Format::Double) => write!(text, "{:?}", f64::from_bits(value as u64)),
        Sort::Float(Format::Extended) => write!(text, "f80:{value:#x}"),
    };
    text
}
