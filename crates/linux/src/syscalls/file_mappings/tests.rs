//! Mapped files, shared and private, against reads and writes of the same files.

use super::*;
use crate::fs::abi::{O_CREAT, O_RDWR};
use crate::fs::tests::Scratch;
use crate::kernel::SysResult;
use crate::testing::{Rig, SCRATCH};

const SHARED: u64 = 1;
const PRIVATE: u64 = 2;
const READ: u64 = 1;
const RW: u64 = 3;
const PAGE: u64 = PAGE_SIZE;
/// Where buffers for reads go.
const BUFFER: u64 = SCRATCH + 0x8000;

/// A file in the overlay, open for reading and writing.
fn file(rig: &mut Rig, content: &[u8]) -> u64 {
    rig.put(SCRATCH, b"/tmp/mapped\0");
    let flags = 0o102 | 0o1000;
    let fd = rig.call(nr::open, &[SCRATCH, flags, 0o600]).unwrap();
    rig.put(BUFFER, content);
    assert_eq!(rig.call(nr::write, &[fd, BUFFER, content.len() as u64]), Ok(content.len() as u64));
    fd
}

fn map(rig: &mut Rig, fd: u64, length: u64, protection: u64, kind: u64, offset: u64) -> SysResult {
    rig.call(nr::mmap, &[0, length, protection, kind, fd, offset])
}

fn read_file(rig: &mut Rig, fd: u64, offset: u64, length: u64) -> Vec<u8> {
    let count = rig.call(nr::pread64, &[fd, BUFFER, length, offset]).unwrap();
    rig.get(BUFFER, count as usize)
}

#[test]
fn stores_to_a_shared_mapping_are_read_from_the_file() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, b"hello world");
    let address = map(&mut rig, fd, PAGE, RW, SHARED, 0).unwrap();
    assert_eq!(rig.get(address, 11), b"hello world");
    rig.put(address, b"J");
    rig.put(address + 10, b"D and more");
    // The file ends where it ended: what lies behind is lost.
    assert_eq!(read_file(&mut rig, fd, 0, 100), b"Jello worlD");
}

#[test]
fn writes_to_the_file_show_in_a_shared_mapping() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, b"hello world");
    let address = map(&mut rig, fd, PAGE, READ, SHARED, 0).unwrap();
    rig.put(BUFFER, b"HELLO");
    assert_eq!(rig.call(nr::pwrite64, &[fd, BUFFER, 5, 0]), Ok(5));
    assert_eq!(rig.get(address, 11), b"HELLO world");
}

#[test]
fn a_private_mapping_keeps_its_stores_to_itself() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, b"hello world");
    let address = map(&mut rig, fd, PAGE, RW, PRIVATE, 0).unwrap();
    rig.put(address, b"J");
    assert_eq!(rig.call(nr::munmap, &[address, PAGE]), Ok(0));
    assert_eq!(read_file(&mut rig, fd, 0, 5), b"hello");
}

#[test]
fn stores_reach_the_file_when_the_mapping_the_descriptor_and_the_process_end() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, &[b'.'; 8192]);
    let address = map(&mut rig, fd, 2 * PAGE, RW, SHARED, 0).unwrap();
    assert_eq!(rig.call(nr::close, &[fd]), Ok(0));
    rig.put(address, b"one");
    rig.put(address + PAGE, b"two");
    assert_eq!(rig.call(nr::munmap, &[address, PAGE]), Ok(0));
    rig.call(nr::exit_group, &[0]).unwrap();
    rig.put(SCRATCH, b"/tmp/mapped\0");
    let fd = rig.call(nr::open, &[SCRATCH, 0]).unwrap();
    assert_eq!(read_file(&mut rig, fd, 0, 4), b"one.");
    assert_eq!(read_file(&mut rig, fd, PAGE, 4), b"two.");
}

#[test]
fn a_mapping_at_an_offset_and_a_moved_one_write_to_the_right_place() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, &[b'.'; 3 * 4096]);
    let address = map(&mut rig, fd, PAGE, RW, SHARED, PAGE).unwrap();
    rig.put(address + 1, b"a");
    let to = 0x7000_0000_0000;
    assert_eq!(rig.call(nr::mremap, &[address, PAGE, 2 * PAGE, 3, to]), Ok(to));
    rig.put(to + 2, b"b");
    rig.put(to + PAGE, b"c");
    assert_eq!(read_file(&mut rig, fd, PAGE, 4), b".ab.");
    assert_eq!(read_file(&mut rig, fd, 2 * PAGE, 2), b"c.");
}

#[test]
fn two_mappings_of_one_page_do_not_undo_each_other() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, b"..........");
    let first = map(&mut rig, fd, PAGE, RW, SHARED, 0).unwrap();
    let second = map(&mut rig, fd, PAGE, RW, SHARED, 0).unwrap();
    rig.put(first + 1, b"1");
    rig.put(second + 3, b"2");
    assert_eq!(read_file(&mut rig, fd, 0, 10), b".1.2......");
    assert_eq!(rig.get(first, 10), b".1.2......");
    assert_eq!(rig.get(second, 10), b".1.2......");
}

