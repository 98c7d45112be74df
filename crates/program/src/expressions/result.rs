//! What an expression is worth.

use super::evaluate::{Evaluation, Operand, Outcome};
use super::numbers::{Basic, Number};
use super::shape::{Form, Shape};
use super::syntax::Node;
use crate::types::TypeId;
use crate::values::Limits;
use crate::variables::Place;

/// A value, with where it is if it was not computed.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedValue {
    /// Its type, when that is one of the program's.
    pub of: Option<TypeId>,
    /// Its type as C writes it.
    pub type_name: String,
    /// As gdb would print it.
    pub text: String,
    /// Whether it counts as true; `None` for what has no truth, as a struct.
    pub truth: Option<bool>,
    /// Where it is; `None` for what was computed. A bit-field is a piece.
    pub place: Option<Place>,
    /// In bytes; `None` when it is not known.
    pub size: Option<u64>,
}

impl Evaluation<'_> {
    pub fn result(&self, root: &Node) -> Outcome<TypedValue> {
        match self.operand(root)? {
            Operand::Place(found) => {
                let form = self.form(&found.shape);
                let is_whole = matches!(form, Form::Record(..) | Form::Array { .. } | Form::Other);
                let (text, truth) = match is_whole {
                    true => (None, matches!(form, Form::Array { .. }).then_some(true)),
                    false => {
                        let (text, truth) = computed(&self.load(&found, &root.at)?);
                        (Some(text), Some(truth))
                    }
                };
                let printed = match (&found.shape, found.bits) {
                    (Shape::Typed(id), None) => Some(self.program.print_value(
                        *id,
                        &found.place,
                        Some(self.frame),
                        self.state,
                        Limits::default(),
                    )),
                    _ => None,
                };
                Ok(TypedValue {
                    of: typed(&found.shape),
                    type_name: self.type_name(Some(&found.shape)),
                    text: printed.or(text).unwrap_or_else(|| "{…}".to_owned()),
                    truth,
                    place: Some(found.told_place()),
                    size: self.size(&found.shape),
                })
            }
            operand => {
                let (text, truth) = computed(&operand);
                let shape = match operand {
                    Operand::Number(_, basic) => Shape::Basic(basic),
                    Operand::Pointer { to, .. } => Shape::Pointer(to.map(Box::new)),
                    Operand::Text(_) | Operand::Place(_) => {
                        let message = "a text alone is no expression; compare it with something".to_owned();
                        return Err(self.senseless(&root.at, message));
                    }
                };
                Ok(TypedValue {
                    of: None,
                    type_name: self.type_name(Some(&shape)),
                    text,
                    truth: Some(truth),
                    place: None,
                    size: self.size(&shape),
                })
            }
        }
    }
}

fn typed(shape: &Shape) -> Option<TypeId> {
    match shape {
        Shape::Typed(id) => Some(*id),
        _ => None,
    }
}

/// Text and truth of a value that is at no place.
fn computed(operand: &Operand) -> (String, bool) {
    match operand {
        Operand::Number(value, basic) => {
            let text = match (value, basic) {
                (Number::Integer(value), Basic::Integer { size: 16, signed: false }) => {
                    (*value as u128).to_string()
                }
                (Number::Integer(value), _) => value.to_string(),
                (Number::Float(value), Basic::Float) => (*value as f32).to_string(),
                (Number::Float(value), _) => value.to_string(),
            };
            (text, value.is_true())
        }
        Operand::Pointer { address, .. } => (format!("{address:#x}"), *address != 0),
        Operand::Text(_) | Operand::Place(_) => (String::new(), true),
    }
}
