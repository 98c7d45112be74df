//! Random C programs by csmith, from fixed seeds: each must do under whydunit what it does natively.
//!
//! Some random programs never end; those that natively take longer than [`PATIENCE`] are skipped and counted.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::command::{Program, RunError};
use crate::compile::{self, Linkage, Variant};
use crate::place;

const PATIENCE: Duration = Duration::from_secs(5);

/// What came of a batch of programs.
#[derive(Debug, Default)]
pub struct Batch {
    pub compared: usize,
    pub skipped: usize,
    pub differences: Vec<String>,
}

/// Generates, compiles and compares the programs of these seeds, at -O0 and -O2. `Err`: the tools are not there.
pub fn compare(seeds: impl IntoIterator<Item = u64>) -> Result<Batch, String> {
    let mut batch = Batch::default();
    for seed in seeds {
        let source = generate(seed)?;
        for optimisation in ["-O0", "-O2"] {
            let variant = Variant { compiler: "gcc", optimisation, linkage: Linkage::Dynamic };
            let executable = compile::compile(&source, variant, &["-I/usr/include/csmith"])?;
            let program = Program::new([executable]).timeout(PATIENCE);
            let native = match program.run() {
                Ok(outcome) => outcome,
                Err(RunError::TimedOut { .. }) => {
                    // The other build of an endless program is endless, too.
                    batch.skipped += 1;
                    break;
                }
                Err(error) => return Err(error.to_string()),
            };
            let difference = match program.under_whydunit::<&str>(&[]).timeout(PATIENCE * 40).run() {
                Ok(guest) => native.difference(&guest),
                Err(error) => Some(error.to_string()),
            };
            batch.compared += 1;
            batch.differences.extend(difference.map(|text| format!("seed {seed}, {variant}: {text}")));
        }
    }
    Ok(batch)
}

fn generate(seed: u64) -> Result<PathBuf, String> {
    let source = place::cache("csmith").join(format!("{seed}.c"));
    if !source.exists() {
        let text = Command::new("csmith")
            .args(["--seed", &seed.to_string()])
            // csmith leaves a platform.info file where it runs.
            .current_dir(place::cache("csmith"))
            .output()
            .map_err(|error| format!("csmith: {error}"))?;
        if !text.status.success() {
            return Err(format!("csmith failed: {}", text.status));
        }
        std::fs::write(&source, text.stdout).map_err(|error| format!("{}: {error}", source.display()))?;
    }
    Ok(source)
}
