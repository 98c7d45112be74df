//! What a type can be.

use crate::entries::Die;

/// A type of one object's debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId {
    pub(crate) object: u32,
    pub(crate) die: Die,
}

/// Languages differ in how they write types and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
    Rust,
}

#[derive(Clone, Debug)]
pub struct Type {
    /// With namespaces; `None` for types that are written out, such as pointers.
    pub name: Option<String>,
    /// In bytes; `None` when it is not known, as for void and incomplete types. Arrays and typedefs have the
    /// size of what they stand for.
    pub size: Option<u64>,
    pub kind: TypeKind,
    pub language: Language,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    Base(Encoding),
    Pointer {
        /// `None` is void.
        to: Option<TypeId>,
        indirection: Indirection,
    },
    /// A pointer to a member of a class.
    MemberPointer {
        to: Option<TypeId>,
        class: Option<TypeId>,
    },
    Qualified {
        qualifier: Qualifier,
        of: Option<TypeId>,
    },
    Typedef {
        of: Option<TypeId>,
    },
    Array {
        element: Option<TypeId>,
        dimensions: Vec<Dimension>,
        /// A vector of the processor, not an array of the language.
        is_vector: bool,
    },
    Record(Record),
    Enum {
        enumerators: Vec<Enumerator>,
        /// The integer type that the language gives it.
        underlying: Option<TypeId>,
        is_class: bool,
        is_declaration: bool,
        is_signed: bool,
    },
    Function {
        returns: Option<TypeId>,
        parameters: Vec<Option<TypeId>>,
        is_variadic: bool,
        is_prototyped: bool,
    },
    /// Named, but of no known form, as std::nullptr_t.
    Unspecified,
    /// The debug information is damaged here.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Boolean,
    Signed,
    Unsigned,
    SignedCharacter,
    UnsignedCharacter,
    /// A character of Unicode: char16_t, char32_t, Rust's char.
    Unicode,
    Float,
    ComplexFloat,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indirection {
    Pointer,
    Reference,
    RvalueReference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier {
    Const,
    Volatile,
    Restrict,
    Atomic,
}

/// One dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The number of elements; `None` when it is unknown, or known only in a running program.
    pub count: Option<u64>,
    /// What says the number in a running program.
    pub(crate) computed: Option<Die>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    pub name: String,
    pub value: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    Struct,
    Class,
    Union,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Public,
    Protected,
    Private,
}

/// A struct, class or union.
#[derive(Clone, Debug)]
pub struct Record {
    pub keyword: Keyword,
    /// Only its name is known, in the whole object.
    pub is_declaration: bool,
    /// Base classes first, then members, in their order; static members too.
    pub members: Vec<Member>,
    pub methods: Vec<Method>,
    /// Typedefs inside of the class.
    pub typedefs: Vec<(String, Option<TypeId>)>,
    /// Template arguments that are types, by parameter name.
    pub template_types: Vec<(String, Option<TypeId>)>,
    /// The alternatives of a Rust enum.
    pub variants: Option<Box<VariantPart>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// `None` for unnamed structs and unions inside of others.
    pub name: Option<String>,
    pub of: Option<TypeId>,
    /// In bytes from the start of the record.
    pub offset: u64,
    /// For a bit-field, its first bit from the start of the record, and its size in bits.
    pub bits: Option<(u64, u64)>,
    pub is_base: bool,
    /// A base class that is found through the virtual table; its offset is unknown.
    pub is_virtual: bool,
    pub is_static: bool,
    /// Made by the compiler, as the pointer to the virtual table.
    pub is_artificial: bool,
    pub access: Access,
    pub(crate) die: Die,
}

impl Member {
    /// Whether this is a member of a tuple, which has a number and no name.
    pub(crate) fn is_position(&self) -> bool {
        let number = self.name.as_deref().and_then(|name| name.strip_prefix("__"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub name: String,
    pub returns: Option<TypeId>,
    /// Without `this`.
    pub parameters: Vec<Option<TypeId>>,
    pub is_variadic: bool,
    pub is_static: bool,
    pub is_virtual: bool,
    pub is_const: bool,
    pub is_artificial: bool,
    /// `= default` or `= delete`, by the debug information.
    pub is_defaulted: bool,
    pub is_deleted: bool,
    pub access: Access,
}

/// The part of a Rust enum whose meaning depends on a discriminant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantPart {
    /// Absent when there is one variant only.
    pub discriminant: Option<Member>,
    pub variants: Vec<Variant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Ranges of discriminants, both ends included; none for the variant that all others mean.
    pub values: Vec<(i128, i128)>,
    pub members: Vec<Member>,
}
