//! Slices by experiment: what is outside of a slice makes no difference, and what is in it is enough.

mod guest;
mod naive;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use guest::{Guest, compile};
use linux::SystemCall;
use linux::fs::Stream;
use machine::{Action, Intervention, Time, Trace};
use naive::alone::Alone;
use naive::{Byte, Definition, Naive, Random, csmith};
use program::Scope;
use replay::{Bounds, Cell, Code, Follow, Made, Question, Recording, Step, Watch};

/// Random programs that run for longer are left out.
const LONGEST: Time = Time(400_000);

/// Trials with one criterion.
const TRIALS: usize = 10;

/// Enough for runs of that length.
const FEW: Bounds = Bounds {
    experiments: 2_000,
    instructions: 10_000,
    ways: 8,
    ways_in_all: 2_000,
    forced_instructions: 1_000,
};

/// What came of changed definitions.
#[derive(Debug, Default)]
struct Trials {
    /// Path and addresses stayed the same.
    same: u64,
    /// And yet the criterion changed.
    refuted: Vec<String>,
    diverged: u64,
    /// Of those whose criterion is there to be looked at.
    diverged_output: u64,
    changed_output: u64,
    /// With definitions inside of the slice: that these do change the criterion shows that the others could.
    inside: u64,
    inside_changed: u64,
    /// Decisions that are in the slices by a potential dependence.
    omissions: u64,
}

/// The way that a run took: instructions, addresses, choices and system calls.
fn way(trace: &Trace, calls: &[SystemCall]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for pass in trace.forward() {
        pass.forward().for_each(|executed| (executed.address, executed.words).hash(&mut hasher));
    }
    for call in calls {
        (call.time, call.number, call.arguments, call.result).hash(&mut hasher);
        call.moved.iter().for_each(|moved| (moved.from, moved.to, moved.length).hash(&mut hasher));
    }
    hasher.finish()
}

/// Where a run from `time` on comes to: its way, and what the criterion is then.
fn outcome(mut process: linux::Process, question: &Question) -> (u64, Vec<u8>) {
    let (mut trace, mut calls) = (Trace::new(), Vec::new());
    process.run_followed(question.time, &mut trace, &mut calls);
    (way(&trace, &calls), contents(&process, &question.cells))
}

fn contents(process: &linux::Process, cells: &[Cell]) -> Vec<u8> {
    let mut found = Vec::new();
    for cell in cells {
        match *cell {
            Cell::Register(reg, _) => found.extend(process.machine.cpu.get(reg).to_le_bytes()),
            Cell::Memory { address, length } => {
                let mut bytes = vec![0; length as usize];
                process.machine.memory.peek(address, &mut bytes);
                found.extend(bytes);
            }
            Cell::Kernel { place: linux::Place::Output { offset, .. }, .. } => {
                found.extend(process.kernel.output.contents(Stream::Stdout).get(offset as usize));
            }
            Cell::Kernel { .. } => {}
        }
    }
    found
}

fn altered(recording: &mut Recording, definition: &Definition) -> Option<Action> {
    const PATTERN: u8 = 0x5b;
    let process = recording.at(definition.time);
    match definition.place {
        Byte::Register(reg, byte) => {
            let is_plain = reg.is_general() || reg.0 >= lift::Reg::xmm(0).0;
            let value = process.machine.cpu.get(reg) ^ u64::from(PATTERN) << (8 * byte);
            is_plain.then_some(Action::SetValue { reg, value })
        }
        Byte::Memory(address) => {
            let mut bytes = vec![0];
            process.machine.memory.peek(address, &mut bytes);
            bytes[0] ^= PATTERN;
            Some(Action::Poke { address, bytes })
        }
    }
}

/// When conditions were decided whose other side would have changed something.
#[derive(Default)]
struct Omissions(BTreeSet<Time>);

impl Watch for Omissions {
    fn step(&mut self, step: Step) {
        if let Made::Omission(_) = step.made {
            self.0.insert(step.time);
        }
    }
}

