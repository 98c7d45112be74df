//! Where a program is, and who called: a line a frame, and the source of the first whose source is there.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use lift::Reg;
use machine::Machine;
use program::{End, FileReader, Frame, Position, Program, Registers};

use crate::streams::printable;
use crate::view::short_path;

/// As deep as a stack of 8 MiB can be in practice; a runaway recursion is told by its ends.
const MOST_FRAMES: usize = 200_000;

/// How many lines are shown from the innermost frame on, and how many at the outer end.
const INNER_LINES: usize = 16;
const OUTER_LINES: usize = 4;

/// The function of Rust's runtime from which on a program's own frames begin.
const RUST_RUNTIME: &str = "__rust_begin_short_backtrace";

/// How many frames are looked at for one of the program's own.
const MOST_OWN: usize = 64;

/// A larger source is not looked into.
const LARGEST_SOURCE: u64 = 256 << 20;

/// A longer line of source is cut.
const LONGEST_SOURCE: usize = 160;

/// One line of the trace.
#[derive(Clone, PartialEq, Eq)]
struct Call {
    function: String,
    place: String,
    position: Option<Position>,
}

pub fn print(machine: &Machine, program: &Program) -> String {
    let general = std::array::from_fn(|n| machine.cpu.get(Reg::general(n as u8)));
    let registers = Registers::new(machine.cpu.rip, general);
    let mut read = |address, buffer: &mut [u8]| machine.memory.peek(address, buffer) == buffer.len();
    let backtrace = program.backtrace(&registers, MOST_FRAMES, &mut read);

    let mut known: HashMap<u64, Vec<Call>> = HashMap::new();
    let mut calls: Vec<(Call, usize)> = Vec::new();
    // A jump to where no object is has been told already; who jumped is what matters.
    let nowhere = program.locate(machine.cpu.rip).object.is_none();
    for frame in backtrace.frames.iter().skip(usize::from(nowhere)) {
        let expanded = known.entry(frame.lookup).or_insert_with(|| calls_at(program, frame.lookup));
        for call in expanded {
            match calls.last_mut() {
                Some((last, times)) if last == call => *times += 1,
                _ => calls.push((call.clone(), 1)),
            }
        }
        // What starts main is of no interest, in C or in Rust.
        if calls.last().is_some_and(|(call, _)| call.function == "main") {
            break;
        }
        if calls.pop_if(|(call, _)| call.function.contains(RUST_RUNTIME)).is_some() {
            break;
        }
    }
    let is_cut = backtrace.end == End::Bound;
    lines(&calls, nowhere, is_cut, &**program.files())
}

/// The line of the program's own code that called the function that is about to be served, as `list.c:31`.
pub fn own_place(machine: &Machine, program: &Program) -> Option<String> {
    // The first is that function, which may be the program's own.
    own_position(machine, program, 1).as_ref().map(place)
}

/// The innermost line of the program's own code, but for the first `skipped` frames.
pub fn own_position(machine: &Machine, program: &Program, skipped: usize) -> Option<Position> {
    let frames = frames(machine, program);
    frames.iter().skip(skipped).find_map(|frame| position_in(program, frame.lookup))
}

/// The innermost address that is the program's own: that of an instruction, or in one that calls.
pub fn own_address(machine: &Machine, program: &Program) -> Option<u64> {
    let is_main = |address: u64| {
        let object = program.locate(address).object;
        object.is_some() && object.as_ref() == program.main_object()
    };
    let mut addresses = frames(machine, program).into_iter().map(|frame| frame.lookup);
    addresses.find(|address| is_main(*address) || position_in(program, *address).is_some())
}

fn frames(machine: &Machine, program: &Program) -> Vec<Frame> {
    let general = std::array::from_fn(|n| machine.cpu.get(Reg::general(n as u8)));
    let registers = Registers::new(machine.cpu.rip, general);
    let mut read = |address, buffer: &mut [u8]| machine.memory.peek(address, buffer) == buffer.len();
    program.backtrace(&registers, MOST_OWN, &mut read).frames
}

/// Where an address is in the program's own sources.
fn position_in(program: &Program, address: u64) -> Option<Position> {
    let mut positions = calls_at(program, address).into_iter().filter_map(|call| call.position);
    positions.find(|position| !is_system(&position.file))
}

/// A line, as `list.c:31`.
pub fn place(position: &Position) -> String {
    format!("{}:{}", short_path(&position.file), position.line)
}

