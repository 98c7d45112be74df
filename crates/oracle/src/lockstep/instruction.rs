//! What the stepper has to know of an instruction before it executes it on both sides.

use iced_x86::{Code, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic};
use iced_x86::{Register, RflagsBits};

/// How an instruction is carried out natively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// One single step.
    Step,
    /// The processor traps after each element: steps until rip moves on.
    Repeat,
    /// A single step, after which the stepper's own trap flag is taken out of the pushed word.
    PushFlags,
    /// Not executed: the machine's values of these registers (numbers in encoding order) are
    /// copied, and its flags if `flags` is set. What the host's processor would say here differs
    /// from machine to machine and from run to run.
    Answer { registers: Vec<usize>, flags: bool },
    /// Served by the machine's kernel.
    Syscall,
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct Step {
    pub instruction: Instruction,
    pub plan: Plan,
    /// Bits of RFLAGS that the architecture leaves open after it.
    pub undefined_flags: u64,
    /// Bits of RFLAGS that it may change, the undefined ones among them.
    pub modified_flags: u64,
    /// Bits of RFLAGS that its result depends on.
    pub read_flags: u64,
}

impl Step {
    /// `bytes` are what is executable at `rip`: 15 or, at the end of a mapping, fewer.
    pub fn decode(rip: u64, bytes: &[u8]) -> Step {
        let instruction = decode(rip, bytes);
        // A bad encoding changes nothing.
        let valid = instruction.code() != Code::INVALID;
        let places = |bits| if valid { flag_places(bits) } else { 0 };
        Step {
            instruction,
            plan: plan(&instruction),
            undefined_flags: places(instruction.rflags_undefined()),
            modified_flags: places(instruction.rflags_modified()),
            read_flags: places(instruction.rflags_read()),
        }
    }

    pub fn is_fxsave(&self) -> bool {
        matches!(self.instruction.mnemonic(), Mnemonic::Fxsave | Mnemonic::Fxsave64)
    }

    /// fnstenv and fnsave.
    pub fn is_environment(&self) -> bool {
        use Mnemonic::{Fnsave, Fnstenv};
        matches!(self.instruction.mnemonic(), Fnsave | Fnstenv)
    }

    /// How many registers, from the top of the stack on, are results of an x87 function that each processor approximates in
    /// its own way.
    pub fn transcendental_results(&self) -> u8 {
        use Mnemonic::{F2xm1, Fcos, Fpatan, Fptan, Fsin, Fsincos, Fyl2x, Fyl2xp1};
        match self.instruction.mnemonic() {
            F2xm1 | Fsin | Fcos | Fpatan | Fyl2x | Fyl2xp1 => 1,
            Fsincos | Fptan => 2,
            _ => 0,
        }
    }

    pub fn is_bit_scan(&self) -> bool {
        matches!(self.instruction.mnemonic(), Mnemonic::Bsf | Mnemonic::Bsr)
    }

    /// rcp and rsqrt: each processor model has its own table.
    pub fn is_approximate(&self) -> bool {
        use Mnemonic::{Rcpps, Rcpss, Rsqrtps, Rsqrtss};
        matches!(self.instruction.mnemonic(), Rcpps | Rcpss | Rsqrtps | Rsqrtss)
    }
}

/// `address  bytes  text`
pub fn describe(rip: u64, bytes: &[u8]) -> String {
    let instruction = decode(rip, bytes);
    let mut text = String::new();
    IntelFormatter::new().format(&instruction, &mut text);
    let hex: Vec<String> = bytes.iter().take(instruction.len()).map(|byte| format!("{byte:02x}")).collect();
    format!("{rip:#x}  {:<30}  {text}", hex.join(" "))
}

/// The number of a general register of any width in encoding order.
pub fn register_number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

fn decode(rip: u64, bytes: &[u8]) -> Instruction {
    Decoder::with_ip(64, bytes, rip, DecoderOptions::NONE).decode()
}

