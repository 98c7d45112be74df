//! From plain ops to codes, instruction by instruction, by pattern.

use super::handlers as h;
use super::parts::*;
use super::{Code, Handler};
use crate::block::Block;
use lift::{Address, Binary, Condition, FlagKind, Op, Reg, Size, Value};

/// The codes of a block and, for each, the index of the instruction that it begins with.
pub fn compile(block: &Block) -> (Vec<Code>, Vec<u16>) {
    let mut codes = Vec::with_capacity(block.instructions.len() + 1);
    let mut origins = Vec::with_capacity(block.instructions.len() + 1);
    let mut index = 0;
    let mut ended = false;
    while let Some(instruction) = block.instructions.get(index) {
        let ops = block.ops_of(instruction);
        let next = block.instructions.get(index + 1).map(|next| block.ops_of(next));
        if let Some(code) = next.and_then(|next| with_branch(ops, next)) {
            codes.push(code);
            origins.push(index as u16);
            ended = true;
            break;
        }
        if !ops.is_empty() {
            let code = control(ops).or_else(|| straight(ops)).unwrap_or_else(|| plain(ops));
            codes.push(code);
            origins.push(index as u16);
            ended = ends(ops);
        }
        index += 1;
    }
    if !ended {
        codes.push(code(h::fall_through));
        // If it ever bailed, it would be after the last instruction.
        origins.push(block.instructions.len() as u16);
    }
    (codes, origins)
}

fn ends(ops: &[Op]) -> bool {
    matches!(
        ops.last(),
        Some(
            Op::Jump { .. }
                | Op::Call { .. }
                | Op::Return { .. }
                | Op::Branch { .. }
                | Op::Syscall
                | Op::Trap(_)
                | Op::Unsupported
        )
    )
}

fn code(handler: Handler) -> Code {
    Code { handler, a: 0, b: 0, c: 0, d: 0, e: 0, f: 0, count: 0, displacement: 0, imm: 0 }
}

/// `a` and `f` in a fresh code.
fn on(handler: Handler, a: Reg, f: Reg) -> Code {
    Code { a: a.0, f: f.0, ..code(handler) }
}

fn with_const(handler: Handler, a: Reg, imm: u64) -> Code {
    Code { a: a.0, imm, ..code(handler) }
}

fn at(address: &Address, code: Code) -> Code {
    Code {
        b: address.base.0,
        c: address.index.0,
        d: address.shift,
        e: address.segment.0,
        displacement: address.displacement,
        ..code
    }
}

/// Makes a code that runs the ops themselves.
fn plain(ops: &[Op]) -> Code {
    let needs_machine =
        |op: &Op| matches!(op, Op::Syscall | Op::Trap(_) | Op::Unsupported | Op::Helper { .. });
    if ops.iter().any(needs_machine) {
        return code(h::refuse);
    }
    Code { imm: ops.as_ptr() as usize as u64, count: ops.len() as u16, ..code(h::plain) }
}

#[derive(Clone, Copy)]
enum ModeKind {
    Based,
    Indexed,
    Segmented,
}

fn mode(address: &Address) -> Option<ModeKind> {
    match address {
        Address { narrow: true, .. } => None,
        Address { segment: Reg::ZERO, index: Reg::ZERO, .. } => Some(ModeKind::Based),
        Address { segment: Reg::ZERO, .. } => Some(ModeKind::Indexed),
        _ => Some(ModeKind::Segmented),
    }
}

// From a value to a type parameter: each macro binds a type to a name in an expression.

macro_rules! by_width {
    ($size:expr, $w:ident => $body:expr) => {
        match $size {
            Size::B1 => {
                type $w = W1;
                $body
            }
            Size::B2 => {
                type $w = W2;
                $body
            }
            Size::B4 => {
                type $w = W4;
                $body
            }
            Size::B8 => {
                type $w = W8;
                $body
            }
        }
    };
}

macro_rules! by_mode {
    ($address:expr, $m:ident => $body:expr) => {
        match mode($address)? {
            ModeKind::Based => {
                type $m = Based;
                $body
            }
            ModeKind::Indexed => {
                type $m = Indexed;
                $body
            }
            ModeKind::Segmented => {
                type $m = Segmented;
                $body
            }
        }
    };
}

