//! Loading programs of the system, programs made here byte by byte, and damaged ones.

use super::*;
use crate::elf::ElfError;
use crate::testing::{FIXED, RELOCATABLE, Segment, program};
use machine::PAGE_SIZE;

const LIMIT: u64 = 64 << 20;

fn text(address: u64) -> Segment {
    Segment { address, offset: 0, file_size: 0x1800, memory_size: 0x1800, flags: 5 }
}

fn data(address: u64, memory_size: u64) -> Segment {
    Segment { address, offset: 0x1800, file_size: 0x100, memory_size, flags: 6 }
}

fn credentials() -> Credentials {
    Credentials { user: 1, group: 1, groups: [].into() }
}

fn load_bytes(file: Vec<u8>) -> (Memory, Result<Image, LoadError>) {
    let mut memory = Memory::new(LIMIT);
    let argv = [b"program".to_vec(), b"argument".to_vec()];
    let request = Request {
        program: Path::new("program"),
        cwd: Path::new("/nowhere"),
        argv: &argv,
        env: &[],
        credentials: &credentials(),
        max_memory: LIMIT,
        host: &Host::default(),
    };
    let image = load_file(&request, PathBuf::from("/nowhere/program"), Arc::new(file), &mut memory);
    (memory, image)
}

fn load_path(path: &Path) -> (Memory, Result<Image, LoadError>) {
    let mut memory = Memory::new(LIMIT);
    let argv = [path.as_os_str().as_bytes().to_vec()];
    let request = Request {
        program: path,
        cwd: Path::new("/"),
        argv: &argv,
        env: &[b"A=1".to_vec()],
        credentials: &credentials(),
        max_memory: LIMIT,
        host: &Host::default(),
    };
    let image = load(&request, &mut memory);
    (memory, image)
}

fn word(memory: &mut Memory, address: u64) -> u64 {
    memory.load(address).unwrap()
}

#[test]
fn a_dynamic_program_of_the_system_starts_in_its_interpreter() {
    let (mut memory, image) = load_path(Path::new("/bin/true"));
    let image = image.unwrap();
    assert_eq!(image.executable, std::fs::canonicalize("/bin/true").unwrap());
    let at = |address| memory.region_at(address).cloned();
    assert_eq!(&*at(PROGRAM_BASE).unwrap().name, "/bin/true");
    let start = at(image.start).unwrap();
    assert_eq!(&*start.name, "/lib64/ld-linux-x86-64.so.2");
    assert!(start.permissions.execute && !start.permissions.write);
    let stack = at(image.stack_pointer).unwrap();
    assert_eq!((stack.start, stack.end), (STACK_TOP - STACK_SIZE, STACK_TOP));
    assert_eq!(stack.permissions, Permissions::RW);
    assert!(at(image.break_start).is_none() && at(image.break_start - 1).is_some());
    assert!(memory.regions().iter().all(|region| region.end <= MMAP_TOP || region.start == stack.start));
    // argc, argv[0] and its end, one variable and its end.
    let words: Vec<u64> = (0..5).map(|n| word(&mut memory, image.stack_pointer + 8 * n)).collect();
    assert_eq!((words[0], words[2], words[4]), (1, 0, 0));
    assert_eq!(memory.read_cstr(words[1], 100).unwrap(), b"/bin/true");
    assert_eq!(memory.read_cstr(words[3], 100).unwrap(), b"A=1");
}

#[test]
fn a_program_that_is_not_position_independent_goes_where_it_says() {
    let (mut memory, image) =
        load_bytes(program(FIXED, 0x40_1000, None, &[text(0x40_0000), data(0x40_3800, 0x3000)]));
    let image = image.unwrap();
    assert_eq!(image.start, 0x40_1000);
    assert_eq!(image.break_start, 0x40_7000);
    assert_eq!(word(&mut memory, 0x40_1000), 0x9090_9090_9090_9090);
    assert_eq!(memory.region_at(0x40_1000).unwrap().permissions, Permissions::RX);
}

#[test]
fn what_is_not_in_the_file_is_zero_up_to_the_end_of_the_page() {
    let (mut memory, image) =
        load_bytes(program(FIXED, 0x40_1000, None, &[text(0x40_0000), data(0x40_3800, 0x3000)]));
    image.unwrap();
    assert_eq!(word(&mut memory, 0x40_38f8), 0x9090_9090_9090_9090);
    for address in [0x40_3900, 0x40_3ff8, 0x40_4000, 0x40_6ff8] {
        assert_eq!(word(&mut memory, address), 0, "{address:#x}");
    }
    assert!(memory.load::<u8>(0x40_7000).is_err());
    assert_eq!(memory.region_at(0x40_6000).unwrap().permissions, Permissions::RW);
}

#[test]
fn a_large_segment_of_zeros_costs_nothing() {
    let (memory, image) = load_bytes(program(RELOCATABLE, 0x1000, None, &[text(0), data(0x3800, 1 << 40)]));
    assert_eq!(image.unwrap().start, PROGRAM_BASE + 0x1000);
    assert!(memory.resident_pages() < 10);
}

