//! What speaks against a value that should have been another: the fewest definitions that contradict it.

use logic::concolic::Definition;
use logic::core::{Core, Outcome, minimal_core};
use logic::formula::Formula;
use logic::property::{Property, Type, term_of};
use logic::solver::{Choice, Constraint, Limits, Name};
use logic::text::{Kind, kind_of};
use logic::{Sort, Term};
use program::expressions::Expression;
use program::expressions::tree::Basic;
use replay::story::{Asked, Subject};
use replay::{Code, Recording};

use crate::exit_code::{self, Failure};

/// What is said of the value that is asked about.
pub struct State<'a> {
    pub text: &'a str,
    pub asked: &'a Asked,
    pub solver: Choice,
}

pub struct Against {
    /// A line.
    pub verdict: String,
    pub definitions: Vec<Definition>,
}

/// The name of the statement in the query; definitions are called by their numbers after it.
const STATEMENT: Name = Name(0);

impl State<'_> {
    pub fn against(
        &self,
        recording: &mut Recording,
        code: &mut Code<'_>,
        formula: &mut Formula,
    ) -> Result<Against, Failure> {
        let statement = self.statement(recording, code, formula)?;
        let mut constraints = vec![Constraint { name: STATEMENT, term: statement }];
        for number in &formula.cone {
            let Some(definition) = formula.run.definitions().list().get(*number).copied() else { continue };
            let terms = formula.run.terms_mut();
            let result = terms.of_variable(definition.variable);
            let term = terms.equal(result, definition.term);
            constraints.push(Constraint { name: Name(*number as u32 + 1), term });
        }
        let mut solver = self.solver.open(Limits::default());
        Ok(match minimal_core(&mut solver, formula.run.terms(), &constraints) {
            Outcome::Sat(_) => self.verdict("holds".to_owned(), Vec::new()),
            Outcome::Unknown(reason) => self.verdict(format!("may hold or not: {reason}"), Vec::new()),
            Outcome::Unsat(core) => self.contradiction(formula, &core),
        })
    }

    fn verdict(&self, said: String, definitions: Vec<Definition>) -> Against {
        Against { verdict: format!("`{}` {said}\n", self.text), definitions }
    }

    fn contradiction(&self, formula: &Formula, core: &Core) -> Against {
        let all = formula.run.definitions().list();
        let numbers = core.names.iter().filter_map(|name| name.0.checked_sub(1));
        let definitions: Vec<Definition> =
            numbers.filter_map(|number| all.get(number as usize)).copied().collect();
        let said = match (definitions.is_empty(), core.undecided) {
            (true, _) => "holds for no value of it".to_owned(),
            (false, 0) => "is contradicted by these definitions, and by no fewer of them:".to_owned(),
            (false, undecided) => {
                format!("is contradicted by these definitions, of which {undecided} may not be needed:")
            }
        };
        self.verdict(said, definitions)
    }

    /// The statement as a term over that of the value.
    fn statement(
        &self,
        recording: &mut Recording,
        code: &mut Code<'_>,
        formula: &mut Formula,
    ) -> Result<Term, Failure> {
        let usage = |message: String| Failure::new(exit_code::USAGE, anyhow::anyhow!(message));
        let expression = Expression::parse(self.text)
            .map_err(|error| usage(format!("--should is no expression: {error}")))?;
        let (Subject::Value { expression: name, .. }, [(cell, value)]) =
            (&self.asked.subject, formula.asked.as_slice())
        else {
            let message =
                "--should speaks of a value that the program computed, named by FILE:LINE:EXPRESSION";
            return Err(usage(message.to_owned()));
        };
        let (cell, value) = (*cell, *value);
        let called = recording.called(code, self.asked.question.time, cell);
        let kind = kind_of(code.program(), called.and_then(|called| called.of));
        let terms = formula.run.terms_mut();
        let of = type_of(kind, terms.sort(value));
        let lookup = |_: &mut logic::Terms, text: &str| (text == name).then_some((value, of));
        let condition = term_of(&expression, terms, lookup)
            .map_err(|error| usage(format!("--should speaks of `{name}` and constants: {error}")))?;
        let property = Property::Asserted { condition };
        property.term(terms).ok_or_else(|| usage("--should is neither true nor false".to_owned()))
    }
}

fn type_of(kind: Kind, sort: Sort) -> Type {
    let size = u8::try_from(sort.width() / 8).unwrap_or(u8::MAX);
    match (kind, size) {
        (Kind::Float, 4) => Type::Number(Basic::Float),
        (Kind::Float, 8) => Type::Number(Basic::Double),
        (Kind::Float, _) => Type::Number(Basic::LongDouble),
        (Kind::Pointer, _) => Type::Pointer { size: 1 },
        (Kind::Signed, _) => Type::Number(Basic::Integer { size, signed: true }),
        (Kind::Unsigned, _) => Type::Number(Basic::Integer { size, signed: false }),
    }
}
