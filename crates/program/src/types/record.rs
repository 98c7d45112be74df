//! Members, methods and variants of structs, classes and unions.

use gimli::AttributeValue;

use super::read::{explicit_parameters, stripped};
use super::{Access, Keyword, Member, Method, Record, Types, Variant, VariantPart};
use crate::entries::Entry;

pub(super) fn read(types: &Types<'_>, entry: &Entry<'_>, keyword: Keyword) -> Record {
    let mut record = Record {
        keyword,
        is_declaration: entry.flag(gimli::DW_AT_declaration),
        members: Vec::new(),
        methods: Vec::new(),
        typedefs: Vec::new(),
        template_types: Vec::new(),
        variants: None,
    };
    let default = if keyword == Keyword::Class { Access::Private } else { Access::Public };
    for child in entry.children() {
        match child.tag() {
            gimli::DW_TAG_member | gimli::DW_TAG_inheritance => {
                record.members.push(member(types, &child, default));
            }
            // Since DWARF 5 static members are variables.
            gimli::DW_TAG_variable => {
                record.members.push(Member { is_static: true, ..member(types, &child, default) });
            }
            gimli::DW_TAG_subprogram => record.methods.extend(method(types, &child, default)),
            gimli::DW_TAG_variant_part => record.variants = Some(Box::new(variants(types, &child))),
            gimli::DW_TAG_typedef => {
                let of = child.refers(gimli::DW_AT_type).map(|die| types.id(die));
                record.typedefs.extend(child.own_name().map(|name| (name, of)));
            }
            gimli::DW_TAG_template_type_parameter => {
                let of = child.refers(gimli::DW_AT_type).map(|die| types.id(die));
                record.template_types.extend(child.own_name().map(|name| (name, of)));
            }
            _ => {}
        }
    }
    record.members.sort_by_key(|member| !member.is_base);
    record
}

fn member(types: &Types<'_>, entry: &Entry<'_>, default: Access) -> Member {
    let is_base = entry.tag() == gimli::DW_TAG_inheritance;
    let of = entry.refers(gimli::DW_AT_type).map(|die| types.id(die));
    let (offset, is_virtual) = match entry.attribute(gimli::DW_AT_data_member_location) {
        None => (0, false),
        Some(value) => match member_offset(entry, value) {
            Some(offset) => (offset, false),
            None => (0, true),
        },
    };
    Member {
        name: entry.own_name(),
        of,
        offset,
        bits: bits(entry, offset),
        is_base,
        is_virtual: is_virtual || entry.attribute(gimli::DW_AT_virtuality).is_some_and(is_virtual_value),
        // A static member of a class is a declaration.
        is_static: entry.flag(gimli::DW_AT_declaration) || entry.flag(gimli::DW_AT_external),
        is_artificial: entry.flag(gimli::DW_AT_artificial),
        access: access(entry, default),
        die: entry.die,
    }
}

/// A constant, or the simplest of expressions: add a constant to the address of the record.
fn member_offset(entry: &Entry<'_>, value: AttributeValue<crate::debug_info::Reader>) -> Option<u64> {
    match value {
        AttributeValue::Exprloc(expression) => {
            let mut operations = expression.operations(entry.unit.encoding());
            match (operations.next(), operations.next()) {
                (Ok(Some(gimli::Operation::PlusConstant { value })), Ok(None)) => Some(value),
                _ => None,
            }
        }
        value => value.udata_value(),
    }
}

/// The first bit from the start of the record, and the size in bits.
fn bits(entry: &Entry<'_>, offset: u64) -> Option<(u64, u64)> {
    let size = entry.unsigned(gimli::DW_AT_bit_size)?;
    let start = offset.checked_mul(8)?;
    if let Some(first) = entry.unsigned(gimli::DW_AT_data_bit_offset) {
        return Some((start.checked_add(first)?, size));
    }
    // Until DWARF 3 bits were counted from the most significant one of a storage unit.
    if let Some(from_top) = entry.unsigned(gimli::DW_AT_bit_offset) {
        let of = || stripped(entry, entry.refers(gimli::DW_AT_type))?.unsigned(gimli::DW_AT_byte_size);
        let storage = entry.unsigned(gimli::DW_AT_byte_size).or_else(of)?;
        let end = start.checked_add(storage.checked_mul(8)?)?.checked_sub(from_top)?;
        return Some((end.checked_sub(size)?, size));
    }
    Some((start, size))
}

