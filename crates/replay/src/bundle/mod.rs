//! A bundle: a case with everything that its run has read, in one file. It is the same run wherever and whenever it is
//! replayed: no file of the machine at hand is looked at.

mod attach;
mod ending;
mod error;
mod files;
mod format;
mod manifest;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::sync::Arc;

use linux::fs::{Capsule, Pieces};
use linux::{Exit, Process};
use program::{Scope, SourceMap};

pub use ending::{EndKind, Ending};
pub use error::BundleError;
pub use files::files_of;
pub use format::{VERSION, is_bundle};

use crate::case::{Bytes, Case, Expectation, Files, Sealed, Stdin};
use format::Packer;
use manifest::{Manifest, World};

/// A run that can be had again anywhere.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// As it was recorded; see [`Bundle::sealed_case`].
    pub case: Case,
    /// Standard input was typed: reads end behind each line.
    pub input_by_lines: bool,
    /// How the run ended.
    pub ending: Ending,
    /// What the run saw of its host, and what explains it.
    pub capsule: Arc<Capsule>,
    /// Commands of the host's shell that were part of the oracle. They are not in the case of a bundle that was read: who
    /// made it would otherwise run commands on the machine of who looks at it.
    pub commands: Vec<Bytes>,
    /// Which whydunit wrote it.
    pub made_by: String,
}

impl Bundle {
    /// Of a run that has just ended. A clone of `process` must have been alive all the time, or what it read first may be
    /// forgotten. Debug files and the sources of code in `scope` are added from this machine.
    pub fn of(mut case: Case, process: &Process, exit: &Exit, scope: &Scope, map: &SourceMap) -> Bundle {
        let files = &process.kernel.files;
        case.files = Files::Host;
        // What was not known at the beginning is known now.
        if matches!(case.stdin, Stdin::Bytes(_)) {
            case.stdin = Stdin::Bytes(Bytes::from(files.known_input().to_vec()));
        }
        let mut capsule = files.capsule();
        if files.sealed().is_none() {
            attach::attach(&mut capsule, &process.machine.memory, scope, map);
        }
        Bundle {
            case,
            input_by_lines: files.input_pieces() == Pieces::Lines,
            ending: Ending::of(process, exit),
            capsule: Arc::new(capsule),
            commands: Vec::new(),
            made_by: concat!("whydunit ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// The case, whose run sees the files of the bundle.
    pub fn sealed_case(&self) -> Case {
        let sealed = Sealed { capsule: self.capsule.clone(), input_by_lines: self.input_by_lines };
        Case { files: Files::Sealed(sealed), ..self.case.clone() }
    }

    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut packer = Packer::default();
        let mut case = self.case.clone();
        let stdin = match &self.case.stdin {
            Stdin::Bytes(bytes) => {
                case.stdin = Stdin::Bytes(Bytes::default());
                Some(packer.add(bytes))
            }
            Stdin::File { .. } => None,
        };
        let files = World::new(&self.capsule, &mut packer);
        let manifest = Manifest {
            made_by: self.made_by.clone(),
            case,
            input_by_lines: self.input_by_lines,
            ending: self.ending.clone(),
            packed: packer.table.clone(),
            stdin,
            files,
        };
        packer.write(&serde_json::to_vec(&manifest)?, out)
    }

    /// From the bytes of a file, which anybody may have made.
    pub fn read(file: &[u8]) -> Result<Bundle, BundleError> {
        let opened = format::open(file)?;
        let manifest: Manifest = serde_json::from_slice(&opened.manifest).map_err(|error| {
            BundleError::nonsense(format!("its table of contents cannot be read ({error})"))
        })?;
        let name = |number| match manifest.files.path_of(number) {
            Some(path) => path.to_string(),
            None => "standard input".to_owned(),
        };
        let contents = opened.unpack(&manifest.packed, name)?;
        let capsule = Arc::new(manifest.files.capsule(&contents)?);
        let mut case = manifest.case;
        let commands = take_commands(&mut case);
        if let Some(number) = manifest.stdin {
            let content = contents
                .get(number)
                .ok_or_else(|| BundleError::nonsense("it refers to a content that is not there"))?;
            case.stdin = Stdin::Bytes(Bytes::from(content.to_vec()));
        }
        Ok(Bundle {
            case,
            input_by_lines: manifest.input_by_lines,
            ending: manifest.ending,
            capsule,
            commands,
            made_by: manifest.made_by,
        })
    }
}

fn take_commands(case: &mut Case) -> Vec<Bytes> {
    let mut commands = Vec::new();
    case.oracle.expectations.retain(|expectation| match expectation {
        Expectation::Command(command) => {
            commands.push(command.clone());
            false
        }
        _ => true,
    });
    commands
}
