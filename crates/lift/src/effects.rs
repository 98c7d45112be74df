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
/// What fnstenv stores.
pub const ENVIRONMENT_BYTES: u64 = 28;
/// What fnsave stores: the environment and eight registers.
pub const FNSAVE_BYTES: u64 = 108;
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
            // Where the top changes, registers move.
            Helper::Fninit => Effects { reads: x87_state(), writes: x87_state(), ..none },
            Helper::Fnstenv => {
                let writes = vec![Reg::X87_CONTROL];
                Effects { reads: x87_state(), writes, stores: ENVIRONMENT_BYTES, ..none }
            }
            Helper::Fldenv => {
                Effects { reads: x87_state(), writes: x87_state(), loads: ENVIRONMENT_BYTES, ..none }
            }
            Helper::Fnsave => {
                Effects { reads: x87_state(), writes: x87_state(), stores: FNSAVE_BYTES, ..none }
            }
            Helper::Frstor => Effects { writes: x87_state(), loads: FNSAVE_BYTES, ..none },
        }
    }
}

/// MXCSR, both halves of the XMM registers, and the x87 state.
fn saved_state() -> Vec<Reg> {
    let halves = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
    [Reg::MXCSR].into_iter().chain(halves).chain(x87_state()).collect()
}

fn x87_state() -> Vec<Reg> {
    let registers = (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]);
    let words = [Reg::X87_CONTROL, Reg::X87_FLAGS, Reg::X87_CODES, Reg::X87_TOP];
    words.into_iter().chain(registers).collect()
}
