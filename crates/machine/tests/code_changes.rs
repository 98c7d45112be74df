//! Code that changes while it runs: by its own stores, on pages that it straddles, and in any amount.

mod common;

use common::*;
use iced_x86::code_asm::*;
use lift::Reg;
use machine::*;

const PAGE: u64 = PAGE_SIZE;

#[test]
fn a_store_to_the_next_instruction_of_its_block_takes_effect_at_once() {
    for watched in [false, true] {
        let code = assembled(|a| {
            let mut target = a.create_label();
            a.lea(rbx, byte_ptr(target))?;
            a.mov(byte_ptr(rbx + 1), 42)?;
            a.set_label(&mut target)?;
            a.mov(eax, 1)?;
            a.syscall()
        });
        let mut machine = machine_with(&code, Permissions::RWX);
        assert_eq!(run(&mut machine, FOREVER, watched), Stop::Syscall);
        assert_eq!((machine.cpu.get(Reg::RAX), machine.time), (42, Time(4)));
    }
}

#[test]
fn a_helper_that_writes_over_the_code_behind_it_takes_effect_at_once() {
    for watched in [false, true] {
        let code = assembled(|a| {
            a.mov(rbx, CODE + 0x200)?;
            a.jmp(rbx)
        });
        let mut machine = machine_with(&code, Permissions::RWX);
        // fxsave [rbx + 0x10] writes 7f 03 (jg +3) over nops of its own block.
        let mut tail = vec![0x0f, 0xae, 0x43, 0x10];
        tail.resize(40, 0x90);
        machine.memory.poke(CODE + 0x200, &tail).unwrap();
        let stop = run(&mut machine, Time(30), watched);
        let mut addresses = Addresses::default();
        let mut again = machine_with(&code, Permissions::RWX);
        again.memory.poke(CODE + 0x200, &tail).unwrap();
        assert_eq!(again.run(Time(30), &mut addresses), stop);
        let ran = |offset| addresses.0.contains(&(CODE + offset));
        assert!(ran(0x210) && ran(0x215) && !ran(0x211), "{addresses:x?}");
        assert_eq!(machine.state_hash(), again.state_hash());
    }
}

/// Counts the loads and stores that an observer is told of.
#[derive(Default)]
struct Accesses {
    loads: Vec<u64>,
    stores: Vec<u64>,
}
impl Observer for Accesses {
    fn load(&mut self, address: u64, _: u64) {
        self.loads.push(address);
    }
    fn store(&mut self, address: u64, _: u64) {
        self.stores.push(address);
    }
}

#[test]
fn an_observer_is_told_once_of_a_store_to_code() {
    let code = assembled(|a| {
        a.add(byte_ptr(CODE + 0x100), 1)?;
        a.syscall()
    });
    let mut machine = machine_with(&code, Permissions::RWX);
    let mut accesses = Accesses::default();
    assert_eq!(machine.run(FOREVER, &mut accesses), Stop::Syscall);
    assert_eq!((accesses.loads, accesses.stores), (vec![CODE + 0x100], vec![CODE + 0x100]));
}

/// `mov eax, 1` across the boundary of two pages, then a system call.
fn straddling(first: Permissions, second: Permissions) -> Machine {
    let code = assembled(|a| {
        a.mov(eax, 1)?;
        a.syscall()
    });
    let mut memory = Memory::new(1 << 24);
    memory.map(region(CODE, PAGE, first));
    memory.map(region(CODE + PAGE, PAGE, second));
    memory.poke(CODE + PAGE - 3, &code).unwrap();
    let mut machine = Machine::new(memory);
    machine.cpu.rip = CODE + PAGE - 3;
    machine
}

#[test]
fn an_instruction_on_two_pages_follows_a_store_to_either() {
    for watched in [false, true] {
        for (first, second) in [(Permissions::RX, Permissions::RWX), (Permissions::RWX, Permissions::RWX)] {
            let mut machine = straddling(first, second);
            assert_eq!(run(&mut machine, FOREVER, watched), Stop::Syscall);
            assert_eq!(machine.cpu.get(Reg::RAX), 1);
            // The guest's own store, as its instructions make it; the last byte of the constant is on the second page.
            machine.memory.open_marked_code(true);
            machine.memory.store(CODE + PAGE + 1, 0x7f_u8).unwrap();
            machine.memory.open_marked_code(false);
            machine.cpu.rip = CODE + PAGE - 3;
            assert_eq!(run(&mut machine, FOREVER, watched), Stop::Syscall);
            assert_eq!(machine.cpu.get(Reg::RAX), 0x7f00_0001);
        }
    }
}

