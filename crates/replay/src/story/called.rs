//! What a cell is called at an instant.

use lift::Reg;
use machine::Time;
use program::{State, TypeId, TypedValue};

use super::ask::register;
use super::describe::{View, range_of, value_text};
use crate::Recording;
use crate::dependence::{Cell, Code};

/// A cell as the source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    pub name: String,
    /// Of what is called so, if it is just the cell.
    pub of: Option<TypeId>,
    pub value: Option<String>,
}

impl Recording {
    /// What a cell is called before the instruction of a time, seen from the innermost statement in scope.
    pub fn called(&mut self, code: &mut Code<'_>, time: Time, cell: Cell) -> Option<Called> {
        let process = self.at(time);
        let state = State::of(&process.machine);
        let view = View::new(&state, code);
        match cell {
            Cell::Memory { address, length } => {
                let name = view.name(address, length)?;
                let is_it = |value: &TypedValue| {
                    range_of(value)
                        .is_some_and(|range| range.start == address && range.end - address == length)
                };
                let value = view.typed(&name, address).filter(is_it);
                Some(called(name, value))
            }
            Cell::Register(reg, _) => {
                let name = view.name_of_register(number_of(reg)?)?;
                let value = view.evaluate(&name);
                Some(called(name, value))
            }
            Cell::Kernel { .. } => None,
        }
    }
}

fn called(name: String, value: Option<TypedValue>) -> Called {
    Called { name, of: value.as_ref().and_then(|value| value.of), value: value.as_ref().map(value_text) }
}

/// DWARF's number of a register.
fn number_of(reg: Reg) -> Option<u16> {
    (0..=40).find(|number| register(*number) == Some(reg))
}