fn access(entry: &Entry<'_>, default: Access) -> Access {
    match entry.attribute(gimli::DW_AT_accessibility) {
        Some(AttributeValue::Accessibility(gimli::DW_ACCESS_private)) => Access::Private,
        Some(AttributeValue::Accessibility(gimli::DW_ACCESS_protected)) => Access::Protected,
        Some(AttributeValue::Accessibility(gimli::DW_ACCESS_public)) => Access::Public,
        _ => default,
    }
}

fn is_virtual_value(value: AttributeValue<crate::debug_info::Reader>) -> bool {
    !matches!(value, AttributeValue::Virtuality(gimli::DW_VIRTUALITY_none))
}

fn method(types: &Types<'_>, entry: &Entry<'_>, default: Access) -> Option<Method> {
    let name = entry.own_name()?;
    let (parameters, is_variadic) = explicit_parameters(types, entry);
    let this = entry.children().into_iter().find(|child| child.tag() == gimli::DW_TAG_formal_parameter);
    let this = this.filter(|this| this.flag(gimli::DW_AT_artificial));
    let is_static = this.is_none();
    let is_const = this.is_some_and(|this| points_to_const(&this));
    Some(Method {
        name,
        returns: entry.refers(gimli::DW_AT_type).map(|die| types.id(die)),
        parameters,
        is_variadic,
        is_static,
        is_virtual: entry.has(gimli::DW_AT_vtable_elem_location),
        is_const,
        is_artificial: entry.flag(gimli::DW_AT_artificial),
        is_defaulted: entry.has(gimli::DW_AT_defaulted),
        is_deleted: entry.flag(gimli::DW_AT_deleted),
        access: access(entry, default),
    })
}

fn points_to_const(this: &Entry<'_>) -> bool {
    let pointer = stripped(this, this.refers(gimli::DW_AT_type));
    let to = pointer.and_then(|pointer| this.debug.entry(pointer.refers(gimli::DW_AT_type)?));
    to.is_some_and(|to| to.tag() == gimli::DW_TAG_const_type)
}

fn variants(types: &Types<'_>, part: &Entry<'_>) -> VariantPart {
    let discriminant = part.refers(gimli::DW_AT_discr).and_then(|die| part.debug.entry(die));
    let discriminant = discriminant.map(|entry| member(types, &entry, Access::Public));
    let mut found = VariantPart { discriminant, variants: Vec::new() };
    for child in part.children() {
        if child.tag() == gimli::DW_TAG_variant {
            found.variants.push(variant(types, &child));
        }
    }
    found
}

fn variant(types: &Types<'_>, entry: &Entry<'_>) -> Variant {
    let members = entry.children();
    let members = members.iter().filter(|child| child.tag() == gimli::DW_TAG_member);
    let members = members.map(|child| member(types, child, Access::Public)).collect();
    let single = discriminant_value(entry).map(|value| (value, value));
    let values = single.into_iter().chain(discriminant_list(entry)).collect();
    Variant { values, members }
}

/// Discriminants are compared as unsigned numbers of the discriminant's size.
fn discriminant_value(entry: &Entry<'_>) -> Option<i128> {
    Some(match entry.attribute(gimli::DW_AT_discr_value)? {
        AttributeValue::Sdata(value) => i128::from(value),
        AttributeValue::Block(block) => wide(&block)?,
        value => i128::from(value.udata_value()?),
    })
}

fn wide(block: &crate::debug_info::Reader) -> Option<i128> {
    let bytes = block.bytes();
    let mut wide = [0u8; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i128::from_le_bytes(wide))
}

fn discriminant_list(entry: &Entry<'_>) -> Vec<(i128, i128)> {
    let mut found = Vec::new();
    let Some(AttributeValue::Block(mut list)) = entry.attribute(gimli::DW_AT_discr_list) else {
        return found;
    };
    use gimli::Reader;
    while let Ok(kind) = list.read_u8() {
        let Ok(first) = list.read_uleb128() else { break };
        let last = match gimli::DwDsc(kind) {
            gimli::DW_DSC_range => list.read_uleb128().unwrap_or(first),
            _ => first,
        };
        found.push((i128::from(first), i128::from(last)));
    }
    found
}
