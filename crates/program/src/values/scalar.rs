//! Numbers, characters, booleans, enumerations and pointers.

use std::fmt::Write as _;

use super::string;
use super::{Contents, Printer};
use crate::types::{Encoding, Enumerator, Indirection, Language, Type, TypeId, TypeKind, Types};

/// An integer of up to 16 bytes.
pub(crate) fn integer(bytes: &[u8], is_signed: bool) -> Option<i128> {
    let mut wide = [0u8; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = i128::from_le_bytes(wide);
    let unused = 128u32.checked_sub(u32::try_from(bytes.len()).ok()?.checked_mul(8)?)?;
    if unused == 128 {
        return None;
    }
    Some(if is_signed { value << unused >> unused } else { value })
}

pub(super) fn is_signed(found: &Type) -> bool {
    match &found.kind {
        TypeKind::Base(Encoding::Signed | Encoding::SignedCharacter) => true,
        TypeKind::Enum { is_signed, .. } => *is_signed,
        _ => false,
    }
}

/// Whether a float has 128 bits that count. Only the name tells it from the 80-bit format in as much space.
pub(super) fn is_quadruple(found: &Type) -> bool {
    found.name.as_deref().is_some_and(|name| name.contains("128"))
}

/// A scalar that is no pointer, from its value as a number; `None` for floats and the like.
pub(super) fn number(found: &Type, value: i128) -> Option<String> {
    let size = found.size.unwrap_or(0);
    Some(match &found.kind {
        TypeKind::Base(Encoding::Boolean) => match value {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            other => other.to_string(),
        },
        TypeKind::Base(Encoding::SignedCharacter | Encoding::UnsignedCharacter) if size == 1 => {
            format!("{value} {}", string::character((value as u64) & 0xff))
        }
        TypeKind::Base(Encoding::Unicode) => {
            let prefix = match size {
                2 => "u",
                4 => "U",
                _ => "",
            };
            format!("{value} {prefix}{}", string::character(value as u64))
        }
        TypeKind::Base(
            Encoding::Signed | Encoding::Unsigned | Encoding::SignedCharacter | Encoding::UnsignedCharacter,
        ) => {
            if size == 16 && value < 0 && !is_signed(found) {
                (value as u128).to_string()
            } else {
                value.to_string()
            }
        }
        TypeKind::Enum { enumerators, .. } => enumerated(enumerators, value),
        _ => return None,
    })
}

/// By name, as a union of flags, or as a number.
fn enumerated(enumerators: &[Enumerator], value: i128) -> String {
    if let Some(found) = enumerators.iter().find(|enumerator| enumerator.value == value) {
        return found.name.clone();
    }
    if !enumerators.iter().all(|enumerator| is_flag(enumerator.value)) {
        return value.to_string();
    }
    let mut rest = value;
    let mut text = String::new();
    for enumerator in enumerators {
        if rest & enumerator.value != 0 {
            text.push_str(if text.is_empty() { "(" } else { " | " });
            text.push_str(&enumerator.name);
            rest &= !enumerator.value;
        }
    }
    match (rest, text.is_empty()) {
        (0, true) => "0".to_owned(),
        (0, false) => text + ")",
        (_, is_first) => {
            let lead = if is_first { "(" } else { " | " };
            let _ = write!(text, "{lead}unknown: {:#x})", rest as u64);
            text
        }
    }
}

/// At most one bit, and not the sign of the widest integer: what has that one is no set of flags.
fn is_flag(value: i128) -> bool {
    (0..=i128::from(i64::MAX)).contains(&value) && value.count_ones() <= 1
}

impl<'a> Printer<'a> {
    pub(super) fn pointer(&mut self, types: &Types<'a>, found: &Type, address: u64) {
        let TypeKind::Pointer { to, indirection } = found.kind else { return };
        if indirection != Indirection::Pointer {
            self.reference(types, to, address);
            return;
        }
        self.pointer_to(types, to, address);
    }

    /// The address of something, with the text that is there when it is text.
    pub(super) fn pointer_to(&mut self, types: &Types<'a>, to: Option<TypeId>, address: u64) {
        self.address(address);
        if address != 0
            && let Some((width, prefix)) = self.textual(types, to)
        {
            self.push(" ");
            self.string_at(address, width, prefix);
        }
    }

    /// The address and the symbol that it belongs to.
    pub(super) fn address(&mut self, address: u64) {
        self.push(&format!("{address:#x}"));
        if let Some(symbol) = self.program.symbol_text(address) {
            self.push(&format!(" <{symbol}>"));
        }
    }

    fn reference(&mut self, types: &Types<'a>, to: Option<TypeId>, address: u64) {
        // What members refer to is not followed.
        if self.depth > 1 {
            return self.push(&format!("@{address:#x}"));
        }
        let size = self.size(types, to).unwrap_or(0);
        match Contents::from_memory(address, usize::try_from(size).unwrap_or(0), self.state) {
            Ok(contents) => {
                self.push(&format!("@{address:#x}: "));
                self.value(types, to, &contents, 0);
            }
            Err(reason) => self.push(&reason.text().replace("<error:", "<error reading variable:")),
        }
    }

    /// Width and prefix of a type whose arrays are text.
    pub(super) fn textual(&self, types: &Types<'a>, id: Option<TypeId>) -> Option<(usize, &'static str)> {
        // Wide characters are a typedef in C.
        let mut named = types.unqualified(id).1;
        for _ in 0..8 {
            let Some(id) = named else { break };
            let found = types.get(id);
            let TypeKind::Typedef { of } = found.kind else { break };
            match found.name.as_deref() {
                Some("wchar_t") => return Some((4, "L")),
                Some("char16_t") => return Some((2, "u")),
                Some("char32_t") => return Some((4, "U")),
                _ => named = types.unqualified(of).1,
            }
        }
        let (_, found) = types.strip(id)?;
        if found.language == Language::Rust {
            return None;
        }
        match (&found.kind, found.size) {
            (TypeKind::Base(Encoding::SignedCharacter | Encoding::UnsignedCharacter), Some(1)) => {
                Some((1, ""))
            }
            (TypeKind::Base(Encoding::Unicode), Some(2)) => Some((2, "u")),
            (TypeKind::Base(Encoding::Unicode), Some(4)) => Some((4, "U")),
            (TypeKind::Base(Encoding::Signed), Some(4)) if found.name.as_deref() == Some("wchar_t") => {
                Some((4, "L"))
            }
            _ => None,
        }
    }

    /// The string that begins at an address, up to its end, to that of its block, or the most elements.
    fn string_at(&mut self, address: u64, width: usize, prefix: &str) {
        let mut found = Vec::new();
        let mut at = address;
        let mut buffer = [0u8; 8];
        let Some(buffer) = buffer.get_mut(..width) else { return };
        let mut failed = None;
        let mut is_cut = true;
        while found.len() < self.limits.elements {
            if !found.is_empty() && self.state.is_forbidden(at) {
                is_cut = false;
                break;
            }
            if !self.state.read(at, buffer) {
                failed = Some(at);
                is_cut = false;
                break;
            }
            let code = string::codes(buffer, width).first().copied().unwrap_or(0);
            if code == 0 {
                is_cut = false;
                break;
            }
            found.push(code);
            at = at.wrapping_add(width as u64);
        }
        if is_cut && self.state.read(at, buffer) && buffer.iter().all(|byte| *byte == 0) {
            is_cut = false;
        }
        if failed.is_none() || !found.is_empty() {
            self.push(&string::string(&found, prefix, is_cut, &self.limits));
        }
        if let Some(at) = failed {
            let space = if found.is_empty() { "" } else { " " };
            self.push(&format!("{space}<error: Cannot access memory at address {at:#x}>"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enumerators(values: &[(&str, i128)]) -> Vec<Enumerator> {
        values.iter().map(|(name, value)| Enumerator { name: (*name).to_owned(), value: *value }).collect()
    }

    #[test]
    fn flags_are_taken_apart_and_other_enumerations_are_not() {
        let flags = enumerators(&[("A", 1), ("B", 2), ("C", 4)]);
        assert_eq!(enumerated(&flags, 5), "(A | C)");
        assert_eq!(enumerated(&flags, 2), "B");
        assert_eq!(enumerated(&flags, 0), "0");
        assert_eq!(enumerated(&flags, 9), "(A | unknown: 0x8)");
        assert_eq!(enumerated(&flags, 8), "(unknown: 0x8)");
        assert_eq!(enumerated(&enumerators(&[("R", 0), ("G", 5)]), 3), "3");
        assert_eq!(enumerated(&enumerators(&[("Z", 0), ("A", 1), ("B", 2)]), 3), "(A | B)");
    }

    #[test]
    fn integers_have_the_sign_of_their_type() {
        assert_eq!(integer(&[0xff], true), Some(-1));
        assert_eq!(integer(&[0xff], false), Some(255));
        assert_eq!(integer(&[], true), None);
        assert_eq!(integer(&[0; 17], true), None);
    }
}
