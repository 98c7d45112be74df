//! Values for readers that are programs.

use super::aggregate::bits;
use super::scalar::{integer, is_quadruple, is_signed, number};
use super::{Contents, float};
use crate::types::{Encoding, Record, Type, TypeId, TypeKind, Types};

/// So many parts a value is taken apart into; the rest is left out, and said to be.
const MOST_PARTS: usize = 4096;

const DEEPEST: usize = 32;

/// A value taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub of: Option<TypeId>,
    pub kind: ValueKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    Integer(i128),
    Boolean(bool),
    Character(u32),
    /// As it is printed: it need not fit in a float of the host.
    Float(String),
    Enum {
        value: i128,
        name: String,
    },
    Pointer(u64),
    Record(Vec<Field>),
    Array {
        elements: Vec<Value>,
        is_complete: bool,
    },
    /// Why it is not known.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// `None` for unnamed members and base classes.
    pub name: Option<String>,
    pub value: Value,
}

/// Takes a value apart.
pub(crate) struct Builder<'a> {
    pub types: Types<'a>,
    pub counts: &'a dyn Fn(&[crate::types::Dimension]) -> Vec<Option<u64>>,
    pub parts: usize,
}

impl Builder<'_> {
    pub fn value(&mut self, id: Option<TypeId>, contents: &Contents, at: usize, depth: usize) -> Value {
        self.parts += 1;
        let unknown = |reason: &str| Value { of: id, kind: ValueKind::Unknown(reason.to_owned()) };
        let Some((_, found)) = self.types.strip(id) else { return unknown("void") };
        if depth == DEEPEST || self.parts > MOST_PARTS {
            return unknown("left out");
        }
        let kind = match &found.kind {
            TypeKind::Record(record) => self.record(record, contents, at, depth),
            TypeKind::Array { element, dimensions, .. } => {
                let counts = (self.counts)(dimensions);
                self.array(*element, &counts, contents, at, depth)
            }
            _ => scalar(&found, contents, at),
        };
        Value { of: id, kind }
    }

    fn record(&mut self, record: &Record, contents: &Contents, at: usize, depth: usize) -> ValueKind {
        let mut fields = Vec::new();
        for member in record.members.iter().filter(|member| !member.is_static && !member.is_virtual) {
            let offset = usize::try_from(member.offset).unwrap_or(usize::MAX);
            let value = match member.bits {
                Some((first, size)) => self.bit_field(member.of, contents, at, first, size),
                None => self.value(member.of, contents, at.saturating_add(offset), depth + 1),
            };
            fields.push(Field { name: member.name.clone(), value });
        }
        ValueKind::Record(fields)
    }

    fn bit_field(
        &mut self,
        of: Option<TypeId>,
        contents: &Contents,
        at: usize,
        first: u64,
        size: u64,
    ) -> Value {
        let stripped = self.types.strip(of);
        let signed = stripped.as_ref().is_some_and(|(_, found)| is_signed(found));
        let kind = match bits(contents, at, first, size, signed) {
            Ok(value) => stripped.map_or(ValueKind::Integer(value), |(_, found)| plain(&found, value)),
            Err(reason) => ValueKind::Unknown(reason.to_owned()),
        };
        Value { of, kind }
    }

    fn array(
        &mut self,
        element: Option<TypeId>,
        counts: &[Option<u64>],
        contents: &Contents,
        at: usize,
        depth: usize,
    ) -> ValueKind {
        let Some((count, inner)) = counts.split_first() else {
            return self.value(element, contents, at, depth + 1).kind;
        };
        let inner_count = inner.iter().try_fold(1u64, |all, count| all.checked_mul((*count)?));
        let stride =
            self.types.size(element).zip(inner_count).and_then(|(size, inner)| size.checked_mul(inner));
        let stride = stride.and_then(|stride| usize::try_from(stride).ok()).unwrap_or(0);
        let count = usize::try_from(count.unwrap_or(0)).unwrap_or(0);
        let mut elements = Vec::new();
        for index in 0..count {
            if self.parts > MOST_PARTS {
                break;
            }
            let here = at.saturating_add(index.saturating_mul(stride));
            let kind = self.array(element, inner, contents, here, depth);
            elements.push(Value { of: element.filter(|_| inner.is_empty()), kind });
        }
        let is_complete = elements.len() == count;
        ValueKind::Array { elements, is_complete }
    }
}

fn scalar(found: &Type, contents: &Contents, at: usize) -> ValueKind {
    let size = usize::try_from(found.size.unwrap_or(0)).unwrap_or(0);
    let bytes = match contents.get(at, size) {
        Ok(bytes) => bytes,
        Err(missing) => return ValueKind::Unknown(super::print::missing_text(missing).to_owned()),
    };
    if let TypeKind::Base(Encoding::Float) = found.kind
        && let Some(text) = float::text(bytes, is_quadruple(found))
    {
        return ValueKind::Float(text);
    }
    match integer(bytes, is_signed(found)) {
        Some(value) => plain(found, value),
        None => ValueKind::Unknown("a value of an unknown form".to_owned()),
    }
}

fn plain(found: &Type, value: i128) -> ValueKind {
    match &found.kind {
        TypeKind::Pointer { .. } => ValueKind::Pointer(value as u64),
        TypeKind::Base(Encoding::Boolean) if value == 0 || value == 1 => ValueKind::Boolean(value == 1),
        TypeKind::Base(Encoding::SignedCharacter | Encoding::UnsignedCharacter | Encoding::Unicode) => {
            let mask = match found.size {
                Some(1) => 0xff,
                Some(2) => 0xffff,
                _ => 0xffff_ffff,
            };
            ValueKind::Character((value & mask) as u32)
        }
        TypeKind::Enum { .. } => {
            ValueKind::Enum { value, name: number(found, value).unwrap_or_else(|| value.to_string()) }
        }
        _ => ValueKind::Integer(value),
    }
}
