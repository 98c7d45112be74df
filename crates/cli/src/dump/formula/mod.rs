//! `whydunit dump formula`: what the statements of the program computed a value from.

mod should;

use std::collections::BTreeMap;
use std::fmt::Write;

use logic::Variable;
use logic::concolic::{Addresses, Definition, Fallback};
use logic::formula::{Formula, after, formula};
use logic::term::Substitution;
use logic::text::{Names, SourceNames, in_c};
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
    let mut formula = formula;
    let mut head = format!("{}\n", criterion(&asked));
    let mut told: Vec<Definition> = match &arguments.should {
        None => told(&formula, arguments.most),
        Some(text) => {
            let stated = should::State { text, asked: &asked, solver: arguments.solver() };
            let against = stated.against(recording, &mut code, &mut formula)?;
            head.push_str(&against.verdict);
            against.definitions
        }
    };
    let mut names = SourceNames::new(program);
    let called = called(recording, &mut code, &spoken_of(&formula, &told));
    let mut put_in = without_temporaries(&mut formula, &called);
    told.retain(|one| called.get(&one.variable).is_some_and(Option::is_some));
    told.iter_mut().for_each(|one| one.term = put_in.apply(formula.run.terms_mut(), one.term));
    for asked in &mut formula.asked {
        asked.1 = put_in.apply(formula.run.terms_mut(), asked.1);
    }
    for (variable, called) in called {
        called.into_iter().for_each(|called| names.call(variable, called));
    }
    drop(progress);
    let statements: Vec<_> = told.iter().map(|one| program.statement_at(one.address)).collect();
    tell_warnings_about(program, &statements.iter().flatten().map(|stmt| &*stmt.file).collect());
    let mut text = head;
    let width = statements.iter().flatten().map(|stmt| runs::place(stmt).chars().count()).max().unwrap_or(0);
    for (definition, stmt) in told.iter().zip(&statements) {
        let place = stmt.as_ref().map(runs::place).unwrap_or_default();
        let line = line(&formula, &names, definition);
        let _ = writeln!(text, "{}", printable(&format!("{place:<width$}  {line}")));
    }
    if arguments.should.is_some() {
        return Ok(text + &reservations(&formula));
    }
    let is_told = |whole: &String| told.iter().any(|one| names.name(one.variable) == *whole);
    let terms = formula.run.terms();
    let asked = formula.asked.iter().map(|(_, term)| in_c(terms, &names, *term));
    for whole in asked.filter(|whole| !is_told(whole)) {
        let _ = writeln!(text, "{:<width$}  {}", "", printable(&whole));
    }
    text.push_str(&left_out(&formula, arguments.most));
    Ok(text)
}

/// The last definitions that what is asked about depends on.
fn told(formula: &Formula, most: usize) -> Vec<Definition> {
    let all = formula.run.definitions().list();
    let first = formula.cone.len().saturating_sub(most);
    formula.cone.iter().skip(first).filter_map(|number| all.get(*number)).copied().collect()
}

/// These definitions and those that they speak of, in the order of the run.
fn spoken_of(formula: &Formula, told: &[Definition]) -> Vec<Definition> {
    let definitions = formula.run.definitions();
    let used = formula.run.terms().variables(told.iter().map(|one| one.term));
    let used = used.into_iter().filter_map(|variable| definitions.of(variable));
    let mut all: Vec<Definition> = told.iter().chain(used).copied().collect();
    all.sort_by_key(|one| one.variable);
    all.dedup_by_key(|one| one.variable);
    all
}

/// What the source calls the results, each by a name of its own: where one is given several values, these are numbered. What has no name is
/// temporary.
fn called(
    recording: &mut Recording,
    code: &mut Code<'_>,
    all: &[Definition],
) -> BTreeMap<Variable, Option<Called>> {
    let mut found: BTreeMap<Variable, Option<Called>> =
        all.iter().map(|one| (one.variable, recording.called(code, after(one.time), one.cell))).collect();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let known = found.values().flatten();
    known.for_each(|called| counts.entry(called.name.clone()).or_default().0 += 1);
    for called in found.values_mut().flatten() {
        if let Some((2.., number)) = counts.get_mut(&called.name) {
            *number += 1;
            called.name = format!("{}#{number}", called.name);
        }
    }
    found
}

/// Puts what is temporary into what was made of it.
fn without_temporaries(formula: &mut Formula, called: &BTreeMap<Variable, Option<Called>>) -> Substitution {
    let mut put_in = Substitution::default();
    for (variable, _) in called.iter().filter(|(_, called)| called.is_none()) {
        let Some(definition) = formula.run.definitions().of(*variable).copied() else { continue };
        let terms = formula.run.terms_mut();
        let (old, new) = (terms.of_variable(*variable), put_in.apply(terms, definition.term));
        put_in.replace(old, new);
    }
    put_in
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
fn left_out(formula: &Formula, most: usize) -> String {
    let mut text = String::new();
    let more = formula.cone.len().saturating_sub(most);
    if more > 0 {
        let _ = writeln!(text, "{more} earlier definitions are left out; --most tells more");
    }
    if formula.asked.is_empty() {
        text.push_str("it is not computed by the program's own code; --suspect '*' follows libraries, too\n");
    }
    text + &reservations(formula)
}

/// What is taken as given although it may depend on something.
fn reservations(formula: &Formula) -> String {
    let mut text = String::new();
    if formula.is_cut_short {
        text.push_str("cut short: the run is too long to be followed from its start\n");
    }
    for (fallback, count) in formula.run.fallbacks().counts() {
        let _ = match fallback {
            Fallback::Address => {
                writeln!(
                    text,
                    "accesses whose addresses were computed: {count}; they are taken to go where they went"
                )
            }
            other => writeln!(text, "taken as given, {count} times: what came of {other}"),
        };
    }
    text
}
