//! Conditions as people write them, each with what should be found.

use std::path::PathBuf;
use std::process::Command;

use program::conditions::Exit;
use program::{Condition, ConditionKind, Program};

use crate::common::{Scratch, open, run};

const COMPILERS: [&str; 2] = ["gcc", "clang"];

const PRELUDE: &str = "#include <assert.h>\n\
    int f(int n) { return n; } int g(int n) { return n + 1; } void yes(int n) {} void no(int n) {}\n\
    int main(void) { return 0; }\n";

/// The conditions of `function` by each compiler.
fn conditions(
    name: &str,
    body: &str,
    options: &[&str],
    check: impl Fn(&str, &Program, &[Condition], String),
) {
    let scratch = Scratch::new(name);
    for compiler in COMPILERS {
        let source = format!("{PRELUDE}{body}\n");
        let options: Vec<&str> = ["-w", "-g"].iter().chain(options).copied().collect();
        let path = scratch.compile(compiler, &format!("{compiler}.c"), &source, &options);
        let program = open(&path);
        let start = program.find_symbol("t").unwrap().address;
        let cfg = program.cfg(start).unwrap();
        let found = program.conditions(start).unwrap();
        let text: String = found.iter().map(|condition| condition.text(&cfg)).collect();
        check(compiler, &program, &found, text);
    }
}

/// Branches, with the number of jumps and whether the true side is known.
fn jumps(found: &[Condition]) -> Vec<(usize, bool)> {
    let branches = found.iter().filter_map(|condition| match &condition.kind {
        ConditionKind::Branch { true_exit, .. } => Some((condition.members.len(), true_exit.is_some())),
        _ => None,
    });
    branches.collect()
}

#[test]
fn nested_statements_are_conditions_of_their_own() {
    for body in [
        "void t(int a, int b) {\n if (a)\n  if (b)\n   yes(1);\n}",
        "void t(int a, int b) { if (a) if (b) yes(1); }",
        "void t(int a, int b) { if (a) { if (b) yes(1); else no(1); } else no(1); }",
        "void t(int a, int b) { while (a) while (b) yes(1); }",
        "void t(int a, int b) { for (; a;) if (b) break; }",
        "void t(int a, int b) { while (a) { if (b) continue; yes(1); } }",
        "void t(int a, int b) { if (a) yes(1); if (b) yes(2); }",
        "void t(int a, int b) { if (a) goto out; if (b) yes(1);\nout: no(1); }",
    ] {
        conditions("nested", body, &[], |compiler, _, found, text| {
            assert_eq!(jumps(found), [(1, true), (1, true)], "{compiler}: {body}\n{text}");
        });
    }
}

#[test]
fn a_condition_is_one_wherever_its_lines_break_and_whatever_it_calls() {
    for body in [
        "void t(int a, int b, int c) {\n if (a\n  && f(b)\n  || c)\n  yes(1);\n else\n  no(1);\n}",
        "void t(int a, int b, int c) { int x; if ((x = f(a)) && g(x) && !c) yes(1); }",
        "void t(int a, int b, int c) { while (a-- &&\n f(b) &&\n c) yes(1); no(1); }",
        "void t(int a, int b, int c) { for (int i = 0; i < a && f(b) || c; i++) yes(1); no(1); }",
        "void t(int a, int b, int c) { if (a ? f(b) : c) yes(1); else no(1); }",
    ] {
        conditions("one", body, &[], |compiler, _, found, text| {
            let [Condition { kind: ConditionKind::Branch { true_exit: Some(_), .. }, members, .. }] = found
            else {
                panic!("{compiler}: {body}\n{text}");
            };
            assert!(members.len() >= 3, "{compiler}: {body}\n{text}");
        });
    }
}

#[test]
fn an_empty_loop_goes_on_by_its_true_side() {
    for body in ["void t(char *p) { while (*p++) ; }", "void t(char *p) { for (; *p++;) ; }"] {
        conditions("empty", body, &[], |compiler, _, found, text| {
            assert_eq!(jumps(found), [(1, true)], "{compiler}: {body}\n{text}");
            assert!(text.contains("[[rbp - 0x8]]"), "{compiler}: the cell that is compared\n{text}");
        });
    }
}

