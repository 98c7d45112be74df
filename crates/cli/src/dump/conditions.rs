//! `whydunit dump conditions`: the conditions of a function, each with the instructions that decide it.

use anyhow::{Context, Result};

use super::{Asked, open};
use crate::args::DumpConditions;
use crate::view::tell_warnings;

pub fn text(arguments: &DumpConditions) -> Result<String> {
    let map = arguments.sources.source_map()?;
    let Asked { program, start, .. } = open(&arguments.function)?;
    let program = program.with_source_map(map);
    let missing = || format!("there is no function at {start:#x}");
    let cfg = program.cfg(start).with_context(missing)?;
    let conditions = program.conditions(start).with_context(missing)?;
    tell_warnings(&program);
    Ok(conditions.iter().map(|condition| condition.text(&cfg)).collect())
}