/// The functions whose flags are recorded from operands or result at once.
macro_rules! by_function {
    ($function:expr, $f:ident => $body:expr) => {
        match $function {
            Binary::Add => {
                type $f = Add;
                $body
            }
            Binary::Sub => {
                type $f = Sub;
                $body
            }
            Binary::And => {
                type $f = And;
                $body
            }
            Binary::Or => {
                type $f = Or;
                $body
            }
            Binary::Xor => {
                type $f = Xor;
                $body
            }
            Binary::Shl => {
                type $f = Shl;
                $body
            }
            Binary::Shr => {
                type $f = Shr;
                $body
            }
            Binary::Sar => {
                type $f = Sar;
                $body
            }
            _ => return None,
        }
    };
}

macro_rules! by_condition {
    ($condition:expr, $d:ident => $body:expr) => {
        match $condition {
            Condition::Overflow => {
                type $d = Overflow;
                $body
            }
            Condition::NotOverflow => {
                type $d = NotOverflow;
                $body
            }
            Condition::Below => {
                type $d = Below;
                $body
            }
            Condition::AboveOrEqual => {
                type $d = AboveOrEqual;
                $body
            }
            Condition::Equal => {
                type $d = Equal;
                $body
            }
            Condition::NotEqual => {
                type $d = NotEqual;
                $body
            }
            Condition::BelowOrEqual => {
                type $d = BelowOrEqual;
                $body
            }
            Condition::Above => {
                type $d = Above;
                $body
            }
            Condition::Sign => {
                type $d = Sign;
                $body
            }
            Condition::NotSign => {
                type $d = NotSign;
                $body
            }
            Condition::Parity => {
                type $d = Parity;
                $body
            }
            Condition::NotParity => {
                type $d = NotParity;
                $body
            }
            Condition::Less => {
                type $d = Less;
                $body
            }
            Condition::GreaterOrEqual => {
                type $d = GreaterOrEqual;
                $body
            }
            Condition::LessOrEqual => {
                type $d = LessOrEqual;
                $body
            }
            Condition::Greater => {
                type $d = Greater;
                $body
            }
        }
    };
}

/// A comparison fused with the conditional jump that follows it.
fn with_branch(ops: &[Op], next: &[Op]) -> Option<Code> {
    let &[Op::Test { condition, dst }, Op::Branch { condition: bit, .. }] = next else { return None };
    if dst != bit {
        return None;
    }
    let comparison = comparison(ops)?;
    Some(match comparison {
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_condition!(condition, D => by_width!(size, W => h::compare_branch::<D, W>)), a, b)
        }
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Const(b) } => with_const(
            by_condition!(condition, D => by_width!(size, W => h::compare_const_branch::<D, W>)),
            a,
            b,
        ),
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Memory(address) } => {
            let handler = by_condition!(condition, D => by_width!(size, W => by_mode!(&address, M => h::compare_load_branch::<D, W, M>)));
            at(&address, on(handler, a, a))
        }
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Reg(b) } => {
            let handler = by_condition!(condition, D => by_width!(size, W => by_mode!(&address, M => h::compare_memory_branch::<D, W, M>)));
            at(&address, on(handler, b, b))
        }
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Const(b) } => {
            let handler = by_condition!(condition, D => by_width!(size, W => by_mode!(&address, M => h::compare_memory_const_branch::<D, W, M>)));
            at(&address, with_const(handler, Reg::ZERO, b))
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_condition!(condition, D => by_width!(size, W => h::test_branch::<D, W>)), a, b)
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Const(b) } => with_const(
            by_condition!(condition, D => by_width!(size, W => h::test_const_branch::<D, W>)),
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
fn compare(ops: &[Op]) -> Option<Code> {
    Some(match comparison(ops)? {
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_width!(size, W => h::compare::<W>), a, b)
        }
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Const(b) } => {
            with_const(by_width!(size, W => h::compare_const::<W>), a, b)
        }
        Comparison::Sub { size, a: Side::Reg(a), b: Side::Memory(address) } => {
            at(&address, on(by_width!(size, W => by_mode!(&address, M => h::compare_load::<W, M>)), a, a))
        }
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Reg(b) } => {
            at(&address, on(by_width!(size, W => by_mode!(&address, M => h::compare_memory::<W, M>)), b, b))
        }
        Comparison::Sub { size, a: Side::Memory(address), b: Side::Const(b) } => {
            let handler = by_width!(size, W => by_mode!(&address, M => h::compare_memory_const::<W, M>));
            at(&address, with_const(handler, Reg::ZERO, b))
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Reg(b) } => {
            on(by_width!(size, W => h::test::<W>), a, b)
        }
        Comparison::And { size, a: Side::Reg(a), b: Side::Const(b) } => {
            with_const(by_width!(size, W => h::test_const::<W>), a, b)
        }
        Comparison::And { size, a: Side::Memory(address), b: Side::Const(b) } => {
            let handler = by_width!(size, W => by_mode!(&address, M => h::test_memory_const::<W, M>));
            at(&address, with_const(handler, Reg::ZERO, b))
        }
        _ => return None,
    })
}

