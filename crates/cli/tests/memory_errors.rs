//! Programs with one memory error each, and the same without it, under whydunit, memcheck and AddressSanitizer.
//!
//! What the other two find is kept in docs/memory-errors.md, so that they need not be there. `WHYDUNIT_LONG=1` asks them again, and
//! `BLESS=1` with it writes the table anew.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{Scratch, skip};

const C: &str = include_str!("programs/memory_errors.c");
const CPP: &str = include_str!("programs/memory_errors_cpp.cc");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/memory-errors.md");
const BEGIN: &str = "| program | whydunit | memcheck | AddressSanitizer |\n|---|---|---|---|\n";
/// The exit status by which memcheck tells that it has found something.
const FOUND: i32 = 99;
/// Errors that are not in the heap, which is all that is checked.
const ELSEWHERE: [&str; 3] = ["stack_array", "global_array", "stack_after_return"];

/// One line of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    ours: &'static str,
    memcheck: String,
    sanitizer: String,
}

struct Programs {
    scratch: Scratch,
}

impl Programs {
    fn new(name: &str) -> Programs {
        let scratch = Scratch::new(name);
        scratch.write("memory_errors.c", C);
        scratch.write("memory_errors_cpp.cc", CPP);
        let programs = Programs { scratch };
        programs.compile("gcc", "memory_errors.c", "errors", &[]);
        programs.compile("g++", "memory_errors_cpp.cc", "errors_cpp", &["-std=c++17"]);
        programs
    }

    fn compile(&self, compiler: &str, source: &str, name: &str, options: &[&str]) {
        let mut command = Command::new(compiler);
        command.current_dir(self.scratch.path()).args([
            "-g",
            "-w",
            "-O0",
            "-fno-builtin",
            "-o",
            name,
            source,
        ]);
        let output = command.args(options).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// All programs: the executable, and the name.
    fn all(&self) -> Vec<(&'static str, String)> {
        let list = |program: &'static str| {
            let output = Command::new(self.scratch.path().join(program)).arg("list").output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().map(|name| (program, name.to_owned())).collect::<Vec<_>>()
        };
        [list("errors"), list("errors_cpp")].concat()
    }

    /// What whydunit says of one.
    fn ours(&self, program: &str, name: &str, way: &str) -> &'static str {
        let ran = self.scratch.whydunit(&["run", "--", &format!("./{program}"), name, way]);
        let is_warning = ran.stderr.starts_with("whydunit: warning: a block of");
        match (ran.stderr.contains(" misused its heap: "), is_warning) {
            (true, _) => "error",
            (false, true) => "warning",
            (false, false) => {
                assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{name} {way}");
                "—"
            }
        }
    }

    fn status(&self, words: &[&str]) -> Option<i32> {
        let mut command = Command::new(words[0]);
        command.current_dir(self.scratch.path()).args(&words[1..]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap().code()
    }

    fn memcheck(&self, program: &str, name: &str, way: &str) -> bool {
        let code = format!("--error-exitcode={FOUND}");
        let words = ["valgrind", "-q", "--leak-check=no", &code, &format!("./{program}"), name, way];
        self.status(&words) == Some(FOUND)
    }

    fn sanitizer(&self, program: &str, name: &str, way: &str) -> bool {
        self.status(&[&format!("./{program}_asan"), name, way]) != Some(0)
    }
}

fn found(is_found: bool) -> String {
    (if is_found { "error" } else { "—" }).to_owned()
}

/// The table in the documentation.
fn documented() -> Vec<(String, [String; 3])> {
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    let table = text.split_once(BEGIN).expect("the table is there").1;
    let cells = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        let name = cells.next().unwrap().trim_matches('`').to_owned();
        (name, [(); 3].map(|()| cells.next().unwrap()))
    };
    table.lines().take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn every_error_in_the_heap_is_found_and_nothing_else_is() {
    let programs = Programs::new("memory-errors");
    let documented = documented();
    let all = programs.all();
    assert!(all.len() - ELSEWHERE.len() >= 60, "{}", all.len());
    let names = documented.iter().map(|(name, _)| name.as_str());
    assert!(names.eq(all.iter().map(|(_, name)| name.as_str())), "the table has a row for each program");
    for ((program, name), (_, [ours, memcheck, _])) in all.iter().zip(&documented) {
        let bad = programs.ours(program, name, "bad");
        assert_eq!(bad, ours, "{name} with its error");
        assert_eq!(programs.ours(program, name, "good"), "—", "{name} without an error");
        if ELSEWHERE.contains(&name.as_str()) {
            assert_eq!(bad, "—", "{name} is no error of the heap");
        } else {
            assert_ne!(bad, "—", "{name} is one");
        }
        assert!(bad != "—" || memcheck == "—", "memcheck finds {name}");
    }
}

#[test]
fn what_the_table_says_of_other_tools_is_so() {
    if std::env::var_os("WHYDUNIT_LONG").is_none() {
        return;
    }
    let programs = Programs::new("memory-errors-others");
    if programs.status(&["sh", "-c", "command -v valgrind"]) != Some(0) {
        return skip("the comparison with memcheck", "there is no valgrind");
    }
    programs.compile("gcc", "memory_errors.c", "errors_asan", &["-fsanitize=address"]);
    programs.compile("g++", "memory_errors_cpp.cc", "errors_cpp_asan", &["-fsanitize=address", "-std=c++17"]);
    let mut rows = Vec::new();
    for (program, name) in programs.all() {
        let row = Row {
            ours: programs.ours(program, &name, "bad"),
            memcheck: found(programs.memcheck(program, &name, "bad")),
            sanitizer: found(programs.sanitizer(program, &name, "bad")),
            name,
        };
        assert!(!programs.memcheck(program, &row.name, "good"), "{}", row.name);
        assert!(!programs.sanitizer(program, &row.name, "good"), "{}", row.name);
        rows.push(row);
    }
    if std::env::var_os("BLESS").is_some() {
        write_table(&rows);
    }
    for (row, (name, [ours, memcheck, sanitizer])) in rows.iter().zip(documented()) {
        let told = Row { name, ours: row.ours, memcheck, sanitizer };
        assert_eq!((row, row.ours), (&told, ours.as_str()));
    }
}

fn write_table(rows: &[Row]) {
    let text = std::fs::read_to_string(Path::new(DOCUMENT)).unwrap();
    let (before, after) = text.split_once(BEGIN).unwrap();
    let after = after.split_once("\n\n").map_or("", |(_, after)| after);
    let table: String = rows
        .iter()
        .map(|row| format!("| `{}` | {} | {} | {} |\n", row.name, row.ours, row.memcheck, row.sanitizer))
        .collect();
    std::fs::write(DOCUMENT, format!("{before}{BEGIN}{table}\n{after}")).unwrap();
}
