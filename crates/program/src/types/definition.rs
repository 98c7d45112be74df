//! Types written out with their members.

use std::fmt::Write as _;

use super::name::Detail;
use super::{Access, Enumerator, Keyword, Language, Member, Method, Record, Type, TypeId, TypeKind, Types};

/// A definition that is longer is cut.
const LONGEST_DEFINITION: usize = 1 << 18;

impl Types<'_> {
    /// The whole definition, over several lines for structs.
    pub fn definition(&self, id: Option<TypeId>) -> String {
        match self.strip(id) {
            Some((_, found)) if matches!(found.kind, TypeKind::Unspecified) => "void".to_owned(),
            _ => self.write(id, String::new(), Detail::DEFINITION, 0),
        }
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

    pub(super) fn record_body(&self, found: &Type, record: &Record, detail: Detail, depth: usize) -> String {
        let given = self.with_substitutions(&record.template_types);
        let inside = detail.inside();
        let indent = " ".repeat(inside.indent);
        let mut text = self.template_types(record) + &self.bases(record);
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
            let declared = given.write(member.of, member.name.clone().unwrap_or_default(), inside, depth + 1);
            let bits = member.bits.map_or_else(String::new, |(_, size)| format!(" : {size}"));
            let _ = writeln!(text, "{indent}{modifier}{declared}{bits};");
            if text.len() > LONGEST_DEFINITION {
                break;
            }
        }
        if !methods.is_empty() && section.current.is_some() {
            text.push('\n');
        }
        section.is_used = true;
        for method in methods {
            section.enter(method.access, &mut text);
            let _ = writeln!(text, "{indent}{};", given.method(found, method, depth));
        }
        if !record.typedefs.is_empty() && found.language == Language::Cpp {
            text.push('\n');
            for (name, of) in &record.typedefs {
                let _ = writeln!(text, "{indent}typedef {};", self.declaration(*of, name));
            }
        }
        let _ = write!(text, "{}}}", " ".repeat(detail.indent));
        text
    }

    /// `[with T = int] `: inside of the braces the parameter's name stands for the type.
    fn template_types(&self, record: &Record) -> String {
        let types = record.template_types.iter();
        let texts: Vec<String> = types.map(|(name, of)| format!("{name} = {}", self.name(*of))).collect();
        if texts.is_empty() { String::new() } else { format!("[with {}] ", texts.join(", ")) }
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