#[test]
fn macros_are_conditions_at_the_line_that_expands_them() {
    let body = "#define CHECK(x, y) if ((x) && \\\n (y)) no(2);\n\
        void t(int a, int b) {\n CHECK(a > 5 || b, f(b))\n CHECK(a, b)\n}";
    conditions("macro", body, &[], |compiler, _, found, text| {
        let counts: Vec<usize> = found.iter().map(|condition| condition.members.len()).collect();
        assert_eq!(counts, [3, 2], "{compiler}\n{text}");
    });
}

#[test]
fn an_assertion_is_one_condition_that_fails_where_the_program_ends() {
    let body = "void t(int a, int b) { assert(a && f(b)); yes(1); }";
    conditions("assertion", body, &[], |compiler, _, found, text| {
        assert_eq!(jumps(found), [(2, true)], "{compiler}\n{text}");
    });
}

#[test]
fn a_condition_within_an_operand_is_its_own() {
    let body = "void t(int a, int b) { if (f(a && b) && (a || b) == b) yes(1); else no(1); }";
    conditions("operand", body, &[], |compiler, _, found, text| {
        let values = found.iter().filter(|found| matches!(found.kind, ConditionKind::Value { .. })).count();
        assert_eq!(values, 2, "{compiler}\n{text}");
        assert_eq!(jumps(found), [(2, true)], "{compiler}\n{text}");
    });
}

#[test]
fn several_conditions_on_a_line_stay_apart() {
    let body = "int t(int a, int b) { if (a && b) yes(1); while (a < 3 || b) a++; return a == 1 && b > 2; }";
    conditions("line", body, &[], |compiler, _, found, text| {
        assert_eq!(found.len(), 3, "{compiler}\n{text}");
        assert!(matches!(found[2].kind, ConditionKind::Value { .. }), "{compiler}\n{text}");
    });
}

/// The values and the number of the call in each case, and in the default.
fn cases(program: &Program, found: &[Condition], text: &str) -> Vec<(String, u64)> {
    let [Condition { kind: ConditionKind::Switch { cases, default, .. }, id, .. }] = found else {
        panic!("it is no switch:\n{text}");
    };
    let cfg = program.cfg(id.function).unwrap();
    // Each case begins with `mov edi, number`.
    let number = |block| {
        let code = program.file_bytes(cfg.block(block).unwrap().start).unwrap();
        if code[0] == 0xbf { u64::from(u32::from_le_bytes(code[1..5].try_into().unwrap())) } else { 0 }
    };
    let range =
        |(low, high): &(i64, i64)| if low == high { low.to_string() } else { format!("{low}..{high}") };
    let values = |values: &[(i64, i64)]| values.iter().map(range).collect::<Vec<_>>().join(" ");
    let mut all: Vec<(String, u64)> =
        cases.iter().map(|case| (values(&case.values), number(case.target))).collect();
    all.extend(default.map(|default| ("default".to_owned(), number(default))));
    all
}

#[test]
fn switch_statements_have_their_cases() {
    let sparse = "case 1: yes(1); break; case 100: yes(2); break; case 5000: case 5001: yes(3); break; default: no(4);";
    let ranges = "case -4: yes(1); break; case 1 ... 20: yes(2); break; case 100 ... 300: yes(3); break; \
        case 9000: yes(4); break; case 70000: yes(5); break; default: no(6);";
    let dense = "case 0: yes(1); break; case 1: yes(2); break; case 2: yes(3); break; case 3: yes(4); break; \
        case 4: yes(5); break; case 5: case 6: yes(6); break; case 9: yes(7); break; default: no(8);";
    let expected = [
        (sparse, vec![("1", 1), ("100", 2), ("5000..5001", 3), ("default", 4)]),
        (ranges, vec![("-4", 1), ("1..20", 2), ("100..300", 3), ("9000", 4), ("70000", 5), ("default", 6)]),
        (
            dense,
            vec![("0", 1), ("1", 2), ("2", 3), ("3", 4), ("4", 5), ("5..6", 6), ("9", 7), ("default", 8)],
        ),
    ];
    for (statements, expected) in expected {
        let body = format!("void t(int a) {{ switch (a) {{ {statements} }} }}");
        let expected: Vec<(String, u64)> =
            expected.into_iter().map(|(text, n)| (text.to_owned(), n)).collect();
        conditions("switch", &body, &[], |compiler, program, found, text| {
            assert_eq!(cases(program, found, &text), expected, "{compiler}\n{text}");
        });
    }
}

