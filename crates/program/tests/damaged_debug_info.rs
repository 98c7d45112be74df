//! Damaged debug information of real objects: whatever is asked about variables, values and types, the answer is less
//! information, never a panic, and it comes soon.

mod common;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Random, Scratch, open, open_bytes};
use object::{Object, ObjectSection, ObjectSymbol};
use program::{Frame, Limits, Program, Registers, Rule, State};

/// For all questions about one object. A sound one takes a few milliseconds; the rest is for a machine that is busy.
const LONGEST: Duration = Duration::from_secs(10);

/// Variables and types that are asked about in one object.
const MOST_ASKED: usize = 200;

/// Where the stack of the stopped guest is.
const STACK: u64 = 0x7fff_0000;

/// Any memory that is asked for: a stack of plausible return addresses, and elsewhere what depends on the address.
fn memory(code: &[u64]) -> impl Fn(u64, &mut [u8]) -> bool + '_ {
    |from, buffer| {
        if from < 0x1000 {
            return false;
        }
        for (index, byte) in buffer.iter_mut().enumerate() {
            let at = from.wrapping_add(index as u64);
            let word = if at >= STACK { code[(at as usize / 8) % code.len()] } else { at / 8 % 251 };
            *byte = word.to_le_bytes()[at as usize % 8];
        }
        true
    }
}

fn ask_everything(program: &Program, code: &[u64]) {
    for address in code.iter().copied() {
        let mut general = [address; 16];
        (general[4], general[5]) = (STACK, STACK + 64);
        let registers = Registers::new(address, general);
        let state =
            State::new(registers, memory(code)).with_thread_pointer(STACK + 4096).with_vectors([3; 16]);
        let mut frames = program.backtrace_of(&state, 4).frames;
        frames.push(Frame { address, lookup: address, registers, rule: Rule::Innermost });
        for frame in &frames {
            ask_about_frame(program, frame, &state);
        }
    }
    let state = State::new(Registers::new(code[0], [STACK; 16]), memory(code));
    for variable in program.globals().iter().take(MOST_ASKED) {
        let _ = program.print_variable(variable, None, &state, Limits::default());
        let _ = program.type_definition(variable.of);
    }
    for name in ["node", "shape", "color", "no such type"] {
        let found = program.find_type(name);
        let _ = (program.type_name(found), program.type_definition(found));
    }
    let _ = (program.find_globals("table"), program.find_symbol("main"));
}

fn ask_about_frame(program: &Program, frame: &Frame, state: &State<'_>) {
    let calls = program.calls_at(frame);
    let variables = calls.iter().flat_map(|call| call.variables());
    for variable in variables.take(MOST_ASKED) {
        let text = program.print_variable(variable, Some(frame), state, Limits::default());
        assert!(text.len() < 1 << 20, "{} bytes of text", text.len());
        let _ = program.value_of(variable, Some(frame), state);
        let _ = (program.type_name(variable.of), program.type_definition(variable.of));
    }
    let _ = program.unit_globals(frame);
    let _ = program.find_variable("no such variable", frame);
}

/// A sound object to damage.
struct Victim {
    path: PathBuf,
    content: Vec<u8>,
    /// Addresses in the middle of its functions.
    code: Vec<u64>,
    /// Parts of the file that are worth damaging.
    parts: Vec<(String, Range<usize>)>,
}

