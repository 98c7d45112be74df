//! A stopped guest as a person sees it who looks at one statement: names and values.

use std::cell::OnceCell;
use std::ops::Range;

use program::{
    Elements, Expression, Frame, Limits, Names, NoAllocations, Place, Program, State, TypeId, TypeKind,
    TypedValue,
};

use super::mentions::Mention;
use super::{Known, fresh, texts};
use crate::dependence::{Code, StmtId};

/// So many frames are looked at for the one that is told about.
const MOST_FRAMES: usize = 256;
/// A value that is longer is cut.
const LONGEST_VALUE: usize = 60;
/// Types within types that are looked through.
const DEEPEST: usize = 16;

/// A state, seen from the innermost statement in scope.
pub(super) struct View<'a> {
    pub program: &'a Program,
    pub state: &'a State<'a>,
    pub frames: Vec<Frame>,
    /// The statement of each frame.
    pub statements: Vec<StmtId>,
    /// The frame that is told about.
    at: usize,
    names: OnceCell<Names<'a>>,
}

/// Something that a text names, and what it stands for.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub mention: Mention,
    pub value: TypedValue,
}

impl<'a> View<'a> {
    /// Sees it from the innermost frame that is in scope.
    pub fn new<'p: 'a>(state: &'a State<'a>, code: &mut Code<'p>) -> View<'a> {
        let program = code.program();
        let frames = program.backtrace_of(state, MOST_FRAMES).frames;
        let statements: Vec<StmtId> = frames.iter().map(|frame| code.statement_of_frame(frame)).collect();
        let at = statements.iter().position(|found| *found != StmtId::NONE).unwrap_or(0);
        View { program, state, frames, statements, at, names: OnceCell::new() }
    }

    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.at)
    }

    /// The function that the statement called, if it is inside of one.
    pub fn called(&self) -> Option<String> {
        let frame = self.frames.get(self.at.checked_sub(1)?)?;
        self.program.locate(frame.lookup).function_name().map(plain_name)
    }

    /// Whether a statement is one of the calls that led here.
    pub fn is_called_by(&self, stmt: StmtId) -> bool {
        self.statements.iter().skip(self.at + 1).any(|found| *found == stmt)
    }

    pub fn evaluate(&self, text: &str) -> Option<TypedValue> {
        let value = Expression::parse(text).ok()?.evaluate(self.program, self.state, self.frame()?).ok()?;
        let value = texts::as_text(value, text, self);
        Some(fresh::without_fill(value, self.state))
    }

    pub fn see(&self, mention: &Mention) -> Option<Seen> {
        let value = self.evaluate(&mention.text)?;
        Some(Seen { mention: mention.clone(), value })
    }

    fn names(&self) -> &Names<'a> {
        self.names.get_or_init(|| {
            let frames = self.frames.get(self.at..).unwrap_or_default();
            self.program.names(self.state, frames, &NoAllocations)
        })
    }

    /// What some bytes are called.
    pub fn name(&self, address: u64, size: u64) -> Option<String> {
        self.names().of_memory(address, size)
    }

    /// The array that an address lies in.
    pub fn array(&self, address: u64) -> Option<Elements> {
        self.names().array_around(address)
    }

    /// The variable that a register holds, by DWARF's number.
    pub fn name_of_register(&self, number: u16) -> Option<String> {
        self.names().of_register(number).map(str::to_owned)
    }

    /// What is called so and lies at an address.
    pub fn typed(&self, name: &str, address: u64) -> Option<TypedValue> {
        let expression = Expression::parse(name).ok()?;
        let frames = self.frames.get(self.at..).unwrap_or_default();
        let mut values = frames.iter().filter_map(|frame| {
            let value = expression.evaluate(self.program, self.state, frame).ok();
            value.filter(|value| range_of(value).is_some_and(|range| range.contains(&address)))
        });
        values.next()
    }

    /// Some bytes by their name and with their value; those of libraries' own variables are nobody's business.
    pub fn known(&self, address: u64, size: u64) -> Option<Known> {
        let name = self.name(address, size)?;
        let root: String = name.trim_start_matches('*').chars().take_while(|one| is_word(*one)).collect();
        if self.is_of_library(&root) {
            return None;
        }
        let value = self.typed(&name, address).and_then(|value| short_value(&value));
        Some(Known { name, value })
    }

    /// Whether a name means a variable outside of functions that is not the program's own.
    fn is_of_library(&self, name: &str) -> bool {
        let frames = self.frames.get(self.at..).unwrap_or_default();
        let is_local =
            |frame: &Frame| self.program.calls_at(frame).iter().any(|call| call.variable(name).is_some());
        if frames.iter().any(is_local) {
            return false;
        }
        let globals = self.program.find_globals(name);
        !globals.is_empty()
            && globals.iter().all(|variable| {
                let Place::Memory(address) = self.program.place_of(variable, None, self.state) else {
                    return true;
                };
                self.program.locate(address).object.as_ref() != self.program.main_object()
            })
    }

    /// Whether it is an array.
    pub fn is_array(&self, value: &TypedValue) -> bool {
        let mut of: Option<TypeId> = value.of;
        for _ in 0..DEEPEST {
            let Some(found) = of.and_then(|id| self.program.type_of(id)) else { break };
            of = match &found.kind {
                TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } => *of,
                kind => return matches!(kind, TypeKind::Array { .. }),
            };
        }
        value.type_name.ends_with(']')
    }
}

impl Seen {
    pub fn known(&self) -> Known {
        Known { name: self.mention.text.clone(), value: short_value(&self.value) }
    }

