//! `whydunit dump formula`: what the statements of the program computed a value from.

use std::collections::BTreeMap;
use std::fmt::Write;

use logic::concolic::{Addresses, Definition};
use logic::formula::{Formula, after, formula};
use logic::text::{Names, SourceNames, in_c};
use logic::{Node, Variable};
use replay::story::Called;
use replay::{Code, Recording};

use super::runs;
use crate::args::DumpFormula;
use crate::asking::{self, RecordedCase};
use crate::exit_code::{self, Failure};
use crate::progress::Progress;
use crate::slice::criterion;
use crate::streams::printable;
use crate::view::tell_warnings_about;

pub fn text(arguments: &DumpFormula) -> Result<String, Failure> {
    let target = asking::target(&arguments.at, arguments.hit)?;
    let mut recorded = RecordedCase::open(&arguments.case, &arguments.view)?;
    let progress = Progress::of("following values", recorded.recording.gauge());
    let RecordedCase { recording, program, scope, .. } = &mut recorded;
    let mut code = Code::new(program, scope.clone());
    let asked = target.ask(recording, &mut code).map_err(asking::refused)?;
    let Some(formula) = formula(recording, &mut code, &asked.question, Addresses::Insensitive) else {
        let message = "only values have formulas; say which by FILE:LINE:EXPRESSION, output:BYTE or exit";
        return Err(Failure::new(exit_code::USAGE, anyhow::anyhow!(message)));
    };
    let told: Vec<Definition> = told(&formula, arguments.most);
    let mut names = SourceNames::new(program);
    for (variable, called) in called(recording, &mut code, &told) {
        names.call(variable, called);
    }
    drop(progress);
    let statements: Vec<_> = told.iter().map(|one| program.statement_at(one.address)).collect();
    tell_warnings_about(program, &statements.iter().flatten().map(|stmt| &*stmt.file).collect());
    let mut text = format!("{}\n", criterion(&asked));
    let width = statements.iter().flatten().map(|stmt| runs::place(stmt).chars().count()).max().unwrap_or(0);
    for (definition, stmt) in told.iter().zip(&statements) {
        let place = stmt.as_ref().map(runs::place).unwrap_or_default();
        let line = line(&formula, &names, definition);
        let _ = writeln!(text, "{}", printable(&format!("{place:<width$}  {line}")));
    }
    for (_, term) in &formula.asked {
        // What has a name is told above.
        if !matches!(formula.run.terms().node(*term), Node::Variable(_)) {
            let _ =
                writeln!(text, "{:<width$}  {}", "", printable(&in_c(formula.run.terms(), &names, *term)));
        }
    }
    text.push_str(&left_out(&formula, told.len()));
    Ok(text)
}

/// The last definitions that what is asked about depends on.
fn told(formula: &Formula, most: usize) -> Vec<Definition> {
    let all = formula.run.definitions().list();
    let first = formula.cone.len().saturating_sub(most);
    formula.cone.iter().skip(first).filter_map(|number| all.get(*number)).copied().collect()
}

/// What the source calls the results, each by a name of its own: where one is given several values, these are numbered.
fn called(recording: &mut Recording, code: &mut Code<'_>, told: &[Definition]) -> Vec<(Variable, Called)> {
    let mut found = Vec::new();
    let mut temporaries = 0;
    for definition in told {
        let called = recording.called(code, after(definition.time), definition.cell).unwrap_or_else(|| {
            temporaries += 1;
            Called { name: format!("t{temporaries}"), of: None, value: None }
        });
        found.push((definition.variable, called));
    }
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    found.iter().for_each(|(_, called)| counts.entry(called.name.clone()).or_default().0 += 1);
    for (_, called) in &mut found {
        if let Some((2.., number)) = counts.get_mut(&called.name) {
            *number += 1;
            called.name = format!("{}#{number}", called.name);
        }
    }
    found
}

fn line(formula: &Formula, names: &SourceNames<'_>, definition: &Definition) -> String {
    let terms = formula.run.terms();
    let text = in_c(terms, names, definition.term);
    let name = names.name(definition.variable);
    match terms.constant(definition.term) {
        Some(value) => format!(
            "{name} = {}",
            names.value(terms.variable_sort(definition.variable), definition.variable, value)
        ),
        None => {
            let value =
                names.value(terms.variable_sort(definition.variable), definition.variable, definition.value);
            format!("{name} = {text}, which is {value}")
        }
    }
}

/// What is not told, and why.
fn left_out(formula: &Formula, told: usize) -> String {
    let mut text = String::new();
    let more = formula.cone.len() - told;
    if more > 0 {
        let _ = writeln!(text, "{more} earlier definitions are left out; --most tells more");
    }
    if formula.is_cut_short {
        text.push_str("cut short: the run is too long to be followed from its start\n");
    }
    for (fallback, count) in formula.run.fallbacks().counts() {
        let _ = writeln!(text, "taken as given, {count} times: what came of {fallback}");
    }
    text
}
