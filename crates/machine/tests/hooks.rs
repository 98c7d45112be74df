//! Hooks on functions: where the machine stops, what counts, and that all ways to run agree.

use lift::Reg;
use machine::{
    Access, AccessFault, Backing, Cause, Cpu, Fault, FaultKind, Hook, Machine, Memory, PAGE_SIZE,
    Permissions, Readable, Region, Stop, Time, Trace, Unwatched,
};

const CODE: u64 = 0x40_0000;
const FUNCTION: u64 = CODE + 0x100;
const DATA: u64 = 0x60_0000;
const STACK: u64 = 0x70_0000;

/// Calls the function three times, and then the kernel.
fn machine(function: &[u8]) -> Machine {
    let mut code = vec![0x90; 0x200];
    for n in 0..3 {
        // call FUNCTION
        let (at, distance) = (n * 6, 0x100 - (n as i32 * 6 + 5));
        code[at] = 0xe8;
        code[at + 1..at + 5].copy_from_slice(&distance.to_le_bytes());
    }
    code[18..20].copy_from_slice(&[0x0f, 0x05]);
    code[0x100..0x100 + function.len()].copy_from_slice(function);
    let mut memory = Memory::new(1 << 20);
    let region = |start, permissions, backing| Region {
        start,
        end: start + PAGE_SIZE,
        permissions,
        backing,
        name: "".into(),
        shared: false,
    };
    memory.map(region(CODE, Permissions::RX, Backing::Bytes { content: code.into(), offset: 0 }));
    memory.map(region(DATA, Permissions::RW, Backing::Zero));
    memory.map(region(STACK, Permissions::RW, Backing::Zero));
    let mut machine = Machine::new(memory);
    machine.cpu.rip = CODE;
    machine.cpu.set(Reg::RSP, STACK + PAGE_SIZE - 64);
    machine
}

/// mov rax, [rdi]; ret
const LOADS: [u8; 4] = [0x48, 0x8b, 0x07, 0xc3];

/// Runs in one of three ways.
fn run(machine: &mut Machine, way: u32) -> Stop {
    struct Watcher;
    impl machine::Observer for Watcher {}
    match way {
        0 => machine.run(Time(1000), &mut Unwatched),
        1 => machine.run(Time(1000), &mut Watcher),
        _ => machine.run_traced(Time(1000), &mut Trace::new()),
    }
}

#[test]
fn a_served_function_does_not_run_and_counts_one() {
    for way in 0..3 {
        let mut machine = machine(&LOADS);
        machine.change_hooks(FUNCTION..FUNCTION + 4, |hooks| hooks.add(FUNCTION, Hook::Serve));
        for n in 0..3u64 {
            assert_eq!(run(&mut machine, way), Stop::Hook, "way {way}");
            // A call each, what was served before, and the instruction between.
            assert_eq!((machine.cpu.rip, machine.time), (FUNCTION, Time(3 * n + 1)), "way {way}");
            assert_eq!(run(&mut machine, way), Stop::Hook, "it stays there until it is passed");
            machine.cpu.set(Reg::RAX, n);
            machine.pass_hook();
        }
        assert_eq!(run(&mut machine, way), Stop::Syscall);
        assert_eq!((machine.cpu.get(Reg::RAX), machine.time), (2, Time(10)), "way {way}");
    }
}

#[test]
fn a_pause_lets_the_function_run() {
    for way in 0..3 {
        let mut machine = machine(&LOADS);
        machine.memory.poke(DATA, &7u64.to_le_bytes()).unwrap();
        machine.cpu.set(Reg::RDI, DATA);
        machine.change_hooks(FUNCTION..FUNCTION + 4, |hooks| hooks.add(FUNCTION, Hook::Pause));
        for _ in 0..3 {
            assert_eq!(run(&mut machine, way), Stop::Hook);
            machine.pass_hook();
        }
        assert_eq!(run(&mut machine, way), Stop::Syscall);
        assert_eq!((machine.cpu.get(Reg::RAX), machine.time), (7, Time(13)), "way {way}");
    }
}

fn refuses_odd_pointers(cpu: &Cpu, _: &dyn Readable) -> Result<(), AccessFault> {
    match cpu.get(Reg::RDI) % 2 {
        0 => Ok(()),
        _ => Err(AccessFault { address: cpu.get(Reg::RDI), access: Access::Read, cause: Cause::Forbidden }),
    }
}

#[test]
fn a_check_that_fails_is_a_fault_of_the_first_instruction() {
    for way in 0..3 {
        let mut machine = machine(&LOADS);
        machine.cpu.set(Reg::RDI, DATA);
        machine.change_hooks(FUNCTION..FUNCTION + 4, |hooks| {
            hooks.add(FUNCTION, Hook::Check(refuses_odd_pointers))
        });
        let mut other = machine.fork();
        assert_eq!(run(&mut machine, way), Stop::Syscall, "way {way}");
        assert_eq!(machine.time, Time(13));
        other.cpu.set(Reg::RDI, DATA + 1);
        let access = AccessFault { address: DATA + 1, access: Access::Read, cause: Cause::Forbidden };
        let fault = Fault { kind: FaultKind::Memory(access), rip: FUNCTION, time: Time(1) };
        assert_eq!(run(&mut other, way), Stop::Fault(fault), "way {way}");
    }
}

#[test]
fn loads_of_unchecked_code_may_touch_what_is_forbidden_and_others_may_not() {
    for way in 0..3 {
        for unchecked in [false, true] {
            let mut machine = machine(&LOADS);
            machine.memory.check_accesses(DATA..DATA + PAGE_SIZE);
            machine.memory.poke(DATA, &7u64.to_le_bytes()).unwrap();
            machine.memory.set_forbidden(DATA + 4..DATA + 8, true).unwrap();
            machine.cpu.set(Reg::RDI, DATA);
            if unchecked {
                machine.change_hooks(FUNCTION..FUNCTION + 4, |hooks| {
                    hooks.leave_unchecked(FUNCTION..FUNCTION + 4)
                });
            }
            let stop = run(&mut machine, way);
            if unchecked {
                assert_eq!((stop, machine.cpu.get(Reg::RAX)), (Stop::Syscall, 7), "way {way}");
            } else {
                let access = AccessFault { address: DATA + 4, access: Access::Read, cause: Cause::Forbidden };
                let fault = Fault { kind: FaultKind::Memory(access), rip: FUNCTION, time: Time(1) };
                assert_eq!(stop, Stop::Fault(fault), "way {way}");
            }
        }
    }
}

#[test]
fn hooks_that_come_later_reach_code_that_was_lifted_and_forks_keep_their_own() {
    let mut machine = machine(&LOADS);
    machine.cpu.set(Reg::RDI, DATA);
    let mut before = machine.fork();
    assert_eq!(machine.run(Time(3), &mut Unwatched), Stop::Until);
    machine.change_hooks(FUNCTION..FUNCTION + 4, |hooks| hooks.add(FUNCTION, Hook::Serve));
    assert_eq!(machine.run(Time(1000), &mut Unwatched), Stop::Hook);
    assert_eq!(before.run(Time(1000), &mut Unwatched), Stop::Syscall);
}
