//! The search for what live variables lead to.

use std::collections::VecDeque;

use super::{DEEPEST, MOST_BYTES, MOST_OBJECTS, Names, Object};
use crate::types::{Encoding, Language, TypeId, TypeKind, Types};

/// So many elements of an array are looked at for pointers.
const MOST_ELEMENTS: u64 = 4096;

/// So many pointers of one object are followed.
const MOST_POINTERS: usize = 1 << 14;

/// A string without an end that anybody knows of.
const LONGEST_STRING: u64 = 4096;

/// A pointer inside of an object: where, how it is written, and to what.
struct Pointer {
    offset: u64,
    suffix: String,
    to: TypeId,
    /// It shares its place with something else, and may be no pointer now.
    is_shared: bool,
}

impl Names<'_> {
    pub(super) fn add_root(&mut self, address: u64, of: Option<TypeId>, path: String) {
        let Some(of) = of else { return };
        let size = self.program.types(of).and_then(|types| types.size(Some(of)));
        let Some(size) = size.filter(|size| *size > 0) else { return };
        self.add(Object { address, of, count: 1, size, path, through_pointer: false, depth: 0 });
    }

    /// A pointer that is in a register.
    pub(super) fn add_pointer_variable(&mut self, value: Option<u64>, of: Option<TypeId>, path: String) {
        let Some((value, of)) = value.zip(of) else { return };
        let Some(types) = self.program.types(of) else { return };
        if let Some((_, found)) = types.strip(Some(of))
            && let TypeKind::Pointer { to: Some(to), .. } = found.kind
        {
            self.add_target(value, to, path, 1);
        }
    }

    fn add(&mut self, object: Object) {
        let is_known = self.object_at(object.address).is_some();
        if self.objects.len() < MOST_OBJECTS && !is_known {
            self.by_start.insert(object.address, self.objects.len());
            self.objects.push(object);
        }
    }

    /// What a pointer points to, when it is something of a known type that is mapped.
    fn add_target(&mut self, address: u64, to: TypeId, path: String, depth: usize) {
        if address == 0 || depth > DEEPEST || self.object_at(address).is_some() {
            return;
        }
        let Some(types) = self.program.types(to) else { return };
        let Some((_, found)) = types.strip(Some(to)) else { return };
        if matches!(found.kind, TypeKind::Function { .. }) {
            return;
        }
        let Some(one) = types.size(Some(to)).filter(|size| *size > 0) else { return };
        let block = self.allocations.block_at(address);
        let rest = block.and_then(|block| block.start.checked_add(block.size)?.checked_sub(address));
        let is_text =
            matches!(found.kind, TypeKind::Base(Encoding::SignedCharacter | Encoding::UnsignedCharacter));
        let count = match rest {
            Some(rest) => (rest / one).max(1),
            None if is_text && one == 1 => self.string_length(address),
            None => 1,
        };
        let size = one.saturating_mul(count);
        if self.state.read(address, &mut [0]) && self.state.read(address.wrapping_add(one - 1), &mut [0]) {
            self.add(Object { address, of: to, count, size, path, through_pointer: true, depth });
        }
    }

    /// With its end.
    fn string_length(&mut self, address: u64) -> u64 {
        let mut byte = [0];
        let ends = |length: &u64| !self.state.read(address.wrapping_add(*length), &mut byte) || byte == [0];
        let length = (0..LONGEST_STRING).find(ends).unwrap_or(LONGEST_STRING - 1) + 1;
        self.read = self.read.saturating_add(length);
        length
    }

    /// Follows the pointers of all objects in the order in which these were found; those whose meaning is doubtful
    /// after all others.
    pub(super) fn walk(&mut self) {
        let mut doubtful = VecDeque::new();
        let mut next = 0;
        loop {
            while next < self.objects.len() && self.read < MOST_BYTES {
                self.follow(next, &mut doubtful);
                next += 1;
            }
            let Some((address, to, path, depth)) = doubtful.pop_front() else { break };
            self.add_target(address, to, path, depth);
        }
    }

    fn follow(&mut self, index: usize, doubtful: &mut VecDeque<(u64, TypeId, String, usize)>) {
        let Some(object) = self.objects.get(index) else { return };
        let Some(types) = self.program.types(object.of) else { return };
        let (address, of, depth) = (object.address, object.of, object.depth);
        let stride = object.size / object.count.max(1);
        let (path, through, count) = (object.path.clone(), object.through_pointer, object.count);
        let is_rust = types.strip(Some(of)).is_some_and(|(_, found)| found.language == Language::Rust);
        let mut pointers = Vec::new();
        pointers_of(&types, Some(of), 0, String::new(), false, &mut pointers, 0);
        if pointers.is_empty() {
            return;
        }
        for element in 0..count.min(MOST_ELEMENTS) {
            let base = element_path(&path, through, count, element, is_rust);
            for pointer in &pointers {
                let at = address.wrapping_add(element.wrapping_mul(stride)).wrapping_add(pointer.offset);
                self.read = self.read.saturating_add(8);
                let Some(value) = self.state.read_uint(at, 8) else { continue };
                let path = base.member(&pointer.suffix);
                if pointer.is_shared {
                    doubtful.push_back((value, pointer.to, path, depth + 1));
                } else {
                    self.add_target(value, pointer.to, path, depth + 1);
                }
            }
        }
    }
}

