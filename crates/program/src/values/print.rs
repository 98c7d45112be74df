//! The text of a value.

use super::contents::{Missing, NoContents};
use super::scalar::{integer, is_quadruple, is_signed, number};
use super::{Contents, Limits, float, string};
use crate::program::Program;
use crate::state::State;
use crate::types::{Dimension, Encoding, Language, Type, TypeId, TypeKind, Types};
use crate::variables::Evaluator;

/// Values inside of each other; deeper ones are shown as `{...}`.
const DEEPEST: usize = 20;

pub(crate) struct Printer<'a> {
    pub program: &'a Program,
    pub state: &'a State<'a>,
    /// For arrays whose length is computed.
    pub evaluator: Option<Evaluator<'a>>,
    pub limits: Limits,
    pub(super) depth: usize,
    text: String,
}

impl<'a> Printer<'a> {
    pub fn new(
        program: &'a Program,
        state: &'a State<'a>,
        evaluator: Option<Evaluator<'a>>,
        limits: Limits,
    ) -> Printer<'a> {
        Printer { program, state, evaluator, limits, depth: 0, text: String::new() }
    }

    pub fn print(
        mut self,
        types: &Types<'a>,
        id: Option<TypeId>,
        contents: &Result<Contents, NoContents>,
    ) -> String {
        match contents {
            Ok(contents) => self.value(types, id, contents, 0),
            Err(reason) => self.push(&reason.text()),
        }
        if self.is_full() {
            let mut end = self.limits.length;
            while !self.text.is_char_boundary(end) {
                end -= 1;
            }
            self.text.truncate(end);
            self.text.push_str("...");
        }
        self.text
    }

    pub(super) fn push(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text);
        }
    }

    /// Nothing more will be shown, so nothing more need be looked at.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() > self.limits.length
    }

    /// The value of type `id` that begins at byte `at`.
    pub(super) fn value(&mut self, types: &Types<'a>, id: Option<TypeId>, contents: &Contents, at: usize) {
        let declared = id;
        let Some((id, found)) = types.strip(id) else {
            self.push("<void>");
            return;
        };
        if self.depth == DEEPEST {
            self.push("{...}");
            return;
        }
        self.depth += 1;
        if self.wide_character(types, declared, &found, contents, at) {
            self.depth -= 1;
            return;
        }
        self.stripped(types, id, &found, contents, at);
        self.depth -= 1;
    }

    fn stripped(&mut self, types: &Types<'a>, id: TypeId, found: &Type, contents: &Contents, at: usize) {
        if let Some(size) = self.size(types, Some(id))
            && size > 0
            && let Some(missing) = contents.all_missing(at, usize::try_from(size).unwrap_or(0))
        {
            self.push(missing_text(missing));
            return;
        }
        if found.language == Language::Rust && self.rust(types, found, contents, at) {
            return;
        }
        match &found.kind {
            TypeKind::Record(record) if record.is_declaration => self.push("<incomplete type>"),
            TypeKind::Record(record) => self.record(types, record, contents, at),
            TypeKind::Array { element, dimensions, .. } => {
                let counts = self.counts(dimensions);
                self.array(types, *element, &counts, contents, at);
            }
            TypeKind::Function { .. } => {
                let address = contents.address.unwrap_or(0).wrapping_add(at as u64);
                self.push(&format!("{{{}}} ", types.name(Some(id))));
                self.address(address);
            }
            TypeKind::Unspecified | TypeKind::Unknown => self.push("<data of an unknown type>"),
            _ => self.scalar(types, found, contents, at),
        }
    }

    /// In C, wide characters are numbers by another name.
    fn wide_character(
        &mut self,
        types: &Types<'a>,
        declared: Option<TypeId>,
        found: &Type,
        contents: &Contents,
        at: usize,
    ) -> bool {
        let is_number = matches!(found.kind, TypeKind::Base(Encoding::Signed | Encoding::Unsigned));
        let Some((width, prefix)) = self.textual(types, declared).filter(|_| is_number) else { return false };
        let Ok(bytes) = contents.get(at, width) else { return false };
        let Some(value) = integer(bytes, is_signed(found)) else { return false };
        self.push(&format!("{value} {prefix}{}", string::character(value as u64 & 0xffff_ffff)));
        true
    }

    fn scalar(&mut self, types: &Types<'a>, found: &Type, contents: &Contents, at: usize) {
        let size = usize::try_from(found.size.unwrap_or(0)).unwrap_or(0);
        let bytes = match contents.get(at, size) {
            Ok(bytes) => bytes,
            Err(missing) => return self.push(missing_text(missing)),
        };
        match &found.kind {
            TypeKind::Pointer { .. } => {
                let address = integer(bytes, false).unwrap_or(0) as u64;
                self.pointer(types, found, address);
            }
            TypeKind::Base(Encoding::Float) => {
                let text = float::text(bytes, is_quadruple(found));
                self.push(&text.unwrap_or_else(|| "<a number of an unknown form>".to_owned()));
            }
            TypeKind::Base(Encoding::ComplexFloat) => {
                let (real, imaginary) = bytes.split_at(size / 2);
                let parts = float::text(real, false).zip(float::text(imaginary, false));
                let text = parts.map(|(real, imaginary)| format!("{real} + {imaginary}i"));
                self.push(&text.unwrap_or_else(|| "<a number of an unknown form>".to_owned()));
            }
            TypeKind::MemberPointer { to, .. } => self.member_pointer(types, *to, bytes),
            _ => {
                let value = integer(bytes, is_signed(found));
                let text = value.and_then(|value| number(found, value));
                self.push(&text.unwrap_or_else(|| "<a number of an unknown form>".to_owned()));
            }
        }
    }

    fn member_pointer(&mut self, types: &Types<'a>, to: Option<TypeId>, bytes: &[u8]) {
        let is_function = types.strip(to).is_some_and(|(_, to)| matches!(to.kind, TypeKind::Function { .. }));
        let word = bytes.get(..8).and_then(|bytes| integer(bytes, !is_function)).unwrap_or(0);
        match (is_function, word) {
            (false, -1) => self.push("NULL"),
            (false, offset) => self.push(&offset.to_string()),
            (true, 0) => self.push("NULL"),
            (true, address) if address & 1 == 1 => {
                self.push(&format!("&virtual table offset {}", address - 1))
            }
            (true, address) => {
                self.push(&format!("({}) ", types.name(to)));
                self.address(address as u64);
            }
        }
    }

    /// The numbers of elements, those that are computed in the running program too.
    pub(crate) fn counts(&self, dimensions: &[Dimension]) -> Vec<Option<u64>> {
        let computed = |dimension: &Dimension| self.evaluator.as_ref()?.count(dimension.computed?);
        dimensions.iter().map(|dimension| dimension.count.or_else(|| computed(dimension))).collect()
    }

    /// In bytes, with lengths that are computed; the greatest number where it is more than there are addresses.
    pub(crate) fn size(&self, types: &Types<'a>, id: Option<TypeId>) -> Option<u64> {
        let (_, found) = types.strip(id)?;
        let TypeKind::Array { element, dimensions, .. } = &found.kind else { return types.size(id) };
        let mut size = types.size(*element)?;
        for count in self.counts(dimensions) {
            size = size.saturating_mul(count?);
        }
        Some(size)
    }
}

pub(super) fn missing_text(missing: Missing) -> &'static str {
    match missing {
        Missing::OptimizedOut => "<optimized out>",
        Missing::NotSaved => "<not saved>",
        Missing::Synthetic => "<synthetic pointer>",
    }
}
