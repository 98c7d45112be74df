//! Whether the condition of the source held when a branch decided.

use lift::{Decoded, Op};
use program::conditions::{ConditionKind, Exit, Step};
use program::{Expression, Program};

use super::describe::View;

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
        (ConditionKind::Value { .. }, Step::Exit(exit)) => Some(exit == Exit::First),
        _ => None,
    }
}

/// The same by what the text says; `None` for a text that is more than an expression.
pub(super) fn by_text(view: &View<'_>, text: &str) -> Option<bool> {
    let expression = Expression::parse(condition(text)).ok()?;
    expression.evaluate(view.program, view.state, view.frame()?).ok()?.truth
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

/// What stands between the parentheses of an `if` or a loop, or all of it.
pub(super) fn condition(text: &str) -> &str {
    let text = text.trim();
    let bare = text.trim_start_matches(['}', ' ']);
    let bare = bare.strip_prefix("else").map_or(bare, str::trim_start);
    let bare = bare.strip_prefix("return ").unwrap_or(bare).trim_end_matches([';', ' ']);
    if let Some((chooses, _)) = bare.split_once(" ? ") {
        return assigned(chooses);
    }
    let Some(rest) = ["if", "while", "assert"].iter().find_map(|word| bare.strip_prefix(word)) else {
        return bare;
    };
    let Some(open) = rest.trim_start().strip_prefix('(') else {
        // Rust has no parentheses.
        let bare = rest.strip_prefix(' ').and_then(|rest| rest.strip_suffix('{'));
        return bare.map_or(text, str::trim);
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
    use super::condition;

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
        assert_eq!(condition("if (a"), "if (a");
        assert_eq!(condition("if end <= start {"), "end <= start");
        assert_eq!(condition("iffy {"), "iffy {");
    }
}
