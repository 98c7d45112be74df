//! Statements of programs that are written to have every form of them, by several compilers and in several
//! shapes of debug information. `BLESS=1` rewrites the expected tables in `golden`.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Scratch, line_of, open, run};
use program::{Clause, Part, PlacedStmt, Program, SourceMap, Stmt, Warning};

const LOOPS: &str = include_str!("statements/loops.c");
const MACROS: &str = include_str!("statements/macros.c");
const FORMS: &str = include_str!("statements/forms.c");
const TABLES: &str = include_str!("statements/tables.c");
const CLASSES: &str = include_str!("statements/classes.cc");
const RUST: &str = include_str!("statements/rust.rs");

/// One line for each statement: where, what kind, and its text.
fn describe(program: &Program, stmt: &Stmt) -> String {
    let span = program.span_of(stmt);
    let mut place = format!("{}", stmt.line);
    if let Some(column) = stmt.column() {
        place.push_str(&format!(":{column}"));
    }
    if span != (stmt.line..=stmt.line) {
        place.push_str(&format!(" ({}-{})", span.start(), span.end()));
    }
    let kind = match &stmt.part {
        Part::Line => String::new(),
        Part::Clause { clause: Some(Clause::Initialiser), .. } => "initialiser".into(),
        Part::Clause { clause: Some(Clause::Condition), .. } => "condition".into(),
        Part::Clause { clause: Some(Clause::Step), .. } => "step".into(),
        Part::Clause { clause: None, .. } => "column".into(),
        Part::Initialiser { variable, element } => format!("{variable}{element}"),
    };
    let text = program.text_of(stmt).unwrap_or_else(|| "?".into());
    format!("{place:<14} {kind:<24} {text}").trim_end().to_owned()
}

/// The statements of functions, without addresses; inlined ones and those of headers with their function.
fn table(program: &Program, functions: &[&str]) -> String {
    let mut text = String::new();
    for name in functions {
        let address = program.find_symbol(name).unwrap_or_else(|error| panic!("{error}")).address;
        let _ = writeln!(text, "{name}");
        let found = program.statements_of(address);
        let own = found.first().and_then(|placed| placed.stmt.function.clone());
        for PlacedStmt { stmt, .. } in &found {
            let inlined = if stmt.function == own {
                String::new()
            } else {
                format!("  (inlined {})", stmt.function.as_deref().unwrap_or("?"))
            };
            if !stmt.file.starts_with("/usr/") && !stmt.file.starts_with("/rustc/") {
                let _ = writeln!(text, "  {}{inlined}", describe(program, stmt));
            }
        }
    }
    text
}

fn data_table(program: &Program, variables: &[&str]) -> String {
    let mut text = String::new();
    for name in variables {
        let address = program.find_symbol(name).unwrap_or_else(|error| panic!("{error}")).address;
        let _ = writeln!(text, "{name}");
        for PlacedStmt { stmt, ranges } in program.statements_of_variable(address) {
            let bytes: Vec<String> = ranges
                .iter()
                .map(|range| format!("{}..{}", range.start - address, range.end - address))
                .collect();
            let _ = writeln!(text, "  {:<8} {}", bytes.join(" "), describe(program, &stmt));
        }
    }
    text
}

fn is_as_expected(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, table).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (found, expected)) in table.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{name}, line {}", line + 1);
    }
    assert_eq!(table.lines().count(), expected.lines().count(), "{name}");
}

const SHAPES: [&[&str]; 6] = [
    &["-gdwarf-5"],
    &["-gdwarf-4"],
    &["-gdwarf-5", "-fdebug-types-section"],
    &["-gdwarf-4", "-fdebug-types-section"],
    &["-gdwarf-5", "-gz=zlib"],
    &["-gdwarf-4", "-gz=zlib", "-no-pie"],
];

/// The table of a C file is the same whatever the shape of the debug information.
fn functions_are_as_expected(name: &str, source: &str, functions: &[&str]) {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new(&format!("statements-{name}-{compiler}"));
        for shape in SHAPES {
            let options = [&["-g", "-O0", "-w"], shape].concat();
            let program = open(&scratch.compile(compiler, &format!("{name}.c"), source, &options));
            is_as_expected(&format!("{name}.{compiler}"), &table(&program, functions));
            assert_eq!(program.warnings(), [], "{compiler} {shape:?}");
        }
    }
}

