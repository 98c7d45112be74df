//! `whydunit run` as a user sees it: streams, status, options.

mod common;

use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::Stdio;
use std::sync::OnceLock;

use common::Scratch;

const SOURCE: &str = include_str!("programs/guest.c");

/// The program is compiled once; every test has a directory of its own with it.
fn with_guest(name: &str) -> Scratch {
    static GUEST: OnceLock<Vec<u8>> = OnceLock::new();
    let content = GUEST
        .get_or_init(|| std::fs::read(Scratch::new("guest").compile("guest", SOURCE, &["-O1"])).unwrap());
    let scratch = Scratch::new(name);
    let path = scratch.path().join("guest");
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    scratch
}

#[test]
fn status_and_both_streams_are_passed_on() {
    let scratch = with_guest("streams");
    for status in [0, 1, 42, 255] {
        let ran = scratch.whydunit(&["run", "--", "./guest", "exit", &status.to_string()]);
        assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (status, "", ""));
    }
    let ran = scratch.whydunit(&["run", "--", "./guest", "print", "--stats", "last one"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "4 arguments, last last one\n"));
    assert_eq!(ran.stderr, "to stderr\n");
}

#[test]
fn the_environment_is_the_hosts_with_changes() {
    let scratch = with_guest("environment");
    let ask = |options: &[&str]| {
        let words = [&["run"], options, &["--", "./guest", "env", "WHYDUNIT_TEST"]].concat();
        let output = scratch.command(&words).env("WHYDUNIT_TEST", "host").output().unwrap();
        common::ran(output).stdout
    };
    assert_eq!(ask(&[]), "host\n");
    assert_eq!(ask(&["--env", "WHYDUNIT_TEST=guest"]), "guest\n");
    assert_eq!(ask(&["--env", "WHYDUNIT_TEST=a", "--env", "WHYDUNIT_TEST=b=c"]), "b=c\n");
    let output =
        scratch.command(&["run", "--", "./guest", "env", "WHYDUNIT_TEST"]).env_clear().output().unwrap();
    assert_eq!(common::ran(output).stdout, "(not set)\n");
}

#[test]
fn a_program_is_looked_up_in_the_path_that_it_will_see() {
    let scratch = with_guest("path");
    let path = format!("PATH={}", scratch.path().display());
    let ran = scratch.whydunit(&["run", "--env", &path, "--", "guest", "exit", "7"]);
    assert_eq!(ran.status, 7, "{}", ran.stderr);
}

