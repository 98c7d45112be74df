//! Runs whose values are terms: a run is followed along the way that it takes, with chosen cells unknown, and everything that depends on them is a term.
//!
//! [`Concolic`] is an observer of a process. It makes no term for what is concrete. What decides the way (branches, targets of jumps, how often strings
//! are repeated, that a division does not fault) is collected as [`Constraint`]s, each with its instant; they all hold in the run itself. What a term
//! cannot follow (see [`Fallback`]) is concrete from there on, counted, and told.
//!
//! For techniques that reason about statements, results can be named ([`Naming`]): each gets an unknown of its own, with a [`Definition`] of it over earlier
//! ones, in the manner of SSA. So an expression is never put into another one, and each formula belongs to an instant.

mod access;
mod definitions;
mod fallback;
mod intervene;
mod observe;
mod options;
mod replay;

pub use self::replay::Unknown;
pub use definitions::{Definition, Definitions};
pub use fallback::{Fallback, Fallbacks};
pub use options::{Addresses, Inputs, Naming, Options};

use crate::state::{Memory, Registers};
use crate::term::{Evaluation, Sort, Term, Terms, Variable};
use ::replay::Cell;
use access::Pending;
use lift::Reg;
use linux::{Exit, Process};
use machine::Time;

/// Something that was made unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    pub variable: Variable,
    /// The state before the instruction of this time has it.
    pub time: Time,
    pub cell: Cell,
    /// What it is in the run.
    pub value: u128,
}

/// A condition on unknowns that holds in the run, and on which its way depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The instruction that it comes from: when, and where.
    pub time: Time,
    pub address: u64,
    pub kind: ConstraintKind,
    pub term: Term,
    /// How many definitions there were before it.
    pub definitions: usize,
    /// How many fallbacks. If there were none, other values of the unknowns lead here as long as all constraints before this one hold.
    pub fallbacks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// A branch was taken, or not.
    Branch { taken: bool },
    /// Control went where a value said.
    Target,
    /// A string instruction went so far.
    Repetition,
    /// A division did not fault.
    Division,
    /// An access went to the address that it went to; only where addresses are [asserted](Addresses::Sensitive).
    Address,
}

/// A run that is followed with terms.
pub struct Concolic {
    options: Options,
    terms: Terms,
    registers: Registers,
    memory: Memory,
    inputs: Vec<Input>,
    constraints: Vec<Constraint>,
    fallbacks: Fallbacks,
    definitions: Definitions,
    /// The values of all unknowns, in the run.
    evaluation: Evaluation,
    /// Of the instruction at hand.
    time: Time,
    address: u64,
    /// What the op at hand does to memory, for when that has happened.
    pending: Pending,
    stopped: bool,
}

impl Concolic {
    pub fn new(options: Options) -> Concolic {
        Concolic {
            definitions: Definitions::new(options.naming.clone()),
            options,
            terms: Terms::new(),
            registers: Registers::default(),
            memory: Memory::default(),
            inputs: Vec::new(),
            constraints: Vec::new(),
            fallbacks: Fallbacks::default(),
            evaluation: Evaluation::default(),
            time: Time(0),
            address: 0,
            pending: Pending::None,
            stopped: false,
        }
    }

    /// Runs a process and follows it. It ends early when there are more terms than the options allow.
    pub fn run(&mut self, process: &mut Process, until: Time) -> Exit {
        /// So many instructions are run before anybody looks whether there are too many terms.
        const STRETCH: u64 = 1 << 16;
        loop {
            let next = until.min(Time(process.machine.time.0.saturating_add(STRETCH)));
            let exit = process.run_followed_by(next, self);
            if self.stopped || next == until || exit != Exit::Until {
                self.name_results(&process.machine.cpu);
                return exit;
            }
        }
    }

