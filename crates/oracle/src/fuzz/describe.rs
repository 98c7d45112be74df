//! Cases in words, for the person who has to find out what is wrong.

use super::compare::{GENERAL_NAMES, flag_names};
use super::forms::is_x87;
use super::layout::address_of;
use super::native::NativeError;
use super::state::{Case, FloatState};
use iced_x86::{Formatter, Instruction, IntelFormatter, UsedRegister};
use std::fmt::Write;

/// The form of the instruction as the manual writes it.
pub fn form(case: &Case) -> String {
    let forms: Vec<String> = case.steps.iter().map(|step| form_of(&step.instruction)).collect();
    forms.join("; ")
}

fn form_of(instruction: &Instruction) -> String {
    let repeat = match (instruction.has_rep_prefix(), instruction.has_repne_prefix()) {
        (true, _) => "REP ",
        (_, true) => "REPNE ",
        _ => "",
    };
    format!("{repeat}{}", instruction.code().op_code().instruction_string())
}

/// The command that runs the case again, the instruction, what it reads, and the difference.
pub fn case(group: &str, seed: u64, case: &Case, difference: &str) -> String {
    let mut text = String::new();
    let index = case.index;
    let _ = writeln!(text, "fuzz --group {group} --seed {seed} --case {index}");
    for step in &case.steps {
        let mut assembly = String::new();
        IntelFormatter::new().format(&step.instruction, &mut assembly);
        let bytes: Vec<String> = step.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(text, "  {:#x}: {}   {assembly}", step.instruction.ip(), bytes.join(" "));
    }
    let input = &case.input;
    let _ = writeln!(text, "  before    flags {}; mxcsr {:#x}", flag_names(input.rflags), input.float.mxcsr);
    for register in used_registers(case) {
        let _ = match register {
            Used::General(number) => {
                writeln!(text, "            {} = {:#x}", GENERAL_NAMES[number], input.general[number])
            }
            Used::Vector(number) => {
                writeln!(text, "            xmm{number} = {:#034x}", input.float.xmm[number])
            }
        };
    }
    if case.steps.iter().any(|step| is_x87(step.instruction.code())) {
        let FloatState { control, status, tags, stack, .. } = &input.float;
        let _ = writeln!(text, "            x87 control {control:#x}, status {status:#x}, tags {tags:#x}");
        for (number, register) in stack.iter().enumerate() {
            let _ = writeln!(text, "            st{number} = {register:#022x}");
        }
    }
    for (offset, bytes) in case.patches.iter() {
        let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(text, "            [{:#x}] = {bytes}", address_of(offset));
    }
    text + difference
}

pub fn native_error(error: &NativeError) -> String {
    match error {
        NativeError::Start(what) => format!("cases cannot be executed on this processor: {what}"),
        NativeError::Lost { how, .. } => how.clone(),
    }
}

enum Used {
    General(usize),
    Vector(usize),
}

/// The registers that the instruction reads or writes.
fn used_registers(case: &Case) -> Vec<Used> {
    let mut factory = iced_x86::InstructionInfoFactory::new();
    let mut numbers: Vec<(bool, usize)> = Vec::new();
    for step in &case.steps {
        let registers = factory.info(&step.instruction).used_registers().iter().map(UsedRegister::register);
        numbers.extend(
            registers
                .filter(|register| register.is_gpr() || register.is_xmm())
                .map(|register| (register.is_xmm(), register.full_register().number())),
        );
    }
    numbers.sort_unstable();
    numbers.dedup();
    let used = |(vector, number)| if vector { Used::Vector(number) } else { Used::General(number) };
    numbers.into_iter().map(used).collect()
}
