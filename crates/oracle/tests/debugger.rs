//! What we see of stopped programs against what gdb sees: programs of others and of our own, by both compilers, plain and optimised,
//! and a debug build of Rust. With WHYDUNIT_LONG set, with ten seeds instead of one.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use oracle::debugger::{self, Case, Failure, Instants, Report};

/// With how many seeds a program is sampled in the long mode.
const LONG_SEEDS: usize = 10;

/// Seeds with which gdb may fall over; the next one is taken instead.
const SPARE_SEEDS: u64 = 3;

/// In each program, with each seed.
const SAMPLES: usize = 16;

/// In the programs that run for a moment and have one of each kind of type, as many as there are lines, or nearly so.
const LINES: usize = 24;

/// The shortest of these programs has so many, and a few more.
const FEWEST_LINES: usize = 14;

/// In optimised code a parameter may be known only by what was passed, and what was passed only by what the caller's caller passed. Where
/// the caller is inlined, gdb 13 takes the register of the wrong frame: in Lua's `luaM_malloc_` it shows another struct's address for
/// `L`, while the right one is still in a register. So much may differ with one seed; without optimisation nothing may.
const MOST_OPTIMISED: usize = 1;

/// What is seen at an instant at the least, on the average: the smallest program has this many variables.
const FEWEST_VARIABLES: usize = 4;

/// A Lua program that uses closures, coroutines, errors, tables and strings.
const LUA: &str = r#"
local words = {}
for word in ("the quick brown fox jumps over the lazy dog"):gmatch("%a+") do words[#words + 1] = word end
table.sort(words, function(a, b) return a:reverse() < b:reverse() end)
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local made = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i * 1.5) end end)
local total = 0
for i = 1, 5 do total = total + made() end
local failed, message = pcall(function() error({ code = 7 }) end)
print(table.concat(words, " "), fib(12), total, failed, message.code, string.format("%5.2f|%q", total, "a\nb"))
"#;

