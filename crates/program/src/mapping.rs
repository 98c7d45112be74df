//! Which part of which file lies where in the guest's address space.

use std::sync::Arc;

use crate::object_file::{ObjectFile, Segment};

const PAGE: u64 = 4096;

/// A mapped stretch of a file.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    /// What part of the file is at `start`.
    pub file_offset: u64,
    pub path: Arc<str>,
    /// The file as it was when it was mapped; read from `path` when absent.
    pub content: Option<Arc<Vec<u8>>>,
}

/// A mapping whose file is one of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub start: u64,
    pub end: u64,
    pub file_offset: u64,
    pub file: usize,
}

impl Placed {
    fn contains(&self, address: u64) -> bool {
        self.start <= address && address < self.end
    }
}

/// The mapping that holds `address`; `mappings` are sorted and do not overlap.
pub(crate) fn at(mappings: &[Placed], address: u64) -> Option<&Placed> {
    let after = mappings.partition_point(|mapping| mapping.start <= address);
    mappings.get(after.checked_sub(1)?).filter(|mapping| mapping.contains(address))
}

/// The difference between an address in the guest and in the object that is mapped there.
///
/// A page of the file can belong to two segments (the end of one and the start of the next) and
/// be mapped twice, at different distances. Then the one counts that agrees with where the other
/// segments are.
pub(crate) fn bias(mappings: &[Placed], mapping: &Placed, object: &ObjectFile, address: u64) -> Option<u64> {
    let offset = (address - mapping.start).checked_add(mapping.file_offset)?;
    let segments = object.segments();
    let candidates = || {
        segments.iter().filter(|segment| mapped_offsets(segment).contains(&offset)).map(|segment| {
            address.wrapping_sub(offset.wrapping_sub(segment.file_offset).wrapping_add(segment.address))
        })
    };
    let agrees = |bias: &u64| {
        segments.iter().filter(|segment| segment.file_size > 0).all(|segment| {
            let start = segment.address.wrapping_add(*bias);
            at(mappings, start).is_some_and(|other| {
                other.file == mapping.file
                    && (start - other.start).wrapping_add(other.file_offset) == segment.file_offset
            })
        })
    };
    candidates().find(agrees).or_else(|| candidates().next())
}

/// Whole pages are mapped, so what surrounds a segment in the file comes along.
fn mapped_offsets(segment: &Segment) -> std::ops::Range<u64> {
    let end = segment.file_offset.saturating_add(segment.file_size);
    (segment.file_offset & !(PAGE - 1))..end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
}
