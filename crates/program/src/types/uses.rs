//! The types that a type is made of.

use std::collections::BTreeMap;

use super::{TypeId, TypeKind, Types};

/// A library's types lead to each other; what is far away is left out.
const MOST_TYPES: usize = 512;

impl Types<'_> {
    /// Definitions of the named structs, unions, enumerations and typedefs that some types are made of, by name.
    pub fn definitions(&self, from: &[TypeId]) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut seen: Vec<TypeId> = Vec::new();
        let mut next: Vec<TypeId> = from.iter().rev().copied().collect();
        while let Some(id) = next.pop() {
            if seen.contains(&id) || seen.len() == MOST_TYPES {
                continue;
            }
            seen.push(id);
            let kind = self.get(id).kind.clone();
            let name = self.get(id).name.clone();
            if name.is_some() {
                match &kind {
                    TypeKind::Typedef { of } => {
                        let text = format!("typedef {}", self.declaration(*of, &self.name(Some(id))));
                        found.entry(self.name(Some(id))).or_insert(text);
                    }
                    TypeKind::Record(_) | TypeKind::Enum { .. } => {
                        found.entry(self.name(Some(id))).or_insert_with(|| self.definition(Some(id)));
                    }
                    _ => {}
                }
            }
            next.extend(parts(&kind).into_iter().flatten());
        }
        found
    }
}

fn parts(kind: &TypeKind) -> Vec<Option<TypeId>> {
    match kind {
        TypeKind::Pointer { to, .. } => vec![*to],
        TypeKind::MemberPointer { to, class } => vec![*to, *class],
        TypeKind::Qualified { of, .. } | TypeKind::Typedef { of } => vec![*of],
        TypeKind::Array { element, .. } => vec![*element],
        TypeKind::Record(record) => {
            let variants = record.variants.iter().flat_map(|part| &part.variants);
            let variants = variants.flat_map(|variant| &variant.members);
            record.members.iter().chain(variants).map(|member| member.of).collect()
        }
        TypeKind::Function { returns, parameters, .. } => {
            parameters.iter().copied().chain([*returns]).collect()
        }
        TypeKind::Base(_) | TypeKind::Enum { .. } | TypeKind::Unspecified | TypeKind::Unknown => Vec::new(),
    }
}