/// Compilers look such cases up in a word of bits: gcc always, clang when it optimises.
#[test]
fn cases_that_are_scattered_within_a_word_are_told_one_by_one() {
    let one = "case 97: case 98: case 105: case 111: case 117: say(1); break; default: say(2);";
    let two = "case 1: case 4: case 9: case 16: case 25: say(1); break; case 2: case 3: case 5: case 7: case 11: \
        case 13: ask(2); break; default: say(3);";
    let expected = [(one, vec!["97..98 105 111 117"]), (two, vec!["1 4 9 16 25", "2..3 5 7 11 13"])];
    let [say, ask] = ["say", "ask"].map(|name| {
        format!(
            "__attribute__((noinline)) void {name}(int n) {{ __asm__ volatile (\"# {name}\" :: \"r\"(n)); }}"
        )
    });
    for (statements, mut expected) in expected {
        expected.push("default");
        for kind in ["int", "unsigned char", "long"] {
            let body = format!("{say} {ask} void t({kind} a) {{ switch (a) {{ {statements} }} }}");
            for level in ["-O0", "-O1"] {
                conditions("scattered", &body, &[level], |compiler, program, found, text| {
                    // Where optimised code sets up its calls does not matter.
                    let cases: Vec<String> =
                        cases(program, found, &text).into_iter().map(|(values, _)| values).collect();
                    assert_eq!(cases, expected, "{compiler} {level} {kind}\n{text}");
                });
            }
        }
    }
}

#[test]
fn a_chain_of_comparisons_in_an_if_is_no_switch() {
    let body = "void t(int a) { if (a == 1 || a == 7 || a == 9 || a == 12) yes(1); else no(1); }";
    conditions("chain", body, &[], |compiler, _, found, text| {
        let branches = found.iter().all(|found| matches!(found.kind, ConditionKind::Branch { .. }));
        assert!(branches && found.len() == 1, "{compiler}\n{text}");
    });
}

/// A copy of the program whose source cannot be found.
fn without_text(name: &str, compiler: &str, body: &str, strip: bool) -> (Scratch, PathBuf) {
    let scratch = Scratch::new(name);
    let path = scratch.compile(compiler, "gone.c", &format!("{PRELUDE}{body}"), &["-w", "-g"]);
    std::fs::remove_file(scratch.path().join("gone.c")).unwrap();
    if strip {
        run(Command::new("objcopy").arg("--strip-debug").arg(&path));
    }
    (scratch, path)
}

#[test]
fn without_the_text_a_line_is_an_expression_and_the_true_side_is_not_known() {
    let body = "void t(int a, int b, double x) {\n if (a && f(b) || x == 1.5) yes(1);\n else no(1);\n\
        if (a)\n if (b)\n yes(1);\n}";
    for compiler in COMPILERS {
        let (_scratch, path) = without_text("textless", compiler, body, false);
        let program = open(&path);
        let found = program.conditions(program.find_symbol("t").unwrap().address).unwrap();
        let members: Vec<usize> = found.iter().map(|condition| condition.members.len()).collect();
        assert_eq!(members, [4, 1, 1], "{compiler}");
        assert!(jumps(&found).iter().all(|(_, known)| !known), "{compiler}");
    }
}

#[test]
fn without_lines_only_the_branches_of_one_comparison_belong_together() {
    let body = "void t(int a, int b, double x) { if (a && f(b) || x == 1.5) yes(1); else no(1); }";
    for compiler in COMPILERS {
        let (_scratch, path) = without_text("lineless", compiler, body, true);
        let program = open(&path);
        let found = program.conditions(program.find_symbol("t").unwrap().address).unwrap();
        let members: Vec<usize> = found.iter().map(|condition| condition.members.len()).collect();
        assert_eq!(members, [1, 1, 2], "{compiler}");
    }
}

#[test]
fn conditions_are_the_same_every_time_and_their_members_are_in_one_only() {
    let body =
        "int t(int a, int b) { for (int i = 0; i < a && (b || f(i)); i++) if (a > 3) yes(i); return a < b; }";
    conditions("stable", body, &["-O2"], |compiler, program, found, text| {
        let again = open(std::path::Path::new(&*program.locate(found[0].id.function).object.unwrap()));
        assert_eq!(*again.conditions(found[0].id.function).unwrap(), found, "{compiler}");
        let mut members: Vec<u64> = found.iter().flat_map(|c| c.members.iter().map(|m| m.address)).collect();
        let count = members.len();
        members.sort();
        members.dedup();
        assert_eq!(members.len(), count, "{compiler}\n{text}");
        assert!(found.is_sorted_by_key(|condition| condition.id));
        assert_eq!(Exit::First.other(), Exit::Second);
    });
}

