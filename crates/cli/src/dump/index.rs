//! `whydunit dump index`: the name of an instant that has a meaning in other runs.

use anyhow::{Context, Result};
use machine::Time;
use replay::index::Indices;
use replay::{Flow, Recording};

use super::runs;
use crate::args::{DumpIndex, Instant};
use crate::streams::printable;
use crate::view::tell_warnings;

pub fn text(arguments: &DumpIndex) -> Result<String> {
    let (map, scope) = (arguments.view.sources.source_map()?, arguments.view.scope()?);
    // What comes after the instant does not have to be run.
    let limit = match arguments.at {
        Instant::After(instructions) => Time(instructions.saturating_add(1)),
        Instant::End => Time(u64::MAX),
    };
    let mut recording = Recording::make(runs::load_one(&arguments.guest, limit)?, limit);
    let program = runs::view(recording.last(), map);
    let flow = Flow::new(&program);
    let time = match arguments.at {
        Instant::After(instructions) => Time(instructions),
        Instant::End => Time(recording.end().0.saturating_sub(1)),
    };
    let index = Indices::new(&flow, &scope).at(&mut recording, time);
    tell_warnings(&program);
    let missing = || format!("there is no instruction {}: the run has {}", time.0, recording.end().0);
    Ok(format!("{}\n", printable(&index.with_context(missing)?.to_string())))
}
