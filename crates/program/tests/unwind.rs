//! Backtraces: of this very process, which was compiled without frame pointers, and of stacks
//! made by hand, sound and hostile.

mod common;

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use common::{Scratch, open, run};
use program::{End, Mapping, Program, Registers, Rule};

/// The registers here and now, as they are inside of the calling function.
#[inline(always)]
fn own_registers() -> Registers {
    let mut general = [0u64; 16];
    let rip: u64;
    // SAFETY: stores registers to the array and changes none but the named ones.
    unsafe {
        std::arch::asm!(
            "mov [{g} + 0x18], rbx",
            "mov [{g} + 0x20], rsp",
            "mov [{g} + 0x28], rbp",
            "mov [{g} + 0x60], r12",
            "mov [{g} + 0x68], r13",
            "mov [{g} + 0x70], r14",
            "mov [{g} + 0x78], r15",
            "lea {rip}, [rip]",
            g = in(reg) general.as_mut_ptr(),
            rip = out(reg) rip,
        );
    }
    Registers::new(rip, general)
}

fn own_mappings() -> Vec<Mapping> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap();
    text.lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let path = fields.get(5).filter(|path| path.starts_with('/'))?;
            let (start, end) = fields[0].split_once('-').unwrap();
            let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
            Some(Mapping {
                start: hex(start),
                end: hex(end),
                file_offset: hex(fields[2]),
                path: Arc::from(*path),
                content: None,
            })
        })
        .collect()
}

#[inline(never)]
fn innermost(depth: u32) -> Vec<String> {
    let registers = own_registers();
    let program = Program::from_mappings(own_mappings());
    let memory = File::open("/proc/self/mem").unwrap();
    let mut read = |address, buffer: &mut [u8]| memory.read_exact_at(buffer, address).is_ok();
    let backtrace = program.backtrace(&registers, 200, &mut read);
    assert_eq!(backtrace.end, End::Outermost, "depth {depth}");
    assert!(backtrace.frames[1..].iter().all(|frame| frame.rule == Rule::CallFrames));
    let names = backtrace.frames.iter().map(|frame| program.locate(frame.lookup).function.map(|f| f.name));
    names.map(Option::unwrap_or_default).collect()
}

#[inline(never)]
fn recurse(depth: u32) -> Vec<String> {
    // Something of the frame stays in use, so that the call is no jump.
    let mut kept = [depth; 3];
    std::hint::black_box(&mut kept);
    let names = if depth == 0 { innermost(depth) } else { recurse(depth - 1) };
    std::hint::black_box(&mut kept);
    names
}

#[test]
fn a_stack_without_frame_pointers_is_walked_to_the_thread_start() {
    let names = recurse(5);
    assert_eq!(names[0], "unwind::innermost");
    assert!(names[1..7].iter().all(|name| name == "unwind::recurse"), "{names:?}");
    assert_ne!(names[7], "unwind::recurse");
}

const C_SOURCE: &str = "int leaf(int a) { return a + 1; }\n\
                        int middle(int a) { return leaf(a) + 1; }\n\
                        int main(int a, char **b) { return middle(a) + 1; }";

/// A stack as a few words at an address.
struct Stack(HashMap<u64, u64>);

impl Stack {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let Some(word) = self.0.get(&address) else { return false };
        buffer.copy_from_slice(&word.to_le_bytes()[..buffer.len()]);
        true
    }
}

fn registers(rip: u64, rsp: u64, rbp: u64) -> Registers {
    let mut general = [0; 16];
    (general[4], general[5]) = (rsp, rbp);
    Registers::new(rip, general)
}

fn names(program: &Program, backtrace: &program::Backtrace) -> Vec<String> {
    let name = |address| program.locate(address).function.map(|function| function.name).unwrap_or_default();
    backtrace.frames.iter().map(|frame| name(frame.lookup)).collect()
}