#[test]
fn pages_behind_the_end_of_the_file_can_be_used_once_it_grows() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, b"short");
    let address = map(&mut rig, fd, 2 * PAGE, RW, SHARED, 0).unwrap();
    assert!(rig.memory.write(address + PAGE, b"x").is_err());
    assert_eq!(rig.call(nr::ftruncate, &[fd, 2 * PAGE]), Ok(0));
    rig.put(address + PAGE, b"x");
    assert_eq!(read_file(&mut rig, fd, PAGE, 1), b"x");
    assert_eq!(rig.call(nr::ftruncate, &[fd, 5]), Ok(0));
    assert!(rig.memory.write(address + PAGE, b"x").is_err());
    assert_eq!(rig.get(address, 6), b"short\0");
}

#[test]
fn a_file_must_be_open_for_what_the_mapping_does() {
    let mut rig = Rig::new();
    let fd = file(&mut rig, b"hello");
    rig.put(SCRATCH, b"/tmp/mapped\0");
    let reader = rig.call(nr::open, &[SCRATCH, 0]).unwrap();
    let writer = rig.call(nr::open, &[SCRATCH, 1]).unwrap();
    assert_eq!(map(&mut rig, writer, PAGE, READ, PRIVATE, 0), Err(Errno::EACCES));
    assert_eq!(map(&mut rig, reader, PAGE, RW, SHARED, 0), Err(Errno::EACCES));
    assert!(map(&mut rig, reader, PAGE, RW, PRIVATE, 0).is_ok());
    let address = map(&mut rig, reader, PAGE, READ, SHARED, 0).unwrap();
    assert_eq!(rig.call(nr::mprotect, &[address, PAGE, RW]), Err(Errno::EACCES));
    let address = map(&mut rig, fd, PAGE, READ, SHARED, 0).unwrap();
    assert_eq!(rig.call(nr::mprotect, &[address, PAGE, RW]), Ok(0));
    let standard_input = 0;
    assert_eq!(map(&mut rig, standard_input, PAGE, READ, PRIVATE, 0), Err(Errno::ENODEV));
}

#[test]
fn the_device_of_zeros_is_anonymous_memory() {
    let mut rig = Rig::new();
    rig.put(SCRATCH, b"/dev/zero\0");
    let fd = rig.call(nr::open, &[SCRATCH, 2]).unwrap();
    let address = map(&mut rig, fd, 2 * PAGE, RW, PRIVATE, 0).unwrap();
    rig.put(address + PAGE, b"x");
    assert_eq!(rig.get(address, 2), [0, 0]);
}

#[test]
fn differences_are_the_stretches_that_were_stored_to() {
    assert_eq!(differences(b"abcdef", b"aXXdeY"), [(1, 3), (5, 6)]);
    assert_eq!(differences(b"ab", b"ab\0\0z"), [(4, 5)]);
    assert_eq!(differences(b"abc", b"abc"), []);
}

#[test]
fn copies_of_changed_files_that_mappings_keep_are_bounded() {
    let mut rig = Rig::over(&Scratch::new());
    let name = rig.string("file");
    let file = rig.call(nr::memfd_create, &[name, 0]).unwrap();
    let size = 10 << 20;
    rig.call(nr::ftruncate, &[file, size]).unwrap();
    let turn = |rig: &mut Rig| {
        rig.call(nr::pwrite64, &[file, SCRATCH, 1, 0]).unwrap();
        rig.call(nr::mmap, &[0, PAGE_SIZE, 1, 2, file, 0])
    };
    let mapped: Vec<u64> = (0..20).map_while(|_| turn(&mut rig).ok()).collect();
    assert_eq!(mapped.len(), 6, "of 10 MiB each, the limit is 64");
    assert_eq!(turn(&mut rig), Err(Errno::ENOMEM));
    for start in &mapped {
        rig.call(nr::munmap, &[*start, PAGE_SIZE]).unwrap();
    }
    turn(&mut rig).unwrap();
}

#[test]
fn a_file_that_is_mapped_many_times_is_copied_once() {
    let mut rig = Rig::over(&Scratch::new());
    let name = rig.string("file");
    let file = rig.call(nr::memfd_create, &[name, 0]).unwrap();
    rig.call(nr::ftruncate, &[file, 30 << 20]).unwrap();
    for _ in 0..100 {
        rig.call(nr::mmap, &[0, PAGE_SIZE, 3, 1, file, 0]).unwrap();
    }
    let overlay = rig.kernel.files.overlay_bytes();
    assert!((30 << 20..31 << 20).contains(&overlay), "{overlay}");
}

#[test]
fn offsets_near_the_end_of_all_numbers_do_not_overflow() {
    let mut rig = Rig::over(&Scratch::new());
    let file = rig.open("f", O_RDWR | O_CREAT).unwrap();
    let last = i64::MAX as u64 & !(PAGE_SIZE - 1);
    for offset in [!(PAGE_SIZE - 1), !(2 * PAGE_SIZE - 1), last] {
        assert_eq!(rig.call(nr::mmap, &[0, PAGE_SIZE, 3, 1, file, offset]), Err(Errno::EOVERFLOW));
    }
    let start = rig.call(nr::mmap, &[0, PAGE_SIZE, 3, 1, file, last - PAGE_SIZE]).unwrap();
    rig.call(nr::mremap, &[start, PAGE_SIZE, 16 * PAGE_SIZE, 1]).unwrap();
    rig.call(nr::write, &[file, SCRATCH, 1]).unwrap();
}
