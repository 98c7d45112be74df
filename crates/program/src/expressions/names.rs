//! What a name means at a place of the program.

use std::ops::Range;

use super::evaluate::{Evaluation, Operand, Outcome};
use super::numbers::{Basic, Number};
use super::places::Located;
use super::shape::Shape;
use super::{EvalError, EvalErrorKind};
use crate::near::{nearest, suggestion};
use crate::types::TypeKind;
use crate::variables::Variable;

/// What to say after a name that means nothing.
pub(super) fn hint(name: &str, close: &[String]) -> String {
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if close.is_empty() && name.chars().all(is_capital) {
        return "; macros are not known, write what it stands for".to_owned();
    }
    suggestion(close)
}

impl Evaluation<'_> {
    /// A variable, a member of `this`, or an enumerator.
    pub fn name(&self, name: &str, at: &Range<usize>) -> Outcome<Operand> {
        if let Some(variable) = self.find_variable(name) {
            return self.variable(&variable, at);
        }
        if let Some(this) = self.find_variable("this")
            && let Ok(found) = self.variable(&this, at).and_then(|this| self.member(this, name, at))
        {
            return Ok(found);
        }
        if let Some(value) = self.enumerator(name) {
            let of = if i32::try_from(value).is_ok() { Basic::INT } else { Basic::LONG };
            return Ok(Operand::Number(Number::Integer(value), of));
        }
        let calls = self.program.calls_at(self.frame);
        let globals = self.program.unit_globals(self.frame);
        let visible = calls.iter().take(1).flat_map(|call| call.variables()).chain(&globals);
        let close = nearest(visible.map(|variable| variable.name.as_str()), name);
        let kind = EvalErrorKind::NoVariable { name: name.to_owned(), close };
        Err(EvalError { at: at.clone(), kind })
    }

    fn find_variable(&self, name: &str) -> Option<Variable> {
        let mut known = self.known.borrow_mut();
        let here = known.entry(self.frame.lookup).or_default();
        if let Some((_, found)) = here.iter().find(|(other, _)| other == name) {
            return found.clone();
        }
        let found = self.program.find_variable(name, self.frame);
        here.push((name.to_owned(), found.clone()));
        found
    }

    pub fn variable(&self, variable: &Variable, at: &Range<usize>) -> Outcome<Operand> {
        let Some(of) = variable.of else {
            return Err(self.senseless(at, format!("`{}` has no type", variable.name)));
        };
        let place = self.program.place_of(variable, Some(self.frame), self.state);
        self.located(Located { shape: Shape::Typed(of), place, bits: None }, at)
    }

    /// The value of an enumerator of the unit that the frame is in: by its debug information, or else, where that leaves
    /// out an enumeration, by its source.
    fn enumerator(&self, name: &str) -> Option<i128> {
        let (object, bias) = self.program.object_at(self.frame.lookup)?;
        let (info, types) = self.program.debug(object)?;
        let unit = info.unit_at(self.frame.lookup.wrapping_sub(bias))?;
        let root = types.debug.root(types.debug.handle(unit)?)?;
        let name_alone = name.rsplit("::").next().unwrap_or(name);
        let declared = root.inside(&[gimli::DW_TAG_enumeration_type]).find_map(|(_, entry)| {
            let found = types.get(types.id(entry.die));
            let TypeKind::Enum { enumerators, .. } = &found.kind else { return None };
            enumerators.iter().find(|found| found.name == name_alone).map(|found| found.value)
        });
        declared.or_else(|| self.enumerator_of_source(name))
    }

    fn enumerator_of_source(&self, name: &str) -> Option<i128> {
        let location = self.program.locate(self.frame.lookup);
        let file = &location.position()?.file;
        let source = self.program.sources.file(file, location.object.as_ref()?)?;
        let known = source.syntax()?.enumerators(source.content());
        known.get(name).map(|value| i128::from(*value))
    }
}
