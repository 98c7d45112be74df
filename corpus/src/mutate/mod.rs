//! Mutants: a C source with one small mistake in it, and what is known of the mistake.

mod constants;
mod data;
mod expressions;
mod literals;
mod names;
mod places;
mod reach;
mod source;
mod statements;
#[cfg(test)]
mod tests;
mod truth;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

pub use source::{Lines, Source};
pub use truth::Truth;

use names::Names;
use source::{ancestors, is_field, statement_of};

/// What kind of mistake it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operator {
    Relational,
    Arithmetic,
    OffByOne,
    WrongConstant,
    WrongVariable,
    NegatedCondition,
    Logical,
    RemovedStatement,
    RemovedCondition,
    WrongInitial,
    SwappedArguments,
    MissingReset,
    WrongReturn,
    LoopBound,
    MissingBreak,
    PointerStep,
    WrongField,
}

impl Operator {
    pub const ALL: [Operator; 17] = [
        Operator::Relational,
        Operator::Arithmetic,
        Operator::OffByOne,
        Operator::WrongConstant,
        Operator::WrongVariable,
        Operator::NegatedCondition,
        Operator::Logical,
        Operator::RemovedStatement,
        Operator::RemovedCondition,
        Operator::WrongInitial,
        Operator::SwappedArguments,
        Operator::MissingReset,
        Operator::WrongReturn,
        Operator::LoopBound,
        Operator::MissingBreak,
        Operator::PointerStep,
        Operator::WrongField,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Operator::Relational => "relational",
            Operator::Arithmetic => "arithmetic",
            Operator::OffByOne => "off-by-one",
            Operator::WrongConstant => "wrong-constant",
            Operator::WrongVariable => "wrong-variable",
            Operator::NegatedCondition => "negated-condition",
            Operator::Logical => "logical",
            Operator::RemovedStatement => "removed-statement",
            Operator::RemovedCondition => "removed-condition",
            Operator::WrongInitial => "wrong-initial",
            Operator::SwappedArguments => "swapped-arguments",
            Operator::MissingReset => "missing-reset",
            Operator::WrongReturn => "wrong-return",
            Operator::LoopBound => "loop-bound",
            Operator::MissingBreak => "missing-break",
            Operator::PointerStep => "pointer-step",
            Operator::WrongField => "wrong-field",
        }
    }

    /// Would it make mistakes in most statements? Another operator says more about the same mistake.
    fn is_general(self) -> bool {
        matches!(
            self,
            Operator::Relational
                | Operator::Arithmetic
                | Operator::OffByOne
                | Operator::WrongVariable
                | Operator::RemovedStatement
                | Operator::LoopBound
        )
    }
}

/// What is wrong with the mutated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Assignment,
    /// A condition is wrong, be it one of an `if` or a comparison whose value is returned.
    Branch,
    Omission,
    Constant,
    Other,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Assignment, Kind::Branch, Kind::Omission, Kind::Constant, Kind::Other];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Assignment => "assignment",
            Kind::Branch => "branch",
            Kind::Omission => "omission",
            Kind::Constant => "constant",
            Kind::Other => "other",
        }
    }
}

/// One mistake. Lines keep their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    pub operator: Operator,
    pub kind: Kind,
    /// The part of the source that is replaced, and by what.
    pub range: Range<usize>,
    pub replacement: String,
    pub original: String,
    /// The first line of the statement that is mutated.
    pub line: usize,
    pub truth: Truth,
}

impl Mutant {
    /// The whole source with the mistake in it.
    pub fn apply(&self, source: &Source) -> String {
        Mutant::apply_all(&[self], source)
    }

    /// The whole source with several mistakes in it, which do not overlap.
    pub fn apply_all(mutants: &[&Mutant], source: &Source) -> String {
        let mut text = source.whole().to_owned();
        let mut sorted = mutants.to_vec();
        sorted.sort_by_key(|mutant| std::cmp::Reverse(mutant.range.start));
        for mutant in sorted {
            text.replace_range(mutant.range.clone(), &mutant.replacement);
        }
        text
    }

    /// Unlike that of any other mutant of the source.
    pub fn name(&self) -> String {
        let replacement = self.replacement.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{} {}:{} {replacement}", self.operator.name(), self.range.start, self.range.end)
    }

