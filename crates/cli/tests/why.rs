//! `whydunit why` and `whydunit slice` on small programs, each with the answer that it gives. `BLESS=1` rewrites the expected
//! answers in `golden/why`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ran, Scratch, skip};

/// A program, questions about its run, and the file with the answers.
struct Asked<'a> {
    name: &'a str,
    source: PathBuf,
    options: &'a [&'a str],
    /// What stands before the two dashes, and after the program.
    questions: &'a [(&'a [&'a str], &'a [&'a str])],
    input: &'a str,
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).join(format!("{name}.c"))
}

fn program(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/why").join(file)
}

/// Compiles a copy of the source here. `None` when there is no such compiler.
fn compile(scratch: &Scratch, source: &Path, options: &[&str]) -> Option<String> {
    let file = source.file_name().unwrap().to_str().unwrap();
    let (stem, extension) = file.split_once('.').unwrap();
    std::fs::copy(source, scratch.path().join(file)).unwrap();
    let compiler = match extension {
        "cpp" => "g++",
        "rs" => "rustc",
        _ => "gcc",
    };
    let mut command = Command::new(compiler);
    command.current_dir(scratch.path()).args(["-g", "-o", stem, file]).args(options);
    if extension == "c" {
        command.args(["-w", "-lm"]);
    }
    let Ok(output) = command.output() else {
        skip(file, &format!("there is no {compiler}"));
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(format!("./{stem}"))
}

/// Compiles a source where it is, by all of its path, into the scratch folder.
fn compile_there(scratch: &Scratch, source: &Path) -> String {
    let mut command = Command::new("gcc");
    command.current_dir(scratch.path()).args(["-g", "-w", "-o", "there"]).arg(source);
    assert!(command.status().unwrap().success());
    "./there".to_owned()
}

/// Addresses and times depend on the host's environment and libraries.
fn normalised(text: &str) -> String {
    without_times(&without_addresses(text))
}

/// Instants, which are numbers of five digits and more.
fn without_times(text: &str) -> String {
    let mut result = String::new();
    let mut digits = String::new();
    for one in text.chars().chain(['\n']) {
        if one.is_ascii_digit() {
            digits.push(one);
            continue;
        }
        let is_time = digits.len() > 4 && result.ends_with(" at ");
        result.push_str(if is_time { "…" } else { &digits });
        digits.clear();
        result.push(one);
    }
    result.pop();
    result
}

fn without_addresses(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        result.push_str(&rest[..at + 2]);
        let number = &rest[at + 2..at + 2 + digits];
        result.push_str(if digits > 6 { "…" } else { number });
        rest = &rest[at + 2 + digits..];
    }
    result + rest
}

fn ask(asked: &Asked<'_>) {
    let scratch = Scratch::new(asked.name);
    scratch.write("scale.txt", "3\n");
    let Some(program) = compile(&scratch, &asked.source, asked.options) else { return };
    let mut text = String::new();
    for (question, arguments) in asked.questions {
        let words = [*question, &["--", &program], arguments].concat();
        let Ran { status, stdout, stderr } = scratch.whydunit_apart(&words, asked.input.as_bytes());
        let command: Vec<String> = words
            .iter()
            .map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() })
            .collect();
        text.push_str(&format!("$ whydunit {}\n{}{}", command.join(" "), stdout, stderr));
        if status != 0 {
            text.push_str(&format!("(status {status})\n"));
        }
        text.push('\n');
    }
    let text = normalised(&text);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/why/{}.txt", asked.name));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&golden).unwrap_or_default());
}

#[test]
fn the_wrong_area_of_a_triangle_comes_from_a_negated_condition() {
    ask(&Asked {
        name: "triangle",
        source: example("triangle"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "output:0"], &["6", "5", "4"]),
            (&["why", "--at", "triangle.c:35:area"], &["6", "5", "4"]),
            (&["why", "--at", "triangle.c:17"], &["6", "5", "4"]),
            (&["slice", "--at", "output:0"], &["6", "5", "4"]),
        ],
        input: "",
    });
}

