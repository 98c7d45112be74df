//! A guest fault in words: what the program did, as the end of a sentence that begins with "it".

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use lift::{Decoded, Reg};
use machine::{Access, AccessFault, Cause, Fault, FaultKind, Machine};

/// Nothing is ever mapped below this address, so that a null pointer with an offset faults.
const LOWEST_MAPPED: u64 = 0x1_0000;

pub fn describe(machine: &Machine, fault: &Fault) -> String {
    match fault.kind {
        FaultKind::Memory(access) => memory(machine, access),
        FaultKind::GeneralProtection => protection(machine),
        FaultKind::DivideError => division(machine).to_owned(),
        FaultKind::InvalidOpcode => invalid(machine).to_owned(),
        FaultKind::Breakpoint => "ran into a breakpoint instruction".to_owned(),
        FaultKind::Privileged => "executed an instruction that only the kernel may".to_owned(),
        FaultKind::Misuse => "freed what cannot be freed".to_owned(),
        FaultKind::FloatException => "caused a floating-point exception that it has unmasked".to_owned(),
    }
}

fn memory(machine: &Machine, AccessFault { address, access, cause }: AccessFault) -> String {
    let did = match access {
        Access::Read => "read",
        Access::Write => "wrote to",
        Access::Execute => "jumped to",
    };
    if address < LOWEST_MAPPED {
        return match (address, access) {
            (0, Access::Read) => "read through a null pointer".to_owned(),
            (0, Access::Write) => "wrote through a null pointer".to_owned(),
            (0, Access::Execute) => "called a null pointer".to_owned(),
            _ => format!("{did} address {address:#x}, a null pointer with an offset"),
        };
    }
    if let Some(size) = linux::overflowed_stack(&machine.memory, address) {
        return format!(
            "used up its stack of {}, perhaps by endless recursion ({did} {address:#x})",
            super::human_size(size)
        );
    }
    let region = machine.memory.region_at(address);
    match (cause, region) {
        (Cause::Protected | Cause::CodePage, Some(region)) => {
            let owner = match &*region.name {
                "" => "memory".to_owned(),
                name if name.starts_with('[') => format!("the {}", name.trim_matches(['[', ']'])),
                name => super::trace::file_name(name).to_owned(),
            };
            let kind = match access {
                Access::Read => "may not be read",
                Access::Write => "is read-only",
                Access::Execute => "is not code",
            };
            format!("{did} address {address:#x} in {owner}, which {kind}")
        }
        _ => format!("{did} address {address:#x}, where nothing is mapped"),
    }
}

/// The processor does not say which address it was; the instruction does.
fn protection(machine: &Machine) -> String {
    if !is_canonical(machine.cpu.rip) {
        let target = machine.cpu.rip;
        return format!("jumped to {target:#x}, which no address can be; was a return address overwritten?");
    }
    let unknown = "used an address that is not valid, or misaligned for the instruction".to_owned();
    let Some(instruction) = instruction(machine) else { return unknown };
    let Some(address) = memory_address(machine, &instruction) else { return unknown };
    match is_canonical(address) {
        false => format!("used {address:#x} as a pointer, which no address can be"),
        true if !address.is_multiple_of(16) => {
            format!("accessed address {address:#x} with an instruction that needs a multiple of 16")
        }
        true => unknown,
    }
}

/// Whether the upper bits are copies of bit 47, as the processor wants it.
fn is_canonical(address: u64) -> bool {
    (address << 16) as i64 >> 16 == address as i64
}

fn invalid(machine: &Machine) -> &'static str {
    match instruction(machine).map(|instruction| instruction.mnemonic()) {
        Some(Mnemonic::Ud2) => "ran into a trap (ud2), which compilers put where a program must not get to",
        _ => "executed bytes that are no instruction",
    }
}

fn division(machine: &Machine) -> &'static str {
    let divisor = instruction(machine).and_then(|instruction| match instruction.op0_kind() {
        OpKind::Register => register(machine, instruction.op0_register()),
        OpKind::Memory => {
            let mut bytes = [0; 8];
            let size = instruction.memory_size().size().min(8);
            let buffer = bytes.get_mut(..size)?;
            let read = machine.memory.peek(memory_address(machine, &instruction)?, buffer);
            (read == size).then(|| u64::from_le_bytes(bytes))
        }
        _ => None,
    });
    match divisor {
        Some(0) => "divided by zero",
        Some(_) => "divided, and the quotient does not fit (the least integer by -1?)",
        None => "divided by zero, or the quotient does not fit",
    }
}

fn instruction(machine: &Machine) -> Option<Instruction> {
    let mut bytes = [0; lift::MAX_INSTRUCTION];
    let available = machine.memory.fetch(machine.cpu.rip, &mut bytes);
    match lift::decode(bytes.get(..available)?, machine.cpu.rip) {
        Decoded::Instruction(instruction) => Some(instruction),
        _ => None,
    }
}

fn memory_address(machine: &Machine, instruction: &Instruction) -> Option<u64> {
    let operand =
        (0..instruction.op_count()).find(|operand| instruction.op_kind(*operand) == OpKind::Memory)?;
    instruction.virtual_address(operand, 0, |name, _, _| match name {
        Register::FS => Some(machine.cpu.get(Reg::FS_BASE)),
        Register::GS => Some(machine.cpu.get(Reg::GS_BASE)),
        name if name.is_segment_register() => Some(0),
        name => register(machine, name),
    })
}

/// The value of a general register or a part of one.
fn register(machine: &Machine, name: Register) -> Option<u64> {
    if !name.is_gpr() {
        return None;
    }
    let number = u8::try_from(name.full_register().number()).ok().filter(|number| *number < 16)?;
    let value = machine.cpu.get(Reg::general(number));
    Some(match name {
        Register::AH | Register::CH | Register::DH | Register::BH => value >> 8 & 0xff,
        _ => value & (u64::MAX >> (64 - 8 * name.size().clamp(1, 8))),
    })
}
