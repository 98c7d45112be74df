use std::collections::BTreeSet;
use std::path::Component;

use super::*;

fn all() -> Vec<Case> {
    names().unwrap().iter().map(|name| load(name).unwrap()).collect()
}

#[test]
fn there_are_bugs_of_all_kinds_and_no_two_are_the_same() {
    let cases = all();
    assert!(cases.len() >= 15, "{}", cases.len());
    let kinds: BTreeSet<Kind> = cases.iter().map(|case| case.kind).collect();
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    let faults: BTreeSet<mutate::Kind> = cases.iter().map(|case| case.fault).collect();
    assert_eq!(faults.len(), mutate::Kind::ALL.len(), "{faults:?}");
    let fixes: BTreeSet<(&str, &str)> = cases.iter().map(|case| (&*case.package, &*case.fix)).collect();
    assert_eq!(fixes.len(), cases.len());
}

#[test]
fn every_description_is_complete() {
    for case in all() {
        let name = &case.name;
        let version = case.version.split_once(':').map_or(&*case.version, |(_epoch, version)| version);
        assert!(version.starts_with(&format!("{}-", case.upstream)), "{name}: {}", case.version);
        assert!(!case.patches.contains(&case.fix), "{name}");
        assert!(!case.build.is_empty(), "{name}");
        let besides = case.besides.iter().map(|besides| &besides.why);
        for sentence in [&case.wrong, &case.right, &case.why].into_iter().chain(besides) {
            assert!(sentence.ends_with('.') && sentence.len() > 10, "{name}: {sentence:?}");
        }
        for path in case.files.keys().chain(case.lines.iter().map(|lines| &lines.file)).chain([&case.program])
        {
            assert!(path.components().all(|part| matches!(part, Component::Normal(_))), "{name}: {path:?}");
        }
        assert!(!case.lines.is_empty(), "{name}");
        assert!(case.lines.iter().all(|lines| 0 < lines.first && lines.first <= lines.last), "{name}");
        assert!(
            case.lenient.is_empty() && case.uses.is_empty() || case.fault == mutate::Kind::Omission,
            "{name}"
        );
        let expected = &case.expected;
        assert!(expected.exit.is_some(), "{name}");
        let has_text = expected.stdout.is_some() || expected.stderr.is_some();
        assert!(case.kind != Kind::Output || has_text, "{name}");
    }
}

const SMALLEST: &str = r#"
package = "hello"
version = "1-2"
upstream = "1"
fix = "fix.patch"
build = ["make"]
program = "hello"
kind = "output"
fault = "other"
wrong = "It says nothing."
right = "It says hello."
why = "It is shy."
lines = [{ file = "src/hello.c", first = 3, last = 5 }]
"#;

#[test]
fn bytes_that_are_no_text_are_written_as_numbers() {
    let case = parse("x", &format!("stdin = {{ bytes = \"\\xff\\x00a\" }}\n{SMALLEST}")).unwrap();
    assert_eq!(case.stdin.0, b"\xff\0a");
    let case = parse("x", &format!("stdin = \"é\"\n{SMALLEST}")).unwrap();
    assert_eq!(case.stdin.0, "é".as_bytes());
    assert!(parse("x", &format!("stdin = {{ bytes = \"€\" }}\n{SMALLEST}")).is_err());
    assert!(parse("x", &format!("stdin = {{ bytes = \"\", more = \"\" }}\n{SMALLEST}")).is_err());
    assert!(parse("x", &format!("comment = \"\"\n{SMALLEST}")).is_err());
}

#[test]
fn what_is_expected_becomes_options() {
    let text = |kind: &str| SMALLEST.replace("\"output\"", kind);
    let expected = "[expected]\nstdout = \"hello\"\nexit = 0\n";
    let options = |kind: &str| parse("x", &format!("{}{expected}", text(kind))).unwrap().options();
    assert_eq!(options("\"output\""), ["--expect-stdout=@expected.stdout", "--expect-exit=0"]);
    assert_eq!(options("\"hang\""), ["--hang-after=5M"]);
    assert!(options("\"heap-fault\"").is_empty());
}
