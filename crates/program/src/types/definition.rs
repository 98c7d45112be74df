//! Types written out with their members.

use std::fmt::Write as _;

use super::name::Detail;
use super::{Access, Enumerator, Keyword, Language, Member, Method, Record, Type, TypeId, TypeKind, Types};

/// A definition that is longer is cut.
const LONGEST_DEFINITION: usize = 1 << 18;

impl Types<'_> {
    /// The whole definition, over several lines for structs.
    pub fn definition(&self, id: Option<TypeId>) -> String {
        self.write(id, String::new(), Detail::DEFINITION, 0)
    }

    pub(super) fn enum_body(
        &self,
        found: &Type,
        enumerators: &[Enumerator],
        is_declaration: bool,
        underlying: Option<TypeId>,
    ) -> String {
        if is_declaration && enumerators.is_empty() {
            return "{}".to_owned();
        }
        let mut text = String::new();
        if found.language == Language::Cpp
            && let Some((under, _)) = self.strip(underlying)
            && self.name(Some(under)) != "unsigned int"
        {
            let _ = write!(text, ": {} ", self.name(Some(under)));
        }
        text.push('{');
        let mut expected = 0;
        for (index, enumerator) in enumerators.iter().enumerate() {
            if text.len() > LONGEST_DEFINITION {
                break;
            }
            let separator = if index == 0 { "" } else { ", " };
            let _ = write!(text, "{separator}{}", enumerator.name);
            if enumerator.value != expected {
                let _ = write!(text, " = {}", enumerator.value);
            }
            expected = enumerator.value.wrapping_add(1);
        }
        text.push('}');
        text
    }

    pub(super) fn record_body(
        &self,
        id: TypeId,
        found: &Type,
        record: &Record,
        detail: Detail,
        depth: usize,
    ) -> String {
        let inside = detail.inside();
        let indent = " ".repeat(inside.indent);
        let mut text = self.bases(record);
        text.push_str("{\n");
        let members: Vec<&Member> = record.members.iter().filter(|member| is_shown(member)).collect();
        let methods: Vec<&Method> = record.methods.iter().filter(|method| !method.is_artificial).collect();
        if record.is_declaration {
            let _ = writeln!(text, "{indent}<incomplete type>");
        } else if members.is_empty() && methods.is_empty() {
            let _ = writeln!(text, "{indent}<no data fields>");
        }
        let mut section = Section::new(record, &members, &methods, detail.indent);
        for member in &members {
            section.enter(member.access, &mut text);
            let modifier = if member.is_static { "static " } else { "" };
            let declared = self.write(member.of, member.name.clone().unwrap_or_default(), inside, depth + 1);
            let bits = member.bits.map_or_else(String::new, |(_, size)| format!(" : {size}"));
            let _ = writeln!(text, "{indent}{modifier}{declared}{bits};");
            if text.len() > LONGEST_DEFINITION {
                break;
            }
        }
        if !methods.is_empty() && !members.is_empty() {
            text.push('\n');
        }
        for method in methods {
            section.enter(method.access, &mut text);
            let _ = writeln!(text, "{indent}{};", self.method(found, method, depth));
        }
        if !record.typedefs.is_empty() && found.language == Language::Cpp {
            text.push('\n');
            for (name, of) in &record.typedefs {
                let _ = writeln!(text, "{indent}typedef {};", self.declaration(*of, name));
            }
        }
        let _ = id;
        let _ = write!(text, "{}}}", " ".repeat(detail.indent));
        text
    }

    fn bases(&self, record: &Record) -> String {
        let mut text = String::new();
        for member in record.members.iter().filter(|member| member.is_base) {
            let separator = if text.is_empty() { ": " } else { ", " };
            let access = match member.access {
                Access::Public => "public",
                Access::Protected => "protected",
                Access::Private => "private",
            };
            let by_table = if member.is_virtual { " virtual" } else { "" };
            let _ = write!(text, "{separator}{access}{by_table} {}", self.name(member.of));
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text
    }

    fn method(&self, found: &Type, method: &Method, depth: usize) -> String {
        let mut text = String::new();
        if method.is_virtual {
            text.push_str("virtual ");
        } else if method.is_static {
            text.push_str("static ");
        }
        let own = found.name.as_deref().unwrap_or_default();
        let own = own.rsplit("::").next().unwrap_or(own);
        let own = own.split('<').next().unwrap_or(own);
        let makes = method.name.strip_prefix('~').unwrap_or(&method.name);
        if makes.split('<').next() != Some(own) && !method.name.starts_with("operator ") {
            let returns = self.write(method.returns, String::new(), Detail::NAME, depth + 1);
            let space = if returns.ends_with(['*', '&']) { "" } else { " " };
            let _ = write!(text, "{returns}{space}");
        }
        let list = self.parameter_list(&method.parameters, method.is_variadic, true, depth);
        let _ = write!(text, "{}({list})", method.name);
        if method.is_const {
            text.push_str(" const");
        }
        text
    }
}

