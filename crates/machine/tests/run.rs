//! The machine on small programs: both executors agree, stops are exact, forks and interventions are apart.

mod common;

use common::*;
use iced_x86::code_asm::*;
use lift::{Condition, Op, Reg};
use machine::*;

/// Sums, stores, calls, pushes and branches for some thousand instructions, then makes a system call.
fn busy_program() -> Vec<u8> {
    assembled(|a| {
        let (mut top, mut function, mut skip) = (a.create_label(), a.create_label(), a.create_label());
        a.mov(rbx, DATA)?;
        a.mov(ecx, 200)?;
        a.xor(eax, eax)?;
        a.set_label(&mut top)?;
        a.add(eax, ecx)?;
        a.mov(dword_ptr(rbx + rcx * 4), eax)?;
        a.inc(qword_ptr(rbx))?;
        a.call(function)?;
        a.cmp(dword_ptr(rbx + 64), 1000)?;
        a.jb(skip)?;
        a.add(dword_ptr(rbx + 64), -7)?;
        a.set_label(&mut skip)?;
        a.sub(ecx, 1)?;
        a.jne(top)?;
        a.mov(eax, 60)?;
        a.syscall()?;
        a.set_label(&mut function)?;
        a.push(rbp)?;
        a.mov(rbp, rsp)?;
        a.imul_3(edx, ecx, 37)?;
        a.shl(edx, 3)?;
        a.xor(eax, edx)?;
        a.movsx(rdx, word_ptr(rbx + rcx * 4))?;
        a.test(dl, dl)?;
        a.sets(sil)?;
        a.cmovle(rdi, rdx)?;
        a.adc(r8, rdi)?;
        a.movq(xmm0, rdx)?;
        a.paddd(xmm1, xmm0)?;
        a.leave()?;
        a.ret()
    })
}

#[test]
fn both_executors_agree_at_every_instant() {
    let code = busy_program();
    let mut fast = machine_with(&code, Permissions::RX);
    let mut watched = machine_with(&code, Permissions::RX);
    for n in 1..400 {
        assert_eq!(fast.run(Time(n), &mut Unwatched), Stop::Until);
        assert_eq!(watched.run(Time(n), &mut Idle), Stop::Until);
        assert_eq!(fast.cpu.rip, watched.cpu.rip, "at {n}");
        assert_eq!(fast.state_hash(), watched.state_hash(), "at {n}");
    }
    assert_eq!(fast.run(Time(u64::MAX), &mut Unwatched), Stop::Syscall);
    assert_eq!(watched.run(Time(u64::MAX), &mut Idle), Stop::Syscall);
    assert_eq!(fast.time, watched.time);
    assert_eq!(fast.state_hash(), watched.state_hash());
}

#[test]
fn loads_by_frame_registers_write_nothing_in_either_executor() {
    // From pages that were never written, by both registers, some of them not writable at all.
    let code = assembled(|a| {
        a.mov(rbp, DATA + 0x1008)?;
        a.mov(rax, qword_ptr(rbp - 8))?;
        a.lea(rsp, qword_ptr(rbp + 0x1000))?;
        a.mov(rbx, qword_ptr(rsp + 8))?;
        a.pop(rdx)?;
        a.mov(rbp, CODE + 8)?;
        a.mov(rcx, qword_ptr(rbp - 8))?;
        a.syscall()
    });
    let [fast, watched] = [false, true].map(|watched| {
        let mut machine = machine_with(&code, Permissions::RX);
        assert_eq!(run(&mut machine, FOREVER, watched), Stop::Syscall);
        machine
    });
    let written = |machine: &Machine| machine.memory.written_pages().collect::<Vec<u64>>();
    assert_eq!(written(&fast), written(&watched));
    assert_eq!(fast.memory.resident_pages(), watched.memory.resident_pages());
    assert_eq!(fast.state_hash(), watched.state_hash());
}

#[test]
fn loads_by_frame_registers_see_stores_by_others_also_after_a_fork() {
    let code = assembled(|a| {
        let mut top = a.create_label();
        a.mov(rbp, DATA + 0x108)?;
        a.mov(rbx, DATA + 0x100)?;
        a.mov(ecx, 50)?;
        a.set_label(&mut top)?;
        a.mov(rax, qword_ptr(rbp - 8))?;
        a.add(rax, rcx)?;
        a.mov(qword_ptr(rbx), rax)?;
        a.add(rdx, qword_ptr(rbp - 8))?;
        a.dec(rcx)?;
        a.jne(top)?;
        a.syscall()
    });
    let mut watched = machine_with(&code, Permissions::RX);
    assert_eq!(run(&mut watched, FOREVER, true), Stop::Syscall);
    let mut fast = machine_with(&code, Permissions::RX);
    let mut forks = Vec::new();
    while fast.run(Time(fast.time.0 + 7), &mut Unwatched) == Stop::Until {
        forks.push(fast.fork());
    }
    forks.push(fast);
    for mut fork in forks {
        fork.run(FOREVER, &mut Unwatched);
        assert_eq!(
            (fork.cpu.get(Reg::RDX), fork.state_hash()),
            (watched.cpu.get(Reg::RDX), watched.state_hash())
        );
    }
}

