//! From an entry of the debug information to a type.

use gimli::AttributeValue;

use super::record;
use super::{
    Dimension, Encoding, Enumerator, Indirection, Keyword, Language, Qualifier, Type, TypeId, TypeKind, Types,
};
use crate::entries::{DEEPEST, Debug, Die, Entry};

/// Real enumerations and parameter lists are far shorter.
const MOST_PARTS: usize = 1 << 16;

pub(super) fn read(types: &Types<'_>, die: Die) -> Type {
    let unknown = Type { name: None, size: None, kind: TypeKind::Unknown, language: Language::C };
    let Some(entry) = definition(types, die) else { return unknown };
    let name = entry.qualified_name();
    let language = language(types.debug, entry.die.unit);
    let of = entry.refers(gimli::DW_AT_type).map(|die| types.id(die));
    let size = entry.unsigned(gimli::DW_AT_byte_size);
    let kind = match entry.tag() {
        gimli::DW_TAG_base_type => TypeKind::Base(encoding(&entry)),
        gimli::DW_TAG_pointer_type => TypeKind::Pointer { to: of, indirection: Indirection::Pointer },
        gimli::DW_TAG_reference_type => TypeKind::Pointer { to: of, indirection: Indirection::Reference },
        gimli::DW_TAG_rvalue_reference_type => {
            TypeKind::Pointer { to: of, indirection: Indirection::RvalueReference }
        }
        gimli::DW_TAG_ptr_to_member_type => {
            let class = entry.refers(gimli::DW_AT_containing_type).map(|die| types.id(die));
            TypeKind::MemberPointer { to: of, class }
        }
        gimli::DW_TAG_const_type => TypeKind::Qualified { qualifier: Qualifier::Const, of },
        gimli::DW_TAG_volatile_type => TypeKind::Qualified { qualifier: Qualifier::Volatile, of },
        gimli::DW_TAG_restrict_type => TypeKind::Qualified { qualifier: Qualifier::Restrict, of },
        gimli::DW_TAG_atomic_type => TypeKind::Qualified { qualifier: Qualifier::Atomic, of },
        gimli::DW_TAG_typedef | gimli::DW_TAG_template_alias => TypeKind::Typedef { of },
        gimli::DW_TAG_array_type => array(&entry, of),
        gimli::DW_TAG_structure_type => TypeKind::Record(record::read(types, &entry, Keyword::Struct)),
        gimli::DW_TAG_class_type => TypeKind::Record(record::read(types, &entry, Keyword::Class)),
        gimli::DW_TAG_union_type => TypeKind::Record(record::read(types, &entry, Keyword::Union)),
        gimli::DW_TAG_enumeration_type => enumeration(&entry, of, language),
        gimli::DW_TAG_subroutine_type | gimli::DW_TAG_subprogram => function(types, &entry, of),
        gimli::DW_TAG_unspecified_type => TypeKind::Unspecified,
        _ => TypeKind::Unknown,
    };
    let size = match kind {
        TypeKind::Pointer { .. } => Some(size.unwrap_or(8)),
        TypeKind::MemberPointer { .. } => Some(member_pointer_size(&entry)),
        TypeKind::Array { .. } | TypeKind::Typedef { .. } | TypeKind::Qualified { .. } => None,
        _ => size,
    };
    Type { name, size, kind, language }
}

/// The entry that says most about a type: where only a declaration is here, the definition elsewhere.
fn definition<'a>(types: &Types<'a>, die: Die) -> Option<Entry<'a>> {
    let mut entry = types.debug.entry(die)?;
    if let Some(definition) = entry.refers(gimli::DW_AT_signature).and_then(|die| types.debug.entry(die)) {
        entry = definition;
    }
    if !entry.flag(gimli::DW_AT_declaration) {
        return Some(entry);
    }
    let Some(name) = entry.qualified_name() else { return Some(entry) };
    let candidates = types.debug.names().types(&name);
    let same_kind = candidates
        .iter()
        .filter_map(|die| types.debug.entry(*die))
        .filter(|other| other.tag() == entry.tag() || is_class(other.tag()) && is_class(entry.tag()));
    let mut same_kind: Vec<Entry<'a>> = same_kind.collect();
    let in_unit = same_kind.iter().position(|other| other.die.unit == entry.die.unit);
    if same_kind.is_empty() { Some(entry) } else { Some(same_kind.swap_remove(in_unit.unwrap_or(0))) }
}

