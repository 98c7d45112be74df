//! One decision of a run, seen by itself.

use machine::{Time, Unwatched};
use program::{State, Stmt};

use super::describe::{Seen, View, value_text};
use super::mentions::mentions;
use super::{Known, returned, truth};
use crate::Recording;
use crate::dependence::Code;

/// So many of the values that were compared are told.
const MOST_TOLD: usize = 6;

/// What a condition decided, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub stmt: Option<Stmt>,
    /// The statement in one line; `None` without the source.
    pub text: Option<String>,
    /// The condition within it.
    pub condition: Option<String>,
    /// Whether it held, as far as that is known.
    pub holds: Option<bool>,
    /// What it was decided by.
    pub operands: Vec<Known>,
    /// Of the instruction that decided, in its object's file.
    pub address: u64,
}

impl Recording {
    /// What the instruction that retires at `time` decided.
    pub fn decision(&mut self, code: &mut Code<'_>, time: Time) -> Decided {
        let mut process = self.at(time);
        let address = process.machine.cpu.rip;
        let id = code.statement_at(address);
        let stmt = code.program().statement_at(address).or_else(|| code.statement(id).cloned());
        let place = code.program().address_in_file(address);
        let text = stmt.as_ref().and_then(|stmt| code.program().text_of(stmt));
        let condition = text.as_deref().map(|text| truth::condition(text).to_owned());
        let (operands, by_text) = {
            let state = State::of(&process.machine);
            let view = View::new(&state, code);
            let mentioned = mentions(condition.as_deref().unwrap_or_default());
            let seen: Vec<Seen> = mentioned.iter().filter_map(|mention| view.see(mention)).collect();
            let is_told = |seen: &&Seen| {
                // Of arrays only those tell something that are texts.
                let is_text = value_text(&seen.value).starts_with('"');
                let is_plain = is_text || !view.is_array(&seen.value);
                seen.mention.is_read && seen.value.place.is_some() && is_plain
            };
            let operands: Vec<Known> = seen.iter().filter(is_told).map(Seen::known).collect();
            (operands, truth::by_text(&view, condition.as_deref().unwrap_or_default()))
        };
        let returned = returned::returned(self, code, time, condition.as_deref().unwrap_or_default());
        let operands = returned.into_iter().chain(telling(operands)).take(MOST_TOLD).collect();
        process.run(Time(time.0.saturating_add(1)), &mut Unwatched);
        let holds = truth::by_branch(code.program(), address, process.machine.cpu.rip).or(by_text);
        Decided { stmt, text, condition, holds, operands, address: place }
    }
}

/// Without those that say nothing beside the others: what has no value here, and pointers that another one leads through.
fn telling(operands: Vec<Known>) -> Vec<Known> {
    let leads_through = |one: &Known, other: &Known| {
        let rest = other.name.strip_prefix(&one.name);
        rest.is_some_and(|rest| ["->", "[", "."].iter().any(|way| rest.starts_with(way)))
            || [format!("*{}", one.name), format!("(*{})", one.name)].contains(&other.name)
    };
    // Addresses and whole structures tell a person nothing.
    let is_plain = |value: &String| !["0x", "<", "{"].iter().any(|start| value.starts_with(start));
    let says = |one: &&Known| {
        one.value.as_ref().is_some_and(is_plain)
            && !operands.iter().any(|other| other != *one && leads_through(one, other))
    };
    operands.iter().filter(says).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, value: Option<&str>) -> Known {
        Known { name: name.to_owned(), value: value.map(str::to_owned) }
    }

    #[test]
    fn pointers_are_not_told_beside_what_they_lead_to() {
        let told = |operands: &[(&str, Option<&str>)]| {
            let operands = operands.iter().map(|(name, value)| known(name, *value)).collect();
            telling(operands).into_iter().map(|known| known.name).collect::<Vec<_>>()
        };
        assert_eq!(told(&[("p", Some("0x1")), ("p->x", Some("3")), ("i", Some("2"))]), ["p->x", "i"]);
        assert_eq!(told(&[("a", None), ("a[i]", Some("3")), ("i", Some("2"))]), ["a[i]", "i"]);
        assert_eq!(told(&[("*p", Some("1")), ("p", Some("0x1"))]), ["*p"]);
        assert_eq!(told(&[("p", Some("NULL"))]), ["p"]);
        assert!(told(&[("words", None), ("in", Some("<stdin>")), ("p", Some("0x5"))]).is_empty());
        assert_eq!(told(&[("pa", Some("1")), ("p", Some("2"))]), ["pa", "p"]);
    }
}
