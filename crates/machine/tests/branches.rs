//! Jumps, sets and conditional moves that are decided by an earlier instruction of their block, with others in between: every function that sets
//! flags, at every size, with every condition and operands from the corners, by both executors.

mod common;

use common::*;
use lift::Reg;
use machine::*;

const VALUES: [u64; 8] =
    [0, 1, 0x7f, 0x80, 0x7fff_ffff, 0x8000_0000, 0x8000_0000_0000_0000, 0xffff_ffff_ffff_ffff];

/// The opcode of each with a register and a register or memory, at 32 bits.
const FUNCTIONS: [(&str, u8); 8] = [
    ("add", 0x01),
    ("or", 0x09),
    ("adc", 0x11),
    ("sbb", 0x19),
    ("and", 0x21),
    ("sub", 0x29),
    ("xor", 0x31),
    ("cmp", 0x39),
];

/// `function eax, edx` at a size.
fn function(opcode: u8, bytes: u8) -> Vec<u8> {
    const EAX_EDX: u8 = 0xd0;
    match bytes {
        1 => vec![opcode - 1, EAX_EDX],
        2 => vec![0x66, opcode, EAX_EDX],
        4 => vec![opcode, EAX_EDX],
        _ => vec![0x48, opcode, EAX_EDX],
    }
}

/// What is between the function and the use of its flags: nothing, a move, or an instruction that replaces some flags.
const BETWEEN: [(&str, &[u8]); 4] =
    [("nothing", &[]), ("mov esi, edx", &[0x89, 0xd6]), ("stc", &[0xf9]), ("shl esi, cl", &[0xd3, 0xe6])];

/// setcc bl; cmovcc edi, ecx; jcc over `mov ecx, 1`; a system call.
fn uses(condition: u8) -> Vec<u8> {
    let mut code = vec![0x0f, 0x90 | condition, 0xc3, 0x0f, 0x40 | condition, 0xf9];
    code.extend([0x70 | condition, 5, 0xb9, 1, 0, 0, 0, 0x0f, 0x05]);
    code
}

fn outcome(mut machine: Machine, watched: bool) -> (Stop, Time, u64, u64) {
    let stop = run(&mut machine, Time(20), watched);
    (stop, machine.time, machine.state_hash(), machine.cpu.rip)
}

#[test]
fn what_flags_decide_is_the_same_by_both_executors() {
    for (name, opcode) in FUNCTIONS {
        for bytes in [1, 2, 4, 8] {
            for (number, (between, filler)) in BETWEEN.into_iter().enumerate() {
                for condition in 0..16 {
                    let code = [function(opcode, bytes), filler.to_vec(), uses(condition)].concat();
                    let mut machine = machine_with(&code, Permissions::RX);
                    for (n, a) in VALUES.into_iter().enumerate() {
                        // Each value meets each other over the conditions and fillers.
                        let b = VALUES[(n * 3 + number + usize::from(condition)) % VALUES.len()];
                        machine.cpu.set(Reg::RAX, a);
                        machine.cpu.set(Reg::RDX, b);
                        machine.cpu.set(Reg::RCX, (n % 3) as u64);
                        let fast = outcome(machine.fork(), false);
                        let watched = outcome(machine.fork(), true);
                        assert_eq!(
                            fast, watched,
                            "{name} of {bytes} bytes, {between}, condition {condition}, {a:#x} {b:#x}"
                        );
                    }
                }
            }
        }
    }
}
