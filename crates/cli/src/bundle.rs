//! A bundle in the place of a program.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use linux::{Exit, Process};
use program::Program;
use replay::{Bundle, Ending, files_of, is_bundle};

use crate::args::GuestArguments;
use crate::exit_code::{self, Failure};
use crate::streams;

/// What `record` writes is smaller; a larger file is not read into memory.
const LARGEST: u64 = 8 << 30;

/// The bundle that stands where a program is expected, if it is one.
pub fn given(arguments: &GuestArguments) -> Result<Option<Bundle>, Failure> {
    let failed = |error| Failure::new(exit_code::FAILED, error);
    let Some(name) = arguments.command.first() else { return Ok(None) };
    let Some(bundle) = find(name)? else { return Ok(None) };
    let told = name.to_string_lossy();
    let has_own = match () {
        () if arguments.command.len() > 1 => Some("arguments"),
        () if arguments.stdin.is_some() => Some("standard input"),
        () if !arguments.environment.is_empty() => Some("environment"),
        () if arguments.terminal && !bundle.case.terminal => Some("standard streams"),
        () => None,
    };
    if let Some(what) = has_own {
        return Err(failed(anyhow!("{told} is a bundle and has its own {what}; give it alone")));
    }
    // Somebody else may have made it, so what it may take of this machine is not for it to say.
    for (wanted, permitted, option) in [
        (bundle.case.limits.memory, arguments.max_memory, "--max-memory"),
        (bundle.case.limits.output, arguments.max_output, "--max-output"),
    ] {
        if wanted > permitted {
            return Err(failed(anyhow!(
                "{told} was recorded with {option} {wanted}; permit it with {option} {wanted}"
            )));
        }
    }
    for command in &bundle.commands {
        streams::tell(&format!(
            "whydunit: warning: {told} was judged by the command `{}`, which is not run; give it again if you trust it\n",
            streams::printable(&command.to_string())
        ));
    }
    Ok(Some(bundle))
}

/// Reads a bundle; `None` when there is no such file or it is something else.
pub fn find(name: &OsStr) -> Result<Option<Bundle>, Failure> {
    let path = Path::new(name);
    let Some(mut file) = open(path) else { return Ok(None) };
    let mut read = || -> Result<Bundle> {
        let told = || format!("{} cannot be read", path.display());
        let length = file.metadata().with_context(told)?.len();
        anyhow::ensure!(length <= LARGEST, "{}: it is too large", told());
        let mut bytes = Vec::new();
        file.by_ref().take(LARGEST).read_to_end(&mut bytes).with_context(told)?;
        Bundle::read(&bytes).map_err(|error| anyhow!("{} {error}", path.display()))
    };
    read().map(Some).map_err(|error| Failure::new(exit_code::NOT_EXECUTABLE, error))
}

/// The file, at its beginning, if it begins as bundles do.
fn open(path: &Path) -> Option<File> {
    // Asked before opening, because opening a pipe waits for its writer.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut start = Vec::new();
    file.by_ref().take(16).read_to_end(&mut start).ok()?;
    if !is_bundle(&start) {
        return None;
    }
    std::io::Seek::rewind(&mut file).ok()?;
    Some(file)
}

/// The static view of the program in a bundle, which is not loaded anywhere.
pub fn program(bundle: &Bundle) -> Result<Program> {
    let process = bundle.sealed_case().load()?;
    let executable = &process.kernel.command.executable;
    let name = String::from_utf8_lossy(executable);
    let content =
        bundle.capsule.contents.get(executable.as_slice()).and_then(|content| content.as_ref().ok());
    let content = content.with_context(|| format!("the bundle has nothing of {name}"))?;
    let program = Program::from_object(&name, content.clone(), 0);
    let program = program.with_context(|| format!("{name} is no x86-64 ELF file"))?;
    Ok(program.with_files(files_of(&process)))
}

/// Tells when a replay that went as far as its recording did not end as that.
pub fn verify(recorded: &Ending, process: &Process, exit: &Exit) {
    let ending = Ending::of(process, exit);
    let was_cut = matches!(exit, Exit::Until) && ending.time < recorded.time;
    if was_cut || ending == *recorded {
        return;
    }
    streams::tell(&format!(
        "whydunit: warning: this is not the run that was recorded: it ends after {} instructions with the state {:016x}, \
         the recorded one after {} with {:016x}; another version of whydunit may have made the bundle\n",
        ending.time, ending.state, recorded.time, recorded.state
    ));
}
