//! The types of values that expressions deal with: those of the program, and those that C's rules make of them.

use std::sync::Arc;

use super::evaluate::Evaluation;
use super::numbers::Basic;
use super::syntax::{TypeBase, TypeText};
use crate::types::{Encoding, Indirection, Type, TypeId, TypeKind};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Basic(Basic),
    Typed(TypeId),
    /// `None` is void.
    Pointer(Option<Box<Shape>>),
    /// What is left of an array after some of its dimensions.
    Array {
        element: Option<TypeId>,
        counts: Vec<Option<u64>>,
    },
}

/// What can be done with a value.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Number(Basic),
    Pointer(Option<Shape>),
    Reference(Option<Shape>),
    Array {
        element: Option<Shape>,
        count: Option<u64>,
    },
    Record(TypeId, Arc<Type>),
    /// Nothing.
    Other,
}

const POINTER_SIZE: u64 = 8;

impl Evaluation<'_> {
    pub fn form(&self, shape: &Shape) -> Form {
        match shape {
            Shape::Basic(basic) => Form::Number(*basic),
            Shape::Pointer(to) => Form::Pointer(to.as_deref().cloned()),
            Shape::Array { element, counts } => array(*element, counts),
            Shape::Typed(id) => {
                let stripped = self.program.types(*id).and_then(|types| types.strip(Some(*id)));
                stripped.map_or(Form::Other, |(id, found)| form(id, &found))
            }
        }
    }

    /// In bytes; `None` when it is not known.
    pub fn size(&self, shape: &Shape) -> Option<u64> {
        match shape {
            Shape::Basic(basic) => Some(basic.size()),
            Shape::Pointer(_) => Some(POINTER_SIZE),
            Shape::Typed(id) => self.program.types(*id)?.size(Some(*id)),
            Shape::Array { element, counts } => {
                let size = self.size(&Shape::Typed((*element)?))?;
                counts.iter().try_fold(size, |size, count| size.checked_mul((*count)?))
            }
        }
    }

    /// As C writes it.
    pub fn type_name(&self, shape: Option<&Shape>) -> String {
        match shape {
            None => "void".to_owned(),
            Some(Shape::Basic(basic)) => basic.name().to_owned(),
            Some(Shape::Typed(id)) => self.program.type_name(Some(*id)),
            Some(Shape::Pointer(to)) => match self.type_name(to.as_deref()) {
                name if name.ends_with('*') => format!("{name}*"),
                name => format!("{name} *"),
            },
            Some(Shape::Array { element, counts }) => {
                let mut name = format!("{} ", self.program.type_name(*element));
                for count in counts {
                    name.push_str(&count.map_or("[]".to_owned(), |count| format!("[{count}]")));
                }
                name
            }
        }
    }

    /// The type that a cast names; `None` is void, an error the name that nothing has.
    pub fn shape_of(&self, text: &TypeText) -> Result<Option<Shape>, String> {
        let base = match &text.base {
            TypeBase::Void => None,
            TypeBase::Basic(basic) => Some(Shape::Basic(*basic)),
            TypeBase::Named(name) => {
                let known = self.program.find_type(name).map(Shape::Typed);
                Some(known.or_else(|| standard(name).map(Shape::Basic)).ok_or_else(|| name.clone())?)
            }
        };
        Ok((0..text.pointers).fold(base, |to, _| Some(Shape::Pointer(to.map(Box::new)))))
    }
}

fn form(id: TypeId, found: &Arc<Type>) -> Form {
    let size = found.size.and_then(|size| u8::try_from(size).ok()).unwrap_or(0);
    let integer = |signed: bool| match size {
        1..=16 => Form::Number(Basic::Integer { size, signed }),
        _ => Form::Other,
    };
    match &found.kind {
        TypeKind::Base(Encoding::Boolean) if size == 1 => Form::Number(Basic::Bool),
        TypeKind::Base(Encoding::Signed | Encoding::SignedCharacter) => integer(true),
        TypeKind::Base(
            Encoding::Unsigned | Encoding::UnsignedCharacter | Encoding::Unicode | Encoding::Boolean,
        ) => integer(false),
        TypeKind::Base(Encoding::Float) => match size {
            4 => Form::Number(Basic::Float),
            8 => Form::Number(Basic::Double),
            16 => Form::Number(Basic::LongDouble),
            _ => Form::Other,
        },
        TypeKind::Enum { is_signed, .. } => integer(*is_signed),
        TypeKind::Pointer { to, indirection: Indirection::Pointer } => Form::Pointer(to.map(Shape::Typed)),
        TypeKind::Pointer { to, .. } => Form::Reference(to.map(Shape::Typed)),
        TypeKind::Array { element, dimensions, .. } => {
            let counts: Vec<Option<u64>> = dimensions.iter().map(|dimension| dimension.count).collect();
            array(*element, &counts)
        }
        TypeKind::Record(_) => Form::Record(id, found.clone()),
        _ => Form::Other,
    }
}

fn array(element: Option<TypeId>, counts: &[Option<u64>]) -> Form {
    let (count, inner) = counts.split_first().map_or((None, &[][..]), |(count, inner)| (*count, inner));
    let element = match inner {
        [] => element.map(Shape::Typed),
        counts => Some(Shape::Array { element, counts: counts.to_vec() }),
    };
    Form::Array { element, count }
}

/// Types that every program knows, whether or not its debug information has them.
pub(super) fn standard(name: &str) -> Option<Basic> {
    let (size, signed) = match name {
        "int8_t" | "i8" => (1, true),
        "uint8_t" | "u8" => (1, false),
        "int16_t" | "i16" => (2, true),
        "uint16_t" | "u16" => (2, false),
        "int32_t" | "i32" => (4, true),
        "uint32_t" | "u32" => (4, false),
        "int64_t" | "i64" | "ssize_t" | "ptrdiff_t" | "intptr_t" | "isize" => (8, true),
        "uint64_t" | "u64" | "size_t" | "uintptr_t" | "usize" => (8, false),
        "f32" => return Some(Basic::Float),
        "f64" => return Some(Basic::Double),
        _ => return None,
    };
    Some(Basic::Integer { size, signed })
}
