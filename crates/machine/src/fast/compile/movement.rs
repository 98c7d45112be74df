//! Moves, extensions, loads, stores, and moves by condition.

use super::super::Code;
use super::super::handlers as h;
use super::super::parts::W8;
use super::select::*;
use super::{at, on, with_const};
use lift::{FlagKind, Op, Reg, Size, Value};

pub(super) fn movement(ops: &[Op]) -> Option<Code> {
    Some(match *ops {
        [Op::Move { dst, src: Value::Const(imm) }] => with_const(h::move_const, dst, imm),
        [Op::Move { dst, src: Value::Reg(src) }] => on(h::move_reg, dst, src),
        [Op::Move { dst, src: Value::Reg(src) }, Op::Move { dst: dst2, src: Value::Reg(src2) }]
            if is_pair(dst, dst2) && is_pair(src, src2) =>
        {
            on(h::move_pair, dst, src)
        }
        [Op::ZeroExtend { size, dst, src }, Op::Move { dst: high, src: Value::Const(0) }]
            if is_pair(dst, high) =>
        {
            on(by_width!(size, W => h::move_clear::<W>), dst, src)
        }
        [Op::Move { dst, src: Value::Reg(src) }, Op::Move { dst: high, src: Value::Const(0) }]
            if is_pair(dst, high) =>
        {
            on(h::move_clear::<W8>, dst, src)
        }
        [Op::Move { dst, src: Value::Const(0) }, Op::Move { dst: high, src: Value::Const(0) }]
            if is_pair(dst, high) =>
        {
            on(h::move_clear::<W8>, dst, Reg::ZERO)
        }
        [Op::Move { dst, src: Value::Const(0) }, Op::Flags { kind: FlagKind::Logic, a: Reg::ZERO, .. }] => {
            on(h::clear, dst, dst)
        }
        [Op::ZeroExtend { size, dst, src }] => on(by_width!(size, W => h::zero_extend::<W>), dst, src),
        [Op::SignExtend { from, to, dst, src }] => {
            on(by_width!(from, F => by_width!(to, T => h::sign_extend_reg::<F, T>)), dst, src)
        }
        [Op::Insert { size, at: 0, dst, src: Value::Reg(src) }] => {
            on(by_width!(size, W => h::insert::<W>), dst, src)
        }
        [Op::Insert { size, at: 0, dst, src: Value::Const(imm) }] => {
            with_const(by_width!(size, W => h::insert_const::<W>), dst, imm & size.mask())
        }
        [Op::Lea { size, dst, address }] => {
            at(&address, on(by_width!(size, W => by_mode!(&address, size, M => h::lea::<W, M>)), dst, dst))
        }
        [Op::Load { size, dst, address }] => {
            at(&address, on(by_width!(size, W => by_mode!(&address, size, M => h::load::<W, M>)), dst, dst))
        }
        [Op::Load { dst: loaded, address, .. }, Op::SignExtend { from, to, dst, src }] if src == loaded => {
            let handler = by_width!(from, F => by_width!(to, T => by_mode!(&address, from, M => h::load_signed::<F, T, M>)));
            at(&address, on(handler, dst, dst))
        }
        [Op::Load { size, dst: loaded, address }, Op::Insert { at: 0, dst, src, .. }]
            if src == Value::Reg(loaded) =>
        {
            at(
                &address,
                on(by_width!(size, W => by_mode!(&address, size, M => h::load_insert::<W, M>)), dst, dst),
            )
        }
        [Op::Store { size, src: Value::Reg(src), address }] => {
            at(&address, on(by_width!(size, W => by_mode!(&address, size, M => h::store::<W, M>)), src, src))
        }
        [Op::Store { size, src: Value::Const(imm), address }] => {
            let handler = by_width!(size, W => by_mode!(&address, size, M => h::store_const::<W, M>));
            at(&address, with_const(handler, Reg::ZERO, imm))
        }
        [Op::LoadVector { dst, address, aligned }] => {
            let handler = by_mode!(&address, Size::B8, M => h::load_pair::<M>);
            at(&address, with_const(handler, dst, alignment_mask(aligned)))
        }
        [Op::StoreVector { src, address, aligned }] => {
            let handler = by_mode!(&address, Size::B8, M => h::store_pair::<M>);
            at(&address, with_const(handler, src, alignment_mask(aligned)))
        }
        [Op::Load { size, dst, address }, Op::Move { dst: high, src: Value::Const(0) }]
            if is_pair(dst, high) =>
        {
            at(
                &address,
                on(by_width!(size, W => by_mode!(&address, size, M => h::load_clear::<W, M>)), dst, dst),
            )
        }
        [Op::Test { condition, dst: bit }, Op::Insert { size: Size::B1, at: 0, dst, src }]
            if src == Value::Reg(bit) =>
        {
            on(by_condition!(condition, D => h::set_condition::<D>), dst, dst)
        }
        [Op::Test { condition, dst: bit }, Op::Select { size, dst, condition: chosen_by, yes, no }]
            if chosen_by == bit && no == dst =>
        {
            on(by_condition!(condition, D => by_width!(size, W => h::select::<W, D>)), dst, yes)
        }
        _ => return None,
    })
}

fn is_pair(low: Reg, high: Reg) -> bool {
    low.0 >= Reg::xmm(0).0 && low.0.is_multiple_of(2) && high == low.high_half()
}

pub(super) fn alignment_mask(aligned: bool) -> u64 {
    if aligned { 15 } else { 0 }
}
