use linux::{Config, Place, Process, fs::Stream};
use machine::{Time, Unwatched};
use program::{Program, Scope};
use replay::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut config = Config::new(&args[0]);
    config.argv.extend(args[1..].iter().map(|a| a.as_bytes().to_vec()));
    let mut p = Process::load(&config).unwrap();
    let start = Instant::now();
    p.fork().run(Time(u64::MAX), &mut Unwatched);
    let plain = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut recording = Recording::make(p, Time(u64::MAX));
    let rec = start.elapsed().as_secs_f64();
    let n = recording.end().0;
    println!("{n} instructions, plain {plain:.3}s, recording {rec:.3}s ({:.2}x)", rec / plain);
    let program = Program::from_memory(&recording.last().machine.memory);
    let t = Instant::now();
    let mut count = 0u64;
    recording.backward(Time(u64::MAX), |s| {
        count += s.trace.backward().count() as u64;
        true
    });
    let empty = t.elapsed().as_secs_f64();
    println!("empty backward {:.3}s {:.2}x, {count} passes", empty, empty / plain);
    for follow in [Follow::Data, Follow::Full] {
        let mut code = Code::new(&program, Scope::new(&[], &[]).unwrap());
        let len = recording.last().kernel.output.length(Stream::Stdout);
        let place = Place::Output { stream: Stream::Stdout, offset: len.saturating_sub(2) };
        let q = Question {
            time: recording.end(),
            cells: vec![Cell::Kernel { place, length: 1 }],
            why_here: false,
        };
        let t = Instant::now();
        let slice = recording.slice(&mut code, &q, follow, &mut Unseen);
        let s = t.elapsed().as_secs_f64();
        println!(
            "{follow:?}: {s:.3}s = {:.2}x plain, {:.1} ns/instr; {} statements, {} decisions, {} instr",
            s / plain,
            s * 1e9 / n as f64,
            slice.statements.len(),
            slice.decisions,
            slice.instructions
        );
        let inst: u64 = slice.statements.values().map(|s| s.instances).sum();
        println!("   instances {inst}, sources {}", slice.sources.len());
        if slice.statements.len() < 40 {
            for (s, sh) in &slice.statements {
                println!("   {s} {sh:?}");
            }
        }
    }
}