#[test]
fn forks_at_any_time_run_to_the_same_end_on_any_thread() {
    let mut original = machine_with(&busy_program(), Permissions::RX);
    let mut forks = Vec::new();
    for n in (1..3000).step_by(37) {
        original.run(Time(n), &mut Unwatched);
        forks.push(original.fork());
    }
    assert_eq!(original.run(Time(u64::MAX), &mut Unwatched), Stop::Syscall);
    let (end, hash) = (original.time, original.state_hash());
    std::thread::scope(|scope| {
        for mut fork in forks {
            scope.spawn(move || {
                assert_eq!(fork.run(Time(u64::MAX), &mut Unwatched), Stop::Syscall);
                assert_eq!((fork.time, fork.state_hash()), (end, hash));
            });
        }
    });
}

/// Collects the times at which conditions were decided.
#[derive(Default)]
struct Decisions(Vec<(Time, u64, bool)>);
impl Observer for Decisions {
    fn condition(&mut self, time: Time, address: u64, holds: bool) {
        self.0.push((time, address, holds));
    }
}

#[test]
fn a_flipped_branch_changes_the_fork_alone() {
    let mut original = machine_with(&busy_program(), Permissions::RX);
    let mut watched = original.fork();
    let mut decisions = Decisions::default();
    watched.run(Time(u64::MAX), &mut decisions);
    let last_jump = *decisions.0.iter().rev().find(|(_, _, holds)| *holds).unwrap();

    let mut switched = original.fork();
    switched.intervene(Intervention::At(last_jump.0, Action::FlipBranch));
    switched.run(Time(u64::MAX), &mut Unwatched);
    original.run(Time(u64::MAX), &mut Unwatched);
    assert_eq!(original.state_hash(), watched.state_hash());
    assert_ne!(switched.state_hash(), original.state_hash());

    let mut forced = machine_with(&busy_program(), Permissions::RX);
    forced.intervene(Intervention::At(last_jump.0, Action::ForceCondition(true)));
    forced.run(Time(u64::MAX), &mut Unwatched);
    assert_eq!(forced.state_hash(), original.state_hash(), "forcing the side it takes changes nothing");
}

#[test]
fn values_and_bytes_can_be_replaced_at_an_instant() {
    let code = assembled(|a| {
        a.mov(eax, 5)?;
        a.add(eax, dword_ptr(DATA))?;
        a.syscall()
    });
    let mut machine = machine_with(&code, Permissions::RX);
    machine.intervene(Intervention::At(Time(1), Action::SetValue { reg: Reg::RAX, value: 40 }));
    machine.intervene(Intervention::At(Time(1), Action::Poke { address: DATA, bytes: vec![2] }));
    assert_eq!(machine.run(Time(u64::MAX), &mut Unwatched), Stop::Syscall);
    assert_eq!(machine.cpu.get(Reg::RAX), 42);
}

#[test]
fn an_edited_instruction_acts_differently_at_every_execution_and_only_there() {
    let code = assembled(|a| {
        let mut top = a.create_label();
        a.mov(ecx, 10)?;
        a.set_label(&mut top)?;
        a.add(eax, 3)?;
        a.dec(ecx)?;
        a.jne(top)?;
        a.syscall()
    });
    let mut original = machine_with(&code, Permissions::RX);
    let mut addresses = Addresses::default();
    original.fork().run(Time(4), &mut addresses);
    let [_, add, _, jump] = addresses.0[..] else { panic!("{addresses:?}") };
    let mut result_with = |address: u64, edit: Edit| {
        let mut machine = original.fork();
        machine.intervene(Intervention::Always(address, edit));
        machine.run(Time(1000), &mut Unwatched);
        machine.cpu.get(Reg::RAX)
    };
    assert_eq!(result_with(add, Edit::Skip), 0);
    assert_eq!(result_with(add, Edit::Constant { from: 3, to: 4 }), 40);
    assert_eq!(result_with(jump, Edit::Condition(Condition::Equal)), 3);
    assert_eq!(original.run(Time(1000), &mut Unwatched), Stop::Syscall);
    assert_eq!(original.cpu.get(Reg::RAX), 30, "the original is as it was");
}

#[test]
fn a_program_that_rewrites_itself_runs_what_it_wrote() {
    // The constant of `mov eax, imm32` at the top of the loop is changed by each round.
    let code = assembled(|a| {
        let mut top = a.create_label();
        a.mov(ecx, 3)?;
        a.set_label(&mut top)?;
        a.mov(eax, 10)?;
        a.add(edx, eax)?;
        a.add(dword_ptr(CODE + 6), 1)?;
        a.dec(ecx)?;
        a.jne(top)?;
        a.syscall()
    });
    for watched in [false, true] {
        let mut machine = machine_with(&code, Permissions::RWX);
        let mut fork = machine.fork();
        let stop = match watched {
            true => machine.run(Time(u64::MAX), &mut Idle),
            false => machine.run(Time(u64::MAX), &mut Unwatched),
        };
        assert_eq!(stop, Stop::Syscall);
        assert_eq!(machine.cpu.get(Reg::RDX), 10 + 11 + 12);
        fork.run(Time(u64::MAX), &mut Unwatched);
        assert_eq!(fork.state_hash(), machine.state_hash());
    }
}

