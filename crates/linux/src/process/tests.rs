//! Small programs run to their end.

use std::path::Path;

use machine::{Access, AccessFault, Cause, Fault, FaultKind, Unwatched};

use super::*;
use crate::signal;
use crate::stack::{STACK_SIZE, STACK_TOP};
use crate::testing::{FIXED, Segment, program};

const CODE: u64 = 0x40_1000;
const DATA: u64 = 0x40_2000;

/// A program of the given code, with a page of data, and how to run it. The file is gone when the test ends.
struct Sample {
    config: Config,
}

impl Sample {
    fn new(name: &str, code: &[u8]) -> Sample {
        let page = |address, offset, flags| Segment {
            address,
            offset,
            file_size: 0x1000,
            memory_size: 0x1000,
            flags,
        };
        let mut file = program(FIXED, CODE, None, &[page(CODE, 0x1000, 5), page(DATA, 0x2000, 6)]);
        file[0x1000..0x1000 + code.len()].copy_from_slice(code);
        let path = std::env::temp_dir().join(format!("whydunit-process-{}-{name}", std::process::id()));
        std::fs::write(&path, file).unwrap();
        let mut config = Config::new(&path);
        config.max_memory = 16 << 20;
        Sample { config }
    }

    fn load(&self) -> Process {
        Process::load(&self.config).unwrap()
    }

    fn run(&self) -> Exit {
        self.load().run(Time(10_000_000), &mut Unwatched)
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.config.program);
    }
}

fn fault_of(exit: Exit) -> (i32, Fault) {
    match exit {
        Exit::Killed { signal, fault: Some(fault) } => (signal, fault),
        other => panic!("{other:?}"),
    }
}

/// mov eax, 60; mov edi, 7; syscall
const EXIT_7: &[u8] = &[0xb8, 60, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0x0f, 0x05];

#[test]
fn a_program_exits_with_its_status_and_stays_ended() {
    let mut process = Sample::new("exit", EXIT_7).load();
    assert_eq!(process.run(Time(2), &mut Unwatched), Exit::Until);
    assert_eq!(process.machine.time, Time(2));
    assert_eq!(process.run(Time(1000), &mut Unwatched), Exit::Exited(7));
    assert_eq!(process.machine.time, Time(3));
    assert_eq!(process.run(Time(1000), &mut Unwatched), Exit::Exited(7));
    assert_eq!(process.machine.time, Time(3));
}

#[test]
fn a_call_at_the_very_time_is_served_before_the_run_stops() {
    let mut process = Sample::new("until", EXIT_7).load();
    assert_eq!(process.run(Time(3), &mut Unwatched), Exit::Exited(7));
}

#[test]
fn faults_become_the_signals_of_linux() {
    for (name, code, signal) in [
        // xor ecx, ecx; div ecx
        ("divide", &[0x31, 0xc9, 0xf7, 0xf1][..], signal::SIGFPE),
        ("ud2", &[0x0f, 0x0b], signal::SIGILL),
        ("int3", &[0xcc], signal::SIGTRAP),
        ("hlt", &[0xf4], signal::SIGSEGV),
        // mov rax, [0]
        ("null", &[0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0], signal::SIGSEGV),
        // mov [0x401000], eax
        ("code", &[0x89, 0x04, 0x25, 0x00, 0x10, 0x40, 0x00], signal::SIGSEGV),
        // mov eax, 0x402000; jmp rax
        ("data", &[0xb8, 0x00, 0x20, 0x40, 0x00, 0xff, 0xe0], signal::SIGSEGV),
    ] {
        let (found, _) = fault_of(Sample::new(name, code).run());
        assert_eq!(found, signal, "{name}");
    }
}

#[test]
fn a_stack_overflow_faults_right_below_the_stack() {
    // push rax; jmp -3
    let (signal, fault) = fault_of(Sample::new("overflow", &[0x50, 0xeb, 0xfd]).run());
    assert_eq!(signal, signal::SIGSEGV);
    let address = STACK_TOP - STACK_SIZE - 8;
    let access = AccessFault { address, access: Access::Write, cause: Cause::Unmapped };
    assert_eq!(fault.kind, FaultKind::Memory(access));
}

