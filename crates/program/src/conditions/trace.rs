//! Evaluates a basic block symbolically: which comparisons its instructions decide by, and what it leaves in
//! registers and stack slots.

use lift::vector::{FloatWidth, VectorResult};
use lift::{Binary, Condition, Decoded, FlagKind, Op, Reg, Size, Unary, Value, VectorOp};

use super::comparison::{Comparison, Operand};
use super::condition::MemberKind;
use super::expression::{Expr, ExprId, Values};

/// A decision that an instruction makes.
pub(super) struct Bit {
    pub address: u64,
    pub kind: MemberKind,
    pub comparison: Option<Comparison>,
    pub of: Option<ZeroTest>,
}

/// A decision that says only whether the low bytes of something are zero.
#[derive(Clone, Copy)]
pub(super) struct ZeroTest {
    pub value: ExprId,
    pub size: Size,
    /// It holds when they are not.
    pub nonzero: bool,
}

/// What the flags were set by, with operands that outlive the block.
#[derive(Clone)]
pub(super) enum FlagSource {
    Difference(Size, Operand, Operand),
    Result(Size, Operand),
    /// The carry alone, which is this.
    Carry(Size, Operand),
    Floats(Size, Operand, Operand),
}

impl FlagSource {
    fn comparison(self, condition: Condition) -> Option<Comparison> {
        match self {
            FlagSource::Difference(size, a, b) => Comparison::of_difference(condition, size, a, b),
            FlagSource::Result(size, result) => Comparison::of_result(condition, size, result),
            FlagSource::Carry(size, carry) => Comparison::of_carry(condition, size, carry),
            FlagSource::Floats(size, a, b) => Comparison::of_floats(condition, size, a, b),
        }
    }
}

#[derive(Clone)]
enum Flags {
    /// As at the start of the block.
    Inherited,
    Set {
        kind: FlagKind,
        size: Size,
        a: ExprId,
        b: ExprId,
    },
    Floats(FloatWidth, ExprId, ExprId),
    Unknown,
}

/// What is known of a block when its instructions have been evaluated.
pub(super) struct Trace {
    pub values: Values,
    pub bits: Vec<Bit>,
    /// The one-bit value that the branch at the end decides by.
    pub branch: Option<ExprId>,
    /// The value that the indirect jump at the end goes to.
    pub jump: Option<ExprId>,
    /// The block does nothing but go on.
    pub empty: bool,
    /// The block changes no memory and calls nobody.
    pub pure: bool,
    /// The flags at the end.
    pub flags: Option<FlagSource>,
}

impl Trace {
    pub fn bit_addresses(&self) -> Vec<u64> {
        self.bits.iter().map(|bit| bit.address).collect()
    }

    pub fn operand(&self, id: ExprId, size: Size) -> Operand {
        self.values.operand(id, size, &self.bit_addresses())
    }
}

/// Evaluates `code`, which starts at `start`. `inherited` are the flags at the start, where they are known.
pub(super) fn trace(code: &[u8], start: u64, inherited: Option<FlagSource>) -> Trace {
    let mut tracer = Tracer {
        trace: Trace {
            values: Values::new(),
            bits: Vec::new(),
            branch: None,
            jump: None,
            empty: true,
            pure: true,
            flags: None,
        },
        flags: Flags::Inherited,
        inherited,
        address: start,
        addresses: Vec::new(),
    };
    let mut at = 0;
    let mut ops = Vec::new();
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        tracer.address = start.wrapping_add(at as u64);
        let Decoded::Instruction(instruction) = lift::decode(rest, tracer.address) else { break };
        ops.clear();
        lift::lift(&instruction, &mut ops);
        tracer.instruction(&ops);
        at += instruction.len().max(1);
    }
    tracer.trace.flags = tracer.source();
    tracer.trace
}

struct Tracer {
    trace: Trace,
    flags: Flags,
    inherited: Option<FlagSource>,
    /// Of the instruction.
    address: u64,
    /// Of the bits.
    addresses: Vec<u64>,
}

impl Tracer {
    fn instruction(&mut self, ops: &[Op]) {
        let stack = self.trace.values.peek(Reg::RSP);
        let nothing = matches!(ops, [] | [Op::Jump { target: Value::Const(_) }]);
        self.trace.empty &= nothing;
        for op in ops {
            let effect = matches!(
                op,
                Op::Store { .. }
                    | Op::StoreVector { .. }
                    | Op::StoreExtended { .. }
                    | Op::Call { .. }
                    | Op::Syscall
                    | Op::String { .. }
                    | Op::Helper { .. }
            );
            self.trace.pure &= !effect;
            self.op(op, stack);
        }
    }

