//! Memory calls made directly, without a program.

use super::*;
use crate::kernel::Exit;
use crate::testing::{Rig, SCRATCH};

const PRIVATE: u64 = MAP_PRIVATE | MAP_ANONYMOUS;
const RW: u64 = PROT_READ | PROT_WRITE;

fn map(rig: &mut Rig, pages: u64) -> u64 {
    rig.call(nr::mmap, &[0, pages * PAGE_SIZE, RW, PRIVATE, u64::MAX, 0]).unwrap()
}

fn mapped(rig: &Rig, address: u64) -> bool {
    rig.memory.region_at(address).is_some()
}

#[test]
fn anonymous_memory_is_zero_and_placed_from_the_top_down() {
    let mut rig = Rig::new();
    let first = map(&mut rig, 3);
    let second = map(&mut rig, 1);
    assert_eq!((first, second), (MMAP_TOP - 3 * PAGE_SIZE, MMAP_TOP - 4 * PAGE_SIZE));
    assert_eq!(rig.get(second, 4 * PAGE_SIZE as usize), vec![0; 4 * PAGE_SIZE as usize]);
}

#[test]
fn a_hint_is_followed_where_there_is_room() {
    let mut rig = Rig::new();
    let wanted = 0x7000_0000_0000;
    let args = [wanted + 5, PAGE_SIZE, RW, PRIVATE, 0, 0];
    assert_eq!(rig.call(nr::mmap, &args), Ok(wanted));
    assert_eq!(rig.call(nr::mmap, &args), Ok(MMAP_TOP - PAGE_SIZE));
    assert_eq!(rig.call(nr::mmap, &[u64::MAX, PAGE_SIZE, RW, PRIVATE]), Ok(MMAP_TOP - 2 * PAGE_SIZE));
}

#[test]
fn a_fixed_mapping_replaces_and_a_polite_one_does_not() {
    let mut rig = Rig::new();
    let address = map(&mut rig, 2);
    rig.put(address, b"old");
    let polite = [address, PAGE_SIZE, RW, PRIVATE | MAP_FIXED_NOREPLACE];
    assert_eq!(rig.call(nr::mmap, &polite), Err(Errno::EEXIST));
    assert_eq!(rig.call(nr::mmap, &[address, PAGE_SIZE, RW, PRIVATE | MAP_FIXED]), Ok(address));
    assert_eq!(rig.get(address, 3), b"\0\0\0");
    assert_eq!(rig.call(nr::mmap, &[address + 1, PAGE_SIZE, RW, PRIVATE | MAP_FIXED]), Err(Errno::EINVAL));
    assert_eq!(rig.call(nr::mmap, &[0, PAGE_SIZE, RW, PRIVATE | MAP_FIXED]), Err(Errno::EPERM));
    let top = page_down(u64::MAX);
    assert_eq!(rig.call(nr::mmap, &[top, PAGE_SIZE, RW, PRIVATE | MAP_FIXED]), Err(Errno::ENOMEM));
}

#[test]
fn impossible_mappings_are_refused() {
    let mut rig = Rig::new();
    assert_eq!(rig.call(nr::mmap, &[0, 0, RW, PRIVATE]), Err(Errno::EINVAL));
    assert_eq!(rig.call(nr::mmap, &[0, u64::MAX, RW, PRIVATE]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::mmap, &[0, 1 << 46, 0, PRIVATE]), Ok(MMAP_TOP - (1 << 46)));
    assert_eq!(rig.call(nr::mmap, &[0, 1 << 46, 0, PRIVATE]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::mmap, &[0, PAGE_SIZE, RW, MAP_ANONYMOUS]), Err(Errno::EINVAL));
    assert_eq!(rig.call(nr::mmap, &[0, PAGE_SIZE, RW, MAP_PRIVATE, 99, 0]), Err(Errno::EBADF));
    assert_eq!(rig.call(nr::mmap, &[0, PAGE_SIZE, RW, PRIVATE, 0, 1]), Err(Errno::EINVAL));
}