fn is_shown(member: &Member) -> bool {
    let is_table = member.name.as_deref().is_some_and(|name| name.starts_with("_vptr"));
    !member.is_base && !is_table
}

/// The `public:` and `private:` lines of a class.
struct Section {
    current: Option<Access>,
    is_used: bool,
    indent: String,
}

impl Section {
    fn new(record: &Record, members: &[&Member], methods: &[&Method], indent: usize) -> Section {
        let accesses = || {
            let of_members = members.iter().map(|member| member.access);
            of_members.chain(methods.iter().map(|method| method.access))
        };
        let is_used = match record.keyword {
            // In a class, a lone private part needs no words.
            Keyword::Class => accesses().any(|access| access != Access::Private),
            _ => accesses().any(|access| access != Access::Public),
        };
        Section { current: None, is_used, indent: " ".repeat(indent + 2) }
    }

    fn enter(&mut self, access: Access, text: &mut String) {
        if !self.is_used || self.current == Some(access) {
            return;
        }
        self.current = Some(access);
        let word = match access {
            Access::Public => "public",
            Access::Protected => "protected",
            Access::Private => "private",
        };
        let _ = writeln!(text, "{}{word}:", self.indent);
    }
}

/// Rust's way to write types.
impl Types<'_> {
    pub(super) fn rust_base(&self, found: &Type, id: TypeId, detail: Detail, depth: usize) -> String {
        let name = found.name.clone();
        match &found.kind {
            TypeKind::Pointer { to, .. } => match name {
                Some(name) if detail.levels <= 0 => name,
                _ => format!("*mut {}", self.write(*to, String::new(), Detail::NAME, depth + 1)),
            },
            TypeKind::Array { element, dimensions, .. } => {
                let element = self.write(*element, String::new(), Detail::NAME, depth + 1);
                let count = dimensions.first().and_then(|dimension| dimension.count);
                match count {
                    Some(count) => format!("[{element}; {count}]"),
                    None => format!("[{element}]"),
                }
            }
            TypeKind::Function { returns, parameters, .. } => {
                let list = self.parameter_list(parameters, false, false, depth);
                match returns {
                    Some(returns) => {
                        let returns = self.write(Some(*returns), String::new(), Detail::NAME, depth + 1);
                        format!("fn ({list}) -> {returns}")
                    }
                    None => format!("fn ({list})"),
                }
            }
            TypeKind::Record(record) if detail.levels > 0 => self.rust_record(found, record, detail, depth),
            _ => {
                let _ = id;
                name.unwrap_or_else(|| "()".to_owned())
            }
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
        let mut text = format!("{keyword} {name} {{\n");
        for member in &record.members {
            let of = self.write(member.of, String::new(), Detail::NAME, depth + 1);
            let _ = writeln!(text, "{indent}{}: {of},", member.name.as_deref().unwrap_or_default());
        }
        if let Some(part) = &record.variants {
            for variant in part.variants.iter().flat_map(|variant| &variant.members) {
                let name = variant.name.as_deref().unwrap_or_default();
                let _ = writeln!(text, "{indent}{name}{},", self.rust_variant(variant.of));
            }
        }
        let _ = write!(text, "{}}}", " ".repeat(detail.indent));
        text
    }

    fn rust_variant(&self, of: Option<TypeId>) -> String {
        let Some((_, found)) = self.strip(of) else { return String::new() };
        let TypeKind::Record(record) = &found.kind else { return String::new() };
        let is_tuple = record
            .members
            .iter()
            .all(|member| member.name.as_deref().is_some_and(|name| name.starts_with("__")));
        let parts: Vec<String> = record
            .members
            .iter()
            .map(|member| {
                let of = self.name(member.of);
                if is_tuple { of } else { format!("{}: {of}", member.name.as_deref().unwrap_or_default()) }
            })
            .collect();
        match (parts.is_empty(), is_tuple) {
            (true, _) => String::new(),
            (_, true) => format!("({})", parts.join(", ")),
            (_, false) => format!("{{{}}}", parts.join(", ")),
        }
    }
}
