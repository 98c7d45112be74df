//! Bundles as their users meet them: the same run elsewhere, without its files; and files that are no good.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Ran, Scratch, ran};

/// Reads in every way that leaves a trace in a bundle.
const CURIOUS: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int answer(void);

int main(int argc, char **argv) {
    char text[256] = "";
    struct stat status;
    printf("%s %s %s %d\n", argv[0], argv[1], getenv("COLOUR"), answer());
    printf("%s\n", getcwd(text, sizeof text));
    FILE *file = fopen("input.txt", "r");
    printf("input: %s", fgets(text, sizeof text, file));
    fclose(file);
    file = fopen("link", "r");
    printf("link: %s", fgets(text, sizeof text, file));
    fclose(file);
    memset(text, 0, sizeof text);
    printf("readlink: %zd %s\n", readlink("link", text, sizeof text), text);
    file = fopen("missing.txt", "r");
    printf("missing: %p %s\n", (void *)file, strerror(errno));
    printf("dangling: %d %d\n", stat("dangling", &status), access("secret", R_OK));
    stat("input.txt", &status);
    printf("stat: %o %lld %lld\n", status.st_mode, (long long)status.st_size, (long long)status.st_mtime);
    DIR *directory = opendir("things");
    for (struct dirent *entry; (entry = readdir(directory));)
        printf("in things: %s\n", entry->d_name);
    int descriptor = open("mapped.bin", O_RDONLY);
    char *bytes = mmap(0, 8192, PROT_READ, MAP_PRIVATE, descriptor, 0);
    printf("mapped: %c %c\n", bytes[0], bytes[5000]);
    struct passwd *user = getpwuid(0);
    printf("user: %s\n", user ? user->pw_name : "none");
    while (fgets(text, sizeof text, stdin))
        printf("stdin: %s", text);
    file = fopen("input.txt", "w");
    fprintf(file, "written\n");
    fclose(file);
    fflush(stdout);
    if (argc > 2)
        bytes[1] = answer();
    return 9;
}
"#;

/// The program in its directory, with all that it reads.
fn curious(scratch: &Scratch) {
    let place = scratch.path();
    fs::write(place.join("answer.c"), "int answer(void) { return 42; }\n").unwrap();
    let gcc = |arguments: &[&str]| {
        assert!(Command::new("gcc").current_dir(place).args(arguments).status().unwrap().success());
    };
    gcc(&["-g", "-shared", "-fPIC", "-o", "libanswer.so", "answer.c"]);
    scratch.compile("curious", CURIOUS, &["-L.", "-lanswer", "-Wl,-rpath,$ORIGIN"]);
    scratch.write("input.txt", "the input\n");
    scratch.write("target.txt", "behind the link\n");
    symlink("target.txt", place.join("link")).unwrap();
    symlink("nowhere", place.join("dangling")).unwrap();
    scratch.write("mapped.bin", &"x".repeat(9000));
    fs::create_dir(place.join("things")).unwrap();
    for thing in ["one", "two", "three"] {
        fs::write(place.join("things").join(thing), "").unwrap();
    }
}

fn record(scratch: &Scratch, bundle: &str, words: &[&str], input: &[u8]) -> Ran {
    let all = [&["record", "-o", bundle, "--env", "COLOUR=blue", "--"], words].concat();
    let recorded = scratch.whydunit_with_input(&all, input);
    assert_eq!(recorded.status, 0, "{}", recorded.stderr);
    recorded
}

/// Replays elsewhere, with another environment and input.
fn replay(place: &Scratch, words: &[&str]) -> Ran {
    let mut command = place.command(words);
    command.env_clear().env("COLOUR", "red").stdin(Stdio::null());
    ran(command.output().unwrap())
}

/// Instructions and state, from what `--stats` tells.
fn figures(stderr: &str) -> Vec<&str> {
    let figures: Vec<&str> = stderr
        .lines()
        .filter(|line| line.starts_with("instructions: ") || line.starts_with("state: "))
        .collect();
    assert_eq!(figures.len(), 2, "{stderr}");
    figures
}

