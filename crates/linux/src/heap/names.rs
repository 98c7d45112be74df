//! The functions of the checked heap, by their names.

use machine::Check;

use super::BlockKind;
use super::contracts;

/// What a function that allocates or frees memory does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `(size)`
    Malloc,
    /// `(count, size)`
    Calloc,
    /// `(block, size)`
    Realloc,
    /// `(block, count, size)`
    ReallocArray,
    /// `(block)`
    Free,
    /// `(alignment, size)`
    Memalign,
    /// `(where to, alignment, size)`
    PosixMemalign,
    /// `(size)`, aligned to a page
    Valloc,
    /// `(size)`, aligned to a page and rounded up to whole pages
    Pvalloc,
    /// `(block)`
    UsableSize,
    /// `(size)`, or `(size, alignment)`
    New { kind: BlockKind, aligned: bool, throws: bool },
    /// `(block)`
    Delete(BlockKind),
    /// `(size, alignment)`
    RustAlloc { zeroed: bool },
    /// `(block, …)`
    RustDealloc,
    /// `(block, old size, alignment, new size)`
    RustRealloc,
}

/// What happens at the entry of a function at which the machine stops.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    Serve(Function),
    /// It says where a function is whose contract this is.
    Resolver(Check),
    /// The program comes to its end.
    Exit,
}

/// What a symbol says.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    Function(Function),
    /// An operator new or delete.
    Operator(Function),
    /// A function of Rust's default allocator, or of one that the program has chosen.
    Rust(Function),
    /// A function with a contract.
    Contract(Check),
    ErrnoLocation,
    ThrowBadAlloc,
    Exit,
    /// The C++ runtime is in this object.
    CppRuntime,
    /// The program has chosen an allocator of its own in Rust.
    RustAllocator,
    /// This is the dynamic loader of glibc.
    Loader,
}

/// What a name means, if it means anything here.
pub fn meaning(name: &[u8]) -> Option<Named> {
    let name = std::str::from_utf8(name).ok()?;
    let plain = |function| Some(Named::Function(function));
    match name {
        "malloc" | "__libc_malloc" => plain(Function::Malloc),
        "calloc" | "__libc_calloc" => plain(Function::Calloc),
        "realloc" | "__libc_realloc" => plain(Function::Realloc),
        "reallocarray" | "__libc_reallocarray" => plain(Function::ReallocArray),
        "free" | "cfree" | "__libc_free" => plain(Function::Free),
        "memalign" | "aligned_alloc" | "__libc_memalign" => plain(Function::Memalign),
        "posix_memalign" | "__posix_memalign" => plain(Function::PosixMemalign),
        "valloc" | "__libc_valloc" => plain(Function::Valloc),
        "pvalloc" | "__libc_pvalloc" => plain(Function::Pvalloc),
        "malloc_usable_size" => plain(Function::UsableSize),
        "__errno_location" => Some(Named::ErrnoLocation),
        "exit" => Some(Named::Exit),
        "_ZSt17__throw_bad_allocv" => Some(Named::ThrowBadAlloc),
        "__cxa_begin_catch" => Some(Named::CppRuntime),
        "_rtld_global" => Some(Named::Loader),
        _ if name.starts_with("_Zn") || name.starts_with("_Zd") => operator(name).map(Named::Operator),
        _ if name.contains("__r") => rust(name),
        _ => contracts::of(name).map(Named::Contract),
    }
}

fn operator(name: &str) -> Option<Function> {
    let new = |rest: &str, kind| {
        let (aligned, throws) = match rest {
            "" => (false, true),
            "RKSt9nothrow_t" => (false, false),
            "St11align_val_t" => (true, true),
            "St11align_val_tRKSt9nothrow_t" => (true, false),
            _ => return None,
        };
        Some(Function::New { kind, aligned, throws })
    };
    let delete = |rest: &str, kind| {
        let rest = rest.strip_prefix('m').unwrap_or(rest);
        let known = ["", "RKSt9nothrow_t", "St11align_val_t", "St11align_val_tRKSt9nothrow_t"];
        known.contains(&rest).then_some(Function::Delete(kind))
    };
    let prefixes = [("_Znwm", BlockKind::New), ("_Znam", BlockKind::NewArray)];
    let found = prefixes.into_iter().find_map(|(prefix, kind)| new(name.strip_prefix(prefix)?, kind));
    let prefixes = [("_ZdlPv", BlockKind::New), ("_ZdaPv", BlockKind::NewArray)];
    found.or_else(|| prefixes.into_iter().find_map(|(prefix, kind)| delete(name.strip_prefix(prefix)?, kind)))
}

/// Rust's shims, whose names were plain once and are mangled in newer versions: `_RNvC…7___rustc12___rust_alloc`.
fn rust(name: &str) -> Option<Named> {
    let plain = match name.split_once("7___rustc") {
        Some((start, rest)) if start.starts_with("_R") => {
            rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix('_')?
        }
        _ => name,
    };
    let function = match plain {
        "__rust_alloc" => Function::RustAlloc { zeroed: false },
        "__rust_alloc_zeroed" => Function::RustAlloc { zeroed: true },
        "__rust_dealloc" => Function::RustDealloc,
        "__rust_realloc" => Function::RustRealloc,
        "__rg_alloc" => return Some(Named::RustAllocator),
        _ => return contracts::of(name).map(Named::Contract),
    };
    Some(Named::Rust(function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_the_operators_are_known() {
        let new = |name: &str| match meaning(name.as_bytes()) {
            Some(Named::Operator(Function::New { kind, aligned, throws })) => Some((kind, aligned, throws)),
            _ => None,
        };
        assert_eq!(new("_Znwm"), Some((BlockKind::New, false, true)));
        assert_eq!(new("_ZnamSt11align_val_tRKSt9nothrow_t"), Some((BlockKind::NewArray, true, false)));
        assert_eq!(new("_Znwmm"), None);
        let delete = |name: &str| match meaning(name.as_bytes()) {
            Some(Named::Operator(Function::Delete(kind))) => Some(kind),
            _ => None,
        };
        for form in ["", "m", "RKSt9nothrow_t", "St11align_val_t", "mSt11align_val_t"] {
            assert_eq!(delete(&format!("_ZdlPv{form}")), Some(BlockKind::New), "{form}");
            assert_eq!(delete(&format!("_ZdaPv{form}")), Some(BlockKind::NewArray), "{form}");
        }
        assert_eq!(delete("_ZdlPvS_"), None);
    }

    #[test]
    fn rusts_functions_are_known_in_both_forms() {
        for name in ["__rust_dealloc", "_RNvCsdBezzDwma51_7___rustc14___rust_dealloc"] {
            assert!(matches!(meaning(name.as_bytes()), Some(Named::Rust(Function::RustDealloc))), "{name}");
        }
        assert!(meaning(b"__rust_something").is_none());
        assert!(matches!(meaning(b"__rg_alloc"), Some(Named::RustAllocator)));
    }
}
