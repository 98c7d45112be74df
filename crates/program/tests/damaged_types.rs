//! Damaged debug information: less is known of types and variables, and nothing panics or takes for ever.

mod common;

use std::time::{Duration, Instant};

use common::{Scratch, open_bytes};
use object::{Object, ObjectSection};
use program::{Limits, NoAllocations, Place, Program, Registers, State};

/// Seconds on a busy host; a walk without end takes longer.
const LONGEST: Duration = Duration::from_secs(20);

/// A small generator of its own, so that a failing seed fails again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 29
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }
}

/// Asks for all variables, types, values and names in a state full of plausible words.
fn ask_everything(program: &Program, code: u64) {
    let mut general = [code; 16];
    general[4] = 0x7fff_0000;
    general[5] = 0x7fff_0100;
    let state = State::new(Registers::new(code, general), |from, buffer: &mut [u8]| {
        let word = if from % 3 == 0 { code } else { from.wrapping_add(64) };
        for (index, byte) in buffer.iter_mut().enumerate() {
            *byte = (word >> (8 * (index % 8))) as u8;
        }
        true
    })
    .with_thread_pointer(0x7fff_8000)
    .with_vectors([7; 16]);
    let limits = Limits { length: 1 << 12, ..Limits::default() };
    let backtrace = program.backtrace_of(&state, 8);
    for frame in &backtrace.frames {
        for call in program.calls_at(frame) {
            for variable in call.variables() {
                let _ = program.print_variable(variable, Some(frame), &state, limits);
                let _ = program.value_of(variable, Some(frame), &state);
                let _ = program.type_of_variable(variable, Some(frame), &state);
            }
        }
    }
    for variable in program.globals().iter().take(200) {
        let _ = program.print_variable(variable, None, &state, limits);
        let _ = program.type_definition(variable.of);
        if let Some(of) = variable.of {
            let _ = program.print_value(of, &Place::Memory(0x5000), None, &state, limits);
        }
    }
    let _ = program.definitions_for(
        program.blocks_of(code).iter().flat_map(|block| block.variables.iter().map(|(v, _)| v)),
    );
    let _ = program.find_type("node").map(|id| program.type_definition(Some(id)));
    let names = program.names(&state, &backtrace.frames, &NoAllocations);
    let _ = names.of_memory(0x7fff_0040, 8);
}

fn damage(compiler: &str, source_name: &str, options: &[&str], function: &str, rounds: u64) {
    let scratch = Scratch::new(&format!("damaged-{compiler}-{}", options.join("")));
    let source = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source_name),
    );
    let path = scratch.compile(compiler, source_name, &source.unwrap(), options);
    let sound = std::fs::read(&path).unwrap();
    let symbol = common::open(&path).find_symbol(function).unwrap();
    let elf = object::File::parse(&*sound).unwrap();
    let sections: Vec<(usize, usize)> = elf
        .sections()
        .filter(|section| section.name().is_ok_and(|name| name.starts_with(".debug_")))
        .filter_map(|section| section.file_range())
        .map(|(offset, size)| (offset as usize, size as usize))
        .filter(|(_, size)| *size > 0)
        .collect();
    assert!(sections.len() > 3);
    for seed in 0..rounds {
        let mut random = Random(seed);
        let mut content = sound.clone();
        for _ in 0..=random.below(12) {
            let (offset, size) = sections[random.below(sections.len())];
            let at = offset + random.below(size);
            content[at] = match random.below(3) {
                0 => [0, 0xff, 0x7f, 0x80][random.below(4)],
                1 => content[at] ^ 1 << random.below(8),
                _ => random.next() as u8,
            };
        }
        let started = Instant::now();
        if let Some(program) = open_bytes(&path, content) {
            ask_everything(&program, symbol.address + symbol.size / 2);
        }
        assert!(started.elapsed() < LONGEST, "seed {seed} took {:?}", started.elapsed());
    }
}

#[test]
fn damaged_c() {
    damage("gcc", "kinds.c", &["-g", "-O1"], "main", 200);
    damage("gcc", "kinds.c", &["-gdwarf-4", "-fdebug-types-section"], "walk", 200);
    damage("clang", "kinds.c", &["-g", "-O1"], "main", 200);
}

#[test]
fn damaged_cpp() {
    damage("g++", "classes.cc", &["-g", "-std=c++17"], "main", 200);
}
