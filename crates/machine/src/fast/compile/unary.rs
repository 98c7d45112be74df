//! Functions of one operand.

use super::super::Code;
use super::super::handlers as h;
use super::on;
use super::select::*;
use lift::{FlagKind, Op, Reg, Unary, Value};

pub(super) fn unary(ops: &[Op]) -> Option<Code> {
    Some(match *ops {
        [Op::Unary { function: Unary::Not, size, dst, src }] => {
            on(by_width!(size, W => h::not::<W>), dst, src)
        }
        [
            Op::Unary { function: Unary::Neg, size, dst: result, src },
            Op::Flags { kind: FlagKind::Sub, a: Reg::ZERO, .. },
            Op::Move { dst, src: moved },
        ] if moved == Value::Reg(result) && dst == src => on(by_width!(size, W => h::negate::<W>), dst, src),
        [
            Op::Unary { function: Unary::Neg, size, dst: result, src },
            Op::Flags { kind: FlagKind::Sub, a: Reg::ZERO, .. },
            Op::Insert { at: 0, dst, src: inserted, .. },
        ] if inserted == Value::Reg(result) && dst == src => {
            on(by_width!(size, W => h::negate_part::<W>), dst, src)
        }
        // tzcnt
        [
            Op::Unary { function: Unary::BitScanForward, size, dst: index, src },
            Op::IsZero { dst: is_zero, .. },
            Op::Move { src: Value::Const(_), .. },
            Op::Select { dst: result, condition, no, .. },
            Op::Flags { kind: FlagKind::SetZero, .. },
            Op::Flags { kind: FlagKind::SetCarry, .. },
            Op::Move { dst, src: moved },
        ] if condition == is_zero && no == index && moved == Value::Reg(result) => {
            on(by_width!(size, W => h::trailing_zeros::<W>), dst, src)
        }
        _ => return None,
    })
}
