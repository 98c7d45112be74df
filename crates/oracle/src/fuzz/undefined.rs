//! The arithmetic flags that the manual leaves undefined after an instruction.

use super::state::State;
use iced_x86::{Instruction, Mnemonic, OpKind, RflagsBits};

pub const CF: u64 = 1;
pub const PF: u64 = 1 << 2;
pub const AF: u64 = 1 << 4;
pub const ZF: u64 = 1 << 6;
pub const SF: u64 = 1 << 7;
pub const OF: u64 = 1 << 11;
pub const ARITHMETIC: u64 = CF | PF | AF | ZF | SF | OF;

/// Which flags have no defined value, instruction by instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undefined(pub u64);

impl Undefined {
    /// Whether the instruction depends on nothing but defined flags.
    pub fn can_precede(self, instruction: &Instruction) -> bool {
        from_decoder(instruction.rflags_read()) & self.0 == 0
    }

    /// After the instruction, which runs in `state`.
    pub fn after(self, instruction: &Instruction, state: &State) -> Undefined {
        let defined = instruction.rflags_written() | instruction.rflags_cleared() | instruction.rflags_set();
        Undefined((self.0 & !from_decoder(defined)) | by_instruction(instruction, state))
    }
}

fn by_instruction(instruction: &Instruction, state: &State) -> u64 {
    use Mnemonic::*;
    match instruction.mnemonic() {
        Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd => by_shift(instruction, state),
        _ => from_decoder(instruction.rflags_undefined()),
    }
}

/// How far a shift or rotation goes: the count as the processor masks it, and the operand's width.
pub fn shift_count(instruction: &Instruction, state: &State) -> (u64, u64) {
    const RCX: usize = 1;
    let bits = 8 * match instruction.op0_kind() {
        OpKind::Register => instruction.op0_register().size() as u64,
        _ => instruction.memory_size().size() as u64,
    };
    let count = match instruction.op_kind(instruction.op_count() - 1) {
        OpKind::Immediate8 => u64::from(instruction.immediate8()),
        _ => state.general[RCX],
    };
    (count & if bits == 64 { 63 } else { 31 }, bits)
}

/// The decoder's table does not know the count, on which everything hangs here.
fn by_shift(instruction: &Instruction, state: &State) -> u64 {
    use Mnemonic::*;
    let (count, bits) = shift_count(instruction, state);
    if count == 0 {
        // Nothing changes, the flags neither.
        return 0;
    }
    // OF is defined for shifts and rotations by one only.
    let overflow = if count == 1 { 0 } else { OF };
    match instruction.mnemonic() {
        // A count beyond the operand leaves CF undefined.
        Shl | Sal | Shr if count >= bits => overflow | AF | CF,
        Shl | Sal | Shr | Sar => overflow | AF,
        Shld | Shrd if count > bits => ARITHMETIC,
        Shld | Shrd => overflow | AF,
        _ => overflow,
    }
}

/// From the decoder's bits to places in RFLAGS.
fn from_decoder(flags: u32) -> u64 {
    const PLACES: [(u32, u64); 6] = [
        (RflagsBits::CF, CF),
        (RflagsBits::PF, PF),
        (RflagsBits::AF, AF),
        (RflagsBits::ZF, ZF),
        (RflagsBits::SF, SF),
        (RflagsBits::OF, OF),
    ];
    PLACES.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, place)| place).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn after(bytes: &[u8], rcx: u64) -> u64 {
        let mut state = State::zero();
        state.general[1] = rcx;
        let instruction = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).decode();
        Undefined::default().after(&instruction, &state).0
    }

    #[test]
    fn shifts_depend_on_the_count() {
        let shl_eax_cl = [0xd3, 0xe0];
        assert_eq!(after(&shl_eax_cl, 32), 0);
        assert_eq!(after(&shl_eax_cl, 1), AF);
        assert_eq!(after(&shl_eax_cl, 2), AF | OF);
        let shl_al_9 = [0xc0, 0xe0, 9];
        assert_eq!(after(&shl_al_9, 0), AF | OF | CF);
        let sar_al_9 = [0xc0, 0xf8, 9];
        assert_eq!(after(&sar_al_9, 0), AF | OF);
    }

    #[test]
    fn a_definition_ends_what_was_undefined() {
        let state = State::zero();
        let decode = |bytes: &[u8]| Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).decode();
        let (mul, adc, add) = (decode(&[0xf7, 0xe1]), decode(&[0x11, 0xc8]), decode(&[0x01, 0xc8]));
        let (and, jo) = (decode(&[0x21, 0xc8]), decode(&[0x70, 0]));
        let undefined = Undefined::default().after(&mul, &state);
        assert_eq!(undefined.0, SF | ZF | AF | PF);
        assert!(undefined.can_precede(&adc) && undefined.can_precede(&jo));
        assert_eq!(undefined.after(&add, &state).0, 0);
        assert_eq!(undefined.after(&and, &state).0, AF);
    }
}
