//! Arrays, structs, unions and bit-fields.

use super::print::missing_text;
use super::scalar::{is_signed, number};
use super::string;
use super::{Contents, Printer};
use crate::types::{Language, Member, Record, TypeId, Types};

impl<'a> Printer<'a> {
    /// `counts` are the dimensions that are left.
    pub(super) fn array(
        &mut self,
        types: &Types<'a>,
        element: Option<TypeId>,
        counts: &[Option<u64>],
        contents: &Contents,
        at: usize,
    ) {
        let (count, inner) = match counts.split_first() {
            Some((count, inner)) => (count.unwrap_or(0), inner),
            None => return self.value(types, element, contents, at),
        };
        let inner_count = inner.iter().try_fold(1u64, |all, count| all.checked_mul((*count)?));
        let stride = types.size(element).zip(inner_count).and_then(|(size, inner)| size.checked_mul(inner));
        let stride = stride.and_then(|stride| usize::try_from(stride).ok()).unwrap_or(0);
        let count = usize::try_from(count).unwrap_or(0);
        if inner.is_empty()
            && count > 0
            && let Some((width, prefix)) = self.textual(types, element)
        {
            return self.text_array(count, width, prefix, contents, at);
        }
        let is_rust = self.is_rust(types, element);
        // Of an array whose length is not known, or is nothing, C has the address.
        if let Some(start) = contents.address.filter(|_| !is_rust && (count == 0 || stride == 0)) {
            return self.pointer_to(types, element, start.wrapping_add(at as u64));
        }
        self.push(if is_rust { "[" } else { "{" });
        let mut index = 0;
        let mut shown = 0;
        while index < count && shown < self.limits.elements && !self.is_full() {
            if index > 0 {
                self.push(", ");
            }
            let here = at.saturating_add(index.saturating_mul(stride));
            // What takes no space is all alike, and there may be any number of it.
            let rest = index + 1..count;
            let same =
                |other: &usize| contents.same(here, at.saturating_add(other.saturating_mul(stride)), stride);
            let equal = if stride == 0 { rest.len() + 1 } else { 1 + rest.take_while(same).count() };
            self.array(types, element, inner, contents, here);
            if equal > self.limits.repeats {
                self.push(&format!(" <repeats {equal} times>"));
                index += equal;
                shown += self.limits.repeats;
            } else {
                index += 1;
                shown += 1;
            }
        }
        if index < count {
            self.push("...");
        }
        self.push(if is_rust { "]" } else { "}" });
    }

    fn is_rust(&self, types: &Types<'a>, element: Option<TypeId>) -> bool {
        types.strip(element).is_some_and(|(_, found)| found.language == Language::Rust)
    }

    fn text_array(&mut self, count: usize, width: usize, prefix: &str, contents: &Contents, at: usize) {
        let bytes = match contents.get(at, count.saturating_mul(width)) {
            Ok(bytes) => bytes,
            Err(missing) => return self.push(missing_text(missing)),
        };
        let mut codes = string::codes(bytes, width);
        // The end of the string is not shown as such.
        if codes.last() == Some(&0) {
            codes.pop();
        }
        let text = string::string(&codes, prefix, false, &self.limits);
        self.push(&text);
    }

    pub(super) fn record(&mut self, types: &Types<'a>, record: &Record, contents: &Contents, at: usize) {
        if record.members.is_empty() {
            self.push("{<No data fields>}");
            return;
        }
        self.push("{");
        for (index, member) in record.members.iter().enumerate() {
            if self.is_full() {
                break;
            }
            if index > 0 {
                self.push(", ");
            }
            if member.is_base {
                self.push(&format!("<{}> = ", types.name(member.of)));
            } else {
                if member.is_static {
                    self.push("static ");
                }
                if let Some(name) = &member.name {
                    self.push(&format!("{name} = "));
                }
            }
            self.member(types, member, contents, at);
        }
        self.push("}");
    }

    pub(super) fn member(&mut self, types: &Types<'a>, member: &Member, contents: &Contents, at: usize) {
        if member.is_static {
            return self.static_member(types, member);
        }
        if member.is_virtual {
            return self.push("<invalid address>");
        }
        if let Some((first, size)) = member.bits {
            return self.bit_field(types, member.of, contents, at, first, size);
        }
        let offset = usize::try_from(member.offset).unwrap_or(usize::MAX);
        self.value(types, member.of, contents, at.saturating_add(offset));
    }

    fn static_member(&mut self, types: &Types<'a>, member: &Member) {
        match self.program.static_member(types, member.die, self.state) {
            Some((of, contents)) => match contents {
                Ok(contents) => self.value(types, of, &contents, 0),
                Err(reason) => self.push(&reason.text()),
            },
            None => self.push("<optimized out>"),
        }
    }

    fn bit_field(
        &mut self,
        types: &Types<'a>,
        of: Option<TypeId>,
        contents: &Contents,
        at: usize,
        first: u64,
        size: u64,
    ) {
        let Some((_, found)) = types.strip(of) else { return };
        match bits(contents, at, first, size, is_signed(&found)) {
            Ok(value) => {
                let text = number(&found, value).unwrap_or_else(|| value.to_string());
                self.push(&text);
            }
            Err(text) => self.push(text),
        }
    }
}

/// The bits of a field, as a number.
pub(super) fn bits(
    contents: &Contents,
    at: usize,
    first: u64,
    size: u64,
    is_signed: bool,
) -> Result<i128, &'static str> {
    if size == 0 || size > 64 {
        return Err("<a bit-field of an impossible size>");
    }
    let start = usize::try_from(first / 8).unwrap_or(usize::MAX).saturating_add(at);
    let shift = (first % 8) as u32;
    let length = (u64::from(shift) + size).div_ceil(8) as usize;
    let bytes = contents.get(start, length).map_err(missing_text)?;
    let value = bytes.iter().rev().fold(0u128, |value, byte| value << 8 | u128::from(*byte));
    let unused = 128 - size as u32;
    let value = (value >> shift) << unused;
    Ok(if is_signed { value as i128 >> unused } else { (value >> unused) as i128 })
}
