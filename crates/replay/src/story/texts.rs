//! Objects that are texts to who wrote the program: strings of C++ and Rust, told by their characters.

use program::{Expression, Place, TypedValue};

use super::describe::View;
use crate::escaped::escaped;

/// So many characters are looked at; fewer are told.
const MOST_SHOWN: usize = 256;
/// What is longer has most likely not been given a value.
const LONGEST: u64 = 1 << 32;

/// A kind of string: how its type's name begins, and where it has its characters and their number.
struct Kind {
    name: &'static str,
    pointer: &'static str,
    length: &'static str,
}

const KINDS: [Kind; 8] = [
    Kind { name: "std::string", pointer: "_M_dataplus._M_p", length: "_M_string_length" },
    Kind { name: "std::__cxx11::basic_string<char", pointer: "_M_dataplus._M_p", length: "_M_string_length" },
    Kind { name: "std::__cxx11::string", pointer: "_M_dataplus._M_p", length: "_M_string_length" },
    Kind { name: "std::string_view", pointer: "_M_str", length: "_M_len" },
    Kind { name: "std::basic_string_view<char", pointer: "_M_str", length: "_M_len" },
    Kind { name: "alloc::string::String", pointer: "vec.buf.inner.ptr.pointer.pointer", length: "vec.len" },
    // As older compilers have it.
    Kind { name: "alloc::string::String", pointer: "vec.buf.ptr.pointer.pointer", length: "vec.len" },
    Kind { name: "&str", pointer: "data_ptr", length: "length" },
];

/// A value as it is told: a string by its text, also where it is referred to.
pub(super) fn as_text(value: TypedValue, expression: &str, view: &View<'_>) -> TypedValue {
    let name = value.type_name.trim_start_matches("const ");
    let (name, is_pointer) = match name.strip_prefix('&').or(name.strip_prefix("*mut ")) {
        Some(target) if name != "&str" => (target.trim_start_matches("mut "), true),
        _ => (name.trim_end_matches(['&', ' ']), false),
    };
    let name = name.trim_end_matches(" const");
    let is_kind = |kind: &&Kind| {
        name.strip_prefix(kind.name).is_some_and(|rest| rest.is_empty() || kind.name.ends_with("<char"))
    };
    let base = if is_pointer { format!("(*{expression})") } else { format!("({expression})") };
    let text = KINDS.iter().filter(is_kind).find_map(|kind| text_of(kind, &base, view));
    TypedValue { text: text.unwrap_or(value.text), ..value }
}

fn text_of(kind: &Kind, base: &str, view: &View<'_>) -> Option<String> {
    let word = |part: &str| {
        let expression = Expression::parse(&format!("{base}.{part}")).ok()?;
        let found = expression.evaluate(view.program, view.state, view.frame()?).ok()?;
        match found.place {
            Some(Place::Memory(address)) => view.state.read_uint(address, 8),
            _ => None,
        }
    };
    let (pointer, length) = (word(kind.pointer)?, word(kind.length)?);
    if length > LONGEST {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(length).ok()?.min(MOST_SHOWN)];
    if !bytes.is_empty() && !view.state.read(pointer, &mut bytes) {
        return None;
    }
    Some(format!("\"{}\"", escaped(&bytes)))
}
