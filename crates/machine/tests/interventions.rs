//! Interventions: what is done differently is done at its instant, in order, and alike by both executors.

mod common;

use common::*;
use iced_x86::code_asm::*;
use lift::{Condition, Reg};
use machine::*;

/// Counts rax up by one, `rounds` times.
fn counting(rounds: u32) -> Vec<u8> {
    assembled(|a| {
        let mut top = a.create_label();
        a.mov(ecx, rounds)?;
        a.xor(eax, eax)?;
        a.set_label(&mut top)?;
        a.add(eax, 1)?;
        a.sub(ecx, 1)?;
        a.jne(top)?;
        a.syscall()
    })
}

/// When the branch at the end of round `n` (from 1) of [`counting`] is next.
fn branch_of_round(n: u64) -> Time {
    Time(2 + 3 * n - 1)
}

#[test]
fn a_run_that_ends_at_the_instant_of_an_intervention_does_not_swallow_it() {
    for watched in [false, true] {
        let mut machine = machine_with(&counting(10), Permissions::RX);
        let instant = branch_of_round(4);
        machine.intervene(Intervention::At(instant, Action::FlipBranch));
        assert_eq!(run(&mut machine, instant, watched), Stop::Until);
        let mut fork = machine.fork();
        for machine in [&mut machine, &mut fork] {
            assert_eq!(run(machine, FOREVER, watched), Stop::Syscall);
            assert_eq!(machine.cpu.get(Reg::RAX), 4);
        }
    }
}

#[test]
fn the_state_at_an_instant_is_that_before_its_intervention() {
    let mut machine = machine_with(&counting(10), Permissions::RX);
    machine.intervene(Intervention::At(Time(2), Action::SetValue { reg: Reg::RAX, value: 100 }));
    assert_eq!(machine.run(Time(2), &mut Unwatched), Stop::Until);
    assert_eq!(machine.cpu.get(Reg::RAX), 0);
    assert_eq!(machine.run(Time(3), &mut Unwatched), Stop::Until);
    assert_eq!(machine.cpu.get(Reg::RAX), 101);
}

#[test]
fn of_two_interventions_at_one_instant_the_first_that_was_asked_for_comes_first() {
    let mut machine = machine_with(&counting(1), Permissions::RX);
    for value in [100, 200] {
        machine.intervene(Intervention::At(Time(2), Action::SetValue { reg: Reg::RAX, value }));
    }
    machine.intervene(Intervention::At(Time(1), Action::SetValue { reg: Reg::RAX, value: 300 }));
    assert_eq!(machine.run(FOREVER, &mut Unwatched), Stop::Syscall);
    assert_eq!(machine.cpu.get(Reg::RAX), 201);
}

#[test]
fn interventions_at_any_instant_of_a_block_act_alike_in_both_executors() {
    let code = counting(20);
    for n in 1..60 {
        for action in [
            Action::FlipBranch,
            Action::ForceCondition(false),
            Action::SetValue { reg: Reg::RCX, value: 2 },
            Action::Poke { address: DATA, bytes: vec![1] },
        ] {
            let results = [false, true].map(|watched| {
                let mut machine = machine_with(&code, Permissions::RX);
                machine.intervene(Intervention::At(Time(n), action.clone()));
                let stop = run(&mut machine, Time(10_000), watched);
                (stop, machine.time, machine.state_hash())
            });
            assert_eq!(results[0], results[1], "{action:?} at {n}");
        }
    }
}

#[test]
fn code_that_is_replaced_at_an_instant_is_what_runs_from_then_on() {
    for watched in [false, true] {
        let mut original = machine_with(&counting(10), Permissions::RX);
        let mut addresses = Addresses::default();
        original.fork().run(Time(3), &mut addresses);
        let mut machine = original.fork();
        // The constant of `add eax, 1` follows one byte of opcode.
        let poke = Action::Poke { address: addresses.0[2] + 1, bytes: vec![3] };
        machine.intervene(Intervention::At(branch_of_round(4), poke));
        assert_eq!(run(&mut machine, FOREVER, watched), Stop::Syscall);
        assert_eq!(machine.cpu.get(Reg::RAX), 4 + 6 * 3);
        assert_eq!(run(&mut original, FOREVER, watched), Stop::Syscall);
        assert_eq!(original.cpu.get(Reg::RAX), 10, "the original is as it was");
    }
}