/// Changes definitions outside of full slices or, with `is_relevant`, of those with potential dependences.
fn try_program(
    guest: &mut Guest,
    name: &str,
    seed: u64,
    most: usize,
    is_relevant: bool,
    trials: &mut Trials,
) {
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let naive = Naive::watch(&mut guest.recording, &mut code, seed, 60);
    let mut random = Random::new(seed);
    let criteria = naive.questions.len() as u64;
    for _ in 0..most.min(criteria as usize * 100) / TRIALS {
        let (question, roots) = &naive.questions[random.below(criteria) as usize];
        let mut omissions = Omissions::default();
        if is_relevant {
            guest.recording.slice(&mut code, question, Follow::Relevant(FEW), &mut omissions);
        }
        trials.omissions += omissions.0.len() as u64;
        let roots = naive.with_decisions(roots, &omissions.0);
        let (_, slice) = naive.visited(&mut code, &roots, Follow::Full);
        let is_inside = |definition: &Definition| {
            let bytes = slice.get(&definition.part.node).copied().unwrap_or(0);
            bytes & 1 << definition.part.byte != 0
        };
        let before = naive.definitions.iter().filter(|definition| definition.time < question.time);
        let (inside, outside): (Vec<&Definition>, Vec<_>) = before.partition(|known| is_inside(known));
        for _ in 0..TRIALS.min(outside.len()) {
            let definition = outside[random.below(outside.len() as u64) as usize];
            let Some((same_way, changed)) = try_change(&mut guest.recording, definition, question) else {
                continue;
            };
            if same_way {
                trials.same += 1;
                if changed {
                    trials.refuted.push(format!("{name}: {question:?} changes with {definition:?}"));
                }
            } else {
                let is_output = matches!(question.cells[..], [Cell::Kernel { .. }]);
                trials.diverged += 1;
                trials.diverged_output += u64::from(is_output);
                trials.changed_output += u64::from(is_output && changed);
            }
        }
        if let Some(definition) = inside.last()
            && let Some((true, changed)) = try_change(&mut guest.recording, definition, question)
        {
            trials.inside += 1;
            trials.inside_changed += u64::from(changed);
        }
    }
}

/// Changes a byte right after it was made: whether the run goes the same way, and whether the criterion changes.
fn try_change(
    recording: &mut Recording,
    definition: &Definition,
    question: &Question,
) -> Option<(bool, bool)> {
    let action = altered(recording, definition)?;
    let time = definition.time;
    let expected = outcome(recording.at(time), question);
    let mut diversion = recording.divert(time, &[Intervention::At(time, action)]);
    let found = outcome(diversion.process().fork(), question);
    Some((found.0 == expected.0, found.1 != expected.1))
}

fn random_programs(seeds: std::ops::Range<u64>, mut each: impl FnMut(&mut Guest, &str, u64)) {
    for seed in seeds {
        let Some(source) = csmith::generate(seed) else {
            println!("skipped: there is no csmith");
            return;
        };
        let (compiler, optimisation) = csmith::VARIANTS[seed as usize % csmith::VARIANTS.len()];
        let options = [optimisation, "-Wl,-z,now", "-isystem", "/usr/include/csmith"];
        let program = compile(compiler, &source, &options);
        let mut guest = Guest::run_for(program.clone(), &[], LONGEST);
        [program, source].iter().for_each(|path| std::fs::remove_file(path).unwrap());
        if guest.recording.end() < LONGEST {
            each(&mut guest, &format!("seed {seed}, {compiler} {optimisation}"), seed);
        }
    }
}

fn outside_of_slices(seeds: std::ops::Range<u64>, most: usize, is_relevant: bool) -> Trials {
    let mut trials = Trials::default();
    random_programs(seeds, |guest, name, seed| {
        try_program(guest, name, seed, most, is_relevant, &mut trials);
    });
    println!(
        "{} trials with the same path and addresses, {} that diverged; of {} of these that ask about output, {} changed it",
        trials.same, trials.diverged, trials.diverged_output, trials.changed_output
    );
    println!("inside of slices {} of {} changes changed the criterion", trials.inside_changed, trials.inside);
    trials.refuted.truncate(10);
    assert!(trials.refuted.is_empty(), "{}", trials.refuted.join("\n"));
    assert!(trials.same > 0 && trials.inside_changed > 0);
    trials
}