#[test]
fn conditions_of_cpp_are_told_by_its_text() {
    let source = "struct Range { int *first, *last; int *begin() const { return first; } int *end() const { return last; } };\n\
        extern \"C\" int t(int *a, int n) {\n\
        \x20   int sum = 0;\n\
        \x20   for (int x : Range{a, a + n})\n\
        \x20       if ((x > 3 &&\n\
        \x20            x < 9) || x == 100)\n\
        \x20           sum += x;\n\
        \x20   auto twice = [&](int y) { return y > 5 ? y : 2 * y; };\n\
        \x20   while (sum > 1000) sum = twice(sum) / 2;\n\
        \x20   return sum;\n\
        }\n\
        int main() { return 0; }\n";
    let scratch = Scratch::new("cpp");
    for compiler in ["g++", "clang++"] {
        let path = scratch.compile(compiler, &format!("{compiler}.cc"), source, &["-g", "-O0"]);
        let program = open(&path);
        let start = program.find_symbol("t").unwrap().address;
        let cfg = program.cfg(start).unwrap();
        let found = program.conditions(start).unwrap();
        let text: String = found.iter().map(|condition| condition.text(&cfg)).collect();
        let mut jumps = jumps(&found);
        jumps.sort();
        assert_eq!(jumps, [(1, true), (1, true), (3, true)], "{compiler}:\n{text}");
    }
}

#[test]
fn conditions_of_rust_are_told_by_its_text() {
    let source = "#[no_mangle] pub extern \"C\" fn t(a: i32, b: i32, list: &[i32]) -> i32 {\n\
        let mut sum: i32 = 0;\n\
        if a > 90 { sum = 1; } else if b > 80 && a != 5 { sum = 2; }\n\
        if list[1] > 3 { return 9 }\n\
        let mut n: usize = 0;\n\
        while list[n] < a { n = n.wrapping_add(1); }\n\
        let Some(first) = list.first() else { return 7 };\n\
        if let Some(x) = list.get(n) { sum = *x; }\n\
        for (at, x) in list.iter().enumerate() { sum = sum.wrapping_sub(*x); }\n\
        sum.wrapping_add(*first)\n\
        }\n\
        fn main() { t(1, 2, &[3, 4]); }\n";
    let scratch = Scratch::new("rust");
    let path = scratch.compile("rustc", "t.rs", source, &["-g", "-A", "warnings"]);
    let program = open(&path);
    let start = program.find_symbol("t").unwrap().address;
    let cfg = program.cfg(start).unwrap();
    let found = program.conditions(start).unwrap();
    let text: String = found.iter().map(|condition| condition.text(&cfg)).collect();
    let line = |condition: &Condition| condition.position.as_ref().map_or(0, |position| position.line);
    for (wanted, members) in [(3, 1), (3, 2), (4, 1), (6, 1), (7, 1), (8, 1), (9, 1)] {
        let is_it = |condition: &&Condition| {
            let is_known = matches!(condition.kind, ConditionKind::Branch { true_exit: Some(_), .. });
            line(condition) == wanted && condition.members.len() == members && is_known
        };
        assert_eq!(found.iter().filter(is_it).count(), 1, "line {wanted}:\n{text}");
    }
    // An index that is checked is no condition of the source.
    let checks = found.iter().filter(|condition| [4, 6].contains(&line(condition))).count();
    assert_eq!(checks, 4, "{text}");
}

#[test]
fn a_conditional_move_is_told_by_the_condition_that_it_stands_for() {
    let body = "int t(int a, int b) {\n int r = b;\n if (a > 3)\n  r = a;\n return r;\n}";
    let scratch = Scratch::new("moved");
    let path = scratch.compile("gcc", "moved.c", &format!("{PRELUDE}{body}\n"), &["-w", "-g", "-O2"]);
    let program = open(&path);
    let start = program.find_symbol("t").unwrap().address;
    let found = program.conditions(start).unwrap();
    let select = found.iter().find(|condition| condition.kind == ConditionKind::Select).unwrap();
    let own = program.statement_at(select.id.address).unwrap();
    let line = PRELUDE.lines().count() as u32;
    let (stmt, written) = match program.deciding_statement(select.id.address, &own) {
        Some(found) => found,
        // Some compilers give it the place of the condition.
        None => (own.clone(), program.written_condition(select.id.address, &own).unwrap()),
    };
    assert_eq!((stmt.line, &*written.text), (line + 3, "a > 3"), "{own}");
}
