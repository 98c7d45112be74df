//! Results with names: each an unknown with a definition of it over earlier ones.

use super::{Concolic, Naming};
use crate::term::{Node, Term, Terms, Variable};
use lift::{Op, Reg};
use machine::{Cpu, Time};
use replay::Cell;
use rustc_hash::FxHashMap;

/// `variable` is `term`, over inputs and earlier definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    pub variable: Variable,
    pub term: Term,
    /// The instruction that made it: when, and where.
    pub time: Time,
    pub address: u64,
    /// What holds it; a name for a part of a value names that value's cell.
    pub cell: Cell,
    /// What it is in the run.
    pub value: u128,
}

impl Definition {
    /// The definition as a condition.
    pub fn formula(&self, terms: &mut Terms) -> Term {
        let variable = terms.of_variable(self.variable);
        terms.equal(variable, self.term)
    }
}

/// The definitions of a run, in its order.
#[derive(Default)]
pub struct Definitions {
    naming: Naming,
    list: Vec<Definition>,
    /// Which definition a variable has, by its number.
    of_variable: Vec<Option<u32>>,
    /// Registers that the stretch at hand wrote, each with the instruction that did so last.
    written: Vec<(Reg, Time, u64)>,
    /// What was named in the stretch at hand.
    names: FxHashMap<Term, Term>,
    /// How many stretches lie behind.
    passed: usize,
    /// Whether the results of the instruction at hand are followed.
    is_followed: bool,
    now: (Time, u64),
}

impl Definitions {
    pub(super) fn new(naming: Naming) -> Definitions {
        Definitions { naming, ..Definitions::default() }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn list(&self) -> &[Definition] {
        &self.list
    }

    /// The definition of a variable, which may be an input instead.
    pub fn of(&self, variable: Variable) -> Option<&Definition> {
        self.list.get((*self.of_variable.get(variable.index())?)? as usize)
    }

    /// The numbers of all definitions that these terms depend on, in the order of the run.
    pub fn cone(&self, terms: &Terms, roots: impl IntoIterator<Item = Term>) -> Vec<usize> {
        let mut found = vec![false; self.list.len()];
        let mut met = vec![false; terms.len()];
        let mut pending: Vec<Term> = roots.into_iter().collect();
        while let Some(term) = pending.pop() {
            if std::mem::replace(&mut met[term.index()], true) {
                continue;
            }
            let node = terms.node(term);
            pending.extend(node.children());
            if let Node::Variable(variable) = node
                && let Some(Some(number)) = self.of_variable.get(variable.index())
            {
                found[*number as usize] = true;
                pending.push(self.list[*number as usize].term);
            }
        }
        (0..found.len()).filter(|number| found[*number]).collect()
    }

    /// An instruction begins; whether a stretch ends before it.
    pub(super) fn begins(&mut self, time: Time, address: u64) -> bool {
        self.now = (time, address);
        match &self.naming {
            Naming::None => {
                self.is_followed = true;
                false
            }
            Naming::Instructions => {
                self.is_followed = true;
                true
            }
            Naming::Stretches(stretches) => {
                let left =
                    stretches.iter().skip(self.passed).take_while(|stretch| stretch.end <= time).count();
                self.passed += left;
                self.is_followed = stretches.get(self.passed).is_some_and(|stretch| stretch.start <= time);
                left > 0
            }
        }
    }

    /// The results of the instruction at hand are taken as they are.
    pub(super) fn pass_over(&mut self) {
        self.is_followed = false;
    }

    /// Whether the results of the instruction at hand are followed.
    pub(super) fn follows(&self) -> bool {
        self.is_followed
    }

    /// Whether also what is concrete gets a name.
    pub(super) fn names_constants(&self) -> bool {
        matches!(self.naming, Naming::Stretches(_))
    }

    fn names(&self) -> bool {
        !matches!(self.naming, Naming::None)
    }

    /// The registers of the program that an op writes. Where the stack is, is no result.
    pub(super) fn note_written(&mut self, op: &Op) {
        if !self.names() {
            return;
        }
        let (time, address) = self.now;
        op.writes(|reg| {
            let is_value = reg.is_general() || reg.0 >= Reg::xmm(0).0;
            if is_value && !reg.is_temp() && reg != Reg::RSP {
                match self.written.iter_mut().find(|(written, ..)| *written == reg) {
                    Some(entry) => *entry = (reg, time, address),
                    None => self.written.push((reg, time, address)),
                }
            }
        });
    }

    fn add(&mut self, definition: Definition) {
        let index = definition.variable.index();
        if self.of_variable.len() <= index {
            self.of_variable.resize(index + 1, None);
        }
        self.of_variable[index] = u32::try_from(self.list.len()).ok();
        self.list.push(definition);
    }
}

impl Concolic {
    /// The stretch is over: the registers that it wrote are named.
    pub(super) fn name_results(&mut self, cpu: &Cpu) {
        if !self.definitions.names() {
            return;
        }
        let constants = self.definitions.names_constants();
        for (reg, time, address) in std::mem::take(&mut self.definitions.written) {
            let term = match self.registers.get(reg) {
                Some(term) => term,
                None if constants => self.terms.bits(64, cpu.get(reg).into()),
                None => continue,
            };
            let place = Place { time, address, cell: Cell::Register(reg, lift::WHOLE) };
            let named = self.named(term, place);
            self.registers.set(&self.terms, reg, named);
        }
        self.definitions.names.clear();
    }

