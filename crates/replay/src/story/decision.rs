//! One decision of a run, seen by itself.

use machine::{Time, Unwatched};
use program::{State, Stmt};

use super::describe::{Seen, View, says_nothing, value_text};
use super::mentions::{Mention, mentions};
use super::truth::Settled;
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
    /// It is that of a switch, which goes to a case and neither holds nor fails.
    pub is_switch: bool,
    /// Whether it held, as far as that is known.
    pub holds: Option<bool>,
    /// The same by what its text says alone.
    by_text: Option<bool>,
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
        let Written { stmt, text, condition, is_statement, is_switch } = written(code, address);
        let place = code.program().address_in_file(address);
        let condition_text = condition.as_deref().unwrap_or_default();
        let (operands, by_text) = {
            let state = State::of(&process.machine);
            let view = View::new(&state, code);
            let mentioned = settled_mentions(condition_text);
            let seen: Vec<Seen> = mentioned.iter().filter_map(|mention| view.see(mention)).collect();
            let is_told = |seen: &&Seen| {
                // Of arrays only those tell something that are texts.
                let is_text = value_text(&seen.value).starts_with('"');
                let is_plain = is_text || !view.is_array(&seen.value);
                seen.mention.is_read && seen.value.place.is_some() && is_plain
            };
            let operands: Vec<Known> = seen.iter().filter(is_told).map(Seen::known).collect();
            (operands, truth::by_text(&view, condition_text).filter(|_| !is_switch))
        };
        let returned = returned::returned(self, code, time, condition_text);
        let operands =
            returned.into_iter().chain(telling(condition_text, operands)).take(MOST_TOLD).collect();
        let by_number = truth::by_number(code.program(), address, &process.machine.cpu);
        process.run(Time(time.0.saturating_add(1)), &mut Unwatched);
        let by_branch = truth::by_branch(code.program(), address, process.machine.cpu.rip);
        // A statement with a condition somewhere in it does not hold.
        let by_machine = by_branch.or(by_number).filter(|_| !is_statement);
        let decided =
            Decided { stmt, text, condition, is_switch, holds: None, by_text, operands, address: place };
        decided.by_machine(by_machine)
    }
}

impl Decided {
    /// The same with what the machine says of whether it held. Where the text contradicts that, neither the side nor the values
    /// are told: one of them is not what the source means.
    pub fn by_machine(self, by_machine: Option<bool>) -> Decided {
        if self.is_switch {
            return self;
        }
        match truth::settled(by_machine, self.by_text) {
            Settled::Known(holds) => Decided { holds: holds.or(self.holds), ..self },
            Settled::Contradicted => Decided { holds: None, operands: Vec::new(), ..self },
        }
    }
}

/// What a condition speaks of and what has the same value when it is decided as when it was asked: neither what it changes itself, as in
/// `n++ == limit`, nor the names that it gives, as in `if let Some(name) = next()`.
fn settled_mentions(condition: &str) -> Vec<Mention> {
    let all = mentions(condition);
    let bound = bound_names(condition);
    let is_settled = |mention: &&Mention| {
        let words: Vec<&str> = mention.text.split(|one: char| !is_word(one)).collect();
        let changes = |other: &Mention| {
            let changed: Vec<&str> = other.text.split(|one: char| !is_word(one)).collect();
            other.is_assigned && words.windows(changed.len()).any(|part| part == changed)
        };
        !all.iter().any(changes) && !words.iter().any(|word| bound.contains(word))
    };
    all.iter().filter(is_settled).cloned().collect()
}

/// The words of the patterns that values are matched with, and those that begin them: the names among them get their values only then.
fn bound_names(condition: &str) -> Vec<&str> {
    let mut words = condition.split(|one: char| !is_word(one) && one != '=').filter(|word| !word.is_empty());
    let mut bound = Vec::new();
    while let Some(word) = words.next() {
        let ends: &[&str] = match word {
            "let" => &["="],
            "for" => &["in"],
            _ => continue,
        };
        bound.push(word);
        bound.extend(ends);
        bound.extend(words.by_ref().take_while(|word| !ends.contains(word)));
    }
    bound
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// A condition as the source has it.
struct Written {
    stmt: Option<Stmt>,
    text: Option<String>,
    condition: Option<String>,
    /// All that is known is the statement that it is somewhere in.
    is_statement: bool,
    is_switch: bool,
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
    let is_switch = found.as_ref().is_some_and(|found| found.is_switch);
    let condition = match found {
        Some(found) => Some(truth::condition_of(&found).to_owned()),
        None => text.as_deref().map(|text| truth::condition(text).to_owned()),
    };
    Written { stmt, text, condition, is_statement, is_switch }
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
            // Where a pointer leads, but not that something has no value here.
            Some("<") if is_compared(condition, &one.name) && !says_nothing(value) => value,
            Some(_) => return None,
        };
        Some(Known { name: one.name.clone(), value: Some(value.to_owned()) })
    });
    told.collect()
}

/// Whether a condition asks for the value of something by itself, not for what it leads to or what a function makes of it.
fn is_compared(condition: &str, name: &str) -> bool {
    condition.match_indices(name).any(|(at, _)| {
        let before = condition.get(..at).unwrap_or_default().trim_end();
        let after = condition.get(at + name.len()..).unwrap_or_default().trim_start();
        let begins = match before.strip_suffix('(') {
            Some(around) => !around.trim_end().ends_with(is_word),
            // A single `&` asks for the address.
            None => {
                before.is_empty() || before.ends_with("&&") || before.ends_with(['!', '|', '=', '<', '>'])
            }
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
        for condition in ["f(p)", "f(a, p)", "*p", "up", "p->next", "p[1]", "f(&p)", "a == &p"] {
            assert_eq!(told(condition, "0x5555"), None, "{condition}");
        }
        for value in ["<optimized out>", "<incomplete type>", "<not saved>"] {
            assert_eq!(told("!p", value), None, "{value}");
        }
    }

    #[test]
    fn what_a_condition_changes_has_no_value_of_its_own() {
        let settled = |condition| {
            settled_mentions(condition).into_iter().map(|mention| mention.text).collect::<Vec<_>>()
        };
        assert_eq!(settled("n++ == limit"), ["limit"]);
        assert_eq!(settled("*p++ == end"), ["end"]);
        assert_eq!(settled("(c = getchar()) != EOF && c != last && ca"), ["EOF", "last", "ca"]);
        assert_eq!(settled("list[i] == list[--i]"), ["list"]);
        assert_eq!(settled("n == limit"), ["n", "limit"]);
    }

    #[test]
    fn names_that_a_pattern_gives_have_no_value_yet() {
        let settled = |condition| {
            settled_mentions(condition).into_iter().map(|mention| mention.text).collect::<Vec<_>>()
        };
        assert_eq!(settled("let Some((name, value)) = parse(&line)"), ["line"]);
        assert_eq!(settled("ready && let Some(x) = next && y > 3"), ["ready", "next", "y"]);
        assert_eq!(settled("for (at, one) in list"), ["list"]);
        assert_eq!(settled("at == letter"), ["at", "letter"]);
    }
}
