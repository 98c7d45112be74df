//! Values of Rust's types.

use super::{Contents, Printer};
use crate::types::{Type, TypeId, Types};

impl<'a> Printer<'a> {
    /// Prints what Rust writes in its own way; false when the common form will do.
    pub(super) fn rust(
        &mut self,
        _types: &Types<'a>,
        _id: TypeId,
        _found: &Type,
        _contents: &Contents,
        _at: usize,
    ) -> bool {
        false
    }
}
