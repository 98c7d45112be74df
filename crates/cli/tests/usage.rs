//! What is answered to command lines that do not lead to a run.

mod common;

use common::Scratch;
use std::process::Stdio;

#[test]
fn help_tells_every_option_and_the_exit_statuses() {
    let scratch = Scratch::new("help");
    let ran = scratch.whydunit(&["run", "--help"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.contains("Usage: whydunit run [OPTIONS] -- PROGRAM [ARGS]..."), "{}", ran.stdout);
    let options = [
        "--stdin",
        "--env",
        "--max-instructions",
        "--max-memory",
        "--max-output",
        "--stats",
        "--write-back",
        "--uninit",
        "--terminal",
    ];
    for word in options.into_iter().chain(["125", "126", "127", "128+N"]) {
        assert!(ran.stdout.contains(word), "{word}");
    }
    let widest = ran.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(100), "the help text is {widest:?} columns wide");
    let ran = scratch.whydunit(&["--help"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.contains("run ") && ran.stdout.contains("dump "), "{}", ran.stdout);
}

#[test]
fn bad_usage_is_status_2_but_125_under_run() {
    let scratch = Scratch::new("usage");
    for (words, status) in [
        (&[][..], 2),
        (&["walk"], 2),
        (&["dump", "ops", "--", "/bin/true"], 2),
        (&["run"], 125),
        (&["run", "--no-such-option", "--", "/bin/true"], 125),
        (&["run", "--max-memory", "1X", "--", "/bin/true"], 125),
        (&["run", "--env", "NAME", "--", "/bin/true"], 125),
    ] {
        let ran = scratch.whydunit(words);
        assert_eq!(ran.status, status, "{words:?}: {}", ran.stderr);
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty(), "{words:?}");
    }
    let ran = scratch.whydunit(&["run", "--max-memory", "1X", "--", "/bin/true"]);
    assert!(ran.stderr.contains("64K, 512M or 4G"), "{}", ran.stderr);
}

#[test]
fn a_program_that_cannot_be_run_is_told_as_env_does() {
    let scratch = Scratch::new("lookup");
    scratch.write("plain", "not executable");
    for (program, status, message) in [
        ("no-such-program", 127, "no-such-program is not in PATH; give its path, as in ./no-such-program"),
        ("./no-such-program", 127, "./no-such-program: no such file"),
        ("./plain", 126, "./plain is not executable; try chmod +x"),
        ("/tmp", 126, "/tmp is a directory"),
    ] {
        let ran = scratch.whydunit(&["run", "--", program]);
        assert_eq!((ran.status, ran.stderr.trim_end()), (status, format!("whydunit: {message}").as_str()));
    }
}

#[test]
fn a_missing_input_file_is_told() {
    let scratch = Scratch::new("input");
    let ran = scratch.whydunit(&["run", "--stdin", "no-such-file", "--", "/bin/true"]);
    assert_eq!(ran.status, 125);
    assert!(ran.stderr.starts_with("whydunit: no-such-file cannot be read"), "{}", ran.stderr);
}

const SOURCE: &str = "int twice(int a) { return 2 * a; }\nint main(int a, char **b) { return twice(a); }\n";