#[test]
fn an_edit_reaches_blocks_that_were_lifted_before_it() {
    let mut original = machine_with(&counting(10), Permissions::RX);
    let mut addresses = Addresses::default();
    original.fork().run(Time(5), &mut addresses);
    let [_, _, add, sub, jump] = addresses.0[..] else { panic!("{addresses:?}") };
    // In the middle of a round, when the loop's block has been linked to itself.
    original.run(Time(branch_of_round(4).0 - 1), &mut Unwatched);
    let mut edited = |address: u64, edit: Edit, watched: bool| {
        let mut machine = original.fork();
        machine.intervene(Intervention::Always(address, edit));
        assert_eq!(run(&mut machine, Time(1000), watched), Stop::Syscall);
        machine.cpu.get(Reg::RAX)
    };
    for watched in [false, true] {
        assert_eq!(edited(add, Edit::Skip, watched), 4);
        assert_eq!(edited(add, Edit::Constant { from: 1, to: 5 }, watched), 4 + 6 * 5);
        assert_eq!(edited(sub, Edit::Constant { from: 1, to: 7 }, watched), 4);
        assert_eq!(edited(jump, Edit::Condition(Condition::Equal), watched), 4);
        assert_eq!(edited(jump, Edit::Skip, watched), 4);
        assert_eq!(edited(jump, Edit::Side(false), watched), 4);
        assert_eq!(edited(jump, Edit::Inverted, watched), 4);
    }
    assert_eq!(original.run(Time(1000), &mut Unwatched), Stop::Syscall);
    assert_eq!(original.cpu.get(Reg::RAX), 10, "the original is as it was");
}

/// Whatever constant an edit puts in, both executors do the same.
#[test]
fn edited_constants_mean_the_same_to_both_executors() {
    let code = assembled(|a| {
        let mut function = a.create_label();
        a.mov(rbx, DATA)?;
        a.mov(eax, 8)?;
        a.mov(dword_ptr(rbx), 8)?;
        a.mov(byte_ptr(rbx + 4), 8)?;
        a.add(dword_ptr(rbx), 8)?;
        a.test(dword_ptr(rbx), 8)?;
        a.setne(dl)?;
        a.shl(eax, 8)?;
        a.shr(dword_ptr(rbx), 8)?;
        a.sar(al, 8)?;
        a.rol(eax, 8)?;
        a.cmp(ax, 8)?;
        a.setg(dh)?;
        a.test(al, 8)?;
        a.sete(cl)?;
        a.and(al, 8)?;
        a.imul_3(esi, eax, 8)?;
        a.push(8)?;
        a.pop(rdi)?;
        a.call(function)?;
        a.syscall()?;
        a.set_label(&mut function)?;
        a.mov(r8w, 8)?;
        a.sub(r9d, 8)?;
        a.ret()
    });
    let mut original = machine_with(&code, Permissions::RX);
    let mut addresses = Addresses::default();
    original.fork().run(FOREVER, &mut addresses);
    for address in addresses.0 {
        for to in [0, 1, 16, 31, 32, 33, 64, 255, 256, 0x8000_0000, u64::MAX] {
            let results = [false, true].map(|watched| {
                let mut machine = original.fork();
                machine.intervene(Intervention::Always(address, Edit::Constant { from: 8, to }));
                let stop = run(&mut machine, Time(100), watched);
                (stop, machine.time, machine.state_hash(), machine.cpu.rflags())
            });
            assert_eq!(results[0], results[1], "{to:#x} at {address:#x}");
        }
    }
}
