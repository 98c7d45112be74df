//! `whydunit dump coverage`: which statements a run executed.

use std::fmt::Write as _;

use anyhow::Result;
use machine::Time;
use replay::{Flow, Recording, coverage};

use super::runs;
use crate::args::DumpCoverage;
use crate::streams::printable;
use crate::view::tell_warnings;

/// A line for each statement: how many instances of it there were, and its place.
pub fn text(arguments: &DumpCoverage) -> Result<String> {
    let (map, scope) = (arguments.view.sources.source_map()?, arguments.view.scope()?);
    let end = Time(arguments.to.unwrap_or(u64::MAX));
    let mut recording = Recording::make(runs::load_one(&arguments.guest, end)?, end);
    let program = runs::view(recording.last(), map);
    let flow = Flow::new(&program);
    let mut text = String::new();
    for (stmt, count) in coverage(&mut recording, &flow, &scope) {
        let _ = writeln!(text, "{count:>12}  {}", printable(&runs::place(&stmt)));
    }
    tell_warnings(&program);
    Ok(text)
}
