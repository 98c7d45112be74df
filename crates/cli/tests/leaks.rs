//! Programs that lose blocks or keep them, under whydunit and memcheck.
//!
//! What memcheck says is kept in docs/memory-errors.md, so that it need not be there. `WHYDUNIT_LONG=1` asks it again, and `BLESS=1` with it
//! writes the table anew.

mod common;

use std::process::Command;

use common::{Scratch, skip};

const C: &str = include_str!("programs/leaks.c");
const CPP: &str = include_str!("programs/leaks_cpp.cc");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/memory-errors.md");
const BEGIN: &str =
    "| lost and kept | definitely lost | indirectly lost | possibly lost |\n|---|---|---|---|\n";
const KINDS: [&str; 3] = ["definitely lost: ", "indirectly lost: ", "possibly lost: "];

struct Programs {
    scratch: Scratch,
}

impl Programs {
    fn new(name: &str) -> Programs {
        let scratch = Scratch::new(name);
        for (compiler, file, program, source) in
            [("gcc", "leaks.c", "leaks", C), ("g++", "leaks_cpp.cc", "leaks_cpp", CPP)]
        {
            scratch.write(file, source);
            let mut command = Command::new(compiler);
            let options = ["-g", "-w", "-O0", "-fno-builtin", "-o", program, file];
            let output = command.current_dir(scratch.path()).args(options).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        Programs { scratch }
    }

    /// All programs: the executable, and the name.
    fn all(&self) -> Vec<(&'static str, String)> {
        let list = |program: &'static str| {
            let output = Command::new(self.scratch.path().join(program)).arg("list").output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().map(|name| (program, name.to_owned())).collect::<Vec<_>>()
        };
        [list("leaks"), list("leaks_cpp")].concat()
    }

    fn ours(&self, program: &str, name: &str) -> [String; 3] {
        let ran = self.scratch.whydunit(&["run", "--leaks", "--", &format!("./{program}"), name]);
        assert_eq!(ran.status, 0, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("still reachable: "), "{name}: {}", ran.stderr);
        cells(&ran.stderr)
    }

    fn memcheck(&self, program: &str, name: &str) -> [String; 3] {
        let mut command = Command::new("valgrind");
        command.args(["--leak-check=full", "--run-libc-freeres=no", "--run-cxx-freeres=no"]);
        let output =
            command.args([&format!("./{program}"), name]).current_dir(self.scratch.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("ERROR SUMMARY"), "{name}: {text}");
        cells(&text)
    }
}

/// What a report says of each kind, in the form of the table.
fn cells(report: &str) -> [String; 3] {
    KINDS.map(|kind| {
        let line = report.lines().find_map(|line| line.split_once(kind)).map_or("", |(_, rest)| rest);
        let numbers: Vec<String> = line
            .split_whitespace()
            .map(|word| word.replace(',', ""))
            .filter(|word| word.parse::<u64>().is_ok())
            .collect();
        match numbers.as_slice() {
            [bytes, blocks] if blocks != "0" => format!("{bytes} in {blocks}"),
            _ => "—".to_owned(),
        }
    })
}

/// The table in the documentation.
fn documented() -> Vec<(String, [String; 3])> {
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    let table = text.split_once(BEGIN).expect("the table is there").1;
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        let name = cells.next().unwrap().trim_matches('`').to_owned();
        (name, [(); 3].map(|()| cells.next().unwrap()))
    };
    table.lines().take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn what_is_lost_is_what_memcheck_says_is_lost() {
    let programs = Programs::new("leaks-and-memcheck");
    let ours: Vec<_> = programs
        .all()
        .into_iter()
        .map(|(program, name)| (name.clone(), programs.ours(program, &name)))
        .collect();
    assert_eq!(ours, documented());
}

#[test]
fn what_the_table_of_leaks_says_of_memcheck_is_so() {
    if std::env::var_os("WHYDUNIT_LONG").is_none() {
        return;
    }
    let programs = Programs::new("leaks-memcheck");
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skip("the comparison with memcheck", "there is no valgrind");
    }
    let all = programs.all().into_iter();
    let rows: Vec<_> = all.map(|(program, name)| (name.clone(), programs.memcheck(program, &name))).collect();
    if std::env::var_os("BLESS").is_some() {
        write_table(&rows);
    }
    assert_eq!(rows, documented());
}

fn write_table(rows: &[(String, [String; 3])]) {
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    let (before, after) = text.split_once(BEGIN).unwrap();
    let after: String =
        after.lines().skip_while(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    let table: String =
        rows.iter().map(|(name, cells)| format!("| `{name}` | {} |\n", cells.join(" | "))).collect();
    std::fs::write(DOCUMENT, format!("{before}{BEGIN}{table}{after}")).unwrap();
}
