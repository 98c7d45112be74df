//! Measures one phase of work on a recorded run: `measure PHASE PROGRAM ARGS…`, with a phase of `run`, `record`, `at`,
//! `backward`, `index`, `align` or `divert`. Prints instructions, seconds, what an unwatched run takes in the same process, and peak memory.

use std::time::Instant;

use linux::{Config, Process};
use machine::{Action, Intervention, Time, Unwatched};
use program::{Program, Scope};
use replay::events::Ending;
use replay::index::{Alignment, Indexer, Indices, keys_of_one};
use replay::{Flow, Options, Outcome, Recording, Scanner, Shapes};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [phase, program, arguments @ ..] = &*words else { panic!("measure PHASE PROGRAM ARGS…") };
    let mut config = Config::new(program);
    config.argv.extend(arguments.iter().map(|word| word.as_bytes().to_vec()));
    let mut start = Process::load(&config).unwrap();
    // Memory is peak memory, so a run that nobody asked for must not be alive at the same time.
    let mut process = start.fork();
    let began = Instant::now();
    process.run(Time(u64::MAX), &mut Unwatched);
    let plain = began.elapsed().as_secs_f64();
    let instructions = process.machine.time.0;
    let view = Program::from_memory(&process.machine.memory);
    drop(process);
    let began = Instant::now();
    let said = measure(phase, &mut start, &view);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{phase}: {instructions} instructions, {seconds:.3} s, unwatched {plain:.3} s, {:.2} times, peak {} KiB{said}",
        seconds / plain,
        peak()
    );
}

fn measure(phase: &str, start: &mut Process, view: &Program) -> String {
    if phase == "run" {
        start.run(Time(u64::MAX), &mut Unwatched);
        return String::new();
    }
    let (flow, scope) = (Flow::new(view), Scope::default());
    if phase == "align" {
        let keys = keys_of_one(view);
        let side = |process: Process| (process, Indexer::new(&flow, &scope, keys.clone()));
        let mut alignment = Alignment::new(side(start.fork()), side(start.fork()));
        let count = alignment.by_ref().count();
        return format!(", {count} statement instances, {} deep", alignment.deepest());
    }
    let memory = std::env::var("BUDGET").ok().and_then(|text| text.parse().ok());
    let options = Options { memory: memory.unwrap_or(Options::DEFAULT_MEMORY), ..Options::default() };
    let mut recording = Recording::make(start.fork(), options);
    let (kept, spilled) = recording.checkpoints();
    let made = format!(", {kept} checkpoints, {spilled} in a file");
    match phase {
        "record" => made,
        "at" => {
            let times: Vec<u64> =
                (1..=10u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % recording.end().0).collect();
            let seek = |time: &u64| {
                let began = Instant::now();
                recording.at(Time(*time));
                began.elapsed().as_secs_f64()
            };
            let seconds: Vec<f64> = times.iter().map(seek).collect();
            format!("{made}, slowest of 10 seeks {:.3} s", seconds.into_iter().fold(0.0, f64::max))
        }
        "backward" => {
            let mut seen = 0;
            recording.backward(Time(u64::MAX), |segment| {
                seen += segment.trace.length();
                true
            });
            format!("{made}, {seen} instructions traced")
        }
        "index" => {
            let mut indices = Indices::new(&flow, &scope);
            let last = Time(recording.end().0 - 1);
            let index = indices.at(&mut recording, last).unwrap();
            format!("{made}, {} deep, last {index}", indices.deepest())
        }
        "divert" => divert(&mut recording, &flow),
        other => panic!("{other} is no phase"),
    }
}

/// Diversions at each branch of some segments whose function is known.
fn divert(recording: &mut Recording, flow: &Flow<'_>) -> String {
    let mut scanner = Scanner::default();
    let mut shapes = Shapes::default();
    let (mut count, mut reached, mut instructions, mut seconds) = (0u64, 0u64, 0u64, 0.0);
    let middle = Time(recording.end().0 / 2);
    recording.forward(middle..Time(middle.0 + 200_000), |segment| {
        let mut process = segment.before.fork();
        for pass in segment.trace.forward() {
            let shape = shapes.of(&pass);
            let Ending::Branch { .. } = shape.ending else { continue };
            let Some(function) = flow.function(shape.last()) else { continue };
            let time = Time(pass.time.0 + shape.addresses().len() as u64 - 1);
            process.run(time, &mut Unwatched);
            let began = Instant::now();
            let mut diversion =
                replay::Diversion::new(&mut process, &[Intervention::At(time, Action::FlipBranch)]);
            let arrival = diversion.run_to(function.reconvergence(shape.last()), 10_000, &mut scanner);
            seconds += began.elapsed().as_secs_f64();
            count += 1;
            instructions += arrival.time.0 - time.0;
            reached += u64::from(arrival.outcome == Outcome::Reached);
        }
        true
    });
    format!(
        ", {count} diversions, {reached} reached, {:.1} µs and {} instructions each",
        seconds * 1e6 / count as f64,
        instructions / count.max(1)
    )
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
