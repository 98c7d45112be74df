//! Texts cut into statements.

use super::*;

/// The statements that touch each line, as text.
fn cut(language: Language, text: &str) -> Vec<Vec<String>> {
    let syntax = Syntax::new(language, text.as_bytes()).unwrap();
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        let of = |statement: &Range<usize>| {
            text[statement.clone()].split_whitespace().collect::<Vec<_>>().join(" ")
        };
        found.push(syntax.statements(&range).iter().map(of).collect());
        start = range.end;
    }
    found
}

#[test]
fn a_body_is_no_part_of_its_statement() {
    let text = "int f(int a,\n      int b)\n{\n  if (a ? 1\n      : b) {\n    g(a,\n      b);\n  } else h();\n  while (a) b--;\n}\n";
    let expected: [&[&str]; 10] = [
        &["int f(int a, int b)"],
        &["int f(int a, int b)"],
        &[],
        &["if (a ? 1 : b)"],
        &["if (a ? 1 : b)"],
        &["g(a, b);"],
        &["g(a, b);"],
        &["else", "h();"],
        &["while (a)", "b--;"],
        &[],
    ];
    assert_eq!(cut(Language::C, text), expected);
}

#[test]
fn do_and_switch_are_cut_at_their_bodies() {
    let text = "void f(int a) {\n  do\n    a--;\n  while (a >\n 1);\n  switch (a) {\n  case 1: a = 2;\n  x: a = 3; break;\n  default:\n  a = 4; } }";
    let expected: [&[&str]; 10] = [
        &["void f(int a)"],
        &["do"],
        &["a--;"],
        &["while (a > 1);"],
        &["while (a > 1);"],
        &["switch (a)"],
        &["case 1:", "a = 2;"],
        &["x:", "a = 3;", "break;"],
        &["default:"],
        &["a = 4;"],
    ];
    assert_eq!(cut(Language::C, text), expected);
}

#[test]
fn statements_inside_of_expressions_are_their_own() {
    let text = "int f(int a) {\n  int b = ({\n    a++;\n    a;\n  });\n  return b;\n}\n";
    let expected: [&[&str]; 7] =
        [&["int f(int a)"], &["int b = ("], &["a++;"], &["a;"], &[], &["return b;"], &[]];
    assert_eq!(cut(Language::C, text), expected);
}

#[test]
fn conditional_text_is_cut_in_either_branch() {
    let text = "int f(int a) {\n#if A > 1\n  a++;\n#else\n  a--;\n#endif\n  return a;\n}\n";
    let found = cut(Language::C, text);
    assert_eq!((found[2].concat(), found[4].concat()), ("a++;".into(), "a--;".into()));
    assert!(found[1].is_empty() && found[3].is_empty() && found[5].is_empty(), "{found:?}");
}

#[test]
fn rust_blocks_arms_and_closures() {
    let text = "fn f(a: i32) -> i32 {\n    let b = if a > 1 {\n        2\n    } else {\n        3\n    };\n    match b {\n        2 => g(|x| x + 1,\n               4),\n        _ => {\n            h()\n        }\n    }\n}\n";
    let found = cut(Language::Rust, text);
    let joined: Vec<String> = found.iter().map(|line| line.join(" ")).collect();
    let expected = [
        "fn f(a: i32) -> i32",
        "let b = if a > 1",
        "2",
        "else",
        "3",
        "",
        "match b",
        "2 => g(|x| x + 1, 4),",
        "2 => g(|x| x + 1, 4),",
        "_ =>",
        "h()",
        "",
        "",
        "",
    ];
    assert_eq!(joined, expected);
}

#[test]
fn cpp_methods_and_lambdas_are_cut_at_their_bodies() {
    let text = "struct A {\n  int m(int a) { return a; }\n  int n;\n};\nint f() {\n  auto g = [](int a) {\n    return a;\n  };\n  for (int x : v)\n    h(x);\n  try { g(1); } catch (int e) { h(e); }\n}\n";
    let found = cut(Language::Cpp, text);
    let joined: Vec<String> = found.iter().map(|line| line.join(" ")).collect();
    let expected = [
        "struct A",
        "int m(int a) return a;",
        "int n;",
        "",
        "int f()",
        "auto g = [](int a)",
        "return a;",
        "",
        "for (int x : v)",
        "h(x);",
        "try g(1); catch (int e) h(e);",
        "",
    ];
    assert_eq!(joined, expected);
}

