//! A query as a text of SMT-LIB 2.6.
//!
//! A term that is used more than once, or is nested deep, is given a name: a constant with an equation. So no parser has to recurse deep, and a text is as
//! long as its terms are many. (With `define-fun` Z3 copies the body at each use, and takes twenty times as long to read a deep expression.) Names are
//! given in the order in which terms are met, so the text depends on nothing but the structure of the query.
//!
//! Unknowns are constants of bits, whatever their sort, so that models are bits and nothing else: the solver never says what the bits of a float are.

mod float;
mod integers;
mod node;

use crate::term::{Format, Node, Sort, Term, Terms, Variable};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::ops::Range;

/// How deep expressions may be nested in the text.
const DEEPEST: u32 = 12;

/// A query as a text: declarations, equations that name parts of it, and one assertion a constraint.
#[derive(Clone, Debug)]
pub struct Script {
    text: String,
    /// How many assertions come before those of constraints.
    equations: usize,
    constraints: Vec<Range<usize>>,
    variables: Vec<Variable>,
    widths: Vec<u32>,
    logic: Logic,
    has_division: bool,
}

/// What a script speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    Bits,
    BitsAndFloats,
    Integers,
}

impl Logic {
    /// What SMT-LIB calls it.
    pub fn name(self) -> &'static str {
        match self {
            Logic::Bits => "QF_BV",
            Logic::BitsAndFloats => "QF_BVFP",
            Logic::Integers => "QF_LIA",
        }
    }
}

impl Script {
    pub fn new(terms: &Terms, constraints: impl IntoIterator<Item = Term>) -> Script {
        let roots: Vec<Term> = constraints.into_iter().collect();
        Writer::new(terms).script(&roots)
    }

    /// All of it, without options and commands that ask.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn equations(&self) -> usize {
        self.equations
    }

    /// Declarations and equations, and the constraints, each an expression.
    pub fn parts(&self) -> (&str, impl Iterator<Item = &str>) {
        let start = self.constraints.first().map_or(self.text.len(), |first| first.start - ASSERT.len());
        (&self.text[..start], self.constraints.iter().map(|range| &self.text[range.clone()]))
    }

    /// How many constraints there are.
    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// The unknowns; the name of each is its place in this list after a `v`.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// How many bits each of them has.
    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    pub fn variable_name(place: usize) -> String {
        format!("v{place}")
    }

    pub fn logic(&self) -> Logic {
        self.logic
    }

    /// Whether anything in it is divided by a constant.
    pub fn has_division(&self) -> bool {
        self.has_division
    }
}

const ASSERT: &str = "(assert ";

/// How a term is written where it is used.
struct Written {
    text: String,
    /// How deep the text is nested.
    nesting: u32,
}

struct Writer<'a> {
    terms: &'a Terms,
    text: String,
    equations: usize,
    variables: Vec<Variable>,
    has_floats: bool,
    has_division: bool,
    /// How many names were given.
    names: usize,
    uses: FxHashMap<Term, u32>,
    written: FxHashMap<Term, Written>,
}

impl<'a> Writer<'a> {
    fn new(terms: &'a Terms) -> Writer<'a> {
        Writer {
            terms,
            text: String::new(),
            equations: 0,
            variables: Vec::new(),
            has_floats: false,
            has_division: false,
            names: 0,
            uses: FxHashMap::default(),
            written: FxHashMap::default(),
        }
    }

    fn script(mut self, roots: &[Term]) -> Script {
        for term in self.operands_first(roots) {
            self.write(term);
        }
        let mut constraints = Vec::with_capacity(roots.len());
        for root in roots {
            let expression = self.used(*root);
            self.text.push_str(ASSERT);
            let start = self.text.len();
            self.text.push_str(&expression);
            constraints.push(start..self.text.len());
            self.text.push_str(")\n");
        }
        let Writer { terms, text, equations, variables, has_floats, has_division, .. } = self;
        let logic = if has_floats { Logic::BitsAndFloats } else { Logic::Bits };
        let widths = variables.iter().map(|variable| terms.variable_sort(*variable).width()).collect();
        Script { text, equations, constraints, variables, widths, logic, has_division }
    }

    /// All terms that these are made of, each once, in an order that depends on their structure alone. Counts how often each is used.
    fn operands_first(&mut self, roots: &[Term]) -> Vec<Term> {
        let mut order = Vec::new();
        let mut pending: Vec<(Term, bool)> = roots.iter().rev().map(|root| (*root, false)).collect();
        while let Some((term, is_done)) = pending.pop() {
            if is_done {
                order.push(term);
                continue;
            }
            let uses = self.uses.entry(term).or_default();
            *uses += 1;
            if *uses > 1 {
                continue;
            }
            pending.push((term, true));
            let children: Vec<Term> = self.terms.node(term).children().collect();
            pending.extend(children.into_iter().rev().map(|child| (child, false)));
        }
        order
    }

    /// The text of a term that was written; if this is its only use, it is moved.
    fn used(&mut self, term: Term) -> String {
        match self.uses.get(&term) {
            Some(1) => self.written.remove(&term).map(|written| written.text),
            _ => self.written.get(&term).map(|written| written.text.clone()),
        }
        .unwrap_or_default()
    }

    fn write(&mut self, term: Term) {
        let node = self.terms.node(term);
        let below = node.children().filter_map(|child| self.written.get(&child));
        let nesting = below.map(|child| child.nesting + 1).max().unwrap_or(0);
        let text = self.expression(term);
        let is_leaf = matches!(node, Node::Constant(..)) || !text.starts_with('(');
        let is_shared = self.uses.get(&term).is_some_and(|uses| *uses > 1) && !is_leaf;
        let written = if is_shared || nesting >= DEEPEST {
            Written { text: self.named(self.terms.sort(term), &text), nesting: 0 }
        } else {
            Written { text, nesting }
        };
        self.written.insert(term, written);
    }

    fn new_name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// A name for an expression.
    fn named(&mut self, of: Sort, text: &str) -> String {
        let name = self.new_name();
        let _ = writeln!(self.text, "(declare-const {name} {})\n(assert (= {name} {text}))", sort(of));
        self.equations += 1;
        name
    }

    /// The name of an unknown, declared when it is met first.
    fn variable(&mut self, variable: Variable) -> String {
        let name = Script::variable_name(self.variables.len());
        self.variables.push(variable);
        let width = self.terms.variable_sort(variable).width();
        let _ = writeln!(self.text, "(declare-const {name} (_ BitVec {width}))");
        name
    }
}

fn sort(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_owned(),
        Sort::Bits(width) => format!("(_ BitVec {width})"),
        Sort::Float(format) => {
            let (exponent, digits) = float_size(format);
            format!("(_ FloatingPoint {exponent} {digits})")
        }
    }
}

/// The bits of the exponent, and the digits of the significand.
fn float_size(format: Format) -> (u32, u32) {
    (format.exponent_bits(), format.digits())
}
