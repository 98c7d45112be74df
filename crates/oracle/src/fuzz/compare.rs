//! Whether two outcomes agree in what the architecture defines.
//!
//! Everything is compared, except what is written down here.

use super::layout::PAGE;
use super::state::{Case, Fault, FaultKind, FloatState, Outcome};
use iced_x86::{Code, Instruction, InstructionInfoFactory, Mnemonic, OpKind, RflagsBits};
use std::fmt::Write;

/// Flags that user code sees: the arithmetic ones, DF, IF (always set), and NT, AC, ID, which popf
/// can change.
const VISIBLE_FLAGS: u64 = 0x24_4ed5;

/// A line a difference; empty if there is none.
pub fn differences(case: &Case, native: &Outcome, machine: &Outcome) -> String {
    let mut text = String::new();
    if left_canonical_space(case, native, machine) {
        return text;
    }
    let exempt = Exemptions::of(case, native);
    if native.fault != machine.fault && !either_comes_first(case, native.fault, machine.fault) {
        fault_line(&mut text, native.fault, machine.fault);
    }
    for (number, (native, machine)) in native.state.general.iter().zip(&machine.state.general).enumerate() {
        let ignored = exempt.general[number];
        if (native ^ machine) & !ignored != 0 {
            line(&mut text, GENERAL_NAMES[number], u128::from(*native), u128::from(*machine));
        }
    }
    if native.state.rip != machine.state.rip {
        line(&mut text, "rip", u128::from(native.state.rip), u128::from(machine.state.rip));
    }
    let flags = VISIBLE_FLAGS & !exempt.flags;
    if (native.state.rflags ^ machine.state.rflags) & flags != 0 {
        flag_line(&mut text, native.state.rflags & flags, machine.state.rflags & flags);
    }
    compare_floats(case, &native.state.float, &machine.state.float, &mut text);
    if !exempt.memory {
        compare_memory(native, machine, &mut text);
    }
    text
}

pub const GENERAL_NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
];

const RCX: usize = 1;
const RSI: usize = 6;
const RDI: usize = 7;

/// The written list of what is not compared, and why.
struct Exemptions {
    flags: u64,
    /// Bits of each general register.
    general: [u64; 16],
    memory: bool,
}

impl Exemptions {
    fn of(case: &Case, native: &Outcome) -> Exemptions {
        let mut exempt = Exemptions { flags: 0, general: [0; 16], memory: false };
        exempt.narrow_string(case);
        if native.fault.is_some() {
            // The frame pointer may have been pushed or not when enter finds that its locals end
            // where nothing can be written.
            exempt.memory = case.instruction.mnemonic() == Mnemonic::Enter;
            return exempt;
        }
        let instruction = &case.instruction;
        use Mnemonic::*;
        match instruction.mnemonic() {
            Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd => exempt.shift(case),
            Bsf | Bsr => {
                exempt.flags = undefined_flags(instruction);
                // The manual leaves the destination undefined when the source is zero; ZF tells.
                const ZERO: u64 = 1 << 6;
                if native.state.rflags & ZERO != 0 {
                    exempt.general[instruction.op0_register().full_register().number()] = u64::MAX;
                }
            }
            _ => exempt.flags = undefined_flags(instruction),
        }
        exempt
    }

    /// Under the address-size prefix a repetition uses ecx, esi and edi. Whether their upper halves
    /// are cleared when no element was done is not written in the manual.
    fn narrow_string(&mut self, case: &Case) {
        let instruction = &case.instruction;
        let narrow = instruction
            .op_kinds()
            .any(|kind| matches!(kind, OpKind::MemorySegESI | OpKind::MemoryESEDI | OpKind::MemorySegEDI));
        if narrow && (instruction.has_rep_prefix() || instruction.has_repne_prefix()) {
            for register in [RCX, RSI, RDI] {
                self.general[register] = u64::MAX << 32;
            }
        }
    }

