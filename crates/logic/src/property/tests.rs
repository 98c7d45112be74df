//! Formulas are true of what they are about, and of nothing else; those of expressions agree with their values.

use super::*;
use crate::format::Format as PrintFormat;
use crate::random::Random;
use crate::term::{Assignment, Evaluation};
use program::expressions::Expression;
use program::expressions::tree::{self, Basic, BinaryOperator, Node, NodeKind, Number};

/// The truth of a formula over one unknown of 64 bits, by its value.
fn truths(make: impl Fn(Term) -> Property, values: &[u64]) -> Vec<bool> {
    let mut terms = Terms::new();
    let variable = terms.variable(Sort::Bits(64));
    let unknown = terms.of_variable(variable);
    let term = make(unknown).term(&mut terms).expect("it is of that sort");
    let value_of = |value: &u64| {
        let mut assignment = Assignment::default();
        assignment.set(variable, (*value).into());
        Evaluation::new(assignment).holds(&terms, term)
    };
    values.iter().map(value_of).collect()
}

#[test]
fn pointers_divisors_and_codes() {
    assert_eq!(truths(|pointer| Property::NotNull { pointer }, &[0, 1, 1 << 63]), [false, true, true]);
    assert_eq!(truths(|divisor| Property::NotZero { divisor }, &[0, 7]), [false, true]);
    let within = |size| move |pointer| Property::Within { pointer, size, start: 100, end: 108 };
    assert_eq!(
        truths(within(4), &[99, 100, 104, 105, 108, u64::MAX]),
        [false, true, true, false, false, false]
    );
    assert_eq!(truths(within(9), &[100]), [false]);
    let code = |status| Property::ExitCode { status, code: 2 };
    assert_eq!(truths(code, &[2, 0x102, 3]), [true, true, false]);
}

#[test]
fn quotients_that_do_not_exist() {
    let mut terms = Terms::new();
    for (dividend, divisor, exists) in
        [(i32::MIN, -1, false), (i32::MIN, 1, true), (5, -1, true), (5, 0, false)]
    {
        let [dividend, divisor] = [dividend, divisor].map(|value| terms.bits(32, value as u128));
        let term = Property::HasQuotient { dividend, divisor }.term(&mut terms).expect("both are bits");
        assert_eq!(terms.constant(term), Some(exists.into()));
    }
}

#[test]
fn conditions_go_the_other_way() {
    let mut terms = Terms::new();
    let condition = terms.unknown(Sort::Bool);
    let not = terms.not(condition);
    assert_eq!(Property::OtherWay { condition, was: true }.term(&mut terms), Some(not));
    assert_eq!(Property::OtherWay { condition, was: false }.term(&mut terms), Some(condition));
    assert_eq!(Property::Asserted { condition: not }.term(&mut terms), Some(not));
    let bits = terms.bits(8, 1);
    assert_eq!(Property::Asserted { condition: bits }.term(&mut terms), None);
}

#[test]
fn a_printed_area_is_between_two_doubles() {
    let format = PrintFormat::parse(b"%.2f\n").expect("a format");
    let wanted = format.align(b"9.92\n").expect("it fits").parts.remove(0).wanted;
    let make = |argument| Property::Printed { argument, wanted: wanted.clone() };
    let values = [9.92, 9.9216, 10.0, 9.915, 9.91501, -9.92].map(f64::to_bits);
    assert_eq!(truths(make, &values), [true, true, false, false, true, false]);
}

impl Random {
    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.one_in(4) {
            return self
                .pick(&[
                    "c",
                    "u",
                    "i",
                    "w",
                    "l",
                    "n",
                    "f",
                    "d",
                    "0",
                    "1",
                    "-3",
                    "7u",
                    "2.5",
                    "40",
                    "1000000000000",
                ])
                .to_owned();
        }
        let mut part = || self.expression(depth - 1);
        let (a, b, c) = (part(), part(), part());
        match self.below(10) {
            0 => format!("{}({a})", self.pick(&["-", "!", "~", "+"])),
            1 => format!("(({a}) && ({b}))"),
            2 => format!("(({a}) || ({b}))"),
            3 => format!("(({a}) ? ({b}) : ({c}))"),
            4 => format!(
                "({})({a})",
                self.pick(&[
                    "char",
                    "unsigned char",
                    "short",
                    "int",
                    "unsigned",
                    "long",
                    "unsigned long",
                    "float",
                    "double"
                ])
            ),
            _ => {
                let operators =
                    ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="];
                format!("(({a}) {} ({b}))", self.pick(&operators))
            }
        }
    }
}

/// The variables of random expressions.
const VARIABLES: [(&str, Basic); 8] = [
    ("c", Basic::Integer { size: 1, signed: true }),
    ("u", Basic::Integer { size: 1, signed: false }),
    ("i", Basic::INT),
    ("w", Basic::Integer { size: 4, signed: false }),
    ("l", Basic::LONG),
    ("n", Basic::SIZE),
    ("f", Basic::Float),
    ("d", Basic::Double),
];