const LOOP_FUNCTIONS: [&str; 6] = ["plain", "one_line", "several_lines", "empty_clauses", "nested", "others"];
const FORM_FUNCTIONS: [&str; 5] = ["calls", "choices", "declarations", "conditional_text", "main"];

#[test]
fn clauses_of_loops_are_statements() {
    functions_are_as_expected("loops", LOOPS, &LOOP_FUNCTIONS);
}

#[test]
fn code_of_macros_belongs_to_the_line_that_uses_them() {
    functions_are_as_expected("macros", MACROS, &["seven", "values", "conditions"]);
}

#[test]
fn statements_of_every_form_have_their_lines_and_texts() {
    functions_are_as_expected("forms", FORMS, &FORM_FUNCTIONS);
}

const VARIABLES: [&str; 26] = [
    "scalar",
    "never",
    "zero",
    "first",
    "second",
    "third",
    "list",
    "without_braces",
    "with_braces",
    "table",
    "names",
    "prices",
    "twice_given",
    "message",
    "letters",
    "ranges",
    "numbers",
    "bits",
    "tagged",
    "nested",
    "packets",
    "rows",
    "pairs",
    "chosen",
    "calls",
    "words",
];

#[test]
fn elements_of_tables_are_statements() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new(&format!("statements-tables-{compiler}"));
        for shape in SHAPES {
            let options = [&["-g", "-O0"], shape].concat();
            let program = open(&scratch.compile(compiler, "tables.c", TABLES, &options));
            // The compilers have names of their own for what is static in a function.
            let local = |name: &str| {
                if compiler == "gcc" {
                    format!("{name}.{}", u8::from(name == "calls"))
                } else {
                    format!("counter.{name}")
                }
            };
            let names: Vec<String> = VARIABLES
                .iter()
                .map(|name| if matches!(*name, "calls" | "words") { local(name) } else { (*name).to_owned() })
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let table = data_table(&program, &names)
                .replace(&local("calls"), "calls")
                .replace(&local("words"), "words");
            is_as_expected("tables", &table);
            assert_eq!(program.warnings(), [], "{compiler} {shape:?}");
        }
    }
}

#[test]
fn every_byte_of_a_table_leads_to_its_element() {
    let scratch = Scratch::new("statements-bytes");
    let program = open(&scratch.compile("gcc", "tables.c", TABLES, &["-g"]));
    for name in VARIABLES.iter().filter(|name| !matches!(**name, "calls" | "words")) {
        let address = program.find_symbol(name).unwrap().address;
        for PlacedStmt { stmt, ranges } in program.statements_of_variable(address) {
            for byte in ranges.iter().cloned().flatten() {
                assert_eq!(program.statement_of_data(byte).as_ref(), Some(&stmt), "{name}");
            }
        }
    }
    let address = program.find_symbol("never").unwrap().address;
    assert_eq!(program.statement_of_data(address), None, "nobody initialises it");
    let main = program.find_symbol("main").unwrap().address;
    assert_eq!(program.statement_of_data(main), None, "code is no variable");
}

#[test]
fn without_the_source_a_table_is_at_its_declaration() {
    let scratch = Scratch::new("statements-no-source");
    let program = scratch.compile("gcc", "tables.c", TABLES, &["-g"]);
    std::fs::remove_file(scratch.path().join("tables.c")).unwrap();
    let program = open(&program);
    let address = program.find_symbol("table").unwrap().address;
    let stmt = program.statement_of_data(address + 32 + 12).unwrap();
    assert_eq!(stmt.line, line_of(TABLES, "struct entry table[]"));
    let (variable, element) = ("table".into(), "[1].at.x".into());
    assert_eq!(stmt.part, Part::Initialiser { variable, element });
    assert_eq!((program.text_of(&stmt), program.span_of(&stmt)), (None, stmt.line..=stmt.line));
    let zero = program.find_symbol("zero").unwrap().address;
    assert_eq!(program.statement_of_data(zero), None, "nothing says that it has an initialiser");
}