fn clauses(text: &str, line_starts: &str) -> Vec<Option<(&'static str, String)>> {
    let syntax = Syntax::new(Language::C, text.as_bytes()).unwrap();
    let offsets = line_starts.bytes().enumerate().filter(|(_, byte)| *byte == b'^').map(|(at, _)| at);
    offsets
        .map(|offset| {
            let found = syntax.loop_at(offset)?;
            let Some(clause) = found.clause_at(offset) else { return Some(("loop", String::new())) };
            let name = match clause {
                Clause::Initialiser => "initialiser",
                Clause::Condition => "condition",
                Clause::Step => "step",
            };
            Some((name, text[found.clause(clause)?.clone()].to_owned()))
        })
        .collect()
}

#[test]
fn clauses_of_a_for_are_found_by_place() {
    let text = "void f(void) { for (int i = 0 ; i < n; i++) for (;;) for (a = 1, b = 2; ; g(a, b)) s += i; }";
    let mark = "               ^        ^       ^ ^     ^   ^    ^  ^    ^   ^            ^  ^       ^ ^";
    let of = |name, text: &str| Some((name, text.to_owned()));
    let expected = [
        of("loop", ""),
        of("initialiser", "int i = 0"),
        of("condition", "i < n"),
        of("condition", "i < n"),
        of("step", "i++"),
        of("loop", ""),
        of("loop", ""),
        None,
        of("loop", ""),
        of("initialiser", "a = 1, b = 2"),
        of("step", "g(a, b)"),
        of("step", "g(a, b)"),
        None,
        None,
    ];
    assert_eq!(clauses(text, mark), expected);
}

#[test]
fn hard_text_is_given_up_or_cut_without_harm() {
    let started = std::time::Instant::now();
    for text in [
        "(".repeat(200_000),
        "{".repeat(200_000),
        "for(;;)".repeat(2_000),
        "if(a)b;else ".repeat(2_000),
        "\0\u{1}\u{fffd}<<".repeat(9_000),
        "r#\"".repeat(50_000),
        "a<".repeat(5_000),
    ] {
        for language in [Language::C, Language::Cpp, Language::Rust] {
            if let Some(syntax) = Syntax::new(language, text.as_bytes()) {
                let _ = syntax.statements(&(10..50));
                let _ = syntax.loop_at(100);
                let _ = syntax.function_at(100);
            }
        }
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn a_function_is_found_from_within() {
    let text = "int a;\nint f(void)\n{\n  return 1;\n}\nint g() { return 2; }\n";
    let function = |language, text: &str, what: &str| {
        let found = Syntax::new(language, text.as_bytes()).unwrap().function_at(text.find(what).unwrap());
        found.map(|range| text[range].to_owned())
    };
    assert_eq!(function(Language::C, text, "1;").as_deref(), Some("int f(void)\n{\n  return 1;\n}"));
    assert_eq!(function(Language::C, text, "f(void)").as_deref(), Some("int f(void)\n{\n  return 1;\n}"));
    assert_eq!(function(Language::C, text, "2;").as_deref(), Some("int g() { return 2; }"));
    assert_eq!(function(Language::C, text, "a;"), None);
    let inner = "fn outer() { fn inner() { one(); } two(); }";
    assert_eq!(function(Language::Rust, inner, "one").as_deref(), Some("fn inner() { one(); }"));
    assert_eq!(function(Language::Rust, inner, "two").as_deref(), Some(inner));
}

#[test]
fn languages_are_told_by_name() {
    assert_eq!(Language::of("/a/b.c"), Some(Language::C));
    assert_eq!(Language::of("b.rs"), Some(Language::Rust));
    assert_eq!(Language::of("b.C"), Some(Language::Cpp));
    assert_eq!(Language::of("c"), None);
    assert_eq!(Language::of("a.f90"), None);
}
