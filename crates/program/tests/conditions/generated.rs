//! Generated conditions: each must be found as one condition, with the exits that the source says.

use lift::Decoded;
use program::conditions::Exit;
use program::{BlockId, Cfg, Condition, ConditionKind, Program, Terminator};

use crate::common::{Scratch, open};
use crate::generator::{CONTEXTS, Case, LEAVES, MOST_LEAVES, Random, shape, shapes, source};
use crate::guest::{Guest, Inputs, outcome};

/// Inputs that each condition is run with.
const RUNS: usize = 12;
/// Functions in one source file.
const BATCH: usize = 400;

fn long() -> bool {
    std::env::var_os("WHYDUNIT_LONG").is_some()
}

/// Every shape up to depth 2 in every context, every pair of leaves, and samples of depth 3 and 4.
fn cases() -> Vec<Case> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut cases = Vec::new();
    for context in 0..CONTEXTS.len() {
        for shape in shapes(2) {
            let expression = shape.with_leaves(&mut || random.below(LEAVES));
            cases.push(Case { expression, context });
        }
        for leaf in 0..LEAVES {
            cases.push(Case { expression: shapes(0)[0].with_leaves(&mut || leaf), context });
        }
    }
    for pair in 0..LEAVES * LEAVES {
        let both = shapes(1).into_iter().filter(|shape| shape.leaves() == 2);
        for (n, shape) in both.enumerate() {
            let mut leaves = [pair / LEAVES, pair % LEAVES].into_iter();
            let expression = shape.with_leaves(&mut || leaves.next().unwrap());
            let context = (pair + n) % CONTEXTS.len();
            cases.push(Case { expression, context });
        }
    }
    let samples = if long() { 1500 } else { 150 };
    for n in 0..2 * samples {
        let sample = shape(&mut random, 3 + n % 2);
        let expression = sample.with_leaves(&mut || random.below(LEAVES));
        if expression.leaves() <= MOST_LEAVES {
            cases.push(Case { expression, context: random.below(CONTEXTS.len()) });
        }
    }
    // A number that is used as it is is no condition.
    cases.retain(|case| !case.is_value() || !case.expression.is_number());
    if long() {
        for shape in shapes(3) {
            let expression = shape.with_leaves(&mut || random.below(LEAVES));
            cases.push(Case { expression, context: random.below(CONTEXTS.len()) });
        }
    }
    cases
}

fn inputs(random: &mut Random) -> Inputs {
    let doubles = [0.0, 1.0, 1.0, 2.0, f64::NAN];
    Inputs {
        integers: (0..2 * MOST_LEAVES).map(|_| random.below(5) as i32 - 2).collect(),
        doubles: (0..2 * MOST_LEAVES).map(|_| doubles[random.below(doubles.len())]).collect(),
    }
}

const OPTIONS: [&str; 6] = ["-g", "-w", "-static", "-nostdlib", "-fno-stack-protector", "-no-pie"];

fn each(
    compiler: &str,
    level: &str,
    cases: &[Case],
    mut check: impl FnMut(&Program, &mut Guest, u64, &Case) -> Result<(), String>,
) {
    let scratch = Scratch::new(&format!("generated-{compiler}{level}"));
    let (mut failed, mut count) = (Vec::new(), 0);
    for batch in cases.chunks(BATCH) {
        let options: Vec<&str> = OPTIONS.into_iter().chain([level]).collect();
        let path = scratch.compile(compiler, "cases.c", &source(batch), &options);
        let program = open(&path);
        let mut guest = Guest::load(&path);
        for (number, case) in batch.iter().enumerate() {
            let start = program.find_symbol(&Case::name(number)).unwrap().address;
            count += 1;
            if let Err(error) = check(&program, &mut guest, start, case) {
                failed.push(format!("{}\n    {error}", case.body()));
            }
        }
    }
    let shown = failed.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failed.is_empty(), "{} of {count} by {compiler} {level}:\n{shown}", failed.len());
}

/// The name of the function that is called first from a block on.
fn first_call(program: &Program, cfg: &Cfg, id: BlockId) -> Option<String> {
    let mut next = Some(id);
    for _ in 0..16 {
        let block = cfg.block(next?)?;
        let mut at = block.start;
        while at < block.end {
            let Decoded::Instruction(instruction) = lift::decode(program.file_bytes(at)?, at) else {
                return None;
            };
            let mut ops = Vec::new();
            lift::lift(&instruction, &mut ops);
            if let Some(lift::Op::Call { target: lift::Value::Const(target), .. }) = ops.last() {
                return program.locate(*target).function.map(|function| function.name);
            }
            at += instruction.len() as u64;
        }
        next = match block.terminator {
            Terminator::Next(next) => Some(next),
            _ => None,
        };
    }
    None
}

