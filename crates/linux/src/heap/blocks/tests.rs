use super::*;

const LIMIT: u64 = 64 << 20;

fn heap() -> (Blocks, Memory) {
    let mut memory = Memory::new(2 * LIMIT);
    memory.check_accesses(HEAP);
    (Blocks::new(LIMIT), memory)
}

fn request(size: u64) -> Request {
    Request { size, alignment: 16, zeroed: false, kind: BlockKind::Malloc, time: Time(7) }
}

#[test]
fn every_size_has_the_smallest_class_that_holds_it() {
    for total in 1..=LARGEST_SPAN {
        let class = class_of(total).unwrap();
        assert!(class < CLASSES && size_of_class(class) >= total, "{total}");
        assert!(class == 0 || size_of_class(class - 1) < total, "{total}");
    }
    assert_eq!(class_of(LARGEST_SPAN + 1), None);
}

#[test]
fn a_block_can_be_accessed_and_nothing_around_it() {
    for size in (0..300).chain([1000, 4096, 60_000, 100_000, 1 << 20]) {
        for alignment in [16, 64, 4096] {
            let (mut blocks, mut memory) = heap();
            let address = blocks.allocate(&mut memory, Request { alignment, ..request(size) }).unwrap();
            assert!(address.is_multiple_of(alignment));
            let mut bytes = vec![0; size as usize];
            memory.read(address, &mut bytes).unwrap();
            assert!(bytes.iter().all(|&byte| byte == FRESH), "{size}");
            memory.write(address, &vec![1; size as usize]).unwrap();
            for outside in [address - 1, address - 16, address + size, address + size + 15] {
                assert!(memory.load::<u8>(outside).is_err(), "{size} {:#x}", outside.wrapping_sub(address));
                assert!(memory.store::<u8>(outside, 0).is_err(), "{size}");
            }
        }
    }
}

#[test]
fn freed_blocks_cannot_be_accessed_and_are_known_to_be_freed() {
    for size in [0, 1, 40, 5000, 200_000] {
        let (mut blocks, mut memory) = heap();
        let address = blocks.allocate(&mut memory, request(size)).unwrap();
        assert!(
            matches!(blocks.free(&mut memory, address, Time(9)), Freed::Done(block) if block.size == size)
        );
        assert!(memory.load::<u8>(address).is_err());
        let again = blocks.free(&mut memory, address, Time(10));
        assert!(matches!(again, Freed::Already(block) if block.freed == Time(9)), "{size}");
        assert_eq!(blocks.free(&mut memory, address + 1, Time(10)), Freed::NoBlock);
    }
}

#[test]
fn memory_comes_back_into_use_only_after_much_else_was_freed_and_is_filled_anew() {
    let (mut blocks, mut memory) = heap();
    let first = blocks.allocate(&mut memory, request(1000)).unwrap();
    memory.write(first, &[1; 1000]).unwrap();
    blocks.free(&mut memory, first, Time(0));
    let mut freed = 0;
    loop {
        let address = blocks.allocate(&mut memory, request(1000)).unwrap();
        if address == first {
            break;
        }
        blocks.free(&mut memory, address, Time(0));
        freed += 1000;
        assert!(freed < 2 * QUARANTINE);
    }
    assert!(freed > QUARANTINE / 2);
    assert_eq!(memory.load::<u64>(first), Ok(0xa5a5_a5a5_a5a5_a5a5));
}

#[test]
fn what_the_limit_forbids_is_refused_and_less_is_granted_after() {
    let (mut blocks, mut memory) = heap();
    for size in [LIMIT + 1, u64::MAX, u64::MAX - 100, LIMIT] {
        assert_eq!(blocks.allocate(&mut memory, request(size)), None, "{size}");
    }
    assert!(blocks.allocate(&mut memory, request(LIMIT / 2)).is_some());
    assert_eq!(blocks.allocate(&mut memory, request(LIMIT / 2)), None);
    assert!(blocks.allocate(&mut memory, request(100)).is_some());
}

#[test]
fn zeroed_blocks_are_zero_also_where_memory_was_used_before() {
    let (mut blocks, mut memory) = heap();
    for size in [16, 100_000] {
        for _ in 0..3 {
            let address = blocks.allocate(&mut memory, Request { zeroed: true, ..request(size) }).unwrap();
            let mut bytes = vec![1; size as usize];
            memory.read(address, &mut bytes).unwrap();
            assert!(bytes.iter().all(|&byte| byte == 0));
            memory.write(address, &vec![1; size as usize]).unwrap();
            blocks.free(&mut memory, address, Time(0));
        }
    }
}