/// The optimiser moves code about, but makes no new statements.
#[test]
fn optimised_code_has_statements_of_the_same_lines() {
    let macros = ["values", "conditions"];
    for (name, source, functions, also) in [
        ("loops", LOOPS, &LOOP_FUNCTIONS[..], "main"),
        ("forms", FORMS, &FORM_FUNCTIONS, "twice"),
        ("macros", MACROS, &macros, "main"),
    ] {
        for compiler in ["gcc", "clang"] {
            let scratch = Scratch::new(&format!("statements-fast-{name}-{compiler}"));
            let compile =
                |level| open(&scratch.compile(compiler, &format!("{name}.c"), source, &["-g", "-w", level]));
            let (plain, fast) = (compile("-O0"), compile("-O1"));
            let key = |stmt: Stmt| (stmt.function, stmt.line, stmt.part);
            let all = functions.iter().chain([&also]).flat_map(|function| statements(&plain, function));
            let known: BTreeSet<_> = all.map(key).collect();
            for function in functions {
                let found = statements(&fast, function);
                assert!(!found.is_empty(), "{name} {compiler} {function}");
                let new: Vec<_> =
                    found.into_iter().filter(|stmt| !known.contains(&key(stmt.clone()))).collect();
                let texts: Vec<_> = new.iter().map(|stmt| describe(&fast, stmt)).collect();
                assert!(new.is_empty(), "{name} {compiler} {function}: {texts:#?}");
            }
        }
    }
}

fn statements(program: &Program, function: &str) -> Vec<Stmt> {
    let address = program.find_symbol(function).unwrap().address;
    program.statements_of(address).into_iter().map(|placed| placed.stmt).collect()
}

#[test]
fn every_address_belongs_to_the_statement_that_claims_it() {
    for (compiler, level) in [("gcc", "-O0"), ("clang", "-O0"), ("gcc", "-O2"), ("clang", "-O2")] {
        let scratch = Scratch::new(&format!("statements-claims-{compiler}{level}"));
        let program = open(&scratch.compile(compiler, "forms.c", FORMS, &["-g", "-w", level]));
        for function in FORM_FUNCTIONS {
            let symbol = program.find_symbol(function).unwrap();
            let found = program.statements_of(symbol.address);
            let mut claimed = BTreeSet::new();
            for PlacedStmt { stmt, ranges } in &found {
                assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
                for address in ranges.iter().cloned().flatten() {
                    assert_eq!(program.statement_at(address).as_ref(), Some(stmt));
                    assert!(claimed.insert(address), "two statements claim {address:#x}");
                }
            }
            let unclaimed =
                (symbol.address..symbol.address + symbol.size).filter(|address| !claimed.contains(address));
            for address in unclaimed {
                assert_eq!(program.statement_at(address), None);
                assert!(program.locate(address).position().is_none(), "{compiler} {level} {address:#x}");
            }
        }
    }
}

#[test]
fn inlined_code_is_the_called_functions_with_the_calls_around_it() {
    let source = "static inline void innermost(volatile int *p) {\n    *p = 1; *p = 2;\n}\n\
                  static inline void inner(volatile int *p) {\n    for (innermost(p); *p < 3; ) *p += 1;\n}\n\
                  void outer(volatile int *p) {\n    inner(\n        p);\n}\n\
                  int main(void) { volatile int i = 0; outer(&i); return i; }\n";
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new(&format!("statements-inlined-{compiler}"));
        let program = open(&scratch.compile(compiler, "inlined.c", source, &["-g", "-O2"]));
        let found = program.statements_of(program.find_symbol("outer").unwrap().address);
        let functions: Vec<_> = found.iter().map(|placed| placed.stmt.function.as_deref().unwrap()).collect();
        assert!(functions.contains(&"inner") && functions.contains(&"innermost"), "{functions:?}");
        let innermost =
            found.iter().find(|placed| placed.stmt.function.as_deref() == Some("innermost")).unwrap();
        let chain = program.statements_at(innermost.ranges[0].start);
        assert_eq!(chain[0], innermost.stmt);
        let functions: Vec<_> = chain.iter().map(|stmt| stmt.function.as_deref().unwrap()).collect();
        assert_eq!(functions, ["innermost", "inner", "outer"]);
        let texts: Vec<_> = chain.iter().map(|stmt| program.text_of(stmt).unwrap()).collect();
        assert_eq!(texts, ["*p = 1; *p = 2;", "innermost(p)", "inner(p);"]);
    }
}