#[test]
fn more_than_the_memory_limit_is_refused_unless_it_is_only_reserved() {
    let mut rig = Rig::new();
    let too_much = rig.kernel.limits.memory + PAGE_SIZE;
    assert_eq!(rig.call(nr::mmap, &[0, too_much, RW, PRIVATE]), Err(Errno::ENOMEM));
    assert!(rig.call(nr::mmap, &[0, too_much, RW, PRIVATE | MAP_NORESERVE]).is_ok());
    assert!(rig.call(nr::mmap, &[0, too_much, 0, PRIVATE]).is_ok());
}

#[test]
fn unmapping_takes_out_what_is_in_the_range() {
    let mut rig = Rig::new();
    let address = map(&mut rig, 3);
    assert_eq!(rig.call(nr::munmap, &[address + PAGE_SIZE, 1]), Ok(0));
    assert!(
        mapped(&rig, address) && !mapped(&rig, address + PAGE_SIZE) && mapped(&rig, address + 2 * PAGE_SIZE)
    );
    for args in
        [[address + 1, PAGE_SIZE], [address, 0], [address, u64::MAX], [page_down(u64::MAX), PAGE_SIZE]]
    {
        assert_eq!(rig.call(nr::munmap, &args), Err(Errno::EINVAL), "{args:x?}");
    }
}

#[test]
fn protection_changes_what_is_allowed() {
    let mut rig = Rig::new();
    let address = map(&mut rig, 2);
    assert_eq!(rig.call(nr::mprotect, &[address, PAGE_SIZE, PROT_READ]), Ok(0));
    assert!(rig.memory.write(address, b"x").is_err() && rig.memory.write(address + PAGE_SIZE, b"x").is_ok());
    assert_eq!(rig.call(nr::mprotect, &[address, 0, 0]), Ok(0));
    assert_eq!(rig.call(nr::mprotect, &[address, 0, 0x40]), Err(Errno::EINVAL));
    assert_eq!(rig.call(nr::mprotect, &[address + 1, PAGE_SIZE, RW]), Err(Errno::EINVAL));
    assert_eq!(rig.call(nr::mprotect, &[address, 9 * PAGE_SIZE, RW]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::mprotect, &[address, u64::MAX - address, RW]), Err(Errno::ENOMEM));
}

#[test]
fn remapping_grows_in_place_shrinks_and_moves_with_the_content() {
    let mut rig = Rig::new();
    let blocker = map(&mut rig, 1);
    let address = map(&mut rig, 2);
    rig.put(address, b"content");
    // There is no room above; without permission to move, that is the end of it.
    assert_eq!(address + 2 * PAGE_SIZE, blocker);
    assert_eq!(rig.call(nr::mremap, &[address, 2 * PAGE_SIZE, 3 * PAGE_SIZE, 0]), Err(Errno::ENOMEM));
    let moved = rig.call(nr::mremap, &[address, 2 * PAGE_SIZE, 3 * PAGE_SIZE, MREMAP_MAYMOVE]).unwrap();
    assert!(moved != address && !mapped(&rig, address));
    assert_eq!(rig.get(moved, 7), b"content");
    assert_eq!(rig.get(moved + 2 * PAGE_SIZE, 7), vec![0; 7]);
    // What was moved away left room above.
    assert_eq!(rig.call(nr::mremap, &[moved, 3 * PAGE_SIZE, 5 * PAGE_SIZE, 0]), Ok(moved));
    assert_eq!(rig.call(nr::mremap, &[moved, 5 * PAGE_SIZE, PAGE_SIZE, 0]), Ok(moved));
    assert!(mapped(&rig, moved) && !mapped(&rig, moved + PAGE_SIZE));
    let to = 0x7000_0000_0000;
    let fixed = [moved, PAGE_SIZE, 2 * PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to];
    assert_eq!(rig.call(nr::mremap, &fixed), Ok(to));
    assert_eq!(rig.get(to, 7), b"content");
    assert!(mapped(&rig, to + PAGE_SIZE) && !mapped(&rig, moved));
}

