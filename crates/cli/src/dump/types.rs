//! `whydunit dump types`: a function's parameters and variables, where they are, and the types that they have.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use program::{Block, Described, Program, Variable, VariableKind};

use super::{Asked, open};
use crate::args::DumpFunction;

pub fn text(arguments: &DumpFunction) -> Result<String> {
    let Asked { program, start, .. } = open(arguments)?;
    let blocks = program.blocks_of(start);
    if blocks.is_empty() {
        bail!("there is no debug information for {}; compile with -g to have some", arguments.symbol);
    }
    let mut text = String::new();
    for block in &blocks {
        print_block(&program, block, &mut text);
    }
    let variables = blocks.iter().flat_map(|block| block.variables.iter().map(|(variable, _)| variable));
    for definition in program.definitions_for(variables).values() {
        let _ = write!(text, "\n{definition};\n");
    }
    Ok(text)
}

fn print_block(program: &Program, block: &Block, text: &mut String) {
    let indent = "  ".repeat(block.depth);
    let what = match (&block.inlined, block.depth) {
        (Some(function), _) => format!("inlined {function}"),
        (None, 0) => "function".to_owned(),
        (None, _) => "block".to_owned(),
    };
    let ranges: Vec<String> =
        block.ranges.iter().map(|(start, end)| format!("{start:#x}..{end:#x}")).collect();
    let _ = writeln!(text, "{indent}{what} {}", ranges.join(" "));
    for (variable, locations) in &block.variables {
        print_variable(program, variable, locations, &indent, text);
    }
}

fn print_variable(
    program: &Program,
    variable: &Variable,
    locations: &[Described],
    indent: &str,
    text: &mut String,
) {
    let kind = match variable.kind {
        VariableKind::Parameter => "parameter",
        VariableKind::Local => "local",
        VariableKind::FunctionStatic => "static",
        VariableKind::FileStatic | VariableKind::Global => "global",
    };
    let declared = program.declaration(variable.of, &variable.name);
    let _ = write!(text, "{indent}  {kind} {declared}");
    match locations {
        [] => text.push_str(": optimised out\n"),
        [Described { range: None, text: location }] => {
            let _ = writeln!(text, ": {location}");
        }
        list => {
            text.push('\n');
            for Described { range, text: location } in list {
                let (start, end) = range.unwrap_or_default();
                let _ = writeln!(text, "{indent}    {start:#x}..{end:#x}: {location}");
            }
        }
    }
}
