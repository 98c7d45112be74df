//! Which code is under suspicion. What belongs to the program is in scope; what comes with the system, the
//! compiler or a package registry is trusted to be right, until the user says otherwise.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::program::Program;
use crate::statements::Stmt;

/// Where the system keeps libraries and what belongs to compilers.
const SYSTEM_DIRECTORIES: [&str; 7] =
    ["/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/"];

/// Where headers of others are.
const HEADER_DIRECTORIES: [&str; 2] = ["/usr/include/", "/usr/local/include/"];

/// Parts of paths where cargo and rustup keep sources of others, wherever their homes are.
const FOREIGN_PARTS: [&str; 3] = ["/registry/src/", "/.cargo/git/checkouts/", "/lib/rustlib/"];

/// The standard library of Rust names its sources so, and those of what it is made with.
const RUST_LIBRARY: [&str; 2] = ["/rustc/", "/rust/deps/"];

/// Damaged tables can name files without end.
const MOST_SOURCES: usize = 1 << 16;

/// What was said about which code is suspect.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    trusted: Patterns,
    suspected: Patterns,
}

/// Whether code is under suspicion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    InScope,
    Trusted(TrustReason),
}

/// Why code is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustReason {
    /// The user said so, with this pattern.
    Asked { pattern: Arc<str> },
    /// Its object is a library of the system.
    SystemLibrary,
    /// Its source belongs to the system, the compiler or a package registry.
    SystemSource,
    /// Its object is a library without debug information.
    NoDebugInfo,
    /// The rest of its object has sources, this code has none: it comes from a library that was linked in.
    NoSource,
    /// No object has it.
    NoObject,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pattern:?} is no pattern for paths: {reason}")]
pub struct ScopeError {
    pattern: String,
    reason: String,
}

impl Scope {
    /// Patterns for paths of objects and of source files. What fits a pattern of `suspect` is in scope, also
    /// when it fits one of `trust`: who suspects something wants it looked at.
    ///
    /// A pattern stands for the end of a path, by whole components, or for a directory with all that is in
    /// it: `util.c`, `lib/*.c`, `/home/me/vendor`. A star does not cross a slash; two do.
    pub fn new(trust: &[String], suspect: &[String]) -> Result<Scope, ScopeError> {
        Ok(Scope { trusted: Patterns::new(trust)?, suspected: Patterns::new(suspect)? })
    }

    /// Whether the code at `address` is under suspicion.
    pub fn of(&self, program: &Program, address: u64) -> Trust {
        let Some((object, _)) = program.place(address) else { return Trust::Trusted(TrustReason::NoObject) };
        let is_main = program.main_object() == Some(&object.path);
        // Reading a library's debug information takes time, and only a pattern could make a difference.
        if !is_main && self.is_empty() && in_any(&object.path, &SYSTEM_DIRECTORIES) {
            return Trust::Trusted(TrustReason::SystemLibrary);
        }
        let has_debug_info = object.debug_info().is_some();
        let file = if has_debug_info { file_of(program, address) } else { None };
        self.judge(&object.path, file.as_deref(), is_main, has_debug_info)
    }

    /// Whether all that is in the object at `address` is trusted, whatever its sources are; that is known without them.
    pub fn trusts_object_at(&self, program: &Program, address: u64) -> bool {
        program.place(address).is_some_and(|(object, _)| self.trusts_object(program, &object.path))
    }

    fn trusts_object(&self, program: &Program, path: &Arc<str>) -> bool {
        self.suspected.given.is_empty()
            && program.main_object() != Some(path)
            && in_any(path, &SYSTEM_DIRECTORIES)
    }

    /// Whether a statement is under suspicion: for code that was inlined, its own source counts.
    pub fn of_statement(&self, program: &Program, stmt: &Stmt) -> Trust {
        let is_main = program.main_object() == Some(&stmt.object);
        self.judge(&stmt.object, Some(&stmt.file), is_main, true)
    }

