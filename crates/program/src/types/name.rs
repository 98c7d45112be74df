//! A type in the words of its language: `struct node *`, `int [3][4]`, `char *(*)(int)`.

use std::fmt::Write as _;

use super::{Dimension, Indirection, Keyword, Language, Qualifier, Type, TypeId, TypeKind, Types};

/// Types are written inside of each other; real ones are a dozen deep.
const DEEPEST_NAME: usize = 48;

/// Parameter lists of parameter lists can be of any length.
const LONGEST_NAME: usize = 1 << 14;

/// How much of a struct or enum is written where its name would do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Detail {
    /// How many levels of structs are written out; typedefs are seen through while there are any.
    pub levels: i32,
    pub indent: usize,
}

impl Detail {
    pub const NAME: Detail = Detail { levels: -1, indent: 0 };
    pub const DEFINITION: Detail = Detail { levels: 1, indent: 0 };

    /// For the members of what is written out with this much detail.
    pub fn inside(self) -> Detail {
        Detail { levels: self.levels - 1, indent: self.indent + 4 }
    }
}

impl Types<'_> {
    /// As a cast has it.
    pub fn name(&self, id: Option<TypeId>) -> String {
        self.declaration(id, "")
    }

    /// As the declaration of `variable` has it.
    pub fn declaration(&self, id: Option<TypeId>, variable: &str) -> String {
        self.write(id, variable.to_owned(), Detail::NAME, 0)
    }

    /// Written inside out: `inner` is what stands in the middle.
    pub(super) fn write(&self, id: Option<TypeId>, inner: String, detail: Detail, depth: usize) -> String {
        if depth == DEEPEST_NAME || inner.len() > LONGEST_NAME {
            return format!("... {inner}");
        }
        let (qualifiers, mut below) = self.unqualified(id);
        if detail.levels > 0 {
            below = self.strip(below).map(|(id, _)| id);
        }
        let Some(id) = below else {
            // In a definition, void is just void.
            let qualifiers = if detail.levels > 0 { &[] } else { &qualifiers[..] };
            return join(&before("void", qualifiers), &inner);
        };
        let found = self.get(id);
        if found.language == Language::Rust {
            return join(&self.rust_base(&found, detail, depth), &inner);
        }
        match &found.kind {
            TypeKind::Pointer { to, indirection } => {
                let star = match indirection {
                    Indirection::Pointer => "*",
                    Indirection::Reference => "&",
                    Indirection::RvalueReference => "&&",
                };
                let inner = after_star(star, &qualifiers, &inner);
                self.write(*to, self.grouped(*to, inner, detail), detail, depth + 1)
            }
            TypeKind::MemberPointer { to, class } => {
                let star = format!("{}::*", self.write(*class, String::new(), Detail::NAME, depth + 1));
                let inner = after_star(&star, &qualifiers, &inner);
                self.write(*to, self.grouped(*to, inner, detail), detail, depth + 1)
            }
            TypeKind::Array { element, dimensions, is_vector } => {
                let bounds: String = dimensions.iter().map(|bound| self.bound(bound, *is_vector)).collect();
                self.write(*element, format!("{inner}{bounds}"), detail, depth + 1)
            }
            TypeKind::Function { returns, parameters, is_variadic, is_prototyped } => {
                let is_known = *is_prototyped || found.language == Language::Cpp;
                let list = self.parameter_list(parameters, *is_variadic, is_known, depth);
                self.write(*returns, format!("{inner}({list})"), detail, depth + 1)
            }
            _ => join(&before(&self.base(&found, detail, depth), &qualifiers), &inner),
        }
    }

    /// A pointer to an array or function needs parentheses.
    fn grouped(&self, to: Option<TypeId>, inner: String, detail: Detail) -> String {
        let (_, mut below) = self.unqualified(to);
        if detail.levels > 0 {
            below = self.strip(below).map(|(id, _)| id);
        }
        let is_group = below.is_some_and(|id| {
            matches!(self.get(id).kind, TypeKind::Array { .. } | TypeKind::Function { .. })
        });
        if is_group { format!("({inner})") } else { inner }
    }

    fn bound(&self, dimension: &Dimension, is_vector: bool) -> String {
        let computed = || self.counts?(dimension.computed?);
        match dimension.count.or_else(computed) {
            Some(count) if is_vector => format!(" __attribute__ ((vector_size({count})))"),
            Some(count) => format!("[{count}]"),
            None if dimension.computed.is_some() => "[variable length]".to_owned(),
            None => "[]".to_owned(),
        }
    }

    pub(super) fn parameter_list(
        &self,
        parameters: &[Option<TypeId>],
        is_variadic: bool,
        is_known: bool,
        depth: usize,
    ) -> String {
        let mut list = String::new();
        for (index, parameter) in parameters.iter().enumerate() {
            if list.len() > LONGEST_NAME {
                break;
            }
            let separator = if index == 0 { "" } else { ", " };
            let name = self.write(*parameter, String::new(), Detail::NAME, depth + 1);
            let _ = write!(list, "{separator}{name}");
        }
        match (is_variadic, parameters.is_empty()) {
            (true, true) if !is_known => String::new(),
            (true, true) => "...".to_owned(),
            (true, false) => list + ", ...",
            (false, true) if is_known => "void".to_owned(),
            (false, _) => list,
        }
    }

    /// What has a name, or is written out with braces.
    fn base(&self, found: &Type, detail: Detail, depth: usize) -> String {
        if let Some(name) = self.substitution(found) {
            return name.to_owned();
        }
        let name = found.name.as_deref();
        match &found.kind {
            TypeKind::Record(record) => {
                let keyword = match record.keyword {
                    Keyword::Struct => "struct",
                    Keyword::Class => "class",
                    Keyword::Union => "union",
                };
                self.tagged(keyword, found, detail, || self.record_body(found, record, detail, depth))
            }
            TypeKind::Enum { enumerators, is_class, is_declaration, underlying, .. } => {
                let keyword = if *is_class { "enum class" } else { "enum" };
                let body = || self.enum_body(found, enumerators, *is_declaration, *underlying);
                self.tagged(keyword, found, detail, body)
            }
            TypeKind::Base(_) => {
                name.map_or_else(|| "<unnamed>".to_owned(), |name| plain_base_name(name).to_owned())
            }
            TypeKind::Unspecified | TypeKind::Typedef { .. } => name.unwrap_or("void").to_owned(),
            _ => name.unwrap_or("<unknown type>").to_owned(),
        }
    }

    /// `struct node`, `struct {...}`, or all of it.
    fn tagged(&self, keyword: &str, found: &Type, detail: Detail, body: impl Fn() -> String) -> String {
        match &found.name {
            Some(name) if detail.levels <= 0 => match found.language {
                Language::C => format!("{keyword} {name}"),
                _ => name.clone(),
            },
            Some(name) => format!("{keyword} {name} {}", body()),
            None if detail.levels < 0 => format!("{keyword} {{...}}"),
            None => format!("{keyword} {}", body()),
        }
    }
}

