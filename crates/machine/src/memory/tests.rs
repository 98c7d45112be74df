//! The promises of memory, one by one.

use super::*;
use std::sync::Arc;

const LIMIT: u64 = 64 << 20;
const BASE: u64 = 0x10_0000;

fn zeros(start: u64, pages: u64, permissions: Permissions) -> Region {
    let end = start + pages * PAGE_SIZE;
    Region { start, end, permissions, backing: Backing::Zero, name: "".into(), shared: false }
}

fn file(start: u64, pages: u64, permissions: Permissions, content: Vec<u8>) -> Region {
    let backing = Backing::Bytes { content: Arc::new(content), offset: 0 };
    Region { backing, name: "/file".into(), ..zeros(start, pages, permissions) }
}

/// A memory with some pages at `BASE`.
fn memory(pages: u64, permissions: Permissions) -> Memory {
    let mut memory = Memory::new(LIMIT);
    memory.map(zeros(BASE, pages, permissions));
    memory.take_code_change();
    memory
}

fn refused(address: u64, access: Access, cause: Cause) -> AccessFault {
    AccessFault { address, access, cause }
}

fn peek(memory: &Memory, address: u64) -> u8 {
    let mut byte = [0];
    assert_eq!(memory.peek(address, &mut byte), 1);
    byte[0]
}

#[test]
fn scalars_are_stored_in_little_endian_order() {
    let mut memory = memory(1, Permissions::RW);
    memory.store(BASE + 3, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10_u128).unwrap();
    assert_eq!(memory.load::<u8>(BASE + 3), Ok(0x10));
    assert_eq!(memory.load::<u16>(BASE + 4), Ok(0x0e0f));
    assert_eq!(memory.load::<u32>(BASE + 3), Ok(0x0d0e_0f10));
    assert_eq!(memory.load::<u64>(BASE + 11), Ok(0x0102_0304_0506_0708));
    assert_eq!(memory.load::<u128>(BASE + 3), Ok(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10));
}

#[test]
fn a_fork_and_its_origin_do_not_see_each_others_writes() {
    let mut origin = memory(4, Permissions::RW);
    origin.store(BASE, 1_u64).unwrap();
    let mut fork = origin.fork();
    origin.store(BASE, 2_u64).unwrap();
    fork.store(BASE + 8, 3_u64).unwrap();
    assert_eq!((origin.load(BASE), origin.load(BASE + 8)), (Ok(2_u64), Ok(0_u64)));
    assert_eq!((fork.load(BASE), fork.load(BASE + 8)), (Ok(1_u64), Ok(3_u64)));
    let mut second = fork.fork();
    fork.unmap(BASE, BASE + PAGE_SIZE);
    second.store(BASE, 9_u8).unwrap();
    assert_eq!(second.load(BASE + 8), Ok(3_u64));
    assert_eq!(fork.load::<u8>(BASE), Err(refused(BASE, Access::Read, Cause::Unmapped)));
    assert_eq!(origin.load(BASE), Ok(2_u64));
}

#[test]
fn a_load_after_a_copying_store_sees_the_copy() {
    let mut origin = memory(1, Permissions::RW);
    // The page of zeros is remembered for reading, then replaced by a page of its own.
    assert_eq!(origin.load(BASE), Ok(0_u64));
    origin.store(BASE, 1_u64).unwrap();
    assert_eq!(origin.load(BASE), Ok(1_u64));
    // The shared page is remembered for reading, then copied: by a store, by the kernel, by the debugger.
    let forks = [origin.fork(), origin.fork(), origin.fork()];
    let [mut store, mut write, mut poke] = forks;
    for fork in [&mut store, &mut write, &mut poke] {
        assert_eq!(fork.load(BASE), Ok(1_u64));
    }
    store.store(BASE, 2_u64).unwrap();
    write.write(BASE, &[3]).unwrap();
    poke.poke(BASE, &[4]).unwrap();
    assert_eq!(
        [&mut origin, &mut store, &mut write, &mut poke].map(|memory| memory.load::<u64>(BASE)),
        [Ok(1), Ok(2), Ok(3), Ok(4)]
    );
}

