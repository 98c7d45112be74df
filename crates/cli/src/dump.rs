//! `whydunit dump`: intermediate structures in a stable text form.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use lift::Decoded;
use program::{Program, read_file};

use crate::args::DumpOps;
use crate::exit_code::{self, Failure};
use crate::lookup::{self, Lookup};

/// A function's instructions, each with its ops below it.
pub fn ops(arguments: &DumpOps) -> Result<u8, Failure> {
    dump_ops(arguments).map_err(|error| Failure::new(exit_code::NO_ANSWER, error))
}

fn dump_ops(arguments: &DumpOps) -> Result<u8> {
    let path = find(&arguments.program)?;
    let content = read_file(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let program = Program::from_object(&path.to_string_lossy(), content, 0)
        .with_context(|| format!("{} is no x86-64 ELF file", path.display()))?;
    let (start, size) = range(&program, &arguments.symbol)?;
    let code = program.file_bytes(start).with_context(|| format!("there is no code at {start:#x}"))?;
    let code = code.get(..usize::try_from(size)?).unwrap_or(code);
    let text = print(code, start);
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit_code::BROKEN_PIPE),
        result => result.map(|()| exit_code::SUCCESS).context("standard output cannot be written"),
    }
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
    let Some(digits) = symbol.strip_prefix("0x") else {
        let found = program.find_symbol(symbol)?;
        return Ok((found.address, found.size));
    };
    let address = u64::from_str_radix(digits, 16).with_context(|| format!("{symbol} is no address"))?;
    let function = program.function_at(address);
    function.with_context(|| format!("{symbol} is in no function that symbols or unwind tables know of"))
}

fn print(code: &[u8], start: u64) -> String {
    let mut text = String::new();
    let mut ops = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let address = start.wrapping_add(at as u64);
        let Decoded::Instruction(instruction) = lift::decode(rest, address) else {
            line(&mut text, address, &rest[..1], "(bad)");
            at += 1;
            continue;
        };
        let bytes = rest.get(..instruction.len()).unwrap_or(rest);
        line(&mut text, address, bytes, &lift::describe(bytes, address).text);
        ops.clear();
        lift::lift(&instruction, &mut ops);
        for op in &ops {
            let _ = writeln!(text, "    {op}");
        }
        at += instruction.len().max(1);
    }
    text
}

fn line(text: &mut String, address: u64, bytes: &[u8], disassembly: &str) {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let _ = writeln!(text, "{address:#x}  {:<30}  {disassembly}", bytes.join(" "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_is_followed_by_its_ops() {
        let text = print(&[0x89, 0xd8, 0xc3], 0x1000);
        assert_eq!(
            text,
            "0x1000  89 d8                           mov eax, ebx\n    rax = zx.32 rbx\n\
             0x1002  c3                              ret\n    t0 = load.64 [rsp]\n    rsp = add.64 rsp, 8\n    return t0\n"
        );
    }

    #[test]
    fn bytes_that_are_no_instruction_are_stepped_over() {
        let text = print(&[0x06, 0x90, 0x0f], 0x10);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("0x10  06") && lines[0].ends_with("(bad)"));
        assert!(lines[1].ends_with("nop"));
        assert!(lines[2].ends_with("(bad)"), "the last byte begins an instruction that is cut off");
    }
}