    /// The decoder's table does not know the count, on which everything hangs here.
    fn shift(&mut self, case: &Case) {
        use Mnemonic::*;
        const CF: u64 = 1;
        const AF: u64 = 1 << 4;
        const OF: u64 = 1 << 11;
        let instruction = &case.instruction;
        let bits = 8 * match instruction.op0_kind() {
            OpKind::Register => instruction.op0_register().size() as u64,
            _ => instruction.memory_size().size() as u64,
        };
        let last = instruction.op_count() - 1;
        let count = match instruction.op_kind(last) {
            OpKind::Immediate8 => u64::from(instruction.immediate8()),
            _ => case.input.general[RCX],
        } & if bits == 64 { 63 } else { 31 };
        if count == 0 {
            // Nothing changes, the flags neither.
            return;
        }
        if count != 1 {
            // OF is defined for shifts and rotations by one only.
            self.flags |= OF;
        }
        match instruction.mnemonic() {
            Shl | Sal | Shr => {
                self.flags |= AF;
                // A count beyond the operand leaves CF undefined; sar is defined for all counts.
                if count >= bits {
                    self.flags |= CF;
                }
            }
            Sar => self.flags |= AF,
            Shld | Shrd => {
                self.flags |= AF;
                if count > bits {
                    // Result and flags are undefined: a 16-bit operand and a count above 16.
                    self.flags |= 0x8d5;
                    match instruction.op0_kind() {
                        OpKind::Register => {
                            self.general[instruction.op0_register().full_register().number()] = u64::MAX;
                        }
                        _ => self.memory = true,
                    }
                }
            }
            _ => {}
        }
    }
}

/// The flags that the manual leaves undefined, at their places in RFLAGS.
fn undefined_flags(instruction: &Instruction) -> u64 {
    const PLACES: [(u32, u64); 6] = [
        (RflagsBits::CF, 1),
        (RflagsBits::PF, 1 << 2),
        (RflagsBits::AF, 1 << 4),
        (RflagsBits::ZF, 1 << 6),
        (RflagsBits::SF, 1 << 7),
        (RflagsBits::OF, 1 << 11),
    ];
    let undefined = instruction.rflags_undefined();
    PLACES.iter().filter(|(bit, _)| undefined & bit != 0).map(|(_, place)| place).sum()
}

/// A jump to a non-canonical address: Intel's processors refuse the jump, AMD's and the machine go
/// there and fault then.
fn left_canonical_space(case: &Case, native: &Outcome, machine: &Outcome) -> bool {
    use Mnemonic::*;
    let refused = native.fault.is_some_and(|fault| fault.kind == FaultKind::Protection);
    let top = machine.state.rip as i64 >> 47;
    matches!(case.instruction.mnemonic(), Jmp | Call | Ret)
        && refused
        && machine.fault.is_none()
        && top != 0
        && top != -1
}

/// Faults that differ where the manual does not say which comes first.
fn either_comes_first(case: &Case, native: Option<Fault>, machine: Option<Fault>) -> bool {
    use Mnemonic::*;
    let (Some(native), Some(machine)) = (native, machine) else { return false };
    // Either operand may be read first.
    if matches!(case.instruction.code(), Code::Cmpsb_m8_m8 | Code::Cmpsw_m16_m16 | Code::Cmpsd_m32_m32 | Code::Cmpsq_m64_m64) {
        return true;
    }
    if (native.kind, machine.kind) != (FaultKind::PageFault, FaultKind::PageFault) {
        return false;
    }
    let apart = native.address.abs_diff(machine.address);
    match case.instruction.mnemonic() {
        // Some processors touch the last byte first.
        Fxsave | Fxsave64 | Fxrstor | Fxrstor64 => apart < 512,
        // Each byte is written on its own.
        Maskmovdqu => apart < 16,
        // The push and the end of the locals, whichever is tried first.
        Enter => true,
        // What is read, changed and written can cross from a read-only page into one that is not
        // mapped: the write is refused by the first, the read by the second.
        _ => {
            changes_memory_in_place(&case.instruction)
                && machine.address.is_multiple_of(PAGE)
                && native.address < machine.address
                && apart < 16
        }
    }
}

fn changes_memory_in_place(instruction: &Instruction) -> bool {
    use iced_x86::OpAccess::*;
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(instruction);
    instruction.op0_kind() == OpKind::Memory && matches!(info.op0_access(), ReadWrite | ReadCondWrite)
}

fn fault_line(text: &mut String, native: Option<Fault>, machine: Option<Fault>) {
    let _ = writeln!(text, "  fault     processor {:<28} machine {}", describe(native), describe(machine));
}

fn describe(fault: Option<Fault>) -> String {
    match fault {
        None => "none".to_string(),
        Some(Fault { kind: FaultKind::PageFault, address }) => format!("PageFault at {address:#x}"),
        Some(Fault { kind, .. }) => format!("{kind:?}"),
    }
}