#[test]
fn an_access_may_cross_pages() {
    let mut memory = memory(2, Permissions::RW);
    let address = BASE + PAGE_SIZE - 3;
    memory.store(address, 0x1122_3344_5566_7788_u64).unwrap();
    assert_eq!(memory.load(address), Ok(0x1122_3344_5566_7788_u64));
    assert_eq!(memory.load(BASE + PAGE_SIZE), Ok(0x2233_4455_u32));
    assert_eq!(memory.written_pages().collect::<Vec<_>>(), [BASE, BASE + PAGE_SIZE]);
}

#[test]
fn a_store_that_faults_on_its_second_page_changes_nothing() {
    let mut memory = memory(3, Permissions::RW);
    let second = BASE + PAGE_SIZE;
    memory.protect(second, second + PAGE_SIZE, Permissions::R).unwrap();
    let fault = refused(second, Access::Write, Cause::Protected);
    assert_eq!(memory.store(second - 1, u16::MAX), Err(fault));
    assert_eq!(memory.write(BASE, &[1; 5000]), Err(fault));
    assert_eq!(memory.store(BASE + 3 * PAGE_SIZE - 1, u16::MAX).unwrap_err().address, BASE + 3 * PAGE_SIZE);
    assert_eq!(memory.load(second - 1), Ok(0_u16));
    assert_eq!(peek(&memory, BASE), 0);
    assert_eq!(memory.written_pages().count(), 0);
    assert_eq!(memory.resident_pages(), 0);
}

#[test]
fn a_fault_names_the_first_byte_that_is_out_of_bounds_and_why() {
    let mut memory = memory(1, Permissions::RW);
    let end = BASE + PAGE_SIZE;
    assert_eq!(memory.load::<u64>(end - 4), Err(refused(end, Access::Read, Cause::Unmapped)));
    assert_eq!(memory.load::<u8>(0), Err(refused(0, Access::Read, Cause::Unmapped)));
    memory.protect(BASE, end, Permissions::NONE).unwrap();
    assert_eq!(memory.load::<u64>(BASE + 1), Err(refused(BASE + 1, Access::Read, Cause::Protected)));
    assert_eq!(memory.store(BASE + 1, 0_u8), Err(refused(BASE + 1, Access::Write, Cause::Protected)));
}

#[test]
fn addresses_outside_of_the_user_half_fault_even_when_asked_to_be_mapped() {
    let mut memory = Memory::new(LIMIT);
    memory.map(Region { end: PAGE_MASK, ..zeros(USER_END - PAGE_SIZE, 1, Permissions::RW) });
    memory.map(zeros(0, 1, Permissions::RW));
    memory.store(0, 1_u8).unwrap();
    memory.store(USER_END - 1, 1_u8).unwrap();
    for (address, first, cause) in [
        (USER_END - 1, USER_END, Cause::NonCanonical),
        (USER_END, USER_END, Cause::NonCanonical),
        (KERNEL_START - 1, KERNEL_START - 1, Cause::NonCanonical),
        (KERNEL_START, KERNEL_START, Cause::Unmapped),
        (u64::MAX, u64::MAX, Cause::Unmapped),
        (u64::MAX - 7, u64::MAX - 7, Cause::Unmapped),
    ] {
        assert_eq!(memory.load::<u64>(address), Err(refused(first, Access::Read, cause)), "{address:#x}");
        assert_eq!(memory.store(address, 0_u64), Err(refused(first, Access::Write, cause)), "{address:#x}");
    }
    assert_eq!(memory.peek(u64::MAX - 1, &mut [0; 16]), 0);
    assert_eq!(memory.fetch(u64::MAX - 1, &mut [0; 16]), 0);
    memory.unmap(0, u64::MAX);
    assert!(memory.regions().is_empty());
}

#[test]
fn huge_mappings_cost_nothing_and_reads_of_zero_pages_materialise_none() {
    let mut memory = Memory::new(LIMIT);
    memory.map(zeros(1 << 40, 100 << 18, Permissions::RW));
    memory.map(zeros(2 << 40, 100 << 18, Permissions::NONE));
    for page in 0..5000 {
        assert_eq!(memory.load((1 << 40) + page * 20 * PAGE_SIZE), Ok(0_u64));
    }
    assert_eq!(memory.resident_pages(), 0);
    memory.store((1 << 40) + (50 << 30), 1_u8).unwrap();
    assert_eq!(memory.resident_pages(), 1);
    memory.unmap(0, USER_END);
    assert_eq!((memory.resident_pages(), memory.regions().len()), (0, 0));
}

