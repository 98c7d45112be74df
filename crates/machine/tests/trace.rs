//! A trace tells what an observer sees: the same instructions, in the same order, with the same addresses.

mod common;

use common::*;
use iced_x86::code_asm::*;
use lift::{Op, Reg};
use machine::*;

/// What one instruction did: its time and address, and the first address of each access.
type Step = (u64, u64, Vec<u64>);

/// Everything that an observer is told, as a trace has it.
#[derive(Default)]
struct Told(Vec<Step>);

impl Observer for Told {
    const EACH_ELEMENT: bool = false;

    fn instruction(&mut self, time: Time, address: u64, _: &[Op], _: &Cpu) {
        self.0.push((time.0, address, Vec::new()));
    }
    fn op(&mut self, op: &Op, cpu: &Cpu) {
        if let (Op::Select { condition, .. }, Some((_, _, words))) = (op, self.0.last_mut()) {
            words.push(cpu.get(*condition));
        }
    }
    fn load(&mut self, address: u64, _: u64) {
        self.access(address);
    }
    fn store(&mut self, address: u64, _: u64) {
        self.access(address);
    }
    fn string(&mut self, source: u64, target: u64, elements: i64) {
        self.0.last_mut().unwrap().2.extend([source, target, elements as u64]);
    }
}

impl Told {
    fn access(&mut self, address: u64) {
        let Some((_, _, words)) = self.0.last_mut() else { return };
        // A second access to the same place has no word of its own.
        if words.last() != Some(&address) {
            words.push(address);
        }
    }
}

fn traced(machine: &mut Machine, until: Time, pieces: u64) -> (Stop, Vec<Step>) {
    let mut trace = Trace::new();
    let stop = loop {
        let next = Time(machine.time.0.saturating_add(pieces).min(until.0));
        let stop = machine.run_traced(next, &mut trace);
        if stop != Stop::Until || next == until {
            break stop;
        }
    };
    let passes: Vec<(u64, Option<u64>)> =
        trace.backward_announced().map(|(pass, coming)| (pass.block(), coming)).collect();
    for (index, coming) in passes.iter().enumerate().filter_map(|(index, pass)| Some((index, pass.1?))) {
        assert!(passes.iter().skip(index + 1).take(8).any(|(block, _)| *block == coming), "one soon to come");
    }
    let mut steps: Vec<Step> = Vec::new();
    for pass in trace.backward() {
        steps.extend(
            pass.backward().map(|executed| (executed.time.0, executed.address, executed.words.to_vec())),
        );
    }
    steps.reverse();
    assert_eq!(steps.len() as u64, trace.length());
    (stop, steps)
}

/// Calls, loops, string instructions, accesses by way of every mode, a page crossing, and at last a fault.
fn program() -> Vec<u8> {
    assembled(|a| {
        let (mut again, mut function, mut start) = (a.create_label(), a.create_label(), a.create_label());
        a.jmp(start)?;
        a.set_label(&mut function)?;
        a.push(rbp)?;
        a.mov(rbp, rsp)?;
        a.sub(rsp, 32)?;
        a.mov(dword_ptr(rbp - 4), edi)?;
        a.add(dword_ptr(rbp - 4), 3)?;
        a.mov(eax, dword_ptr(rbp - 4))?;
        a.leave()?;
        a.ret()?;
        a.set_label(&mut start)?;
        a.mov(rbx, DATA)?;
        a.xor(ecx, ecx)?;
        a.set_label(&mut again)?;
        a.mov(edi, ecx)?;
        a.push(rcx)?;
        a.call(function)?;
        a.pop(rcx)?;
        a.mov(qword_ptr(rbx + rcx * 8), rax)?;
        a.movups(xmm0, xmmword_ptr(rbx + rcx))?;
        a.movups(xmmword_ptr(rbx + 0x800), xmm0)?;
        // Across a page.
        a.mov(qword_ptr(rbx + 0xffc), rax)?;
        a.cmp(qword_ptr(rbx + 0xffc), rdx)?;
        a.xadd(qword_ptr(rbx + 16), rax)?;
        a.bts(dword_ptr(rbx + 64), ecx)?;
        a.push(qword_ptr(rbx + 8))?;
        a.pop(qword_ptr(rbx + 24))?;
        a.test(ecx, 4)?;
        a.cmovz(rdx, rcx)?;
        a.cmovnz(r8, qword_ptr(rbx + 32))?;
        a.inc(ecx)?;
        a.cmp(ecx, 60)?;
        a.jne(again)?;
        a.mov(rsi, DATA)?;
        a.mov(rdi, DATA + 0x900)?;
        a.mov(ecx, 300)?;
        a.rep().movsb()?;
        a.mov(rdi, DATA + 0x2ff8)?;
        a.std()?;
        a.mov(ecx, 20)?;
        a.rep().stosq()?;
        a.cld()?;
        a.lodsd()?;
        a.mov(rax, qword_ptr(0))?;
        Ok(())
    })
}

#[test]
fn a_trace_has_what_an_observer_is_told() {
    let mut machine = machine_with(&program(), Permissions::RX);
    let mut told = Told::default();
    let expected = machine.fork().run(FOREVER, &mut told);
    assert!(matches!(expected, Stop::Fault(_)), "{expected:?}");
    // The instruction that faulted is not retired.
    told.0.pop();
    assert!(told.0.len() > 1000, "{}", told.0.len());
    for pieces in [u64::MAX, 1, 7, 64, 1000] {
        let mut fork = machine.fork();
        let (stop, steps) = traced(&mut fork, FOREVER, pieces);
        assert_eq!(stop, expected);
        let differs = steps.iter().zip(&told.0).position(|(one, other)| one != other);
        assert_eq!(differs.map(|at| (&steps[at], &told.0[at])), None, "pieces of {pieces}");
        assert_eq!(steps.len(), told.0.len(), "pieces of {pieces}");
    }
}

#[test]
fn tracing_changes_nothing() {
    let mut machine = machine_with(&program(), Permissions::RX);
    let (mut plain, mut watched) = (machine.fork(), machine.fork());
    let stop = plain.run(FOREVER, &mut Unwatched);
    assert_eq!(traced(&mut watched, FOREVER, 500).0, stop);
    assert_eq!((plain.time, plain.state_hash()), (watched.time, watched.state_hash()));
}

#[test]
fn code_that_rewrites_itself_is_traced_as_it_was() {
    let code = assembled(|a| {
        let mut patch = a.create_label();
        a.mov(ecx, 3)?;
        a.set_label(&mut patch)?;
        a.mov(eax, 1)?;
        a.add(edx, eax)?;
        a.lea(rbx, dword_ptr(patch))?;
        a.inc(dword_ptr(rbx + 1))?;
        a.dec(ecx)?;
        a.jnz(patch)?;
        a.ud2()?;
        Ok(())
    });
    let mut machine = machine_with(&code, Permissions::RWX);
    let mut told = Told::default();
    machine.fork().run(FOREVER, &mut told);
    told.0.pop();
    let mut fork = machine.fork();
    let (_, steps) = traced(&mut fork, FOREVER, u64::MAX);
    assert_eq!(steps, told.0);
    assert_eq!(fork.cpu.get(Reg::RDX), 1 + 2 + 3);
}
