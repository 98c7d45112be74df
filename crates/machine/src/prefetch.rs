//! Fetching what is going to be looked at soon.

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// Bytes that the host's caches fetch at once.
const LINE: usize = 64;

/// Fetches all of a value, wherever it may be: the pointer is not followed.
#[inline(always)]
pub fn prefetch<T>(value: *const T) {
    for offset in (0..size_of::<T>()).step_by(LINE) {
        // SAFETY: a hint, which reads nothing and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(value.cast::<i8>().wrapping_add(offset)) };
    }
}