#[test]
fn remapping_what_is_not_mapped_is_refused() {
    let mut rig = Rig::new();
    let address = map(&mut rig, 1);
    let fixed = MREMAP_MAYMOVE | MREMAP_FIXED;
    for (args, errno) in [
        ([0x5000, PAGE_SIZE, 2 * PAGE_SIZE, 1, 0], Errno::EFAULT),
        ([address, 2 * PAGE_SIZE, 3 * PAGE_SIZE, 1, 0], Errno::EFAULT),
        ([address, u64::MAX, 3 * PAGE_SIZE, 1, 0], Errno::ENOMEM),
        ([address, PAGE_SIZE, u64::MAX, 1, 0], Errno::ENOMEM),
        ([address, PAGE_SIZE, 1 << 47, 1, 0], Errno::ENOMEM),
        ([address, PAGE_SIZE, 0, 1, 0], Errno::EINVAL),
        ([address + 8, PAGE_SIZE, PAGE_SIZE, 1, 0], Errno::EINVAL),
        ([address, PAGE_SIZE, PAGE_SIZE, MREMAP_FIXED, 0x10_0000], Errno::EINVAL),
        ([address, PAGE_SIZE, PAGE_SIZE, fixed, address], Errno::EINVAL),
        ([address, PAGE_SIZE, PAGE_SIZE, fixed, page_down(u64::MAX)], Errno::EINVAL),
    ] {
        assert_eq!(rig.call(nr::mremap, &args), Err(errno), "{args:x?}");
    }
}

#[test]
fn the_heap_grows_and_shrinks_by_bytes_and_keeps_its_content() {
    let mut rig = Rig::new();
    rig.kernel.heap.start(0x60_0000);
    assert_eq!(rig.call(nr::brk, &[0]), Ok(0x60_0000));
    assert_eq!(rig.call(nr::brk, &[0x60_0123]), Ok(0x60_0123));
    rig.put(0x60_0000, b"heap");
    assert_eq!(rig.call(nr::brk, &[0x60_3000]), Ok(0x60_3000));
    assert_eq!(rig.get(0x60_0000, 4), b"heap");
    assert_eq!(&*rig.memory.region_at(0x60_2fff).unwrap().name, "[heap]");
    assert_eq!(rig.call(nr::brk, &[0x60_0800]), Ok(0x60_0800));
    assert!(mapped(&rig, 0x60_0000) && !mapped(&rig, 0x60_1000));
    assert_eq!(rig.get(0x60_0000, 4), b"heap");
    assert_eq!(rig.call(nr::brk, &[0x60_2000]), Ok(0x60_2000));
    assert_eq!(rig.call(nr::brk, &[0x5f_ffff]), Ok(0x60_2000));
    assert_eq!(rig.call(nr::brk, &[u64::MAX]), Ok(0x60_2000));
}

#[test]
fn the_heap_does_not_grow_over_other_memory() {
    let mut rig = Rig::new();
    rig.kernel.heap.start(SCRATCH - PAGE_SIZE);
    assert_eq!(rig.call(nr::brk, &[SCRATCH]), Ok(SCRATCH));
    assert_eq!(rig.call(nr::brk, &[SCRATCH + 1]), Ok(SCRATCH));
}

#[test]
fn memory_that_is_not_needed_any_more_is_zero_afterwards() {
    let mut rig = Rig::new();
    let address = map(&mut rig, 3);
    rig.put(address, &[1; 3 * PAGE_SIZE as usize]);
    assert_eq!(rig.call(nr::madvise, &[address + PAGE_SIZE, PAGE_SIZE, 4]), Ok(0));
    assert_eq!(rig.get(address + PAGE_SIZE - 1, 2), [1, 0]);
    assert_eq!(rig.get(address + 2 * PAGE_SIZE - 1, 2), [0, 1]);
    assert_eq!(rig.call(nr::madvise, &[address, 4 * PAGE_SIZE, 4]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::madvise, &[address, PAGE_SIZE, 14]), Ok(0));
    assert_eq!(rig.call(nr::madvise, &[address, PAGE_SIZE, 99]), Err(Errno::EINVAL));
    assert_eq!(rig.call(nr::madvise, &[address, u64::MAX, 4]), Err(Errno::EINVAL));
}

#[test]
fn residency_and_locking_look_at_what_is_mapped() {
    let mut rig = Rig::new();
    let address = map(&mut rig, 3);
    assert_eq!(rig.call(nr::mincore, &[address, 3 * PAGE_SIZE, SCRATCH]), Ok(0));
    assert_eq!(rig.get(SCRATCH, 4), [1, 1, 1, 0]);
    assert_eq!(rig.call(nr::mincore, &[address, 4 * PAGE_SIZE, SCRATCH]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::mlock, &[address + 5, 10]), Ok(0));
    assert_eq!(rig.call(nr::mlock, &[0x5000, 10]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::msync, &[address, PAGE_SIZE, 5]), Err(Errno::EINVAL));
    assert_eq!(rig.call(nr::msync, &[address, PAGE_SIZE, 4]), Ok(0));
}