#[test]
fn a_program_over_the_stack_or_at_zero_is_refused() {
    for address in [0, 0x1000, STACK_TOP - 0x10_0000, MMAP_TOP - 0x1000] {
        let (_, image) = load_bytes(program(FIXED, address, None, &[text(address)]));
        assert!(matches!(image, Err(LoadError::AddressTaken { .. })), "{address:#x}: {image:?}");
    }
}

#[test]
fn a_missing_interpreter_is_named() {
    let (_, image) = load_bytes(program(RELOCATABLE, 0x1000, Some("/lib/ld-missing.so"), &[text(0)]));
    let message = image.unwrap_err().to_string();
    assert!(message.contains("program needs the interpreter /lib/ld-missing.so"), "{message}");
}

#[test]
fn an_interpreter_that_is_none_is_told_from_the_program() {
    let (_, image) = load_bytes(program(RELOCATABLE, 0x1000, Some("/etc/passwd"), &[text(0)]));
    assert_eq!(image.unwrap_err().to_string(), "the interpreter of program, /etc/passwd, is not an ELF file");
}

#[test]
fn what_is_no_file_is_refused_before_it_is_opened() {
    let message = |path: &str| load_path(Path::new(path)).1.unwrap_err().to_string();
    assert_eq!(message("/"), "/ is a directory, not a program");
    assert_eq!(message("/dev/null"), "/dev/null is not a regular file, so it is no program");
    assert_eq!(message("/no/such/file"), "/no/such/file: no such file; give the path of a program");
}

#[test]
fn too_long_arguments_are_refused() {
    let argv = vec![vec![b'x'; 1000]; 3000];
    let request = Request {
        program: Path::new("/bin/true"),
        cwd: Path::new("/"),
        argv: &argv,
        env: &[],
        credentials: &credentials(),
        max_memory: LIMIT,
        host: &Host::default(),
    };
    let result = load(&request, &mut Memory::new(LIMIT));
    assert!(matches!(result, Err(LoadError::ArgumentsTooLong { .. })), "{result:?}");
}

#[test]
fn a_program_larger_than_the_memory_limit_is_refused() {
    let mut memory = Memory::new(PAGE_SIZE);
    let argv = [b"true".to_vec()];
    let request = Request {
        program: Path::new("/bin/true"),
        cwd: Path::new("/"),
        argv: &argv,
        env: &[],
        credentials: &credentials(),
        max_memory: PAGE_SIZE,
        host: &Host::default(),
    };
    let result = load(&request, &mut memory);
    assert!(matches!(result, Err(LoadError::NoMemory { .. })), "{result:?}");
}

/// Damaged headers lead to an error or to a program that can be laid out; never to a panic, and never to more
/// memory than the limit.
#[test]
fn damaged_programs_are_refused_or_loaded_within_bounds() {
    let originals = [
        std::fs::read("/bin/true").unwrap(),
        program(RELOCATABLE, 0x1000, Some("/lib64/ld-linux-x86-64.so.2"), &[text(0), data(0x3800, 0x3000)]),
        program(FIXED, 0x40_1000, None, &[text(0x40_0000), data(0x40_3800, 0x3000)]),
    ];
    let mut random = crate::fs::RandomStream::default();
    let mut number = |bound: u64| u64::from_le_bytes(random.bytes(8).try_into().unwrap()) % bound;
    let (mut loaded, mut refused) = (0, 0);
    for case in 0..6000 {
        let mut file = originals[case % originals.len()].clone();
        match number(8) {
            0 => file.truncate(number(file.len() as u64) as usize),
            // Extreme values in one field of a header.
            1 | 2 => {
                let at = (number(100) * 8) as usize;
                let value =
                    [0, 1, 0xfff, 0x1000, i64::MAX as u64, u64::MAX, 1 << 47, 1 << 44][number(8) as usize];
                file[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            _ => {
                for _ in 0..=number(3) {
                    let at = number(700) as usize;
                    file[at] ^= 1 << number(8);
                }
            }
        }
        let (memory, image) = load_bytes(file);
        assert!(memory.resident_pages() * PAGE_SIZE <= LIMIT);
        match image {
            Ok(_) => loaded += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(loaded > 100 && refused > 100, "{loaded} loaded, {refused} refused");
}

#[test]
fn truncation_at_any_point_of_the_headers_is_noticed() {
    let file = program(FIXED, 0x40_1000, None, &[text(0x40_0000), data(0x40_3800, 0x3000)]);
    for length in 0..0x1900 {
        let (_, image) = load_bytes(file[..length].to_vec());
        let error = image.unwrap_err();
        let expected = match length {
            0 => matches!(error, LoadError::NotAProgram { cause: ElfError::Empty, .. }),
            1..4 => matches!(error, LoadError::NotAProgram { cause: ElfError::NotElf, .. }),
            _ => matches!(
                error,
                LoadError::NotAProgram { cause: ElfError::Truncated(_) | ElfError::Damaged(_), .. }
            ),
        };
        assert!(expected, "{length}: {error}");
    }
}
