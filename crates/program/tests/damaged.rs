//! Damaged and hostile objects: less information, never a panic and never an endless walk.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Random, Scratch, open_bytes};
use program::{Mapping, Program, Registers};

const SOURCE: &str = "struct entry { char name[4]; union { int a; float b; } u; struct { unsigned c : 3, d : 7; } bits; };\n\
                      struct entry table[] = { { \"a\", { 1 }, { 1, 2 } },\n [2] = { .u.b = 2 } };\n\
                      static inline int inner(int *p) { return *p + 1; }\n\
                      __attribute__((noinline)) int outer(int *p) { return inner(p) * 3; }\n\
                      int main(int c, char **v) { return outer(&c); }";

/// Asks everything there is to ask, at addresses in and around the code.
fn ask_everything(program: &Program, code: &[u64]) {
    for address in code.iter().copied().chain([0, 1, u64::MAX]) {
        let _ = program.locate(address);
        ask_for_statements(program, address);
        if let Some(cfg) = program.cfg(address) {
            let _ = program.cfg_text(&cfg);
        }
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

/// Code and data alike: damaged tables may say that either is the other.
fn ask_for_statements(program: &Program, address: u64) {
    if let Some(stmt) = program.statement_at(address) {
        assert_eq!(program.statements_at(address).first(), Some(&stmt));
    }
    let found = program.statements_of(address).into_iter().chain(program.statements_of_variable(address));
    for placed in found.take(100) {
        assert!(placed.ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{placed:?}");
        let _ = (program.text_of(&placed.stmt), program.span_of(&placed.stmt));
    }
    let _ = program.statement_of_data(address);
    let _ = program::Scope::default().of(program, address);
}

fn code_addresses(path: &Path) -> Vec<u64> {
    let program = common::open(path);
    let of = |name| program.find_symbol(name).unwrap();
    ["outer", "main", "table"]
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
    for name in [
        ".debug_info",
        ".debug_abbrev",
        ".debug_line",
        ".debug_line_str",
        ".debug_str",
        ".debug_rnglists",
        ".eh_frame",
        ".symtab",
        ".strtab",
    ] {
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
