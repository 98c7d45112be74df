//! The part of an object that some bytes are.

use std::ops::Range;

use super::walk::{element_path, subscripts};
use super::{DEEPEST, Elements, Names, Object};
use crate::types::{Keyword, Language, Member, Record, TypeId, TypeKind, Types};

impl Names<'_> {
    /// The innermost array within an object that holds an address.
    pub(super) fn array_inside(&self, object: &Object, address: u64) -> Option<Elements> {
        let types = self.program.types(object.of)?;
        let size = (object.size / object.count.max(1)).max(1);
        let offset = address.wrapping_sub(object.address);
        let start = offset / size * size;
        let inner = array_part(&types, Some(object.of), offset - start, 0).map(|inner| inner.moved(start));
        let whole = (object.count > 1).then_some(Elements { range: 0..object.size, size });
        inner.or(whole).map(|found| found.moved(object.address))
    }

    /// The name of bytes that begin inside of an object.
    pub(super) fn inside(&self, object: &Object, address: u64, size: u64) -> String {
        let Some(types) = self.program.types(object.of) else { return object.path.clone() };
        let stride = (object.size / object.count.max(1)).max(1);
        let offset = address.wrapping_sub(object.address);
        let (element, within) = (offset / stride, offset % stride);
        let is_rust = types.strip(Some(object.of)).is_some_and(|(_, found)| found.language == Language::Rust);
        let base = element_path(&object.path, object.through_pointer, object.count, element, is_rust);
        base.member(&part(&types, Some(object.of), within, size, 0))
    }
}

/// The innermost array of a type that holds the byte at an offset; its range counts from the start of what has the type.
fn array_part(types: &Types<'_>, of: Option<TypeId>, offset: u64, depth: usize) -> Option<Elements> {
    let (_, found) = types.strip(of).filter(|_| depth <= DEEPEST)?;
    match &found.kind {
        TypeKind::Record(record) => {
            let member = holding(types, record, offset, 1).next()?;
            let inner = array_part(types, member.of, offset.wrapping_sub(member.offset), depth + 1)?;
            Some(inner.moved(member.offset))
        }
        TypeKind::Array { element, .. } => {
            let size = types.size(*element).filter(|size| *size > 0)?;
            let start = offset / size * size;
            let inner = array_part(types, *element, offset - start, depth + 1);
            let whole = || Some(Elements { range: 0..types.size(of)?, size });
            inner.map(|inner| inner.moved(start)).or_else(whole)
        }
        _ => None,
    }
}

impl Elements {
    fn moved(self, by: u64) -> Elements {
        let Range { start, end } = self.range;
        Elements { range: start.saturating_add(by)..end.saturating_add(by), ..self }
    }
}

/// `.field[2].other`, or nothing when the bytes are more than one part.
fn part(types: &Types<'_>, of: Option<TypeId>, offset: u64, size: u64, depth: usize) -> String {
    let Some((_, found)) = types.strip(of) else { return String::new() };
    if depth > DEEPEST {
        return String::new();
    }
    match &found.kind {
        TypeKind::Record(record) => member_part(types, record, offset, size, depth),
        TypeKind::Array { element, dimensions, .. } => {
            let Some(one) = types.size(*element).filter(|one| *one > 0) else { return String::new() };
            let (index, within) = (offset / one, offset % one);
            if within.saturating_add(size) > one {
                return String::new();
            }
            // How long the outermost dimension is does not matter for an element's place.
            let counts: Vec<u64> =
                dimensions.iter().map(|dimension| dimension.count.unwrap_or(u64::MAX)).collect();
            format!("{}{}", subscripts(&counts, index), part(types, *element, within, size, depth + 1))
        }
        _ => String::new(),
    }
}

/// The members that hold some bytes; of a union there can be several.
fn holding<'r>(
    types: &'r Types<'_>,
    record: &'r Record,
    offset: u64,
    size: u64,
) -> impl Iterator<Item = &'r Member> + Clone {
    record.members.iter().filter(move |member| {
        let Some(length) = types.size(member.of).filter(|_| !member.is_static && member.bits.is_none())
        else {
            return false;
        };
        let end = member.offset.saturating_add(length);
        member.offset <= offset && offset.saturating_add(size) <= end
    })
}

fn member_part(types: &Types<'_>, record: &Record, offset: u64, size: u64, depth: usize) -> String {
    let exact = |member: &&Member| member.offset == offset && types.size(member.of) == Some(size);
    let mut holding = holding(types, record, offset, size);
    // Of the alternatives of a union, the one that has just this size.
    let found = match record.keyword {
        Keyword::Union => holding.clone().find(exact).or_else(|| holding.next()),
        _ => holding.next(),
    };
    let Some(member) = found else { return bit_fields(record, offset, size) };
    let rest = part(types, member.of, offset.wrapping_sub(member.offset), size, depth + 1);
    match (&member.name, member.is_base) {
        (Some(name), false) => format!(".{name}{rest}"),
        _ => rest,
    }
}

/// The bit-field in these bytes, if there is only one.
fn bit_fields(record: &Record, offset: u64, size: u64) -> String {
    let (start, end) = (offset.saturating_mul(8), offset.saturating_add(size).saturating_mul(8));
    let mut fields = record.members.iter().filter(|member| {
        member.bits.is_some_and(|(first, bits)| first < end && start < first.saturating_add(bits))
    });
    match (fields.next().and_then(|field| field.name.as_deref()), fields.next()) {
        (Some(name), None) => format!(".{name}"),
        _ => String::new(),
    }
}
