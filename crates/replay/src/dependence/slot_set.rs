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

/// The slot of the lowest bit.
pub const fn first_slot(set: SlotSet) -> Reg {
    let bit = set.trailing_zeros() as u8;
    Reg(match bit {
        0..32 => bit,
        32..64 => bit + 32,
        _ => bit - 64 + FIRST_X87,
    })
}

/// The slots of a set.
pub fn slots_of(mut set: SlotSet) -> impl Iterator<Item = Reg> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let slot = first_slot(set);
            set &= set - 1;
            slot
        })
    })
}

/// Whether x87 registers are among them.
pub const fn has_x87(set: SlotSet) -> bool {
    set >> 64 != 0
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
            assert_eq!(first_slot(slot_bit(reg)), reg);
        }
        assert_eq!((slot_bit(Reg::temp(0)), slot_bit(Reg::x87_temp(0))), (0, 0));
    }
}