    /// The source files that the debug information of code in scope names, sorted. For this the debug information of
    /// all objects is opened.
    pub fn source_paths(&self, program: &Program) -> Vec<Arc<str>> {
        let main = program.main_object();
        let mut paths = BTreeSet::new();
        for object in program.objects_by_address() {
            let Some(info) = object.debug_info() else { continue };
            let is_main = main == Some(&object.path);
            if self.trusts_object(program, &object.path) {
                continue;
            }
            for path in info.debug().source_paths() {
                if paths.len() >= MOST_SOURCES {
                    break;
                }
                if self.judge(&object.path, Some(&path), is_main, true) == Trust::InScope {
                    paths.insert(Arc::from(path));
                }
            }
        }
        paths.into_iter().collect()
    }

    /// Nobody has said anything.
    fn is_empty(&self) -> bool {
        self.trusted.given.is_empty() && self.suspected.given.is_empty()
    }

    fn judge(&self, object: &str, file: Option<&str>, is_main: bool, has_debug_info: bool) -> Trust {
        let clean = file.map(without_dots);
        let paths = || [Some(object), clean.as_deref()].into_iter().flatten();
        if paths().any(|path| self.suspected.find(path).is_some()) {
            return Trust::InScope;
        }
        if let Some(pattern) = paths().find_map(|path| self.trusted.find(path)) {
            return Trust::Trusted(TrustReason::Asked { pattern });
        }
        let reason = match &clean {
            _ if !is_main && in_any(object, &SYSTEM_DIRECTORIES) => TrustReason::SystemLibrary,
            Some(file) if is_system_source(file) => TrustReason::SystemSource,
            Some(_) => return Trust::InScope,
            None if has_debug_info => TrustReason::NoSource,
            // There is nothing better to go by.
            None if is_main => return Trust::InScope,
            None => TrustReason::NoDebugInfo,
        };
        Trust::Trusted(reason)
    }
}

/// Whether a source file belongs to the system, the compiler or a package registry.
pub(crate) fn is_system_source(path: &str) -> bool {
    in_any(path, &SYSTEM_DIRECTORIES)
        || in_any(path, &HEADER_DIRECTORIES)
        || in_any(path, &RUST_LIBRARY)
        || FOREIGN_PARTS.iter().any(|part| path.contains(part))
}

fn in_any(path: &str, directories: &[&str]) -> bool {
    directories.iter().any(|directory| path.starts_with(directory))
}

/// The source of the code at an address. Code of no line is with the function that it is in.
fn file_of(program: &Program, address: u64) -> Option<Arc<str>> {
    let stmt = program.statement_at(address);
    let of_function = || program.statements_of(address).into_iter().next().map(|placed| placed.stmt);
    stmt.or_else(of_function).map(|stmt| stmt.file)
}

/// A path without `.` and `..`: compilers put together what they were given.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Patterns as they were given, and what each is compiled to.
#[derive(Clone, Debug, Default)]
struct Patterns {
    given: Vec<Arc<str>>,
    /// Four globs a pattern.
    set: GlobSet,
}

const GLOBS_A_PATTERN: usize = 4;

impl Patterns {
    fn new(given: &[String]) -> Result<Patterns, ScopeError> {
        let mut set = GlobSetBuilder::new();
        for pattern in given {
            let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
            let plain = pattern.strip_suffix('/').unwrap_or(pattern);
            for glob in
                [plain.to_owned(), format!("**/{plain}"), format!("{plain}/**"), format!("**/{plain}/**")]
            {
                set.add(compile(pattern, &glob)?);
            }
        }
        let all = given.join(", ");
        let set =
            set.build().map_err(|error| ScopeError { pattern: all, reason: error.kind().to_string() })?;
        Ok(Patterns { given: given.iter().map(|pattern| Arc::from(pattern.as_str())).collect(), set })
    }

    fn find(&self, path: &str) -> Option<Arc<str>> {
        let first = self.set.matches(path).into_iter().min()?;
        self.given.get(first / GLOBS_A_PATTERN).cloned()
    }
}

fn compile(pattern: &str, glob: &str) -> Result<Glob, ScopeError> {
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    built.map_err(|error| ScopeError { pattern: pattern.to_owned(), reason: error.kind().to_string() })
}

