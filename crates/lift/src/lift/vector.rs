//! SSE and SSE2.

use super::Lifter;

pub(super) fn lift(_: &mut Lifter) -> bool {
    false
}
