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
        let Written { stmt, text, condition, is_statement } = written(code, address);
        let place = code.program().address_in_file(address);
        let condition_text = condition.as_deref().unwrap_or_default();
        let (operands, by_text) = {
            let state = State::of(&process.machine);
            let view = View::new(&state, code);
            let mentioned = mentions(condition_text);
            let seen: Vec<Seen> = mentioned.iter().filter_map(|mention| view.see(mention)).collect();
            let is_told = |seen: &&Seen| {
                // Of arrays only those tell something that are texts.
                let is_text = value_text(&seen.value).starts_with('"');
                let is_plain = is_text || !view.is_array(&seen.value);
                seen.mention.is_read && seen.value.place.is_some() && is_plain
            };
            let operands: Vec<Known> = seen.iter().filter(is_told).map(Seen::known).collect();
            (operands, truth::by_text(&view, condition_text))
        };
        let returned = returned::returned(self, code, time, condition_text);
        let operands =
            returned.into_iter().chain(telling(condition_text, operands)).take(MOST_TOLD).collect();
        let by_number = truth::by_number(code.program(), address, &process.machine.cpu);
        process.run(Time(time.0.saturating_add(1)), &mut Unwatched);
        let by_branch = truth::by_branch(code.program(), address, process.machine.cpu.rip);
        // A statement with a condition somewhere in it does not hold.
        let by_machine = by_branch.or(by_number).filter(|_| !is_statement);
        let holds = by_machine.or(by_text);
        Decided { stmt, text, condition, holds, operands, address: place }
    }
}

/// A condition as the source has it.
struct Written {
    stmt: Option<Stmt>,
    text: Option<String>,
    condition: Option<String>,
    /// All that is known is the statement that it is somewhere in.
    is_statement: bool,
}

/// The condition that the instruction at an address decides.
fn written(code: &mut Code<'_>, address: u64) -> Written {
    let id = code.statement_at(address);
    let program = code.program();
    let stmt = program.statement_at(address).or_else(|| code.statement(id).cloned());
    let decided = stmt.as_ref().and_then(|stmt| program.deciding_statement(address, stmt));
    let (stmt, found) = match decided {
        Some((deciding, found)) => (Some(deciding), Some(found)),
        None => {
            let found = stmt.as_ref().and_then(|stmt| program.written_condition(address, stmt));
            (stmt, found)
        }
    };
    let text = stmt.as_ref().and_then(|stmt| program.text_of(stmt));
    let is_statement =
        found.as_ref().is_some_and(|found| !found.is_condition && truth::condition_of(found) == found.text);
    let condition = match found {
        Some(found) => Some(truth::condition_of(&found).to_owned()),
        None => text.as_deref().map(|text| truth::condition(text).to_owned()),
    };
    Written { stmt, text, condition, is_statement }
}

/// Without those that say nothing beside the others: what has no value here, and pointers that another one leads through.
fn telling(condition: &str, operands: Vec<Known>) -> Vec<Known> {
    let leads_through = |one: &Known, other: &Known| {
        let rest = other.name.strip_prefix(&one.name);
        rest.is_some_and(|rest| ["->", "[", "."].iter().any(|way| rest.starts_with(way)))
            || [format!("*{}", one.name), format!("(*{})", one.name)].contains(&other.name)
    };
    let says = |one: &&Known| !operands.iter().any(|other| other != *one && leads_through(one, other));
    let told = operands.iter().filter(says).filter_map(|one| {
        let value = one.value.as_deref()?;
        let value = match ["0x", "<", "{"].into_iter().find(|start| value.starts_with(start)) {
            None => value,
            // Addresses and whole structures tell a person nothing, but for what a pointer was asked for itself.
            Some("0x") if is_compared(condition, &one.name) => "not NULL",
            Some("<") if is_compared(condition, &one.name) => value,
            Some(_) => return None,
        };
        Some(Known { name: one.name.clone(), value: Some(value.to_owned()) })
    });
    told.collect()
}

/// Whether a condition asks for the value of something by itself, not for what it leads to or what a function makes of it.
fn is_compared(condition: &str, name: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    condition.match_indices(name).any(|(at, _)| {
        let before = condition.get(..at).unwrap_or_default().trim_end();
        let after = condition.get(at + name.len()..).unwrap_or_default().trim_start();
        let begins = match before.strip_suffix('(') {
            Some(around) => !around.trim_end().ends_with(is_word),
            None => before.is_empty() || before.ends_with(['!', '&', '|', '=', '<', '>']),
        };
        let ends = after.is_empty() || after.starts_with([')', '&', '|', '=', '!', '<', '>', '?']);
        begins && ends
    })
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
            telling("", operands).into_iter().map(|known| known.name).collect::<Vec<_>>()
        };
        assert_eq!(told(&[("p", Some("0x1")), ("p->x", Some("3")), ("i", Some("2"))]), ["p->x", "i"]);
        assert_eq!(told(&[("a", None), ("a[i]", Some("3")), ("i", Some("2"))]), ["a[i]", "i"]);
        assert_eq!(told(&[("*p", Some("1")), ("p", Some("0x1"))]), ["*p"]);
        assert_eq!(told(&[("p", Some("NULL"))]), ["p"]);
        assert!(told(&[("words", None), ("in", Some("<stdin>")), ("p", Some("0x5"))]).is_empty());
        assert_eq!(told(&[("pa", Some("1")), ("p", Some("2"))]), ["pa", "p"]);
    }

    #[test]
    fn pointers_are_told_where_a_condition_asks_for_them() {
        let told = |condition: &str, value: &str| {
            let told = telling(condition, vec![known("p", Some(value))]);
            told.into_iter().next().and_then(|known| known.value)
        };
        for condition in ["p", "!p", "a && !p", "(p) && b", "p != NULL", "q == p", "(p)"] {
            assert_eq!(told(condition, "0x5555").as_deref(), Some("not NULL"), "{condition}");
        }
        assert_eq!(told("!p", "<table+8>").as_deref(), Some("<table+8>"));
        for condition in ["f(p)", "f(a, p)", "*p", "up", "p->next", "p[1]"] {
            assert_eq!(told(condition, "0x5555"), None, "{condition}");
        }
    }
}
