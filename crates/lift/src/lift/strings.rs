//! The string instructions. Each is one op: it commits element by element, as the processor
//! does, and counts as one instruction however often it repeats.

use super::Lifter;
use crate::{Op, Reg, Repeat, Size, StringKind};
use iced_x86::{Mnemonic, OpKind, Register};

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    let kind = match l.instruction.mnemonic() {
        Movsb | Movsw | Movsq => StringKind::Move,
        // SSE2's movsd shares its name with the string instruction.
        Movsd if is_string_operand(l.instruction.op0_kind()) => StringKind::Move,
        Stosb | Stosw | Stosd | Stosq => StringKind::Store,
        Lodsb | Lodsw | Lodsd | Lodsq => StringKind::Load,
        Scasb | Scasw | Scasd | Scasq => StringKind::Scan,
        Cmpsb | Cmpsw | Cmpsq => StringKind::Compare,
        Cmpsd if is_string_operand(l.instruction.op0_kind()) => StringKind::Compare,
        _ => return false,
    };
    let compares = matches!(kind, StringKind::Scan | StringKind::Compare);
    let repeat = match (l.instruction.has_rep_prefix(), l.instruction.has_repne_prefix()) {
        (true, _) if compares => Repeat::WhileEqual,
        (_, true) if compares => Repeat::WhileNotEqual,
        (false, false) => Repeat::Once,
        _ => Repeat::Count,
    };
    let segment = match l.instruction.memory_segment() {
        Register::FS => Reg::FS_BASE,
        Register::GS => Reg::GS_BASE,
        _ => Reg::ZERO,
    };
    let narrow = (0..l.instruction.op_count())
        .any(|n| matches!(l.instruction.op_kind(n), OpKind::MemorySegESI | OpKind::MemoryESEDI));
    let size = Size::from_bytes(l.memory_bytes()).unwrap_or(Size::B1);
    l.emit(Op::String { kind, size, repeat, segment, narrow });
    true
}

fn is_string_operand(kind: OpKind) -> bool {
    matches!(kind, OpKind::MemorySegRSI | OpKind::MemoryESRDI | OpKind::MemorySegESI | OpKind::MemoryESEDI)
}