/// The exit of the source's true side, after a look at what is called on either side.
fn true_exit(program: &Program, cfg: &Cfg, case: &Case, condition: &Condition) -> Result<Exit, String> {
    match &condition.kind {
        ConditionKind::Branch { exits, true_exit } if !case.is_value() => {
            let exit = true_exit.ok_or("the true side is not known")?;
            let called = [exit, exit.other()].map(|exit| first_call(program, cfg, exits[exit.index()]));
            // The clauses of a `for` come in between, but on the true side only.
            let fits = called[0].as_deref() == Some("yes") && called[1].as_deref() == Some("no");
            if fits { Ok(exit) } else { Err(format!("the exits call {called:?}")) }
        }
        ConditionKind::Value { .. } if case.is_value() => Ok(Exit::First),
        other => Err(format!("it is found as {other:?}")),
    }
}

fn one_condition(program: &Program, guest: &mut Guest, start: u64, case: &Case) -> Result<(), String> {
    let cfg = program.cfg(start).unwrap();
    let conditions = program.conditions(start).unwrap();
    let [condition] = &conditions[..] else {
        let all: String = conditions.iter().map(|condition| condition.text(&cfg)).collect();
        return Err(format!("{} conditions:\n{all}", conditions.len()));
    };
    let with_text = |error: String| format!("{error}:\n{}", condition.text(&cfg));
    let yes = true_exit(program, &cfg, case, condition).map_err(with_text)?;
    let mut random = Random(start | 1);
    for _ in 0..RUNS {
        let inputs = inputs(&mut random);
        let holds = case.expression.holds(&mut 0, &inputs.integers, &inputs.doubles);
        let watched = guest.call(start, &inputs, &[]);
        let taken = outcome(&watched, &cfg, condition).map_err(with_text)?.ok_or("it was not reached")?;
        if (taken == yes) != holds {
            return Err(format!("it took {taken:?} although it is {holds}:\n{}", condition.text(&cfg)));
        }
    }
    let inputs = inputs(&mut random);
    for exit in Exit::BOTH {
        let watched = guest.force(start, &inputs, condition, exit);
        if outcome(&watched, &cfg, condition).map_err(with_text)? != Some(exit) {
            return Err(format!("it cannot be forced to {exit:?}:\n{}", condition.text(&cfg)));
        }
    }
    Ok(())
}

#[test]
fn each_condition_by_gcc_is_one_group_with_the_right_exits() {
    each("gcc", "-O0", &cases(), one_condition);
}

#[test]
fn each_condition_by_clang_is_one_group_with_the_right_exits() {
    each("clang", "-O0", &cases(), one_condition);
}

/// Optimised code may be grouped less, but what is said must be what happens.
fn nothing_wrong(program: &Program, guest: &mut Guest, start: u64, case: &Case) -> Result<(), String> {
    let cfg = program.cfg(start).unwrap();
    let conditions = program.conditions(start).unwrap();
    let mut random = Random(start | 1);
    for _ in 0..RUNS {
        let inputs = inputs(&mut random);
        let holds = case.expression.holds(&mut 0, &inputs.integers, &inputs.doubles);
        let watched = guest.call(start, &inputs, &[]);
        for condition in conditions.iter() {
            let with_text = |error: String| format!("{error}:\n{}", condition.text(&cfg));
            let taken = outcome(&watched, &cfg, condition).map_err(with_text)?;
            if let (Some(taken), ConditionKind::Branch { true_exit: Some(yes), .. }) =
                (taken, &condition.kind)
                && !case.is_value()
                && (taken == *yes) != holds
            {
                return Err(with_text(format!("it took {taken:?} although it is {holds}")));
            }
        }
    }
    Ok(())
}

fn optimised(compiler: &str) {
    // Compilers take their time with these.
    let cases: Vec<Case> = cases().into_iter().step_by(4).collect();
    for level in ["-O1", "-O2"] {
        each(compiler, level, &cases, nothing_wrong);
    }
}

#[test]
fn optimised_conditions_by_gcc_have_no_wrong_steps() {
    optimised("gcc");
}

#[test]
fn optimised_conditions_by_clang_have_no_wrong_steps() {
    optimised("clang");
}
