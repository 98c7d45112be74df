//! The registers that both sides are compared by.

use std::fmt;

use super::ptrace::{user_fpregs_struct, user_regs_struct};

/// The bits of RFLAGS that a program can see and set: the arithmetic ones, DF, NT, AC and ID.
/// TF belongs to the stepper, RF and IF to the kernel.
pub const PROGRAM_FLAGS: u64 = 0x0024_4cd5;
pub const TRAP_FLAG: u64 = 0x100;

const GENERAL_NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

/// One side's registers after an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// In encoding order: rax, rcx, rdx, rbx, rsp, …
    pub general: [u64; 16],
    pub rip: u64,
    /// Only [`PROGRAM_FLAGS`].
    pub flags: u64,
    pub fs_base: u64,
    pub gs_base: u64,
    pub xmm: [u128; 16],
    pub mxcsr: u32,
    pub x87: X87,
}

/// The registers of the x87 unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct X87 {
    pub control: u16,
    pub status: u16,
    /// A bit for each physical register in use.
    pub tags: u8,
    /// From the top of the stack on.
    pub stack: [u128; 8],
}

/// A register or a piece of memory on which the sides disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub what: String,
    pub machine: String,
    pub native: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: machine {}, native {}", self.what, self.machine, self.native)
    }
}

impl State {
    pub fn native(registers: &user_regs_struct, float: &user_fpregs_struct) -> State {
        State {
            general: general(registers),
            rip: registers.rip,
            flags: registers.eflags & PROGRAM_FLAGS,
            fs_base: registers.fs_base,
            gs_base: registers.gs_base,
            xmm: xmm(float),
            mxcsr: float.mxcsr,
            x87: x87(float),
        }
    }

    /// Everything in which `machine` differs from `native`, flags in `ignored` left out.
    pub fn differences(machine: &State, native: &State, ignored_flags: u64) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut word = |what: &str, machine: u64, native: u64| {
            if machine != native {
                found.push(difference(what.to_owned(), format!("{machine:#x}"), format!("{native:#x}")));
            }
        };
        word("rip", machine.rip, native.rip);
        for (index, name) in GENERAL_NAMES.iter().enumerate() {
            word(name, machine.general[index], native.general[index]);
        }
        word("fs_base", machine.fs_base, native.fs_base);
        word("gs_base", machine.gs_base, native.gs_base);
        word("mxcsr", machine.mxcsr.into(), native.mxcsr.into());
        word("x87 control word", machine.x87.control.into(), native.x87.control.into());
        word("x87 status word", machine.x87.status.into(), native.x87.status.into());
        word("x87 tags", machine.x87.tags.into(), native.x87.tags.into());
        if (machine.flags ^ native.flags) & !ignored_flags != 0 {
            found.push(difference(
                "flags".to_owned(),
                flag_names(machine.flags & !ignored_flags),
                flag_names(native.flags & !ignored_flags),
            ));
        }
        for (index, (machine, native)) in machine.xmm.iter().zip(&native.xmm).enumerate() {
            if machine != native {
                found.push(difference(
                    format!("xmm{index}"),
                    format!("{machine:#034x}"),
                    format!("{native:#034x}"),
                ));
            }
        }
        for (index, (machine, native)) in machine.x87.stack.iter().zip(&native.x87.stack).enumerate() {
            if machine != native {
                found.push(difference(
                    format!("st{index}"),
                    format!("{machine:#022x}"),
                    format!("{native:#022x}"),
                ));
            }
        }
        found
    }
}

/// The general registers in encoding order.
pub fn general(registers: &user_regs_struct) -> [u64; 16] {
    let r = registers;
    [
        r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
        r.r14, r.r15,
    ]
}

/// The inverse of [`general`].
pub fn set_general(registers: &mut user_regs_struct, general: &[u64; 16]) {
    let r = registers;
    [
        r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
        r.r14, r.r15,
    ] = *general;
}

fn xmm(float: &user_fpregs_struct) -> [u128; 16] {
    let mut values = [0; 16];
    for (value, words) in values.iter_mut().zip(float.xmm_space.chunks_exact(4)) {
        *value = words.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word));
    }
    values
}

fn x87(float: &user_fpregs_struct) -> X87 {
    let mut stack = [0; 8];
    for (value, words) in stack.iter_mut().zip(float.st_space.chunks_exact(4)) {
        let whole = words.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word));
        *value = whole & (u128::MAX >> 48);
    }
    X87 { control: float.cwd, status: float.swd, tags: float.ftw as u8, stack }
}

fn difference(what: String, machine: String, native: String) -> Difference {
    Difference { what, machine, native }
}

/// `[CF ZF]`
fn flag_names(flags: u64) -> String {
    const NAMES: [(u64, &str); 10] = [
        (1 << 0, "CF"),
        (1 << 2, "PF"),
        (1 << 4, "AF"),
        (1 << 6, "ZF"),
        (1 << 7, "SF"),
        (1 << 10, "DF"),
        (1 << 11, "OF"),
        (1 << 14, "NT"),
        (1 << 18, "AC"),
        (1 << 21, "ID"),
    ];
    let set: Vec<&str> = NAMES.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect();
    format!("[{}]", set.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zero() -> State {
        State {
            general: [0; 16],
            rip: 0,
            flags: 0,
            fs_base: 0,
            gs_base: 0,
            xmm: [0; 16],
            mxcsr: 0,
            x87: X87::default(),
        }
    }

    #[test]
    fn every_kind_of_register_is_compared() {
        let mut other = zero();
        other.general = [1; 16];
        other.rip = 1;
        other.flags = PROGRAM_FLAGS;
        other.fs_base = 1;
        other.gs_base = 1;
        other.xmm = [1 << 127; 16];
        other.mxcsr = 1;
        other.x87 = X87 { control: 1, status: 1, tags: 1, stack: [1 << 79; 8] };
        assert_eq!(State::differences(&zero(), &other, 0).len(), 16 + 1 + 1 + 2 + 16 + 1 + 3 + 8);
        assert_eq!(State::differences(&zero(), &zero(), 0), []);
    }

    #[test]
    fn ignored_flags_hide_only_themselves() {
        let mut other = zero();
        other.flags = 0b101;
        assert_eq!(State::differences(&zero(), &other, 0b101), []);
        let found = State::differences(&zero(), &other, 0b100);
        assert_eq!(found[0].to_string(), "flags: machine [], native [CF]");
    }

    #[test]
    fn names_of_all_compared_flags_are_known() {
        assert_eq!(flag_names(PROGRAM_FLAGS), "[CF PF AF ZF SF DF OF NT AC ID]");
    }
}
