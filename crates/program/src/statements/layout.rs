//! From a type of the debug information to the shape of what it describes.

use std::sync::Arc;

use crate::statements::shape::{Kind, Member, Shape};
use crate::types::{self, Dimension, Encoding, Keyword, Record, TypeId, TypeKind, Types};

/// Types nest by value only as deep as somebody wrote them; a damaged file can make one hold itself.
const DEEPEST_TYPE: usize = 32;

/// So many parts of one type are told apart, before it is taken as a whole.
const MOST_PARTS: usize = 10_000;

/// `None` when it is not known how large something of the type is.
pub(super) fn shape(types: &Types<'_>, of: TypeId) -> Option<Shape> {
    Layout { types, parts: 0 }.shape(Some(of), DEEPEST_TYPE)
}

struct Layout<'a> {
    types: &'a Types<'a>,
    /// How many have been looked at.
    parts: usize,
}

impl Layout<'_> {
    fn shape(&mut self, of: Option<TypeId>, depth: usize) -> Option<Shape> {
        let (id, found) = self.types.strip(of)?;
        self.parts += 1;
        let deeper = depth.checked_sub(1).filter(|_| self.parts < MOST_PARTS);
        match (&found.kind, deeper) {
            (TypeKind::Array { element, dimensions, .. }, Some(depth)) => {
                let element = self.shape(*element, depth)?;
                array(element, dimensions)
            }
            (TypeKind::Record(record), Some(depth)) => {
                let (members, is_union) = (self.members(record, depth), record.keyword == Keyword::Union);
                Some(Shape { size: found.size?, kind: Kind::Record { members, is_union } })
            }
            (TypeKind::Base(encoding), _) => {
                let is_integer = !matches!(encoding, Encoding::Float | Encoding::ComplexFloat);
                Some(Shape { size: found.size?, kind: Kind::Scalar { is_integer } })
            }
            _ => Some(Shape::scalar(self.types.size(Some(id))?)),
        }
    }

    fn members(&mut self, record: &Record, depth: usize) -> Vec<Member> {
        let mut members = Vec::new();
        for member in &record.members {
            // What is inherited is not written in the braces of a C initialiser.
            if !member.is_static && !member.is_base && !member.is_virtual && self.parts < MOST_PARTS {
                members.extend(self.member(member, depth));
            }
        }
        members
    }

    fn member(&mut self, member: &types::Member, depth: usize) -> Option<Member> {
        let shape = self.shape(member.of, depth)?;
        let bytes = match member.bits {
            Some((first, size)) => first / 8..first.checked_add(size)?.div_ceil(8),
            None => member.offset..member.offset.checked_add(shape.size)?,
        };
        Some(Member { name: member.name.as_deref().map(Arc::from), bytes, shape: Arc::new(shape) })
    }
}

/// An array of arrays for each dimension but the last.
fn array(element: Shape, dimensions: &[Dimension]) -> Option<Shape> {
    if dimensions.len() > DEEPEST_TYPE {
        return None;
    }
    dimensions.iter().rev().try_fold(element, |element, dimension| {
        // One of unknown length has no elements here: it stands at the end of a structure.
        let count = dimension.count.unwrap_or(0);
        let size = element.size.checked_mul(count)?;
        Some(Shape { size, kind: Kind::Array { element: Arc::new(element), count } })
    })
}