#[test]
fn the_number_of_mappings_is_bounded() {
    let mut rig = Rig::new();
    let length = 2 * MAX_REGIONS as u64 * PAGE_SIZE;
    let start = rig.call(nr::mmap, &[0, length, 0, PRIVATE]).unwrap();
    let mut refused = 0;
    for page in (1..2 * MAX_REGIONS as u64).step_by(2) {
        match rig.call(nr::mprotect, &[start + page * PAGE_SIZE, PAGE_SIZE, PROT_READ]) {
            Ok(_) => {}
            Err(errno) => {
                assert_eq!(errno, Errno::ENOMEM);
                refused += 1;
            }
        }
        if refused > 0 {
            break;
        }
    }
    assert!(refused > 0 && rig.memory.regions().len() <= MAX_REGIONS + 2);
}

#[test]
fn a_call_that_writes_beyond_the_memory_limit_ends_the_process() {
    let mut rig = Rig::new();
    let limit = rig.kernel.limits.memory;
    let address = rig.call(nr::mmap, &[0, limit, RW, PRIVATE]).unwrap();
    // With the scratch page, all of the mapping no longer fits.
    rig.put(SCRATCH, b"x");
    for offset in (0..limit).step_by(1 << 20) {
        assert_eq!(rig.kernel.ended, None);
        let _ = rig.call(nr::getrandom, &[address + offset, 1 << 20, 0]);
    }
    assert_eq!(rig.kernel.ended, Some(Exit::OutOfMemory { limit }));
    assert!(rig.memory.resident_pages() * PAGE_SIZE <= limit);
}

#[test]
fn with_as_many_regions_as_there_may_be_a_call_is_still_quick() {
    let mut rig = Rig::new();
    // Neighbours differ, so that they are not joined.
    let mut count = 0;
    let bottom = MMAP_TOP - 70_000 * PAGE_SIZE;
    let fixed = PRIVATE | MAP_FIXED;
    while rig.call(nr::mmap, &[bottom + count * PAGE_SIZE, PAGE_SIZE, 1 + 2 * (count & 1), fixed]).is_ok() {
        count += 1;
        assert!(count < 70_000);
    }
    assert_eq!(rig.memory.regions().len(), MAX_REGIONS);
    assert_eq!(rig.call(nr::mprotect, &[SCRATCH + PAGE_SIZE, PAGE_SIZE, 0]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::munmap, &[SCRATCH + PAGE_SIZE, PAGE_SIZE]), Err(Errno::ENOMEM));
    assert_eq!(rig.call(nr::mremap, &[SCRATCH, PAGE_SIZE, 2 * PAGE_SIZE, 1]), Err(Errno::ENOMEM));
    // The only gap for two pages is below all of them.
    rig.call(nr::munmap, &[bottom + count * PAGE_SIZE - 2 * PAGE_SIZE, 2 * PAGE_SIZE]).unwrap();
    rig.call(nr::munmap, &[bottom + 1000 * PAGE_SIZE, PAGE_SIZE]).unwrap();
    let started = std::time::Instant::now();
    for _ in 0..300 {
        let start = rig.call(nr::mmap, &[0, 100_000 * PAGE_SIZE, 0, PRIVATE]).unwrap();
        assert!(start < bottom);
        rig.call(nr::munmap, &[start, 100_000 * PAGE_SIZE]).unwrap();
    }
    let taken = started.elapsed();
    assert!(taken.as_secs() < 10, "{taken:?} for 300 mappings");
}

#[test]
fn nothing_grows_beyond_the_address_space() {
    let mut rig = Rig::new();
    let last = ADDRESS_SPACE_END - PAGE_SIZE;
    rig.call(nr::mmap, &[last, PAGE_SIZE, RW, PRIVATE | MAP_FIXED]).unwrap();
    assert_eq!(rig.call(nr::mremap, &[last, PAGE_SIZE, 2 * PAGE_SIZE, 0]), Err(Errno::ENOMEM));
    assert!(!mapped(&rig, ADDRESS_SPACE_END));
}
