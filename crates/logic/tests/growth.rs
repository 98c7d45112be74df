//! Building grows with the length of a run and no faster. With WHYDUNIT_LONG set, up to a million definitions; what it took is printed.

mod common;

use common::{Scratch, is_long, load};
use logic::concolic::{Concolic, Naming, Options};
use machine::Time;
use replay::Cell;
use std::time::Instant;

const STEPS: &str = "
    #include <stdlib.h>
    unsigned seed = 12345;
    double scale = 1.5;
    int main(int count, char **arguments) {
        unsigned x = seed, y = 99;
        double z = scale;
        for (long n = atol(arguments[1]); n > 0; n--) {
            x = x * 1664525 + y;
            y = (y ^ (x >> 3)) - n;
            z = z * 0.5 + x;
            if ((int)z == 3)
                y++;
        }
        return (x ^ y ^ (unsigned)z) & 1;
    }";

struct Built {
    definitions: usize,
    terms: usize,
    seconds: f64,
}

fn build(program: &std::path::Path, steps: u64, naming: Naming) -> Built {
    let mut process = load(program, &[&steps.to_string()], b"");
    let mut concolic = Concolic::new(Options { naming, ..Options::default() });
    let symbol = |name: &str| {
        let output = std::process::Command::new("nm").arg(program).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(&line[..16], 16).unwrap()
    };
    concolic.make_unknown(&process, Cell::Memory { address: symbol("seed"), length: 4 }).unwrap();
    concolic.make_unknown(&process, Cell::Memory { address: symbol("scale"), length: 8 }).unwrap();
    let start = Instant::now();
    concolic.run(&mut process, Time(u64::MAX));
    let seconds = start.elapsed().as_secs_f64();
    assert!(!concolic.is_stopped());
    Built { definitions: concolic.definitions().len(), terms: concolic.terms().len(), seconds }
}

#[test]
fn terms_grow_with_the_run() {
    let scratch = Scratch::new("growth");
    let program = scratch.compile_text("steps", STEPS, "gcc", &["-O0", "-no-pie"]);
    let sizes: &[u64] = if is_long() { &[100, 1000, 10_000, 100_000] } else { &[100, 1000, 5000] };
    for naming in [Naming::None, Naming::Instructions] {
        let mut per_step = Vec::new();
        for &steps in sizes {
            let built = build(&program, steps, naming.clone());
            println!(
                "{steps} steps: {} definitions, {} terms, {:.0} terms a second",
                built.definitions,
                built.terms,
                built.terms as f64 / built.seconds
            );
            per_step.push(built.terms as f64 / steps as f64);
        }
        let (least, most) =
            (per_step.iter().copied().fold(f64::MAX, f64::min), per_step.iter().copied().fold(0.0, f64::max));
        assert!(most < 1.3 * least, "terms a step: {per_step:?}");
    }
}
