//! Damaged and hostile objects: less information, never a panic and never an endless walk.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Scratch, open_bytes};
use program::{Mapping, Program, Registers};

const SOURCE: &str = "static inline int inner(int *p) { return *p + 1; }\n\
                      __attribute__((noinline)) int outer(int *p) { return inner(p) * 3; }\n\
                      int main(int c, char **v) { return outer(&c); }";

/// A small generator of its own, so that a failing seed fails again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Asks everything there is to ask, at addresses in and around the code.
fn ask_everything(program: &Program, code: &[u64]) {
    for address in code.iter().copied().chain([0, 1, u64::MAX]) {
        let _ = program.locate(address);
        let _ = program.conditions(address);
        let mut general = [address; 16];
        general[4] = 0x7fff_0000;
        let registers = Registers::new(address, general);
        let mut reads = 0;
        // A stack full of plausible return addresses.
        let backtrace = program.backtrace(&registers, 64, &mut |from, buffer: &mut [u8]| {
            reads += 1;
            let word = code[(from as usize / 8) % code.len()];
            buffer.copy_from_slice(&word.to_le_bytes()[..buffer.len()]);
            true
        });
        assert!(!backtrace.frames.is_empty() && backtrace.frames.len() <= 64);
        assert!(reads < 200_000);
    }
    let _ = program.find_symbol("outer");
    let _ = program.find_symbol("otuer");
}

fn code_addresses(path: &Path) -> Vec<u64> {
    let program = common::open(path);
    let of = |name| program.find_symbol(name).unwrap();
    ["outer", "main"]
        .into_iter()
        .flat_map(|name| [of(name).address, of(name).address + of(name).size / 2])
        .collect()
}

fn damage(options: &[&str], name: &str, rounds: u64) {
    let scratch = Scratch::new(name);
    let path = scratch.compile("gcc", "damaged.c", SOURCE, options);
    let sound = std::fs::read(&path).unwrap();
    let code = code_addresses(&path);
    let started = Instant::now();
    for seed in 0..rounds {
        let mut random = Random(seed);
        let mut content = sound.clone();
        for _ in 0..=random.below(8) {
            let at = random.below(content.len());
            content[at] = match random.below(4) {
                0 => 0,
                1 => 0xff,
                2 => content[at] ^ (1 << random.below(8)),
                _ => random.next() as u8,
            };
        }
        if seed % 16 == 0 {
            content.truncate(random.below(content.len()));
        }
        if let Some(program) = open_bytes(&path, content) {
            ask_everything(&program, &code);
        }
        assert!(started.elapsed() < Duration::from_secs(120), "seed {seed} is slow");
    }
}

#[test]
fn flipped_bytes_never_panic() {
    damage(&["-g", "-O2"], "flips", 3000);
}

#[test]
fn flipped_bytes_in_compressed_sections_never_panic() {
    damage(&["-g", "-O2", "-gz=zlib"], "compressed", 1000);
}

/// Flips aimed at one section, where they reach deeper than those spread over the file.
#[test]
fn flipped_bytes_in_debug_and_unwind_sections_never_panic() {
    use object::{Object, ObjectSection};
    let scratch = Scratch::new("sections");
    let path = scratch.compile("gcc", "damaged.c", SOURCE, &["-g", "-O2"]);
    let sound = std::fs::read(&path).unwrap();
    let code = code_addresses(&path);
    let elf = object::File::parse(&*sound).unwrap();
    for name in
        [".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".eh_frame", ".symtab", ".strtab"]
    {
        let Some((start, size)) = elf.section_by_name(name).and_then(|section| section.file_range()) else {
            panic!("no {name}")
        };
        for seed in 0..400 {
            let mut random = Random(seed);
            let mut content = sound.clone();
            for _ in 0..=random.below(4) {
                content[start as usize + random.below(size as usize)] = random.next() as u8;
            }
            if let Some(program) = open_bytes(&path, content) {
                ask_everything(&program, &code);
            }
        }
    }
}

#[test]
fn what_is_no_elf_file_is_refused_as_an_object_and_known_by_nothing_when_mapped() {
    for content in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &[0; 4096]] {
        assert!(open_bytes(Path::new("/nowhere"), content.to_vec()).is_none());
        let content = Some(Arc::new(content.to_vec()));
        let path = Arc::from("/nowhere");
        let mapping = Mapping { start: 0x1000, end: 0x2000, file_offset: 0, path, content };
        let program = Program::from_mappings([mapping]);
        let location = program.locate(0x1000);
        assert_eq!(location.object.as_deref(), Some("/nowhere"));
        assert!(location.function.is_none() && location.frames.is_empty());
        assert!(program.find_symbol("main").is_err());
    }
}