#[test]
fn an_instruction_whose_second_page_is_gone_faults_there_and_runs_once_it_is_back() {
    for watched in [false, true] {
        let mut machine = straddling(Permissions::RX, Permissions::RX);
        let mut other = machine.fork();
        assert_eq!(run(&mut machine, FOREVER, watched), Stop::Syscall);
        machine.memory.protect(CODE + PAGE, CODE + 2 * PAGE, Permissions::R).unwrap();
        machine.cpu.rip = CODE + PAGE - 3;
        let Stop::Fault(fault) = run(&mut machine, FOREVER, watched) else { panic!() };
        let (access, cause) = (Access::Execute, Cause::Protected);
        assert_eq!(fault.kind, FaultKind::Memory(AccessFault { address: CODE + PAGE, access, cause }));
        assert_eq!(fault.rip, CODE + PAGE - 3);
        machine.memory.protect(CODE + PAGE, CODE + 2 * PAGE, Permissions::RX).unwrap();
        assert_eq!(run(&mut machine, FOREVER, watched), Stop::Syscall);
        assert_eq!(run(&mut other, FOREVER, watched), Stop::Syscall, "the fork is as it was");
    }
}

#[test]
fn forks_after_a_change_of_code_still_share_what_they_lift() {
    let code = assembled(|a| {
        a.mov(eax, 1)?;
        a.syscall()
    });
    let mut machine = machine_with(&code, Permissions::RX);
    machine.run(Time(1), &mut Unwatched);
    machine.memory.map(region(CODE + 0x10_0000, PAGE, Permissions::RX));
    machine.memory.protect(CODE + 0x10_0000, CODE + 0x10_0000 + PAGE, Permissions::R).unwrap();
    let mut fork = machine.fork();
    let mut other = machine.fork();
    fork.run(FOREVER, &mut Unwatched);
    assert_eq!((fork.block_count(), other.block_count()), (1, 1));
    assert_eq!(other.run(FOREVER, &mut Unwatched), Stop::Syscall);
    assert_eq!((fork.block_count(), machine.block_count()), (1, 1));
}

#[test]
fn a_program_that_keeps_rewriting_its_code_keeps_few_blocks() {
    // Each round stores the round's number into a constant of the loop.
    let code = assembled(|a| {
        let mut top = a.create_label();
        a.mov(ecx, 2000)?;
        a.set_label(&mut top)?;
        a.mov(eax, 0)?;
        a.add(edx, eax)?;
        a.mov(dword_ptr(CODE + 6), ecx)?;
        a.dec(ecx)?;
        a.jne(top)?;
        a.syscall()
    });
    let mut machine = machine_with(&code, Permissions::RWX);
    assert_eq!(machine.run(FOREVER, &mut Unwatched), Stop::Syscall);
    assert_eq!(machine.cpu.get(Reg::RDX), (2..=2000).sum());
    assert!(machine.block_count() < 10, "{}", machine.block_count());
}

#[test]
fn a_program_with_a_block_at_every_byte_does_not_fill_the_host_with_them() {
    const SLED: u64 = 0x100_0000;
    const BYTES: u64 = 48 << 10;
    const STRIDE: u64 = 96;
    let code = assembled(|a| {
        let mut top = a.create_label();
        a.mov(ebx, SLED as u32)?;
        a.set_label(&mut top)?;
        a.call(rbx)?;
        a.inc(rbx)?;
        a.cmp(rbx, (SLED + BYTES) as i32)?;
        a.jne(top)?;
        a.syscall()
    });
    let mut machine = machine_with(&code, Permissions::RX);
    machine.memory.map(region(SLED, BYTES, Permissions::RX));
    // xchg eax, esi (one byte, several ops) all over, with a return at the end of each stride.
    let sled: Vec<u8> = (1..=BYTES).map(|n| if n % STRIDE == 0 { 0xc3 } else { 0x96 }).collect();
    machine.memory.poke(SLED, &sled).unwrap();
    let mut most = 0;
    while machine.run(Time(machine.time.0 + 100_000), &mut Unwatched) == Stop::Until {
        most = most.max(machine.block_count());
    }
    assert_eq!(machine.cpu.get(Reg::RBX), SLED + BYTES);
    // Two for the loop, three for each round around the call; the rest begin at every byte of the sled.
    let instructions = (1..=STRIDE).sum::<u64>() * (BYTES / STRIDE) + BYTES * 4 + 2;
    assert_eq!(machine.time, Time(instructions));
    assert!(most < BYTES as usize * 3 / 4, "{most} blocks at once");
}