fn compare_floats(case: &Case, native: &FloatState, machine: &FloatState, text: &mut String) {
    for number in 0..16 {
        let (native, machine) = (native.xmm[number], machine.xmm[number]);
        if native != machine && !approximations_agree(case, number, native, machine) {
            let _ = writeln!(text, "  xmm{number:<6} processor {native:#034x}  machine {machine:#034x}");
        }
    }
    if native.mxcsr != machine.mxcsr {
        line(text, "mxcsr", u128::from(native.mxcsr), u128::from(machine.mxcsr));
    }
}

/// The approximate reciprocals may have any value within a relative error of 1.5 * 2^-12.
fn approximations_agree(case: &Case, register: usize, native: u128, machine: u128) -> bool {
    use Mnemonic::*;
    let instruction = &case.instruction;
    let mnemonic = instruction.mnemonic();
    let lanes = match mnemonic {
        Rcpps | Rsqrtps => 4,
        Rcpss | Rsqrtss => 1,
        _ => return false,
    };
    if instruction.op0_register().number() != register || native >> (32 * lanes - 1) >> 1 != machine >> (32 * lanes - 1) >> 1 {
        return false;
    }
    const BOUND: f64 = 1.5 / 4096.0;
    let source = (instruction.op1_kind() == OpKind::Register)
        .then(|| case.input.float.xmm[instruction.op1_register().number()]);
    (0..lanes).all(|lane| {
        let value = |vector: u128| f32::from_bits((vector >> (32 * lane)) as u32);
        let (a, b) = (value(native), value(machine));
        if a.to_bits() == b.to_bits() {
            return true;
        }
        // A result that is not above the least normal number by more than the error may be
        // flushed to zero.
        const TINY: f64 = f32::MIN_POSITIVE as f64 * (1.0 + BOUND);
        let tiny = |value: f32| f64::from(value).abs() <= TINY && !value.is_subnormal();
        if a.is_sign_negative() == b.is_sign_negative() && tiny(a) && tiny(b) {
            return true;
        }
        // Zeros, infinities and NaNs are exact.
        if !a.is_normal() || !b.is_normal() {
            return false;
        }
        let error = |exact: f64| ((f64::from(b) - exact) / exact).abs();
        match source.map(|vector| f64::from(value(vector))) {
            Some(x) if matches!(mnemonic, Rcpps | Rcpss) => error(1.0 / x) <= BOUND,
            Some(x) => error(1.0 / x.sqrt()) <= BOUND,
            // The processor is within the bound of the exact value as well.
            None => error(f64::from(a)) <= 2.0 * BOUND,
        }
    })
}

fn compare_memory(native: &Outcome, machine: &Outcome, text: &mut String) {
    if native.changes == machine.changes {
        return;
    }
    let mut offsets: Vec<u32> =
        native.changes.chunks().iter().chain(machine.changes.chunks()).map(|chunk| chunk.offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let find = |outcome: &Outcome, offset| {
        let chunks = outcome.changes.chunks();
        chunks.iter().find(|chunk| chunk.offset == offset).map(|chunk| chunk.bytes)
    };
    for offset in offsets {
        let (native, machine) = (find(native, offset), find(machine, offset));
        if native != machine {
            let address = super::layout::address_of(offset as usize);
            let _ = writeln!(text, "  [{address:#x}]\n    processor {}\n    machine   {}", hex(native), hex(machine));
        }
    }
    if native.changes.overflowed() || machine.changes.overflowed() {
        let _ = writeln!(text, "  and further memory");
    }
}

fn hex(bytes: Option<[u8; super::state::CHUNK]>) -> String {
    match bytes {
        None => "unchanged".to_string(),
        Some(bytes) => bytes.chunks(8).map(|word| word.iter().map(|byte| format!("{byte:02x}")).collect::<String>()).collect::<Vec<_>>().join(" "),
    }
}

fn line(text: &mut String, name: &str, native: u128, machine: u128) {
    let _ = writeln!(text, "  {name:<9} processor {native:#018x}           machine {machine:#018x}");
}

fn flag_line(text: &mut String, native: u64, machine: u64) {
    let _ = writeln!(text, "  flags     processor {:<28} machine {}", flag_names(native), flag_names(machine));
}

/// The names of the flags that are set.
pub fn flag_names(rflags: u64) -> String {
    const NAMES: [(u32, &str); 11] = [
        (0, "CF"), (2, "PF"), (4, "AF"), (6, "ZF"), (7, "SF"), (10, "DF"), (11, "OF"), (14, "NT"), (18, "AC"),
        (21, "ID"), (9, "IF"),
    ];
    let set: Vec<&str> = NAMES.iter().filter(|(bit, _)| rflags & (1 << bit) != 0).map(|(_, name)| *name).collect();
    set.join(" ")
}