fn is_class(tag: gimli::DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type)
}

pub(crate) fn language(debug: Debug<'_>, unit: u32) -> Language {
    if debug.is_rust(unit) {
        Language::Rust
    } else if debug.is_cpp(unit) {
        Language::Cpp
    } else {
        Language::C
    }
}

fn encoding(entry: &Entry<'_>) -> Encoding {
    let Some(AttributeValue::Encoding(encoding)) = entry.attribute(gimli::DW_AT_encoding) else {
        return Encoding::Other;
    };
    match encoding {
        gimli::DW_ATE_boolean => Encoding::Boolean,
        gimli::DW_ATE_signed => Encoding::Signed,
        gimli::DW_ATE_unsigned | gimli::DW_ATE_address => Encoding::Unsigned,
        gimli::DW_ATE_signed_char => Encoding::SignedCharacter,
        gimli::DW_ATE_unsigned_char => Encoding::UnsignedCharacter,
        gimli::DW_ATE_UTF | gimli::DW_ATE_UCS | gimli::DW_ATE_ASCII => Encoding::Unicode,
        gimli::DW_ATE_float => Encoding::Float,
        gimli::DW_ATE_complex_float => Encoding::ComplexFloat,
        _ => Encoding::Other,
    }
}

fn array(entry: &Entry<'_>, element: Option<TypeId>) -> TypeKind {
    let mut dimensions: Vec<Dimension> = Vec::new();
    for child in entry.children() {
        if child.tag() == gimli::DW_TAG_subrange_type {
            dimensions.push(dimension(&child));
        }
    }
    if dimensions.is_empty() {
        dimensions.push(Dimension { count: None, computed: None });
    }
    TypeKind::Array { element, dimensions, is_vector: entry.flag(gimli::DW_AT_GNU_vector) }
}

fn dimension(subrange: &Entry<'_>) -> Dimension {
    let lower = subrange.unsigned(gimli::DW_AT_lower_bound).unwrap_or(0);
    let by_count = subrange.unsigned(gimli::DW_AT_count);
    // An array without elements has an upper bound of -1, in as many bits as the compiler liked.
    let by_bound = || match subrange.attribute(gimli::DW_AT_upper_bound)? {
        AttributeValue::Sdata(-1) | AttributeValue::Data8(u64::MAX) | AttributeValue::Udata(u64::MAX) => {
            Some(0)
        }
        value => value.udata_value()?.checked_sub(lower)?.checked_add(1),
    };
    let count = by_count.or_else(by_bound);
    let is_computed = subrange.has(gimli::DW_AT_upper_bound) || subrange.has(gimli::DW_AT_count);
    Dimension { count, computed: (count.is_none() && is_computed).then_some(subrange.die) }
}

fn enumeration(entry: &Entry<'_>, underlying: Option<TypeId>, language: Language) -> TypeKind {
    let is_class = entry.flag(gimli::DW_AT_enum_class);
    let prefix = match (language, is_class) {
        (Language::Cpp, true) => entry.qualified_name(),
        (Language::Cpp, false) => entry.qualified_name().and_then(|name| {
            let own = entry.own_name()?;
            Some(name.strip_suffix(&own)?.strip_suffix("::")?.to_owned())
        }),
        _ => None,
    };
    let base = stripped(entry, entry.refers(gimli::DW_AT_type)).map(|base| encoding(&base));
    let is_unsigned = matches!(
        base,
        Some(Encoding::Unsigned | Encoding::UnsignedCharacter | Encoding::Boolean | Encoding::Unicode)
    );
    let mut enumerators = Vec::new();
    for child in entry.children() {
        if child.tag() != gimli::DW_TAG_enumerator || enumerators.len() == MOST_PARTS {
            continue;
        }
        let (Some(name), Some(value)) = (child.own_name(), constant(&child, is_unsigned)) else { continue };
        let name = match &prefix {
            Some(prefix) => format!("{prefix}::{name}"),
            None => name,
        };
        enumerators.push(Enumerator { name, value });
    }
    let is_signed = if underlying.is_some() && !is_unsigned {
        true
    } else {
        enumerators.iter().any(|enumerator| enumerator.value < 0)
    };
    let is_declaration = entry.flag(gimli::DW_AT_declaration);
    TypeKind::Enum { enumerators, underlying, is_class, is_declaration, is_signed }
}

