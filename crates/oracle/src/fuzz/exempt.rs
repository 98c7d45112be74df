//! The written list of what is not compared, and why.

use super::amd;
use super::layout::{PAGE, segment_base};
use super::state::{Case, Fault, FaultKind, Outcome, State};
use super::undefined::{ZF, shift_count};
use crate::maker::Maker;
use iced_x86::{Code, Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpKind};
use std::ops::Range;

const RCX: usize = 1;
const RSI: usize = 6;
const RDI: usize = 7;
const EVERYTHING: Range<u64> = 0..u64::MAX;
/// Of the x87 status word.
const C1: u16 = 1 << 9;
/// In the last place, between two results of a transcendental function.
const UNITS: u128 = 1;

/// What need not agree after a case.
pub struct Exemptions<'a> {
    /// Bits of RFLAGS.
    pub flags: u64,
    /// Bits of each general register.
    pub general: [u64; 16],
    /// Addresses.
    memory: Vec<Range<u64>>,
    /// Bits of the x87 status word.
    pub x87_status: u16,
    /// The instruction that faulted, or the last one.
    instruction: &'a Instruction,
    input: &'a State,
    maker: Maker,
}

/// Whether the two sides went apart for a reason that leaves nothing to compare.
pub fn went_another_way(maker: Maker, case: &Case, native: &Outcome, machine: &Outcome) -> bool {
    left_canonical_space(case, native, machine)
        || maker == Maker::Amd && amd::went_another_way(case, native, machine)
}

/// A jump to a non-canonical address: Intel's processors refuse the jump, AMD's and the machine go
/// there and fault then.
fn left_canonical_space(case: &Case, native: &Outcome, machine: &Outcome) -> bool {
    use Mnemonic::*;
    let Some(step) = case.step_at(native.state.rip) else { return false };
    let refused = native.fault.is_some_and(|fault| fault.kind == FaultKind::Protection);
    let top = machine.state.rip as i64 >> 47;
    matches!(step.instruction.mnemonic(), Jmp | Call | Ret)
        && refused
        && machine.fault.is_none()
        && top != 0
        && top != -1
}

