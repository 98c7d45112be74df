//! Memory: the same program, four and sixteen times as long. What whydunit keeps must not grow with the length of a run.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{measure, place};

pub fn table(whydunit: &Path, divisor: usize) -> Result<String> {
    let ledger = place::compile("ledger")?;
    let mut text = String::from(
        "| run length | instructions | native, peak resident | whydunit, peak resident |\n|---|---|---|---|\n",
    );
    for length in [1, 4, 16] {
        let command: [OsString; 2] =
            [ledger.clone().into(), (length * 4 / divisor.min(4)).to_string().into()];
        let native = measure::run(&command)?;
        let words: Vec<OsString> = [whydunit.into(), "run".into(), "--stats".into(), "--".into()]
            .into_iter()
            .chain(command)
            .collect();
        let guest = measure::run(&words)?;
        let instructions =
            guest.statistic("instructions").context("whydunit's --stats does not tell the instructions")?;
        let _ = writeln!(
            text,
            "| {length}× | {:.2} G | {:.1} MB | {:.1} MB |",
            instructions as f64 / 1e9,
            native.peak_resident_bytes as f64 / 1e6,
            guest.peak_resident_bytes as f64 / 1e6,
        );
    }
    text.push_str("\nPeak resident memory of the whole process, ledger with 4, 16 and 64 rounds (fewer with --quick).\n");
    Ok(text)
}
