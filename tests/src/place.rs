//! Where things are: the project, its build directory, the whydunit binary, scratch directories.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The project's root directory.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests crate has a parent directory")
}

/// The source of a guest program, by its path under `tests/guests`.
pub fn guest(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guests").join(name)
}

/// A directory under `target/` that survives between runs: caches live here.
pub fn cache(name: &str) -> PathBuf {
    let directory = target().join("tests").join(name);
    fs::create_dir_all(&directory).expect("target/ can be written");
    directory
}

/// A fresh, empty directory that belongs to one test; `name` must be unique among the tests.
pub fn scratch(name: &str) -> PathBuf {
    let tidy: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let directory = cache("scratch").join(tidy);
    if directory.exists() {
        fs::remove_dir_all(&directory).expect("a scratch directory can be removed");
    }
    fs::create_dir_all(&directory).expect("target/ can be written");
    directory
}

/// The whydunit command under test: `WHYDUNIT_BIN`, which `./test` sets, or else a fresh release build.
pub fn whydunit() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("WHYDUNIT_BIN") {
        Some(binary) => PathBuf::from(binary),
        None => {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let built = Command::new(cargo)
                .args(["build", "--release", "--quiet", "--package", "cli", "--manifest-path"])
                .arg(root().join("Cargo.toml"))
                .status();
            assert!(built.is_ok_and(|status| status.success()), "cargo could not build whydunit");
            target().join("release/whydunit")
        }
    })
}

/// Whether the long modes were asked for (`./test --long`).
pub fn long() -> bool {
    std::env::var_os("WHYDUNIT_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}

fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => root().join(directory),
        None => root().join("target"),
    }
}