const STACK_TOP: Address = Address::register(Reg::RSP);
/// Where a push stores.
const NEW_TOP: Address = Address::offset(Reg::RSP, -8);
const FRAME: Address = Address::register(Reg::RBP);

/// Instructions that end a block.
fn control(ops: &[Op]) -> Option<Code> {
    Some(match *ops {
        [Op::Jump { target: Value::Const(_) }] => code(h::jump),
        [Op::Jump { target: Value::Reg(f) }] => on(h::jump_reg, f, f),
        [Op::Load { dst, address, .. }, Op::Jump { target }] if target == Value::Reg(dst) => {
            at(&address, code(by_mode!(&address, M => h::jump_load::<M>)))
        }
        [
            Op::Store { src: Value::Const(imm), address: NEW_TOP, size: Size::B8 },
            Op::Binary { dst: Reg::RSP, .. },
            Op::Call { target, .. },
        ] => match target {
            Value::Const(_) => with_const(h::call, Reg::ZERO, imm),
            Value::Reg(f) => Code { f: f.0, ..with_const(h::call_reg, Reg::ZERO, imm) },
        },
        [
            Op::Load { dst, address, .. },
            Op::Store { src: Value::Const(imm), address: NEW_TOP, size: Size::B8 },
            Op::Binary { dst: Reg::RSP, .. },
            Op::Call { target, .. },
        ] if target == Value::Reg(dst) => {
            at(&address, with_const(by_mode!(&address, M => h::call_load::<M>), Reg::ZERO, imm))
        }
        [
            Op::Load { size: Size::B8, dst, address: STACK_TOP },
            Op::Binary { function: Binary::Add, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(imm), .. },
            Op::Return { target },
        ] if dst == target => with_const(h::ret, Reg::ZERO, imm),
        [Op::Test { condition, dst }, Op::Branch { condition: bit, .. }] if dst == bit => {
            code(by_condition!(condition, D => h::branch::<D>))
        }
        _ => return None,
    })
}

/// Instructions after which the next one follows.
fn straight(ops: &[Op]) -> Option<Code> {
    movement(ops).or_else(|| compare(ops)).or_else(|| arithmetic(ops)).or_else(|| stack(ops))
}

