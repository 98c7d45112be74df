//! Values of Rust's types.

use super::scalar::integer;
use super::{Contents, Printer, string};
use crate::types::{Encoding, Member, Record, Type, TypeId, TypeKind, Types, Variant, VariantPart};

/// Types that are looked at to find out whether another has values; those without have few. It bounds the depth as well.
const MOST_LOOKED_AT: usize = 64;

/// The longest string that there can be; a length beyond it is none that was set. A string's place is known before its length is, so that this is often seen.
const LONGEST_STRING: u64 = i32::MAX as u64;

const TOO_LARGE: &str = "<too large to be shown>";

impl<'a> Printer<'a> {
    /// Prints what Rust writes in its own way; false when the common form will do.
    pub(super) fn rust(&mut self, types: &Types<'a>, found: &Type, contents: &Contents, at: usize) -> bool {
        let name = found.name.as_deref().unwrap_or_default();
        match &found.kind {
            TypeKind::Base(Encoding::Unsigned) if name == "()" => self.push("()"),
            TypeKind::Base(Encoding::Unicode) => return self.rust_character(contents, at),
            TypeKind::Record(record) => match &record.variants {
                Some(part) => self.rust_enum(types, name, part, contents, at),
                None if name == "&str" => return self.rust_str(types, record, contents, at),
                None if ["&[", "&mut [", "*const [", "*mut ["].iter().any(|sign| name.starts_with(sign)) => {
                    return self.rust_slice(types, name, record, contents, at);
                }
                None => self.rust_record(types, name, record, contents, at),
            },
            TypeKind::Pointer { to, .. } => return self.rust_pointer(types, *to, contents, at),
            TypeKind::Enum { enumerators, is_signed, .. } => {
                let size = usize::try_from(found.size.unwrap_or(0)).unwrap_or(0);
                let value = contents.get(at, size).ok().and_then(|bytes| integer(bytes, *is_signed));
                let known = enumerators.iter().find(|enumerator| Some(enumerator.value) == value);
                let Some(known) = known else { return false };
                self.push(&format!("{name}::{}", known.name));
            }
            _ => return false,
        }
        true
    }

    fn rust_character(&mut self, contents: &Contents, at: usize) -> bool {
        let Some(code) = contents.get(at, 4).ok().and_then(|bytes| integer(bytes, false)) else {
            return false;
        };
        let text = match u8::try_from(code) {
            Ok(byte) if byte.is_ascii_graphic() || byte == b' ' => string::character(u64::from(byte)),
            Ok(b'\n') => r"'\n'".to_owned(),
            Ok(b'\r') => r"'\r'".to_owned(),
            Ok(b'\t') => r"'\t'".to_owned(),
            Ok(0) => r"'\0'".to_owned(),
            Ok(byte) => format!(r"'\x{byte:02x}'"),
            Err(_) => format!(r"'\u{{{code:06x}}}'"),
        };
        self.push(&format!("{code} {text}"));
        true
    }

    fn rust_record(
        &mut self,
        types: &Types<'a>,
        name: &str,
        record: &Record,
        contents: &Contents,
        at: usize,
    ) {
        let members: Vec<&Member> = record.members.iter().filter(|member| !member.is_static).collect();
        let is_tuple = name.starts_with('(');
        self.push(if is_tuple { "" } else { name });
        if members.is_empty() {
            self.push(if is_tuple { "()" } else { "" });
            return;
        }
        self.push(if is_tuple { "" } else { " " });
        self.rust_fields(types, &members, contents, at);
    }