/// DW_AT_const_value of an integer. Of the fixed forms only the use says whether they have a sign.
fn constant(entry: &Entry<'_>, is_unsigned: bool) -> Option<i128> {
    Some(match entry.attribute(gimli::DW_AT_const_value)? {
        AttributeValue::Sdata(value) if is_unsigned => i128::from(value as u64),
        AttributeValue::Sdata(value) => i128::from(value),
        AttributeValue::Udata(value) => i128::from(value),
        AttributeValue::Data1(value) if is_unsigned => i128::from(value),
        AttributeValue::Data2(value) if is_unsigned => i128::from(value),
        AttributeValue::Data4(value) if is_unsigned => i128::from(value),
        AttributeValue::Data8(value) if is_unsigned => i128::from(value),
        AttributeValue::Data1(value) => i128::from(value as i8),
        AttributeValue::Data2(value) => i128::from(value as i16),
        AttributeValue::Data4(value) => i128::from(value as i32),
        AttributeValue::Data8(value) => i128::from(value as i64),
        _ => return None,
    })
}

fn function(types: &Types<'_>, entry: &Entry<'_>, returns: Option<TypeId>) -> TypeKind {
    let (parameters, is_variadic) = parameters(types, entry);
    let returns = returns.or_else(|| entry.typed().map(|die| types.id(die)));
    let is_prototyped = entry.chain().iter().any(|entry| entry.flag(gimli::DW_AT_prototyped));
    TypeKind::Function { returns, parameters, is_variadic, is_prototyped }
}

/// The same without those that the compiler adds, as `this`.
pub(super) fn explicit_parameters(types: &Types<'_>, entry: &Entry<'_>) -> (Vec<Option<TypeId>>, bool) {
    let (_, is_variadic) = parameters(types, entry);
    let is_explicit = |child: &Entry<'_>| {
        child.tag() == gimli::DW_TAG_formal_parameter && !child.flag(gimli::DW_AT_artificial)
    };
    let explicit = entry.children().into_iter().filter(is_explicit).take(MOST_PARTS);
    (explicit.map(|child| child.typed().map(|die| types.id(die))).collect(), is_variadic)
}

/// The types of a function's parameters, and whether more may follow.
fn parameters(types: &Types<'_>, entry: &Entry<'_>) -> (Vec<Option<TypeId>>, bool) {
    let mut parameters = Vec::new();
    let mut is_variadic = false;
    for child in entry.children() {
        match child.tag() {
            gimli::DW_TAG_formal_parameter if parameters.len() < MOST_PARTS => {
                parameters.push(child.typed().map(|die| types.id(die)));
            }
            gimli::DW_TAG_unspecified_parameters => is_variadic = true,
            _ => {}
        }
    }
    (parameters, is_variadic)
}

/// A pointer to a member function is an address and an adjustment of `this`.
fn member_pointer_size(entry: &Entry<'_>) -> u64 {
    let to = stripped(entry, entry.refers(gimli::DW_AT_type));
    if to.is_some_and(|to| to.tag() == gimli::DW_TAG_subroutine_type) { 16 } else { 8 }
}

/// The entry below typedefs and qualifiers. Reading a type must not read another: that one may be itself.
pub(super) fn stripped<'a>(from: &Entry<'a>, die: Option<Die>) -> Option<Entry<'a>> {
    let mut entry = from.debug.entry(die?)?;
    for _ in 0..DEEPEST {
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => entry = from.debug.entry(entry.refers(gimli::DW_AT_type)?)?,
            _ => return Some(entry),
        }
    }
    None
}
