//! What AMD's processors do otherwise than Intel's, which the machine follows. Each rule is as narrow as the difference: it
//! asks for both sides' answers and for the reason.

use super::exempt::memory_operand;
use super::layout::segment_base;
use super::state::{Case, Fault, FaultKind, Outcome, State};
use super::undefined::ARITHMETIC;
use iced_x86::{Code, Instruction, Mnemonic, Register};

const RCX: usize = 1;
/// Of MXCSR: accesses of 16 bytes need not be aligned. Intel's processors do not have it.
const MISALIGNED_MODE: u32 = 1 << 17;
/// Of the x87 status word.
const UNDERFLOW: u16 = 1 << 4;

/// Whether the two sides went apart for a reason that leaves nothing to compare.
pub fn went_another_way(case: &Case, native: &Outcome, machine: &Outcome) -> bool {
    has_misaligned_mode(case, native, machine) || read_more(case, native, machine)
}

/// A value of MXCSR with the misaligned mode is loaded; Intel's processors refuse it.
fn has_misaligned_mode(case: &Case, native: &Outcome, machine: &Outcome) -> bool {
    use Mnemonic::*;
    let Some(step) = case.step_at(machine.state.rip) else { return false };
    matches!(step.instruction.mnemonic(), Ldmxcsr | Fxrstor | Fxrstor64)
        && machine.fault.is_some_and(|fault| fault.kind == FaultKind::Protection)
        && native.fault.is_none()
        && native.state.float.mxcsr & MISALIGNED_MODE != 0
}

/// movsxd to 16 bits reads four bytes, of which Intel's processors read the first two.
fn read_more(case: &Case, native: &Outcome, machine: &Outcome) -> bool {
    let (Some(step), Some(fault)) = (case.step_at(native.state.rip), native.fault) else { return false };
    let beyond = |operand: u64| (2..4).contains(&fault.address.wrapping_sub(operand));
    step.instruction.code() == Code::Movsxd_r16_rm16
        && fault.kind == FaultKind::PageFault
        && machine.fault.is_none_or(|other| other != fault)
        && memory_operand(&step.instruction, &case.input).is_some_and(beyond)
}

/// The address within a segment has to be canonical as well, not only its sum with the segment's base.
pub fn refused_within_segment(instruction: &Instruction, native: Fault, machine: Fault) -> bool {
    let segment = instruction.memory_segment();
    let within = machine.address.wrapping_sub(segment_base(segment));
    matches!(segment, Register::FS | Register::GS)
        && (native.kind, machine.kind) == (FaultKind::Protection, FaultKind::PageFault)
        && !is_canonical(within)
}

/// A repeated comparison that faults after some elements leaves the flags of the last one. Intel's processors put back those
/// from before the instruction.
pub fn flags_of_faulted(instruction: &Instruction, input: &State, native: &Outcome) -> u64 {
    let compares = instruction.is_string_instruction() && instruction.rflags_written() != 0;
    let began = native.state.general[RCX] != input.general[RCX];
    if native.fault.is_some() && compares && began { ARITHMETIC } else { 0 }
}

/// Which of several NaNs a sum of products is.
pub fn sums_agree(instruction: &Instruction, native: u128, machine: u128) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Dpps => (0..4).all(|lane| {
            let [native, machine] = [native, machine].map(|vector| (vector >> (32 * lane)) as u32);
            native == machine || is_quiet_32(native) && is_quiet_32(machine)
        }),
        Mnemonic::Dppd => (0..2).all(|lane| {
            let [native, machine] = [native, machine].map(|vector| (vector >> (64 * lane)) as u64);
            native == machine || is_quiet_64(native) && is_quiet_64(machine)
        }),
        _ => false,
    }
}

/// Of two results one unit apart, where the lesser is no normal number any more, only that one underflows: AMD's processors round
/// the sine of the least normal number down, Intel's to the nearest.
pub fn status_of_approximations(results: &[u128]) -> u16 {
    let is_denormal = |value: u128| value >> 63 & 0xffff == 0 && value as u64 != 0;
    if results.iter().any(|&value| is_denormal(value & (u128::MAX >> 49))) { UNDERFLOW } else { 0 }
}

fn is_canonical(address: u64) -> bool {
    matches!(address as i64 >> 47, 0 | -1)
}

fn is_quiet_32(bits: u32) -> bool {
    bits & 0x7fc0_0000 == 0x7fc0_0000
}

