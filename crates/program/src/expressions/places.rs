//! What an expression reads from the guest.

use std::ops::Range;

use super::evaluate::{Evaluation, Operand, Outcome};
use super::numbers::{Basic, Number};
use super::shape::{Form, Shape};
use super::{EvalError, EvalErrorKind};
use crate::types::{Record, TypeKind};
use crate::values::{Contents, Missing, NoContents, float_text, integer};
use crate::variables::{Piece, Place};

/// Unnamed members and base classes inside of each other.
const DEEPEST: usize = 16;

/// Something that has a place.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub shape: Shape,
    pub place: Place,
    /// Of a bit-field: its first bit in the bytes at the place, and how many there are.
    pub bits: Option<(u64, u64)>,
}

impl Located {
    /// The place that is told: a bit-field is a piece.
    pub fn told_place(&self) -> Place {
        match self.bits {
            None => self.place.clone(),
            Some((first_bit, bits)) => Place::Pieces(part(&self.place, first_bit, bits)),
        }
    }
}

/// Some bits of a place, as pieces.
fn part(place: &Place, first_bit: u64, bits: u64) -> Vec<Piece> {
    let Place::Pieces(pieces) = place else {
        return vec![Piece { place: place.clone(), bits, first_bit }];
    };
    let end = first_bit.saturating_add(bits);
    let mut at = 0u64;
    let mut parts = Vec::new();
    for piece in pieces {
        let (start, stop) = (at.max(first_bit), at.saturating_add(piece.bits).min(end));
        if start < stop {
            parts.push(Piece {
                place: piece.place.clone(),
                bits: stop - start,
                first_bit: piece.first_bit.saturating_add(start - at),
            });
        }
        at = at.saturating_add(piece.bits);
    }
    parts
}

/// Some bytes of a place.
fn bytes_of(place: &Place, offset: u64, size: u64) -> Place {
    match place {
        Place::Memory(address) => Place::Memory(address.wrapping_add(offset)),
        Place::Register(_) if offset == 0 => place.clone(),
        Place::Register(_) | Place::Pieces(_) | Place::Constant(_) => {
            Place::Pieces(part(place, offset.saturating_mul(8), size.saturating_mul(8)))
        }
        Place::ImplicitPointer | Place::OptimizedOut | Place::Unavailable(_) => place.clone(),
    }
}

