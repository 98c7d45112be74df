//! How the user wants the program looked at: sources and suspicion, for every command that asks for them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use linux::Process;
use program::{Program, Scope, SourceMap, Warning};

use crate::args::{SourceArguments, ViewArguments};
use crate::streams::{printable, tell};

/// A way that leads further up says less than the whole path.
const FURTHEST_UP: usize = 3;

impl SourceArguments {
    pub fn source_map(&self) -> Result<SourceMap> {
        let mut map = SourceMap::default();
        for rule in &self.source_map {
            map.add(rule)?;
        }
        Ok(map)
    }
}

impl ViewArguments {
    pub fn scope(&self) -> Result<Scope> {
        Ok(Scope::new(&self.trust, &self.suspect)?)
    }
}

/// The static view of what a process has mapped, explained by the files that belong to its run.
pub fn program_of(process: &Process) -> Program {
    Program::from_memory(&process.machine.memory).with_files(replay::files_of(process))
}

/// Tells what made the answers poorer than they could be.
pub fn tell_warnings(program: &Program) {
    for warning in program.warnings() {
        tell(&format!("whydunit: warning: {}\n", printable(&warning.to_string())));
    }
}

/// The same, as far as it is about the program itself or some of its files.
pub fn tell_warnings_about(program: &Program, files: &BTreeSet<&str>) {
    let concerns = |warning: &Warning| match warning {
        Warning::NoDebugInfo { object } => Some(object) == program.main_object(),
        Warning::SourceMissing { file, .. } | Warning::SourceNewer { file, .. } => files.contains(&**file),
    };
    for warning in program.warnings().iter().filter(|warning| concerns(warning)) {
        tell(&format!("whydunit: warning: {}\n", printable(&warning.to_string())));
    }
}

/// A path as people here would type it.
pub fn short_path(path: &str) -> String {
    let here = std::env::current_dir().ok();
    let from_here = here.and_then(|here| from(&here, Path::new(path)));
    printable(&from_here.as_deref().unwrap_or(Path::new(path)).to_string_lossy())
}

/// The way from a directory to a path, if it is shorter than the path and does not lead up far.
fn from(here: &Path, path: &Path) -> Option<PathBuf> {
    let common = here.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = here.components().count().checked_sub(common).filter(|up| *up <= FURTHEST_UP)?;
    let down = path.components().skip(common);
    let way: PathBuf = std::iter::repeat_n(Component::ParentDir, up).chain(down).collect();
    (way.as_os_str().len() < path.as_os_str().len()).then_some(way)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_here_on_where_that_is_short() {
        let way = |path: &str| from(Path::new("/home/me/shop/build/debug"), Path::new(path));
        let told = |way: &str| Some(PathBuf::from(way));
        assert_eq!(way("/home/me/shop/build/debug/a/b.c"), told("a/b.c"));
        assert_eq!(way("/home/me/shop/src/b.c"), told("../../src/b.c"));
        assert_eq!(way("/home/you/b.c"), None);
        assert_eq!(way("/usr/include/stdio.h"), None);
        assert_eq!(way("b.c"), None);
    }
}
