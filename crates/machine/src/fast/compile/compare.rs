//! Comparisons, alone and fused with the jump that they decide.

use super::super::Code;
use super::super::handlers as h;
use super::select::*;
use super::{at, on, with_const};
use lift::{Address, Binary, FlagKind, Op, Reg, Size, Value};

/// A comparison fused with the conditional jump that follows it.
pub(super) fn with_branch(ops: &[Op], next: &[Op]) -> Option<Code> {
    let &[Op::Test { condition, dst }, Op::Branch { condition: bit, .. }] = next else { return None };
    if dst != bit {
        return None;
    }
    let comparison = comparison(ops)?;
    Some(match comparison {
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_comparison!(condition, D => by_common_width!(size, W => h::compare_branch::<D, W>)), a, b)
        }
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Const(b) } => with_const(
            by_comparison!(condition, D => by_common_width!(size, W => h::compare_const_branch::<D, W>)),
            a,
            b,
        ),
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Memory(address) } => {
            let handler = by_comparison!(condition, D => by_common_width!(size, W => by_common_mode!(&address, size, M => h::compare_load_branch::<D, W, M>)));
            at(&address, on(handler, a, a))
        }
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Reg(b) } => {
            let handler = by_comparison!(condition, D => by_common_width!(size, W => by_common_mode!(&address, size, M => h::compare_memory_branch::<D, W, M>)));
            at(&address, on(handler, b, b))
        }
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Const(b) } => {
            let handler = by_comparison!(condition, D => by_common_width!(size, W => by_common_mode!(&address, size, M => h::compare_memory_const_branch::<D, W, M>)));
            at(&address, with_const(handler, Reg::ZERO, b))
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_comparison!(condition, D => by_common_width!(size, W => h::test_branch::<D, W>)), a, b)
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Const(b) } => with_const(
            by_comparison!(condition, D => by_common_width!(size, W => h::test_const_branch::<D, W>)),
            a,
            b,
        ),
        _ => return None,
    })
}

/// cmp and test: what they compare, and how.
enum Comparison {
    Sub { size: Size, a: Side, b: Side },
    And { size: Size, a: Side, b: Side },
}

enum Side {
    Reg(Reg),
    Const(u64),
    Memory(Address),
}

impl From<Value> for Side {
    fn from(value: Value) -> Side {
        match value {
            Value::Reg(reg) => Side::Reg(reg),
            Value::Const(constant) => Side::Const(constant),
        }
    }
}

fn comparison(ops: &[Op]) -> Option<Comparison> {
    use FlagKind::{Logic, Sub};
    Some(match *ops {
        [Op::Flags { kind: Sub, size, a, b, .. }] => Comparison::Sub { size, a: Side::Reg(a), b: b.into() },
        [Op::Load { size, dst, address }, Op::Flags { kind: Sub, a, b, .. }] if b == Value::Reg(dst) => {
            Comparison::Sub { size, a: Side::Reg(a), b: Side::Memory(address) }
        }
        [Op::Load { size, dst, address }, Op::Flags { kind: Sub, a, b, .. }] if a == dst => {
            Comparison::Sub { size, a: Side::Memory(address), b: b.into() }
        }
        [Op::Flags { kind: Logic, size, a, .. }] => {
            Comparison::And { size, a: Side::Reg(a), b: Side::Reg(a) }
        }
        [Op::Binary { function: Binary::And, size, dst, a, b }, Op::Flags { kind: Logic, a: result, .. }]
            if result == dst && dst.is_temp() =>
        {
            Comparison::And { size, a: Side::Reg(a), b: b.into() }
        }
        [
            Op::Load { size, dst: loaded, address },
            Op::Binary { function: Binary::And, dst, a, b: Value::Const(b), .. },
            Op::Flags { kind: Logic, a: result, .. },
        ] if a == loaded && result == dst => {
            Comparison::And { size, a: Side::Memory(address), b: Side::Const(b) }
        }
        _ => return None,
    })
}

/// A comparison by itself.
pub(super) fn compare(ops: &[Op]) -> Option<Code> {
    Some(match comparison(ops)? {
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_width!(size, W => h::compare::<W>), a, b)
        }
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Const(b) } => {
            with_const(by_width!(size, W => h::compare_const::<W>), a, b)
        }
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Memory(address) } => at(
            &address,
            on(by_width!(size, W => by_mode!(&address, size, M => h::compare_load::<W, M>)), a, a),
        ),
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Reg(b) } => at(
            &address,
            on(by_width!(size, W => by_mode!(&address, size, M => h::compare_memory::<W, M>)), b, b),
        ),
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Const(b) } => {
            let handler =
                by_width!(size, W => by_mode!(&address, size, M => h::compare_memory_const::<W, M>));
            at(&address, with_const(handler, Reg::ZERO, b))
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_width!(size, W => h::test::<W>), a, b)
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Const(b) } => {
            with_const(by_width!(size, W => h::test_const::<W>), a, b)
        }
        Comparison::And { size, a: Side::Memory(address), b: Side::Const(b) } => {
            let handler = by_width!(size, W => by_mode!(&address, size, M => h::test_memory_const::<W, M>));
            at(&address, with_const(handler, Reg::ZERO, b))
        }
        _ => return None,
    })
}
