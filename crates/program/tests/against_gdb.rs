//! Variables, values, types and backtraces in the very states that gdb looks at: a program is stepped by gdb, which
//! writes cores; then gdb and we are asked the same about each core.

mod common;
#[path = "common/core.rs"]
mod core;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::Scratch;
use core::Core;
use program::{Call, Frame, Limits, Place, Variable};

/// How many states of each program are looked at. gdb takes half a second for each.
const SAMPLES: usize = 12;

/// Enough for the programs here.
const MOST_FRAMES: usize = 60;

/// Runs gdb with a list of commands and returns what it prints.
fn gdb(arguments: &[&Path], commands: &[String]) -> String {
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no"]);
    for setting in
        ["width 0", "pagination off", "confirm off", "startup-with-shell off", "backtrace past-main on"]
    {
        command.arg("-ex").arg(format!("set {setting}"));
    }
    for line in commands {
        command.arg("-ex").arg(line);
    }
    command.env("LC_ALL", "C").args(arguments);
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Cores of a program at some of its times: each time that it comes to another line of its source, or of those that
/// say STOP if any do, and a few instructions further.
fn cores(scratch: &Scratch, program: &Path, source: &Path, count: usize) -> Vec<PathBuf> {
    let name = source.file_name().unwrap().to_str().unwrap();
    let text = std::fs::read_to_string(source).unwrap();
    let is_marked = text.contains("// STOP");
    // Long programs are sampled all along: most of their stops are passed by.
    let pass = if is_marked || std::env::var_os("WHYDUNIT_LONG").is_some() { 1 } else { 4 };
    let lines = text.lines().enumerate().filter(|(_, line)| !is_marked || line.contains("// STOP"));
    let mut commands: Vec<String> = lines.map(|(index, _)| format!("break {name}:{}", index + 1)).collect();
    commands.push("run".to_owned());
    let mut paths = Vec::new();
    for n in 0..count {
        let path = scratch.path().join(format!("core-{n}"));
        if n % 3 > 0 {
            commands.push(format!("stepi {}", n % 3));
        }
        commands.push(format!("generate-core-file {}", path.display()));
        commands.extend((0..pass).map(|_| "continue".to_owned()));
        paths.push(path);
    }
    gdb(&[program], &commands);
    paths.retain(|path| path.exists());
    paths
}

/// The answers between markers, by marker.
fn sections(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for part in text.split("@@").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        found.insert(name.to_owned(), rest.trim_end().to_owned());
    }
    found
}

/// Whether we say that we do not know what gdb takes from a register that may have been overwritten, or from a part
/// of a variable that the debug information leaves out.
fn is_guess(place: &Place, ours: &str) -> bool {
    ours.contains("<not saved>") || matches!(place, Place::Pieces(_)) && ours.contains("<optimized out>")
}

/// Of gdb's lines, those that we have to have, too: not those of variables that it guesses, nor those with names that
/// gdb alone gives to slots of the dynamic linker's table.
fn told(lines: Vec<String>, guessed: &[String]) -> Vec<String> {
    let name = |line: &String| line.split(" = ").next().unwrap_or_default().to_owned();
    lines.into_iter().filter(|line| !guessed.contains(&name(line))).collect()
}

