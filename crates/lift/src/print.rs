//! The stable text form of ops, for `dump ops` and for tests.

use crate::*;
use std::fmt;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Reg(reg) => reg.fmt(f),
            Value::Const(value) if value < 10 => write!(f, "{value}"),
            Value::Const(value) => write!(f, "{value:#x}"),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for reg in [self.segment, self.base] {
            if reg != Reg::ZERO {
                parts.push(reg.to_string());
            }
        }
        if self.index != Reg::ZERO {
            parts.push(format!("{}*{}", self.index, 1 << self.shift));
        }
        let width = if self.narrow { "addr32 " } else { "" };
        let displacement = match (self.displacement, parts.is_empty()) {
            (0, false) => String::new(),
            (d, true) => format!("{d:#x}"),
            (d, false) if d < 0 => format!(" - {:#x}", d.unsigned_abs()),
            (d, false) => format!(" + {d:#x}"),
        };
        write!(f, "[{width}{}{displacement}]", parts.join(" + "))
    }
}

/// A `Debug` name in lower case: `MulHighSigned` is `mulhighsigned`.
pub(crate) fn lower(name: impl fmt::Debug) -> String {
    format!("{name:?}").to_lowercase()
}

fn bits(size: Size) -> u32 {
    size.bits()
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Op::Move { dst, src } => write!(f, "{dst} = {src}"),
            Op::Binary { function, size, dst, a, b } => {
                write!(f, "{dst} = {}.{} {a}, {b}", lower(function), bits(size))
            }
            Op::Ternary { function, size, dst, a, b, c } => {
                write!(f, "{dst} = {}.{} {a}, {b}, {c}", lower(function), bits(size))
            }
            Op::Unary { function, size, dst, src } => {
                write!(f, "{dst} = {}.{} {src}", lower(function), bits(size))
            }
            Op::ZeroExtend { size, dst, src } => write!(f, "{dst} = zx.{} {src}", bits(size)),
            Op::SignExtend { from, to, dst, src } => {
                write!(f, "{dst} = sx.{}.{} {src}", bits(from), bits(to))
            }
            Op::Insert { size, at, dst, src } => write!(f, "{dst}[{at}] = insert.{} {src}", bits(size)),
            Op::Extract { size, at, dst, src } => write!(f, "{dst} = extract.{} {src}[{at}]", bits(size)),
            Op::Divide { signed, size, quotient, remainder, high, low, divisor } => {
                let sign = if signed { "signed" } else { "unsigned" };
                let bits = bits(size);
                write!(f, "{quotient}, {remainder} = divide.{bits} {sign} {high}:{low}, {divisor}")
            }
            Op::Lea { size, dst, address } => write!(f, "{dst} = lea.{} {address}", bits(size)),
            Op::Load { size, dst, address } => write!(f, "{dst} = load.{} {address}", bits(size)),
            Op::Store { size, src, address } => write!(f, "store.{} {address}, {src}", bits(size)),
            Op::LoadVector { dst, address, aligned } => {
                write!(f, "{dst} = load.128{} {address}", alignment(aligned))
            }
            Op::StoreVector { src, address, aligned } => {
                write!(f, "store.128{} {address}, {src}", alignment(aligned))
            }
            Op::LoadExtended { dst, address } => write!(f, "{dst} = load.80 {address}"),
            Op::StoreExtended { src, address } => write!(f, "store.80 {address}, {src}"),
            Op::X87 { op, dst, a, b } => {
                match op.result() {
                    x87::X87Result::None => write!(f, "x87_codes = {op}")?,
                    _ => write!(f, "{dst} = {op}")?,
                }
                let operands = [(op.a(), a), (op.b(), b)].into_iter();
                let is_read = |(kind, reg): &(x87::X87Operand, Reg)| {
                    *kind != x87::X87Operand::None && *reg != Reg::ZERO
                };
                let operands: Vec<String> =
                    operands.filter(is_read).map(|(_, reg)| reg.to_string()).collect();
                write!(f, "{}{}", if operands.is_empty() { "" } else { " " }, operands.join(", "))
            }
            Op::Rotate { turn } => write!(f, "rotate {}", lower(turn)),
            Op::Flags { kind, size, a, b, c } => {
                write!(f, "flags = {}.{} {a}, {b}, {c}", lower(kind), bits(size))
            }
            Op::ReadFlags { dst } => write!(f, "{dst} = flags"),
            Op::Carry { dst } => write!(f, "{dst} = carry"),
            Op::Test { condition, dst } => write!(f, "{dst} = test {}", lower(condition)),
            Op::IsZero { size, dst, src } => write!(f, "{dst} = iszero.{} {src}", bits(size)),
            Op::Select { size, dst, condition, yes, no } => {
                write!(f, "{dst} = select.{} {condition} ? {yes} : {no}", bits(size))
            }
            Op::Vector { op, dst, a, b, imm } => {
                write!(f, "{dst} = {op}")?;
                let operands = [(op.a(), a), (op.b(), b)].into_iter();
                let read = operands.filter(|(kind, _)| *kind != vector::VectorOperand::None);
                let mut operands: Vec<String> = read.map(|(_, reg)| reg.to_string()).collect();
                if op.reads_immediate() {
                    operands.push(Value::Const(imm.into()).to_string());
                }
                write!(f, " {}", operands.join(", "))
            }
            Op::CompareStrings { result, dst, a, b, a_length, b_length, imm } => {
                write!(f, "{dst} = comparestrings {} {a}, {b}", lower(result))?;
                if (a_length, b_length) != (Reg::ZERO, Reg::ZERO) {
                    write!(f, " of {a_length}, {b_length}")?;
                }
                write!(f, ", {}", Value::Const(imm.into()))
            }
            Op::String { kind, size, repeat, segment, narrow } => {
                let width = if narrow { " addr32" } else { "" };
                let (kind, repeat) = (lower(kind), lower(repeat));
                write!(f, "string {kind}.{} {repeat} {segment}{width}", bits(size))
            }
            Op::Helper { helper, address } => write!(f, "helper {} {address}", lower(helper)),
            Op::CheckMxcsr { src } => write!(f, "check mxcsr {src}"),
            Op::Jump { target } => write!(f, "jump {target}"),
            Op::Call { target, return_address } => write!(f, "call {target}, back to {return_address:#x}"),
            Op::Return { target } => write!(f, "return {target}"),
            Op::Branch { condition, taken, not_taken } => {
                write!(f, "branch {condition} ? {taken:#x} : {not_taken:#x}")
            }
            Op::Syscall => f.write_str("syscall"),
            Op::Trap(trap) => write!(f, "trap {}", lower(trap)),
            Op::Unsupported => f.write_str("unsupported"),
        }
    }
}

fn alignment(aligned: bool) -> &'static str {
    if aligned { " aligned" } else { "" }
}
