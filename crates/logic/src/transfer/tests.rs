//! The terms of ops are held against the executor: evaluated on the values that the registers had, and on other values, they are what it computes.

use super::{Effect, apply};
use crate::state::Registers;
use crate::term::{Evaluation, Sort, Terms, Variable};
use lift::x87::{C0, C2, C3, IN_USE, SIGN_AND_EXPONENT};
use lift::{Condition, Op, Reg, VectorOp};
use machine::testing::{self, GENERAL, Random, flag_op, integer_op, vector_op, x87_op};
use machine::{Cpu, Machine, Memory};

const ROUNDING: u64 = 13;
const X87_ROUNDING: u64 = 10;

fn vectors() -> impl Iterator<Item = Reg> {
    (0..4).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()])
}

fn stack() -> impl Iterator<Item = Reg> {
    (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()])
}

/// The slots that are compared: all but the record of the flags, which says the same in several ways, and what is not followed.
fn compared() -> Vec<Reg> {
    GENERAL.into_iter().chain(vectors()).chain(stack()).chain((0..16).map(Reg::temp)).collect()
}

/// Numbers of any kind; doubles and singles of moderate size among them.
fn number(random: &mut Random) -> u64 {
    let small = |random: &mut Random| (random.bits() as i64 % 4000) as f64 / 16.0;
    match random.below(4) {
        0 => small(random).to_bits(),
        1 => {
            let [low, high] = [small(random), small(random)].map(|value| u64::from((value as f32).to_bits()));
            high << 32 | low
        }
        _ => random.number(),
    }
}

fn state(random: &mut Random) -> Cpu {
    let mut cpu = Cpu::default();
    for reg in GENERAL.into_iter().chain(vectors()) {
        cpu.set(reg, number(random));
    }
    for n in 0..8 {
        let exponent = match random.below(4) {
            0 => random.bits() & SIGN_AND_EXPONENT,
            _ => 0x3ff0 + random.bits() % 40,
        };
        cpu.set(Reg::st(n), random.number() | 1 << 63);
        let tag = if random.below(16) == 0 { 0 } else { IN_USE };
        cpu.set(Reg::st(n).high_half(), exponent | tag);
    }
    let mode = if random.below(3) == 0 { random.bits() % 4 } else { 0 };
    cpu.set(Reg::MXCSR, cpu.get(Reg::MXCSR) | mode << ROUNDING);
    cpu.set(Reg::X87_CONTROL, cpu.get(Reg::X87_CONTROL) | mode << X87_ROUNDING);
    cpu
}

/// Some registers that are unknown.
struct Unknowns {
    variables: Vec<(Variable, Reg)>,
}

impl Unknowns {
    fn new(random: &mut Random, terms: &mut Terms, registers: &mut Registers) -> Unknowns {
        let mut variables = Vec::new();
        for reg in GENERAL.into_iter().chain(vectors()).chain(stack()) {
            if random.below(2) == 0 {
                continue;
            }
            // Of the upper half of an x87 register, all but whether it is in use.
            let is_upper = reg.is_st() && !reg.0.is_multiple_of(2);
            if is_upper {
                continue;
            }
            let variable = terms.variable(Sort::Bits(64));
            let term = terms.of_variable(variable);
            registers.set(terms, reg, term);
            variables.push((variable, reg));
        }
        Unknowns { variables }
    }

    fn evaluation(&self, cpu: &Cpu) -> Evaluation {
        let mut evaluation = Evaluation::default();
        for (variable, reg) in &self.variables {
            evaluation.assign(*variable, cpu.get(*reg).into());
        }
        evaluation
    }

    /// The same state with other values for what is unknown.
    fn others(&self, random: &mut Random, cpu: &Cpu) -> Cpu {
        let mut other = cpu.clone();
        for (_, reg) in &self.variables {
            let first_digit = if reg.is_st() { 1 << 63 } else { 0 };
            other.set(*reg, if random.below(3) == 0 { cpu.get(*reg) } else { number(random) } | first_digit);
        }
        other
    }
}

/// All conditions, after what was done, in temporaries.
fn conditions() -> impl Iterator<Item = Op> {
    let tests = Condition::ALL.into_iter().enumerate().skip(2);
    let tests = tests.map(|(n, condition)| Op::Test { condition, dst: Reg::temp(n as u8) });
    [Op::ReadFlags { dst: Reg::temp(0) }, Op::Carry { dst: Reg::temp(1) }].into_iter().chain(tests)
}

