//! What helpers read and write, for readers that cannot look into them.

use crate::{Helper, Reg};

/// The slots and the bytes at its address that a helper reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    pub reads: Vec<Reg>,
    pub writes: Vec<Reg>,
    /// How many bytes it reads at its address.
    pub loads: u64,
    /// How many bytes it writes at its address.
    pub stores: u64,
}

/// What fxsave writes of its 512 bytes: the last 96 are reserved or belong to software.
pub const FXSAVE_WRITTEN: u64 = 416;
/// The whole area of fxsave and fxrstor.
pub const FXSAVE_BYTES: u64 = 512;

impl Helper {
    pub fn effects(self) -> Effects {
        let (a, b, c, d) = (Reg::RAX, Reg::RBX, Reg::RCX, Reg::RDX);
        let none = Effects::default();
        match self {
            Helper::Cpuid => Effects { reads: vec![a, c], writes: vec![a, b, c, d], ..none },
            Helper::Rdtsc => Effects { writes: vec![a, d], ..none },
            Helper::Rdtscp => Effects { writes: vec![a, c, d], ..none },
            // It always faults.
            Helper::Xgetbv => none,
            Helper::Fxsave => Effects { reads: saved_state(), stores: FXSAVE_WRITTEN, ..none },
            Helper::Fxrstor => Effects { writes: saved_state(), loads: FXSAVE_BYTES, ..none },
        }
    }
}

/// MXCSR and both halves of the XMM registers.
fn saved_state() -> Vec<Reg> {
    let halves = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
    [Reg::MXCSR].into_iter().chain(halves).collect()
}