#[test]
fn input_comes_from_a_pipe_or_a_file() {
    let scratch = with_guest("input");
    let input: Vec<u8> = (0..200_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
    let ran = scratch.whydunit_with_input(&["run", "--", "./guest", "echo"], &input);
    assert_eq!((ran.status, ran.stdout.as_bytes() == input), (0, true), "{}", ran.stderr);
    std::fs::write(scratch.path().join("input"), &input).unwrap();
    let ran = scratch.whydunit(&["run", "--stdin", "input", "--", "./guest", "echo"]);
    assert_eq!((ran.status, ran.stdout.as_bytes() == input), (0, true), "{}", ran.stderr);
    let file = std::fs::File::open(scratch.path().join("input")).unwrap();
    let output = scratch.command(&["run", "--", "./guest", "echo"]).stdin(file).output().unwrap();
    assert!(output.stdout == input);
}

#[test]
fn input_from_a_file_is_that_very_file() {
    let scratch = Scratch::new("very-file");
    scratch.write("input", "0123456789");
    let native = std::process::Command::new("stat")
        .current_dir(scratch.path())
        .args(["-c", "%s %Y %A", "input"])
        .output()
        .unwrap();
    let words = ["--", "stat", "-L", "-c", "%s %Y %A", "/dev/stdin"];
    let by_option = scratch.whydunit(&[&["run", "--stdin", "input"], &words[..]].concat());
    assert_eq!(by_option.stdout, common::ran(native).stdout, "{}", by_option.stderr);
    let file = std::fs::File::open(scratch.path().join("input")).unwrap();
    let inherited = scratch.command(&[&["run"], &words[..]].concat()).stdin(file).output().unwrap();
    assert_eq!(common::ran(inherited).stdout, by_option.stdout);

    // Reading begins where the shell's redirection stands, also when the file has no name any more.
    for unlink in [false, true] {
        let mut file = std::fs::File::open(scratch.path().join("input")).unwrap();
        file.seek(std::io::SeekFrom::Start(4)).unwrap();
        if unlink {
            std::fs::remove_file(scratch.path().join("input")).unwrap();
        }
        let output = scratch.command(&["run", "--", "cat"]).stdin(file).output().unwrap();
        assert_eq!(common::ran(output).stdout, "456789", "{unlink}");
    }
}

#[test]
fn a_program_that_does_not_read_does_not_wait_for_input() {
    let scratch = with_guest("silent");
    let mut child =
        scratch.command(&["run", "--", "./guest", "exit", "3"]).stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    drop(open);
}

#[test]
fn a_question_is_printed_before_its_answer_is_read() {
    let scratch = with_guest("question");
    let mut child = scratch
        .command(&["run", "--", "./guest", "ask"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut question = [0; 6];
    output.read_exact(&mut question).unwrap();
    assert_eq!(&question, b"name? ");
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"world\n").unwrap();
    drop(input);
    let mut answer = String::new();
    BufReader::new(output).read_line(&mut answer).unwrap();
    assert_eq!((answer.as_str(), child.wait().unwrap().code()), ("hello world\n", Some(0)));
}

#[test]
fn trickling_input_gives_the_same_run() {
    let scratch = with_guest("trickle");
    let words = ["run", "--stats", "--", "./guest", "echo"];
    let at_once = scratch.whydunit_with_input(&words, b"one two three");
    let mut child = scratch
        .command(&words)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for piece in ["one ", "two ", "three"] {
        input.write_all(piece.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    drop(input);
    let slowly = common::ran(child.wait_with_output().unwrap());
    assert_eq!(deterministic(&slowly.stderr), deterministic(&at_once.stderr));
}

/// The statistics without the speed.
fn deterministic(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("instructions per second")).collect()
}

#[test]
fn statistics_have_their_lines_and_repeat_themselves() {
    let scratch = with_guest("stats");
    let words = ["run", "--stats", "--", "./guest", "print"];
    let first = scratch.whydunit(&words);
    let names: Vec<&str> =
        first.stderr.lines().skip(1).filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    assert_eq!(names, ["instructions", "blocks", "pages", "state", "instructions per second"]);
    for _ in 0..3 {
        assert_eq!(deterministic(&scratch.whydunit(&words).stderr), deterministic(&first.stderr));
    }
}

#[test]
fn the_streams_are_a_terminal_only_when_asked() {
    let scratch = with_guest("terminal");
    assert_eq!(scratch.whydunit(&["run", "--", "./guest", "tty"]).status, 10);
    assert_eq!(scratch.whydunit(&["run", "--terminal", "--", "./guest", "tty"]).status, 13);
}

#[test]
fn endless_output_ends_at_its_limit() {
    let scratch = with_guest("output");
    let ran = scratch.whydunit(&["run", "--max-output", "10K", "--", "./guest", "yes"]);
    assert_eq!((ran.status, ran.stdout.len()), (125, 10240));
    assert!(
        ran.stderr.starts_with(
            "whydunit: stopped: ./guest wrote more than 10 KiB; raise the limit with --max-output\n"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_reader_that_goes_away_ends_the_run_as_natively() {
    let scratch = with_guest("pipe");
    let mut child = scratch
        .command(&["run", "--", "./guest", "yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    drop(output);
    let ran = common::ran(child.wait_with_output().unwrap());
    assert_eq!((line.as_str(), ran.status, ran.stderr.as_str()), ("yes\n", 141, ""));
}

#[test]
fn changed_files_stay_in_the_sandbox_unless_written_back() {
    let scratch = with_guest("files");
    scratch.write("kept.txt", "kept\n");
    scratch.write("gone.txt", "gone\n");
    let before = listing(&scratch);
    let ran = scratch.whydunit(&["run", "--", "./guest", "files"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_eq!(listing(&scratch), before);

    let ran = scratch.whydunit(&["run", "--write-back", "out", "--", "./guest", "files"]);
    let gone = scratch.path().join("gone.txt");
    assert_eq!(
        ran.stderr,
        format!("whydunit: the program removed {}; --write-back removes nothing\n", gone.display())
    );
    assert_eq!(ran.status, 0);
    let out = scratch.path().join("out").join(scratch.path().strip_prefix("/").unwrap());
    assert_eq!(std::fs::read_to_string(out.join("kept.txt")).unwrap(), "kept\nmore\n");
    assert_eq!(std::fs::read_to_string(out.join("directory/moved.txt")).unwrap(), "made\n");
    assert_eq!(std::fs::read_link(out.join("link")).unwrap(), std::path::Path::new("/etc/passwd"));
    assert!(!out.join("made.txt").exists() && !out.join("gone.txt").exists());
    std::fs::remove_dir_all(scratch.path().join("out")).unwrap();
    assert_eq!(listing(&scratch), before);
}

fn listing(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap());
    let mut found: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}