    /// What is replaced by what. The newlines at the end only keep the numbers of the lines.
    fn change_of_text(&self) -> (usize, usize, &str) {
        (self.range.start, self.range.end, self.replacement.trim_end_matches('\n'))
    }

    /// The mistake in a few words.
    pub fn change(&self) -> String {
        let tidy = |text: &str| {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = words.chars().take(40).collect();
            let end = if short.len() < words.len() { "…" } else { "" };
            format!("`{short}{end}`")
        };
        match self.replacement.trim() {
            "" | ";" => format!("no {}", tidy(&self.original)),
            replacement => format!("{} → {}", tidy(&self.original), tidy(replacement)),
        }
    }

    /// Whether the source is valid C with the mistake in it. That takes a while, so it is asked of those that are drawn.
    pub fn is_valid(&self, source: &Source) -> bool {
        Source::parse(&self.apply(source)).is_some()
    }
}

/// All mutants of a source, by operator and then in the order of the source. Some may be no valid C: see [`Mutant::is_valid`].
pub fn mutants(source: &Source) -> Vec<Mutant> {
    let mut workshop = Workshop { source, names: Names::new(source), made: Vec::new() };
    for node in source.nodes(source.root()) {
        workshop.expressions(node);
        workshop.constants(node);
        workshop.data(node);
        workshop.statements(node);
    }
    let mut made = workshop.made;
    keep_one_of_a_change(&mut made);
    made.sort_by(|a, b| {
        (a.operator, a.range.start, &a.replacement).cmp(&(b.operator, b.range.start, &b.replacement))
    });
    made
}

/// A change that several operators make is a mutant of the most specific of them: if it was one of each, it could be
/// in two suites.
fn keep_one_of_a_change(made: &mut Vec<Mutant>) {
    made.sort_by(|a, b| {
        let who = |mutant: &Mutant| (mutant.operator.is_general(), mutant.operator);
        a.change_of_text().cmp(&b.change_of_text()).then(who(a).cmp(&who(b)))
    });
    made.dedup_by(|a, b| a.change_of_text() == b.change_of_text());
}

/// Makes the mutants of one source.
struct Workshop<'a> {
    source: &'a Source,
    names: Names,
    made: Vec<Mutant>,
}

impl Workshop<'_> {
    /// Replaces a node in a statement. What stands in no statement is no mutant.
    fn replace(&mut self, operator: Operator, node: Node<'_>, replacement: &str) {
        let Some(statement) = statement_of(node, self.source) else { return };
        let kind = kind_of(node, statement);
        self.finish(operator, kind, node, replacement, Truth::at(statement, self.source));
    }

    fn finish(&mut self, operator: Operator, kind: Kind, node: Node<'_>, replacement: &str, truth: Truth) {
        let range = node.byte_range();
        let original = self.source.text(node).to_owned();
        let newlines = original.matches('\n').count().saturating_sub(replacement.matches('\n').count());
        let replacement = format!("{replacement}{}", "\n".repeat(newlines));
        let line = match statement_of(node, self.source) {
            Some(statement) => statement.start_position().row + 1,
            None => node.start_position().row + 1,
        };
        let mutant = Mutant { operator, kind, range, replacement, original, line, truth };
        // A macro that only sizes arrays is in no statement.
        if !mutant.truth.strict.is_empty() {
            self.made.push(mutant);
        }
    }
}

/// What kind of fault a wrong expression is, by what becomes of its value.
fn kind_of(node: Node<'_>, statement: Node<'_>) -> Kind {
    if is_comparison(node) {
        return Kind::Branch;
    }
    for (below, above) in std::iter::once(node).chain(ancestors(node)).zip(ancestors(node)) {
        if is_comparison(above) || is_field(below, above, "condition") {
            return Kind::Branch;
        }
        let is_step = above.kind() == "for_statement" && !is_field(below, above, "body");
        if matches!(above.kind(), "assignment_expression" | "update_expression" | "init_declarator")
            || is_step
        {
            return Kind::Assignment;
        }
        if above.id() == statement.id() {
            break;
        }
    }
    Kind::Other
}

fn is_comparison(node: Node<'_>) -> bool {
    let operator = node.child_by_field_name("operator").map(|operator| operator.kind());
    node.kind() == "binary_expression"
        && matches!(operator, Some("<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||"))
}