    /// `(1, 2)` or `{x: 1, y: 2}`.
    fn rust_fields(&mut self, types: &Types<'a>, members: &[&Member], contents: &Contents, at: usize) {
        let is_tuple = members.iter().all(|member| member.is_position());
        self.push(if is_tuple { "(" } else { "{" });
        for (index, member) in members.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            if !is_tuple {
                self.push(&format!("{}: ", member.name.as_deref().unwrap_or_default()));
            }
            self.member(types, member, contents, at);
        }
        self.push(if is_tuple { ")" } else { "}" });
    }

    fn rust_enum(
        &mut self,
        types: &Types<'a>,
        name: &str,
        part: &VariantPart,
        contents: &Contents,
        at: usize,
    ) {
        let Some(member) =
            self.variant(types, part, contents, at).and_then(|variant| variant.members.first())
        else {
            self.push(&format!("{name} {{<unknown variant>}}"));
            return;
        };
        self.push(&format!("{name}::{}", member.name.as_deref().unwrap_or_default()));
        let Some((_, of)) = types.strip(member.of) else { return };
        let TypeKind::Record(record) = &of.kind else { return };
        let members: Vec<&Member> = record.members.iter().filter(|member| !member.is_static).collect();
        if !members.is_empty() {
            let offset = usize::try_from(member.offset).unwrap_or(usize::MAX);
            self.rust_fields(types, &members, contents, at.saturating_add(offset));
        }
    }

    /// The variant that the discriminant means.
    fn variant<'v>(
        &self,
        types: &Types<'a>,
        part: &'v VariantPart,
        contents: &Contents,
        at: usize,
    ) -> Option<&'v Variant> {
        let Some(discriminant) = &part.discriminant else { return only_possible(types, part) };
        let size = usize::try_from(types.size(discriminant.of)?).ok()?;
        let offset = usize::try_from(discriminant.offset).ok()?;
        let bytes = contents.get(at.saturating_add(offset), size).ok()?;
        let value = integer(bytes, false)?;
        let signed = integer(bytes, true)?;
        let holds = |variant: &&Variant| {
            let mut values = variant.values.iter();
            values
                .any(|(first, last)| (*first..=*last).contains(&value) || (*first..=*last).contains(&signed))
        };
        let default = || part.variants.iter().find(|variant| variant.values.is_empty());
        part.variants.iter().find(holds).or_else(default)
    }

    /// Pointer and length of a slice, and the type that the pointer points to.
    fn slice_parts(
        &self,
        types: &Types<'a>,
        record: &Record,
        contents: &Contents,
        at: usize,
    ) -> Option<(u64, u64, Option<TypeId>)> {
        let word = |name: &str| {
            let member = record.members.iter().find(|member| member.name.as_deref() == Some(name))?;
            let offset = usize::try_from(member.offset).ok()?;
            let bytes = contents.get(at.saturating_add(offset), 8).ok()?;
            Some((integer(bytes, false)? as u64, member.of))
        };
        let (pointer, of) = word("data_ptr")?;
        let (length, _) = word("length")?;
        let (_, pointer_type) = types.strip(of)?;
        let TypeKind::Pointer { to, .. } = pointer_type.kind else { return None };
        Some((pointer, length, to))
    }

    fn rust_str(&mut self, types: &Types<'a>, record: &Record, contents: &Contents, at: usize) -> bool {
        let Some((pointer, length, _)) = self.slice_parts(types, record, contents, at) else { return false };
        if length > LONGEST_STRING {
            self.push(TOO_LARGE);
            return true;
        }
        let text = self.rust_text(pointer, length, "");
        self.push(&text);
        true
    }

    /// The beginning of what a pointer to bytes points to, as text.
    fn rust_text(&self, pointer: u64, length: u64, prefix: &str) -> String {
        let most = self.limits.elements as u64;
        let size = usize::try_from(length.min(most)).unwrap_or(0);
        match Contents::from_memory(pointer, size, self.state) {
            Ok(contents) => {
                let codes = string::codes(&contents.bytes, 1);
                string::string(&codes, prefix, length > most, &self.limits)
            }
            Err(reason) => format!("{prefix}{}", reason.text()),
        }
    }

    fn rust_slice(
        &mut self,
        types: &Types<'a>,
        name: &str,
        record: &Record,
        contents: &Contents,
        at: usize,
    ) -> bool {
        let Some((pointer, length, to)) = self.slice_parts(types, record, contents, at) else { return false };
        self.push(name);
        self.push(" ");
        let size = types.size(to).unwrap_or(0).checked_mul(length);
        let size =
            size.filter(|size| *size <= super::contents::LARGEST).and_then(|size| usize::try_from(size).ok());
        let Some(size) = size else {
            self.push(TOO_LARGE);
            return true;
        };
        match Contents::from_memory(pointer, size, self.state) {
            Ok(contents) => self.array(types, to, &[Some(length)], &contents, 0),
            Err(reason) => self.push(&reason.text()),
        }
        true
    }

    fn rust_pointer(
        &mut self,
        types: &Types<'a>,
        to: Option<TypeId>,
        contents: &Contents,
        at: usize,
    ) -> bool {
        let Some(address) = contents.get(at, 8).ok().and_then(|bytes| integer(bytes, false)) else {
            return false;
        };
        let address = address as u64;
        // A pointer to bytes is shown with what it points to.
        if let Some((_, array)) = types.strip(to)
            && let TypeKind::Array { element, dimensions, .. } = &array.kind
            && let [Some(count)] = self.counts(dimensions)[..]
            && types.strip(*element).is_some_and(|(_, element)| element.name.as_deref() == Some("u8"))
        {
            let text = self.rust_text(address, count, "b");
            self.push(&format!("{address:#x} {text}"));
        } else {
            self.address(address);
        }
        true
    }
}

/// Without a discriminant there is one variant, or all but one hold something of which there are no values.
fn only_possible<'v>(types: &Types<'_>, part: &'v VariantPart) -> Option<&'v Variant> {
    if let [only] = part.variants.as_slice() {
        return Some(only);
    }
    let mut left = MOST_LOOKED_AT;
    let mut possible =
        part.variants.iter().filter(|variant| are_possible(types, &variant.members, &mut left));
    possible.next().filter(|_| possible.next().is_none())
}

fn are_possible(types: &Types<'_>, members: &[Member], left: &mut usize) -> bool {
    members.iter().filter(|member| !member.is_static).all(|member| has_values(types, member.of, left))
}

/// Whether there are values of a type; those that are too large to be looked at have some.
fn has_values(types: &Types<'_>, of: Option<TypeId>, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return true };
    *left = rest;
    let Some((_, found)) = types.strip(of) else { return true };
    let TypeKind::Record(record) = &found.kind else { return true };
    let variants = record.variants.as_ref();
    are_possible(types, &record.members, left)
        && variants.is_none_or(|part| {
            part.variants.iter().any(|variant| are_possible(types, &variant.members, left))
        })
}
