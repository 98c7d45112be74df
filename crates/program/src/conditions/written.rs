//! The condition of the source that an instruction decides, in the words of the source.

use std::rc::Rc;

use crate::program::Program;
use crate::statements::{Part, Stmt};

use super::text::{Text, Unit, Written};
use super::{Condition, MemberKind};

/// What makes a text a condition.
const DECIDES: [&str; 7] = ["==", "!=", "<", ">", "&&", "||", "?"];

impl Program {
    /// The condition that the instruction at `address`, a part of `stmt`, decides: what stands between the parentheses of an `if`, or
    /// all of the statement. `None` where the source is not there, or the line table knows no columns.
    pub fn written_condition(&self, address: u64, stmt: &Stmt) -> Option<Written> {
        let (text, unit, position) = self.unit_at(address, stmt)?;
        text.written(unit, position)
    }

    /// The statement with the condition that decides whether the effect of `stmt` comes about, where the instruction at `address` of `stmt`
    /// chooses that: a compiler can make `if (a < b) c = d;` a conditional move, which belongs to the `c = d`.
    pub fn deciding_statement(&self, address: u64, stmt: &Stmt) -> Option<(Stmt, Written)> {
        let conditions = self.conditions(address)?;
        let mut members = conditions.iter().flat_map(|Condition { members, .. }| members);
        let member = members.find(|member| member.address == address)?;
        if !matches!(member.kind, MemberKind::Move | MemberKind::Set) {
            return None;
        }
        let (text, unit, position) = self.unit_at(address, stmt)?;
        let own = text.written(unit, position)?;
        if own.is_condition || DECIDES.iter().any(|sign| own.text.contains(sign)) {
            return None;
        }
        let written = text.written(text.controlling(position.0, position.1)?, position)?;
        let mut placed = self.statements_of(address).into_iter().map(|placed| placed.stmt);
        let known = placed.find(|one| one.file == stmt.file && one.line == written.line);
        let line = || Stmt { line: written.line, part: Part::Line, ..stmt.clone() };
        Some((known.unwrap_or_else(line), written))
    }

    fn unit_at(&self, address: u64, stmt: &Stmt) -> Option<(Rc<Text>, Unit, (u32, u32))> {
        let lines = self.span_of(stmt);
        let mut positions = self.locate(address).frames.into_iter().filter_map(|frame| frame.position);
        let found = positions.find(|one| one.file == stmt.file && lines.contains(&one.line))?;
        let position = (found.line, found.column?);
        let text = self.text(&stmt.file, &stmt.object)?;
        let unit = text.unit_at(position.0, position.1)?;
        Some((text, unit, position))
    }
}
