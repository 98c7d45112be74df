//! `whydunit dump`: intermediate structures in a stable text form. One file a structure.

mod align;
mod cfg;
mod conditions;
mod core;
mod coverage;
mod deps;
mod formula;
mod index;
mod ops;
mod runs;
mod statements;
mod trace;
mod types;

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use program::{Program, read_file};

use crate::args::{Dump, DumpFunction};
use crate::bundle;
use crate::exit_code::{self, Failure};
use crate::lookup::{self, Lookup};

pub fn dump(what: &Dump) -> Result<u8, Failure> {
    let text = match what {
        // These two are as long as the run, and are written as it goes.
        Dump::Align(arguments) => return finish(align::write(arguments, &mut out())),
        Dump::Trace(arguments) => return finish(trace::write(arguments, &mut out())),
        Dump::Deps(arguments) => Ok(deps::text(arguments)?),
        Dump::Formula(arguments) => Ok(formula::text(arguments)?),
        Dump::Cfg(arguments) => cfg::text(arguments),
        Dump::Conditions(arguments) => conditions::text(arguments),
        Dump::Core(arguments) => core::write(arguments),
        Dump::Coverage(arguments) => coverage::text(arguments),
        Dump::Index(arguments) => index::text(arguments),
        Dump::Ops(arguments) => ops::text(arguments),
        Dump::Statements(arguments) => statements::text(arguments),
        Dump::Types(arguments) => types::text(arguments),
    };
    text.and_then(|text| print(&text)).map_err(|error| Failure::new(exit_code::NO_ANSWER, error))
}

fn out() -> BufWriter<io::Stdout> {
    BufWriter::new(io::stdout())
}

/// What became of a dump that writes as it goes.
fn finish(result: Result<()>) -> Result<u8, Failure> {
    let is_broken_pipe = |error: &anyhow::Error| {
        error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    match result {
        Ok(()) => Ok(exit_code::SUCCESS),
        Err(error) if is_broken_pipe(&error) => Ok(exit_code::BROKEN_PIPE),
        Err(error) => Err(Failure::new(exit_code::NO_ANSWER, error)),
    }
}

/// A function that was asked about, in a program that does not run.
struct Asked {
    program: Program,
    start: u64,
    size: u64,
}

fn open(arguments: &DumpFunction) -> Result<Asked> {
    let program = open_program(&arguments.program)?;
    let (start, size) = range(&program, &arguments.symbol)?;
    Ok(Asked { program, start, size })
}

fn open_program(program: &OsStr) -> Result<Program> {
    if let Some(bundle) = bundle::find(program).map_err(|failure| failure.error)? {
        return bundle::program(&bundle);
    }
    let path = find(program)?;
    let content = read_file(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    Program::from_object(&path.to_string_lossy(), content, 0)
        .with_context(|| format!("{} is no x86-64 ELF file", path.display()))
}

/// Libraries are asked about too, and are not always executable.
fn find(program: &OsStr) -> Result<PathBuf> {
    match lookup::find(program, std::env::var_os("PATH").as_deref()) {
        Lookup::Found(path) | Lookup::NotExecutable(path) => Ok(path),
        Lookup::NotFound => Err(anyhow!("{} was not found", program.to_string_lossy())),
    }
}

/// Start and size of the function that was asked for.
fn range(program: &Program, symbol: &str) -> Result<(u64, u64)> {
    let Some(address) = address(symbol)? else {
        let found = program.find_symbol(symbol)?;
        return Ok((found.address, found.size));
    };
    let function = program.function_at(address);
    function.with_context(|| format!("{symbol} is in no function that symbols or unwind tables know of"))
}

/// The address that stands in the place of a name.
fn address(symbol: &str) -> Result<Option<u64>> {
    let Some(digits) = symbol.strip_prefix("0x") else { return Ok(None) };
    let address = u64::from_str_radix(digits, 16).with_context(|| format!("{symbol} is no address"))?;
    Ok(Some(address))
}

fn print(text: &str) -> Result<u8> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit_code::BROKEN_PIPE),
        result => result.map(|()| exit_code::SUCCESS).context("standard output cannot be written"),
    }
}
