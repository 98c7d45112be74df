//! The types of one object, read once each.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::read;
use super::{Qualifier, Type, TypeId, TypeKind};
use crate::entries::{DEEPEST, Debug, Die};

/// What has been read so far.
pub(crate) type TypeCache = RefCell<HashMap<Die, Arc<Type>>>;

#[derive(Clone, Copy)]
pub(crate) struct Types<'a> {
    pub debug: Debug<'a>,
    pub object: u32,
    cache: &'a TypeCache,
    /// Tells lengths that are computed, in a running program.
    pub(super) counts: Option<&'a dyn Fn(Die) -> Option<u64>>,
    /// Names that stand for types inside of a template.
    substitutions: &'a [(String, Option<TypeId>)],
}

impl<'a> Types<'a> {
    pub fn new(debug: Debug<'a>, object: u32, cache: &'a TypeCache) -> Types<'a> {
        Types { debug, object, cache, counts: None, substitutions: &[] }
    }

    /// The same, with a teller of computed lengths.
    pub fn with_counts<'b>(self, counts: &'b dyn Fn(Die) -> Option<u64>) -> Types<'b>
    where
        'a: 'b,
    {
        Types { counts: Some(counts), ..self }
    }

    /// The same, with names that stand for types.
    pub(super) fn with_substitutions<'b>(self, substitutions: &'b [(String, Option<TypeId>)]) -> Types<'b>
    where
        'a: 'b,
    {
        Types { substitutions, ..self }
    }

    /// The name that stands for a type here.
    pub(super) fn substitution(&self, found: &Type) -> Option<&str> {
        let mut given = self.substitutions.iter();
        let same = |of: &Option<TypeId>| self.strip(*of).is_some_and(|(_, of)| of.name == found.name);
        let (name, _) = given.find(|(_, of)| found.name.is_some() && same(of))?;
        Some(name)
    }

    pub fn id(&self, die: Die) -> TypeId {
        TypeId { object: self.object, die }
    }

    pub fn get(&self, id: TypeId) -> Arc<Type> {
        if let Some(known) = self.cache.borrow().get(&id.die) {
            return known.clone();
        }
        let read = Arc::new(read::read(self, id.die));
        self.cache.borrow_mut().insert(id.die, read.clone());
        read
    }

    /// The type without typedefs and qualifiers around it, and its handle. `None` is void.
    pub fn strip(&self, id: Option<TypeId>) -> Option<(TypeId, Arc<Type>)> {
        let mut id = id?;
        // A typedef of itself is the work of a damaged file.
        for _ in 0..DEEPEST {
            let found = self.get(id);
            match found.kind {
                TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } => id = of?,
                _ => return Some((id, found)),
            }
        }
        None
    }

    /// The type below its own qualifiers, which are returned too.
    pub fn unqualified(&self, id: Option<TypeId>) -> (Vec<Qualifier>, Option<TypeId>) {
        let mut qualifiers = Vec::new();
        let mut id = id;
        while let Some(inner) = id
            && qualifiers.len() < DEEPEST
        {
            let TypeKind::Qualified { qualifier, of } = self.get(inner).kind else { break };
            if !qualifiers.contains(&qualifier) {
                qualifiers.push(qualifier);
            }
            id = of;
        }
        (qualifiers, id)
    }

    /// In bytes; the greatest number where it is more than there are addresses.
    pub fn size(&self, id: Option<TypeId>) -> Option<u64> {
        let mut size = 1u64;
        let mut id = id;
        for _ in 0..DEEPEST {
            let (_, found) = self.strip(id)?;
            if let Some(known) = found.size {
                return Some(size.saturating_mul(known));
            }
            let TypeKind::Array { element, dimensions, .. } = &found.kind else { return None };
            for dimension in dimensions {
                size = size.saturating_mul(dimension.count?);
            }
            id = *element;
        }
        None
    }
}