fn is_quiet_64(bits: u64) -> bool {
    bits & 0x7ff8_0000_0000_0000 == 0x7ff8_0000_0000_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::layout::{GS_BASE, HIGH, PAGE};
    use crate::fuzz::state::{Changes, Patches, Step};
    use crate::fuzz::undefined::Undefined;
    use iced_x86::{Decoder, DecoderOptions};

    fn case(bytes: &[u8], input: State) -> Case {
        let instruction = Decoder::with_ip(64, bytes, input.rip, DecoderOptions::NONE).decode();
        let mut padded = [0; lift::MAX_INSTRUCTION];
        padded[..bytes.len()].copy_from_slice(bytes);
        let step = Step { bytes: padded, instruction, undefined: Undefined::default() };
        let undefined = Undefined::default();
        Case { index: 0, steps: vec![step], input, patches: Patches::none(), undefined }
    }

    fn instruction(bytes: &[u8]) -> Instruction {
        case(bytes, State::zero()).steps[0].instruction
    }

    fn outcome(state: State, fault: Option<Fault>) -> Outcome {
        Outcome { state, fault, landing: None, changes: Changes::none() }
    }

    fn page_fault(address: u64) -> Fault {
        Fault { kind: FaultKind::PageFault, address, write: false }
    }

    const PROTECTION: Fault = Fault::without_address(FaultKind::Protection);

    #[test]
    fn only_the_misaligned_mode_lets_mxcsr_be_loaded() {
        let ldmxcsr = case(&[0x0f, 0xae, 0x10], State::zero());
        let loaded = |mxcsr: u32| {
            let mut state = State::zero();
            state.float.mxcsr = mxcsr;
            went_another_way(&ldmxcsr, &outcome(state, None), &outcome(State::zero(), Some(PROTECTION)))
        };
        assert!(loaded(0x2_1f80));
        assert!(!loaded(0x1f80));
    }

    #[test]
    fn only_the_two_bytes_beyond_a_short_movsxd_are_read_too() {
        let mut state = State::zero();
        state.general[0] = HIGH + PAGE - 2;
        let movsxd = case(&[0x66, 0x63, 0x08], state);
        let faulted = |address: u64| {
            let native = outcome(state, Some(page_fault(address)));
            went_another_way(&movsxd, &native, &outcome(state, None))
        };
        assert!(faulted(HIGH + PAGE));
        assert!(!faulted(HIGH + PAGE - 2));
        assert!(!faulted(HIGH + PAGE + 2));
    }

    #[test]
    fn only_addresses_that_are_not_canonical_within_a_segment_are_refused() {
        let (through_gs, flat) = (instruction(&[0x65, 0x8b, 0x00]), instruction(&[0x8b, 0x00]));
        let upper_half = 0xffff_8000_0000_0000;
        assert!(refused_within_segment(&through_gs, PROTECTION, page_fault(upper_half)));
        assert!(!refused_within_segment(&flat, PROTECTION, page_fault(upper_half)));
        assert!(!refused_within_segment(&through_gs, page_fault(1), page_fault(upper_half)));
        assert!(!refused_within_segment(&through_gs, PROTECTION, page_fault(upper_half + GS_BASE)));
    }

    #[test]
    fn only_comparisons_that_began_leave_flags_at_a_fault() {
        let (scas, stos) = (instruction(&[0xf2, 0xae]), instruction(&[0xf3, 0xaa]));
        let input = State::zero();
        let mut later = input;
        later.general[RCX] = 5;
        let faulted = outcome(later, Some(page_fault(0)));
        assert_eq!(flags_of_faulted(&scas, &input, &faulted), ARITHMETIC);
        assert_eq!(flags_of_faulted(&scas, &later, &faulted), 0);
        assert_eq!(flags_of_faulted(&stos, &input, &faulted), 0);
        assert_eq!(flags_of_faulted(&scas, &input, &outcome(later, None)), 0);
    }

    #[test]
    fn sums_of_products_may_differ_in_the_nan_only() {
        let (dpps, dppd) = (
            instruction(&[0x66, 0x0f, 0x3a, 0x40, 0xc1, 0xff]),
            instruction(&[0x66, 0x0f, 0x3a, 0x41, 0xc1, 0xff]),
        );
        let (one, other, number) = (0x7ff8_0001, 0xfffc_866a, 0x3f80_0000);
        assert!(sums_agree(&dpps, one, other));
        assert!(!sums_agree(&dpps, one, number) && !sums_agree(&dpps, one << 96, number << 96));
        assert!(!sums_agree(&dppd, one, other));
        assert!(sums_agree(&dppd, one << 96, other << 96));
        assert!(!sums_agree(&instruction(&[0x0f, 0x58, 0xc1]), one, other), "addps");
    }

    #[test]
    fn only_denormal_approximations_underflow() {
        let (largest_denormal, least_normal) = (u128::from(u64::MAX >> 1), 1 << 64 | 1 << 63);
        assert_eq!(status_of_approximations(&[1 << 79 | largest_denormal]), UNDERFLOW);
        assert_eq!(status_of_approximations(&[least_normal, 0]), 0);
    }
}
