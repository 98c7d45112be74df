//! The arithmetic flags at their places in RFLAGS.

pub const CF: u64 = 1 << 0;
pub const PF: u64 = 1 << 2;
pub const AF: u64 = 1 << 4;
pub const ZF: u64 = 1 << 6;
pub const SF: u64 = 1 << 7;
pub const OF: u64 = 1 << 11;
/// The six arithmetic flags.
pub const ARITHMETIC: u64 = CF | PF | AF | ZF | SF | OF;
pub const DF: u64 = 1 << 10;