#[test]
fn the_two_parts_of_a_slice_are_told_apart() {
    ask(&Asked {
        name: "two_parts",
        source: example("two_parts"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "output:0"], &["2", "1"]),
            (&["slice", "--at", "output:0"], &["2", "1"]),
            (
                &["slice", "--at", "two_parts.c:17:d", "--at", "two_parts.c:12:c", "--kind", "data"],
                &["2", "1"],
            ),
        ],
        input: "",
    });
}

#[test]
fn what_comes_of_something_and_what_lies_between_is_told() {
    let given: &[&str] = &["2", "1"];
    ask(&Asked {
        name: "two_parts_forward",
        source: example("two_parts"),
        options: &["-O0"],
        questions: &[
            (&["slice", "--kind", "forward", "--at", "argument:1"], given),
            (&["slice", "--kind", "forward", "--at", "two_parts.c:16:d"], given),
            (&["slice", "--kind", "forward", "--at", "condition:two_parts.c:17"], given),
            (&["slice", "--kind", "chop", "--from", "two_parts.c:16", "--at", "output:0"], given),
            (&["slice", "--kind", "chop", "--from", "two_parts.c:16:d", "--at", "two_parts.c:15:x"], given),
            (&["slice", "--kind", "bidirectional", "--at", "condition:two_parts.c:12"], given),
            (&["slice", "--at", "condition:two_parts.c:12"], given),
            (&["slice", "--kind", "forward", "--at", "output:0"], given),
            (&["slice", "--kind", "forward", "--at", "argument:3"], given),
            (&["slice", "--kind", "forward", "--at", "input:0"], given),
            (&["slice", "--kind", "forward", "--at", "condition:two_parts.c:11"], given),
            (&["slice", "--kind", "chop", "--at", "output:0"], given),
            (&["slice", "--from", "argument:1", "--at", "output:0"], given),
            (&["slice", "--at", "argument:1"], given),
            (&["why", "--at", "condition:two_parts.c:12"], given),
        ],
        input: "",
    });
}

#[test]
fn a_failed_assertion_leads_to_what_it_compares() {
    ask(&Asked {
        name: "omitted",
        source: example("omitted"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "crash"], &[]),
            (&["slice", "--at", "crash", "--kind", "relevant"], &[]),
        ],
        input: "",
    });
}

#[test]
fn conditions_that_would_have_changed_something_are_told_from_those_that_could_have() {
    ask(&Asked {
        name: "two_deep",
        source: program("two_deep.c"),
        options: &["-O0"],
        questions: &[(&["slice", "--at", "output:0", "--kind", "relevant"], &["1"])],
        input: "",
    });
}

#[test]
fn the_sum_of_a_list_is_followed_through_its_elements() {
    ask(&Asked {
        name: "sum_list",
        source: example("sum_list"),
        options: &["-O0", "-DFAULT"],
        questions: &[(&["why", "--at", "sum_list.c:23:sum"], &[]), (&["why", "--at", "sum_list.c:20"], &[])],
        input: "",
    });
}

#[test]
fn a_null_pointer_is_followed_through_a_field_to_the_call_that_returned_it() {
    ask(&Asked {
        name: "null_field",
        source: program("null_field.c"),
        options: &["-O0"],
        questions: &[(&["why", "--at", "crash"], &["a", "b"])],
        input: "",
    });
}

#[test]
fn a_sum_that_was_not_set_before_the_first_round_is_pointed_out() {
    ask(&Asked {
        name: "unset_sum",
        source: program("unset_sum.c"),
        options: &["-O0"],
        questions: &[(&["why", "--at", "output:0"], &[])],
        input: "",
    });
}

