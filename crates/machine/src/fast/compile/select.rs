//! From a value to a type parameter, so that a handler can be chosen by size, address mode, function or
//! condition. Each macro binds a type to a name in an expression; functions cannot, since the types differ.

use lift::{Address, Reg, Size};

#[derive(Clone, Copy)]
pub(super) enum ModeKind {
    Based,
    OnStack,
    InFrame,
    Paired,
    Indexed,
    Segmented,
}

/// How accesses of a size at an address are best made, or `None` if only the plain ops can.
pub(super) fn mode(address: &Address, size: Size) -> Option<ModeKind> {
    let aligned = address.displacement % size.bytes() as i64 == 0;
    match address {
        Address { narrow: true, .. } => None,
        Address { segment: Reg::ZERO, index: Reg::ZERO, base, displacement, .. } => match *base {
            Reg::RSP if aligned => Some(ModeKind::OnStack),
            // Below the frame pointer lie local variables. Above it lies little, and with a positive
            // displacement rbp is more likely a pointer like any other.
            Reg::RBP if aligned && *displacement < 0 => Some(ModeKind::InFrame),
            _ => Some(ModeKind::Based),
        },
        Address { segment: Reg::ZERO, shift: 0, .. } => Some(ModeKind::Paired),
        Address { segment: Reg::ZERO, .. } => Some(ModeKind::Indexed),
        _ => Some(ModeKind::Segmented),
    }
}

// The common ones. What is fused with a jump is limited to them, since each combination is a handler of its
// own; on the others these return `None`.

macro_rules! by_comparison {
    ($condition:expr, $d:ident => $body:expr) => {
        match $condition {
            lift::Condition::Overflow
            | lift::Condition::NotOverflow
            | lift::Condition::Parity
            | lift::Condition::NotParity => return None,
            lift::Condition::Below => {
                type $d = $crate::fast::parts::Below;
                $body
            }
            lift::Condition::AboveOrEqual => {
                type $d = $crate::fast::parts::AboveOrEqual;
                $body
            }
            lift::Condition::Equal => {
                type $d = $crate::fast::parts::Equal;
                $body
            }
            lift::Condition::NotEqual => {
                type $d = $crate::fast::parts::NotEqual;
                $body
            }
            lift::Condition::BelowOrEqual => {
                type $d = $crate::fast::parts::BelowOrEqual;
                $body
            }
            lift::Condition::Above => {
                type $d = $crate::fast::parts::Above;
                $body
            }
            lift::Condition::Sign => {
                type $d = $crate::fast::parts::Sign;
                $body
            }
            lift::Condition::NotSign => {
                type $d = $crate::fast::parts::NotSign;
                $body
            }
            lift::Condition::Less => {
                type $d = $crate::fast::parts::Less;
                $body
            }
            lift::Condition::GreaterOrEqual => {
                type $d = $crate::fast::parts::GreaterOrEqual;
                $body
            }
            lift::Condition::LessOrEqual => {
                type $d = $crate::fast::parts::LessOrEqual;
                $body
            }
            lift::Condition::Greater => {
                type $d = $crate::fast::parts::Greater;
                $body
            }
        }
    };
}

macro_rules! by_common_width {
    ($size:expr, $w:ident => $body:expr) => {
        match $size {
            lift::Size::B2 => return None,
            lift::Size::B1 => {
                type $w = $crate::fast::parts::W1;
                $body
            }
            lift::Size::B4 => {
                type $w = $crate::fast::parts::W4;
                $body
            }
            lift::Size::B8 => {
                type $w = $crate::fast::parts::W8;
                $body
            }
        }
    };
}

macro_rules! by_common_mode {
    ($address:expr, $size:expr, $m:ident => $body:expr) => {
        match $crate::fast::compile::select::mode($address, $size)? {
            $crate::fast::compile::select::ModeKind::Segmented => return None,
            $crate::fast::compile::select::ModeKind::Based => {
                type $m = $crate::fast::parts::Based;
                $body
            }
            $crate::fast::compile::select::ModeKind::OnStack => {
                type $m = $crate::fast::parts::OnStack;
                $body
            }
            $crate::fast::compile::select::ModeKind::InFrame => {
                type $m = $crate::fast::parts::InFrame;
                $body
            }
            $crate::fast::compile::select::ModeKind::Paired => {
                type $m = $crate::fast::parts::Paired;
                $body
            }
            $crate::fast::compile::select::ModeKind::Indexed => {
                type $m = $crate::fast::parts::Indexed;
                $body
            }
        }
    };
}

// All of them.

macro_rules! by_condition {
    ($condition:expr, $d:ident => $body:expr) => {
        match $condition {
            lift::Condition::Overflow => {
                type $d = $crate::fast::parts::Overflow;
                $body
            }
            lift::Condition::NotOverflow => {
                type $d = $crate::fast::parts::NotOverflow;
                $body
            }
            lift::Condition::Parity => {
                type $d = $crate::fast::parts::Parity;
                $body
            }
            lift::Condition::NotParity => {
                type $d = $crate::fast::parts::NotParity;
                $body
            }
            condition => by_comparison!(condition, $d => $body),
        }
    };
}

macro_rules! by_width {
    ($size:expr, $w:ident => $body:expr) => {
        match $size {
            lift::Size::B2 => {
                type $w = $crate::fast::parts::W2;
                $body
            }
            size => by_common_width!(size, $w => $body),
        }
    };
}

macro_rules! by_mode {
    ($address:expr, $size:expr, $m:ident => $body:expr) => {
        match $crate::fast::compile::select::mode($address, $size)? {
            $crate::fast::compile::select::ModeKind::Segmented => {
                type $m = $crate::fast::parts::Segmented;
                $body
            }
            _ => by_common_mode!($address, $size, $m => $body),
        }
    };
}

/// The functions whose flags are recorded from operands or result at once.
macro_rules! by_function {
    ($function:expr, $f:ident => $body:expr) => {
        match $function {
            lift::Binary::Add => {
                type $f = $crate::fast::parts::Add;
                $body
            }
            lift::Binary::Sub => {
                type $f = $crate::fast::parts::Sub;
                $body
            }
            lift::Binary::And => {
                type $f = $crate::fast::parts::And;
                $body
            }
            lift::Binary::Or => {
                type $f = $crate::fast::parts::Or;
                $body
            }
            lift::Binary::Xor => {
                type $f = $crate::fast::parts::Xor;
                $body
            }
            lift::Binary::Shl => {
                type $f = $crate::fast::parts::Shl;
                $body
            }
            lift::Binary::Shr => {
                type $f = $crate::fast::parts::Shr;
                $body
            }
            lift::Binary::Sar => {
                type $f = $crate::fast::parts::Sar;
                $body
            }
            _ => return None,
        }
    };
}

pub(super) use {
    by_common_mode, by_common_width, by_comparison, by_condition, by_function, by_mode, by_width,
};