impl fmt::Display for TrustReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustReason::Asked { pattern } => write!(formatter, "as {pattern} says"),
            TrustReason::SystemLibrary => formatter.write_str("a library of the system"),
            TrustReason::SystemSource => formatter.write_str("a source of the system"),
            TrustReason::NoDebugInfo => formatter.write_str("a library without debug information"),
            TrustReason::NoSource => formatter.write_str("linked in without debug information"),
            TrustReason::NoObject => formatter.write_str("in no object"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(trust: &[&str], suspect: &[&str]) -> Scope {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Scope::new(&owned(trust), &owned(suspect)).unwrap()
    }

    const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";

    #[test]
    fn what_belongs_to_the_program_is_in_scope_and_the_system_is_trusted() {
        use TrustReason::{NoDebugInfo, NoSource, SystemLibrary, SystemSource};
        let scope = scope(&[], &[]);
        let trusted = Trust::Trusted;
        for (object, file, is_main, has_debug_info, expected) in [
            ("/home/me/sed", Some("/home/me/sed.c"), true, true, Trust::InScope),
            ("/home/me/libown.so", Some("/home/me/own.c"), false, true, Trust::InScope),
            ("/home/me/sed", Some("/usr/include/c++/12/vector"), true, true, trusted(SystemSource)),
            ("/home/me/sed", Some("/home/me/../../usr/include/stdlib.h"), true, true, trusted(SystemSource)),
            ("/home/me/sed", Some("/rustc/0a1b/library/core/src/fmt.rs"), true, true, trusted(SystemSource)),
            (
                "/home/me/sed",
                Some("/rust/deps/hashbrown-0.16.1/src/map.rs"),
                true,
                true,
                trusted(SystemSource),
            ),
            ("/home/me/sed", Some("/c/registry/src/index-1/a-0.1/lib.rs"), true, true, trusted(SystemSource)),
            (
                "/home/me/sed",
                Some("/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h"),
                true,
                true,
                trusted(SystemSource),
            ),
            ("/home/me/sed", None, true, true, trusted(NoSource)),
            ("/home/me/sed", None, true, false, Trust::InScope),
            ("/home/me/libown.so", None, false, false, trusted(NoDebugInfo)),
            (LIBC, Some("./stdio-common/printf.c"), false, true, trusted(SystemLibrary)),
            (LIBC, None, false, false, trusted(SystemLibrary)),
            ("/usr/bin/sed", Some("/build/sed/sed.c"), true, true, Trust::InScope),
            ("/usr/lib/git/git", Some("/build/git/git.c"), true, true, Trust::InScope),
            ("/home/me/usr/lib/a", Some("/home/me/usr/lib/a.c"), true, true, Trust::InScope),
        ] {
            assert_eq!(scope.judge(object, file, is_main, has_debug_info), expected, "{object} {file:?}");
        }
    }

    #[test]
    fn patterns_stand_for_ends_of_paths_and_for_directories() {
        for (pattern, fits) in [
            ("util.c", true),
            ("*.c", true),
            ("lib/util.c", true),
            ("lib", true),
            ("lib/", true),
            ("me/*/util.c", true),
            ("/home/**", true),
            ("/home/me", true),
            ("./lib/*.c", true),
            ("*", true),
            ("til.c", false),
            ("/lib", false),
            ("home/*.c", false),
            ("util", false),
            ("*.h", false),
        ] {
            let judged = scope(&[pattern], &[]).judge("/bin/x", Some("/home/me/lib/util.c"), true, true);
            assert_eq!(judged != Trust::InScope, fits, "{pattern}");
        }
    }

    #[test]
    fn suspicion_wins_over_trust_and_trust_over_the_rules() {
        let judge = |scope: &Scope| scope.judge(LIBC, Some("/src/string/strlen.c"), false, true);
        assert_eq!(judge(&scope(&[], &["libc.so*"])), Trust::InScope);
        assert_eq!(judge(&scope(&["strlen.c"], &["/src"])), Trust::InScope);
        let pattern = Arc::from("strlen.c");
        assert_eq!(
            judge(&scope(&["a.c", "strlen.c", "*.c"], &["other"])),
            Trust::Trusted(TrustReason::Asked { pattern })
        );
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let error = Scope::new(&["a[".to_owned()], &[]).unwrap_err();
        assert!(error.to_string().starts_with("\"a[\" is no pattern for paths: "), "{error}");
    }
}
