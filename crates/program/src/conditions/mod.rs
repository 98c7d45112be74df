//! Conditions: the groups of branches that one condition of the source compiles to.
//!
//! `if (a && b || c)` is three jumps, `x == y` on floats is two, `while (*p++)` is one, `return a < b` is none. A
//! person thinks of each as one condition that holds or does not, and so does everything that switches, counts
//! or explains conditions. This module finds the groups in the control flow graph, with the source as referee:
//!
//! - `flow` is the graph without blocks that only jump; `trace` evaluates each block, so that the operands of
//!   its comparisons are known; `units` says which expression of the source an instruction belongs to, by line
//!   table and, where it can be read, by the text itself (`text`).
//! - `reduce` puts branches together. Branches are never joined across two expressions of the source: `if (a)`
//!   and, within it, `if (b)` stay apart although their code is that of `if (a && b)`. Without the text,
//!   an expression is a line; then two such `if`s on one line are one condition, which decides the
//!   same. Without lines only the two branches of one comparison of floats are joined.
//! - `switches` finds switch statements first: jump tables, chains and trees of comparisons of one number, and words of
//!   bits that it is looked up in (`bit_tests`).
//! - `build` makes [`Condition`]s of the groups, with the exit of the true side where the text tells which one
//!   it is, and of setcc and cmovcc that are part of no group.
//!
//! What is not recognised stays apart: a group has fewer members then, and its exits are those that its own
//! branches have.

mod bit_tests;
mod boolean;
mod build;
mod comparison;
mod condition;
mod expression;
mod flow;
mod groups;
mod numbers;
mod print;
mod reduce;
mod steps;
mod switches;
mod text;
mod trace;
mod units;
mod written;

use std::rc::Rc;
use std::sync::Arc;

use crate::cfg::Cfg;
use crate::lines::Row;

pub use comparison::{Comparison, MemoryOperand, Numbers, Operand, Relation};
pub use condition::{Case, Condition, ConditionId, ConditionKind, Exit, Member, MemberKind, Step};
pub(crate) use text::Text;
pub use text::Written;

/// The conditions of a function, sorted by address. `rows` are the function's rows of the line table, sorted by
/// address; `text` finds the text of a source file; `code` gives the bytes at an address.
pub(crate) fn find<'a>(
    cfg: &Cfg,
    rows: Vec<Row>,
    text: impl FnMut(&Arc<str>) -> Option<Rc<Text>>,
    code: impl Fn(u64) -> Option<&'a [u8]>,
) -> Vec<Condition> {
    let units = units::Units::new(rows, text);
    let flow = flow::Flow::new(cfg, &units, code);
    let mut builder = build::Builder::new(&flow);
    let (mut found, taken) = switches::find(&mut builder);
    let groups = reduce::reduce(&flow, &taken);
    found.extend(groups.finished().filter_map(|group| builder.group(group)));
    for block in 0..cfg.blocks.len() {
        found.extend(builder.outcomes(block));
    }
    found.sort_by_key(|condition| condition.id);
    found
}
