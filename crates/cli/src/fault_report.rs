//! What is told when a program does not end by itself: what happened, where, and who called.
//!
//! The first line says whose matter it is: a signal is the program's doing, a limit is the user's, what is not
//! supported is ours.

mod cause;
mod heap;
mod trace;
mod uninit;

use std::fmt::Write;

use heap::Told;
pub use heap::{Past, leaks, mismatches};
use linux::{Exit, Process, signal};
use machine::{Fault, FaultKind, Machine, Unsupported};
use program::Program;
pub use uninit::uninitialised;

use crate::view;

/// Features that the machine announces; an instruction that needs no more is simply missing here.
const ANNOUNCED: [&str; 17] = [
    "INTEL8086",
    "INTEL186",
    "INTEL286",
    "INTEL386",
    "INTEL486",
    "X64",
    "CPUID",
    "CMOV",
    "FPU",
    "MMX",
    "SSE",
    "SSE2",
    "SSE3",
    "SSSE3",
    "SSE4_1",
    "SSE4_2",
    "POPCNT",
];

/// The report, or nothing when the program ended by itself. `name` is what the user called it.
pub fn report(
    process: &Process,
    exit: &Exit,
    name: &str,
    coloured: bool,
    past: &mut dyn Past,
) -> Option<String> {
    let machine = &process.machine;
    let program = view::program_of(process);
    let heap_fault = process.heap_fault().map(|fault| heap::tell(&fault, &program, past));
    let (headline, epilogue) = match exit {
        Exit::Exited(_) | Exit::Input => return None,
        Exit::Killed { signal, fault } => match heap_fault {
            Some(Told { doing, traces }) => {
                let is_access = !matches!(fault, Some(Fault { kind: FaultKind::Misuse, .. }));
                let instruction = instruction_line(machine, is_access);
                (format!("{name} misused its heap: it {doing}"), format!("{instruction}{traces}"))
            }
            None => {
                let doing = fault.as_ref().map(|fault| cause::describe(machine, fault));
                let is_from_itself =
                    process.kernel.signals.killed_by().is_none_or(|told| told.code() != signal::SI_KERNEL);
                let reason = killed(name, *signal, doing.as_deref(), is_from_itself);
                (reason, instruction_line(machine, fault.is_some()))
            }
        },
        Exit::Unsupported(unsupported) => unsupported_lines(&program, unsupported),
        Exit::Until => (
            format!("stopped after {} instructions, as --max-instructions says", machine.time.0),
            String::new(),
        ),
        Exit::OutOfMemory { limit } => (
            format!(
                "stopped: {name} needs more than {} of memory; raise the limit with --max-memory",
                human_size(*limit)
            ),
            String::new(),
        ),
        Exit::TooMuchOutput { limit } => (
            format!(
                "stopped: {name} wrote more than {}; raise the limit with --max-output",
                human_size(*limit)
            ),
            String::new(),
        ),
        Exit::Deadlock { call } => (
            format!("stopped: {name} waits for ever in {call}, since nothing else runs that could wake it"),
            String::new(),
        ),
    };
    let (bold, plain) = if coloured { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let mut text = format!("{bold}whydunit: {headline}{plain}\n");
    text.push_str(&trace::print(machine, &program));
    text.push_str(&epilogue);
    Some(text)
}

/// What the program did that a fault killed it for, as the end of a sentence that begins with "it".
pub fn doing(process: &Process, exit: &Exit, program: &Program, past: &mut dyn Past) -> Option<String> {
    if let Some(fault) = process.heap_fault() {
        return Some(heap::tell(&fault, program, past).doing);
    }
    let machine = &process.machine;
    match exit {
        Exit::Killed { fault: Some(fault), .. } => Some(cause::describe(machine, fault)),
        _ => None,
    }
}

fn killed(name: &str, signal: i32, doing: Option<&str>, is_from_itself: bool) -> String {
    let signal_name = signal::name(signal);
    match (doing, signal) {
        (Some(doing), _) => format!("{name} was killed by {signal_name}: it {doing}"),
        (None, signal::SIGPIPE) => {
            format!("{name} was killed by {signal_name}: it wrote to a pipe that nobody reads")
        }
        (None, signal::SIGABRT) => format!("{name} was killed by {signal_name}: it aborted"),
        (None, signal::SIGSEGV) if !is_from_itself => format!(
            "{name} was killed by {signal_name}: the stack has no room for a signal's handler, or holds no valid frame of one"
        ),
        (None, _) if !is_from_itself => format!("{name} was killed by {signal_name}: its timer went off"),
        (None, _) => format!("{name} was killed by {signal_name}, which it sent to itself"),
    }
}

fn instruction_line(machine: &Machine, faulted: bool) -> String {
    let mut bytes = [0; lift::MAX_INSTRUCTION];
    let rip = machine.cpu.rip;
    let available = machine.memory.fetch(rip, &mut bytes);
    match bytes.get(..available) {
        Some(code) if faulted && !code.is_empty() => {
            format!("  instruction {rip:#x}: {}\n", lift::describe(code, rip).text)
        }
        _ => String::new(),
    }
}

fn unsupported_lines(program: &Program, unsupported: &Unsupported) -> (String, String) {
    let Unsupported { address, bytes, text, features } = unsupported;
    let missing: Vec<&str> =
        features.iter().map(String::as_str).filter(|feature| !ANNOUNCED.contains(feature)).collect();
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut epilogue = format!("  instruction {address:#x}: {text} (bytes {})\n", bytes.join(" "));
    if missing.is_empty() {
        epilogue.push_str("  This is a gap in whydunit, not a fault of the program. Please report it.\n");
        return (format!("not supported: the instruction {text}"), epilogue);
    }
    let needs = missing.join(" and ");
    let object = program.locate(*address).object;
    let built = object.as_deref().map_or("the code", trace::file_name);
    let _ = writeln!(
        epilogue,
        "  This is a limit of whydunit, not a fault of the program. {built} was built for processors with {needs};\n  \
         build it for plain x86-64: without -march=native, -mavx and the like (or with -march=x86-64)."
    );
    (format!("not supported: the instruction {text}, which needs {needs}"), epilogue)
}

fn human_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes >= 1 << shift && bytes.is_multiple_of(1 << shift)) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_the_largest_unit_that_fits() {
        assert_eq!(human_size(4 << 30), "4 GiB");
        assert_eq!(human_size(1536 << 10), "1536 KiB");
        assert_eq!(human_size(1000), "1000 bytes");
        assert_eq!(human_size(0), "0 bytes");
    }

    #[test]
    fn an_instruction_that_every_processor_has_is_a_gap_of_ours() {
        let program = Program::from_mappings([]);
        let unsupported = |text: &str, features: &[&str]| Unsupported {
            address: 0x1000,
            bytes: vec![0x0f, 0x01],
            text: text.to_owned(),
            features: features.iter().map(|feature| (*feature).to_owned()).collect(),
        };
        let (headline, epilogue) = unsupported_lines(&program, &unsupported("fsin", &["FPU"]));
        assert_eq!(headline, "not supported: the instruction fsin");
        assert!(epilogue.contains("(bytes 0f 01)") && epilogue.contains("report"), "{epilogue}");
        let (headline, epilogue) = unsupported_lines(&program, &unsupported("vaddps", &["AVX", "SSE"]));
        assert_eq!(headline, "not supported: the instruction vaddps, which needs AVX");
        assert!(epilogue.contains("-march=x86-64") && !epilogue.contains("report"), "{epilogue}");
    }
}
