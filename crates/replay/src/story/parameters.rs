//! Which parameter of a function comes in which register, by the rules of the platform.

use lift::Reg;
use program::{Call, Encoding, Program, TypeId, TypeKind};

const GENERAL: [Reg; 6] = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX, Reg::R8, Reg::R9];
/// Types within types that are looked through.
const DEEPEST: usize = 16;

enum Class {
    General,
    Vector,
    /// Passed in several registers, in memory, or not known.
    Other,
}

/// The name of the parameter that comes in a register. Nothing is said of those after one that takes more than one
/// register.
pub(super) fn parameter(program: &Program, call: &Call, reg: Reg) -> Option<String> {
    let (mut general, mut vectors) = (0, 0u8);
    for parameter in call.parameters() {
        let own = match class(program, parameter.of) {
            Class::General => {
                general += 1;
                GENERAL.get(general - 1).copied()
            }
            Class::Vector => {
                vectors += 1;
                (vectors <= 8).then(|| Reg::xmm(vectors - 1))
            }
            Class::Other => return None,
        };
        if own == Some(reg) {
            return Some(parameter.name.clone());
        }
    }
    None
}

fn class(program: &Program, mut of: Option<TypeId>) -> Class {
    for _ in 0..DEEPEST {
        let Some(found) = of.and_then(|id| program.type_of(id)) else { return Class::Other };
        of = match &found.kind {
            TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } => *of,
            TypeKind::Base(Encoding::Float) if found.size.is_some_and(|size| size <= 8) => {
                return Class::Vector;
            }
            TypeKind::Base(Encoding::Float | Encoding::ComplexFloat | Encoding::Other) => {
                return Class::Other;
            }
            TypeKind::Base(_) if found.size.is_some_and(|size| size <= 8) => return Class::General,
            TypeKind::Pointer { .. } | TypeKind::Enum { .. } => return Class::General,
            _ => return Class::Other,
        };
    }
    Class::Other
}