/// Differences between us and gdb in one core, as text; and how much was compared.
fn compare(program: &Path, path: &Path, differences: &mut Vec<String>) -> usize {
    let core = Core::open(path);
    let state = core.state();
    let backtrace = core.program.backtrace_of(&state, MOST_FRAMES);
    let calls: Vec<(&Frame, Call)> = backtrace
        .frames
        .iter()
        .flat_map(|frame| {
            let mut calls = core.program.calls_at(frame);
            if calls.is_empty() {
                // gdb numbers a frame without debug information, too.
                calls.push(Call { function: None, position: None, is_inlined: false, scopes: Vec::new() });
            }
            calls.into_iter().map(move |call| (frame, call))
        })
        .take_while(|(_, call)| call.function.as_deref() != Some("__libc_start_call_main"))
        .collect();
    let mut commands = Vec::new();
    for (index, (_, call)) in calls.iter().enumerate() {
        let mut ask = |name: &str, what: &str| {
            commands.push(format!("echo @@{index} {name}\\n"));
            commands.push(what.to_owned());
        };
        ask("frame", &format!("frame {index}"));
        ask("args", "info args");
        ask("locals", "info locals");
        for variable in call.variables() {
            ask(&format!("whatis {}", variable.name), &format!("whatis {}", variable.name));
            ask(&format!("ptype {}", variable.name), &format!("ptype {}", variable.name));
        }
    }
    let answers = sections(&gdb(&[program, path], &commands));
    let mut compared = 0;
    let mut check = |what: String, ours: Vec<String>, theirs: Vec<String>| {
        compared += 1;
        if ours != theirs {
            let only = |these: &[String], others: &[String]| -> Vec<String> {
                these.iter().filter(|line| !others.contains(line)).cloned().collect()
            };
            let (ours, theirs) = (only(&ours, &theirs), only(&theirs, &ours));
            let name = path.file_name().unwrap().display();
            differences.push(format!("{name}: {what}\n  ours: {ours:?}\n  gdb:  {theirs:?}"));
        }
    };
    for (index, (frame, call)) in calls.iter().enumerate() {
        let mut guessed: Vec<String> = Vec::new();
        let mut lines = |variables: &mut dyn Iterator<Item = &Variable>,
                         theirs: &str|
         -> (Vec<String>, Vec<String>) {
            let mut lines = Vec::new();
            for variable in variables {
                let place = core.program.place_of(variable, Some(frame), &state);
                let text = core.program.print_variable(variable, Some(frame), &state, Limits::default());
                let start = format!("{} = ", variable.name);
                let is_got =
                    theirs.lines().any(|line| line.starts_with(&start) && line.contains("@got[plt]"));
                // gdb does not list constants that are no integers.
                let is_listed = |line: &str| line.starts_with(&start) && !line.ends_with("<optimized out>");
                let is_left_out = matches!(place, Place::Constant(_)) && !theirs.lines().any(is_listed);
                if is_guess(&place, &text) || is_got {
                    guessed.push(variable.name.clone());
                } else if !is_left_out {
                    lines.push(format!("{start}{text}"));
                }
            }
            let none = theirs.starts_with("No ").then(|| theirs.to_owned());
            if lines.is_empty() {
                lines.extend(none);
            }
            (lines, told(theirs.lines().map(str::to_owned).collect(), &guessed))
        };
        let answer = |name: &str| answers.get(&format!("{index} {name}")).cloned().unwrap_or_default();
        let Some(function) = call.function.clone() else { continue };
        let header = answer("frame").lines().next().unwrap_or_default().to_owned();
        let in_function = header.contains(&format!("{function} ("));
        let at_line =
            call.position.as_ref().is_none_or(|position| header.ends_with(&format!(":{}", position.line)));
        check(
            format!("frame {index} is {function} {:?}", call.position),
            vec![(in_function && at_line).to_string(), header.clone()],
            vec!["true".to_owned(), header],
        );
        let (ours, theirs) = lines(&mut call.parameters(), &answer("args"));
        check(format!("frame {index} {function} args"), ours, theirs);
        let (mut ours, mut theirs) = lines(&mut call.locals(), &answer("locals"));
        ours.sort();
        theirs.sort();
        check(format!("frame {index} {function} locals"), ours, theirs);
        for variable in call.variables() {
            // A name that is hidden is the inner variable to gdb.
            if call.variable(&variable.name) != Some(variable) {
                continue;
            }
            let (name, definition) = core.program.type_of_variable(variable, Some(frame), &state);
            for (word, ours) in [("whatis", name), ("ptype", definition)] {
                let theirs = answer(&format!("{word} {}", variable.name));
                check(
                    format!("frame {index} {function} {word} {}", variable.name),
                    vec![format!("type = {ours}")],
                    vec![theirs],
                );
            }
        }
    }
    compared
}

/// Compiles, samples and compares; fails with all differences.
fn agree(name: &str, compiler: &str, source_name: &str, options: &[&str], count: usize) {
    let scratch = Scratch::new(&format!("gdb-{name}"));
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let source = std::fs::read_to_string(directory.join(source_name)).unwrap();
    let program = scratch.compile(compiler, source_name, &source, options);
    let cores = cores(&scratch, &program, &scratch.path().join(source_name), count);
    assert!(cores.len() > count / 2, "gdb wrote {} cores only", cores.len());
    let mut differences = Vec::new();
    let compared: usize = cores.iter().map(|path| compare(&program, path, &mut differences)).sum();
    assert!(compared >= 3 * cores.len());
    assert!(
        differences.is_empty(),
        "{} of {compared} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn c_by_gcc_without_optimisation() {
    agree("kinds-gcc-0", "gcc", "kinds.c", &["-g", "-O0"], SAMPLES);
}

#[test]
fn c_by_clang_without_optimisation() {
    agree("kinds-clang-0", "clang", "kinds.c", &["-g", "-O0"], SAMPLES);
}

#[test]
fn c_by_gcc_with_optimisation() {
    agree("kinds-gcc-1", "gcc", "kinds.c", &["-g", "-O1"], SAMPLES);
}

#[test]
fn c_by_clang_with_optimisation() {
    agree("kinds-clang-1", "clang", "kinds.c", &["-g", "-O1"], SAMPLES);
}

#[test]
fn older_debug_information() {
    agree("kinds-gcc-4", "gcc", "kinds.c", &["-gdwarf-4", "-gstrict-dwarf", "-O0"], SAMPLES);
    agree("kinds-gcc-4-1", "gcc", "kinds.c", &["-gdwarf-4", "-fdebug-types-section", "-O1"], SAMPLES);
    agree("kinds-clang-3", "clang", "kinds.c", &["-gdwarf-3", "-O0"], SAMPLES);
}

#[test]
fn rust_without_optimisation() {
    agree("kinds-rust", "rustc", "kinds.rs", &["-g"], 6);
}

#[test]
fn cpp_by_gcc_and_clang() {
    agree("classes-gcc", "g++", "classes.cc", &["-g", "-O0", "-std=c++17"], SAMPLES);
    agree("classes-clang", "clang++", "classes.cc", &["-g", "-O0", "-std=c++17"], SAMPLES);
}