#[test]
fn a_bundle_replays_elsewhere_when_all_its_files_are_gone() {
    let scratch = Scratch::new("bundle-gone");
    let elsewhere = Scratch::new("bundle-elsewhere");
    curious(&scratch);
    let words = ["./curious", "argument"];
    let native = scratch.whydunit_with_input(
        &[&["run", "--stats", "--env", "COLOUR=blue", "--"], &words[..]].concat(),
        b"typed\nmore",
    );
    assert_eq!(native.status, 9, "{}", native.stderr);
    let bundle = elsewhere.path().join("run.wdb");
    let bundle = bundle.to_str().unwrap();
    let recorded = record(&scratch, bundle, &words, b"typed\nmore");
    assert_eq!(recorded.stdout, native.stdout);
    assert!(recorded.stderr.contains("exited with status 9"), "{}", recorded.stderr);
    fs::remove_dir_all(scratch.path()).unwrap();
    for words in [&["run", "--stats", "run.wdb"][..], &["run", "--stats", "--", "./run.wdb"]] {
        let replayed = replay(&elsewhere, words);
        assert_eq!(replayed.status, 9, "{}", replayed.stderr);
        assert_eq!(replayed.stdout, native.stdout);
        assert_eq!(figures(&replayed.stderr), figures(&native.stderr));
        assert!(!replayed.stderr.contains("warning"), "{}", replayed.stderr);
    }
}

#[test]
fn a_bundle_does_not_notice_that_its_files_have_changed() {
    let scratch = Scratch::new("bundle-changed");
    curious(&scratch);
    scratch.write("stdin.txt", "from a file\n");
    let place = scratch.path();
    let recorded = ran(scratch
        .command(&[
            "record",
            "-o",
            "run.wdb",
            "--env",
            "COLOUR=blue",
            "--stdin",
            "stdin.txt",
            "--",
            "./curious",
            "x",
        ])
        .output()
        .unwrap());
    assert_eq!(recorded.status, 0, "{}", recorded.stderr);
    assert!(recorded.stdout.contains("stdin: from a file\n"), "{}", recorded.stdout);
    let before = replay(&scratch, &["run", "--stats", "run.wdb"]);
    for name in
        ["input.txt", "target.txt", "mapped.bin", "missing.txt", "stdin.txt", "curious", "libanswer.so"]
    {
        fs::write(place.join(name), "something else altogether\n").unwrap();
    }
    fs::write(place.join("things/four"), "").unwrap();
    fs::remove_file(place.join("link")).unwrap();
    symlink("input.txt", place.join("link")).unwrap();
    let after = replay(&scratch, &["run", "--stats", "run.wdb"]);
    assert_eq!((after.status, &after.stdout), (9, &recorded.stdout));
    assert_eq!(before.stdout, recorded.stdout);
    assert_eq!(figures(&after.stderr), figures(&before.stderr));
    assert_eq!(fs::read_to_string(place.join("input.txt")).unwrap(), "something else altogether\n");
}

#[test]
fn a_crash_is_explained_from_the_bundle_and_not_from_this_machine() {
    let scratch = Scratch::new("bundle-crash");
    let elsewhere = Scratch::new("bundle-crash-elsewhere");
    curious(&scratch);
    let bundle = elsewhere.path().join("run.wdb");
    let recorded = record(&scratch, bundle.to_str().unwrap(), &["./curious", "x", "crash"], b"");
    assert!(recorded.stderr.contains("was killed by SIGSEGV"), "{}", recorded.stderr);
    scratch.write("curious.c", &"wrong\n".repeat(100));
    let replayed = replay(&elsewhere, &["run", "run.wdb"]);
    assert_eq!(replayed.status, 139);
    assert!(
        replayed.stderr.contains("| ") && replayed.stderr.contains("bytes[1] = answer();"),
        "{}",
        replayed.stderr
    );
    let statements = replay(&elsewhere, &["dump", "statements", "run.wdb", "main"]);
    assert!(
        statements.stdout.contains("bytes[1] = answer();"),
        "{} {}",
        statements.stdout,
        statements.stderr
    );
    let core = replay(&elsewhere, &["dump", "core", "--at", "end", "-o", "x.core", "run.wdb"]);
    assert!(core.stdout.contains("was killed by SIGSEGV"), "{} {}", core.stdout, core.stderr);
    assert!(elsewhere.path().join("x.core").exists());
}

