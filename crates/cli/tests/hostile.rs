//! Programs that mean harm: to the terminal, to the export, to the host's memory and time.

mod common;

use common::Scratch;

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char *what = argv[1];
    if (!strcmp(what, "remove"))
        return unlink("gone\033[31m.txt");
    if (!strcmp(what, "nest")) {
        for (int n = 0; n < 3000; n++)
            if (mkdir("d", 0755) || chdir("d"))
                return 1;
        return 0;
    }
    if (!strcmp(what, "large")) {
        int file = open("large", O_RDWR | O_CREAT, 0644);
        return ftruncate(file, 3L << 30);
    }
    write(1, "go", 2);
    if (!strcmp(what, "scan")) {
        char *start = mmap(0, 1L << 45, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        long count = 1L << 45;
        __asm__ volatile("repe scasb" : "+D"(start), "+c"(count) : "a"(0) : "memory", "cc");
        return 0;
    }
    if (!strcmp(what, "execute")) {
        char *code = mmap(0, 1L << 45, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        static char byte;
        __asm__ volatile("jmp *%1" : : "a"(&byte), "r"(code) : "memory");
    }
    if (!strcmp(what, "drip")) {
        for (int n = 0; n < 300000; n++)
            if (write(1, "x", 1) != 1)
                return 1;
        return 0;
    }
    return 0;
}
"#;

fn hostile(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.compile("hostile", SOURCE, &["-O1"]);
    scratch
}

#[test]
fn names_that_a_program_chose_do_not_reach_the_terminal_raw() {
    let scratch = hostile("escape");
    scratch.write("gone\x1b[31m.txt", "");
    let ran = scratch.whydunit(&["run", "--write-back", "out", "--", "./hostile", "remove"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("gone[31m.txt; --write-back removes nothing"), "{}", ran.stderr);

    let mut program = std::fs::read(scratch.path().join("hostile")).unwrap();
    let name = b"/lib64/ld-linux-x86-64.so.2";
    let at = program.windows(name.len()).position(|window| window == name).unwrap();
    program[at + 1..at + 5].copy_from_slice(b"\x1b[2J");
    std::fs::write(scratch.path().join("hostile"), program).unwrap();
    let ran = scratch.whydunit(&["run", "--", "./hostile"]);
    assert_eq!(ran.status, 126);
    assert!(ran.stderr.contains("interpreter") && !ran.stderr.contains('\x1b'), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_written_back_is_told_by_its_reason() {
    let scratch = hostile("export");
    for (what, reason) in
        [("nest", "a path is too long"), ("large", "too large to write back: at most 2 GiB")]
    {
        let ran = scratch.whydunit(&["run", "--write-back", "out", "--", "./hostile", what]);
        assert_eq!(ran.status, 125);
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    }
}

#[test]
fn instructions_and_code_without_end_stop_at_the_limit() {
    let scratch = hostile("endless");
    let harmless = scratch.whydunit(&["run", "--stats", "--", "./hostile", "nothing"]);
    let (_, count) = harmless.stderr.lines().find_map(|line| line.split_once("instructions: ")).unwrap();
    let limit = (count.parse::<u64>().unwrap() + 1000).to_string();
    for what in ["scan", "execute"] {
        let ran = scratch.whydunit(&["run", "--max-instructions", &limit, "--", "./hostile", what]);
        assert_eq!((ran.status, ran.stdout.as_str()), (125, "go"), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("stopped after {limit} instructions")), "{}", ran.stderr);
    }
}

#[test]
fn output_byte_by_byte_is_passed_on() {
    let scratch = hostile("drip");
    let ran = scratch.whydunit(&["run", "--", "./hostile", "drip"]);
    assert_eq!((ran.status, ran.stdout.len()), (0, 300_002), "{}", ran.stderr);
}
