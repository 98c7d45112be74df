//! `whydunit dump conditions`: the conditions of a function, each with the instructions that decide it.

use anyhow::{Context, Result};

use super::{Asked, open};
use crate::args::DumpFunction;

pub fn text(arguments: &DumpFunction) -> Result<String> {
    let Asked { program, start, .. } = open(arguments)?;
    let missing = || format!("there is no function at {start:#x}");
    let cfg = program.cfg(start).with_context(missing)?;
    let conditions = program.conditions(start).with_context(missing)?;
    Ok(conditions.iter().map(|condition| condition.text(&cfg)).collect())
}