/// Crashes in a function of its own.
const CRASH: &str = "int main(void) {\n    int *p = 0;\n    return *p; /* here */\n}\n";

#[test]
fn separate_debug_files_and_sources_that_were_moved_come_along() {
    let scratch = Scratch::new("bundle-debug");
    let elsewhere = Scratch::new("bundle-debug-elsewhere");
    scratch.compile("crash", CRASH, &["-fdebug-prefix-map=.=/build", "-fdebug-prefix-map=/=/build/"]);
    let script = "set -e; objcopy --only-keep-debug crash crash.debug; strip crash; \
                  objcopy --add-gnu-debuglink=crash.debug crash; mkdir moved; mv crash.c moved";
    let made = Command::new("sh").current_dir(scratch.path()).args(["-c", script]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let place = scratch.path().to_str().unwrap();
    let map = format!("/build{place}={place}/moved");
    let bundle = elsewhere.path().join("run.wdb");
    let words = ["record", "-o", bundle.to_str().unwrap(), "--source-map", &map, "--", "./crash"];
    let recorded = scratch.whydunit(&words);
    assert_eq!(recorded.status, 0, "{}", recorded.stderr);
    fs::remove_dir_all(scratch.path()).unwrap();
    let replayed = replay(&elsewhere, &["run", "run.wdb"]);
    assert!(replayed.stderr.contains("crash.c:3"), "{}", replayed.stderr);
    assert!(replayed.stderr.contains("return *p; /* here */"), "{}", replayed.stderr);
}

/// Adds one too many, or not.
const SUM: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n    \
                   int sum = EXTRA;\n    while (argc > 1)\n        sum += atoi(argv[--argc]);\n    \
                   printf(\"%d\\n\", sum);\n    return 0;\n}\n";

#[test]
fn what_is_expected_is_in_the_bundle_and_needs_no_reference_any_more() {
    let scratch = Scratch::new("bundle-oracle");
    let elsewhere = Scratch::new("bundle-oracle-elsewhere");
    scratch.compile("right", SUM, &["-DEXTRA=0"]);
    scratch.compile("sum", SUM, &["-DEXTRA=1"]);
    let bundle = |name: &str| elsewhere.path().join(name).to_str().unwrap().to_owned();
    for (name, option, value) in [
        ("text.wdb", "--expect-stdout", "5"),
        ("like.wdb", "--reference", "./right"),
        ("none.wdb", "--expect-exit", "0"),
    ] {
        let recorded =
            scratch.whydunit(&["record", "-o", &bundle(name), option, value, "--", "./sum", "2", "3"]);
        assert_eq!((recorded.status, recorded.stdout.as_str()), (0, "6\n"), "{}", recorded.stderr);
    }
    fs::remove_dir_all(scratch.path()).unwrap();
    let stats = |words: &[&str]| {
        let ran = replay(&elsewhere, &[&["stats"], words].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stdout
    };
    for name in ["text.wdb", "like.wdb"] {
        let told = stats(&[name]);
        assert!(told.contains("FAILED: ./sum") && told.contains('5') && told.contains('6'), "{told}");
    }
    assert!(stats(&["none.wdb"]).contains("did not fail"));
    // What is said now counts in the place of what was said then.
    assert!(stats(&["--expect-stdout", "6", "text.wdb"]).contains("did not fail"));
    // Lines and variables are found in the bundle.
    let told = stats(&["--assert", "sum.c:6: sum < 4", "none.wdb"]);
    assert!(told.contains("FAILED") && told.contains("sum < 4"), "{told}");
    let refused = replay(&elsewhere, &["stats", "--reference", "/bin/true", "none.wdb"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("give it to `whydunit record`"), "{}", refused.stderr);
}

#[test]
fn a_bundle_runs_no_command_of_its_maker() {
    let scratch = Scratch::new("bundle-command");
    let command = format!("touch {}/trace; exit 1", scratch.path().display());
    let recorded = scratch.whydunit(&["record", "-o", "run.wdb", "--oracle", &command, "--", "true"]);
    assert_eq!(recorded.status, 0, "{}", recorded.stderr);
    let ran = scratch.whydunit(&["stats", "run.wdb"]);
    assert!(ran.stdout.contains("did not fail"), "{}", ran.stdout);
    assert!(ran.stderr.contains("which is not run; give it again if you trust it"), "{}", ran.stderr);
    assert!(!scratch.path().join("trace").exists());
    let ran = scratch.whydunit(&["stats", "--oracle", &command, "run.wdb"]);
    assert!(ran.stdout.contains("FAILED"), "{}", ran.stdout);
    assert!(scratch.path().join("trace").exists());
}

#[test]
fn input_that_was_fed_is_kept_as_far_as_it_was_read() {
    let scratch = Scratch::new("bundle-fed");
    let text: String = (0..30_000).map(|n| format!("line {n}\n")).collect();
    let words = ["record", "-o", "run.wdb", "--", "head", "-n", "9000"];
    let recorded = scratch.whydunit_with_input(&words, text.as_bytes());
    assert_eq!(recorded.stdout.lines().count(), 9000, "{}", recorded.stderr);
    let live = scratch.whydunit_with_input(&["run", "--stats", "--", "head", "-n", "9000"], text.as_bytes());
    let replayed = replay(&scratch, &["run", "--stats", "run.wdb"]);
    assert_eq!(replayed.stdout, recorded.stdout);
    assert_eq!(figures(&replayed.stderr), figures(&live.stderr));
    assert!(!replayed.stderr.contains("warning"), "{}", replayed.stderr);
}

#[test]
fn a_limit_of_the_recording_holds_in_the_replay() {
    let scratch = Scratch::new("bundle-limit");
    let words = ["record", "-o", "run.wdb", "--max-instructions", "50K", "--max-memory", "5G", "--", "true"];
    assert_eq!(scratch.whydunit(&words).status, 0);
    let refused = scratch.whydunit(&["run", "run.wdb"]);
    assert_eq!(refused.status, 125);
    assert!(refused.stderr.contains("permit it with --max-memory 5368709120"), "{}", refused.stderr);
    let replayed = scratch.whydunit(&["run", "--stats", "--max-memory", "5G", "run.wdb"]);
    assert!(replayed.stderr.contains("instructions: 50000\n"), "{}", replayed.stderr);
    assert!(!replayed.stderr.contains("warning"), "{}", replayed.stderr);
}

#[test]
fn a_bundle_that_is_no_good_is_refused_by_name() {
    let scratch = Scratch::new("bundle-bad");
    assert_eq!(scratch.whydunit(&["record", "-o", "run.wdb", "--", "true"]).status, 0);
    let good = fs::read(scratch.path().join("run.wdb")).unwrap();
    let refused = |bytes: &[u8], told: &str| {
        fs::write(scratch.path().join("bad.wdb"), bytes).unwrap();
        for words in
            [&["run", "bad.wdb"][..], &["dump", "cfg", "bad.wdb", "main"], &["run", "--", "./bad.wdb"]]
        {
            let ran = scratch.whydunit(words);
            assert_eq!(ran.status, if words[0] == "run" { 126 } else { 1 }, "{}", ran.stderr);
            assert!(ran.stderr.contains(told) && ran.stderr.contains("bad.wdb"), "{told}: {}", ran.stderr);
        }
    };
    for length in [16, 17, 60, 100, good.len() / 2, good.len() - 1] {
        refused(&good[..length], &format!("bad.wdb is cut short at byte {length}"));
    }
    let altered = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    refused(&altered(30), "bad.wdb is damaged: its header");
    refused(&altered(200), "bad.wdb is damaged: its table of contents");
    refused(&altered(good.len() / 2), "bad.wdb is damaged: the content of /");
    refused(&altered(good.len() - 1), "bad.wdb is damaged: its last hash");
    let mut newer = good.clone();
    newer[16] = 2;
    refused(&newer, "bad.wdb was made by a newer whydunit (format 2); this one reads up to 1");
}

#[test]
fn what_a_bundle_has_cannot_be_given_again() {
    let scratch = Scratch::new("bundle-again");
    assert_eq!(scratch.whydunit(&["record", "-o", "run.wdb", "--", "true"]).status, 0);
    for (words, what) in [
        (&["run", "run.wdb", "more"][..], "arguments"),
        (&["run", "--env", "A=b", "run.wdb"], "environment"),
        (&["run", "--stdin", "/dev/null", "run.wdb"], "standard input"),
        (&["run", "--terminal", "run.wdb"], "standard streams"),
    ] {
        let ran = scratch.whydunit(words);
        assert_eq!(ran.status, 125, "{}", ran.stderr);
        let told = format!("run.wdb is a bundle and has its own {what}; give it alone");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    }
}

#[test]
fn a_bundle_that_cannot_be_written_is_told_before_the_program_runs() {
    let scratch = Scratch::new("bundle-unwritable");
    let ran = scratch.whydunit(&["record", "-o", "nowhere/run.wdb", "--", "echo", "hi"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (125, ""));
    assert!(ran.stderr.contains("nowhere/run.wdb cannot be written"), "{}", ran.stderr);
    let ran = scratch.whydunit(&["record", "--", "echo", "hi"]);
    assert_eq!(ran.status, 125);
    // The program does not see the file in the making.
    let ran = scratch.whydunit(&["record", "-o", "run.wdb", "--", "ls", "-a"]);
    assert_eq!(ran.stdout, ".\n..\n");
}

/// What is under the bundle's name is one of those that were written, and nothing else is there when nobody was killed.
fn assert_whole(place: &Path, originals: &[Vec<u8>]) {
    let now = fs::read(place.join("run.wdb")).unwrap();
    assert!(originals.contains(&now), "{} bytes that nobody wrote", now.len());
}

#[test]
fn a_writer_that_fails_midway_leaves_the_old_file() {
    let scratch = Scratch::new("bundle-full");
    assert_eq!(scratch.whydunit(&["record", "-o", "run.wdb", "--", "true"]).status, 0);
    let old = fs::read(scratch.path().join("run.wdb")).unwrap();
    let program = env!("CARGO_BIN_EXE_whydunit");
    // A limit on the size of files: it kills, or where that is ignored it is an error.
    for (prelude, is_error) in [("trap '' XFSZ;", true), ("", false)] {
        let script =
            format!("{prelude} ulimit -c 0; ulimit -f 600; exec {program} record -o run.wdb -- echo hi");
        let ran = ran(Command::new("sh").current_dir(scratch.path()).args(["-c", &script]).output().unwrap());
        assert_eq!(ran.stdout, "hi\n", "{}", ran.stderr);
        assert_whole(scratch.path(), std::slice::from_ref(&old));
        if is_error {
            assert_eq!(ran.status, 125);
            assert!(ran.stderr.contains("run.wdb cannot be written"), "{}", ran.stderr);
            assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "something was left behind");
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let scratch = Scratch::new("bundle-killed");
    let mut originals = Vec::new();
    for text in ["one", "two"] {
        assert_eq!(scratch.whydunit(&["record", "-o", "run.wdb", "--", "echo", text]).status, 0);
        originals.push(scratch.whydunit(&["run", "run.wdb"]).stdout);
    }
    let rounds = if std::env::var_os("WHYDUNIT_LONG").is_some() { 300 } else { 24 };
    let mut unfinished = 0;
    for round in 0..rounds {
        let text = if round % 2 == 0 { "one" } else { "two" };
        let mut command = scratch.command(&["record", "-o", "run.wdb", "--", "echo", text]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Until some of it is written, and a little longer.
        let part = scratch.path().join(format!(".run.wdb.{}.part", child.id()));
        let mut waited = 0;
        while child.try_wait().unwrap().is_none() && waited < 20_000 {
            if fs::metadata(&part).is_ok_and(|metadata| metadata.len() > 0) {
                break;
            }
            waited += 1;
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(150 * round));
        child.kill().unwrap();
        unfinished += usize::from(child.wait().unwrap().code().is_none());
        let replayed = scratch.whydunit(&["run", "run.wdb"]);
        assert!(originals.contains(&replayed.stdout), "{}", replayed.stderr);
        assert!(!replayed.stderr.contains("damaged"), "{}", replayed.stderr);
    }
    assert!(unfinished > 0, "no recording was killed in time");
}
