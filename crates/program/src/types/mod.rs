//! Types as debug information describes them.
//!
//! A type is a small handle. What it is, is read when it is asked for and kept; a part of a type is a handle
//! again, so types that contain pointers to themselves are nothing special.

mod definition;
mod model;
mod name;
mod read;
mod record;
mod rust;
mod uses;
mod view;

pub use model::{
    Access, Dimension, Encoding, Enumerator, Indirection, Keyword, Language, Member, Method, Qualifier,
    Record, Type, TypeId, TypeKind, Variant, VariantPart,
};
pub(crate) use view::{TypeCache, Types};
