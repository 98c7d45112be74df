//! `whydunit dump ops`: a function's instructions, each with its ops below it.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use lift::Decoded;

use super::{Asked, open};
use crate::args::DumpFunction;

pub fn text(arguments: &DumpFunction) -> Result<String> {
    let Asked { program, start, size } = open(arguments)?;
    let code = program.file_bytes(start).with_context(|| format!("there is no code at {start:#x}"))?;
    let code = code.get(..usize::try_from(size)?).unwrap_or(code);
    Ok(print(code, start))
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