#[test]
fn dump_ops_prints_instructions_with_their_ops() {
    let scratch = Scratch::new("dump");
    scratch.compile("twice", SOURCE, &["-O1", "-fcf-protection=none"]);
    let ran = scratch.whydunit(&["dump", "ops", "--", "./twice", "twice"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("0x") && lines[0].ends_with("lea eax, [rdi+rdi]"), "{}", ran.stdout);
    assert_eq!(lines[1], "    rax = lea.32 [rdi + rdi*1]");
    assert!(lines[2].ends_with("ret"));

    // The same by an address within the function.
    let address = lines[2].split_whitespace().next().unwrap();
    assert_eq!(scratch.whydunit(&["dump", "ops", "--", "./twice", address]).stdout, ran.stdout);
}

#[test]
fn dump_types_prints_variables_with_their_places_and_types() {
    let scratch = Scratch::new("dump-types");
    let source = "struct pair { int left, right; };\n\
                  int sum(struct pair *pair) { static int calls; int all = pair->left; calls++; return all; }\n\
                  int main(void) { struct pair pair = {1, 2}; return sum(&pair); }\n";
    scratch.compile("sum", source, &["-g", "-O0", "-no-pie"]);
    let ran = scratch.whydunit(&["dump", "types", "--", "./sum", "sum"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("function 0x401"), "{}", ran.stdout);
    assert_eq!(lines[1], "  parameter struct pair *pair: frame base - 40");
    assert!(lines[2].starts_with("  static int calls: 0x404"), "{}", ran.stdout);
    assert_eq!(lines[3], "  local int all: frame base - 20");
    assert_eq!(lines[4..], ["", "struct pair {", "    int left;", "    int right;", "};"]);

    scratch.compile("bare", source, &["-g0"]);
    let ran = scratch.whydunit(&["dump", "types", "--", "./bare", "sum"]);
    let message = "whydunit: there is no debug information for sum; compile with -g to have some";
    assert_eq!((ran.status, ran.stderr.trim_end()), (1, message));
}

#[test]
fn dump_cfg_prints_a_graph_as_text_and_for_graphviz() {
    let scratch = Scratch::new("dump-cfg");
    let source = "int count(int n) {\n  int sum = 0;\n  while (n > 0)\n    sum += n--;\n  return sum;\n}\n\
                  int main(void) { return count(3); }";
    scratch.compile("count", source, &["-g", "-O0"]);
    let ran = scratch.whydunit(&["dump", "cfg", "--", "./count", "count"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let shape: Vec<&str> = ran.stdout.lines().filter(|line| !line.starts_with("  ")).collect();
    let [function, entry, body, test, end, around] = shape[..] else { panic!("{}", ran.stdout) };
    assert!(function.starts_with("function count at 0x") && function.ends_with(", entry block 0"));
    assert!(entry.starts_with("block 0  0x") && entry.ends_with("count.c:1,2,3"), "{entry}");
    assert!(body.ends_with("count.c:4  loop 0"), "{body}");
    assert!(test.ends_with("count.c:3  loop 0"), "{test}");
    assert!(end.ends_with("count.c:5,6"), "{end}");
    assert_eq!(around, "loop 0: header block 2, back from 1, depth 1");
    assert!(
        ran.stdout.contains("block 1 if taken, else block 3\n  ipdom    block 3\n  depends  block 2 taken\n")
    );

    let dot = scratch.whydunit(&["dump", "cfg", "--format", "dot", "--", "./count", "count"]);
    assert!(dot.stdout.starts_with("digraph cfg {\n") && dot.stdout.ends_with("}\n"), "{}", dot.stdout);
    assert!(dot.stdout.contains("  b2 -> b1 [label=\"taken\"];\n  b2 -> b3;\n"), "{}", dot.stdout);
}

#[test]
fn dump_ops_suggests_close_names_and_says_what_is_no_program() {
    let scratch = Scratch::new("names");
    scratch.compile("twice", SOURCE, &[]);
    for (program, symbol, message) in [
        ("./twice", "twcie", "no symbol is called twcie; close to it: twice"),
        ("./twice.c", "main", "./twice.c is no x86-64 ELF file"),
        ("./twice", "0xzz", "0xzz is no address: invalid digit found in string"),
        ("./nothing", "main", "./nothing was not found"),
    ] {
        let ran = scratch.whydunit(&["dump", "ops", "--", program, symbol]);
        assert_eq!((ran.status, ran.stderr.trim_end()), (1, format!("whydunit: {message}").as_str()));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_complain() {
    let scratch = Scratch::new("pipe");
    let libc = "/lib/x86_64-linux-gnu/libc.so.6";
    let words = ["dump", "ops", "--", libc, "printf"];
    let (reader, writer) = std::io::pipe().unwrap();
    // Gone before the start: a reader that leaves later may leave after all was written.
    drop(reader);
    let ran = common::ran(scratch.command(&words).stdout(writer).stderr(Stdio::piped()).output().unwrap());
    assert_eq!((ran.status, ran.stderr.as_str()), (141, ""));
}