    fn value(&mut self, value: Value) -> ExprId {
        match value {
            Value::Reg(reg) => self.trace.values.read(reg),
            Value::Const(value) => self.trace.values.add(Expr::Constant(value)),
        }
    }

    fn read(&mut self, reg: Reg) -> ExprId {
        self.trace.values.read(reg)
    }

    fn define(&mut self, dst: Reg, expr: Expr) {
        let id = self.trace.values.add(expr);
        self.trace.values.write(dst, id);
    }

    fn op(&mut self, op: &Op, stack: ExprId) {
        match *op {
            // The frame register keeps its name in the block that sets it.
            Op::Move { dst: Reg::RBP, src: Value::Reg(Reg::RSP) } => {
                self.define(Reg::RBP, Expr::Entry(Reg::RBP))
            }
            Op::Move { dst, src } => {
                let id = self.value(src);
                self.trace.values.write(dst, id);
            }
            Op::Binary { function, size, dst, a, b } => {
                let (a, b) = (self.read(a), self.value(b));
                let id = self.trace.values.binary(function, size, a, b);
                self.trace.values.write(dst, id);
            }
            Op::Unary { function: Unary::Not, dst, src, .. } => {
                let src = self.read(src);
                self.define(dst, Expr::Not(src));
            }
            Op::ZeroExtend { size, dst, src } => {
                let src = self.read(src);
                self.define(dst, Expr::Widened(size, src));
            }
            Op::SignExtend { from, dst, src, .. } => {
                let src = self.read(src);
                self.define(dst, Expr::Widened(from, src));
            }
            Op::Insert { size, at: 0, dst, src } => {
                let src = self.value(src);
                self.trace.values.peek(dst);
                self.define(dst, Expr::LowBytes(size, src));
            }
            Op::Lea { size: Size::B8, dst, address } if address.index == Reg::ZERO && !address.narrow => {
                let base = self.read(address.base);
                let distance = self.trace.values.add(Expr::Constant(address.displacement as u64));
                let id = self.trace.values.binary(Binary::Add, Size::B8, base, distance);
                self.trace.values.write(dst, id);
            }
            Op::Lea { size, dst, address } => self.lea(size, dst, &address),
            Op::Load { size, dst, address } => {
                let id = self.trace.values.load(size, &address, self.address);
                self.trace.values.write(dst, id);
            }
            Op::Store { size, src, address } => {
                let src = self.value(src);
                self.trace.values.store(size, &address, src);
            }
            Op::Flags { kind, size, a, b, .. } => self.set_flags(kind, size, a, b),
            Op::Test { condition, dst } => self.test(condition, dst),
            Op::IsZero { size, dst, src } => {
                let src = self.read(src);
                self.define(dst, Expr::IsZero(size, src));
            }
            Op::Select { dst, condition, yes, no, .. } => self.select(dst, condition, yes, no),
            Op::Vector { op, dst, a, b, .. } => self.vector(op, dst, a, b),
            Op::Call { .. } => self.call(stack),
            Op::Branch { condition, .. } => {
                let condition = self.read(condition);
                self.trace.branch = Some(condition);
            }
            Op::Jump { target } => {
                if let Value::Reg(reg) = target {
                    let target = self.read(reg);
                    self.trace.jump = Some(target);
                }
            }
            Op::String { .. } | Op::Unsupported => {
                self.forget_written(op);
                self.flags = Flags::Unknown;
            }
            Op::Unary { .. }
            | Op::Ternary { .. }
            | Op::Extract { .. }
            | Op::Insert { .. }
            | Op::ReadFlags { .. }
            | Op::Carry { .. }
            | Op::Divide { .. }
            | Op::LoadVector { .. }
            | Op::CompareStrings { .. }
            | Op::LoadExtended { .. }
            | Op::X87 { .. }
            | Op::Rotate { .. }
            | Op::Helper { .. }
            | Op::Syscall => self.forget_written(op),
            Op::Return { .. } => {
                // Whatever is returned is read by the caller.
                self.read(Reg::RAX);
            }
            Op::StoreVector { .. } | Op::StoreExtended { .. } | Op::CheckMxcsr { .. } | Op::Trap(_) => {}
        }
    }

    fn forget_written(&mut self, op: &Op) {
        op.writes(|reg| self.trace.values.forget(reg));
    }

