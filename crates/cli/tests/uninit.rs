//! Programs that use memory which was never written, and programs that do not, under `--uninit=report` and under memcheck.
//!
//! The lines at which a use is to be told say `USED` in the source. `WHYDUNIT_LONG=1` asks memcheck about the same lines, and about
//! the programs of the system.

mod common;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use common::{Scratch, skip};

const SOURCE: &str = include_str!("programs/uninit.c");
const BUILDS: [(&str, &str); 4] = [("gcc", "-O0"), ("gcc", "-O1"), ("clang", "-O0"), ("clang", "-O1")];
const NOTHING: &str = "whydunit: nothing depended on memory that was never written\n";

struct Programs {
    scratch: Scratch,
}

impl Programs {
    fn new(name: &str) -> Programs {
        let scratch = Scratch::new(name);
        scratch.write("uninit.c", SOURCE);
        Programs { scratch }
    }

    /// The executable that a compiler makes; `None` if it is not here.
    fn compile(&self, (compiler, optimisation): (&str, &str)) -> Option<String> {
        let name = format!("uninit_{compiler}{optimisation}");
        let mut command = Command::new(compiler);
        let options =
            ["-g", "-w", "-fno-builtin", "-D_FORTIFY_SOURCE=0", optimisation, "-o", &name, "uninit.c"];
        let output = command.current_dir(self.scratch.path()).args(options).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(name)
    }

    fn ours(&self, program: &str, name: &str) -> BTreeSet<usize> {
        let ran = self.scratch.whydunit(&["run", "--uninit=report", "--", &format!("./{program}"), name]);
        assert_eq!(ran.status, 0, "{name}: {}", ran.stderr);
        let lines = lines_of_reports(&ran.stderr);
        assert_eq!(lines.is_empty(), ran.stderr.ends_with(NOTHING), "{name}: {}", ran.stderr);
        lines
    }

