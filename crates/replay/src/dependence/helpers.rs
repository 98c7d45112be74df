//! Instructions that are helpers of the machine: what each does to values, for passes in both directions.

use std::ops::Range;

use lift::{Effects, Helper, Reg};

pub(super) enum Doing {
    /// Copies slots to memory, byte by byte: the loader saves vector registers around its own work, and others the x87 state
    /// when they change how it rounds.
    Saves(Box<dyn Iterator<Item = Copied>>),
    /// Copies them back. Those that are not restored stay what they are.
    Restores(Box<dyn Iterator<Item = Copied>>),
    Computes(Effects),
    /// Nothing that is followed.
    Nothing,
}

/// How far from the first a byte of memory is, and the slot and the byte of it that is there.
type Copied = (u64, Reg, u8);

impl Doing {
    pub fn of(helper: Helper) -> Doing {
        match helper {
            Helper::Fxsave => Doing::Saves(Box::new(vectors())),
            Helper::Fxrstor => Doing::Restores(Box::new(vectors())),
            Helper::Fnstenv => Doing::Saves(Box::new(x87(false))),
            Helper::Fnsave => Doing::Saves(Box::new(x87(true))),
            Helper::Fldenv => Doing::Restores(Box::new(x87(false))),
            Helper::Frstor => Doing::Restores(Box::new(x87(true))),
            Helper::Fninit => Doing::Nothing,
            Helper::Cpuid | Helper::Rdtsc | Helper::Rdtscp | Helper::Xgetbv => {
                Doing::Computes(helper.effects())
            }
        }
    }
}

/// Where the XMM registers are in what fxsave writes.
const SAVED_VECTORS: Range<u64> = 160..416;

fn vectors() -> impl Iterator<Item = Copied> {
    SAVED_VECTORS.map(|offset| {
        let place = offset - SAVED_VECTORS.start;
        let low = Reg::xmm((place / 16 % 16) as u8);
        let half = if place % 16 < 8 { low } else { low.high_half() };
        (offset, half, (place % 8) as u8)
    })
}

/// Where the bytes of the x87 state are in what fnstenv or fnsave stores: the offset, the slot, and the byte in it.
fn x87(with_registers: bool) -> impl Iterator<Item = Copied> {
    let control = (0..2).map(|byte| (u64::from(byte), Reg::X87_CONTROL, byte));
    let status = [(4, Reg::X87_FLAGS, 0), (5, Reg::X87_CODES, 1)];
    let registers = (0..8u8).filter(move |_| with_registers).flat_map(|n| {
        (0..10u8).map(move |byte| {
            let offset = lift::ENVIRONMENT_BYTES + 10 * u64::from(n) + u64::from(byte);
            match byte {
                0..8 => (offset, Reg::st(n), byte),
                _ => (offset, Reg::st(n).high_half(), byte - 8),
            }
        })
    });
    control.chain(status).chain(registers)
}
