//! The programs of `examples/`, each a test: explained as its `case.toml` says, with the answer that stands beside it in
//! `report.txt`. `BLESS=1` rewrites the answers.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::{Ran, Scratch, normalised};
use libtest_mimic::{Arguments, Trial};
use serde::Deserialize;
use serde_json::Value;

/// How a program is built, run and explained, and what its answer has to tell.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    source: String,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    arguments: Vec<String>,
    stdin: Option<String>,
    #[serde(default)]
    options: Vec<String>,
    /// How `explain` exits.
    status: i32,
    /// Lines of conditions that the answer tells among those that save the run.
    critical: BTreeSet<u64>,
    /// Where the program is wrong.
    faulty: BTreeSet<u64>,
    /// The condition that is told first is one of `critical`.
    leads: bool,
    /// The answer has all faulty lines somewhere.
    names_fault: bool,
    /// What way from the first condition to the failure is told.
    path: Way,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Way {
    None,
    /// Each step comes after the one before, and all of them after the condition.
    Forward,
    Confused,
    /// It is one that was not gone: to output that is missing.
    Missed,
}

fn main() {
    let arguments = Arguments::from_args();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("case.toml").exists())
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "there are no examples");
    let trials = folders.into_iter().map(|folder| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        Trial::test(format!("examples::{name}"), move || {
            check(&folder);
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn check(folder: &Path) {
    let case: Case = toml::from_str(&std::fs::read_to_string(folder.join("case.toml")).unwrap()).unwrap();
    let scratch = Scratch::new(&format!("example-{}", folder.file_name().unwrap().to_string_lossy()));
    copy(folder, &scratch);
    let program = scratch.build(&case.source, &case.flags);
    let one = explain(&scratch, &case, &program, &["--format", "json", "--jobs", "1"]);
    let three = explain(&scratch, &case, &program, &["--format", "json", "--jobs", "3"]);
    assert_eq!((one.status, &one.stdout, &one.stderr), (three.status, &three.stdout, &three.stderr));
    assert_eq!(one.status, case.status, "{one:?}");
    let answer: Value = serde_json::from_str(&one.stdout).unwrap();
    judge(&case, &answer["findings"][0]);
    let text = explain(&scratch, &case, &program, &["--jobs", "3"]);
    assert_eq!(text.status, case.status, "{text:?}");
    golden(&folder.join("report.txt"), &steady(&case, &text.stdout));
}

/// What is beside the program is its input.
fn copy(folder: &Path, scratch: &Scratch) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, scratch.path().join(path.file_name().unwrap())).unwrap();
    }
}

fn explain(scratch: &Scratch, case: &Case, program: &str, options: &[&str]) -> Ran {
    let input = case.stdin.as_ref().map(|name| std::fs::read(scratch.path().join(name)).unwrap());
    let program = format!("./{program}");
    let mut words = vec!["explain"];
    words.extend(options);
    words.extend(case.options.iter().map(String::as_str));
    words.extend(["--", &program]);
    words.extend(case.arguments.iter().map(String::as_str));
    scratch.whydunit_apart(&words, &input.unwrap_or_default())
}

fn judge(case: &Case, finding: &Value) {
    let causes = finding["causes"].as_array().unwrap();
    let steps = causes.iter().flat_map(|cause| cause["steps"].as_array().unwrap());
    let conditions = causes.iter().map(|cause| &cause["condition"]).chain(steps);
    let told: BTreeSet<u64> =
        conditions.filter_map(|condition| condition["place"]["line"].as_u64()).collect();
    let missing: Vec<&u64> = case.critical.difference(&told).collect();
    assert!(missing.is_empty(), "the conditions of lines {missing:?} are not told; those of {told:?} are");
    let first = causes.first().and_then(|cause| cause["condition"]["place"]["line"].as_u64());
    let leads = first.is_some_and(|line| case.critical.contains(&line));
    assert_eq!(leads, case.leads, "whether the first condition, of line {first:?}, is the one to look at");
    let mut named = BTreeSet::new();
    lines(finding, &mut named);
    assert_eq!(
        case.faulty.is_subset(&named),
        case.names_fault,
        "whether the fault is named: lines {named:?}"
    );
    assert_eq!(causes.first().map_or(Way::None, way), case.path, "what way is told");
}

fn way(cause: &Value) -> Way {
    let (steps, kind) = match cause["missed"].as_array() {
        Some(missed) => (missed, Way::Missed),
        None => (cause["path"].as_array().unwrap(), Way::Forward),
    };
    if steps.is_empty() {
        return Way::None;
    }
    let times = [&cause["condition"]].into_iter().chain(steps).map(|step| step["time"].as_u64().unwrap());
    if times.is_sorted() { kind } else { Way::Confused }
}

/// The lines of all places in an answer.
fn lines(answer: &Value, found: &mut BTreeSet<u64>) {
    match answer {
        Value::Object(fields) => {
            found.extend(fields.get("line").filter(|_| fields.contains_key("file")).and_then(Value::as_u64));
            fields.values().for_each(|field| lines(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| lines(item, found)),
        _ => {}
    }
}

/// Without what depends on the host: how a library does its work decides how many trials come to an end by themselves, and
/// how long a program takes to start decides how many rounds of a loop are in the first so many instructions, and which of its
/// lines is the last.
fn steady(case: &Case, text: &str) -> String {
    let hangs = case.options.iter().any(|option| option == "--hang-after");
    let mut is_evidence = false;
    let text = normalised(text);
    let text = if hangs { without_last_round(&with_reading_sorted(&text)) } else { text };
    let lines = text.lines().map(|line| {
        is_evidence |= line == "EVIDENCE";
        match is_evidence || hangs && line.contains("(decision ") {
            true => without_numbers(line) + "\n",
            false => line.to_owned() + "\n",
        }
    });
    lines.collect()
}

/// Where in its last round the loop was cut off decides which of its lines are on the path, and how far other conditions are from there.
fn without_last_round(text: &str) -> String {
    let depends = |part: &&str| ["PATH", "ALSO POSSIBLE"].iter().any(|headline| part.starts_with(headline));
    text.split("\n\n").filter(|part| !depends(part)).collect::<Vec<_>>().join("\n\n")
}

fn with_reading_sorted(text: &str) -> String {
    let Some((before, rest)) = text.split_once("READ NEXT\n") else { return text.to_owned() };
    let Some((reading, after)) = rest.split_once("\n\n") else { return text.to_owned() };
    let mut lines: Vec<&str> = reading.lines().collect();
    lines.sort_unstable();
    format!("{before}READ NEXT\n{}\n\n{after}", lines.join("\n"))
}

fn without_numbers(line: &str) -> String {
    // Whether there are any that made no difference, or several, depends on the host, too.
    if line.contains(" of single decisions ") || line.contains(" of a single decision ") {
        let indent = line.len() - line.trim_start().len();
        return format!("{}what came of trials of single decisions …", " ".repeat(indent));
    }
    let words = line.split_inclusive(' ').map(|word| {
        let number = word.trim_start_matches('(').trim_end_matches([' ', ')', ';', ',']);
        match !number.is_empty() && number.chars().all(|one| one.is_ascii_digit() || one == ',') {
            true => word.replacen(number, "…", 1),
            false => word.to_owned(),
        }
    });
    words.collect()
}

fn golden(path: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default());
}