    /// Its bytes, if it is in memory.
    pub fn range(&self) -> Option<Range<u64>> {
        range_of(&self.value)
    }
}

pub(super) fn range_of(value: &TypedValue) -> Option<Range<u64>> {
    let size = value.size?;
    match value.place {
        Some(Place::Memory(address)) => Some(address..address.saturating_add(size)),
        _ => None,
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The name of a function as people know it: without what tells variants of it apart, and without template arguments and
/// parameters.
pub(super) fn plain_name(name: &str) -> String {
    let mut depth = 0usize;
    let mut bare = String::new();
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            _ if depth == 0 => bare.push(character),
            _ => {}
        }
    }
    let bare = bare.trim_start_matches("__GI_").trim_start_matches('_').trim_start_matches("IO_");
    let end = VARIANTS.iter().filter_map(|variant| bare.find(variant)).min().unwrap_or(bare.len());
    bare.get(..end).unwrap_or(bare).to_owned()
}

/// What follows the names of library functions that exist for several processors.
const VARIANTS: [&str; 5] = ["_sse", "_ssse", "_avx", "_evex", "_erms"];

/// A value that fits in a line; of a text its beginning, of what else is too long nothing.
pub(super) fn short_value(value: &TypedValue) -> Option<String> {
    let text = value_text(value);
    let is_cut = text.ends_with('…');
    (!is_cut || text.starts_with('"')).then_some(text).filter(|text| !is_empty(text))
}

/// Whether a value has nothing in it by its type.
fn is_empty(text: &str) -> bool {
    ["<incomplete type>", "{<No data fields>}", "{}"].contains(&text)
}

/// Whether what is told in place of a value only says that there is none.
pub(super) fn says_nothing(text: &str) -> bool {
    is_empty(text) || ["<optimized out>", "<not saved>", "<synthetic pointer>"].contains(&text)
}

/// A value for people: no types before pointers, a text instead of the pointer to it, no more than fits in a line.
pub(super) fn value_text(value: &TypedValue) -> String {
    for_people(&value.text)
}

/// The same of what has a type and a place, but no name.
pub(super) fn printed(program: &Program, of: TypeId, place: &Place, state: &State<'_>) -> String {
    let frames = program.backtrace_of(state, 1).frames;
    for_people(&program.print_value(of, place, frames.first(), state, Limits::default()))
}

fn for_people(text: &str) -> String {
    let bare = match text.strip_prefix('(').and_then(|rest| rest.split_once(") 0x")) {
        Some((_, digits)) if text.len() > digits.len() + 2 => {
            text.get(text.len() - digits.len() - 2..).unwrap_or(text)
        }
        _ => text,
    };
    let text = match bare.strip_prefix("0x").and_then(|rest| rest.split_once(' ')) {
        // A pointer to characters, with the characters.
        Some((_, rest)) if rest.starts_with('"') => rest,
        // A function, with its name; or characters in a variable, with its name and the characters.
        Some((_, rest)) if rest.starts_with('<') => {
            rest.split_once("> ").map(|(_, text)| text).filter(|text| text.starts_with('"')).unwrap_or(rest)
        }
        _ if bare == "0x0" => "NULL",
        // Of an array the text in it, not what lies behind.
        _ if bare.starts_with('"') => return shortened(&text_in_array(bare)),
        _ => bare,
    };
    shortened(text)
}

/// A text in quotes up to its first zero.
fn text_in_array(quoted: &str) -> String {
    let mut characters = quoted.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' if quoted.get(at..).is_some_and(|rest| rest.starts_with("\\000")) => {
                return format!("{}\"", quoted.get(..at).unwrap_or_default());
            }
            '\\' => {
                characters.next();
            }
            '"' => return quoted.get(..=at).unwrap_or(quoted).to_owned(),
            _ => {}
        }
    }
    quoted.to_owned()
}

fn shortened(text: &str) -> String {
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    if text.chars().count() <= LONGEST_VALUE {
        return text;
    }
    let mut cut: String = text.chars().take(LONGEST_VALUE - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let text = text.to_owned();
        let (of, place, size, truth) = (None, None, None, None);
        value_text(&TypedValue { of, type_name: String::new(), text, truth, place, size })
    }

    #[test]
    fn functions_have_the_names_that_people_know() {
        assert_eq!(plain_name("__GI___printf"), "printf");
        assert_eq!(plain_name("__strcpy_sse2_unaligned"), "strcpy");
        assert_eq!(plain_name("_IO_puts"), "puts");
        assert_eq!(plain_name("std::vector<int, std::allocator<int> >::vector(int)"), "std::vector::vector");
    }

    #[test]
    fn pointers_are_told_by_what_they_lead_to() {
        assert_eq!(told("(struct node *) 0x0"), "NULL");
        assert_eq!(told("(struct node *) 0x5555"), "0x5555");
        assert_eq!(told("0x7fff \"a b\""), "\"a b\"");
        assert_eq!(told("0x4010 <buffer> \"a b\""), "\"a b\"");
        assert_eq!(told("0x4010 <main+4>"), "<main+4>");
        assert_eq!(told("0x0"), "NULL");
        assert_eq!(told("\"3\\n\", '\\000' <repeats 29 times>"), "\"3\\n\"");
        assert_eq!(told("\"no\\000\\000rv\\367\""), "\"no\"");
        assert_eq!(told("\"a\\\\000\\\"b\", '\\000' <repeats 9 times>"), "\"a\\\\000\\\"b\"");
        assert_eq!(told("{x = 1}"), "{x = 1}");
        assert_eq!(told(&"x".repeat(100)).chars().count(), LONGEST_VALUE);
    }
}