impl Evaluation<'_> {
    /// The value at a place: a number or a pointer. An array is a pointer to its first element.
    pub fn load(&self, from: &Located, at: &Range<usize>) -> Outcome<Operand> {
        match self.form(&from.shape) {
            Form::Number(basic) => {
                let value = self.number(from, basic, at)?;
                Ok(Operand::Number(value, from.bits.map_or(basic, |(_, bits)| bit_field_type(basic, bits))))
            }
            Form::Pointer(to) | Form::Reference(to) => {
                let Number::Integer(address) = self.number(from, Basic::SIZE, at)? else {
                    return Err(self.senseless(at, "a pointer is no whole number".to_owned()));
                };
                Ok(Operand::Pointer { to, address: address as u64 })
            }
            Form::Array { element, .. } => match from.place {
                Place::Memory(address) => Ok(Operand::Pointer { to: element, address }),
                _ => Err(self.unavailable(at, "it is not in memory".to_owned())),
            },
            Form::Record(..) => {
                let message =
                    format!("`{}` has members, and no value of its own; name one", self.part_of(at));
                Err(self.senseless(at, message))
            }
            Form::Other => {
                let message = format!("`{}` has a type that cannot be computed with", self.part_of(at));
                Err(self.senseless(at, message))
            }
        }
    }

    fn number(&self, from: &Located, basic: Basic, at: &Range<usize>) -> Outcome<Number> {
        let size = match from.bits {
            Some((first, bits)) => first.saturating_add(bits).div_ceil(8),
            None => basic.size(),
        };
        if let Place::Memory(address) = from.place
            && self.state.is_forbidden(address)
        {
            return Err(self.unavailable(at, format!("{address:#x} is outside of every block of the heap")));
        }
        let contents = Contents::read(&from.place, size, Some(self.frame), self.state);
        let contents = contents.map_err(|reason| self.unavailable(at, no_contents(&reason)))?;
        let bytes = contents.get(0, usize::try_from(size).unwrap_or(0));
        let bytes = bytes.map_err(|missing| self.unavailable(at, missing_reason(missing).to_owned()))?;
        let known = match (from.bits, basic) {
            (Some((first, bits)), _) => bit_field(bytes, first, bits, basic),
            (None, Basic::Bool) => integer(bytes, false).map(Number::Integer),
            (None, Basic::Integer { signed, .. }) => integer(bytes, signed).map(Number::Integer),
            (None, Basic::Float) => {
                bytes.try_into().ok().map(|bytes| Number::Float(f64::from(f32::from_le_bytes(bytes))))
            }
            (None, Basic::Double) => {
                bytes.try_into().ok().map(|bytes| Number::Float(f64::from_le_bytes(bytes)))
            }
            (None, Basic::LongDouble) => {
                let text = float_text(bytes, false).unwrap_or_default();
                // What has no digits is no number.
                Some(Number::Float(text.parse().unwrap_or(f64::NAN)))
            }
        };
        known.ok_or_else(|| self.unavailable(at, "its form is not known".to_owned()))
    }

    /// What a pointer leads to.
    pub fn follow(&self, to: Option<Shape>, address: u64, at: &Range<usize>) -> Outcome<Operand> {
        let Some(shape) = to else {
            let message = format!("`{}` is a pointer to void; cast it to another", self.part_of(at));
            return Err(self.senseless(at, message));
        };
        self.located(Located { shape, place: Place::Memory(address), bits: None }, at)
    }

    /// Something at a place; of a reference, what it refers to.
    pub fn located(&self, found: Located, at: &Range<usize>) -> Outcome<Operand> {
        match self.form(&found.shape) {
            Form::Reference(to) => match self.load(&found, at)? {
                Operand::Pointer { address, .. } => {
                    let shape = to.ok_or_else(|| self.senseless(at, "a reference to nothing".to_owned()))?;
                    Ok(Operand::Place(Located { shape, place: Place::Memory(address), bits: None }))
                }
                other => Ok(other),
            },
            _ => Ok(Operand::Place(found)),
        }
    }

    /// An element of something that is not in memory as a whole, or that is an array or a pointer.
    pub fn element(&self, of: Operand, index: i128, at: &Range<usize>) -> Outcome<Operand> {
        if let Operand::Place(found) = &of
            && let Form::Array { element: Some(shape), .. } = self.form(&found.shape)
            && !matches!(found.place, Place::Memory(_))
        {
            let size = self.size_or_error(&shape, at)?;
            let offset = u64::try_from(index).ok().and_then(|index| index.checked_mul(size));
            let offset =
                offset.ok_or_else(|| self.unavailable(at, "it is outside of the array".to_owned()))?;
            let place = bytes_of(&found.place, offset, size);
            return self.located(Located { shape, place, bits: None }, at);
        }
        let Operand::Pointer { to, address } = self.value(of, at)? else {
            let message = "only arrays and pointers have elements".to_owned();
            return Err(self.senseless(at, message));
        };
        let address = self.moved(to.as_ref(), address, index, at)?;
        self.follow(to, address, at)
    }

    /// The address of the element so many elements on.
    pub fn moved(&self, to: Option<&Shape>, address: u64, by: i128, at: &Range<usize>) -> Outcome<u64> {
        // As compilers do, void counts as a byte.
        let size = to.map_or(Ok(1), |shape| self.size_or_error(shape, at))?;
        Ok(address.wrapping_add((by as u64).wrapping_mul(size)))
    }

    pub fn size_or_error(&self, shape: &Shape, at: &Range<usize>) -> Outcome<u64> {
        self.size(shape).ok_or_else(|| {
            let name = self.type_name(Some(shape));
            self.senseless(at, format!("how large a `{name}` is, is not known"))
        })
    }

    /// A member of a record, or of one that a pointer leads to.
    pub fn member(&self, of: Operand, name: &str, at: &Range<usize>) -> Outcome<Operand> {
        let of = match of {
            Operand::Place(found) => match self.form(&found.shape) {
                Form::Pointer(to) => match self.load(&found, at)? {
                    Operand::Pointer { address, .. } => self.follow(to, address, at)?,
                    other => other,
                },
                _ => Operand::Place(found),
            },
            Operand::Pointer { to, address } => self.follow(to, address, at)?,
            other => other,
        };
        let Operand::Place(found) = of else {
            return Err(self.senseless(at, format!("what has no members has no `{name}`")));
        };
        let Form::Record(id, record) = self.form(&found.shape) else {
            let message = format!("a `{}` has no members", self.type_name(Some(&found.shape)));
            return Err(self.senseless(at, message));
        };
        let TypeKind::Record(members) = &record.kind else {
            return Err(self.senseless(at, "what has no members".to_owned()));
        };
        if members.is_declaration {
            let message =
                format!("the members of `{}` are not known", self.type_name(Some(&Shape::Typed(id))));
            return Err(self.senseless(at, message));
        }
        let mut names = Vec::new();
        if let Some(found) = self.find_member(members, name, &found, &mut names, 0) {
            return self.located(found, at);
        }
        let class = record.name.as_deref().unwrap_or_default();
        if let Some(variable) = self.program.find_globals(&format!("{class}::{name}")).first() {
            return self.variable(variable, at);
        }
        let close = crate::near::nearest(names.iter().map(String::as_str), name);
        let of = self.type_name(Some(&found.shape));
        let kind = EvalErrorKind::NoMember { of, name: name.to_owned(), close };
        Err(EvalError { at: at.clone(), kind })
    }

    /// Also in members without a name and in base classes.
    fn find_member(
        &self,
        record: &Record,
        name: &str,
        within: &Located,
        names: &mut Vec<String>,
        depth: usize,
    ) -> Option<Located> {
        let mut unnamed = Vec::new();
        for member in record.members.iter().filter(|member| !member.is_static && !member.is_virtual) {
            let Some(of) = member.of else { continue };
            let found = || {
                let size = self.size(&Shape::Typed(of)).unwrap_or(0);
                match member.bits {
                    Some((first, bits)) => Located {
                        shape: Shape::Typed(of),
                        place: bytes_of(
                            &within.place,
                            first / 8,
                            (first % 8).saturating_add(bits).div_ceil(8),
                        ),
                        bits: Some((first % 8, bits)),
                    },
                    None => Located {
                        shape: Shape::Typed(of),
                        place: bytes_of(&within.place, member.offset, size),
                        bits: None,
                    },
                }
            };
            match &member.name {
                Some(own) if !member.is_base => {
                    if own == name {
                        return Some(found());
                    }
                    names.push(own.clone());
                }
                _ => unnamed.push(found()),
            }
        }
        if depth == DEEPEST {
            return None;
        }
        unnamed.into_iter().find_map(|inner| {
            let Form::Record(_, found) = self.form(&inner.shape) else { return None };
            let TypeKind::Record(record) = &found.kind else { return None };
            self.find_member(record, name, &inner, names, depth + 1)
        })
    }
}

