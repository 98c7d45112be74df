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
    let mut command = Language::of(source).compiler(variant);
    let output = command
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&temporary)
        .args(Language::of(source).libraries())
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{variant} {}: {}", source.display(), String::from_utf8_lossy(&output.stderr)));
    }
    fs::rename(&temporary, &executable).map_err(|error| format!("{}: {error}", executable.display()))?;
    Ok(executable)
}

/// What a guest is written in, by the name of its file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
    Rust,
}

impl Language {
    const ALL: [(Language, &'static str); 3] =
        [(Language::C, "c"), (Language::Cpp, "cpp"), (Language::Rust, "rs")];

    fn of(source: &Path) -> Language {
        let extension = source.extension().unwrap_or_default();
        Self::ALL.into_iter().find(|(_, own)| extension == *own).map_or(Language::C, |(language, _)| language)
    }

    /// The source of a guest of this name, and its language.
    pub fn find(name: &str) -> (PathBuf, Language) {
        let sources = Self::ALL.map(|(language, own)| (place::guest(&format!("{name}.{own}")), language));
        let [first, ..] = sources.clone();
        sources.into_iter().find(|(source, _)| source.exists()).unwrap_or(first)
    }

    /// Whether there is such a variant; Rust has one compiler, and is linked as that does it.
    pub fn has(self, variant: &Variant) -> bool {
        self != Language::Rust || variant.compiler == "gcc" && variant.linkage == Linkage::Dynamic
    }

    fn compiler(self, variant: Variant) -> Command {
        let mut command = match (self, variant.compiler) {
            (Language::C, compiler) => Command::new(compiler),
            (Language::Cpp, "clang") => Command::new("clang++"),
            (Language::Cpp, _) => Command::new("g++"),
            (Language::Rust, _) => Command::new("rustc"),
        };
        if self == Language::Rust {
            let level = variant.optimisation.trim_start_matches("-O");
            command.args(["-g", "--edition", "2021", "--cap-lints", "allow", "-C"]);
            command.arg(format!("opt-level={level}"));
            return command;
        }
        let standard = if self == Language::C { "-std=gnu11" } else { "-std=gnu++17" };
        command.args(["-g", "-w", standard, variant.optimisation]).args(variant.linkage.flags());
        command
    }

    fn libraries(self) -> &'static [&'static str] {
        if self == Language::Rust { &[] } else { &["-lm"] }
    }
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
