//! Cases: a program with known faults, and a run of it that fails because of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answer::{Place, Witness};
use crate::mutate::{Kind, Mutant, Truth};
use crate::native::SOURCE;
use crate::programs::Test;
use crate::statements::Statements;
use crate::workbench;

/// How a case fails, as its user sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fails {
    Output,
    Status,
    Crash,
    Hang,
}

impl Fails {
    pub const ALL: [Fails; 4] = [Fails::Output, Fails::Status, Fails::Crash, Fails::Hang];

    pub fn name(self) -> &'static str {
        match self {
            Fails::Output => "output",
            Fails::Status => "status",
            Fails::Crash => "crash",
            Fails::Hang => "hang",
        }
    }
}

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: Kind,
    /// The operator of a mutant, or where a real fault was mended.
    pub origin: String,
    /// The source file, or the end of its path, and the lines of it that name the fault.
    pub file: String,
    pub line: usize,
    pub truth: Truth,
    pub change: String,
}

impl Fault {
    pub fn of(mutant: &Mutant) -> Fault {
        Fault {
            kind: mutant.kind,
            origin: mutant.operator.name().to_owned(),
            file: SOURCE.to_owned(),
            line: mutant.line,
            truth: mutant.truth.clone(),
            change: mutant.change(),
        }
    }
}

/// A test, and whether the faulty program passes it, if that is known.
#[derive(Clone, Debug)]
pub struct Tested {
    pub test: Test,
    pub passes: Option<bool>,
}

/// A failing run. Sources and input are in `directory`.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unlike that of any other case of a suite.
    pub name: String,
    pub program: String,
    pub faults: Vec<Fault>,
    pub fails: Fails,
    pub directory: PathBuf,
    /// As it is typed in the directory.
    pub executable: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: BTreeMap<String, String>,
    /// The file with its standard input.
    pub stdin: &'static str,
    /// The options by which a user says what is expected of what failed natively; of a crash and a hang nothing needs to be said.
    pub expectations: Vec<OsString>,
    /// What a slice of the failure begins with, if that can be said.
    pub criterion: Option<String>,
    /// The executable without the faults.
    pub reference: Option<PathBuf>,
    /// All tests of the program, if there are some, and which of them this run is.
    pub tests: Arc<Vec<Tested>>,
    pub failing: usize,
    /// The statements of the program, if they are known.
    pub statements: Option<Arc<Statements>>,
    /// The status that is right, if the file [`EXPECTED`](crate::native::EXPECTED) has the output that is.
    pub right_status: Option<i32>,
}

impl Case {
    /// The statement that a place is in, by where it begins; the place itself if that is not known, or in none.
    pub fn statement(&self, place: Place) -> Place {
        let known = self.statements.as_ref().and_then(|statements| statements.of_place(&place));
        known.unwrap_or(place)
    }

    /// Questions go by how it fails in the machine.
    pub fn fail_as(&mut self, witness: &Witness, right_status: i32) {
        self.fails = witness.fails;
        self.criterion.clone_from(&witness.criterion);
        let wrong_status = Some(right_status).filter(|status| witness.status != Some(*status));
        self.expectations = match witness.fails {
            Fails::Output | Fails::Status => workbench::expected(wrong_status),
            Fails::Crash | Fails::Hang => Vec::new(),
        };
    }
}