#[test]
fn a_file_page_is_materialised_by_a_read_but_not_counted_as_written() {
    let mut memory = Memory::new(LIMIT);
    let content: Vec<u8> = (0..6000_u32).map(|place| place as u8 | 1).collect();
    memory.map(file(BASE, 3, Permissions::RW, content));
    let before = memory.hash();
    assert_eq!(memory.load(BASE + 5998), Ok(0x6f6f_u32));
    assert_eq!(memory.load(BASE + 2 * PAGE_SIZE), Ok(0_u64));
    assert_eq!(memory.resident_pages(), 1);
    assert_eq!(memory.written_pages().count(), 0);
    assert_eq!(memory.hash(), before);
    memory.store(BASE + PAGE_SIZE + 1, 7_u8).unwrap();
    assert_eq!(memory.written_pages().collect::<Vec<_>>(), [BASE + PAGE_SIZE]);
    assert_eq!((peek(&memory, BASE + PAGE_SIZE), peek(&memory, BASE + PAGE_SIZE + 1)), (1, 7));
    assert_eq!(peek(&memory, BASE + 255), 255);
    assert_ne!(memory.hash(), before);
}

#[test]
fn parts_of_a_file_region_keep_their_offsets() {
    let mut memory = Memory::new(LIMIT);
    memory.map(file(BASE, 4, Permissions::R, (0..4).flat_map(|page| [page; 4096]).collect()));
    memory.unmap(BASE + PAGE_SIZE, BASE + 2 * PAGE_SIZE);
    memory.protect(BASE + 3 * PAGE_SIZE, BASE + 4 * PAGE_SIZE, Permissions::RX).unwrap();
    memory.relocate(BASE + 2 * PAGE_SIZE, BASE + 4 * PAGE_SIZE, 2 * BASE);
    assert_eq!(memory.load(BASE), Ok(0_u8));
    assert_eq!((memory.load(2 * BASE), memory.load(2 * BASE + PAGE_SIZE)), (Ok(2_u8), Ok(3_u8)));
    assert!(memory.region_at(2 * BASE + PAGE_SIZE).unwrap().permissions.execute);
    assert_eq!(memory.regions().len(), 3);
    // Once alike again, the two moved parts are one.
    memory.protect(2 * BASE, 2 * BASE + 2 * PAGE_SIZE, Permissions::R).unwrap();
    assert_eq!(memory.regions().len(), 2);
}

#[test]
fn regions_that_grow_or_are_protected_page_by_page_stay_one() {
    let mut memory = memory(1, Permissions::RW);
    for page in 1..200 {
        memory.map(zeros(BASE + page * PAGE_SIZE, 1, Permissions::RW));
    }
    assert_eq!(memory.regions().len(), 1);
    for page in (0..200).rev() {
        let start = BASE + page * PAGE_SIZE;
        memory.protect(start, start + PAGE_SIZE, Permissions::R).unwrap();
        assert_eq!(memory.regions().len(), if page == 0 { 1 } else { 2 });
    }
}

#[test]
fn protecting_a_range_with_a_hole_changes_nothing() {
    let mut memory = memory(4, Permissions::RW);
    memory.unmap(BASE + 2 * PAGE_SIZE, BASE + 3 * PAGE_SIZE);
    let fault = memory.protect(BASE, BASE + 4 * PAGE_SIZE, Permissions::R).unwrap_err();
    assert_eq!((fault.address, fault.cause), (BASE + 2 * PAGE_SIZE, Cause::Unmapped));
    assert_eq!(memory.store(BASE, 1_u8), Ok(()));
    assert_eq!(memory.protect(BASE, BASE, Permissions::R), Ok(()));
    assert!(memory.protect(BASE, u64::MAX, Permissions::R).is_err());
    assert!(memory.protect(USER_END, u64::MAX, Permissions::R).is_err());
}