fn join(base: &str, inner: &str) -> String {
    if inner.is_empty() { base.to_owned() } else { format!("{base} {inner}") }
}

fn before(base: &str, qualifiers: &[Qualifier]) -> String {
    let mut text = String::new();
    for qualifier in sorted(qualifiers) {
        text.push_str(word(qualifier));
        text.push(' ');
    }
    text + base
}

fn after_star(star: &str, qualifiers: &[Qualifier], inner: &str) -> String {
    let mut text = star.to_owned();
    for qualifier in sorted(qualifiers) {
        text.push(' ');
        text.push_str(word(qualifier));
    }
    let needs_space = !qualifiers.is_empty() && !inner.is_empty() && !inner.starts_with('[');
    if needs_space {
        text.push(' ');
    }
    text + inner
}

/// In one order, however they were written.
fn sorted(qualifiers: &[Qualifier]) -> impl Iterator<Item = Qualifier> {
    let all = [Qualifier::Const, Qualifier::Volatile, Qualifier::Restrict, Qualifier::Atomic];
    all.into_iter().filter(|qualifier| qualifiers.contains(qualifier))
}

fn word(qualifier: Qualifier) -> &'static str {
    match qualifier {
        Qualifier::Const => "const",
        Qualifier::Volatile => "volatile",
        Qualifier::Restrict => "restrict",
        Qualifier::Atomic => "_Atomic",
    }
}

/// Compilers agree on what `long` is, but not on whether it is spelt `long int`.
fn plain_base_name(name: &str) -> &str {
    match name {
        "short int" | "signed short" => "short",
        "short unsigned int" => "unsigned short",
        "long int" | "signed long" => "long",
        "long unsigned int" => "unsigned long",
        "long long int" | "signed long long" => "long long",
        "long long unsigned int" => "unsigned long long",
        name => name,
    }
}