    /// Makes a cell unknown, as it is in a process that is being followed. Bytes of a register that are not consecutive, and of nothing but the
    /// process itself, are left alone.
    pub fn make_unknown(&mut self, process: &Process, cell: Cell) -> Option<Variable> {
        let (value, width) = match cell {
            Cell::Register(reg, bytes) => {
                let first = bytes.trailing_zeros();
                let count = (bytes.checked_shr(first)?).trailing_ones();
                let whole = process.machine.cpu.get(reg);
                (u128::from(whole.checked_shr(8 * first)?), 8 * count)
            }
            Cell::Memory { address, length } => {
                let mut bytes = [0; 16];
                let length = usize::try_from(length).ok()?;
                let read = process.machine.memory.peek(address, bytes.get_mut(..length)?);
                if read < length {
                    return None;
                }
                (u128::from_le_bytes(bytes), 8 * length as u32)
            }
            Cell::Kernel { .. } => return None,
        };
        if width == 0 {
            return None;
        }
        let sort = Sort::Bits(width as u8);
        let variable = self.input(process.machine.time, cell, sort, value & sort.mask());
        let term = self.terms.of_variable(variable);
        match cell {
            Cell::Register(reg, bytes) => self.set_part(reg, 8 * bytes.trailing_zeros(), term, process),
            Cell::Memory { address, .. } => self.memory.store(&self.terms, address, term),
            Cell::Kernel { .. } => {}
        }
        Some(variable)
    }

    fn input(&mut self, time: Time, cell: Cell, sort: Sort, value: u128) -> Variable {
        let variable = self.terms.variable(sort);
        self.inputs.push(Input { variable, time, cell, value });
        self.evaluation.assign(variable, value);
        variable
    }

    fn set_part(&mut self, reg: Reg, low: u32, part: Term, process: &Process) {
        let whole = match self.registers.get(reg) {
            Some(term) => term,
            None => self.terms.bits(64, process.machine.cpu.get(reg).into()),
        };
        let high = low + self.terms.width(part);
        let mut new = part;
        if low > 0 {
            let below = self.terms.extract(low - 1, 0, whole);
            new = self.terms.concat(new, below);
        }
        if high < 64 {
            let above = self.terms.extract(63, high, whole);
            new = self.terms.concat(above, new);
        }
        self.registers.set(&self.terms, reg, new);
    }

    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// To build more terms on those of the run.
    pub fn terms_mut(&mut self) -> &mut Terms {
        &mut self.terms
    }

    /// What was made unknown, in the order of its variables; those of definitions are between them.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// What decided the way of the run, in its order.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// What could not be followed.
    pub fn fallbacks(&self) -> &Fallbacks {
        &self.fallbacks
    }

    /// Whether there were too many terms. What is told then is right as far as it goes.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The value that a term has in the run: what the machine computed.
    pub fn value(&mut self, term: Term) -> u128 {
        self.evaluation.value(&self.terms, term)
    }

    /// The term of a register as the run has come to be, if it is not concrete.
    pub fn register(&self, reg: Reg) -> Option<Term> {
        self.registers.get(reg)
    }

    /// The value of up to 16 bytes of memory, if any of them is not concrete; `concrete` has what the machine has there.
    pub fn load(&mut self, address: u64, concrete: &[u8]) -> Option<Term> {
        self.memory.load(&mut self.terms, address, concrete)
    }

    fn is_concrete(&self) -> bool {
        self.registers.is_concrete() && self.memory.is_concrete() && !self.definitions.names_constants()
    }

    /// Notes a condition that holds, unless it always does.
    fn constrain(&mut self, kind: ConstraintKind, term: Term) {
        if !self.terms.is_constant(term) {
            let definitions = self.definitions.len();
            self.constraints.push(Constraint {
                time: self.time,
                address: self.address,
                kind,
                term,
                definitions,
                fallbacks: self.fallbacks.total(),
            });
        }
    }

    fn constrain_equal(&mut self, kind: ConstraintKind, term: Term, value: u128) {
        let value = self.terms.value(self.terms.sort(term), value);
        let equal = self.terms.equal(term, value);
        self.constrain(kind, equal);
    }
}
