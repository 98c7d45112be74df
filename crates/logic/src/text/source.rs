//! Unknowns as the source calls them.

use program::{Encoding, Program, TypeId, TypeKind};
use replay::story::Called;
use rustc_hash::FxHashMap;

use super::{Kind, Names};
use crate::Variable;

/// Types within types that are looked through.
const DEEPEST: usize = 16;

/// Names by what debug information knows of the cells that unknowns stand for.
pub struct SourceNames<'a> {
    program: &'a Program,
    called: FxHashMap<Variable, Called>,
}

impl<'a> SourceNames<'a> {
    pub fn new(program: &'a Program) -> SourceNames<'a> {
        SourceNames { program, called: FxHashMap::default() }
    }

    pub fn call(&mut self, variable: Variable, called: Called) {
        self.called.insert(variable, called);
    }

    fn type_of(&self, variable: Variable) -> Option<TypeKind> {
        unnamed(self.program, self.called.get(&variable)?.of)
    }
}

/// A type without the names and qualifiers that it has.
fn unnamed(program: &Program, mut of: Option<TypeId>) -> Option<TypeKind> {
    for _ in 0..DEEPEST {
        let found = program.type_of(of?)?;
        match &found.kind {
            TypeKind::Typedef { of: named } | TypeKind::Qualified { of: named, .. } => of = *named,
            kind => return Some(kind.clone()),
        }
    }
    None
}

/// How the bits of a value of this type are to be read.
pub fn kind_of(program: &Program, of: Option<TypeId>) -> Kind {
    unnamed(program, of).map_or(Kind::Signed, |kind| kind_of_type(&kind))
}

fn kind_of_type(kind: &TypeKind) -> Kind {
    match kind {
        TypeKind::Base(Encoding::Float) => Kind::Float,
        TypeKind::Base(
            Encoding::Unsigned | Encoding::UnsignedCharacter | Encoding::Unicode | Encoding::Boolean,
        ) => Kind::Unsigned,
        TypeKind::Enum { is_signed: false, .. } => Kind::Unsigned,
        TypeKind::Pointer { .. } | TypeKind::MemberPointer { .. } => Kind::Pointer,
        _ => Kind::Signed,
    }
}

impl Names for SourceNames<'_> {
    fn name(&self, variable: Variable) -> String {
        match self.called.get(&variable) {
            Some(called) => called.name.clone(),
            None => format!("v{}", variable.index()),
        }
    }

    fn kind(&self, variable: Variable) -> Kind {
        self.type_of(variable).map_or(Kind::Signed, |kind| kind_of_type(&kind))
    }

    fn spell(&self, variable: Variable, value: u128) -> Option<String> {
        match self.type_of(variable)? {
            TypeKind::Enum { enumerators, .. } => {
                // A negative one is as wide as its type.
                let is_it = |known: i128| {
                    value == u128::from(known as u64) || known < 0 && value == u128::from(known as u32)
                };
                enumerators.iter().find(|one| is_it(one.value)).map(|one| one.name.clone())
            }
            TypeKind::Base(Encoding::SignedCharacter | Encoding::UnsignedCharacter) => character(value),
            TypeKind::Base(Encoding::Boolean) => match value {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A character as C writes it, if it can be seen.
fn character(value: u128) -> Option<String> {
    match u8::try_from(value).ok()? {
        0 => Some("'\\0'".to_owned()),
        b'\n' => Some("'\\n'".to_owned()),
        b'\t' => Some("'\\t'".to_owned()),
        b'\'' => Some("'\\''".to_owned()),
        b'\\' => Some("'\\\\'".to_owned()),
        seen @ b' '..=b'~' => Some(format!("'{}'", char::from(seen))),
        _ => None,
    }
}