fn movement(ops: &[Op]) -> Option<Code> {
    Some(match *ops {
        [Op::Move { dst, src: Value::Const(imm) }] => with_const(h::move_const, dst, imm),
        [Op::Move { dst, src: Value::Reg(src) }] => on(h::move_reg, dst, src),
        [Op::Move { dst, src: Value::Reg(src) }, Op::Move { dst: dst2, src: Value::Reg(src2) }]
            if is_pair(dst, dst2) && is_pair(src, src2) =>
        {
            on(h::move_pair, dst, src)
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
            at(&address, on(by_width!(size, W => by_mode!(&address, M => h::lea::<W, M>)), dst, dst))
        }
        [Op::Load { size, dst, address }] => {
            at(&address, on(by_width!(size, W => by_mode!(&address, M => h::load::<W, M>)), dst, dst))
        }
        [Op::Load { dst: loaded, address, .. }, Op::SignExtend { from, to, dst, src }] if src == loaded => {
            let handler =
                by_width!(from, F => by_width!(to, T => by_mode!(&address, M => h::load_signed::<F, T, M>)));
            at(&address, on(handler, dst, dst))
        }
        [Op::Load { size, dst: loaded, address }, Op::Insert { at: 0, dst, src, .. }]
            if src == Value::Reg(loaded) =>
        {
            at(&address, on(by_width!(size, W => by_mode!(&address, M => h::load_insert::<W, M>)), dst, dst))
        }
        [Op::Store { size, src: Value::Reg(src), address }] => {
            at(&address, on(by_width!(size, W => by_mode!(&address, M => h::store::<W, M>)), src, src))
        }
        [Op::Store { size, src: Value::Const(imm), address }] => {
            let handler = by_width!(size, W => by_mode!(&address, M => h::store_const::<W, M>));
            at(&address, with_const(handler, Reg::ZERO, imm))
        }
        [Op::LoadVector { dst, address, aligned }] => {
            let handler = by_mode!(&address, M => h::load_pair::<M>);
            at(&address, with_const(handler, dst, alignment_mask(aligned)))
        }
        [Op::StoreVector { src, address, aligned }] => {
            let handler = by_mode!(&address, M => h::store_pair::<M>);
            at(&address, with_const(handler, src, alignment_mask(aligned)))
        }
        [Op::Load { size, dst, address }, Op::Move { dst: high, src: Value::Const(0) }]
            if is_pair(dst, high) =>
        {
            at(&address, on(by_width!(size, W => by_mode!(&address, M => h::load_clear::<W, M>)), dst, dst))
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
    low.0 >= Reg::xmm(0).0 && low.0 % 2 == 0 && high == low.high_half()
}

fn alignment_mask(aligned: bool) -> u64 {
    if aligned { 15 } else { 0 }
}

fn arithmetic(ops: &[Op]) -> Option<Code> {
    two_operand(ops).or_else(|| with_memory(ops)).or_else(|| other_arithmetic(ops))
}

/// Whether an instruction that computes `function` records its flags as `kind`.
fn records(function: Binary, kind: FlagKind) -> bool {
    matches!(
        (function, kind),
        (Binary::Add, FlagKind::Add)
            | (Binary::Sub, FlagKind::Sub)
            | (Binary::And | Binary::Or | Binary::Xor, FlagKind::Logic)
            | (Binary::Shl, FlagKind::Shl)
            | (Binary::Shr, FlagKind::Shr)
            | (Binary::Sar, FlagKind::Sar)
    )
}

fn is_shift(function: Binary) -> bool {
    matches!(function, Binary::Shl | Binary::Shr | Binary::Sar)
}

/// register = function(register, register or constant)
fn two_operand(ops: &[Op]) -> Option<Code> {
    // Addition and its like record the flags before the result, logic after it; either way both are there.
    let (kind, function, size, dst, a, b, inserted) = match *ops {
        [Op::Flags { kind, .. }, Op::Binary { function, size, dst, a, b }]
        | [Op::Binary { function, size, dst, a, b }, Op::Flags { kind, .. }] => {
            (kind, function, size, dst, a, b, None)
        }
        [
            Op::Flags { kind, .. },
            Op::Binary { function, size, dst, a, b },
            Op::Insert { at: 0, dst: into, .. },
        ]
        | [
            Op::Binary { function, size, dst, a, b },
            Op::Insert { at: 0, dst: into, .. },
            Op::Flags { kind, .. },
        ] => (kind, function, size, dst, a, b, Some(into)),
        _ => return None,
    };
    if !records(function, kind) || inserted.unwrap_or(dst) != a {
        return None;
    }
    match b {
        // A count of zero keeps the flags: not the pattern. Counts in registers are masked by an op before.
        Value::Const(0) if is_shift(function) => None,
        Value::Reg(_) if is_shift(function) => None,
        Value::Reg(b) if inserted.is_some() => {
            Some(on(by_function!(function, F => by_width!(size, W => h::binary_part::<F, W>)), a, b))
        }
        Value::Const(b) if inserted.is_some() => Some(with_const(
            by_function!(function, F => by_width!(size, W => h::binary_part_const::<F, W>)),
            a,
            b,
        )),
        Value::Reg(b) => Some(on(by_function!(function, F => by_width!(size, W => h::binary::<F, W>)), a, b)),
        Value::Const(b) => {
            Some(with_const(by_function!(function, F => by_width!(size, W => h::binary_const::<F, W>)), a, b))
        }
    }
}

/// A function with a memory operand.
fn with_memory(ops: &[Op]) -> Option<Code> {
    match *ops {
        [
            Op::Load { dst: loaded, address, .. },
            Op::Flags { kind, .. },
            Op::Binary { function, size, dst, a, b },
        ]
        | [
            Op::Load { dst: loaded, address, .. },
            Op::Binary { function, size, dst, a, b },
            Op::Flags { kind, .. },
        ] if b == Value::Reg(loaded) && dst == a && records(function, kind) && !is_shift(function) => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(&address, M => h::binary_load::<F, W, M>)));
            Some(at(&address, on(handler, a, a)))
        }
        [
            Op::Load { dst: loaded, address, .. },
            Op::Binary { function, size, dst, a, b },
            Op::Store { src, address: stored, .. },
            Op::Flags { kind, .. },
        ] if a == loaded && src == Value::Reg(dst) && stored == address && records(function, kind) => {
            to_memory(function, size, &address, b)
        }
        _ => None,
    }
}

