//! `whydunit dump statements`: where each statement of a function is, in the source and in the code.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use program::{Clause, Part, PlacedStmt, Program, Scope, Stmt, Trust};

use super::{Asked, open};
use crate::args::DumpStatements;
use crate::streams::printable;
use crate::view::{short_path, tell_warnings};

pub fn text(arguments: &DumpStatements) -> Result<String> {
    let (map, scope) = (arguments.view.sources.source_map()?, arguments.view.scope()?);
    let Asked { program, start, .. } = open(&arguments.function)?;
    let program = program.with_source_map(map);
    let mut found = program.statements_of(start);
    if found.is_empty() {
        found = program.statements_of_variable(start);
    }
    if found.is_empty() {
        tell_warnings(&program);
        bail!("no statement is known of {}", arguments.function.symbol);
    }
    let text = found.iter().map(|placed| entry(&program, &scope, placed)).collect();
    tell_warnings(&program);
    Ok(text)
}

/// A statement's place and text, and below them the addresses.
fn entry(program: &Program, scope: &Scope, placed: &PlacedStmt) -> String {
    let PlacedStmt { stmt, ranges } = placed;
    let mut text = place(stmt);
    let span = program.span_of(stmt);
    if span.start() != span.end() {
        let _ = write!(text, " (lines {} to {})", span.start(), span.end());
    }
    if let Some(function) = &stmt.function {
        let _ = write!(text, " in {}", printable(function));
    }
    match &stmt.part {
        Part::Line => {}
        Part::Clause { clause, .. } => {
            let _ = write!(text, ", {}", clause.map_or("a clause by its column", clause_name));
        }
        Part::Initialiser { variable, element } => {
            let _ = write!(text, ", initialises {}", printable(&format!("{variable}{element}")));
        }
    }
    if let Some(Trust::Trusted(reason)) = ranges.first().map(|range| scope.of(program, range.start))
        && !matches!(stmt.part, Part::Initialiser { .. })
    {
        let _ = write!(text, " (trusted: {})", printable(&reason.to_string()));
    }
    text.push('\n');
    if let Some(source) = program.text_of(stmt) {
        let _ = writeln!(text, "    | {}", printable(&source.replace('\t', " ")));
    }
    for range in ranges {
        let _ = writeln!(text, "    {:#x}..{:#x}", range.start, range.end);
    }
    text
}

fn place(stmt: &Stmt) -> String {
    let column = stmt.column().map_or_else(String::new, |column| format!(":{column}"));
    format!("{}:{}{column}", short_path(&stmt.file), stmt.line)
}

fn clause_name(clause: Clause) -> &'static str {
    match clause {
        Clause::Initialiser => "initialiser of a for",
        Clause::Condition => "condition of a for",
        Clause::Step => "step of a for",
    }
}