/// The last component of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// The functions that an address is in: several when calls were inlined.
fn calls_at(program: &Program, address: u64) -> Vec<Call> {
    let location = program.locate(address);
    let object = location.object.as_deref().map(file_name);
    let in_object = || object.map_or_else(String::new, |object| format!(" ({})", printable(object)));
    let by_symbol = location.function.as_ref().map(|function| without_suffix(&function.name).to_owned());
    if location.frames.is_empty() {
        let function = by_symbol.unwrap_or_else(|| format!("{address:#x}"));
        return vec![Call { function, place: in_object(), position: None }];
    }
    let in_system = location.object.as_deref().is_some_and(is_system);
    let mut calls = Vec::new();
    let outermost = location.frames.len() - 1;
    for (index, frame) in location.frames.into_iter().enumerate() {
        // The C library's sources have other names for its functions than its users.
        let by_symbol = by_symbol.clone().filter(|_| index == outermost);
        let name = if in_system { by_symbol.or(frame.function) } else { frame.function.or(by_symbol) };
        let function = name.unwrap_or_else(|| format!("{address:#x}"));
        // The system's libraries name sources that are not on this machine: the library's name says more.
        let position = frame.position.filter(|position| {
            let path = Path::new(&*position.file);
            !(in_system || is_system(&position.file))
                || path.is_absolute() && program.files().modified(path).is_some()
        });
        let place = match &position {
            Some(position) => format!(" at {}", describe(position)),
            None => in_object(),
        };
        calls.push(Call { function, place, position });
    }
    calls
}

/// Compilers name the parts that they split a function into after it: `f.cold`, `f.part.0`.
fn without_suffix(name: &str) -> &str {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    name.split('.').next().filter(|stem| is_plain && !stem.is_empty()).unwrap_or(name)
}

/// Whether a file belongs to the system or to a compiler, not to the program.
fn is_system(path: &str) -> bool {
    ["/usr/", "/lib", "/rustc/"].iter().any(|directory| path.starts_with(directory))
}

fn lines(calls: &[(Call, usize)], all_are_callers: bool, is_cut: bool, files: &dyn FileReader) -> String {
    let mut text = String::new();
    // The source of the program's own function that is nearest to the fault.
    let has_source = |own: bool| {
        move |(call, _): &(Call, usize)| {
            call.position.as_ref().is_some_and(|position| {
                !(own && is_system(&position.file)) && source_line(position, files).is_some()
            })
        }
    };
    let with_source =
        calls.iter().position(has_source(true)).or_else(|| calls.iter().position(has_source(false)));
    let hidden = calls.len().saturating_sub(INNER_LINES + OUTER_LINES);
    for (index, (call, times)) in calls.iter().enumerate() {
        if hidden > 0 && index == INNER_LINES {
            let _ = writeln!(text, "  … {hidden} more");
        }
        if hidden > 0 && (INNER_LINES..INNER_LINES + hidden).contains(&index) {
            continue;
        }
        let word = if index == 0 && !all_are_callers { "in" } else { "called from" };
        let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
        let _ = writeln!(text, "  {word} {}{}{times}", printable(&call.function), call.place);
        if with_source == Some(index)
            && let Some(source) = call.position.as_ref().and_then(|position| source_line(position, files))
        {
            let _ = writeln!(text, "{source}");
        }
    }
    if is_cut {
        text.push_str("  called from … (there is more)\n");
    }
    text
}

fn describe(position: &Position) -> String {
    let column = position.column.map_or_else(String::new, |column| format!(":{column}"));
    format!("{}:{}{column}", short_path(&position.file), position.line)
}

/// The text of a line, below its number.
fn source_line(position: &Position, files: &dyn FileReader) -> Option<String> {
    let content = files.read(Path::new(&*position.file), LARGEST_SOURCE).ok()?;
    let line =
        content.split(|byte| *byte == b'\n').nth(usize::try_from(position.line).ok()?.checked_sub(1)?)?;
    let line = String::from_utf8_lossy(line.get(..LONGEST_SOURCE).unwrap_or(line)).replace('\t', "    ");
    Some(format!("    {:>4} | {}", position.line, printable(line.trim_end())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::HostFiles;

    fn call(function: &str) -> Call {
        Call { function: function.to_owned(), place: String::new(), position: None }
    }

    #[test]
    fn long_traces_show_both_ends() {
        let calls: Vec<_> = (0..100).map(|n| (call(&format!("f{n}")), 1)).collect();
        let text = lines(&calls, false, false, &HostFiles);
        assert_eq!(text.lines().count(), INNER_LINES + 1 + OUTER_LINES);
        assert!(
            text.starts_with("  in f0\n  called from f1\n") && text.ends_with("  called from f99\n"),
            "{text}"
        );
        assert!(text.contains(&format!("  … {} more\n", 100 - INNER_LINES - OUTER_LINES)), "{text}");
    }

    #[test]
    fn repeated_calls_and_cut_traces_say_so() {
        let text = lines(&[(call("f"), 3), (call("g"), 1)], true, true, &HostFiles);
        assert_eq!(text, "  called from f (3 times)\n  called from g\n  called from … (there is more)\n");
    }

    #[test]
    fn names_are_shown_without_what_compilers_and_attackers_add() {
        assert_eq!(without_suffix("msort_with_tmp.part.0"), "msort_with_tmp");
        assert_eq!(without_suffix("f(char const*)"), "f(char const*)");
        assert_eq!(without_suffix(".text"), ".text");
        assert_eq!(printable("a\x1b[31mb"), "a[31mb");
    }
}
