//! `whydunit dump cfg`: a function's control flow graph with what follows from it.

use anyhow::{Context, Result};

use super::{address, open_program};
use crate::args::{DumpCfg, GraphFormat};

pub fn text(arguments: &DumpCfg) -> Result<String> {
    let program = open_program(&arguments.function.program)?;
    let symbol = &arguments.function.symbol;
    // A function that no symbol and no unwind table knows of has a graph, too.
    let address = match address(symbol)? {
        Some(address) => address,
        None => program.find_symbol(symbol)?.address,
    };
    let cfg = program.cfg(address).with_context(|| format!("there is no code at {address:#x}"))?;
    Ok(match arguments.format {
        GraphFormat::Text => program.cfg_text(&cfg),
        GraphFormat::Dot => program.cfg_dot(&cfg),
    })
}
