//! `whydunit dump index`, `dump align`, `dump trace` and `dump coverage`.

mod common;

use common::Scratch;

const SUM_LIST: &str = include_str!("../../../examples/sum_list/sum_list.c");

fn both(scratch: &Scratch) {
    scratch.write("sum_list.c", SUM_LIST);
    for (name, options) in [("failing", &["-DFAULT"][..]), ("reference", &[])] {
        let output = std::process::Command::new("gcc")
            .current_dir(scratch.path())
            .args(["-g", "-O0", "-o", name, "sum_list.c"])
            .args(options)
            .output()
            .unwrap();
        assert!(output.status.success());
    }
}

/// What kind of line, and the place.
fn lines(text: &str) -> Vec<(char, String)> {
    let place = |line: &str| line.get(29..).unwrap_or_default().to_owned();
    text.lines().map(|line| (line.chars().next().unwrap(), place(line))).collect()
}

#[test]
fn two_builds_are_aligned_statement_by_statement() {
    let scratch = Scratch::new("dump-align");
    both(&scratch);
    let ran = scratch.whydunit(&["dump", "align", "--", "./failing", "---", "./reference"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines = lines(&ran.stdout);
    let alone: Vec<_> = lines.iter().filter(|(kind, _)| *kind != '=').collect();
    let at_20 = || "sum_list.c:20 in main".to_owned();
    assert_eq!(alone, [&('<', at_20()), &('>', at_20())], "{}", ran.stdout);
    let changed = "sum_list.c:15 in main | sum_list.c:17 in main";
    assert_eq!(lines.iter().filter(|(_, place)| place == changed).count(), 2, "{}", ran.stdout);
    let again = scratch.whydunit(&["dump", "align", "--", "./failing", "---", "./reference"]);
    assert_eq!(again.stdout, ran.stdout);
    // A run and itself.
    let same = scratch.whydunit(&["dump", "align", "--", "./failing", "---", "./failing"]);
    assert!(same.stdout.lines().count() > 10 && same.stdout.lines().all(|line| line.starts_with('=')));
    let ran = scratch.whydunit(&["dump", "align", "--", "./failing"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("a second command is needed, after ---"), "{}", ran.stderr);
}

#[test]
fn an_instant_has_an_index_and_a_trace_tells_what_ran() {
    let scratch = Scratch::new("dump-index");
    both(&scratch);
    let ran = scratch.whydunit(&["dump", "align", "--", "./failing", "---", "./reference"]);
    let alone = ran.stdout.lines().find(|line| line.starts_with('<')).unwrap();
    let time = alone.split_whitespace().nth(1).unwrap();
    let ran = scratch.whydunit(&["dump", "index", "--at", time, "--", "./failing"]);
    assert_eq!(ran.stdout, "main · 12 true · 19 true · 20\n", "{ran:?}");
    let to = (time.parse::<u64>().unwrap() + 2).to_string();
    let ran = scratch.whydunit(&["dump", "trace", "--from", time, "--to", &to, "--", "./failing"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "sum_list.c:20 in main", "{ran:?}");
    assert!(
        lines[1].trim_start().starts_with(time) && lines[1].contains("mov rax, [rbp-8]  read 0x"),
        "{ran:?}"
    );
    assert!(lines[2].ends_with(" 8") && lines.len() == 3, "{ran:?}");
    let ran = scratch.whydunit(&["dump", "index", "--at", "1G", "--", "./failing"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("there is no instruction 1000000000: the run has "), "{}", ran.stderr);
}

#[test]
fn input_that_is_read_is_the_same_in_each_run() {
    let scratch = Scratch::new("dump-input");
    let source = "#include <stdio.h>\nint main(void) {\n  int c, n = 0;\n  while ((c = getchar()) != EOF)\n    n += c;\n  return n & 1;\n}\n";
    scratch.compile("reads", source, &[]);
    let ran = scratch.whydunit_with_input(&["dump", "index", "--at", "end", "--", "./reads"], b"abc");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "start\n"), "{ran:?}");
    let ran = scratch.whydunit_with_input(&["dump", "trace", "--", "./reads"], b"abc");
    assert_eq!(ran.stdout.lines().filter(|line| *line == "reads.c:5 in main").count(), 3);
    let ran = scratch.whydunit_with_input(&["dump", "align", "--", "./reads", "---", "./reads"], b"abc");
    assert_eq!(ran.stdout.lines().filter(|line| line.ends_with("reads.c:5 in main")).count(), 3);
    assert!(ran.stdout.lines().all(|line| line.starts_with('=')), "{}", ran.stdout);
}

#[test]
fn coverage_counts_the_instances_of_each_statement_that_ran() {
    let scratch = Scratch::new("dump-coverage");
    scratch.compile(
        "rounds",
        "int twice(int a)\n{\n    return a + a;\n}\nint main(void)\n{\n    int sum = 0;\n    for (int i = 0; i < 3; i++)\n        sum += twice(i);\n    if (sum > 100)\n        sum = 0;\n    return sum;\n}\n",
        &[],
    );
    let ran = scratch.whydunit(&["dump", "coverage", "--", "./rounds"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let count = |line: u32| -> Vec<u64> {
        let place = format!("rounds.c:{line} in ");
        let lines = ran.stdout.lines().filter(|text| text.contains(&place));
        lines.filter_map(|text| text.split_whitespace().next()?.parse().ok()).collect()
    };
    assert_eq!((count(3), count(9), count(10)), (vec![3], vec![3], vec![1]), "{}", ran.stdout);
    // The clauses of a `for` are statements of their own.
    let mut clauses = count(8);
    clauses.sort_unstable();
    assert_eq!(clauses, [1, 3, 4], "{}", ran.stdout);
    assert_eq!(count(11), [], "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|text| text.contains("rounds.c:")), "{}", ran.stdout);
}
