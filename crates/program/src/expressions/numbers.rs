//! C's arithmetic types and what it does with them.

use super::syntax::{BinaryOperator, UnaryOperator};

/// An arithmetic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    Bool,
    Integer {
        /// In bytes.
        size: u8,
        signed: bool,
    },
    Float,
    Double,
    /// Computed with the precision of a double.
    LongDouble,
}

/// A value of such a type. An integer is within the range of its type; unsigned ones of 16 bytes are kept modulo 2¹²⁸.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl Basic {
    pub const INT: Basic = Basic::Integer { size: 4, signed: true };
    pub const LONG: Basic = Basic::Integer { size: 8, signed: true };
    pub const SIZE: Basic = Basic::Integer { size: 8, signed: false };

    pub fn size(self) -> u64 {
        match self {
            Basic::Bool => 1,
            Basic::Integer { size, .. } => u64::from(size),
            Basic::Float => 4,
            Basic::Double => 8,
            Basic::LongDouble => 16,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Basic::Bool => "_Bool",
            Basic::Float => "float",
            Basic::Double => "double",
            Basic::LongDouble => "long double",
            Basic::Integer { size: 1, signed: true } => "signed char",
            Basic::Integer { size: 1, signed: false } => "unsigned char",
            Basic::Integer { size: 2, signed: true } => "short",
            Basic::Integer { size: 2, signed: false } => "unsigned short",
            Basic::Integer { size: 4, signed: true } => "int",
            Basic::Integer { size: 4, signed: false } => "unsigned int",
            Basic::Integer { size: 8, signed: true } => "long",
            Basic::Integer { size: 8, signed: false } => "unsigned long",
            Basic::Integer { signed: true, .. } => "__int128",
            Basic::Integer { signed: false, .. } => "unsigned __int128",
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Basic::Float | Basic::Double | Basic::LongDouble)
    }

    /// Small integers are computed with as int.
    pub fn promoted(self) -> Basic {
        match self {
            Basic::Bool => Basic::INT,
            Basic::Integer { size, .. } if size < 4 => Basic::INT,
            other => other,
        }
    }

    /// The type in which two values meet.
    pub fn common(self, other: Basic) -> Basic {
        let rank = |of: Basic| match of {
            Basic::LongDouble => 3,
            Basic::Double => 2,
            Basic::Float => 1,
            _ => 0,
        };
        if rank(self) > 0 || rank(other) > 0 {
            return if rank(self) >= rank(other) { self } else { other };
        }
        match (self.promoted(), other.promoted()) {
            (Basic::Integer { size: a, signed: x }, Basic::Integer { size: b, signed: y }) => {
                let signed = match a.cmp(&b) {
                    std::cmp::Ordering::Less => y,
                    std::cmp::Ordering::Greater => x,
                    std::cmp::Ordering::Equal => x && y,
                };
                Basic::Integer { size: a.max(b), signed }
            }
            (one, _) => one,
        }
    }
}

impl Number {
    pub fn is_true(self) -> bool {
        match self {
            Number::Integer(value) => value != 0,
            Number::Float(value) => value != 0.0,
        }
    }