fn plan(instruction: &Instruction) -> Plan {
    const RAX: usize = 0;
    const RCX: usize = 1;
    const RDX: usize = 2;
    const RBX: usize = 3;
    let answer = |registers: &[usize], flags| Plan::Answer { registers: registers.to_vec(), flags };
    match instruction.mnemonic() {
        Mnemonic::Syscall => Plan::Syscall,
        Mnemonic::Cpuid => answer(&[RAX, RBX, RCX, RDX], false),
        Mnemonic::Rdtsc | Mnemonic::Xgetbv => answer(&[RAX, RDX], false),
        Mnemonic::Rdtscp => answer(&[RAX, RDX, RCX], false),
        Mnemonic::Rdrand | Mnemonic::Rdseed => {
            let registers = register_number(instruction.op0_register()).into_iter().collect();
            Plan::Answer { registers, flags: true }
        }
        Mnemonic::Rdpid => {
            let registers = register_number(instruction.op0_register()).into_iter().collect();
            Plan::Answer { registers, flags: false }
        }
        Mnemonic::Pushfq | Mnemonic::Pushf => Plan::PushFlags,
        _ if instruction.is_string_instruction()
            && (instruction.has_rep_prefix() || instruction.has_repne_prefix()) =>
        {
            Plan::Repeat
        }
        _ => Plan::Step,
    }
}

/// The arithmetic flags' bits as the decoder numbers them, at their places in RFLAGS.
fn flag_places(bits: u32) -> u64 {
    const PLACES: [(u32, u64); 6] = [
        (RflagsBits::CF, 1 << 0),
        (RflagsBits::PF, 1 << 2),
        (RflagsBits::AF, 1 << 4),
        (RflagsBits::ZF, 1 << 6),
        (RflagsBits::SF, 1 << 7),
        (RflagsBits::OF, 1 << 11),
    ];
    PLACES.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, place)| place).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Step {
        Step::decode(0x1000, bytes)
    }

    #[test]
    fn instructions_that_name_the_host_are_answered_by_the_machine() {
        assert_eq!(
            decoded(&[0x0f, 0xa2]).plan,
            Plan::Answer { registers: vec![0, 3, 1, 2], flags: false },
            "cpuid"
        );
        assert_eq!(
            decoded(&[0x0f, 0x31]).plan,
            Plan::Answer { registers: vec![0, 2], flags: false },
            "rdtsc"
        );
        assert_eq!(
            decoded(&[0x41, 0x0f, 0xc7, 0xf1]).plan,
            Plan::Answer { registers: vec![9], flags: true },
            "rdrand r9d"
        );
    }

    #[test]
    fn only_repeated_string_instructions_are_stepped_more_than_once() {
        assert_eq!(decoded(&[0xf3, 0xa4]).plan, Plan::Repeat, "rep movsb");
        assert_eq!(decoded(&[0xf2, 0xae]).plan, Plan::Repeat, "repne scasb");
        assert_eq!(decoded(&[0xa4]).plan, Plan::Step, "movsb");
        assert_eq!(decoded(&[0xf3, 0xc3]).plan, Plan::Step, "rep ret");
        assert_eq!(decoded(&[0xf3, 0x0f, 0x1e, 0xfa]).plan, Plan::Step, "endbr64");
        assert_eq!(decoded(&[0xf2, 0x0f, 0x58, 0xc1]).plan, Plan::Step, "addsd");
    }

    #[test]
    fn undefined_flags_are_those_of_the_manual() {
        assert_eq!(decoded(&[0x48, 0x21, 0xc0]).undefined_flags, 0x10, "and: AF");
        assert_eq!(decoded(&[0x48, 0x01, 0xc0]).undefined_flags, 0, "add: none");
        assert_eq!(decoded(&[0x48, 0xf7, 0xe1]).undefined_flags, 0xd4, "mul: SF ZF AF PF");
        assert_eq!(decoded(&[0x48, 0xf7, 0xf1]).undefined_flags, 0x8d5, "div: all");
        assert_eq!(decoded(&[0xff, 0xff]).undefined_flags, 0, "no instruction");
    }

    #[test]
    fn an_instruction_is_shown_with_address_bytes_and_text() {
        let shown = describe(0x1000, &[0x48, 0x01, 0xc8, 0x90]);
        assert_eq!(shown, format!("0x1000  {:<30}  add rax,rcx", "48 01 c8"));
    }
}
