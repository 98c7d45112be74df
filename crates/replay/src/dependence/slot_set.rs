//! Sets of slots that outlive an instruction, as bits.

use lift::Reg;

/// A set of slots, see [`slot_bit`].
pub type SlotSet = u128;

/// The bit of a slot in a set of slots; temporaries have none.
pub const fn slot_bit(reg: Reg) -> SlotSet {
    match reg.0 {
        n @ 0..32 => 1 << n,
        n @ 64..96 => 1 << (n - 32),
        n @ FIRST_X87..END_X87 => 1 << (n - FIRST_X87 + 64),
        _ => 0,
    }
}

const FIRST_X87: u8 = Reg::st(0).0;
const END_X87: u8 = Reg::st(7).0 + 2;

/// The slot of a bit.
pub const fn slot_of_bit(bit: u32) -> Reg {
    Reg(match bit {
        0..32 => bit as u8,
        32..64 => bit as u8 + 32,
        _ => bit as u8 - 64 + FIRST_X87,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_that_outlives_an_instruction_has_a_bit_of_its_own() {
        let vectors = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
        let x87 = (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]);
        let others = [Reg::FLAG_KIND, Reg::MXCSR, Reg::X87_CONTROL, Reg::X87_CODES];
        for reg in (0..16).map(Reg::general).chain(vectors).chain(x87).chain(others) {
            assert_eq!(slot_bit(reg).count_ones(), 1, "{reg}");
            assert_eq!(slot_of_bit(slot_bit(reg).trailing_zeros()), reg);
        }
        assert_eq!((slot_bit(Reg::temp(0)), slot_bit(Reg::x87_temp(0))), (0, 0));
    }
}
