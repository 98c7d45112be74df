//! Compiler-made names back into what the source says.

use std::fmt::{self, Write};

/// Names of template instances can be exponentially longer than their mangled form.
const LONGEST: usize = 4096;

/// The source form of a mangled C++ or Rust name; `None` for names that are not mangled.
pub fn demangle(name: &str) -> Option<String> {
    demangle_with(name, false)
}

/// The same, with the hash that tells Rust's symbols of one name apart.
pub(crate) fn demangle_whole(name: &str) -> Option<String> {
    demangle_with(name, true)
}

fn demangle_with(name: &str, with_hash: bool) -> Option<String> {
    if !name.starts_with("_Z") && !name.starts_with("_R") {
        return None;
    }
    if is_rust(name)
        && let Ok(rust) = rustc_demangle::try_demangle(name)
    {
        let mut text = Bounded::default();
        // The alternate form leaves out the hash.
        if with_hash { write!(text, "{rust}") } else { write!(text, "{rust:#}") }.ok()?;
        return Some(text.0);
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let mut text = Bounded::default();
    let options = cpp_demangle::DemangleOptions::new();
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(in_common_words(&text.0))
}

/// Rust's older names look like C++'s but for the hash at the end.
fn is_rust(name: &str) -> bool {
    let hash = name
        .split('.')
        .next()
        .and_then(|name| name.strip_suffix('E'))
        .and_then(|name| name.get(name.len().checked_sub(19)?..));
    name.starts_with("_R") || hash.is_some_and(|hash| hash.starts_with("17h"))
}

/// Other tools' words for what no source names.
fn in_common_words(name: &str) -> String {
    let name = name.replace("_GLOBAL__N_1", "(anonymous namespace)");
    let made = [
        ("{vtable(", "vtable for "),
        ("{vtt(", "VTT for "),
        ("{typeinfo(", "typeinfo for "),
        ("{typeinfo name(", "typeinfo name for "),
    ];
    for (prefix, words) in made {
        if let Some(of) = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(")}")) {
            return format!("{words}{of}");
        }
    }
    name
}

/// A demangled name without its parameter list and template arguments at the end, which is what
/// a person types: `shapes::area` for `shapes::area(int, int)`.
pub(crate) fn without_parameters(name: &str) -> &str {
    let mut depth = 0usize;
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            // `(anonymous namespace)::f` and `operator()` begin with or contain a parenthesis
            // that opens no parameter list.
            '(' if depth == 0
                && at > 0
                && !name[at..].starts_with("(anonymous namespace)")
                && !name[..at].ends_with("operator") =>
            {
                return &name[..at];
            }
            _ => {}
        }
    }
    name
}

#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_languages_are_demangled_and_plain_ones_left_alone() {
        assert_eq!(demangle("_ZN6shapes4areaEii").as_deref(), Some("shapes::area(int, int)"));
        assert_eq!(
            demangle("_ZN4core9panicking5panic17h0123456789abcdefE").as_deref(),
            Some("core::panicking::panic")
        );
        assert_eq!(demangle("_RNvC6_123foo3bar").as_deref(), Some("123foo::bar"));
        assert_eq!(demangle("_ZN12_GLOBAL__N_16hiddenE").as_deref(), Some("(anonymous namespace)::hidden"));
        assert_eq!(demangle("_ZTV6Square").as_deref(), Some("vtable for Square"));
        assert_eq!(demangle("_ZN12_GLOBAL__N_11fEv").as_deref(), Some("(anonymous namespace)::f()"));
        assert_eq!(demangle("main"), None);
        assert_eq!(demangle("_Z"), None);
    }

    #[test]
    fn parameters_are_cut_off_but_not_templates_or_namespaces() {
        assert_eq!(without_parameters("shapes::area(int, int)"), "shapes::area");
        assert_eq!(without_parameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
        assert_eq!(without_parameters("S::operator()(int) const"), "S::operator()");
        assert_eq!(without_parameters("f<void (*)(int)>(int)"), "f<void (*)(int)>");
        assert_eq!(without_parameters("main"), "main");
    }

    #[test]
    fn a_name_that_would_grow_without_bound_is_refused() {
        // Each template argument names the one before it twice.
        let mut name = String::from("_Z1fI1AIiiE");
        for level in 0..40 {
            let seq = if level == 0 { String::new() } else { base36(level - 1) };
            name.push_str(&format!("1AIS{seq}_S{seq}_E"));
        }
        name.push_str("Evv");
        if let Some(text) = demangle(&name) {
            assert!(text.len() <= LONGEST);
        }
    }

    fn base36(n: usize) -> String {
        char::from_digit(n as u32 % 36, 36).map(|c| c.to_ascii_uppercase().to_string()).unwrap_or_default()
    }
}