/// The value that `program` computes; `Err(true)` if there is none, `Err(false)` if formulas cannot follow.
fn value(node: &Node, values: &[(Number, u128)]) -> Result<(Number, Basic), bool> {
    let truth = |value: bool| Ok((Number::Integer(value.into()), Basic::INT));
    let is_true = |node: &Node| value(node, values).map(|(number, _)| number.is_true());
    match &node.kind {
        NodeKind::Constant { value, of } => Ok((*value, *of)),
        NodeKind::Name(name) => {
            let place = VARIABLES.iter().position(|(other, _)| other == name).ok_or(false)?;
            Ok((values[place].0, VARIABLES[place].1))
        }
        NodeKind::Unary(operator, of) => {
            let (number, of) = value(of, values)?;
            tree::unary(*operator, number, of).map_err(|_| false)
        }
        NodeKind::Binary(operator, left, right) => {
            let (left, right) = (value(left, values)?, value(right, values)?);
            let is_partial = matches!(
                operator,
                BinaryOperator::Divide
                    | BinaryOperator::Remainder
                    | BinaryOperator::ShiftLeft
                    | BinaryOperator::ShiftRight
            );
            let are_integers = matches!((left.0, right.0), (Number::Integer(_), Number::Integer(_)));
            tree::binary(*operator, left, right).map_err(|_| is_partial && are_integers)
        }
        NodeKind::And(left, right) => truth(is_true(left)? && is_true(right)?),
        NodeKind::Or(left, right) => truth(is_true(left)? || is_true(right)?),
        NodeKind::Choice(condition, one, two) => {
            let is_one = is_true(condition)?;
            let (one, two) = (value(one, values), value(two, values));
            let common = one.map_err(|_| false)?.1.common(two.map_err(|_| false)?.1);
            let chosen = if is_one { one } else { two };
            Ok((chosen?.0.converted(common), common))
        }
        NodeKind::Cast(to, of) => {
            let (number, _) = value(of, values)?;
            let tree::TypeBase::Basic(basic) = to.base else { return Err(false) };
            // Out of range, C says nothing.
            let is_wild = matches!(number, Number::Float(float) if float.is_nan() || float.abs() >= 9.2e18);
            if is_wild && !basic.is_float() { Err(false) } else { Ok((number.converted(basic), basic)) }
        }
        _ => Err(false),
    }
}

#[test]
fn terms_of_expressions_agree_with_their_values() {
    let mut random = Random::new(11);
    let (mut compared, mut without) = (0, 0);
    for _ in 0..30_000 {
        let text = random.expression(3);
        let Ok(expression) = Expression::parse(&text) else { panic!("{text}") };
        let values = VARIABLES.map(|(_, of)| {
            let small = random.one_in(2);
            let bits = if small { random.any() % 50 } else { random.any() };
            match of {
                Basic::Float => {
                    let value = (bits as i32 as f32) / 8.0;
                    (Number::Float(value.into()), value.to_bits().into())
                }
                Basic::Double => {
                    let value = (bits as i32 as f64) / 8.0;
                    (Number::Float(value), value.to_bits().into())
                }
                _ => (Number::Integer(bits.into()).converted(of), u128::from(bits)),
            }
        });
        let mut terms = Terms::new();
        let mut assignment = Assignment::default();
        let variables: Vec<_> = VARIABLES
            .iter()
            .zip(values)
            .map(|((_, of), (_, bits))| {
                let variable = terms.variable(Sort::Bits((of.size() * 8) as u8));
                assignment.set(variable, bits);
                terms.of_variable(variable)
            })
            .collect();
        let term = term_of(&expression, &mut terms, |_, name| {
            let place = VARIABLES.iter().position(|(other, _)| *other == name)?;
            Some((variables[place], Type::Number(VARIABLES[place].1)))
        });
        let expected = match value(expression.root(), &values) {
            Ok((number, _)) => number.is_true(),
            Err(true) => {
                without += 1;
                false
            }
            Err(false) => continue,
        };
        let term = match term {
            Ok(term) => term,
            // A part that is not evaluated may be wrong.
            Err(NoTerm::NotSupported(_)) => continue,
            Err(error) => panic!("{text}: {error}"),
        };
        assert_eq!(Evaluation::new(assignment).holds(&terms, term), expected, "{text} with {values:?}");
        compared += 1;
    }
    assert!(compared > 15_000 && without > 300, "{compared} compared, {without} without a value");
}

#[test]
fn pointers_are_compared_and_moved() {
    let mut terms = Terms::new();
    let (p, q) = (terms.bits(64, 1000), terms.bits(64, 1040));
    let mut truth = |text: &str| {
        let expression = Expression::parse(text).expect("an expression");
        let term = term_of(&expression, &mut terms, |_, name| match name {
            "list->p" => Some((p, Type::Pointer { size: 8 })),
            "q" => Some((q, Type::Pointer { size: 8 })),
            _ => None,
        });
        term.map(|term| terms.constant(term) == Some(1))
    };
    for text in [
        "list->p < q",
        "q - list->p == 5",
        "list->p + 5 == q",
        "q - 5 == list->p",
        "list->p != 0",
        "q && !0",
        "(list->p) < ((q))",
    ] {
        assert_eq!(truth(text), Ok(true), "{text}");
    }
    assert_eq!(truth("q == 0"), Ok(false));
    assert_eq!(truth("r == 0"), Err(NoTerm::NotKnown("r".to_owned())));
    assert_eq!(truth("q == \"abc\""), Err(NoTerm::NotSupported("\"abc\"".to_owned())));
}