#[test]
fn cpp_has_statements() {
    for compiler in ["g++", "clang++"] {
        let scratch = Scratch::new(&format!("statements-{compiler}"));
        for shape in SHAPES {
            let options = [&["-g", "-O0"], shape].concat();
            let program = open(&scratch.compile(compiler, "classes.cc", CLASSES, &options));
            let functions = [
                "Square::Square(int)",
                "Square::area() const",
                "int larger<int>(int, int)",
                "total(std::vector<int, std::allocator<int> >&)",
                "main",
            ];
            let text = table(&program, &functions) + &data_table(&program, &["weights"]);
            is_as_expected(&format!("classes.{compiler}"), &text);
        }
    }
}

#[test]
fn rust_has_statements() {
    let scratch = Scratch::new("statements-rust");
    let program = open(&scratch.compile("rustc", "rust.rs", RUST, &["-g", "--edition=2024"]));
    is_as_expected("rust", &table(&program, &["rust::total", "rust::choose", "rust::main"]));
    let total = program.find_symbol("rust::total").unwrap().address;
    let files: BTreeSet<_> = statements(&program, "rust::total").into_iter().map(|stmt| stmt.file).collect();
    assert!(files.iter().all(|file| file.ends_with("/rust.rs") || file.starts_with("/rustc/")), "{files:?}");
    assert!(program.statement_at(total).is_some());
}

#[test]
fn separate_debug_files_give_the_same_statements() {
    let scratch = Scratch::new("statements-separate");
    let whole = scratch.compile("gcc", "loops.c", LOOPS, &["-g", "-O0", "-w"]);
    let program = open(&whole);
    let addresses = LOOP_FUNCTIONS.map(|name| program.find_symbol(name).unwrap().address);
    let (debug, stripped) = (scratch.path().join("loops.debug"), scratch.path().join("loops"));
    run(Command::new("objcopy")
        .args(["--only-keep-debug", "--compress-debug-sections"])
        .arg(&whole)
        .arg(&debug));
    let link = format!("--add-gnu-debuglink={}", debug.display());
    run(Command::new("objcopy").arg("--strip-all").arg(link).arg(&whole).arg(&stripped));
    let separate = open(&stripped);
    for address in addresses {
        let of = |program: &Program| -> Vec<String> {
            program
                .statements_of(address)
                .iter()
                .map(|placed| format!("{:?} {}", placed.ranges, describe(program, &placed.stmt)))
                .collect()
        };
        assert!(of(&program).len() > 3);
        assert_eq!(of(&separate), of(&program));
    }
}

/// What is there when the program and its source are moved.
fn moved(name: &str) -> (Scratch, PathBuf, PathBuf) {
    let scratch = Scratch::new(name);
    let program = scratch.compile("gcc", "loops.c", LOOPS, &["-g", "-O0", "-w"]);
    let elsewhere = scratch.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::rename(scratch.path().join("loops.c"), elsewhere.join("loops.c")).unwrap();
    (scratch, program, elsewhere)
}

#[test]
fn sources_that_moved_are_found_by_the_source_map() {
    let (scratch, path, elsewhere) = moved("statements-moved");
    let mut map = SourceMap::default();
    map.add(&format!("{}={}", scratch.path().display(), elsewhere.display())).unwrap();
    let program = open(&path).with_source_map(map);
    is_as_expected("loops.gcc", &table(&program, &LOOP_FUNCTIONS));
    assert_eq!(program.warnings(), []);
}

#[test]
fn sources_that_are_missing_are_told_once_and_clauses_known_by_column() {
    let (scratch, path, _) = moved("statements-missing");
    let program = open(&path);
    let found = statements(&program, "plain");
    let at = |line: u32| -> Vec<&Part> {
        found.iter().filter(|stmt| stmt.line == line).map(|stmt| &stmt.part).collect()
    };
    let first = line_of(LOOPS, "for (int i = 0; i < n; i++)");
    let columns: Vec<_> = at(first).iter().map(|part| (*part).clone()).collect();
    assert_eq!(columns, [5, 14, 23, 29].map(|column| Part::Clause { column, clause: None }));
    assert_eq!(at(first + 1), [&Part::Line]);
    let _ = statements(&program, "nested");
    let file = scratch.path().join("loops.c").display().to_string();
    let warnings = program.warnings();
    let [Warning::SourceMissing { looked_at, reason, .. }] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!((looked_at, reason.as_str()), (&file, "no such file or directory"));
    let text = warnings[0].to_string();
    assert!(text.contains(&file) && text.contains("--source-map OLD=NEW"), "{text}");
}

