//! A stopped guest as a person sees it who looks at one statement: names and values.

use std::cell::OnceCell;
use std::ops::Range;

use program::{
    Expression, Frame, Names, NoAllocations, Place, Program, State, TypeId, TypeKind, TypedValue,
};

use super::Known;
use super::mentions::Mention;
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
    /// Sees it from the innermost frame of this statement, or else from the innermost one in scope.
    pub fn new<'p: 'a>(state: &'a State<'a>, code: &mut Code<'p>, stmt: Option<StmtId>) -> View<'a> {
        let program = code.program();
        let frames = program.backtrace_of(state, MOST_FRAMES).frames;
        let statements: Vec<StmtId> = frames.iter().map(|frame| code.statement_at(frame.lookup)).collect();
        let own = statements.iter().position(|found| Some(*found) == stmt);
        let in_scope = || statements.iter().position(|found| *found != StmtId::NONE);
        let at = own.or_else(in_scope).unwrap_or(0);
        View { program, state, frames, statements, at, names: OnceCell::new() }
    }

    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.at)
    }

    /// The function that the statement called, if it is inside of one.
    pub fn called(&self) -> Option<String> {
        let frame = self.frames.get(self.at.checked_sub(1)?)?;
        self.program.locate(frame.lookup).function_name().map(str::to_owned)
    }

    /// Whether a statement is one of the calls that led here.
    pub fn is_called_by(&self, stmt: StmtId) -> bool {
        self.statements.iter().skip(self.at + 1).any(|found| *found == stmt)
    }

    pub fn evaluate(&self, text: &str) -> Option<TypedValue> {
        Expression::parse(text).ok()?.evaluate(self.program, self.state, self.frame()?).ok()
    }

    pub fn see(&self, mention: &Mention) -> Option<Seen> {
        let value = self.evaluate(&mention.text)?;
        Some(Seen { mention: mention.clone(), value })
    }

    /// What some bytes are called.
    pub fn name(&self, address: u64, size: u64) -> Option<String> {
        let names = self.names.get_or_init(|| {
            let frames = self.frames.get(self.at..).unwrap_or_default();
            self.program.names(self.state, frames, &NoAllocations)
        });
        names.of_memory(address, size)
    }

    /// Some bytes by their name and with their value.
    pub fn known(&self, address: u64, size: u64) -> Option<Known> {
        let name = self.name(address, size)?;
        let value = self.evaluate(&name).map(|value| value_text(&value));
        Some(Known { name, value })
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
        Known { name: self.mention.text.clone(), value: Some(value_text(&self.value)) }
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

/// A value for people: no types before pointers, a text instead of the pointer to it, no more than fits in a line.
pub(super) fn value_text(value: &TypedValue) -> String {
    let text = value.text.as_str();
    let bare = match text.strip_prefix('(').and_then(|rest| rest.split_once(") 0x")) {
        Some((_, digits)) if text.len() > digits.len() + 2 => {
            text.get(text.len() - digits.len() - 2..).unwrap_or(text)
        }
        _ => text,
    };
    let text = match bare.strip_prefix("0x").and_then(|rest| rest.split_once(' ')) {
        // A pointer to characters, with the characters.
        Some((_, rest)) if rest.starts_with('"') => rest,
        // A function, with its name.
        Some((_, rest)) if rest.starts_with('<') => rest,
        _ if bare == "0x0" => "NULL",
        _ => bare,
    };
    shortened(text)
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
    fn pointers_are_told_by_what_they_lead_to() {
        assert_eq!(told("(struct node *) 0x0"), "NULL");
        assert_eq!(told("(struct node *) 0x5555"), "0x5555");
        assert_eq!(told("0x7fff \"a b\""), "\"a b\"");
        assert_eq!(told("0x0"), "NULL");
        assert_eq!(told("{x = 1}"), "{x = 1}");
        assert_eq!(told(&"x".repeat(100)).chars().count(), LONGEST_VALUE);
    }
}