#[test]
fn the_memory_limit_ends_a_program_that_fills_its_stack() {
    let mut sample = Sample::new("limit", &[0x50, 0xeb, 0xfd]);
    sample.config.max_memory = 1 << 20;
    assert_eq!(sample.run(), Exit::OutOfMemory { limit: 1 << 20 });
}

#[test]
fn an_endless_loop_runs_until_its_time() {
    // jmp -2
    let mut process = Sample::new("endless", &[0xeb, 0xfe]).load();
    assert_eq!(process.run(Time(1_000_000), &mut Unwatched), Exit::Until);
    assert_eq!(process.machine.time, Time(1_000_000));
}

#[test]
fn a_wait_for_ever_is_a_deadlock() {
    // mov eax, 34 (pause); syscall
    let exit = Sample::new("pause", &[0xb8, 34, 0, 0, 0, 0x0f, 0x05]).run();
    assert_eq!(exit, Exit::Deadlock { call: "pause" });
}

#[test]
fn an_unsupported_instruction_is_not_the_programs_fault() {
    // vaddps ymm0, ymm0, ymm0
    match Sample::new("avx", &[0xc5, 0xfc, 0x58, 0xc0]).run() {
        Exit::Unsupported(instruction) => assert_eq!(instruction.address, CODE),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fork_goes_its_own_way_and_both_reach_the_same_end() {
    // The time call moves the kernel's clock: mov eax, 201; xor edi, edi; syscall; mov [0x402000], rax; exit
    let mut code = vec![0xb8, 201, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05, 0x48, 0x89, 0x04, 0x25, 0, 0x20, 0x40, 0];
    code.extend(EXIT_7);
    let mut original = Sample::new("fork", &code).load();
    assert_eq!(original.run(Time(2), &mut Unwatched), Exit::Until);
    let mut clone = original.fork();
    let before = original.state_hash();
    assert_eq!(clone.state_hash(), before);
    assert_eq!(clone.run(Time(100), &mut Unwatched), Exit::Exited(7));
    assert_eq!(original.state_hash(), before);
    assert_eq!(original.run(Time(100), &mut Unwatched), Exit::Exited(7));
    assert_eq!(original.state_hash(), clone.state_hash());
    assert_ne!(original.state_hash(), before);
}

#[test]
fn a_program_whose_working_directory_is_missing_is_not_started() {
    let mut config = Config::new("/bin/true");
    config.cwd = "/no/such/directory".into();
    let error = Process::load(&config).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("/no/such/directory"), "{error}");
}

/// Wherever a program of the system is damaged, it is refused or runs to some end; nothing panics.
#[test]
fn damaged_programs_run_to_some_end() {
    let original = std::fs::read("/bin/true").unwrap();
    let path = std::env::temp_dir().join(format!("whydunit-process-{}-damaged", std::process::id()));
    let mut random = crate::fs::RandomStream::default();
    let mut number = |bound: usize| u64::from_le_bytes(random.bytes(8).try_into().unwrap()) as usize % bound;
    for _ in 0..100 {
        let mut file = original.clone();
        for _ in 0..=number(40) {
            let at = number(file.len());
            file[at] ^= 1 << number(8);
        }
        std::fs::write(&path, file).unwrap();
        let mut config = Config::new(&path);
        config.max_memory = 32 << 20;
        if let Ok(mut process) = Process::load(&config) {
            process.run(Time(300_000), &mut Unwatched);
        }
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn relative_programs_are_found_from_the_working_directory() {
    let mut config = Config::new("true");
    config.cwd = "/bin".into();
    let process = Process::load(&config).unwrap();
    let expected = std::fs::canonicalize("/bin/true").unwrap();
    assert_eq!(Path::new(std::ffi::OsStr::from_bytes(&process.kernel.command.executable)), expected);
}