#[test]
fn a_variable_that_nobody_gave_a_value_is_said_to_be_one() {
    ask(&Asked {
        name: "uninitialised",
        source: program("uninitialised.c"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "uninitialised.c:16:percent"], &["20"]),
            (&["why", "--at", "output:0"], &["20"]),
        ],
        input: "",
    });
}

#[test]
fn a_write_that_lands_in_a_neighbour_is_pointed_out() {
    ask(&Asked {
        name: "overflow",
        source: program("overflow.c"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "overflow.c:16:entry.count"], &["aaaaaaaa1234"]),
            (&["why", "--at", "overflow.c:19:entry.count"], &["a", "aaaaaaaa1234"]),
        ],
        input: "",
    });
}

#[test]
fn values_are_followed_to_standard_input_and_to_files() {
    ask(&Asked {
        name: "inputs",
        source: program("inputs.c"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "inputs.c:16:area"], &[]),
            (&["why", "--at", "inputs.c:15:area", "--depth", "1"], &[]),
            (&["why", "--at", "exit", "--depth", "2"], &[]),
            (&["slice", "--kind", "forward", "--at", "input:3"], &[]),
            (&["slice", "--kind", "forward", "--at", "input:99"], &[]),
        ],
        input: "12 7\n",
    });
}

#[test]
fn a_loop_of_many_rounds_is_one_step() {
    ask(&Asked {
        name: "sum_loop",
        source: program("sum_loop.c"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "sum_loop.c:14:sum"], &[]),
            (&["why", "--at", "sum_loop.c:13:sum", "--hit", "3", "--depth", "2"], &[]),
        ],
        input: "",
    });
}

#[test]
fn a_recursion_is_told_once() {
    ask(&Asked {
        name: "recursion",
        source: program("recursion.c"),
        options: &["-O0"],
        questions: &[(&["why", "--at", "recursion.c:19:result"], &["3", "5"])],
        input: "",
    });
}

#[test]
fn methods_of_classes_are_followed() {
    ask(&Asked {
        name: "account",
        source: program("account.cpp"),
        options: &["-O0"],
        questions: &[(&["why", "--at", "account.cpp:27:left"], &[])],
        input: "",
    });
}

#[test]
fn wrong_places_are_answered_helpfully() {
    ask(&Asked {
        name: "wrong_places",
        source: program("sum_loop.c"),
        options: &["-O0"],
        questions: &[
            (&["why", "--at", "sum_loop.c:900"], &[]),
            (&["why", "--at", "sum_loop.c:6"], &[]),
            (&["why", "--at", "sumloop.c:9"], &[]),
            (&["why", "--at", "sum_loop.c:14:summ"], &[]),
            (&["why", "--at", "sum_loop.c:14:sum +"], &[]),
            (&["why", "--at", "sum_loop.c:13:sum", "--hit", "1000"], &[]),
            (&["why", "--at", "sum_loop.c:13:sum", "--hit", "0"], &[]),
            (&["why", "--at", "nonsense"], &[]),
            (&["why", "--at", "output:99"], &[]),
            (&["why", "--at", "crash"], &[]),
            (&["slice", "--at", "stderr:0"], &[]),
        ],
        input: "",
    });
    let scratch = Scratch::new("never");
    let program = compile(&scratch, &example("two_parts"), &["-O0"]).unwrap();
    let ran = scratch.whydunit(&["why", "--at", "two_parts.c:13", "--", &program, "2", "1"]);
    assert_eq!(ran.stderr, "whydunit: line 13 of two_parts.c was never executed\n");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
}

#[test]
fn a_value_of_rust_is_followed_to_its_argument() {
    let scratch = Scratch::new("rust");
    let Some(program) = compile(&scratch, &program("shares.rs"), &[]) else { return };
    let ran = scratch.whydunit(&["why", "--at", "shares.rs:12:share.people", "--", &program, "3"]);
    assert!(ran.stdout.contains("share.people = 3 [1]"), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("from argument 1 \"3\""), "{}", ran.stdout);
    let ran = scratch.whydunit(&["why", "--at", "crash", "--", &program, "0"]);
    assert!(ran.stdout.contains("panicked at shares.rs:12:5"), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("| share.total / share.people"), "{}", ran.stdout);
}