    fn memcheck(&self, program: &str, name: &str) -> BTreeSet<usize> {
        let mut command = Command::new("valgrind");
        command.current_dir(self.scratch.path()).args([
            "-q",
            "--leak-check=no",
            &format!("./{program}"),
            name,
        ]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        // Each error begins with what it is, and goes on with frames, the innermost first.
        let errors = text.split("uninitialised").skip(1);
        errors.filter_map(line_of_frame).collect()
    }
}

/// The line of the first frame in the program.
fn line_of_frame(text: &str) -> Option<usize> {
    let after = text.split_once("uninit.c:")?.1;
    after.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// The lines of the program at which uses are told.
fn lines_of_reports(text: &str) -> BTreeSet<usize> {
    let reports = text.split(" depends on memory that was never written\n").skip(1);
    let trace = |report: &str| report.split("  It comes from").next().unwrap_or_default().to_owned();
    reports.map(|report| line_of_frame(&trace(report)).expect("it is in the program")).collect()
}

/// All programs, in order, with the lines of their uses.
fn expected() -> Vec<(String, BTreeSet<usize>)> {
    let mut all: Vec<(String, BTreeSet<usize>)> = Vec::new();
    for (index, line) in SOURCE.lines().enumerate() {
        if let Some(name) = line.strip_prefix("CASE(") {
            all.push((name.split(')').next().unwrap().to_owned(), BTreeSet::new()));
        }
        if line.ends_with("/* USED */") {
            all.last_mut().unwrap().1.insert(index + 1);
        }
    }
    all
}

/// Uses are told at their lines, and nothing else is.
fn check_build(build: (&str, &str)) {
    let programs = Programs::new(&format!("uninit-{}{}", build.0, build.1));
    let Some(program) = programs.compile(build) else {
        return skip("uninitialised values", &format!("there is no {}", build.0));
    };
    for (name, lines) in expected() {
        assert_eq!(programs.ours(&program, &name), lines, "{program} {name}");
    }
}

#[test]
fn lines_of_uses_in_what_gcc_makes() {
    check_build(BUILDS[0]);
}

#[test]
fn lines_of_uses_in_what_gcc_optimises() {
    check_build(BUILDS[1]);
}

#[test]
fn lines_of_uses_in_what_clang_makes() {
    check_build(BUILDS[2]);
}

#[test]
fn lines_of_uses_in_what_clang_optimises() {
    check_build(BUILDS[3]);
}

#[test]
fn there_are_programs_with_and_without_uses() {
    let expected = expected();
    let (used, fine): (Vec<_>, Vec<_>) = expected.iter().partition(|(_, lines)| !lines.is_empty());
    assert!(used.len() >= 30 && fine.len() >= 20);
    assert!(fine.iter().all(|(name, _)| name.starts_with("fine_")));
}

#[test]
fn memcheck_tells_the_same_lines() {
    if std::env::var_os("WHYDUNIT_LONG").is_none() {
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skip("the comparison with memcheck", "there is no valgrind");
    }
    let programs = Programs::new("uninit-memcheck");
    for build in BUILDS {
        let Some(program) = programs.compile(build) else { continue };
        for (name, lines) in expected() {
            assert_eq!(programs.memcheck(&program, &name), lines, "{program} {name}");
        }
    }
}

const REPORTED: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct item { int key, value; };
static int largest(struct item *items, int count) {
    int best = 0;
    for (int i = 0; i < count; i++)
        if (items[i].value > items[best].value)
            best = i;
    return best;
}
int main(void) {
    struct item items[3];
    long *block = malloc(24);
    for (int i = 0; i < 3; i++) items[i].key = i;
    int best = largest(items, 3);
    block[0] = 1;
    for (int i = 0; i < 4; i++) {
        printf("%ld\n", block[1]);
        fflush(stdout);
    }
    write(1, block + 1, 8);
    return best ? 7 : 7;
}
"#;

const REPORT: &str = "\
whydunit: ./reported: a condition depends on memory that was never written
  in largest at reported.c:8:12
       8 |         if (items[i].value > items[best].value)
  called from main at reported.c:16:16
  It comes from main::items[0].value, which was read at reported.c:8
whydunit: ./reported: a condition depends on memory that was never written
  in __vfprintf_internal (libc.so.6)
  called from printf (libc.so.6)
  called from main at reported.c:19:9
      19 |         printf(\"%ld\\n\", block[1]);
  It comes from byte 8 of a block of 24, allocated:
  in malloc (libc.so.6)
  called from main at reported.c:14:19
      14 |     long *block = malloc(24);
whydunit: ./reported: output depends on memory that was never written
  in write (libc.so.6)
  called from main at reported.c:22:5
      22 |     write(1, block + 1, 8);
  It comes from byte 8 of a block of 24, allocated:
  in malloc (libc.so.6)
  called from main at reported.c:14:19
      14 |     long *block = malloc(24);
";

#[test]
fn a_report_names_the_line_and_the_memory_and_each_place_is_told_once() {
    let scratch = Scratch::new("uninit-report");
    scratch.compile("reported", REPORTED, &["-O0"]);
    let plain = scratch.whydunit(&["run", "--", "./reported"]);
    assert_eq!((plain.status, plain.stderr.as_str()), (7, ""));
    let ran = scratch.whydunit(&["run", "--uninit=report", "--", "./reported"]);
    assert_eq!((ran.status, &ran.stdout), (plain.status, &plain.stdout));
    let (report, summary) = ran.stderr.rsplit_once("whydunit: ").unwrap();
    // What library functions are called differs between libraries; whose they are does not.
    let reports = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.ends_with("(libc.so.6)"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(reports(report), reports(REPORT), "{report}");
    assert!(summary.ends_with(" uses of memory that was never written, at 3 places\n"), "{summary}");
}

#[test]
fn without_the_checked_heap_nothing_is_reported() {
    let scratch = Scratch::new("uninit-heap");
    let ran = scratch.whydunit(&["run", "--uninit=report", "--heap=program", "--", "/bin/true"]);
    assert_eq!((ran.status, ran.stderr.contains("needs the checked heap")), (125, true), "{}", ran.stderr);
}

/// Programs of the system that do a little of what they are for.
const SYSTEM: [&[&str]; 12] = [
    &["ls", "-la", "/usr/include"],
    &["sort", "-k2", "uninit.c"],
    &["gzip", "-c", "uninit.c"],
    &["xz", "-c", "-0", "uninit.c"],
    &["grep", "-nE", "fine_(s|b)[a-z]+", "uninit.c"],
    &["sed", "-n", "s/USED/used/gp", "uninit.c"],
    &["awk", "{ words += NF } END { printf \"%d %.2f\\n\", words, words / NR }", "uninit.c"],
    &[
        "sqlite3",
        ":memory:",
        "create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select max(b) from t;",
    ],
    &["lua5.4", "-e", "local t = {} for i = 1, 99 do t[i] = i * 0.5 .. '' end table.sort(t) print(#t)"],
    &["perl", "-e", "my %h; $h{$_ % 7} .= $_ for 1 .. 99; print join(',', %h)"],
    &["bc", "-l", "sum"],
    &["sha256sum", "uninit.c"],
];

#[test]
fn programs_without_such_uses_are_left_alone() {
    let programs = Programs::new("uninit-system");
    programs.scratch.write("sum", "scale=20\n4*a(1)\nquit\n");
    let is_long = std::env::var_os("WHYDUNIT_LONG").is_some();
    for words in SYSTEM {
        let there = Command::new("sh").args(["-c", "command -v \"$0\"", words[0]]).output().unwrap();
        if !there.status.success() {
            skip("uninitialised values in programs of the system", &format!("there is no {}", words[0]));
            continue;
        }
        let mut command = programs.scratch.command(&[&["run", "--uninit=report", "--"], words].concat());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*text), (Some(0), NOTHING), "{words:?}");
        if is_long {
            let mut command = Command::new("valgrind");
            command.current_dir(programs.scratch.path()).args(["-q", "--leak-check=no"]).args(words);
            let output = command.stdin(Stdio::null()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!text.contains("uninitialised"), "memcheck says of {words:?}: {text}");
        }
    }
}

const HOSTILE: &str = r#"
#include <signal.h>
#include <string.h>
static char elsewhere[65536] __attribute__((aligned(4096)));
int main(int argc, char **argv) {
    /* The stack pointer goes everywhere, calls and returns do not belong together, and what is undefined is loaded across pages. */
    for (unsigned long step = 1; step < 1ul << 47; step *= 3) {
        __asm__ volatile(
            "mov %%rsp, %%r15\n"
            "sub %0, %%rsp\n"
            "lea (%%rsp,%0,2), %%rsp\n"
            "mov $-1, %%rsp\n"
            "mov %%r15, %%rsp\n"
            "sub $128, %%rsp\n"
            "call 1f\n"
            "1: add $8, %%rsp\n"
            "mov %1, %%rsp\n"
            "push %0\n"
            "call 2f\n"
            "2: pop %%r14\n"
            "mov %%r15, %%rsp\n"
            : : "r"(step), "r"(elsewhere + 60000) : "r14", "r15", "memory", "cc");
    }
    char *low = (char *)&argc - 100000;
    for (int i = 0; i < 60000; i += 7) {
        unsigned long value;
        memcpy(&value, low + i, 8);
        memcpy(elsewhere + i % 50000, &value, 8);
        __asm__ volatile("" : : "r"(elsewhere) : "memory");
    }
    __asm__ volatile("fxsave (%0)\nfxrstor (%0)\n" : : "r"(elsewhere) : "memory");
    __asm__ volatile("rep movsb" : : "D"(elsewhere), "S"(low), "c"(50000) : "memory");
    __asm__ volatile("mov $-16, %%rsp\npush %%rax\n" : : : "memory");
    return 0;
}
"#;

#[test]
fn a_hostile_program_does_not_bring_it_down() {
    let scratch = Scratch::new("uninit-hostile");
    scratch.compile("hostile", HOSTILE, &["-O0", "-w"]);
    let ran = scratch.whydunit(&["run", "--uninit=report", "--", "./hostile"]);
    // It dies of its last push, and of nothing else.
    assert_eq!(ran.status, 139, "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}
