//! Sets of slots that outlive an instruction, as bits.

use lift::Reg;

/// A set of slots, see [`slot_bit`].
pub type SlotSet = u64;

/// The x87 registers have one bit for all: an instruction that turns their stack writes every one of them.
const X87: SlotSet = 1 << 30;

/// The bit of a slot in a set of slots; temporaries have none.
pub const fn slot_bit(reg: Reg) -> SlotSet {
    match reg.0 {
        n @ 0..30 => 1 << n,
        n @ 64..96 => 1 << (n - 32),
        _ if reg.is_st() => X87,
        _ => 0,
    }
}

/// Whether x87 registers are among them.
pub const fn has_x87(set: SlotSet) -> bool {
    set & X87 != 0
}

/// The slot of the lowest bit, of a set without x87 registers.
#[inline]
pub const fn first_slot(set: SlotSet) -> Reg {
    let bit = set.trailing_zeros() as u8;
    Reg(if bit < 32 { bit } else { bit + 32 })
}

/// The slots of a set without x87 registers.
#[inline]
pub fn plain_slots_of(mut set: SlotSet) -> impl Iterator<Item = Reg> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let slot = first_slot(set);
            set &= set - 1;
            slot
        })
    })
}

/// The slots of a set.
#[inline]
pub fn slots_of(set: SlotSet) -> impl Iterator<Item = Reg> {
    let x87 = if has_x87(set) { 8 } else { 0 };
    plain_slots_of(set & !X87).chain((0..x87).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_outlive_an_instruction_have_bits_of_their_own_and_x87_registers_one_together() {
        let vectors = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
        let others = [Reg::FLAG_KIND, Reg::MXCSR, Reg::X87_CONTROL, Reg::X87_CODES, Reg::X87_TOP];
        let mut all = 0;
        for reg in (0..16).map(Reg::general).chain(vectors).chain(others) {
            assert_eq!(slot_bit(reg).count_ones(), 1, "{reg}");
            assert_eq!(slots_of(slot_bit(reg)).collect::<Vec<_>>(), [reg]);
            assert_eq!(all & slot_bit(reg), 0, "{reg}");
            all |= slot_bit(reg);
        }
        assert!(!has_x87(all));
        let x87: Vec<Reg> = slots_of(slot_bit(Reg::st(3))).collect();
        assert_eq!(x87, (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]).collect::<Vec<_>>());
        assert_eq!((slot_bit(Reg::temp(0)), slot_bit(Reg::x87_temp(0))), (0, 0));
    }
}