fn long_mode() -> bool {
    std::env::var_os("WHYDUNIT_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Past the test runner's capture, and into a file that `./test` shows: a skip is no pass.
fn skip(name: &str, reason: &str) {
    let line = format!("SKIPPED gdb's view of {name}: {reason}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("SKIPPED");
    if let Ok(mut list) = fs::File::options().create(true).append(true).open(list) {
        let _ = list.write_all(line.as_bytes());
    }
}

/// A directory of a test's own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("debugger-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// Compiles C sources to a program.
    fn compile(&self, compiler: &str, optimisation: &str, include: &Path, sources: &[PathBuf]) -> PathBuf {
        let program = self.0.join("program");
        run(Command::new(compiler)
            .args(["-g", "-w", optimisation, "-I"])
            .arg(include)
            .arg("-o")
            .arg(&program)
            .args(sources)
            .arg("-lm"));
        program
    }

    fn agrees(&self, case: &str, optimisation: &str, program: PathBuf, arguments: &[&str], stdin: Vec<u8>) {
        let most = if optimisation == "-O0" { 0 } else { MOST_OPTIMISED };
        for report in self.compare(case, Instants::Any, program, arguments, stdin) {
            println!("{case}: {report}");
            assert!(report.differences.len() <= most, "{case}: {report}");
        }
    }

    /// At all lines, without a difference.
    fn agrees_at_lines(&self, name: &str, program: PathBuf, arguments: &[&str]) {
        for report in self.compare(name, Instants::Lines, program, arguments, Vec::new()) {
            println!("{name}: {report}");
            assert!(report.differences.is_empty(), "{name}: {report}");
        }
    }

    /// A report a seed; empty if there is nobody to compare with.
    fn compare(
        &self,
        name: &str,
        instants: Instants,
        program: PathBuf,
        arguments: &[&str],
        stdin: Vec<u8>,
    ) -> Vec<Report> {
        let wanted_samples = if instants == Instants::Lines { LINES } else { SAMPLES };
        let wanted = if long_mode() { LONG_SEEDS } else { 1 };
        let mut reports = Vec::new();
        let mut fell_over = String::new();
        for seed in 1..=wanted as u64 + SPARE_SEEDS {
            let case = Case {
                program: program.clone(),
                arguments: arguments.iter().map(OsString::from).collect(),
                stdin: Arc::new(stdin.clone()),
                seed,
                samples: wanted_samples,
                instants,
                scratch: self.0.clone(),
            };
            match debugger::run(&case) {
                Ok(report) => {
                    let Report { samples, variables, .. } = report;
                    let fewest = if instants == Instants::Lines { FEWEST_LINES } else { SAMPLES * 3 / 4 };
                    assert!(samples >= fewest, "{name}, seed {seed}: only {samples} instants");
                    let fewest = FEWEST_VARIABLES * samples;
                    assert!(variables >= fewest, "{name}, seed {seed}: only {variables} variables");
                    reports.push(report);
                }
                Err(Failure::DebuggerFailed(how)) => fell_over = how,
                Err(Failure::NoDebugger(reason)) => {
                    fell_over = reason.to_string();
                    break;
                }
                Err(failure) => panic!("{name}, seed {seed}: {failure}"),
            }
            if reports.len() == wanted {
                return reports;
            }
        }
        skip(name, &fell_over);
        reports
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// A directory in the sources of a crate that carries a C program.
fn carried(package: &str, directory: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = run(Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
            "--manifest-path",
        ])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")));
    let manifests = metadata.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is_of_package = |path: &&Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(package).is_some_and(|rest| rest.starts_with('-'))
    };
    let found = manifests.filter_map(|manifest| Path::new(manifest).parent()).find(is_of_package);
    found.unwrap_or_else(|| panic!("{package} is no dependency")).join(directory)
}

fn shapes(compiler: &str, optimisation: &str) {
    let name = format!("shapes-{compiler}{optimisation}");
    let scratch = Scratch::new(&name);
    let program = scratch.compile(compiler, optimisation, Path::new("."), &[own("shapes.c")]);
    scratch.agrees(&name, optimisation, program, &["100"], Vec::new());
}

/// Functions that leave the stack by jumps.
fn chains(compiler: &str, optimisation: &str) {
    let name = format!("chains-{compiler}{optimisation}");
    let scratch = Scratch::new(&name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../program/tests/programs/chains.c");
    let program = scratch.compile(compiler, optimisation, Path::new("."), &[source.canonicalize().unwrap()]);
    scratch.agrees(&name, optimisation, program, &[], Vec::new());
}

fn bzip2(compiler: &str, optimisation: &str) {
    let name = format!("bzip2-{compiler}{optimisation}");
    let scratch = Scratch::new(&name);
    let directory = carried("bzip2-sys", "bzip2-1.0.8");
    let parts = ["blocksort", "bzlib", "compress", "crctable", "decompress", "huffman", "randtable", "bzip2"];
    let sources = parts.map(|part| directory.join(format!("{part}.c")));
    let program = scratch.compile(compiler, optimisation, &directory, &sources);
    let input = fs::read(directory.join("sample1.ref")).unwrap();
    scratch.agrees(&name, optimisation, program, &["-c"], input[..40_000].to_vec());
}

fn lua(compiler: &str, optimisation: &str) {
    let name = format!("lua-{compiler}{optimisation}");
    let scratch = Scratch::new(&name);
    let directory = carried("lua-src", "lua-5.4.7");
    let mut sources: Vec<PathBuf> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    sources.push(own("interpreter.c"));
    let program = scratch.compile(compiler, optimisation, &directory, &sources);
    scratch.agrees(&name, optimisation, program, &[LUA], Vec::new());
}

fn ledger(compiler: &str, optimisation: &str) {
    let name = format!("ledger-{compiler}{optimisation}");
    let scratch = Scratch::new(&name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/programs/ledger.c");
    let program = scratch.compile(compiler, optimisation, Path::new("."), &[source.canonicalize().unwrap()]);
    scratch.agrees(&name, optimisation, program, &["3"], Vec::new());
}

/// One of the programs that have one of each kind of type.
fn kinds(name: &str, compiler: &str, source: &str, options: &[&str]) {
    let scratch = Scratch::new(name);
    let program = scratch.0.join("program");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../program/tests/programs");
    let source = directory.join(source).canonicalize().unwrap();
    run(Command::new(compiler).args(options).arg("-o").arg(&program).arg(source));
    scratch.agrees_at_lines(name, program, &[]);
}

#[test]
fn all_kinds_of_c_by_gcc_are_seen_as_by_gdb() {
    kinds("kinds-gcc", "gcc", "kinds.c", &["-w", "-g", "-O0"]);
}

#[test]
fn all_kinds_of_c_by_clang_are_seen_as_by_gdb() {
    kinds("kinds-clang", "clang", "kinds.c", &["-w", "-g", "-O0"]);
}

#[test]
fn all_kinds_of_optimised_c_by_gcc_are_seen_as_by_gdb() {
    kinds("kinds-gcc-1", "gcc", "kinds.c", &["-w", "-g", "-O1"]);
}

#[test]
fn all_kinds_of_optimised_c_by_clang_are_seen_as_by_gdb() {
    kinds("kinds-clang-1", "clang", "kinds.c", &["-w", "-g", "-O1"]);
}

#[test]
fn strict_older_debug_information_is_seen_as_by_gdb() {
    kinds("kinds-gcc-4", "gcc", "kinds.c", &["-w", "-gdwarf-4", "-gstrict-dwarf", "-O0"]);
}

#[test]
fn types_in_units_of_their_own_are_seen_as_by_gdb() {
    kinds("kinds-gcc-4-types", "gcc", "kinds.c", &["-w", "-gdwarf-4", "-fdebug-types-section", "-O1"]);
}

#[test]
fn the_oldest_debug_information_is_seen_as_by_gdb() {
    kinds("kinds-clang-3", "clang", "kinds.c", &["-w", "-gdwarf-3", "-O0"]);
}

#[test]
fn all_kinds_of_cpp_by_gcc_are_seen_as_by_gdb() {
    kinds("classes-gcc", "g++", "classes.cc", &["-w", "-g", "-O0", "-std=c++17"]);
}

#[test]
fn all_kinds_of_cpp_by_clang_are_seen_as_by_gdb() {
    kinds("classes-clang", "clang++", "classes.cc", &["-w", "-g", "-O0", "-std=c++17"]);
}

#[test]
fn all_kinds_of_rust_are_seen_as_by_gdb() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    kinds("kinds-rust", &rustc, "kinds.rs", &["-g"]);
}

/// Libraries with thread-local variables, linked with the program and loaded by it, each with a model of access.
#[test]
fn thread_local_variables_of_libraries_are_seen_as_by_gdb() {
    let scratch = Scratch::new("threads");
    let library = |name: &str, model: &str| {
        let to = scratch.0.join(format!("lib{name}.so"));
        let names = ["first", "second", "text", "use"].map(|part| format!("-D{part}={name}_{part}"));
        run(Command::new("gcc")
            .args(["-g", "-shared", "-fPIC", &format!("-ftls-model={model}"), "-o"])
            .arg(&to)
            .args(names)
            .arg(own("thread_library.c")));
        to
    };
    let late = library("late", "global-dynamic");
    let program = scratch.0.join("program");
    run(Command::new("gcc")
        .args(["-g", "-o"])
        .arg(&program)
        .arg(own("threads.c"))
        .args([library("early", "global-dynamic"), library("fixed", "initial-exec")]));
    scratch.agrees_at_lines("threads", program, &[late.to_str().unwrap()]);
}

#[test]
fn shapes_by_gcc_are_seen_as_by_gdb() {
    shapes("gcc", "-O0");
}

#[test]
fn shapes_by_gcc_optimised_are_seen_as_by_gdb() {
    shapes("gcc", "-O1");
}

#[test]
fn shapes_by_clang_are_seen_as_by_gdb() {
    shapes("clang", "-O0");
}

#[test]
fn shapes_by_clang_optimised_are_seen_as_by_gdb() {
    shapes("clang", "-O1");
}

#[test]
fn chains_of_calls_by_gcc_are_seen_as_by_gdb() {
    chains("gcc", "-O1");
}

#[test]
fn chains_of_jumps_by_gcc_are_seen_as_by_gdb() {
    chains("gcc", "-O2");
}

#[test]
fn chains_of_calls_by_clang_are_seen_as_by_gdb() {
    chains("clang", "-O1");
}

#[test]
fn chains_of_jumps_by_clang_are_seen_as_by_gdb() {
    chains("clang", "-O2");
}

#[test]
fn bzip2_by_gcc_is_seen_as_by_gdb() {
    bzip2("gcc", "-O0");
}

#[test]
fn bzip2_by_gcc_optimised_is_seen_as_by_gdb() {
    bzip2("gcc", "-O1");
}

#[test]
fn bzip2_by_clang_is_seen_as_by_gdb() {
    bzip2("clang", "-O0");
}

#[test]
fn bzip2_by_clang_optimised_is_seen_as_by_gdb() {
    bzip2("clang", "-O1");
}

#[test]
fn lua_by_gcc_is_seen_as_by_gdb() {
    lua("gcc", "-O0");
}

#[test]
fn lua_by_gcc_optimised_is_seen_as_by_gdb() {
    lua("gcc", "-O1");
}

#[test]
fn lua_by_clang_is_seen_as_by_gdb() {
    lua("clang", "-O0");
}

#[test]
fn lua_by_clang_optimised_is_seen_as_by_gdb() {
    lua("clang", "-O1");
}

#[test]
fn ledger_is_seen_as_by_gdb() {
    ledger("gcc", "-O0");
}

#[test]
fn ledger_optimised_is_seen_as_by_gdb() {
    ledger("clang", "-O1");
}

#[test]
fn a_debug_build_of_rust_is_seen_as_by_gdb() {
    let scratch = Scratch::new("rust");
    let program = scratch.0.join("program");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    run(Command::new(rustc).args(["--edition", "2024", "-g", "-o"]).arg(&program).arg(own("collections.rs")));
    scratch.agrees("rust", "-O0", program, &[], Vec::new());
}
