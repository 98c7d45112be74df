//! The register file as ops see it: 256 slots of 64 bits.
//!
//! A slot number is a byte, so that an array of 256 slots is indexed without a bounds check.
//! An XMM register is two neighbouring slots, low half first, so that moves between the
//! integer and the vector side are ordinary moves.

use std::fmt;

/// One 64-bit slot of the register file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

/// How many slots a register file has.
pub const SLOTS: usize = 256;

impl Reg {
    pub const RAX: Reg = Reg(0);
    pub const RCX: Reg = Reg(1);
    pub const RDX: Reg = Reg(2);
    pub const RBX: Reg = Reg(3);
    pub const RSP: Reg = Reg(4);
    pub const RBP: Reg = Reg(5);
    pub const RSI: Reg = Reg(6);
    pub const RDI: Reg = Reg(7);
    pub const R8: Reg = Reg(8);
    pub const R9: Reg = Reg(9);
    pub const R10: Reg = Reg(10);
    pub const R11: Reg = Reg(11);
    pub const R12: Reg = Reg(12);
    pub const R13: Reg = Reg(13);
    pub const R14: Reg = Reg(14);
    pub const R15: Reg = Reg(15);
    pub const FS_BASE: Reg = Reg(16);
    pub const GS_BASE: Reg = Reg(17);
    /// Always zero; nothing writes it. Stands for an absent base, index or segment.
    pub const ZERO: Reg = Reg(18);
    /// The lazy flag record: a [`crate::FlagKind`] with its size, and its operands.
    pub const FLAG_KIND: Reg = Reg(19);
    pub const FLAG_A: Reg = Reg(20);
    pub const FLAG_B: Reg = Reg(21);
    /// Carry-in of adc and sbb, kept carry of inc and dec.
    pub const FLAG_C: Reg = Reg(22);
    /// The direction flag, 0 or 1.
    pub const DIRECTION: Reg = Reg(23);
    /// Bits of RFLAGS that are neither arithmetic nor direction (IF, AC, ID, bit 1), in place.
    pub const SYSTEM_FLAGS: Reg = Reg(24);
    pub const MXCSR: Reg = Reg(25);
    pub const X87_CONTROL: Reg = Reg(26);
    /// The exception flags and the stack fault, at their places in the x87 status word.
    pub const X87_FLAGS: Reg = Reg(27);
    /// The condition codes, likewise.
    pub const X87_CODES: Reg = Reg(28);
    /// The number of the physical register that ST(0) is.
    pub const X87_TOP: Reg = Reg(29);

    const FIRST_TEMP: u8 = 32;
    const TEMPS: u8 = 16;
    const FIRST_XMM: u8 = 64;
    /// Sixteen guest registers and four temporaries.
    const XMMS: u8 = 20;
    const FIRST_X87: u8 = 104;
    /// Eight guest registers and three temporaries.
    const X87S: u8 = 11;

    /// The n-th general register in encoding order (rax, rcx, rdx, rbx, rsp, …).
    pub const fn general(n: u8) -> Reg {
        assert!(n < 16);
        Reg(n)
    }

    /// The n-th temporary; temporaries live no longer than one guest instruction.
    pub const fn temp(n: u8) -> Reg {
        assert!(n < Self::TEMPS);
        Reg(Self::FIRST_TEMP + n)
    }

    /// The low half of XMM register n; 16 to 19 are temporaries.
    pub const fn xmm(n: u8) -> Reg {
        assert!(n < Self::XMMS);
        Reg(Self::FIRST_XMM + 2 * n)
    }

    /// The lower slot of ST(n).
    pub const fn st(n: u8) -> Reg {
        assert!(n < 8);
        Reg(Self::FIRST_X87 + 2 * n)
    }

    /// The n-th temporary of the form of an x87 register.
    pub const fn x87_temp(n: u8) -> Reg {
        assert!(8 + n < Self::X87S);
        Reg(Self::FIRST_X87 + 16 + 2 * n)
    }

    /// Whether this is one of the two slots of ST(n), for some n.
    #[inline]
    pub const fn is_st(self) -> bool {
        self.0 >= Self::FIRST_X87 && self.0 < Self::FIRST_X87 + 16
    }

    /// Whether this is a slot of an x87 register, or of a temporary of that form.
    #[inline]
    pub const fn is_x87(self) -> bool {
        self.0 >= Self::FIRST_X87 && self.0 < Self::FIRST_X87 + 2 * Self::X87S
    }

    /// The slot after this one: the high half of an XMM register, exponent and sign of an x87 register.
    #[inline]
    pub const fn high_half(self) -> Reg {
        Reg(self.0 + 1)
    }

    #[inline]
    pub const fn is_general(self) -> bool {
        self.0 < 16
    }

    #[inline]
    pub const fn is_temp(self) -> bool {
        (self.0 >= Self::FIRST_TEMP && self.0 < Self::FIRST_TEMP + Self::TEMPS)
            || (self.0 >= Self::FIRST_XMM + 32 && self.0 < Self::FIRST_XMM + 2 * Self::XMMS)
            || (self.0 >= Self::FIRST_X87 + 16 && self.0 < Self::FIRST_X87 + 2 * Self::X87S)
    }

    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

const GENERAL_NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0;
        match *self {
            Reg::FS_BASE => f.write_str("fs_base"),
            Reg::GS_BASE => f.write_str("gs_base"),
            Reg::ZERO => f.write_str("zero"),
            Reg::FLAG_KIND => f.write_str("flag_kind"),
            Reg::FLAG_A => f.write_str("flag_a"),
            Reg::FLAG_B => f.write_str("flag_b"),
            Reg::FLAG_C => f.write_str("flag_c"),
            Reg::DIRECTION => f.write_str("direction"),
            Reg::SYSTEM_FLAGS => f.write_str("system_flags"),
            Reg::MXCSR => f.write_str("mxcsr"),
            Reg::X87_CONTROL => f.write_str("x87_control"),
            Reg::X87_FLAGS => f.write_str("x87_flags"),
            Reg::X87_CODES => f.write_str("x87_codes"),
            Reg::X87_TOP => f.write_str("x87_top"),
            _ if n < 16 => f.write_str(GENERAL_NAMES[n as usize]),
            _ if (Reg::FIRST_TEMP..Reg::FIRST_TEMP + Reg::TEMPS).contains(&n) => {
                write!(f, "t{}", n - Reg::FIRST_TEMP)
            }
            _ if (Reg::FIRST_XMM..Reg::FIRST_XMM + 2 * Reg::XMMS).contains(&n) => {
                let half = if n.is_multiple_of(2) { "" } else { "h" };
                let k = (n - Reg::FIRST_XMM) / 2;
                if k < 16 { write!(f, "xmm{k}{half}") } else { write!(f, "xt{}{half}", k - 16) }
            }
            _ if (Reg::FIRST_X87..Reg::FIRST_X87 + 2 * Reg::X87S).contains(&n) => {
                let half = if n.is_multiple_of(2) { "" } else { "h" };
                let k = (n - Reg::FIRST_X87) / 2;
                if k < 8 { write!(f, "st{k}{half}") } else { write!(f, "ft{}{half}", k - 8) }
            }
            _ => write!(f, "slot{n}"),
        }
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