/// memory = function(memory, register or constant)
fn to_memory(function: Binary, size: Size, address: &Address, b: Value) -> Option<Code> {
    match b {
        Value::Const(0) if is_shift(function) => None,
        Value::Reg(_) if is_shift(function) => None,
        Value::Reg(b) => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(address, M => h::binary_store::<F, W, M>)));
            Some(at(address, on(handler, b, b)))
        }
        Value::Const(b) => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(address, M => h::binary_store_const::<F, W, M>)));
            Some(at(address, with_const(handler, Reg::ZERO, b)))
        }
    }
}

fn other_arithmetic(ops: &[Op]) -> Option<Code> {
    match *ops {
        // cdq and cqo
        [Op::Binary { function, size, dst, a, b: Value::Const(b) }] => {
            let handler = by_function!(function, F => by_width!(size, W => h::plain_const::<F, W>));
            Some(Code { f: a.0, ..with_const(handler, dst, b) })
        }
        // A shift by cl.
        [
            Op::Binary { function: Binary::And, dst: count, a: Reg::RCX, .. },
            Op::Flags { kind, b: counted, .. },
            Op::Binary { function, size, dst, a, b },
        ] if b == Value::Reg(count) && counted == b && dst == a && records(function, kind) => {
            let handler = by_function!(function, F => by_width!(size, W => h::shift_by_reg::<F, W>));
            Some(on(handler, dst, Reg::RCX))
        }
        // inc and dec
        [Op::Carry { .. }, Op::Flags { .. }, Op::Binary { function, size, dst, a, b: Value::Const(1) }]
            if dst == a =>
        {
            let handler = by_function!(function, F => by_width!(size, W => h::step::<F, W>));
            Some(on(handler, dst, dst))
        }
        [
            Op::Load { dst: loaded, address, .. },
            Op::Carry { .. },
            Op::Binary { function, size, a, b: Value::Const(1), .. },
            Op::Store { .. },
            Op::Flags { kind: FlagKind::Inc | FlagKind::Dec, .. },
        ] if a == loaded => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(&address, M => h::step_store::<F, W, M>)));
            Some(at(&address, code(handler)))
        }
        _ => multiply(ops),
    }
}

/// imul with two or three operands: product, its high half, and the flags from both.
fn multiply(ops: &[Op]) -> Option<Code> {
    let (loaded, ops) = match ops {
        [Op::Load { dst, address, .. }, rest @ ..] => (Some((*dst, *address)), rest),
        _ => (None, ops),
    };
    let [
        Op::Binary { function: Binary::Mul, size, dst: low, a, b },
        Op::Binary { function: Binary::MulHighSigned, .. },
        Op::Binary { function: Binary::Sar, .. },
        Op::Binary { function: Binary::Xor, .. },
        Op::Flags { kind: FlagKind::Mul, .. },
        Op::Move { dst, src },
    ] = *ops
    else {
        return None;
    };
    if src != Value::Reg(low) {
        return None;
    }
    match (loaded, b) {
        (None, Value::Reg(b)) => Some(Code { c: b.0, ..on(by_width!(size, W => h::multiply::<W>), dst, a) }),
        (None, Value::Const(b)) => {
            Some(Code { f: a.0, ..with_const(by_width!(size, W => h::multiply_const::<W>), dst, b) })
        }
        (Some((loaded, address)), Value::Reg(b)) if b == loaded && a == dst => {
            let handler = by_width!(size, W => by_mode!(&address, M => h::multiply_load::<W, M>));
            Some(at(&address, on(handler, dst, dst)))
        }
        _ => None,
    }
}

fn stack(ops: &[Op]) -> Option<Code> {
    Some(match *ops {
        [
            Op::Store { size: Size::B8, src, address: NEW_TOP },
            Op::Binary { function: Binary::Sub, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(8), .. },
        ] => match src {
            Value::Reg(src) => on(h::push, src, src),
            Value::Const(imm) => with_const(h::push_const, Reg::ZERO, imm),
        },
        [
            Op::Load { size: Size::B8, dst: loaded, address: STACK_TOP },
            Op::Binary { function: Binary::Add, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(8), .. },
            Op::Move { dst, src },
        ] if src == Value::Reg(loaded) => on(h::pop, dst, dst),
        [
            Op::Load { size: Size::B8, dst: loaded, address: FRAME },
            Op::Binary { function: Binary::Add, dst: Reg::RSP, a: Reg::RBP, b: Value::Const(8), .. },
            Op::Move { dst: Reg::RBP, src },
        ] if src == Value::Reg(loaded) => code(h::leave_frame),
        _ => return None,
    })
}