impl<'a> Exemptions<'a> {
    pub fn of(maker: Maker, case: &'a Case, native: &Outcome) -> Exemptions<'a> {
        let step = case.step_at(native.state.rip).expect("a case has instructions");
        let instruction = &step.instruction;
        let (general, memory, input) = ([0; 16], Vec::new(), &case.input);
        let flags = if native.fault.is_some() { step.undefined.0 } else { case.undefined.0 };
        let mut exempt = Exemptions { flags, general, memory, x87_status: 0, instruction, input, maker };
        exempt.narrow_string();
        if maker == Maker::Amd {
            exempt.flags |= amd::flags_of_faulted(instruction, input, native);
        }
        if native.fault.is_some() {
            // The frame pointer may have been pushed or not when enter finds that its locals end
            // where nothing can be written.
            // What there is of ten bytes in the first of two pages may have been written.
            if instruction.mnemonic() == Mnemonic::Enter || is_ten_bytes(instruction) {
                exempt.memory.push(EVERYTHING);
            }
        } else {
            exempt.result(native);
        }
        exempt
    }

    /// Results that the manual leaves undefined.
    fn result(&mut self, native: &Outcome) {
        use Mnemonic::*;
        match self.instruction.mnemonic() {
            // Of a source that is zero; ZF tells.
            Bsf | Bsr if native.state.rflags & ZF != 0 => self.destination(),
            // Of a 16-bit operand shifted by more than 16.
            Shld | Shrd => {
                let (count, bits) = shift_count(self.instruction, self.input);
                if count > bits {
                    self.destination();
                }
            }
            // Which bits of MXCSR exist depends on the processor.
            Fxsave | Fxsave64 => {
                const MASK_OFFSET: u64 = 28;
                if let Some(area) = memory_operand(self.instruction, self.input) {
                    self.memory.push(area + MASK_OFFSET..area + MASK_OFFSET + 4);
                }
            }
            // Where the last x87 instruction and its operand were, and its opcode, is not kept: processors differ in
            // when they tell it.
            Fnstenv | Fnsave => {
                if let Some(area) = memory_operand(self.instruction, self.input) {
                    self.memory.push(area + 12..area + 28);
                }
            }
            // How they round is not defined.
            F2xm1 | Fsin | Fcos | Fsincos | Fptan | Fpatan | Fyl2x | Fyl2xp1 => {
                self.x87_status = C1;
                if self.maker == Maker::Amd {
                    let results = &native.state.float.stack[..self.approximations()];
                    self.x87_status |= amd::status_of_approximations(results);
                }
            }
            _ => {}
        }
    }

    /// Whether the byte at this address need not agree; at 0, whether none has to.
    pub fn is_exempt(&self, address: u64) -> bool {
        self.memory.iter().any(|range| range.contains(&address))
    }

    /// The transcendental functions are the machine's own; processors have errors of up to about one unit in the last place, each its
    /// own.
    pub fn x87_is_good(&self, number: usize, native: u128, machine: u128) -> bool {
        number < self.approximations() && units_apart(native, machine).is_some_and(|units| units <= UNITS)
    }

    /// How many x87 registers, from the top on, hold results of a transcendental function.
    fn approximations(&self) -> usize {
        use Mnemonic::*;
        match self.instruction.mnemonic() {
            F2xm1 | Fsin | Fcos | Fpatan | Fyl2x | Fyl2xp1 => 1,
            Fsincos | Fptan => 2,
            _ => 0,
        }
    }

    fn destination(&mut self) {
        match self.instruction.op0_kind() {
            OpKind::Register => {
                self.general[self.instruction.op0_register().full_register().number()] = u64::MAX
            }
            _ => self.memory.push(EVERYTHING),
        }
    }

    /// Under the address-size prefix a repetition uses ecx, esi and edi. Whether their upper halves
    /// are cleared when no element was done is not written in the manual.
    fn narrow_string(&mut self) {
        let narrow = self
            .instruction
            .op_kinds()
            .any(|kind| matches!(kind, OpKind::MemorySegESI | OpKind::MemoryESEDI | OpKind::MemorySegEDI));
        if narrow && (self.instruction.has_rep_prefix() || self.instruction.has_repne_prefix()) {
            for register in [RCX, RSI, RDI] {
                self.general[register] = u64::MAX << 32;
            }
        }
    }

    /// Whether both sides faulted alike, or in one of several ways that the manual leaves open.
    pub fn same_fault(&self, native: Option<Fault>, machine: Option<Fault>) -> bool {
        use Mnemonic::*;
        if native == machine {
            return true;
        }
        let (Some(native), Some(machine)) = (native, machine) else { return false };
        if self.maker == Maker::Amd && amd::refused_within_segment(self.instruction, native, machine) {
            return true;
        }
        // Either operand of a comparison may be read first; a masked move writes each byte on its own, and ten bytes are read and
        // written in parts.
        if matches!(
            self.instruction.code(),
            Code::Cmpsb_m8_m8
                | Code::Cmpsw_m16_m16
                | Code::Cmpsd_m32_m32
                | Code::Cmpsq_m64_m64
                | Code::Maskmovdqu_rDI_xmm_xmm
        ) || is_ten_bytes(self.instruction)
        {
            return true;
        }
        if (native.kind, machine.kind) != (FaultKind::PageFault, FaultKind::PageFault) {
            return false;
        }
        let apart = native.address.abs_diff(machine.address);
        match self.instruction.mnemonic() {
            // Some processors touch the last byte first, and read before they write.
            Fxsave | Fxsave64 | Fxrstor | Fxrstor64 => apart < 512,
            Fnstenv | Fldenv | Fnsave | Frstor => apart < 108,
            // The push and the end of the locals, whichever is tried first.
            Enter => true,
            // What is read, changed and written faults as a write on the processor, which knows
            // when it reads that it will write, and as a read in the machine. So where it crosses
            // from a read-only page into one that is not mapped, the processor stops at the first.
            _ if self.changes_memory_in_place() => {
                let crossed = machine.address.is_multiple_of(PAGE) && native.address < machine.address;
                apart == 0 || (crossed && apart < 16)
            }
            _ => false,
        }
    }

    fn changes_memory_in_place(&self) -> bool {
        use iced_x86::OpAccess::*;
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(self.instruction);
        let memory_first = self.instruction.op0_kind() == OpKind::Memory;
        memory_first && matches!(info.op0_access(), ReadWrite | ReadCondWrite)
    }

    /// Whether a vector register that differs may do so.
    pub fn vector_is_good(&self, register: usize, native: u128, machine: u128) -> bool {
        let is_result = self.instruction.op0_register().number() == register;
        let sum = || self.maker == Maker::Amd && amd::sums_agree(self.instruction, native, machine);
        is_result && (sum() || self.approximation_is_good(native, machine))
    }

    /// The approximate reciprocals may have any value within a relative error of 1.5 * 2^-12.
    fn approximation_is_good(&self, native: u128, machine: u128) -> bool {
        use Mnemonic::*;
        let mnemonic = self.instruction.mnemonic();
        let lanes = match mnemonic {
            Rcpps | Rsqrtps => 4,
            Rcpss | Rsqrtss => 1,
            _ => return false,
        };
        let rest = |vector: u128| vector.checked_shr(32 * lanes);
        if rest(native) != rest(machine) {
            return false;
        }
        let source = match self.instruction.op1_kind() {
            OpKind::Register => Some(self.input.float.xmm[self.instruction.op1_register().number()]),
            _ => None,
        };
        (0..lanes).all(|lane| {
            let value = |vector: u128| f32::from_bits((vector >> (32 * lane)) as u32);
            let exact = source.map(value).map(f64::from).map(|x| match mnemonic {
                Rcpps | Rcpss => 1.0 / x,
                _ => 1.0 / x.sqrt(),
            });
            reciprocals_agree(value(native), value(machine), exact)
        })
    }
}

/// Where the instruction's memory operand lies.
pub fn memory_operand(instruction: &Instruction, input: &State) -> Option<u64> {
    let operand = instruction.op_kinds().position(|kind| kind == OpKind::Memory)?;
    instruction.virtual_address(operand as u32, 0, |register, _, _| {
        if register.is_segment_register() {
            return Some(segment_base(register));
        }
        let value = input.general[register.full_register().number()];
        Some(if register.size() == 4 { value & 0xffff_ffff } else { value })
    })
}

/// By how many units in the last place two x87 registers of the same sign differ.
pub fn units_apart(a: u128, b: u128) -> Option<u128> {
    // Numbers of one sign are in the order of their bits, but for the one that all numbers have that are not tiny.
    let place = |value: u128| (value >> 64 & 0x7fff) << 63 | value & u128::from(u64::MAX >> 1);
    (a >> 79 & 1 == b >> 79 & 1).then(|| place(a).abs_diff(place(b)))
}

/// Whether a number of 80 bits is loaded or stored.
fn is_ten_bytes(instruction: &Instruction) -> bool {
    matches!(instruction.memory_size(), MemorySize::Float80 | MemorySize::Bcd)
}

fn reciprocals_agree(native: f32, machine: f32, exact: Option<f64>) -> bool {
    const BOUND: f64 = 1.5 / 4096.0;
    if native.to_bits() == machine.to_bits() {
        return true;
    }
    // What is not above the least normal number by more than the error may be flushed to zero.
    const TINY: f64 = f32::MIN_POSITIVE as f64 * (1.0 + BOUND);
    let tiny = |value: f32| f64::from(value).abs() <= TINY && !value.is_subnormal();
    if native.is_sign_negative() == machine.is_sign_negative() && tiny(native) && tiny(machine) {
        return true;
    }
    // Zeros, infinities and NaNs are exact.
    if !native.is_normal() || !machine.is_normal() {
        return false;
    }
    let error = |exact: f64| ((f64::from(machine) - exact) / exact).abs();
    match exact {
        Some(exact) => error(exact) <= BOUND,
        // The processor is within the bound of the exact value as well.
        None => error(f64::from(native)) <= 2.0 * BOUND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_are_held_to_the_bound() {
        let bound = 1.5 / 4096.0;
        let (inside, outside) = (0.5 * (1.0 + 0.9 * bound) as f32, 0.5 * (1.0 + 1.2 * bound) as f32);
        assert!(reciprocals_agree(0.5, inside, Some(0.5)));
        assert!(!reciprocals_agree(0.5, outside, Some(0.5)));
        assert!(reciprocals_agree(0.5, outside, None));
        assert!(!reciprocals_agree(f32::INFINITY, f32::MAX, None));
        assert!(!reciprocals_agree(f32::NAN, 1.0, None));
        assert!(reciprocals_agree(0.0, f32::MIN_POSITIVE, None));
        assert!(!reciprocals_agree(0.0, -f32::MIN_POSITIVE, None));
    }
}
