//! Backtraces from code that has no call frame information, against the calls and returns that a run made.

mod common;

use std::ops::Range;
use std::path::Path;

use common::Scratch;
use lift::{Op, Reg};
use linux::{Config, Process};
use machine::{Cpu, Observer, Time, Unwatched};
use program::{Program, Rule, State};

/// A function by hand that saves registers, calls itself and jumps to another as its last act; besides it there is what the C
/// library adds to each program.
const SOURCE: &str = r#"
__asm__(
    ".text\n"
    ".type odd, @function\n"
    "odd:\n"
    "  push %rbx\n"
    "  push %rbp\n"
    "  sub $40, %rsp\n"
    "  movq $0, 32(%rsp)\n"
    "  test %edi, %edi\n"
    "  je 1f\n"
    "  dec %edi\n"
    "  call odd\n"
    "1: mov %rdi, %rbx\n"
    "  lea 40(%rsp), %rsp\n"
    "  pop %rbp\n"
    "  pop %rbx\n"
    "  jmp tail\n"
    ".size odd, . - odd\n"
    ".type tail, @function\n"
    "tail:\n"
    "  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  and $-64, %rsp\n"
    "  sub $64, %rsp\n"
    "  mov %rdi, (%rsp)\n"
    "  leave\n"
    "  ret\n"
    ".size tail, . - tail\n");
void odd(int number);
int main(void) { odd(3); return 0; }
"#;

/// Where each instruction of a range is executed, and to which address and stack the function that it is in will return.
struct Calls {
    code: Range<u64>,
    returns: Vec<(u64, u64)>,
    seen: Vec<(Time, u64, (u64, u64))>,
}

impl Observer for Calls {
    fn instruction(&mut self, time: Time, address: u64, ops: &[Op], cpu: &Cpu) {
        if self.code.contains(&address)
            && let Some(top) = self.returns.last()
        {
            self.seen.push((time, address, *top));
        }
        match ops.last() {
            Some(Op::Call { return_address, .. }) => {
                self.returns.push((*return_address, cpu.get(Reg::RSP)));
            }
            Some(Op::Return { .. }) => {
                self.returns.pop();
            }
            _ => {}
        }
    }
}

fn load(path: &Path) -> Process {
    Process::load(&Config::new(path)).unwrap()
}

/// The mapping that holds the program's entry point.
fn own_code(process: &Process) -> Range<u64> {
    const AT_ENTRY: u64 = 9;
    let vector = process.kernel.auxiliary_vector.as_chunks::<8>().0;
    let words: Vec<u64> = vector.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let entry = words.chunks(2).find(|pair| pair[0] == AT_ENTRY).unwrap()[1];
    let region = process.machine.memory.region_at(entry).unwrap();
    region.start..region.end
}

#[test]
fn code_without_call_frame_information_is_left_as_its_stack_height_says() {
    let scratch = Scratch::new("stack-height");
    for options in [&["-O1"][..], &["-O1", "-no-pie"], &["-O1", "-s"]] {
        let path = scratch.compile("gcc", "odd.c", SOURCE, options);
        let code = own_code(&load(&path));
        let mut calls = Calls { code, returns: Vec::new(), seen: Vec::new() };
        load(&path).run(Time(10_000_000), &mut calls);
        let mut process = load(&path);
        let mut by_height = 0;
        // Before the program's own code runs, all libraries are mapped.
        process.run(calls.seen[0].0, &mut Unwatched);
        let program = Program::from_memory(&process.machine.memory);
        for (time, address, expected) in &calls.seen {
            process.run(*time, &mut Unwatched);
            assert_eq!(process.machine.cpu.rip, *address);
            let frames = program.backtrace_of(&State::of(&process.machine), 2).frames;
            let caller = frames.get(1).unwrap_or_else(|| panic!("{options:?}: nobody called {address:#x}"));
            let found = (caller.address, caller.registers.rsp().unwrap());
            assert_eq!(found, *expected, "{options:?}: at {address:#x} of {}", time.0);
            by_height += usize::from(caller.rule == Rule::StackHeight);
        }
        assert!(by_height > 80, "{options:?}: only {by_height} instants of {}", calls.seen.len());
    }
}