/// How an element of an object is written, and what is before its members.
pub(super) struct Base {
    whole: String,
    prefix: String,
}

impl Base {
    /// `suffix` begins with `.` or `[`, or is empty.
    pub fn member(&self, suffix: &str) -> String {
        match suffix.strip_prefix('.') {
            Some(member) => format!("{}{member}", self.prefix),
            None => format!("{}{suffix}", self.whole_with(suffix)),
        }
    }

    fn whole_with(&self, suffix: &str) -> String {
        let is_star = self.whole.starts_with('*') && !suffix.is_empty();
        if is_star { format!("({})", self.whole) } else { self.whole.clone() }
    }
}

pub(super) fn element_path(
    path: &str,
    through_pointer: bool,
    count: u64,
    element: u64,
    is_rust: bool,
) -> Base {
    if !through_pointer {
        return Base { whole: path.to_owned(), prefix: format!("{path}.") };
    }
    if count > 1 {
        let whole = format!("{path}[{element}]");
        return Base { prefix: format!("{whole}."), whole };
    }
    let arrow = if is_rust { "." } else { "->" };
    Base { whole: format!("*{path}"), prefix: format!("{path}{arrow}") }
}

/// All pointers inside of a type.
fn pointers_of(
    types: &Types<'_>,
    of: Option<TypeId>,
    offset: u64,
    suffix: String,
    is_shared: bool,
    found: &mut Vec<Pointer>,
    depth: usize,
) {
    if depth > DEEPEST || found.len() >= MOST_POINTERS {
        return;
    }
    let Some((_, stripped)) = types.strip(of) else { return };
    match &stripped.kind {
        TypeKind::Pointer { to: Some(to), .. } => found.push(Pointer { offset, suffix, to: *to, is_shared }),
        TypeKind::Record(record) => {
            let is_shared =
                is_shared || record.keyword == crate::types::Keyword::Union && record.members.len() > 1;
            for member in record.members.iter().filter(|member| !member.is_static && member.bits.is_none()) {
                let suffix = match (&member.name, member.is_base) {
                    (Some(name), false) => format!("{suffix}.{name}"),
                    _ => suffix.clone(),
                };
                let offset = offset.wrapping_add(member.offset);
                pointers_of(types, member.of, offset, suffix, is_shared, found, depth + 1);
            }
        }
        TypeKind::Array { element, dimensions, .. } => {
            let counts: Option<Vec<u64>> = dimensions.iter().map(|dimension| dimension.count).collect();
            let (Some(counts), Some(size)) = (counts, types.size(*element)) else { return };
            let total = counts.iter().try_fold(1u64, |all, count| all.checked_mul(*count)).unwrap_or(0);
            let before = found.len();
            pointers_of(types, *element, offset, String::new(), is_shared, found, depth + 1);
            let first: Vec<Pointer> = found.drain(before.min(found.len())..).collect();
            if first.is_empty() {
                return;
            }
            for index in 0..total.min(MOST_ELEMENTS) {
                for pointer in &first {
                    let moved = index.wrapping_mul(size);
                    found.push(Pointer {
                        offset: pointer.offset.wrapping_add(moved),
                        suffix: format!("{suffix}{}{}", subscripts(&counts, index), pointer.suffix),
                        to: pointer.to,
                        is_shared: pointer.is_shared,
                    });
                }
                if found.len() >= MOST_POINTERS {
                    return;
                }
            }
        }
        _ => {}
    }
}

/// The element of a number, in as many dimensions as there are.
pub(super) fn subscripts(counts: &[u64], index: u64) -> String {
    let mut rest = index;
    let mut text = String::new();
    for count in counts.iter().rev() {
        let count = (*count).max(1);
        text = format!("[{}]{text}", rest % count);
        rest /= count;
    }
    text
}
