//! Compiling guest programs, each variant once: results are kept under `target/` by the hash of all that went in.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::place;

/// One way to compile a program.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    pub compiler: &'static str,
    pub optimisation: &'static str,
    pub linkage: Linkage,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Position-independent, with shared libraries: what both compilers do by default.
    Dynamic,
    /// At a fixed address, with shared libraries.
    FixedDynamic,
    /// At a fixed address, all in one file.
    Static,
    /// Position-independent, all in one file.
    StaticPie,
}

/// What most tests compile with when one variant is enough.
pub const PLAIN: Variant = Variant { compiler: "gcc", optimisation: "-O0", linkage: Linkage::Dynamic };

/// The variants that every guest program is run in; the long mode has more.
pub fn variants() -> Vec<Variant> {
    let (optimisations, linkages): (&[_], &[_]) = if place::long() {
        (
            &["-O0", "-O1", "-O2", "-O3", "-Os"],
            &[Linkage::Dynamic, Linkage::FixedDynamic, Linkage::Static, Linkage::StaticPie],
        )
    } else {
        (&["-O0", "-O2"], &[Linkage::Dynamic, Linkage::Static])
    };
    let mut variants = Vec::new();
    for compiler in ["gcc", "clang"] {
        for &optimisation in optimisations {
            variants.extend(linkages.iter().map(|&linkage| Variant { compiler, optimisation, linkage }));
        }
    }
    variants
}

/// Compiles `source` and gives the executable's path. `Err` holds what the compiler said.
pub fn compile(source: &Path, variant: Variant, flags: &[&str]) -> Result<PathBuf, String> {
    let text = fs::read(source).map_err(|error| format!("{}: {error}", source.display()))?;
    let mut hasher = DefaultHasher::new();
    (&text, variant, flags, headers(source)).hash(&mut hasher);
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{:016x}", hasher.finish());
    let directory = place::cache("guests");
    let executable = directory.join(&name);
    if executable.exists() {
        return Ok(executable);
    }
    // Written under a name of its own and then renamed, because several tests, in one process or several, may want the same program at once.
    static COMPILATIONS: AtomicU64 = AtomicU64::new(0);
    let number = COMPILATIONS.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!("{name}.{}.{number}", std::process::id()));
    let output = Command::new(variant.compiler)
        .args(["-g", "-w", "-std=gnu11", variant.optimisation])
        .args(variant.linkage.flags())
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&temporary)
        .arg("-lm")
        .output()
        .map_err(|error| format!("{}: {error}", variant.compiler))?;
    if !output.status.success() {
        return Err(format!("{variant} {}: {}", source.display(), String::from_utf8_lossy(&output.stderr)));
    }
    fs::rename(&temporary, &executable).map_err(|error| format!("{}: {error}", executable.display()))?;
    Ok(executable)
}

/// The headers beside a source: they are few, so a change in any of them recompiles all that could include it.
fn headers(source: &Path) -> Vec<Vec<u8>> {
    let Some(directory) = source.parent().and_then(|parent| fs::read_dir(parent).ok()) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = directory.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "h"));
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

impl Linkage {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Linkage::Dynamic => &["-fPIE", "-pie"],
            Linkage::FixedDynamic => &["-fno-pie", "-no-pie"],
            Linkage::Static => &["-fno-pie", "-static"],
            Linkage::StaticPie => &["-fPIE", "-static-pie"],
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let linkage = match self.linkage {
            Linkage::Dynamic => "dynamic",
            Linkage::FixedDynamic => "no-pie",
            Linkage::Static => "static",
            Linkage::StaticPie => "static-pie",
        };
        write!(f, "{} {} {linkage}", self.compiler, self.optimisation)
    }
}
