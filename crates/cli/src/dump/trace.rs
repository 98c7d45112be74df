//! `whydunit dump trace`: what a run executed.

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use machine::{Executed, Memory, Time};
use program::Program;
use replay::{Recording, accesses};

use super::runs;
use crate::args::DumpTrace;
use crate::streams::printable;
use crate::view::tell_warnings;

pub fn write(arguments: &DumpTrace, out: &mut dyn Write) -> Result<()> {
    let map = arguments.sources.source_map()?;
    let to = Time(arguments.to.unwrap_or(u64::MAX));
    let mut recording = Recording::make(runs::load_one(&arguments.guest, to)?, to);
    let program = runs::view(recording.last(), map);
    let mut lines = Lines { program: &program, place: None, known: HashMap::new() };
    let mut result = Ok(());
    recording.forward(Time(arguments.from)..to, |segment| {
        for pass in segment.trace.forward() {
            for executed in pass.forward() {
                result = lines.write(&executed, &segment.before.machine.memory, out);
                if result.is_err() {
                    return false;
                }
            }
        }
        true
    });
    result?;
    out.flush()?;
    tell_warnings(&program);
    Ok(())
}

/// What is printed of an instruction, apart from what it accessed.
#[derive(Clone)]
struct Known {
    place: String,
    text: String,
}

struct Lines<'p> {
    program: &'p Program,
    /// Where the last instruction was.
    place: Option<String>,
    known: HashMap<u64, Known>,
}

impl Lines<'_> {
    fn write(&mut self, executed: &Executed<'_>, memory: &Memory, out: &mut dyn Write) -> Result<()> {
        let program = self.program;
        let known = self.known.entry(executed.address).or_insert_with(|| know(program, executed, memory));
        if self.place.as_ref() != Some(&known.place) {
            writeln!(out, "{}", known.place)?;
            self.place = Some(known.place.clone());
        }
        write!(out, "{:>12}  {:#x}  {}", executed.time.0, executed.address, known.text)?;
        for access in accesses(executed) {
            let (kind, length) =
                (if access.write { "write" } else { "read" }, access.range.end - access.range.start);
            write!(out, "  {kind} {:#x} {length}", access.range.start)?;
        }
        writeln!(out)?;
        Ok(())
    }
}

fn know(program: &Program, executed: &Executed<'_>, memory: &Memory) -> Known {
    let mut bytes = [0; lift::MAX_INSTRUCTION];
    let available = memory.fetch(executed.address, &mut bytes);
    let text = lift::describe(bytes.get(..available).unwrap_or(&[]), executed.address).text;
    let place = match program.statement_at(executed.address) {
        Some(stmt) => runs::place(&stmt),
        None => {
            let location = program.locate(executed.address);
            let name = location
                .function
                .map(|function| function.name)
                .or(location.object.map(|path| path.to_string()));
            name.unwrap_or_else(|| "unknown code".to_owned())
        }
    };
    Known { place: printable(&place), text }
}
