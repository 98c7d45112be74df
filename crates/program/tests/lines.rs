//! From a line of the source to its code.

mod common;

use common::{Scratch, line_of, open};
use program::{LineError, Program};

const SOURCE: &str = r#"#include <stdio.h>

static inline __attribute__((always_inline)) int twice(int x) {
    return x + x; /* inlined */
}

int sum(int n) {
    int total = 0;
    for (int i = 0; i < n; i++)
        total += twice(i);
    while (n > 0) n--; /* one line */
    return total
        + n;
}

int main(void) {
    printf("%d %d\n", sum(3), twice(4));
    return 0;
}
"#;

fn compiled(scratch: &Scratch) -> Program {
    open(&scratch.compile("gcc", "lines.c", SOURCE, &["-g", "-O0"]))
}

#[test]
fn a_line_leads_to_its_statements_and_their_copies() {
    let scratch = Scratch::new("lines");
    let program = compiled(&scratch);
    let inlined = program.find_line("lines.c", line_of(SOURCE, "/* inlined */")).unwrap();
    let function = |address: &u64| program.locate(*address).function.unwrap().name;
    let around: Vec<String> = inlined.starts.iter().map(function).collect();
    assert!(around.contains(&"sum".to_owned()) && around.contains(&"main".to_owned()), "{around:?}");
    assert_eq!(inlined.statements.len(), 1);
    assert_eq!(inlined.statements[0].stmt.function.as_deref(), Some("twice"));
    let loop_line = program.find_line("lines.c", line_of(SOURCE, "for (int i")).unwrap();
    assert_eq!(loop_line.statements.len(), 3, "{loop_line:?}");
}

#[test]
fn a_file_compiled_by_a_path_with_dots_is_known_without_them() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new(&format!("dots-{compiler}"));
        let source = scratch.compile(compiler, "lines.c", SOURCE, &["-g"]).with_file_name("lines.c");
        let built = source.with_file_name("again");
        let mut command = std::process::Command::new(compiler);
        command.current_dir(source.parent().unwrap()).args(["-g", "-o", "again", "././lines.c"]);
        assert!(command.status().unwrap().success());
        let program = open(&built);
        let found = program.find_line("lines.c", line_of(SOURCE, "/* one line */")).unwrap();
        let statement = &found.statements[0].stmt;
        assert_eq!(Some(&*statement.file), source.to_str());
        let position = program.locate(found.starts[0]).position().cloned();
        assert_eq!(position.map(|position| position.file).as_ref(), Some(&statement.file));
    }
}

#[test]
fn a_loop_within_one_line_begins_again_each_time() {
    let scratch = Scratch::new("one-line-loop");
    let program = compiled(&scratch);
    let found = program.find_line("lines.c", line_of(SOURCE, "/* one line */")).unwrap();
    assert!(found.starts.len() > 1, "{found:?}");
}

#[test]
fn a_later_line_of_a_statement_leads_to_it() {
    let scratch = Scratch::new("later-line");
    let program = compiled(&scratch);
    let found = program.find_line("lines.c", line_of(SOURCE, "+ n;")).unwrap();
    assert!(found.statements.iter().all(|placed| placed.stmt.function.as_deref() == Some("sum")));
}

#[test]
fn what_is_not_there_is_told_with_what_is_near() {
    let scratch = Scratch::new("wrong-lines");
    let program = compiled(&scratch);
    let error = program.find_line("lines.c", 900).unwrap_err().to_string();
    assert!(error.ends_with("lines.c has no line 900; it has 19 lines"), "{error}");
    assert!(matches!(program.find_line("lines.c", 0), Err(LineError::NoLine { .. })));
    let error = program.find_line("lines.c", 15).unwrap_err().to_string();
    assert!(
        error.contains("line 15 of") && error.ends_with("the nearest lines that have some are 14 and 16"),
        "{error}"
    );
    let error = program.find_line("line.c", 3).unwrap_err().to_string();
    assert_eq!(error, "no code of the program comes from a file line.c; did you mean `lines.c`?");
    assert!(matches!(program.find_line("nes.c", 3), Err(LineError::NoFile { .. })));
}

#[test]
fn a_file_is_known_by_as_much_of_its_path_as_tells_it_apart() {
    let scratch = Scratch::new("same-names");
    for directory in ["a", "b"] {
        std::fs::create_dir_all(scratch.path().join(directory)).unwrap();
    }
    std::fs::write(scratch.path().join("a/part.c"), "int first(void) { return 1; }\n").unwrap();
    std::fs::write(scratch.path().join("b/part.c"), "int second(void) { return 2; }\n").unwrap();
    let parts = [scratch.path().join("a/part.c"), scratch.path().join("b/part.c")];
    let options = ["-g", parts[0].to_str().unwrap(), parts[1].to_str().unwrap()];
    let program = open(&scratch.compile("gcc", "whole.c", "int main(void) { return 0; }\n", &options));
    assert!(matches!(program.find_line("part.c", 1), Err(LineError::Ambiguous { .. })));
    let found = program.find_line("b/part.c", 1).unwrap();
    assert_eq!(found.statements[0].stmt.function.as_deref(), Some("second"));
}

#[test]
fn without_debug_information_no_line_is_known() {
    let scratch = Scratch::new("no-lines");
    let program = open(&scratch.compile("gcc", "lines.c", SOURCE, &["-s"]));
    assert_eq!(program.find_line("lines.c", 3), Err(LineError::NoDebugInfo));
}