    /// What is stored is named at once. Where all results are named, an assignment of what has a name already is a result of its own.
    pub(super) fn name_stored(&mut self, address: u64, value: Term) -> Term {
        if !self.definitions.names() {
            return value;
        }
        let length = u64::from(self.terms.width(value).div_ceil(8));
        let place = Place { time: self.time, address: self.address, cell: Cell::Memory { address, length } };
        let anew = self.definitions.names_constants();
        let mut name = |concolic: &mut Concolic, term| match anew {
            true => concolic.name(term, place),
            false => concolic.known_name(term, place),
        };
        match self.terms.node(value) {
            // What is kept is the number as it was widened, not what was widened.
            Node::ZeroExtend(..) | Node::SignExtend(..) => name(self, value),
            _ => self.in_names(value, &mut name),
        }
    }

    fn named(&mut self, term: Term, place: Place) -> Term {
        self.in_names(term, &mut |concolic, term| concolic.known_name(term, place))
    }

    /// The value in terms of names. What only changes the form of a value stays around the name: so a name stands for what somebody wrote, a number of 32
    /// bits or a float, and not for the register that it is in. The parts of a value are at most as many as it has bits.
    fn in_names(&mut self, term: Term, name: &mut dyn FnMut(&mut Self, Term) -> Term) -> Term {
        match self.terms.node(term) {
            Node::ZeroExtend(to, inner) => {
                let inner = self.in_names(inner, name);
                self.terms.zero_extend(to.into(), inner)
            }
            Node::SignExtend(to, inner) => {
                let inner = self.in_names(inner, name);
                self.terms.sign_extend(to.into(), inner)
            }
            Node::Concat(high, low) => {
                let [high, low] = [high, low].map(|part| match self.terms.is_constant(part) {
                    true => part,
                    false => self.in_names(part, name),
                });
                self.terms.concat(high, low)
            }
            Node::FloatToBits(float) => {
                let float = self.in_names(float, name);
                self.terms.float_to_bits(float)
            }
            Node::IfThenElse(condition, yes, no)
                if self.terms.is_constant(yes) && self.terms.is_constant(no) =>
            {
                let condition = self.in_names(condition, name);
                self.terms.if_then_else(condition, yes, no)
            }
            Node::Constant(..) if !self.definitions.names_constants() => term,
            _ => name(self, term),
        }
    }

    /// The name of a term: itself if it is one, or a part of one, or the name that it got in the same stretch.
    fn known_name(&mut self, term: Term, place: Place) -> Term {
        let is_name = match self.terms.node(term) {
            Node::Extract { of, .. } => matches!(self.terms.node(of), Node::Variable(_)),
            node => matches!(node, Node::Variable(_)),
        };
        if is_name {
            return term;
        }
        match self.definitions.names.get(&term) {
            Some(known) => *known,
            None => self.name(term, place),
        }
    }

    /// A new name.
    fn name(&mut self, term: Term, place: Place) -> Term {
        let value = self.evaluation.value(&self.terms, term);
        let variable = self.terms.variable(self.terms.sort(term));
        self.evaluation.assign(variable, value);
        let Place { time, address, cell } = place;
        self.definitions.add(Definition { variable, term, time, address, cell, value });
        let name = self.terms.of_variable(variable);
        self.definitions.names.insert(term, name);
        name
    }
}

/// Where a result is, and what made it.
#[derive(Clone, Copy)]
struct Place {
    time: Time,
    address: u64,
    cell: Cell,
}