#[test]
fn protection_takes_effect_on_pages_in_use() {
    let mut memory = memory(1, Permissions::RW);
    memory.store(BASE, 1_u8).unwrap();
    assert_eq!(memory.load(BASE), Ok(1_u8));
    memory.protect(BASE, BASE + PAGE_SIZE, Permissions::R).unwrap();
    assert_eq!(memory.store(BASE, 2_u8).unwrap_err().cause, Cause::Protected);
    memory.protect(BASE, BASE + PAGE_SIZE, Permissions::NONE).unwrap();
    assert_eq!(memory.load::<u8>(BASE).unwrap_err().cause, Cause::Protected);
    memory.poke(BASE, &[5]).unwrap();
    assert_eq!(memory.store(BASE, 2_u8).unwrap_err().cause, Cause::Protected);
    memory.protect(BASE, BASE + PAGE_SIZE, Permissions::R).unwrap();
    assert_eq!(memory.load(BASE), Ok(5_u8));
}

#[test]
fn mapping_over_pages_in_use_gives_fresh_ones() {
    let mut memory = memory(2, Permissions::RW);
    memory.store(BASE, 1_u8).unwrap();
    assert_eq!(memory.load(BASE), Ok(1_u8));
    memory.map(zeros(BASE, 1, Permissions::RW));
    assert_eq!(memory.load(BASE), Ok(0_u8));
    assert_eq!(memory.written_pages().count(), 0);
    memory.store(BASE, 2_u8).unwrap();
    assert_eq!(memory.load(BASE), Ok(2_u8));
}

#[test]
fn relocation_takes_content_along_and_replaces_the_destination() {
    let mut memory = memory(2, Permissions::RW);
    let to = BASE + PAGE_SIZE;
    memory.store(BASE, 1_u8).unwrap();
    memory.store(to, 2_u8).unwrap();
    // The destination overlaps with the source; the part of the source outside of it is gone afterwards.
    memory.relocate(BASE, BASE + 2 * PAGE_SIZE, to);
    assert_eq!((memory.load(to), memory.load(to + PAGE_SIZE)), (Ok(1_u8), Ok(2_u8)));
    assert_eq!(memory.load::<u8>(BASE).unwrap_err().cause, Cause::Unmapped);
    assert_eq!(memory.written_pages().collect::<Vec<_>>(), [to, to + PAGE_SIZE]);
    assert_eq!(memory.resident_pages(), 2);
    memory.relocate(to, to + PAGE_SIZE, USER_END);
    assert_eq!(memory.load(to), Ok(1_u8));
}

#[test]
fn the_limit_counts_materialised_pages_and_a_write_beyond_it_changes_nothing() {
    let mut memory = Memory::new(2 * PAGE_SIZE);
    memory.map(zeros(BASE, 10, Permissions::RW));
    memory.map(file(2 * BASE, 1, Permissions::R, vec![1]));
    let third = BASE + 2 * PAGE_SIZE;
    let fault = refused(third, Access::Write, Cause::OutOfMemory);
    assert_eq!(memory.write(BASE, &[1; 3 * PAGE_SIZE as usize]), Err(fault));
    assert_eq!((memory.resident_pages(), peek(&memory, BASE)), (0, 0));
    memory.write(BASE, &[1; 2 * PAGE_SIZE as usize]).unwrap();
    assert_eq!(memory.store(third - 1, u16::MAX), Err(fault));
    assert_eq!(memory.store(third, 1_u8), Err(fault));
    assert_eq!(memory.load(third), Ok(0_u8));
    assert_eq!(memory.load::<u8>(2 * BASE), Err(refused(2 * BASE, Access::Read, Cause::OutOfMemory)));
    // A copy of a shared page takes the place of the page.
    let fork = memory.fork();
    assert_eq!(memory.store(BASE, 2_u8), Ok(()));
    assert_eq!((memory.resident_pages(), fork.resident_pages()), (2, 2));
    memory.unmap(BASE, BASE + PAGE_SIZE);
    assert_eq!(memory.store(third, 1_u8), Ok(()));
}

