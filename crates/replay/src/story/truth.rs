//! Whether the condition of the source held when a branch decided.

use lift::{Decoded, Op};
use machine::Cpu;
use program::conditions::{ConditionKind, Exit, Step, Written};
use program::{Expression, Program};

use super::describe::View;
use super::mentions::mentions;

/// What the branch at `branch` says of its condition when control goes on at `next`; `None` when it only decides a part
/// of it, or the source does not tell which side is which.
pub(super) fn by_branch(program: &Program, branch: u64, next: u64) -> Option<bool> {
    let code = program.file_bytes(branch)?;
    let Decoded::Instruction(instruction) = lift::decode(code, branch) else { return None };
    let mut ops = Vec::new();
    lift::lift(&instruction, &mut ops);
    let Some(Op::Branch { taken, not_taken, .. }) = ops.last() else { return None };
    if taken == not_taken || ![taken, not_taken].contains(&&next) {
        return None;
    }
    let conditions = program.conditions(branch)?;
    let (condition, member) = conditions.iter().find_map(|condition| {
        let member = condition.members.iter().find(|member| member.address == branch)?;
        Some((condition, member))
    })?;
    let step = if next == *taken { member.holds } else { member.fails };
    match (&condition.kind, step) {
        (ConditionKind::Branch { true_exit: Some(holding), .. }, Step::Exit(exit)) => Some(exit == *holding),
        (ConditionKind::Value { .. }, Step::Exit(exit)) if is_number(program, branch) => {
            Some(exit == Exit::First)
        }
        _ => None,
    }
}

/// Whether what is made of the condition at `address` is the number that the condition itself is, as far as the source tells. Of
/// `a < b ? 0 : 1` compilers make the number of `a >= b`, and of an `if` that chooses between two numbers as well.
fn is_number(program: &Program, address: u64) -> bool {
    let stmt = program.statement_at(address);
    let written = stmt.and_then(|stmt| program.written_condition(address, &stmt));
    written.is_some_and(|written| written.is_condition && !written.controls && !written.chooses)
}

/// What the machine and the text have to say together of whether a condition held. Where they contradict each other it is not
/// known which of them has misunderstood the source.
pub(super) fn settled(by_machine: Option<bool>, by_text: Option<bool>) -> Settled {
    match (by_machine, by_text) {
        (Some(one), Some(other)) if one != other => Settled::Contradicted,
        (by_machine, by_text) => Settled::Known(by_machine.or(by_text)),
    }
}

/// Whether a condition held, where nothing contradicts it.
pub(super) fn known(by_machine: Option<bool>, by_text: Option<bool>) -> Option<bool> {
    match settled(by_machine, by_text) {
        Settled::Known(holds) => holds,
        Settled::Contradicted => None,
    }
}

/// Whether a condition held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    Known(Option<bool>),
    Contradicted,
}

/// What the instruction at `address`, which makes a number of its condition, says of this; `cpu` is as it is before it.
pub(super) fn by_number(program: &Program, address: u64, cpu: &Cpu) -> Option<bool> {
    let Decoded::Instruction(instruction) = lift::decode(program.file_bytes(address)?, address) else {
        return None;
    };
    let mut ops = Vec::new();
    lift::lift(&instruction, &mut ops);
    let test = ops.iter().find_map(|op| match op {
        Op::Test { condition, .. } => Some(*condition),
        _ => None,
    })?;
    let conditions = program.conditions(address)?;
    let numbers = conditions.iter().filter(|one| matches!(one.kind, ConditionKind::Value { .. }));
    let member = numbers.flat_map(|one| &one.members).find(|member| member.address == address)?;
    match if cpu.flag_record().holds(test) { member.holds } else { member.fails } {
        Step::Exit(exit) => Some(exit == Exit::First).filter(|_| is_number(program, address)),
        Step::Member(_) | Step::Block(_) | Step::Unknown => None,
    }
}

/// The same by what the text of the condition says, as far as its parts can be evaluated; `None` for a text that is more than an expression,
/// and for one that changes what it asks about: which of the values counts depends on when it is looked at.
pub(super) fn by_text(view: &View<'_>, condition: &str) -> Option<bool> {
    if mentions(condition).iter().any(|mention| mention.is_assigned) {
        return None;
    }
    let truth = |text: &str| {
        let expression = Expression::parse(text).ok()?;
        expression.evaluate(view.program, view.state, view.frame()?).ok()?.truth
    };
    of_parts(condition, &truth)
}

