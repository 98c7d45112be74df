//! `whydunit dump core`: which state is written where, and what is told when it cannot be.

mod common;

use std::process::{Command, Stdio};

use common::Scratch;

const SOURCE: &str = "#include <stdio.h>\n\
    static __thread int counter = 40;\n\
    static int inner(int x) { counter += 2; return x * *(volatile int *)(long)(x - 3); }\n\
    int main(void) { int c = getchar(); puts(\"seen\"); return c == 'x' ? inner(3) : 0; }\n";

/// What gdb says about a core file, or `None` where there is no gdb.
fn gdb(scratch: &Scratch, program: &str, core: &str, commands: &[&str]) -> Option<String> {
    let mut gdb = Command::new("gdb");
    gdb.current_dir(scratch.path()).args(["-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    for command in commands {
        gdb.args(["-ex", command]);
    }
    match gdb.args([program, core]).stdin(Stdio::null()).output() {
        Ok(output) => Some(common::ran(output).stdout),
        Err(error) => {
            common::skip("gdb's view of a core file", &error.to_string());
            None
        }
    }
}

#[test]
fn the_end_of_a_killed_program_is_where_it_was_killed_as_gdb_sees_it() {
    let scratch = Scratch::new("core-killed");
    scratch.compile("killed", SOURCE, &[]);
    let ran = scratch.whydunit_with_input(&["dump", "core", "--at", "end", "--", "./killed"], b"x");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("killed.core: the state before instruction "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with(", where the program was killed by SIGSEGV\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("seen"), "the program's own output is not shown");
    let commands =
        ["bt", "print counter", "info sharedlibrary", "print $_siginfo._sifields._sigfault.si_addr"];
    let Some(seen) = gdb(&scratch, "killed", "killed.core", &commands) else { return };
    for expected in [
        "Program terminated with signal SIGSEGV",
        "inner (x=3) at killed.c:3",
        "main () at killed.c:4",
        "$1 = 42",
        "libc.so.6",
        "$2 = (void *) 0x0",
    ] {
        assert!(seen.contains(expected), "{expected} is not in:\n{seen}");
    }
}

#[test]
fn the_end_of_a_program_that_exits_is_just_before_it_does() {
    let scratch = Scratch::new("core-exited");
    scratch.compile("exited", SOURCE, &[]);
    let words = ["dump", "core", "-o", "last.core", "--at", "end", "--", "./exited"];
    let ran = scratch.whydunit_with_input(&words, b"y");
    assert!(ran.stdout.ends_with(", just before the program exits with status 0\n"), "{}", ran.stdout);
    let Some(seen) = gdb(&scratch, "exited", "last.core", &["x/i $rip", "print $eax"]) else { return };
    assert!(seen.contains("syscall") && seen.contains("= 231"), "{seen}");
}

#[test]
fn an_instant_after_the_end_is_refused_with_the_instruction_at_which_the_program_ended() {
    let scratch = Scratch::new("core-late");
    scratch.write("nothing", "");
    let stats = scratch.whydunit(&["run", "--stats", "--", "/bin/true"]).stderr;
    let count = stats.lines().find_map(|line| line.strip_prefix("instructions: ")).unwrap();
    let count: u64 = count.parse().unwrap();
    let ran = scratch.whydunit(&["dump", "core", "--at", &count.to_string(), "--", "/bin/true"]);
    assert_eq!(ran.status, 1);
    let expected = format!("the program exited with status 0 after {count} instructions");
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    assert_eq!(names(&scratch), ["nothing"], "no file is left behind");
    let ran = scratch.whydunit(&["dump", "core", "--at", &(count - 1).to_string(), "--", "/bin/true"]);
    assert_eq!((ran.status, names(&scratch).len()), (0, 2), "{}", ran.stderr);
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_run_and_devices_are_left_alone() {
    let scratch = Scratch::new("core-refused");
    std::fs::create_dir(scratch.path().join("directory")).unwrap();
    for (target, reason) in [
        ("directory", "it is a directory"),
        ("absent/file", "No such file or directory"),
        ("/dev/null", "it is not a regular file"),
    ] {
        let ran = scratch.whydunit(&["dump", "core", "--at", "0", "-o", target, "--", "/bin/true"]);
        assert_eq!(ran.status, 1);
        let told = format!("{target} cannot be written");
        assert!(ran.stderr.contains(&told) && ran.stderr.contains(reason), "{}", ran.stderr);
    }
    assert_eq!(names(&scratch), ["directory"]);
}

#[test]
fn an_older_file_is_replaced_and_a_failed_attempt_leaves_it() {
    let scratch = Scratch::new("core-replaced");
    scratch.write("old.core", "old");
    let ran = scratch.whydunit(&["dump", "core", "--at", "1G", "-o", "old.core", "--", "/bin/true"]);
    assert_eq!(ran.status, 1);
    assert_eq!(std::fs::read(scratch.path().join("old.core")).unwrap(), b"old");
    let ran = scratch.whydunit(&["dump", "core", "--at", "1K", "-o", "old.core", "--", "/bin/true"]);
    assert_eq!(ran.stdout, "old.core: the state before instruction 1000\n");
    assert!(std::fs::read(scratch.path().join("old.core")).unwrap().starts_with(b"\x7fELF"));
    assert_eq!(names(&scratch), ["old.core"]);
}

fn names(scratch: &Scratch) -> Vec<String> {
    let entries = std::fs::read_dir(scratch.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