struct Bench {
    machine: Machine,
    compared: Vec<Reg>,
    /// Of all that was compared, what had a term.
    symbolic: usize,
    unmodelled: usize,
    ops: usize,
}

impl Bench {
    fn new() -> Bench {
        let machine = Machine::new(Memory::new(1 << 20));
        Bench { machine, compared: compared(), symbolic: 0, unmodelled: 0, ops: 0 }
    }

    /// Runs ops, as far as they can be, on the machine and on terms. After each op what has a term has its value; at the end also with other values
    /// for the unknowns, and what has no term is the same then.
    fn run(&mut self, random: &mut Random, ops: &[Op]) {
        let start = state(random);
        let (mut terms, mut registers) = (Terms::new(), Registers::default());
        let unknowns = Unknowns::new(random, &mut terms, &mut registers);
        let mut evaluation = unknowns.evaluation(&start);
        self.machine.cpu = start.clone();
        let (mut done, mut end) = (0, start.clone());
        for op in ops {
            if !testing::execute(&mut self.machine, op) {
                break;
            }
            let unchanged = registers.clone();
            if let Effect::Unmodelled(_) = apply(&mut terms, &mut registers, &end, op) {
                self.unmodelled += 1;
                registers = unchanged;
                break;
            }
            end = self.machine.cpu.clone();
            done += 1;
            self.ops += 1;
            self.compare(&terms, &registers, &mut evaluation, op);
        }
        for _ in 0..4 {
            self.machine.cpu = unknowns.others(random, &start);
            let mut evaluation = unknowns.evaluation(&self.machine.cpu);
            if !ops[..done].iter().all(|op| testing::execute(&mut self.machine, op)) {
                continue;
            }
            for &reg in &self.compared {
                let value = match registers.get(reg) {
                    Some(term) => evaluation.value(&terms, term) as u64,
                    None => end.get(reg),
                };
                assert_eq!(
                    value,
                    self.machine.cpu.get(reg),
                    "{reg} with other values after {:?}",
                    &ops[..done]
                );
            }
        }
    }

    fn compare(&mut self, terms: &Terms, registers: &Registers, evaluation: &mut Evaluation, op: &Op) {
        for &reg in &self.compared {
            let Some(term) = registers.get(reg) else { continue };
            let value = evaluation.value(terms, term) as u64;
            assert_eq!(value, self.machine.cpu.get(reg), "{reg} after {op:?}: {}", terms.print(term));
            self.symbolic += 1;
        }
        if let Some(codes) = registers.get(Reg::X87_CODES) {
            let value = evaluation.value(terms, codes) as u64;
            let differs = value ^ self.machine.cpu.get(Reg::X87_CODES);
            assert_eq!(differs & (C0 | C2 | C3), 0, "condition codes after {op:?}");
        }
    }
}

/// Ten times as many in long runs.
fn rounds(usual: usize) -> usize {
    if std::env::var_os("WHYDUNIT_LONG").is_some() { 100 * usual } else { usual }
}

fn check(seed: u64, usual: usize, make: impl Fn(&mut Random) -> Op) {
    let mut random = Random(seed);
    let mut bench = Bench::new();
    for _ in 0..rounds(usual) {
        let mut ops: Vec<Op> = (0..=random.below(6)).map(|_| make(&mut random)).collect();
        ops.extend(conditions());
        bench.run(&mut random, &ops);
    }
    assert!(
        bench.ops > rounds(usual) && bench.symbolic > bench.ops,
        "{} ops, {} terms, {} not modelled",
        bench.ops,
        bench.symbolic,
        bench.unmodelled
    );
}

#[test]
fn terms_of_integer_ops_are_what_the_machine_computes() {
    check(1, 2000, integer_op);
}

#[test]
fn terms_of_flags_and_conditions_are_what_the_machine_computes() {
    check(2, 2000, |random| if random.below(3) == 0 { integer_op(random) } else { flag_op(random) });
}

#[test]
fn terms_of_vector_ops_are_what_the_machine_computes() {
    let all = VectorOp::all();
    check(3, 4000, |random| vector_op(random, &all));
}

#[test]
fn terms_of_x87_ops_are_what_the_machine_computes() {
    check(4, 3000, x87_op);
}