impl Victim {
    fn new(path: &Path, most_functions: usize) -> Victim {
        let content = std::fs::read(path).unwrap();
        let elf = object::File::parse(&*content).unwrap();
        let own =
            elf.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 16);
        let mut code: Vec<u64> = own.map(|symbol| symbol.address() + symbol.size() / 2).collect();
        code.sort_unstable();
        code.dedup();
        let stride = code.len().div_ceil(most_functions).max(1);
        let code = code.into_iter().step_by(stride).collect();
        let wanted =
            |name: &str| name.starts_with(".debug_") || name.starts_with(".symtab") || name == ".eh_frame";
        let mut parts = vec![("the file header".to_owned(), 0..64)];
        for section in elf.sections() {
            let name = section.name().unwrap().to_owned();
            if let Some((start, size)) = section.file_range().filter(|(_, size)| *size > 0 && wanted(&name)) {
                parts.push((name, start as usize..(start + size) as usize));
            }
        }
        let victim = Victim { path: path.to_owned(), code, parts, content: content.clone() };
        ask_everything(&open(path), &victim.code);
        victim
    }

    /// Damages one part after the other, `rounds` times each, or ten times as often in the long mode.
    fn torture(&self, rounds: u64) {
        let is_long =
            std::env::var_os("WHYDUNIT_LONG").is_some_and(|value| !value.is_empty() && value != "0");
        let rounds = if is_long { 10 * rounds } else { rounds };
        for (name, part) in &self.parts {
            for seed in 0..rounds {
                let mut content = self.content.clone();
                damage(&mut content, part, &mut Random(seed));
                self.ask(content, &format!("{name} of {}, seed {seed}", self.path.display()));
            }
        }
        for seed in 0..rounds {
            let mut content = self.content.clone();
            content.truncate(Random(seed).below(self.content.len()));
            self.ask(content, &format!("{} cut short, seed {seed}", self.path.display()));
        }
    }

    fn ask(&self, content: Vec<u8>, what: &str) {
        let started = Instant::now();
        if let Some(program) = open_bytes(&self.path, content) {
            ask_everything(&program, &self.code);
        }
        assert!(started.elapsed() < LONGEST, "{what}: {:?}", started.elapsed());
    }
}

/// Changes up to eight places. Copied words make references that lead to wrong entries, or back to themselves.
fn damage(content: &mut [u8], part: &Range<usize>, random: &mut Random) {
    for _ in 0..=random.below(8) {
        let at = part.start + random.below(part.len());
        match random.below(5) {
            0 => content[at] = 0,
            1 => content[at] = 0xff,
            2 => content[at] ^= 1 << random.below(8),
            3 => content[at] = random.next() as u8,
            _ => {
                let from = part.start + random.below(part.len());
                let length = 4.min(part.end - at).min(part.end - from);
                content.copy_within(from..from + length, at);
            }
        }
    }
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

fn compile(scratch: &Scratch, compiler: &str, options: &[&str], source: &str) -> PathBuf {
    let to = scratch.path().join("damaged");
    common::run(Command::new(compiler).args(options).arg("-o").arg(&to).arg(program(source)));
    to
}

#[test]
fn damaged_c_by_gcc_never_panics_nor_hangs() {
    let scratch = Scratch::new("damaged-gcc");
    Victim::new(&compile(&scratch, "gcc", &["-g", "-O1", "-w"], "kinds.c"), 12).torture(150);
}

#[test]
fn damaged_c_by_clang_never_panics_nor_hangs() {
    let scratch = Scratch::new("damaged-clang");
    Victim::new(&compile(&scratch, "clang", &["-g", "-O1", "-w"], "kinds.c"), 12).torture(100);
}

#[test]
fn damaged_dwarf_4_never_panics_nor_hangs() {
    let scratch = Scratch::new("damaged-dwarf-4");
    let options = ["-g", "-gdwarf-4", "-O1", "-w", "-fdebug-types-section"];
    Victim::new(&compile(&scratch, "gcc", &options, "kinds.c"), 12).torture(100);
}

#[test]
fn damaged_classes_never_panic_nor_hang() {
    let scratch = Scratch::new("damaged-classes");
    Victim::new(&compile(&scratch, "g++", &["-g", "-O0", "-w"], "classes.cc"), 12).torture(100);
}

#[test]
fn damaged_rust_never_panics_nor_hangs() {
    let scratch = Scratch::new("damaged-rust");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let path = compile(&scratch, &rustc, &["--edition", "2024", "-g"], "kinds.rs");
    Victim::new(&path, 12).torture(8);
}