#[test]
fn a_memory_that_is_restricted_keeps_what_it_has() {
    let mut memory = Memory::new(8 * PAGE_SIZE);
    memory.map(zeros(BASE, 10, Permissions::RW));
    memory.write(BASE, &[1; 3 * PAGE_SIZE as usize]).unwrap();
    memory.restrict(2 * PAGE_SIZE);
    let fourth = BASE + 3 * PAGE_SIZE;
    assert_eq!(memory.store(fourth, 1_u8), Err(refused(fourth, Access::Write, Cause::OutOfMemory)));
    assert_eq!((memory.store(BASE, 2_u8), memory.fork().load(BASE)), (Ok(()), Ok(2_u8)));
    // It does not become more.
    memory.restrict(8 * PAGE_SIZE);
    assert!(memory.store(fourth, 1_u8).is_err());
}

#[test]
fn code_changes_are_told_apart_and_accumulate_until_taken() {
    let mut memory = memory(4, Permissions::RW);
    let page = |number| (BASE + number * PAGE_SIZE, BASE + (number + 1) * PAGE_SIZE);
    memory.store(BASE, 1_u8).unwrap();
    assert_eq!(memory.take_code_change(), CodeChange::None);
    memory.protect(page(0).0, page(1).1, Permissions::RX).unwrap();
    assert_eq!(memory.take_code_change(), CodeChange::Added);
    assert_eq!(memory.take_code_change(), CodeChange::None);
    memory.protect(page(0).0, page(0).1, Permissions::RX).unwrap();
    memory.map(zeros(2 * BASE, 1, Permissions::RW));
    memory.protect(2 * BASE, 2 * BASE + PAGE_SIZE, Permissions::R).unwrap();
    assert_eq!(memory.take_code_change(), CodeChange::None);
    memory.map(zeros(3 * BASE, 1, Permissions::RX));
    assert_eq!(memory.take_code_change(), CodeChange::Added);

    let changes: [fn(&mut Memory); 6] = [
        |memory| memory.unmap(BASE, BASE + PAGE_SIZE),
        |memory| memory.map(zeros(BASE, 1, Permissions::RX)),
        |memory| memory.protect(BASE, BASE + PAGE_SIZE, Permissions::RWX).unwrap(),
        |memory| memory.relocate(BASE, BASE + PAGE_SIZE, 5 * BASE),
        |memory| memory.relocate(2 * BASE, 2 * BASE + PAGE_SIZE, BASE),
        |memory| memory.poke(BASE, &[1]).unwrap(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut fork = memory.fork();
        change(&mut fork);
        fork.map(zeros(4 * BASE, 1, Permissions::RX));
        assert_eq!(fork.take_code_change(), CodeChange::Changed, "change {number}");
    }
    assert_eq!(memory.take_code_change(), CodeChange::None);
}

#[test]
fn a_store_to_a_marked_page_is_refused_unless_let_through() {
    let mut memory = memory(2, Permissions::RWX);
    let marked = BASE + PAGE_SIZE;
    memory.store(marked, 1_u8).unwrap();
    memory.mark_code(marked + 5);
    let fault = refused(marked, Access::Write, Cause::CodePage);
    assert_eq!(memory.store(marked, 2_u8), Err(fault));
    assert_eq!(memory.store(marked - 1, u16::MAX), Err(fault));
    assert_eq!((memory.load(marked - 1), memory.load(marked)), (Ok(0_u8), Ok(1_u8)));
    memory.store(BASE, 1_u8).unwrap();
    assert_eq!(memory.take_code_change(), CodeChange::None);

    // The mark is part of the state: a fork has it, and has its own.
    let mut fork = memory.fork();
    fork.open_marked_code(true);
    assert_eq!(fork.store(marked - 1, u16::MAX), Ok(()));
    fork.open_marked_code(false);
    assert_eq!(fork.code_change(), CodeChange::Changed);
    assert_eq!(fork.take_code_change(), CodeChange::Changed);
    assert_eq!(fork.store(marked, 2_u8), Ok(()));
    assert_eq!(fork.take_code_change(), CodeChange::None);
    assert_eq!(memory.store(marked, 2_u8), Err(fault));

    // Bulk writes take the mark off themselves.
    let mut poked = memory.fork();
    for (memory, access) in
        [(&mut memory, Memory::write as fn(&mut Memory, _, &_) -> _), (&mut poked, Memory::poke)]
    {
        access(memory, marked - 1, &[7, 7]).unwrap();
        assert_eq!(memory.take_code_change(), CodeChange::Changed);
        assert_eq!(memory.store(marked + 1, 8_u8), Ok(()));
        assert_eq!(memory.load(marked), Ok(0x0807_u16));
    }
}

#[test]
fn a_mark_does_not_outlive_the_mapping_or_its_protection() {
    let changes: [fn(&mut Memory); 3] = [
        |memory| memory.map(zeros(BASE, 1, Permissions::RW)),
        |memory| memory.protect(BASE, BASE + PAGE_SIZE, Permissions::RW).unwrap(),
        |memory| {
            memory.relocate(BASE, BASE + PAGE_SIZE, 2 * BASE);
            memory.relocate(2 * BASE, 2 * BASE + PAGE_SIZE, BASE);
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut memory = memory(1, Permissions::RWX);
        memory.mark_code(BASE);
        change(&mut memory);
        assert_eq!(memory.take_code_change(), CodeChange::Changed, "change {number}");
        assert_eq!(memory.store(BASE, 1_u8), Ok(()), "change {number}");
    }
}

#[test]
fn executable_bytes_are_fetched_up_to_the_first_that_is_not() {
    let mut memory = memory(2, Permissions::RX);
    memory.poke(BASE + PAGE_SIZE - 2, &[1, 2, 3]).unwrap();
    memory.protect(BASE + PAGE_SIZE, BASE + 2 * PAGE_SIZE, Permissions::R).unwrap();
    let mut buffer = [9; 15];
    assert_eq!(memory.fetch(BASE + PAGE_SIZE - 2, &mut buffer), 2);
    assert_eq!(buffer[..3], [1, 2, 9]);
    assert_eq!(memory.fetch(BASE + PAGE_SIZE, &mut buffer), 0);
    assert_eq!(memory.peek(BASE + PAGE_SIZE - 1, &mut buffer), 15);
    assert_eq!(buffer[..3], [2, 3, 0]);
}

#[test]
fn a_string_ends_at_its_zero_byte_or_at_the_maximum_or_faults() {
    let mut memory = memory(2, Permissions::RW);
    let end = BASE + 2 * PAGE_SIZE;
    memory.write(BASE + PAGE_SIZE - 3, b"across\0").unwrap();
    assert_eq!(memory.read_cstr(BASE + PAGE_SIZE - 3, 100), Ok(b"across".to_vec()));
    assert_eq!(memory.read_cstr(BASE + PAGE_SIZE - 3, 4), Ok(b"acro".to_vec()));
    memory.write(end - 3, b"end").unwrap();
    assert_eq!(memory.read_cstr(end - 3, 3), Ok(b"end".to_vec()));
    assert_eq!(memory.read_cstr(end - 3, 4), Err(refused(end, Access::Read, Cause::Unmapped)));
}

#[test]
fn free_space_is_found_from_the_top() {
    let mut memory = Memory::new(LIMIT);
    let top = 0x7fff_f000;
    assert_eq!(memory.find_free(1, top), Some(top - PAGE_SIZE));
    memory.map(zeros(top - 4 * PAGE_SIZE, 2, Permissions::R));
    assert_eq!(memory.find_free(2 * PAGE_SIZE, top), Some(top - 2 * PAGE_SIZE));
    assert_eq!(memory.find_free(3 * PAGE_SIZE, top), Some(top - 7 * PAGE_SIZE));
    assert_eq!(memory.find_free(PAGE_SIZE, top - 3 * PAGE_SIZE), Some(top - 5 * PAGE_SIZE));
    assert_eq!(memory.find_free(PAGE_SIZE, top - PAGE_SIZE), Some(top - 2 * PAGE_SIZE));
    assert_eq!(memory.find_free(0, top), None);
    assert_eq!(memory.find_free(top, top), None);
    assert_eq!(memory.find_free(u64::MAX, u64::MAX), None);
    assert_eq!(memory.find_free(PAGE_SIZE, LOWEST_FREE), None);
}

#[test]
fn equal_histories_have_equal_hashes_whatever_was_read_and_asked() {
    let run = |curious: bool| {
        let mut memory = memory(3000, Permissions::RW);
        memory.map(file(2 * BASE + (3000 << 12), 2, Permissions::R, vec![7; 8192]));
        for step in 0..3000 {
            memory.store(BASE + step * 8 * 509 % (3000 * PAGE_SIZE - 8), step).unwrap();
            if curious && step % 100 == 0 {
                memory.hash();
                let _ = memory.load::<u64>(2 * BASE + (3000 << 12) + 4092);
                memory = memory.fork();
            }
        }
        memory
    };
    let (plain, curious) = (run(false), run(true));
    assert_eq!(plain.hash(), curious.hash());
    assert_eq!(plain.hash(), plain.hash());
}

#[test]
fn the_hash_tells_content_place_and_permissions_apart() {
    let mut hashes = std::collections::HashSet::new();
    let mut origin = memory(70, Permissions::RW);
    assert!(hashes.insert(origin.hash()));
    for page in [0, 1, 63, 64, 69] {
        for value in [0_u8, 1, 128] {
            let mut fork = origin.fork();
            fork.store(BASE + page * PAGE_SIZE + 77, value).unwrap();
            assert!(hashes.insert(fork.hash()), "{value} in page {page}");
        }
    }
    origin.protect(BASE, BASE + PAGE_SIZE, Permissions::R).unwrap();
    assert!(hashes.insert(origin.hash()));
    origin.unmap(BASE, BASE + PAGE_SIZE);
    assert!(hashes.insert(origin.hash()));
}

#[test]
fn a_store_through_the_tlb_after_a_hash_is_noticed() {
    let mut memory = memory(1, Permissions::RW);
    memory.store(BASE, 1_u64).unwrap();
    let one = memory.hash();
    memory.store(BASE, 2_u64).unwrap();
    let two = memory.hash();
    memory.store(BASE, 1_u64).unwrap();
    assert_ne!(one, two);
    assert_eq!(one, memory.hash());
}

#[test]
fn a_second_hash_looks_only_at_pages_written_since() {
    let mut memory = memory(5000, Permissions::RW);
    for page in 0..5000 {
        memory.store(BASE + page * PAGE_SIZE, page).unwrap();
    }
    assert_eq!(memory.hash_and_effort().1, 5000);
    assert_eq!(memory.hash_and_effort().1, 0);
    memory.store(BASE + 2500 * PAGE_SIZE, 1_u8).unwrap();
    memory.store(BASE + 2501 * PAGE_SIZE - 1, 1_u16).unwrap();
    let mut fork = memory.fork();
    assert_eq!(memory.hash_and_effort().1, 2);
    // What was found out before a fork serves both sides, and both sides stay cheap.
    assert_eq!(fork.hash_and_effort(), (memory.hash(), 0));
    fork.store(BASE, 1_u8).unwrap();
    assert_eq!(fork.hash_and_effort().1, 1);
    assert_eq!(memory.hash_and_effort().1, 0);
}

#[test]
fn forks_run_on_several_threads() {
    let mut origin = memory(600, Permissions::RW);
    for page in 0..600 {
        origin.store(BASE + page * PAGE_SIZE, page).unwrap();
    }
    let before = origin.hash();
    let run = |mut fork: Memory, seed: u64| {
        for step in 0..20_000 {
            let address = BASE + (step * 7919 + seed) % 600 * PAGE_SIZE + step % 500 * 8;
            let value: u64 = fork.load(address).unwrap();
            fork.store(address, value.wrapping_mul(31).wrapping_add(seed + step)).unwrap();
            if step % 5000 == 0 {
                fork = fork.fork();
            }
        }
        fork.hash()
    };
    let expected: Vec<u64> = (0..4).map(|seed| run(origin.fork(), seed)).collect();
    // Forking needs no exclusive access, so the threads may take their forks themselves.
    let shared = &origin;
    let hashes: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || run(shared.fork(), seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(hashes, expected);
    assert_eq!(origin.hash(), before);
}
