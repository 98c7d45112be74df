//! What an initialised variable is made of, as far as it takes to tell its elements apart.

use std::ops::Range;
use std::sync::Arc;

/// A type by the places of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub size: u64,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Without parts, or with parts that nothing is known of.
    Scalar {
        is_integer: bool,
    },
    Array {
        element: Arc<Shape>,
        count: u64,
    },
    Record {
        members: Vec<Member>,
        is_union: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Anonymous structures and unions have none.
    pub name: Option<Arc<str>>,
    pub bytes: Range<u64>,
    pub shape: Arc<Shape>,
}

/// Which part of a part of a variable: indices of array elements and of members.
pub(super) type Path = Vec<u64>;

impl Shape {
    pub fn scalar(size: u64) -> Shape {
        Shape { size, kind: Kind::Scalar { is_integer: false } }
    }

    /// How many parts an initialiser without designators fills.
    pub fn parts(&self) -> u64 {
        match &self.kind {
            Kind::Scalar { .. } => 0,
            Kind::Array { count, .. } => *count,
            Kind::Record { members, is_union: true } => members.len().min(1) as u64,
            Kind::Record { members, is_union: false } => members.len() as u64,
        }
    }

    pub fn part(&self, index: u64) -> Option<&Shape> {
        match &self.kind {
            Kind::Scalar { .. } => None,
            Kind::Array { element, count } => (index < *count).then_some(element),
            Kind::Record { members, .. } => Some(&members.get(usize::try_from(index).ok()?)?.shape),
        }
    }

    pub fn at(&self, path: &[u64]) -> Option<&Shape> {
        path.iter().try_fold(self, |shape, index| shape.part(*index))
    }

    pub fn is_union(&self) -> bool {
        matches!(self.kind, Kind::Record { is_union: true, .. })
    }

    pub fn is_structure(&self) -> bool {
        matches!(self.kind, Kind::Record { is_union: false, .. })
    }

    /// Whether a string literal can initialise it.
    pub fn is_text(&self) -> bool {
        match &self.kind {
            Kind::Array { element, .. } => matches!(element.kind, Kind::Scalar { is_integer: true }),
            _ => false,
        }
    }

    /// The smallest part that alone has the byte at `offset`.
    pub fn path_to(&self, mut offset: u64) -> Path {
        let mut path = Path::new();
        let mut shape = self;
        loop {
            match &shape.kind {
                Kind::Array { element, count } if element.size > 0 && offset / element.size < *count => {
                    path.push(offset / element.size);
                    offset %= element.size;
                    shape = element;
                }
                Kind::Record { members, is_union: false } => {
                    let mut holding =
                        members.iter().enumerate().filter(|(_, member)| member.bytes.contains(&offset));
                    // Bit-fields share bytes; and padding is nobody's.
                    let (Some((index, member)), None) = (holding.next(), holding.next()) else { return path };
                    path.push(index as u64);
                    offset -= member.bytes.start;
                    shape = &member.shape;
                }
                _ => return path,
            }
        }
    }

    /// Whether no part has the byte at `offset`.
    pub fn is_padding(&self, offset: u64) -> bool {
        let path = self.path_to(offset);
        let (Some(shape), Some(bytes)) = (self.at(&path), self.range_of(&path)) else { return false };
        match &shape.kind {
            Kind::Record { members, is_union: false } => {
                let offset = offset.saturating_sub(bytes.start);
                !members.iter().any(|member| member.bytes.contains(&offset))
            }
            _ => false,
        }
    }