/// leaf called by middle called by main, each with a frame pointer.
fn three_frames(program: &Program) -> (Registers, Stack) {
    let [leaf, middle, main] =
        ["leaf", "middle", "main"].map(|name| program.find_symbol(name).unwrap().address);
    let words = [(0x1000, 0x1020), (0x1008, middle + 12), (0x1020, 0x1040), (0x1028, main + 12)];
    (registers(leaf + 6, 0x1000, 0x1000), Stack(words.into_iter().collect()))
}

#[test]
fn without_call_frame_information_the_frame_pointers_are_followed() {
    let scratch = Scratch::new("pointers");
    let whole = scratch.compile("gcc", "pointers.c", C_SOURCE, &["-O0"]);
    let bare = scratch.path().join("bare");
    run(Command::new("objcopy").arg("--remove-section=.eh_frame").arg(&whole).arg(&bare));
    let program = open(&bare);
    let (start, stack) = three_frames(&program);
    let backtrace = program.backtrace(&start, 50, &mut |address, buffer| stack.read(address, buffer));
    assert_eq!(names(&program, &backtrace), ["leaf", "middle", "main"]);
    assert!(backtrace.frames[1..].iter().all(|frame| frame.rule == Rule::FramePointer));
    assert_eq!(backtrace.end, End::Unknown);
}

#[test]
fn call_frame_information_and_frame_pointers_agree() {
    let scratch = Scratch::new("agree");
    for options in [&["-O0"][..], &["-O0", "-g", "-fno-asynchronous-unwind-tables"]] {
        let program = open(&scratch.compile("gcc", "agree.c", C_SOURCE, options));
        let (start, stack) = three_frames(&program);
        let backtrace = program.backtrace(&start, 50, &mut |address, buffer| stack.read(address, buffer));
        assert_eq!(names(&program, &backtrace), ["leaf", "middle", "main"]);
        assert!(backtrace.frames[1..].iter().all(|frame| frame.rule == Rule::CallFrames), "{options:?}");
    }
}

#[test]
fn a_call_through_a_null_pointer_leads_back_to_its_caller() {
    let scratch = Scratch::new("null");
    let program = open(&scratch.compile("gcc", "null.c", C_SOURCE, &["-O0"]));
    let middle = program.find_symbol("middle").unwrap().address;
    let stack = Stack([(0x1000, middle + 12)].into_iter().collect());
    let start = registers(0, 0x1000, 0x1020);
    let backtrace = program.backtrace(&start, 50, &mut |address, buffer| stack.read(address, buffer));
    assert_eq!(names(&program, &backtrace), ["", "middle"]);
    assert_eq!(backtrace.frames[1].rule, Rule::BadCall);
}

#[test]
fn a_stack_that_leads_back_to_itself_ends_the_walk() {
    let scratch = Scratch::new("circle");
    let path = scratch.compile("gcc", "circle.c", C_SOURCE, &["-O0"]);
    let bare = scratch.path().join("bare");
    run(Command::new("objcopy").arg("--remove-section=.eh_frame").arg(&path).arg(&bare));
    for path in [&path, &bare] {
        let program = open(Path::new(path));
        let (start, mut stack) = three_frames(&program);
        stack.0.insert(0x1020, 0x1000);
        let mut reads = 0;
        let backtrace = program.backtrace(&start, 1_000_000, &mut |address, buffer| {
            reads += 1;
            stack.read(address, buffer)
        });
        assert_eq!(names(&program, &backtrace), ["leaf", "middle", "main"]);
        assert!(matches!(backtrace.end, End::Unknown | End::Broken));
        assert!(reads < 100);
    }
}

#[test]
fn no_more_frames_than_asked_for() {
    let scratch = Scratch::new("bound");
    let program = open(&scratch.compile("gcc", "bound.c", C_SOURCE, &["-O0"]));
    let (start, stack) = three_frames(&program);
    let backtrace = program.backtrace(&start, 2, &mut |address, buffer| stack.read(address, buffer));
    assert_eq!((backtrace.frames.len(), backtrace.end), (2, End::Bound));
}
