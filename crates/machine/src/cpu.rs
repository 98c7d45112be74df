//! The registers.

use crate::flags::FlagRecord;
use lift::flags::{ARITHMETIC, DF};
use lift::x87::{CODES, FLAGS, IN_USE, INITIAL_CONTROL};
use lift::{Reg, SLOTS};

/// IF and the bit that is always one.
const INITIAL_SYSTEM_FLAGS: u64 = 1 << 9 | 1 << 1;
/// All exceptions masked, round to nearest.
const INITIAL_MXCSR: u64 = 0x1f80;

#[derive(Clone)]
#[repr(C)]
pub struct Cpu {
    /// Indexed by [`Reg`]; a byte indexes it without a check.
    pub regs: [u64; SLOTS],
    pub rip: u64,
}

impl Default for Cpu {
    fn default() -> Cpu {
        let mut cpu = Cpu { regs: [0; SLOTS], rip: 0 };
        cpu.set(Reg::SYSTEM_FLAGS, INITIAL_SYSTEM_FLAGS);
        cpu.set(Reg::MXCSR, INITIAL_MXCSR);
        cpu.set(Reg::X87_CONTROL, INITIAL_CONTROL);
        cpu
    }
}

impl Cpu {
    #[inline(always)]
    pub fn get(&self, reg: Reg) -> u64 {
        self.regs[reg.index()]
    }

    #[inline(always)]
    pub fn set(&mut self, reg: Reg, value: u64) {
        self.regs[reg.index()] = value;
    }

    /// The pair of slots that begins at `reg`.
    #[inline(always)]
    pub fn pair(&self, reg: Reg) -> u128 {
        self.get(reg) as u128 | (self.get(reg.high_half()) as u128) << 64
    }

    #[inline(always)]
    pub fn set_pair(&mut self, reg: Reg, value: u128) {
        self.set(reg, value as u64);
        self.set(reg.high_half(), (value >> 64) as u64);
    }

    pub fn xmm(&self, n: u8) -> u128 {
        self.pair(Reg::xmm(n))
    }

    pub fn set_xmm(&mut self, n: u8, value: u128) {
        self.set_pair(Reg::xmm(n), value);
    }

    /// The ten bytes of ST(n), whether it is empty or not.
    pub fn extended(&self, n: u8) -> u128 {
        self.pair(Reg::st(n)) & (u128::MAX >> 48)
    }

    /// Sets the ten bytes of ST(n), and whether it is in use.
    pub fn set_extended(&mut self, n: u8, value: u128, in_use: bool) {
        let tag = if in_use { IN_USE } else { 0 };
        self.set_pair(Reg::st(n), value & (u128::MAX >> 48) | u128::from(tag) << 64);
    }

    /// Whether ST(n) is in use.
    pub fn is_in_use(&self, n: u8) -> bool {
        self.get(Reg::st(n).high_half()) & IN_USE != 0
    }

    /// The x87 status word as fnstsw shows it.
    pub fn x87_status(&self) -> u16 {
        let status = (self.get(Reg::X87_FLAGS) | self.get(Reg::X87_CODES)) as u16;
        crate::x87::status_word(status, self.get(Reg::X87_CONTROL) as u16, self.get(Reg::X87_TOP))
    }

    /// A bit for each physical x87 register in use.
    pub fn x87_tags(&self) -> u8 {
        (0..8).filter(|&n| self.is_in_use(n)).fold(0, |tags, n| {
            let physical = (self.get(Reg::X87_TOP) + u64::from(n)) % 8;
            tags | 1 << physical
        })
    }

    /// Sets exception flags, condition codes and the number of the top. The registers stay with their numbers relative to the top.
    pub fn set_x87_status(&mut self, word: u16) {
        self.set(Reg::X87_FLAGS, u64::from(word) & FLAGS);
        self.set(Reg::X87_CODES, u64::from(word) & CODES);
        self.set(Reg::X87_TOP, u64::from(word) >> 11 & 7);
    }

    #[inline(always)]
    pub fn flag_record(&self) -> FlagRecord {
        FlagRecord {
            code: self.get(Reg::FLAG_KIND),
            a: self.get(Reg::FLAG_A),
            b: self.get(Reg::FLAG_B),
            c: self.get(Reg::FLAG_C),
        }
    }

    #[inline(always)]
    pub fn set_flag_record(&mut self, record: FlagRecord) {
        self.set(Reg::FLAG_KIND, record.code);
        self.set(Reg::FLAG_A, record.a);
        self.set(Reg::FLAG_B, record.b);
        self.set(Reg::FLAG_C, record.c);
    }

    /// RFLAGS as pushf shows it.
    pub fn rflags(&self) -> u64 {
        let direction = self.get(Reg::DIRECTION) << DF.trailing_zeros();
        self.flag_record().flags() | direction | self.get(Reg::SYSTEM_FLAGS)
    }

    pub fn set_rflags(&mut self, value: u64) {
        self.set_flag_record(FlagRecord::raw(value));
        self.set(Reg::DIRECTION, value >> DF.trailing_zeros() & 1);
        self.set(Reg::SYSTEM_FLAGS, value & !ARITHMETIC & !DF | 2);
    }

    /// What the processor does at a system call: the return address is left in rcx and the flags in r11.
    pub(crate) fn enter_kernel(&mut self, next: u64) {
        self.set(Reg::RCX, next);
        self.set(Reg::R11, self.rflags());
    }

    /// What a program can see of the registers, in a fixed order: the input of the state hash.
    /// The flag record is left out for the flags themselves, because two records can mean the
    /// same flags; temporaries are left out because they carry nothing between instructions.
    pub fn visible(&self) -> impl Iterator<Item = u64> + '_ {
        let general = (0..16).map(Reg::general);
        let vector = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
        let x87 = (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]);
        let other = [
            Reg::FS_BASE,
            Reg::GS_BASE,
            Reg::MXCSR,
            Reg::X87_CONTROL,
            Reg::X87_FLAGS,
            Reg::X87_CODES,
            Reg::X87_TOP,
        ];
        let slots = general.chain(vector).chain(x87).chain(other).map(|reg| self.get(reg));
        slots.chain([self.rflags(), self.rip])
    }
}