    fn lea(&mut self, size: Size, dst: Reg, address: &lift::Address) {
        let parts = self.trace.values.address(address);
        let Some(index) = parts.index else { return self.trace.values.forget(dst) };
        let shift = self.trace.values.add(Expr::Constant(parts.shift.into()));
        let scaled = match parts.shift {
            0 => index,
            _ => self.trace.values.binary(Binary::Shl, size, index, shift),
        };
        let sum = match address.base {
            Reg::ZERO => scaled,
            _ => self.trace.values.binary(Binary::Add, size, parts.base, scaled),
        };
        let distance = self.trace.values.add(Expr::Constant(parts.displacement as u64));
        let id = match parts.displacement {
            0 => sum,
            _ => self.trace.values.binary(Binary::Add, size, sum, distance),
        };
        self.trace.values.write(dst, id);
    }

    fn select(&mut self, dst: Reg, condition: Reg, yes: Reg, no: Reg) {
        let bit = self.read(condition);
        let (yes, no) = (self.read(yes), self.read(no));
        if let Expr::Bit(bit) = *self.trace.values.get(bit)
            && let Some(bit) = self.trace.bits.get_mut(bit)
        {
            bit.kind = MemberKind::Move;
        }
        self.define(dst, Expr::Select { bit, yes, no });
    }

    fn vector(&mut self, op: VectorOp, dst: Reg, a: Reg, b: Reg) {
        if let VectorOp::CompareFlags { width, .. } = op {
            let (a, b) = (self.read(a), self.read(b));
            return self.define(dst, Expr::FloatFlags(width, a, b));
        }
        self.trace.values.forget(dst);
        if op.result() == VectorResult::Vector {
            self.trace.values.forget(dst.high_half());
        }
    }

    /// By the calling convention of the platform; the stack is as it was before the return address was pushed.
    fn call(&mut self, stack: ExprId) {
        self.trace.values.write(Reg::RSP, stack);
        for n in [1, 2, 6, 7, 8, 9, 10, 11] {
            self.trace.values.forget(Reg::general(n));
        }
        for n in 0..16 {
            self.trace.values.forget(Reg::xmm(n));
        }
        let address = self.address;
        self.define(Reg::RAX, Expr::Result(address));
        self.define(Reg::xmm(0), Expr::Result(address));
        self.flags = Flags::Unknown;
    }

    fn set_flags(&mut self, kind: FlagKind, size: Size, a: Reg, b: Value) {
        let (a, b) = (self.read(a), self.value(b));
        self.flags = match (kind, self.trace.values.get(a)) {
            (FlagKind::Compare, Expr::FloatFlags(width, a, b)) => Flags::Floats(*width, *a, *b),
            _ => Flags::Set { kind, size, a, b },
        };
    }

    fn test(&mut self, condition: Condition, dst: Reg) {
        let comparison = self.source().and_then(|source| source.comparison(condition));
        let kind = MemberKind::Set;
        let of = self.zero_test(condition);
        self.define(dst, Expr::Bit(self.trace.bits.len()));
        self.addresses.push(self.address);
        self.trace.bits.push(Bit { address: self.address, kind, comparison, of });
    }

    /// The value that a condition asks of whether it is zero.
    fn zero_test(&self, condition: Condition) -> Option<ZeroTest> {
        let Flags::Set { kind, size, a: value, b } = self.flags else { return None };
        let zero = *self.trace.values.get(b) == Expr::Constant(0);
        let tested = kind == FlagKind::Logic || (kind == FlagKind::Sub && zero);
        let carried = kind == FlagKind::SetCarry;
        let nonzero = match condition {
            Condition::NotEqual if tested => true,
            Condition::Equal if tested => false,
            Condition::Below if carried => true,
            Condition::AboveOrEqual if carried => false,
            _ => return None,
        };
        Some(ZeroTest { value, size, nonzero })
    }

    /// The flags with operands that outlive the block.
    fn source(&self) -> Option<FlagSource> {
        let operand = |id, size| self.trace.values.operand(id, size, &self.addresses);
        match self.flags {
            Flags::Inherited => self.inherited.clone(),
            Flags::Unknown => None,
            Flags::Floats(width, a, b) => {
                let size = width.size();
                Some(FlagSource::Floats(size, operand(a, size), operand(b, size)))
            }
            Flags::Set { kind, size, a, b } => match kind {
                FlagKind::Sub => Some(FlagSource::Difference(size, operand(a, size), operand(b, size))),
                FlagKind::Logic => Some(FlagSource::Result(size, operand(a, size))),
                FlagKind::SetCarry => Some(FlagSource::Carry(size, operand(a, size))),
                _ => None,
            },
        }
    }
}