    /// A part by name as the source has it: `[2].name`. An anonymous part is called by what is first in it.
    pub fn name_of(&self, path: &[u64]) -> String {
        let mut name = String::new();
        let mut shape = self;
        let mut is_anonymous = false;
        for index in path {
            let Some(part) = shape.part(*index) else { break };
            is_anonymous = false;
            match &shape.kind {
                Kind::Array { .. } => name.push_str(&format!("[{index}]")),
                Kind::Record { .. } => match shape.member_name(*index) {
                    Some(member) => name.push_str(&format!(".{member}")),
                    None => is_anonymous = true,
                },
                Kind::Scalar { .. } => {}
            }
            shape = part;
        }
        if is_anonymous && shape.parts() > 0 {
            name.push_str(&shape.name_of(&[0]));
        }
        name
    }

    fn member_name(&self, index: u64) -> Option<&str> {
        let Kind::Record { members, .. } = &self.kind else { return None };
        members.get(usize::try_from(index).ok()?)?.name.as_deref()
    }

    /// The bytes of a part.
    pub fn range_of(&self, path: &[u64]) -> Option<Range<u64>> {
        let mut start = 0u64;
        let mut shape = self;
        for index in path {
            let offset = match &shape.kind {
                Kind::Scalar { .. } => 0,
                Kind::Array { element, .. } => element.size.checked_mul(*index)?,
                Kind::Record { members, .. } => members.get(usize::try_from(*index).ok()?)?.bytes.start,
            };
            start = start.checked_add(offset)?;
            shape = shape.part(*index)?;
        }
        Some(start..start.checked_add(shape.size)?)
    }

    /// The part that [`Shape::name_of`] calls so.
    pub fn path_named(&self, name: &str) -> Option<Path> {
        let mut path = Path::new();
        let mut rest = name;
        while let Some(first) = rest.chars().next() {
            let after = rest.get(1..)?;
            let end = after.find(['[', '.']).unwrap_or(after.len());
            let (word, next) = after.split_at_checked(end)?;
            match first {
                '[' => path.push(word.strip_suffix(']')?.parse().ok()?),
                _ => path.extend(self.at(&path)?.member(word)?),
            }
            rest = next;
        }
        Some(path)
    }

    /// The path to the member of this name, which may be in an anonymous member.
    pub fn member(&self, name: &str) -> Option<Path> {
        let Kind::Record { members, .. } = &self.kind else { return None };
        members.iter().enumerate().find_map(|(index, member)| match &member.name {
            Some(own) => (&**own == name).then(|| vec![index as u64]),
            None => {
                let inner = member.shape.member(name)?;
                Some([vec![index as u64], inner].concat())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: Option<&str>, bytes: Range<u64>, shape: &Arc<Shape>) -> Member {
        Member { name: name.map(Arc::from), bytes, shape: shape.clone() }
    }

    fn record(size: u64, members: Vec<Member>) -> Shape {
        Shape { size, kind: Kind::Record { members, is_union: false } }
    }

    #[test]
    fn a_byte_leads_to_the_smallest_part_that_has_it_alone() {
        let int = Arc::new(Shape::scalar(4));
        let inner = Arc::new(record(8, vec![member(Some("x"), 0..4, &int), member(Some("y"), 4..8, &int)]));
        let bits =
            vec![member(Some("a"), 0..1, &int), member(Some("b"), 0..1, &int), member(None, 8..16, &inner)];
        let outer = Arc::new(record(16, bits));
        let array = Shape { size: 48, kind: Kind::Array { element: outer.clone(), count: 3 } };
        let name = |offset| array.name_of(&array.path_to(offset));
        assert_eq!(name(44), "[2].y");
        assert_eq!(name(16), "[1]", "two bit-fields are in this byte");
        assert_eq!(name(20), "[1]", "padding");
        assert_eq!(name(48), "", "after the end");
        assert_eq!(array.path_named("[2].y"), Some(vec![2, 2, 1]));
        assert_eq!(array.path_named(""), Some(vec![]));
        assert_eq!((array.path_named("[x].y"), array.path_named("é")), (None, None));
        assert_eq!(array.range_of(&[2, 2, 1]), Some(44..48));
        assert_eq!(outer.member("y"), Some(vec![2, 1]));
        assert_eq!(outer.member("z"), None);
    }
}
