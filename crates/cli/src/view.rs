//! How the user wants the program looked at: sources and suspicion, for every command that asks for them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use linux::Process;
use program::{Program, Scope, SourceMap, Warning};

use crate::args::{SourceArguments, ViewArguments};
use crate::streams::{printable, tell};

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
    let below = here.as_deref().and_then(|here| Path::new(path).strip_prefix(here).ok());
    printable(&below.unwrap_or(Path::new(path)).to_string_lossy())
}