#[test]
fn answers_fit_the_terminal_and_have_no_colours_elsewhere() {
    let scratch = Scratch::new("width");
    let program = compile(&scratch, &example("triangle"), &["-O0"]).unwrap();
    for columns in ["60", "200"] {
        let mut command = scratch.command(&["why", "--at", "output:0", "--", &program, "6", "5", "4"]);
        let ran = common::ran(command.env("COLUMNS", columns).output().unwrap());
        let widest = ran.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{}", ran.stdout);
        assert!(!ran.stdout.contains('\x1b') && ran.stdout.contains("atoi"), "{}", ran.stdout);
    }
}

#[test]
fn files_far_away_are_told_by_their_names() {
    let scratch = Scratch::new("far_away");
    let folder = scratch.path().join("of/many/folders/that/nobody/wants/to/read/in/each/line");
    std::fs::create_dir_all(&folder).unwrap();
    let far = folder.join("sum_loop.c");
    std::fs::copy(program("sum_loop.c"), &far).unwrap();
    let program = compile_there(&scratch, &far);
    let mut command = scratch.command(&["why", "--at", "sum_loop.c:14:sum", "--", &program]);
    let ran = common::ran(command.env("COLUMNS", "100").output().unwrap());
    assert!(ran.stdout.contains("\n [1] sum_loop.c:13 | "), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_text_that_is_asked_about_is_followed_and_not_only_the_pointer_to_it() {
    let scratch = Scratch::new("text");
    let program = compile(&scratch, &program("greeting.c"), &["-O0"]).unwrap();
    let ran = scratch.whydunit(&["why", "--at", "greeting.c:14:text", "--", &program, "you"]);
    assert!(ran.stdout.contains("why is `text` \"hello you\""), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("from argument 1 \"you\""), "{}", ran.stdout);
    let ran = scratch.whydunit(&["why", "--at", "greeting.c:14:*last", "--", &program, "you"]);
    assert!(ran.stdout.contains("*last = 117 'u' [1]"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_index_that_is_counted_on_is_made_of_itself() {
    let scratch = Scratch::new("append");
    let program = compile(&scratch, &program("append.c"), &["-O0"]).unwrap();
    let ran = scratch.whydunit(&["why", "--at", "append.c:19:text.length", "--", &program]);
    let told = "text->length = 3, computed from text->length = 2";
    assert!(ran.stdout.replace('\u{a0}', " ").contains(told), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn what_a_string_routine_reads_beyond_a_text_is_no_origin() {
    let scratch = Scratch::new("neighbours");
    let program = compile(&scratch, &program("neighbours.c"), &["-O0", "-fno-builtin"]).unwrap();
    for value in ["same", "length"] {
        let at = format!("neighbours.c:14:{value}");
        let asked = ["why", "--at", &at, "--env", "AFTER=it", "--", &program, "beta"];
        let ran = scratch.whydunit(&asked);
        assert!(ran.stdout.contains("from argument 1 \"beta\""), "{}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("environment"), "{}", ran.stdout);
    }
}

#[test]
fn a_text_ends_with_its_block_and_fresh_memory_is_said_to_be_that() {
    let scratch = Scratch::new("fresh");
    let program = compile(&scratch, &program("neighbours.c"), &["-O0", "-fno-builtin"]).unwrap();
    let ran = scratch.whydunit(&["why", "--at", "neighbours.c:14:copy", "--", &program, "beta"]);
    let headline = "why is `copy` \"be\" and 4 bytes of fresh memory at neighbours.c:14?";
    assert!(ran.stdout.contains(headline), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("copy = 6 bytes of fresh memory, returned by malloc"), "{}", ran.stdout);
}

#[test]
fn trusted_code_that_did_most_of_the_work_is_named_as_what_to_suspect() {
    let scratch = Scratch::new("helped");
    let folder = scratch.path().join("registry/src/scale");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(program("scale.c"), folder.join("scale.c")).unwrap();
    let library = folder.join("scale.c");
    let program = compile(&scratch, &program("helped.c"), &["-O0", library.to_str().unwrap()]).unwrap();
    let at = ["why", "--at", "helped.c:10:scaled"];
    let ran = scratch.whydunit(&[&at[..], &["--", &program, "3"]].concat());
    let advice = format!("--suspect '{}' tells what that did", folder.display());
    assert!(ran.stdout.contains(&advice), "{}{}", ran.stdout, ran.stderr);
    let suspect = ["--suspect", folder.to_str().unwrap(), "--", &program, "3"];
    let ran = scratch.whydunit(&[&at[..], &suspect].concat());
    assert!(ran.stdout.contains("sum += value * i;") && !ran.stdout.contains("--suspect"), "{}", ran.stdout);
    let trust = ["--trust", folder.to_str().unwrap(), "--", &program, "3"];
    let ran = scratch.whydunit(&[&at[..], &trust].concat());
    assert!(ran.stdout.contains("returned by scale") && !ran.stdout.contains("--suspect"), "{}", ran.stdout);
}

#[test]
fn a_program_that_is_all_trusted_is_named_as_what_to_suspect() {
    let scratch = Scratch::new("all_trusted");
    let folder = scratch.path().join("registry/src/whole");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(program("sum_loop.c"), folder.join("sum_loop.c")).unwrap();
    let program = compile_there(&scratch, &folder.join("sum_loop.c"));
    for at in ["sum_loop.c:14:sum", "output:0"] {
        let ran = scratch.whydunit(&["why", "--at", at, "--", &program]);
        let advice = format!("--suspect '{}' tells what that did", folder.display());
        assert!(ran.stdout.contains(&advice), "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn instances_are_streamed_the_newest_first() {
    let scratch = Scratch::new("instances");
    let program = compile(&scratch, &program("sum_loop.c"), &["-O0"]).unwrap();
    let at = ["slice", "--at", "sum_loop.c:14:sum", "--kind", "data"];
    let ran = scratch.whydunit(&[&at[..], &["--instances", "--", &program]].concat());
    let times: Vec<u64> = ran
        .stdout
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().unwrap().parse().unwrap())
        .collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let additions = ran.stdout.lines().filter(|line| line.contains("sum_loop.c:13  value")).count();
    assert_eq!(additions, 100, "{}", ran.stdout);
    let table = scratch.whydunit(&[&at[..], &["--list", "--", &program]].concat());
    let row = table.stdout.lines().find(|line| line.starts_with("sum_loop.c:13")).unwrap();
    assert_eq!(row.split_whitespace().nth(2), Some("100"), "{row}");
}

#[test]
fn what_came_of_something_is_streamed_the_oldest_first() {
    let scratch = Scratch::new("instances_forward");
    let program = compile(&scratch, &program("sum_loop.c"), &["-O0"]).unwrap();
    let at = ["slice", "--kind", "forward", "--at", "sum_loop.c:13:sum", "--hit", "1"];
    let ran = scratch.whydunit(&[&at[..], &["--instances", "--", &program]].concat());
    let mut lines = ran.stdout.lines();
    assert!(lines.next().unwrap().contains("came from"), "{}", ran.stdout);
    let times: Vec<u64> =
        lines.map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let additions = ran.stdout.lines().filter(|line| line.contains("sum_loop.c:13  value")).count();
    assert_eq!(additions, 99, "{}", ran.stdout);
    for kind in ["chop", "bidirectional"] {
        let from: &[&str] = if kind == "chop" { &["--from", "sum_loop.c:13:sum"] } else { &[] };
        let at = ["slice", "--kind", kind, "--at", "sum_loop.c:14:sum", "--instances"];
        let ran = scratch.whydunit(&[&at[..], from, &["--", &program]].concat());
        assert_eq!(ran.stdout.lines().count() > 1, kind == "bidirectional", "{kind}: {}", ran.stdout);
    }
}

#[test]
fn answers_for_programs_are_as_the_schema_says() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/whydunit-1.json");
    let schema = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let scratch = Scratch::new("schema");
    let triangle = compile(&scratch, &example("triangle"), &["-O0"]).unwrap();
    let null = compile(&scratch, &program("null_field.c"), &["-O0"]).unwrap();
    let overflow = compile(&scratch, &program("overflow.c"), &["-O0"]).unwrap();
    let chop: &[&str] = &["slice", "--kind", "chop", "--from", "argument:1", "--at", "output:0"];
    let questions: [(&[&str], &[&str]); 9] = [
        (&["why", "--at", "output:0", "--expect-stdout", "9.92"], &[&triangle, "6", "5", "4"]),
        (&["why", "--at", "triangle.c:35:area"], &[&triangle, "6", "5", "4"]),
        (&["why", "--at", "crash"], &[&null, "a"]),
        (&["why", "--at", "overflow.c:16:entry.count"], &[&overflow, "aaaaaaaa1234"]),
        (&["slice", "--at", "output:0"], &[&triangle, "6", "5", "4"]),
        (&["slice", "--kind", "forward", "--at", "argument:1"], &[&triangle, "6", "5", "4"]),
        (chop, &[&triangle, "6", "5", "4"]),
        (
            &["slice", "--kind", "bidirectional", "--at", "condition:triangle.c:16"],
            &[&triangle, "6", "5", "4"],
        ),
        (&["stats"], &[&triangle, "6", "5", "4"]),
    ];
    for (question, command) in questions {
        let ran = scratch.whydunit(&[question, &["--format", "json", "--"], command].concat());
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&answer)
            .map(|error| format!("{} at {}", error, error.instance_path))
            .collect();
        assert!(errors.is_empty(), "{question:?}: {errors:#?}\n{}", ran.stdout);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    }
    let wrong = serde_json::json!({ "schema": "whydunit/1", "command": "why" });
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn dependences_are_dumped_one_by_one() {
    ask(&Asked {
        name: "deps",
        source: program("two_deep.c"),
        options: &["-O0"],
        questions: &[
            (&["dump", "deps", "--at", "two_deep.c:16:price", "--kind", "relevant"], &["1"]),
            (&["dump", "deps", "--at", "two_deep.c:16:price", "--depth", "1", "--kind", "data"], &["1"]),
            (&["dump", "deps", "--at", "two_deep.c:12", "--depth", "3", "--format", "dot"], &["20"]),
            (&["dump", "deps", "--at", "two_deep.c:400"], &["1"]),
        ],
        input: "",
    });
}

#[test]
fn dependences_of_an_instant_are_those_of_what_its_instruction_made() {
    let scratch = Scratch::new("deps-instant");
    let Some(program) = compile(&scratch, &program("two_deep.c"), &["-O0"]) else { return };
    let dump = |at: &str| {
        let ran = scratch.whydunit_apart(&["dump", "deps", "--at", at, "--", &program, "1"], b"");
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stdout
    };
    let place = dump("two_deep.c:16:price");
    let line = place.lines().find(|line| line.contains("price (4 at")).unwrap();
    let time = line.rsplit(' ').next().unwrap();
    let ran = scratch.whydunit_apart(&["dump", "deps", "--at", "999M", "--", &program, "1"], b"");
    let told = "whydunit: there is no instruction 999000000: the run has ";
    assert!(ran.status == 1 && ran.stderr.starts_with(told), "{ran:?}");
    let instant = dump(time);
    assert!(instant.starts_with(&format!("#0, distance 0: what instruction {time} made\n")), "{instant}");
    assert!(instant.contains("price (4 at") && instant.contains("amount (4 at"), "{instant}");
}
