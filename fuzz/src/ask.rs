//! All questions that there are about an object, in a stopped guest that has plausible registers and memory.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use program::{
    FileReader, Frame, Limits, NoAllocations, Place, Program, Registers, Rule, Scope, State, Variable,
};

/// Variables, statements and the like that are asked about, each.
const MOST_ASKED: usize = 40;

const STACK: u64 = 0x7fff_0000;

/// The sources of the seeds, whatever path is asked for; nothing of the host.
struct Sources;

impl FileReader for Sources {
    fn read(&self, path: &Path, _: u64) -> io::Result<Arc<Vec<u8>>> {
        let text: &[u8] = match path.extension().and_then(|extension| extension.to_str()) {
            Some("c") => include_bytes!("../seeds/small.c"),
            Some("cc") => include_bytes!("../seeds/small.cc"),
            _ => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(Arc::new(text.to_vec()))
    }

    fn modified(&self, _: &Path) -> Option<SystemTime> {
        None
    }
}

/// The static view of one object that sees nothing of this machine.
pub fn open(content: Vec<u8>) -> Option<Program> {
    let program = Program::from_object("/fuzzed/object", Arc::new(content), 0)?;
    Some(program.with_files(Arc::new(Sources)))
}

/// Asks all about a program, at these addresses of its code.
pub fn everything(program: &Program, code: &[u64]) {
    for address in code {
        about_code(program, *address);
        about_data(program, *address);
        about_state(program, *address, code);
    }
    for name in ["main", "walk", "node", "shape", "table", "no such name"] {
        let _ = (program.find_symbol(name), program.find_globals(name).len());
        let _ = program.type_definition(program.find_type(name));
    }
    for line in [1, 20, u32::MAX] {
        let _ = program.find_line("small.c", line);
    }
}

fn about_code(program: &Program, address: u64) {
    let location = program.locate(address);
    let _ = (location.position(), location.function_name());
    let _ = (program.function_at(address), program.is_linker_stub(address));
    let _ = Scope::default().of(program, address);
    for placed in program.statements_of(address).iter().take(MOST_ASKED) {
        assert!(placed.ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{placed:?}");
        let _ = (program.text_of(&placed.stmt), program.span_of(&placed.stmt));
    }
    if let Some(stmt) = program.statement_at(address) {
        assert_eq!(program.statements_at(address).first(), Some(&stmt));
    }
    if let Some(cfg) = program.cfg(address) {
        let _ = program.cfg_text(&cfg);
    }
    let _ = program.conditions(address);
    let _ = program.complete(address, &[]);
}

fn about_data(program: &Program, address: u64) {
    let _ = program.statement_of_data(address);
    for placed in program.statements_of_variable(address).iter().take(MOST_ASKED) {
        let _ = program.text_of(&placed.stmt);
    }
}

/// A guest that is stopped at `address`, and has return addresses and pointers to its stack in all of its memory.
pub fn state_at<'a>(address: u64, code: &'a [u64]) -> State<'a> {
    let mut general = [address; 16];
    (general[4], general[5]) = (STACK, STACK + 64);
    let memory = move |from: u64, buffer: &mut [u8]| {
        if from < 0x100 {
            return false;
        }
        for (index, byte) in buffer.iter_mut().enumerate() {
            let at = from.wrapping_add(index as u64);
            let word = match at / 8 % 4 {
                0 => STACK + at / 8 % 512 * 8,
                1 => at / 8 % 251,
                _ => code.get((at / 8) as usize % code.len().max(1)).copied().unwrap_or(at),
            };
            *byte = word.to_le_bytes()[at as usize % 8];
        }
        true
    };
    State::new(Registers::new(address, general), memory)
        .with_thread_pointer(STACK + 4096)
        .with_vectors([0x0102_0304_0506_0708; 16])
}

fn about_state(program: &Program, address: u64, code: &[u64]) {
    let state = state_at(address, code);
    let backtrace = program.backtrace_of(&state, 8);
    let innermost = Frame { address, lookup: address, registers: *state.registers(), rule: Rule::Innermost };
    for frame in backtrace.frames.iter().chain([&innermost]) {
        let calls = program.calls_at(frame);
        let variables: Vec<&Variable> =
            calls.iter().flat_map(|call| call.variables()).take(MOST_ASKED).collect();
        for variable in &variables {
            about_variable(program, variable, Some(frame), &state);
        }
        let _ = program.find_variable("no such variable", frame);
        let _ = program.unit_globals(frame).len();
        let _ = program.definitions_for(variables.iter().copied());
    }
    for variable in program.globals().iter().take(MOST_ASKED) {
        about_variable(program, variable, None, &state);
        if let Some(of) = variable.of {
            let _ = program.print_value(of, &Place::Memory(STACK), None, &state, Limits::default());
        }
    }
    let names = program.names(&state, &backtrace.frames, &NoAllocations);
    let _ = names.of_memory(STACK + 64, 8);
    let _ = program.blocks_of(address).len();
}

fn about_variable(program: &Program, variable: &Variable, frame: Option<&Frame>, state: &State<'_>) {
    let text = program.print_variable(variable, frame, state, Limits::default());
    assert!(text.len() < 1 << 20, "{} bytes of text", text.len());
    let _ = program.value_of(variable, frame, state);
    let _ = program.type_of_variable(variable, frame, state);
    let _ = (program.type_name(variable.of), program.type_definition(variable.of));
}
