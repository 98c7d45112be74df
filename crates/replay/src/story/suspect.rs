//! Trusted code that a story would have to go into.

use std::collections::BTreeMap;

use program::{Trust, TrustReason};

use super::web::Web;
use crate::dependence::Code;

/// What comes with every program; suspecting it seldom helps. Up to the first character that is no part of such a name.
const STANDARD: [&str; 7] =
    ["libc", "libm", "libstdc++", "libgcc_s", "libpthread", "ld-linux-x86-64", "libasan"];

/// The same of sources, which headers and generic code bring into the program itself.
const STANDARD_SOURCES: [&str; 3] = ["/usr/include/", "/usr/lib/", "/rustc/"];
/// Wherever rustup keeps them.
const RUST_SOURCES: &str = "/lib/rustlib/";

/// If more of the work that a story is about was done by trusted code that has debug information than by other code: a pattern
/// for most of that code.
pub(super) fn pattern(web: &Web, code: &Code<'_>) -> Option<String> {
    let (mut patterns, mut other): (BTreeMap<String, u64>, u64) = (BTreeMap::new(), web.own_work);
    for (address, times) in &web.trusted_work {
        match pattern_of(*address, code) {
            Some(pattern) => *patterns.entry(pattern).or_default() += times,
            None => other += times,
        }
    }
    let hidden: u64 = patterns.values().sum();
    let most = patterns.into_iter().max_by_key(|(_, times)| *times)?;
    (hidden > other).then_some(most.0)
}

/// A pattern for the trusted code at an address: its library, or in the program itself the directory of its source.
fn pattern_of(address: u64, code: &Code<'_>) -> Option<String> {
    let program = code.program();
    let object = program.locate(address).object?;
    let is_asked = || matches!(code.trust(address), Trust::Trusted(TrustReason::Asked { .. }));
    if is_standard(&object) || !program.has_debug_info(address) || is_asked() {
        return None;
    }
    let file = program.statement_at(address)?.file;
    if is_standard_source(&file) {
        return None;
    }
    if program.main_object() != Some(&object) {
        return Some(object.to_string());
    }
    Some(file.rsplit_once('/').map_or_else(|| file.to_string(), |(directory, _)| directory.to_owned()))
}

fn is_standard_source(file: &str) -> bool {
    STANDARD_SOURCES.iter().any(|directory| file.starts_with(directory)) || file.contains(RUST_SOURCES)
}

fn is_standard(object: &str) -> bool {
    let name = object.rsplit('/').next().unwrap_or(object);
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['.', '-']);
    STANDARD.iter().any(|standard| name.strip_prefix(standard).is_some_and(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_of_those_are_known_by_where_they_are() {
        for file in ["/usr/include/c++/12/bits/stl_vector.h", "/rustc/9fc6b4/library/core/src/option.rs"] {
            assert!(is_standard_source(file), "{file}");
        }
        for file in ["/usr/local/include/mine.h", "/home/me/.cargo/registry/src/index/regex/src/lib.rs"] {
            assert!(!is_standard_source(file), "{file}");
        }
    }

    #[test]
    fn the_libraries_of_languages_are_known_by_their_names() {
        for name in ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "libm-2.31.so"] {
            assert!(is_standard(name), "{name}");
        }
        for name in ["/usr/local/lib/libcount.so", "/usr/lib/libmine.so.1", "/home/me/a.out"] {
            assert!(!is_standard(name), "{name}");
        }
    }
}
