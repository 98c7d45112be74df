//! Rust's way to write types.

use std::fmt::Write as _;

use super::name::Detail;
use super::{Keyword, Member, Record, Type, TypeId, TypeKind, Types};

impl Types<'_> {
    pub(super) fn rust_base(&self, found: &Type, detail: Detail, depth: usize) -> String {
        let inner = |id: Option<TypeId>| self.write(id, String::new(), Detail::NAME, depth + 1);
        match &found.kind {
            // Debuggers see no difference between references and pointers.
            TypeKind::Pointer { to, .. } => format!("*mut {}", inner(*to)),
            TypeKind::Array { element, dimensions, .. } => {
                match dimensions.first().and_then(|dimension| dimension.count) {
                    Some(count) => format!("[{}; {count}]", inner(*element)),
                    None => format!("[{}]", inner(*element)),
                }
            }
            TypeKind::Function { returns, parameters, .. } => {
                let list = self.parameter_list(parameters, false, false, depth);
                match returns {
                    Some(returns) => format!("fn ({list}) -> {}", inner(Some(*returns))),
                    None => format!("fn ({list})"),
                }
            }
            TypeKind::Record(record) if detail.levels > 0 && !is_tuple_name(found) => {
                self.rust_record(found, record, detail, depth)
            }
            TypeKind::Enum { enumerators, .. } if detail.levels > 0 => {
                let name = found.name.as_deref().unwrap_or_default();
                let names: String = enumerators.iter().map(|known| format!("  {},\n", known.name)).collect();
                format!("enum {name} {{\n{names}}}")
            }
            _ => found.name.clone().unwrap_or_else(|| "()".to_owned()),
        }
    }

    fn rust_record(&self, found: &Type, record: &Record, detail: Detail, depth: usize) -> String {
        let indent = " ".repeat(detail.indent + 2);
        let name = found.name.as_deref().unwrap_or_default();
        let keyword = match (&record.variants, record.keyword) {
            (Some(_), _) => "enum",
            (_, Keyword::Union) => "union",
            _ => "struct",
        };
        if record.members.is_empty() && record.variants.is_none() {
            return format!("{keyword} {name}");
        }
        let is_tuple = record.variants.is_none() && record.members.iter().all(Member::is_position);
        let (open, close) = if is_tuple { ('(', ')') } else { ('{', '}') };
        let mut text = format!("{keyword} {name} {open}\n");
        for member in &record.members {
            let of = self.write(member.of, String::new(), Detail::NAME, depth + 1);
            let _ = match is_tuple {
                true => writeln!(text, "{indent}{of},"),
                false => writeln!(text, "{indent}{}: {of},", member.name.as_deref().unwrap_or_default()),
            };
        }
        if let Some(part) = &record.variants {
            for variant in part.variants.iter().flat_map(|variant| &variant.members) {
                let name = variant.name.as_deref().unwrap_or_default();
                let _ = writeln!(text, "{indent}{name}{},", self.rust_variant(variant.of));
            }
        }
        let _ = write!(text, "{}{close}", " ".repeat(detail.indent));
        text
    }

    fn rust_variant(&self, of: Option<TypeId>) -> String {
        let Some((_, found)) = self.strip(of) else { return String::new() };
        let TypeKind::Record(record) = &found.kind else { return String::new() };
        let is_tuple = record.members.iter().all(Member::is_position);
        let part = |member: &Member| match is_tuple {
            true => self.name(member.of),
            false => format!("{}: {}", member.name.as_deref().unwrap_or_default(), self.name(member.of)),
        };
        let parts: Vec<String> = record.members.iter().map(part).collect();
        match (parts.is_empty(), is_tuple) {
            (true, _) => String::new(),
            (_, true) => format!("({})", parts.join(", ")),
            (_, false) => format!("{{{}}}", parts.join(", ")),
        }
    }
}

fn is_tuple_name(found: &Type) -> bool {
    found.name.as_deref().is_some_and(|name| name.starts_with('('))
}
