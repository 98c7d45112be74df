//! Where things lie in the address space of a case, the same in the processor's child and in the
//! machine.
//!
//! The scratch memory has every neighbour that an access can run into: a second writable page, a
//! read-only page, nothing at all. One page lies far above 4 GiB, so that an address computed
//! in too few bits is seen.

use iced_x86::Register;

pub const PAGE: u64 = 4096;

/// How many cases one batch holds; each has a slot of the code area of its own, so that no code
/// is written between two cases.
pub const SLOTS: usize = 1024;
/// A short jump reaches 128 bytes either way: with this pitch it stays among the filling of its
/// own slot.
pub const SLOT_BYTES: u64 = 256;
/// Where in its slot the instruction lies.
pub const ENTRY_OFFSET: u64 = 128;
/// The slots, and a page of filling behind them.
pub const CODE: u64 = 0x1000_0000;
pub const CODE_BYTES: usize = SLOTS * SLOT_BYTES as usize + PAGE as usize;
/// int3: whoever lands here by a jump traps at once, and so tells where.
pub const FILLING: u8 = 0xcc;

/// A word that holds the address to jump to after a case.
pub const EXIT_POINTER: u64 = 0x0f00_0000;
/// `jmp qword ptr [EXIT_POINTER]`: follows the instruction of every case.
pub const EXIT_JUMP: [u8; 7] = [0xff, 0x24, 0x25, 0x00, 0x00, 0x00, 0x0f];
/// Where the machine's exit pointer leads; the child's leads to its trampoline.
pub const EXIT_TARGET: u64 = CODE + CODE_BYTES as u64 - PAGE / 2;

/// Two writable pages, followed by a read-only one.
pub const LOW: u64 = 0x2000_0000;
pub const READ_ONLY: u64 = LOW + 2 * PAGE;
/// One writable page with nothing around it.
pub const HIGH: u64 = 0x3456_789a_b000;

/// Constant, because a change would cost a system call a case.
pub const FS_BASE: u64 = LOW + 0x840;
pub const GS_BASE: u64 = HIGH + 0x3f8;

pub fn segment_base(segment: Register) -> u64 {
    match segment {
        Register::FS => FS_BASE,
        Register::GS => GS_BASE,
        _ => 0,
    }
}

/// The scratch memory as one array: the low pages, the high page, the read-only page.
pub const IMAGE_BYTES: usize = 4 * PAGE as usize;
/// The part of the image that a case can change.
pub const WRITABLE_BYTES: usize = 3 * PAGE as usize;
pub const LOW_BYTES: usize = 2 * PAGE as usize;

/// The slot of a case in its batch.
pub const fn slot(index: u64) -> usize {
    (index % SLOTS as u64) as usize
}

/// The address of the instruction in a slot.
pub const fn entry(slot: usize) -> u64 {
    CODE + slot as u64 * SLOT_BYTES + ENTRY_OFFSET
}

/// Whether an address is where the code of another case than the one at `entry` may lie.
pub fn is_in_another_case(address: u64, entry: u64) -> bool {
    let slots = CODE..CODE + SLOTS as u64 * SLOT_BYTES;
    let own = entry - ENTRY_OFFSET..entry - ENTRY_OFFSET + SLOT_BYTES;
    slots.contains(&address) && !own.contains(&address) && (address - CODE) % SLOT_BYTES >= ENTRY_OFFSET
}

/// The place of an address in the image, if `length` bytes from there on are writable and lie in
/// one piece.
pub fn writable_offset(address: u64, length: u64) -> Option<usize> {
    let within = |start: u64, bytes: u64| {
        let offset = address.checked_sub(start)?;
        (offset.checked_add(length)? <= bytes).then_some(offset as usize)
    };
    within(LOW, 2 * PAGE).or_else(|| within(HIGH, PAGE).map(|offset| LOW_BYTES + offset))
}

/// The address of a byte of the writable part of the image.
pub fn address_of(offset: usize) -> u64 {
    if offset < LOW_BYTES { LOW + offset as u64 } else { HIGH + (offset - LOW_BYTES) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_offsets_and_addresses_agree() {
        for offset in [0, 1, LOW_BYTES - 1, LOW_BYTES, WRITABLE_BYTES - 1] {
            assert_eq!(writable_offset(address_of(offset), 1), Some(offset));
        }
        assert_eq!(writable_offset(READ_ONLY - 1, 2), None);
        assert_eq!(writable_offset(HIGH + PAGE - 4, 8), None);
        assert_eq!(writable_offset(0, 1), None);
    }

    #[test]
    fn other_cases_are_told_from_filling() {
        assert!(is_in_another_case(entry(3), entry(4)));
        assert!(!is_in_another_case(entry(3), entry(3)));
        assert!(!is_in_another_case(entry(3) - 1, entry(4)));
        assert!(!is_in_another_case(EXIT_TARGET, entry(4)));
    }

    #[test]
    fn the_exit_jump_names_the_exit_pointer() {
        assert_eq!(EXIT_JUMP[3..], (EXIT_POINTER as u32).to_le_bytes());
    }
}
