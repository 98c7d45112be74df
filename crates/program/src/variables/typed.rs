//! Typed values on the stack of an expression.
//!
//! DWARF wants both operands of an operation to be of the same type. clang mixes: it converts one operand to a type of 64 bits and adds
//! a value that has none. gdb takes both as numbers, and so does [`without_types`].

use gimli::{EndianArcSlice, Expression, LittleEndian, Operation, Reader as _, UnitOffset, Value, ValueType};

use super::Reason;
use crate::debug_info::Reader;
use crate::entries::{Die, Entry};

/// `DW_OP_convert` to the type that values have when nothing else is said.
const TO_GENERIC: [u8; 2] = [gimli::DW_OP_convert.0, 0];

/// The type of a base type's entry; offset 0 stands for the type without a name.
pub(super) fn base_type(entry: &Entry<'_>, offset: UnitOffset<usize>) -> Result<ValueType, Reason> {
    if offset.0 == 0 {
        return Ok(ValueType::Generic);
    }
    let found = entry.debug.entry(Die { unit: entry.die.unit, offset: offset.0 });
    let found = found.filter(|found| found.tag() == gimli::DW_TAG_base_type).ok_or(Reason::Damaged)?;
    let Some(gimli::AttributeValue::Encoding(encoding)) = found.attribute(gimli::DW_AT_encoding) else {
        return Err(Reason::Damaged);
    };
    let size = found.unsigned(gimli::DW_AT_byte_size).ok_or(Reason::Damaged)?;
    ValueType::from_encoding(number(encoding), size).ok_or(Reason::Damaged)
}

/// Characters and truth values are computed with as numbers.
fn number(encoding: gimli::DwAte) -> gimli::DwAte {
    match encoding {
        gimli::DW_ATE_signed_char => gimli::DW_ATE_signed,
        gimli::DW_ATE_unsigned_char | gimli::DW_ATE_boolean | gimli::DW_ATE_UTF | gimli::DW_ATE_address => {
            gimli::DW_ATE_unsigned
        }
        other => other,
    }
}

/// A register's or memory's bits as a value of a type.
pub(super) fn typed(entry: &Entry<'_>, offset: UnitOffset<usize>, value: u128) -> Result<Value, Reason> {
    let word = value as u64;
    Ok(match base_type(entry, offset)? {
        ValueType::Generic => Value::Generic(word),
        ValueType::F32 => Value::F32(f32::from_bits(word as u32)),
        ValueType::F64 => Value::F64(f64::from_bits(word)),
        integer => Value::from_u64(integer, word).map_err(|_| Reason::Damaged)?,
    })
}

/// Integers as a machine word, with their sign; other values as they are.
pub(super) fn untyped(value: Value) -> Value {
    value.to_u64(u64::MAX).map_or(value, Value::Generic)
}

/// The expression with all integers as machine words: what makes a typed integer has its type taken away right after. `None` when it
/// jumps, since then the places that it jumps to would have moved.
pub(super) fn without_types(
    expression: &Expression<Reader>,
    encoding: gimli::Encoding,
    is_integer: &dyn Fn(UnitOffset<usize>) -> bool,
) -> Option<Expression<Reader>> {
    let mut rest = expression.0.clone();
    let mut bytes = Vec::new();
    while !rest.is_empty() {
        let before = rest.clone();
        let operation = Operation::parse(&mut rest, encoding).ok()?;
        bytes.extend_from_slice(before.bytes().get(..before.len().checked_sub(rest.len())?)?);
        match operation {
            Operation::Bra { .. } | Operation::Skip { .. } => return None,
            Operation::Convert { base_type }
            | Operation::Reinterpret { base_type }
            | Operation::TypedLiteral { base_type, .. }
                if is_integer(base_type) =>
            {
                bytes.extend(TO_GENERIC);
            }
            _ => {}
        }
    }
    Some(Expression(EndianArcSlice::new(bytes.into(), LittleEndian)))
}

/// The expression with what it computes as its value.
pub(super) fn as_value(expression: &Expression<Reader>) -> Expression<Reader> {
    let bytes: Vec<u8> = expression.0.bytes().iter().copied().chain([gimli::DW_OP_stack_value.0]).collect();
    Expression(EndianArcSlice::new(bytes.into(), LittleEndian))
}

/// The bytes of a value, integers with room for larger types.
pub(super) fn bytes(value: Value) -> Vec<u8> {
    match value {
        Value::Generic(value) | Value::U64(value) => value.to_le_bytes().to_vec(),
        Value::I8(value) => i64::from(value).to_le_bytes().to_vec(),
        Value::U8(value) => u64::from(value).to_le_bytes().to_vec(),
        Value::I16(value) => i64::from(value).to_le_bytes().to_vec(),
        Value::U16(value) => u64::from(value).to_le_bytes().to_vec(),
        Value::I32(value) => i64::from(value).to_le_bytes().to_vec(),
        Value::U32(value) => u64::from(value).to_le_bytes().to_vec(),
        Value::I64(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use gimli::{DW_OP_convert, DW_OP_lit5, DW_OP_neg, DW_OP_plus, DW_OP_skip, DW_OP_stack_value};
    use gimli::{Encoding, EvaluationResult, Format, Location};

    use super::*;

    const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 5, address_size: 8 };

    /// A number of 32 bits with a sign, in these tests.
    const SHORT: u8 = 7;

    fn expression(bytes: &[u8]) -> Expression<Reader> {
        Expression(EndianArcSlice::new(bytes.into(), LittleEndian))
    }

    fn value(expression: Expression<Reader>) -> Result<Value, gimli::Error> {
        let mut evaluation = expression.evaluation(ENCODING);
        let mut result = evaluation.evaluate()?;
        while let EvaluationResult::RequiresBaseType(offset) = result {
            let of = if offset.0 == 0 { ValueType::Generic } else { ValueType::I32 };
            result = evaluation.resume_with_base_type(of)?;
        }
        match evaluation.as_result()[0].location {
            Location::Value { value } => Ok(value),
            _ => panic!("no value"),
        }
    }

    #[test]
    fn values_with_and_without_a_type_are_added() {
        let mixed = [
            DW_OP_lit5.0,
            DW_OP_lit5.0,
            DW_OP_neg.0,
            DW_OP_convert.0,
            SHORT,
            DW_OP_plus.0,
            DW_OP_stack_value.0,
        ];
        assert_eq!(value(expression(&mixed)), Err(gimli::Error::TypeMismatch));
        let plain = without_types(&expression(&mixed), ENCODING, &|_| true).unwrap();
        assert_eq!(value(plain), Ok(Value::Generic(0)));
    }

    #[test]
    fn an_expression_that_jumps_keeps_its_types() {
        let jumping = [DW_OP_skip.0, 0, 0, DW_OP_lit5.0, DW_OP_stack_value.0];
        assert!(without_types(&expression(&jumping), ENCODING, &|_| true).is_none());
    }
}