#[test]
fn a_call_through_the_stack_may_push_onto_another_page() {
    let code = assembled(|a| {
        let mut function = a.create_label();
        a.lea(rax, ptr(function))?;
        a.mov(rsp, STACK_END - 0x1000)?;
        a.mov(qword_ptr(rsp + 16), rax)?;
        a.call(qword_ptr(rsp + 16))?;
        a.nop()?;
        a.set_label(&mut function)?;
        a.syscall()
    });
    let mut machine = machine_with(&code, Permissions::RX);
    assert_eq!(machine.run(Time(100), &mut Unwatched), Stop::Syscall);
    assert_eq!(machine.time, Time(5));
}

#[test]
fn a_fault_leaves_the_state_before_its_instruction() {
    let code = assembled(|a| {
        a.mov(ecx, 9)?;
        a.add(ecx, 1)?;
        a.push(qword_ptr(0x10u64))?;
        a.ud2()
    });
    for watched in [false, true] {
        let mut machine = machine_with(&code, Permissions::RX);
        let stop = match watched {
            true => machine.run(Time(u64::MAX), &mut Idle),
            false => machine.run(Time(u64::MAX), &mut Unwatched),
        };
        let Stop::Fault(fault) = stop else { panic!("{stop:?}") };
        assert_eq!((fault.time, fault.rip), (Time(2), CODE + 8));
        let FaultKind::Memory(access) = fault.kind else { panic!("{fault:?}") };
        assert_eq!((access.address, access.access), (0x10, Access::Read));
        assert_eq!(machine.cpu.get(Reg::RSP), STACK_END - 64);
        assert_eq!(machine.cpu.get(Reg::RCX), 10);
    }
}

#[test]
fn execution_of_unmapped_and_of_unexecutable_memory_is_a_fault_at_its_address() {
    for (target, cause) in [(0x1234, Cause::Unmapped), (DATA, Cause::Protected)] {
        let code = assembled(|a| {
            a.mov(rax, target)?;
            a.jmp(rax)
        });
        let mut machine = machine_with(&code, Permissions::RX);
        let Stop::Fault(fault) = machine.run(Time(u64::MAX), &mut Unwatched) else { panic!() };
        let access = Access::Execute;
        assert_eq!(fault.kind, FaultKind::Memory(AccessFault { address: target, access, cause }));
        assert_eq!((fault.rip, fault.time), (target, Time(2)));
    }
}

#[test]
fn an_unsupported_instruction_is_named_and_is_not_a_fault() {
    let code = assembled(|a| a.vaddps(ymm0, ymm1, ymm2));
    let mut machine = machine_with(&code, Permissions::RX);
    let Stop::Unsupported(unsupported) = machine.run(Time(9), &mut Unwatched) else { panic!() };
    assert_eq!(unsupported.text, "vaddps ymm0, ymm1, ymm2");
    assert_eq!(unsupported.features, ["AVX"]);
    assert_eq!((unsupported.address, unsupported.bytes), (CODE, code));
}

/// Counts what an observer is told.
#[derive(Default)]
struct Counts {
    instructions: u64,
    ops: u64,
    loads: u64,
    stores: u64,
    calls: u64,
    returns: u64,
    syscalls: u64,
}
impl Observer for Counts {
    fn instruction(&mut self, time: Time, _: u64, ops: &[Op], _: &Cpu) {
        assert_eq!(time, Time(self.instructions));
        self.instructions += 1;
        self.ops += ops.len() as u64;
    }
    fn load(&mut self, _: u64, _: u64) {
        self.loads += 1;
    }
    fn store(&mut self, _: u64, _: u64) {
        self.stores += 1;
    }
    fn call(&mut self, _: Time, _: u64, _: u64) {
        self.calls += 1;
    }
    fn ret(&mut self, _: Time, _: u64) {
        self.returns += 1;
    }
    fn syscall(&mut self, _: Time, _: &Cpu) {
        self.syscalls += 1;
    }
}

#[test]
fn an_observer_sees_every_instruction_access_call_and_return() {
    let code = assembled(|a| {
        let mut function = a.create_label();
        a.mov(ecx, 4)?;
        a.mov(esi, DATA as u32)?;
        a.mov(edi, DATA as u32 + 64)?;
        a.rep().movsb()?;
        a.call(function)?;
        a.syscall()?;
        a.set_label(&mut function)?;
        a.ret()
    });
    let mut machine = machine_with(&code, Permissions::RX);
    let mut counts = Counts::default();
    assert_eq!(machine.run(Time(100), &mut counts), Stop::Syscall);
    assert_eq!(counts.instructions, 7);
    assert_eq!((counts.loads, counts.stores), (4 + 1, 4 + 1));
    assert_eq!((counts.calls, counts.returns, counts.syscalls), (1, 1, 1));
}