#[test]
fn a_source_that_is_newer_than_its_program_is_told() {
    let scratch = Scratch::new("statements-newer");
    let path = scratch.compile("gcc", "loops.c", LOOPS, &["-g", "-O0", "-w"]);
    let source = std::fs::File::options().append(true).open(scratch.path().join("loops.c")).unwrap();
    let built = std::fs::metadata(&path).unwrap().modified().unwrap();
    let warnings_at = |modified| {
        source.set_modified(modified).unwrap();
        let program = open(&path);
        let _ = statements(&program, "plain");
        let _ = statements(&program, "nested");
        program.warnings()
    };
    assert_eq!(warnings_at(built), []);
    let warnings = warnings_at(built + std::time::Duration::from_secs(1));
    let [Warning::SourceNewer { file, object }] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(&**object, path.to_str().unwrap());
    assert!(warnings[0].to_string().starts_with(&format!("{file} was changed after {object} was built")));
}

#[test]
fn a_program_without_debug_information_says_how_to_get_more() {
    let scratch = Scratch::new("statements-bare");
    let program = open(&scratch.compile("gcc", "loops.c", LOOPS, &["-g0", "-w"]));
    let main = program.find_symbol("main").unwrap().address;
    assert_eq!((program.statement_at(main), program.statements_of(main)), (None, vec![]));
    assert_eq!(program.statement_of_data(main), None);
    let warnings = program.warnings();
    assert!(matches!(&warnings[..], [Warning::NoDebugInfo { .. }]), "{warnings:?}");
    let text = warnings[0].to_string();
    assert!(
        text.contains("build it with -g") && text.contains("-dbgsym") && text.contains("debuginfod"),
        "{text}"
    );
}

#[test]
fn a_source_in_another_encoding_and_with_other_line_breaks_is_read() {
    let scratch = Scratch::new("statements-encoding");
    let source = LOOPS.replace("/* to the", "/* \u{e4} to the").replace('\n', "\r\n");
    let latin: Vec<u8> = source.chars().map(|character| character as u8).collect();
    let from = scratch.path().join("loops.c");
    std::fs::write(&from, latin).unwrap();
    let to = scratch.path().join("loops.out");
    run(Command::new("gcc").args(["-g", "-O0", "-w", "-o"]).arg(&to).arg(&from));
    is_as_expected("loops.gcc", &table(&open(&to), &LOOP_FUNCTIONS));
}

/// Written to the place of the source after the program was built: whatever is there is somebody's text.
#[test]
fn a_source_that_is_made_to_be_hard_gives_less_but_does_no_harm() {
    let scratch = Scratch::new("statements-hard");
    let path = scratch.compile("gcc", "tables.c", TABLES, &["-g"]);
    let line = line_of(TABLES, "int list[]") as usize;
    let before = "\n".repeat(line - 1);
    let braces = format!("{before}int list[] = {}1{};", "{".repeat(5_000), "}".repeat(5_000));
    let declarators = format!("{before}int {}list{} = 1;", "(*".repeat(5_000), ")".repeat(5_000));
    let designators = format!("{before}int list[] = {{ {} = 1 }};", "[0]".repeat(5_000));
    let huge = format!(
        "{before}int list[] = {{ [18446744073709551615] = 1, [0 ... 18446744073709551615] = 2, 3 }};"
    );
    for text in [braces, declarators, designators, huge, String::new(), "\0".repeat(1_000)] {
        std::fs::write(scratch.path().join("tables.c"), text).unwrap();
        let program = open(&path);
        for name in ["list", "main", "table"] {
            let address = program.find_symbol(name).unwrap().address;
            let found =
                program.statements_of(address).into_iter().chain(program.statements_of_variable(address));
            for PlacedStmt { stmt, .. } in found.collect::<Vec<_>>() {
                let _ = describe(&program, &stmt);
            }
        }
        let address = program.find_symbol("list").unwrap().address;
        assert_eq!(program.statement_of_data(address).map(|stmt| stmt.line as usize), Some(line));
    }
}