fn is_long() -> bool {
    std::env::var_os("WHYDUNIT_LONG").is_some()
}

#[test]
fn what_is_outside_of_a_slice_makes_no_difference() {
    let (programs, most) = if is_long() { (150, 200) } else { (6, 60) };
    outside_of_slices(1000..1000 + programs, most, false);
}

#[test]
fn what_is_outside_of_a_slice_with_potential_dependences_makes_no_difference() {
    let (programs, most) = if is_long() { (100, 100) } else { (4, 40) };
    let trials = outside_of_slices(3000..3000 + programs, most, true);
    println!("{} decisions are there by a potential dependence", trials.omissions);
    assert!(trials.omissions > 0);
}

/// What came of slices that were executed alone.
#[derive(Debug, Default)]
struct Reruns {
    done: u64,
    instructions: u64,
    left_out: u64,
    wrong: Vec<String>,
    /// With the last instruction missing: that the value is then another shows that it was made, not there already.
    cut: u64,
    cut_wrong: u64,
}

fn rerun(guest: &mut Guest, name: &str, seed: u64, most: usize, reruns: &mut Reruns) {
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let naive = Naive::watch(&mut guest.recording, &mut code, seed, most);
    for (question, roots) in &naive.questions {
        let (answer, visited) = naive.visited(&mut code, roots, Follow::Data);
        let is_kernel = question.cells.iter().any(|cell| matches!(cell, Cell::Kernel { .. }));
        let alone = Alone::new(&mut guest.recording, &naive, question, &answer, &visited);
        let Some(alone) = alone.filter(|_| !is_kernel) else {
            reruns.left_out += 1;
            continue;
        };
        let expected = contents(&guest.recording.at(question.time), &question.cells);
        let (found, executed, mut faults) = remade(&mut guest.recording, &naive, question, alone);
        if found != expected {
            faults.push(format!("gives {found:x?}, not {expected:x?}"));
        }
        reruns.done += 1;
        reruns.instructions += executed;
        if let Some(fault) = faults.first() {
            reruns.wrong.push(format!("{name}: {question:?}: {fault}"));
        }
        let mut cut = Alone::new(&mut guest.recording, &naive, question, &answer, &visited).unwrap();
        cut.leave_out_last();
        reruns.cut += 1;
        reruns.cut_wrong += u64::from(remade(&mut guest.recording, &naive, question, cut).0 != expected);
    }
}

/// What a slice makes of the criterion, by how many instructions, and what went wrong.
fn remade(
    recording: &mut Recording,
    naive: &Naive,
    question: &Question,
    mut alone: Alone,
) -> (Vec<u8>, u64, Vec<String>) {
    recording.at(naive.begin()).run(question.time, &mut alone);
    let mut process = recording.at(question.time);
    process.machine = alone.machine;
    (contents(&process, &question.cells), alone.executed, alone.faults)
}

#[test]
fn the_ops_of_a_data_slice_alone_make_the_value_again() {
    let mut reruns = Reruns::default();
    let (programs, most) = if is_long() { (150, 40) } else { (6, 30) };
    random_programs(2000..2000 + programs, |guest, name, seed| rerun(guest, name, seed, most, &mut reruns));
    println!(
        "{} slices with {} instructions executed alone, {} left out",
        reruns.done, reruns.instructions, reruns.left_out
    );
    println!("with the last instruction missing {} of {} gave another value", reruns.cut_wrong, reruns.cut);
    reruns.wrong.truncate(10);
    assert!(reruns.wrong.is_empty(), "{}", reruns.wrong.join("\n"));
    assert!(reruns.done > 0 && 2 * reruns.cut_wrong > reruns.cut);
}