/// A bit-field whose values all fit in an int is one as soon as it is computed with.
fn bit_field_type(basic: Basic, bits: u64) -> Basic {
    match basic {
        Basic::Integer { size: ..=4, signed } if bits < 32 || signed => Basic::INT,
        other => other,
    }
}

fn bit_field(bytes: &[u8], first: u64, bits: u64, basic: Basic) -> Option<Number> {
    let whole = integer(bytes, false)?;
    let unused = 128u64.checked_sub(bits).filter(|unused| *unused < 128)?;
    let moved = (whole as u128).checked_shr(u32::try_from(first).ok()?)? << unused;
    let is_signed = matches!(basic, Basic::Integer { signed: true, .. });
    Some(Number::Integer(if is_signed { moved as i128 >> unused } else { (moved >> unused) as i128 }))
}

fn no_contents(reason: &NoContents) -> String {
    match reason {
        NoContents::OptimizedOut => missing_reason(Missing::OptimizedOut).to_owned(),
        NoContents::NotSaved => missing_reason(Missing::NotSaved).to_owned(),
        NoContents::Synthetic => missing_reason(Missing::Synthetic).to_owned(),
        NoContents::Failed(reason) => reason.clone(),
    }
}

fn missing_reason(missing: Missing) -> &'static str {
    match missing {
        Missing::OptimizedOut => "the compiler has optimised it out",
        Missing::NotSaved => "a called function may have overwritten its register",
        Missing::Synthetic => "it points to something that the compiler has optimised out",
    }
}