    fn float(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// The value as one of another type. What does not fit wraps, as the processor has it.
    pub fn converted(self, to: Basic) -> Number {
        match (self, to) {
            (value, Basic::Bool) => Number::Integer(i128::from(value.is_true())),
            (Number::Integer(value), Basic::Integer { size, signed }) => {
                Number::Integer(wrapped(value, size, signed))
            }
            (Number::Float(value), Basic::Integer { size, signed }) => {
                Number::Integer(wrapped(value as i128, size, signed))
            }
            // At once: by way of a double it would be rounded twice.
            (Number::Integer(value), Basic::Float) => Number::Float(f64::from(value as f32)),
            (value, Basic::Float) => Number::Float(f64::from(value.float() as f32)),
            (value, Basic::Double | Basic::LongDouble) => Number::Float(value.float()),
        }
    }
}

fn wrapped(value: i128, size: u8, signed: bool) -> i128 {
    let unused = 128u32.saturating_sub(u32::from(size) * 8).min(127);
    match signed {
        true => value << unused >> unused,
        false => ((value as u128) << unused >> unused) as i128,
    }
}

pub fn unary(operator: UnaryOperator, value: Number, of: Basic) -> Result<(Number, Basic), String> {
    if operator == UnaryOperator::Not {
        return Ok((Number::Integer(i128::from(!value.is_true())), Basic::INT));
    }
    let to = of.promoted();
    let result = match (operator, value) {
        (UnaryOperator::Plus, value) => value,
        (UnaryOperator::Minus, Number::Integer(value)) => Number::Integer(value.wrapping_neg()),
        (UnaryOperator::Minus, Number::Float(value)) => Number::Float(-value),
        (UnaryOperator::Complement, Number::Integer(value)) => Number::Integer(!value),
        (UnaryOperator::Complement | UnaryOperator::Not, Number::Float(_)) => {
            return Err("`~` wants an integer".to_owned());
        }
        (UnaryOperator::Not, Number::Integer(value)) => Number::Integer(value),
    };
    Ok((result.converted(to), to))
}

pub fn binary(
    operator: BinaryOperator,
    (left, left_type): (Number, Basic),
    (right, right_type): (Number, Basic),
) -> Result<(Number, Basic), String> {
    use BinaryOperator::{ShiftLeft, ShiftRight};
    if matches!(operator, ShiftLeft | ShiftRight) {
        return shift(operator, (left, left_type), right);
    }
    let of = left_type.common(right_type);
    if of.is_float() {
        return floats(operator, left.converted(of).float(), right.converted(of).float(), of);
    }
    let (Number::Integer(left), Number::Integer(right)) = (left.converted(of), right.converted(of)) else {
        return Err("whole numbers are wanted here".to_owned());
    };
    integers(operator, left, right, of)
}

fn shift(
    operator: BinaryOperator,
    (left, of): (Number, Basic),
    right: Number,
) -> Result<(Number, Basic), String> {
    let of = of.promoted();
    let (Number::Integer(value), Number::Integer(by)) = (left, right) else {
        return Err("a shift wants integers".to_owned());
    };
    let bits = of.size() * 8;
    let by = u32::try_from(by).ok().filter(|by| u64::from(*by) < bits);
    let by = by.ok_or_else(|| format!("a value of {bits} bits can be shifted by 0 to {}", bits - 1))?;
    let result = match operator {
        BinaryOperator::ShiftLeft => value.wrapping_shl(by),
        _ if of == (Basic::Integer { size: 16, signed: false }) => ((value as u128) >> by) as i128,
        _ => value >> by,
    };
    Ok((Number::Integer(result).converted(of), of))
}

fn floats(operator: BinaryOperator, left: f64, right: f64, of: Basic) -> Result<(Number, Basic), String> {
    use BinaryOperator as Op;
    let truth = |value: bool| Ok((Number::Integer(i128::from(value)), Basic::INT));
    let result = match operator {
        Op::Add => left + right,
        Op::Subtract => left - right,
        Op::Multiply => left * right,
        Op::Divide => left / right,
        Op::Equal => return truth(left == right),
        Op::NotEqual => return truth(left != right),
        Op::Less => return truth(left < right),
        Op::LessEqual => return truth(left <= right),
        Op::Greater => return truth(left > right),
        Op::GreaterEqual => return truth(left >= right),
        Op::Remainder | Op::ShiftLeft | Op::ShiftRight | Op::BitAnd | Op::BitOr | Op::BitXor => {
            return Err("this operator wants integers".to_owned());
        }
    };
    Ok((Number::Float(result).converted(of), of))
}

fn integers(operator: BinaryOperator, left: i128, right: i128, of: Basic) -> Result<(Number, Basic), String> {
    use BinaryOperator as Op;
    let is_wide = of == (Basic::Integer { size: 16, signed: false });
    let order = if is_wide { (left as u128).cmp(&(right as u128)) } else { left.cmp(&right) };
    let truth = |value: bool| Ok((Number::Integer(i128::from(value)), Basic::INT));
    let result = match operator {
        Op::Add => left.wrapping_add(right),
        Op::Subtract => left.wrapping_sub(right),
        Op::Multiply => left.wrapping_mul(right),
        Op::Divide | Op::Remainder if right == 0 => return Err("division by zero".to_owned()),
        Op::Divide if is_wide => ((left as u128) / (right as u128)) as i128,
        Op::Remainder if is_wide => ((left as u128) % (right as u128)) as i128,
        Op::Divide => left.wrapping_div(right),
        Op::Remainder => left.wrapping_rem(right),
        Op::BitAnd => left & right,
        Op::BitOr => left | right,
        Op::BitXor => left ^ right,
        Op::Equal => return truth(order.is_eq()),
        Op::NotEqual => return truth(order.is_ne()),
        Op::Less => return truth(order.is_lt()),
        Op::LessEqual => return truth(order.is_le()),
        Op::Greater => return truth(order.is_gt()),
        Op::GreaterEqual => return truth(order.is_ge()),
        Op::ShiftLeft | Op::ShiftRight => return Err("a shift is no such operation".to_owned()),
    };
    Ok((Number::Integer(result).converted(of), of))
}