/// Whether a condition holds by those of its parts whose truth is known.
fn of_parts(text: &str, truth: &dyn Fn(&str) -> Option<bool>) -> Option<bool> {
    if let Some(whole) = truth(text) {
        return Some(whole);
    }
    for (sign, decides) in [("||", true), ("&&", false)] {
        if let Some((left, right)) = split(text, sign) {
            let sides = [left, right].map(|side| of_parts(side.trim(), truth));
            return match sides {
                _ if sides.contains(&Some(decides)) => Some(decides),
                [Some(_), Some(_)] => Some(!decides),
                _ => None,
            };
        }
    }
    None
}

/// The sides of the last such operator that stands in no parentheses and no literal.
pub(super) fn split<'a>(text: &'a str, sign: &str) -> Option<(&'a str, &'a str)> {
    let (mut depth, mut quote, mut at, mut found) = (0usize, None, 0, None);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && text.get(at..).is_some_and(|rest| rest.starts_with(sign)) => {
                found = Some(at);
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.and_then(|at| Some((text.get(..at)?, text.get(at + sign.len()..)?)))
}

/// What is assigned, if something is.
fn assigned(text: &str) -> &str {
    let is_comparison = |at: usize| {
        let around = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| text.as_bytes().get(at)));
        matches!(around, [Some(b'=' | b'<' | b'>' | b'!'), _] | [_, Some(b'=')])
    };
    let assignment = text.match_indices('=').map(|(at, _)| at).rfind(|at| !is_comparison(*at));
    assignment.and_then(|at| text.get(at + 1..)).unwrap_or(text).trim()
}

/// The condition within what an instruction belongs to.
pub(super) fn condition_of(written: &Written) -> &str {
    if written.is_condition { &written.text } else { condition(&written.text) }
}

/// What stands between the parentheses of an `if` or a loop, or all of it.
pub fn condition(text: &str) -> &str {
    let text = text.trim();
    let bare = text.trim_start_matches(['}', ' ']);
    let bare = bare.strip_prefix("else").map_or(bare, str::trim_start);
    let bare = bare.strip_prefix("return ").unwrap_or(bare).trim_end_matches([';', ' ']);
    // In the arguments of a call it cannot be told where the question begins.
    let is_balanced = |text: &str| text.matches('(').count() == text.matches(')').count();
    if let Some((chooses, _)) = bare.split_once(" ? ").filter(|(chooses, _)| is_balanced(chooses)) {
        return assigned(chooses);
    }
    let words = ["if", "while", "assert!", "debug_assert!", "assert"];
    let Some(rest) = words.iter().find_map(|word| bare.strip_prefix(word)) else {
        return bare;
    };
    let Some(open) = rest.trim_start().strip_prefix('(') else {
        // Rust has no parentheses.
        return rest.strip_prefix(' ').map_or(text, |rest| rest.trim_end_matches(['{', ' ']));
    };
    let mut depth = 1usize;
    for (at, character) in open.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return open.get(..at).unwrap_or(text),
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{condition, of_parts};

    #[test]
    fn the_condition_is_what_stands_between_the_parentheses() {
        assert_eq!(condition("if (a && (b || c)) {"), "a && (b || c)");
        assert_eq!(condition("} else if (x == f(y))"), "x == f(y)");
        assert_eq!(condition("while (*p)"), "*p");
        assert_eq!(condition("i < n"), "i < n");
        assert_eq!(condition("assert(d == 5);"), "d == 5");
        assert_eq!(condition("return a < b;"), "a < b");
        assert_eq!(condition("entry->value = value[0] ? copy(value) : NULL;"), "value[0]");
        assert_eq!(condition("int sign = a == b ? 0 : 1;"), "a == b");
        assert_eq!(condition("printf(\"%d\", a ? b : c);"), "printf(\"%d\", a ? b : c)");
        assert_eq!(condition("if (a"), "if (a");
        assert_eq!(condition("if end <= start {"), "end <= start");
        assert_eq!(condition("if end <= start"), "end <= start");
        assert_eq!(condition("assert!(end <= start);"), "end <= start");
        assert_eq!(condition("iffy {"), "iffy {");
    }

    #[test]
    fn a_condition_is_known_by_the_parts_that_decide_it() {
        let truth = |text: &str| match text {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        for (text, expected) in [
            ("no && f(x)", Some(false)),
            ("f(x) && yes", None),
            ("f(x) || yes", Some(true)),
            ("no || no && f(x)", Some(false)),
            ("yes && no || yes", Some(true)),
            ("f(\"no ||\", no && no)", None),
            ("f(x)", None),
        ] {
            assert_eq!(of_parts(text, &truth), expected, "{text}");
        }
    }
}
