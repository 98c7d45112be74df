use super::*;

/// Each operator's mutants of a function body: the mutated source, and the strict lines.
fn made(text: &str, operator: Operator) -> Vec<(String, Vec<usize>)> {
    let source = Source::parse(text).expect("valid C");
    let fits = mutants(&source).into_iter().filter(|mutant| mutant.operator == operator);
    fits.map(|mutant| (mutant.apply(&source), mutant.truth.strict.iter().copied().collect())).collect()
}

fn texts(text: &str, operator: Operator) -> Vec<String> {
    made(text, operator).into_iter().map(|(text, _)| text).collect()
}

fn missing(text: &str, operator: Operator, at: usize) -> (Vec<usize>, Vec<usize>) {
    let source = Source::parse(text).expect("valid C");
    let all = mutants(&source);
    let mutant = all.iter().find(|mutant| mutant.operator == operator && mutant.line == at);
    let truth = &mutant.expect("a mutant at the line").truth;
    (truth.strict.iter().copied().collect(), truth.lenient.iter().copied().collect())
}

#[test]
fn a_relational_operator_is_replaced_and_is_a_branch_even_in_a_return() {
    let text = "int f(int a) { return a < 3; }";
    let wanted = ["<=", ">", ">="].map(|other| text.replace("<", other));
    assert_eq!(texts(text, Operator::Relational), wanted);
    let source = Source::parse(text).unwrap();
    let kinds: Vec<Kind> = mutants(&source).iter().map(|mutant| mutant.kind).collect();
    assert!(kinds.iter().all(|kind| *kind == Kind::Branch), "{kinds:?}");
}

#[test]
fn arithmetic_operators_and_assignments_are_replaced() {
    assert_eq!(
        texts("int f(int a) { return a + a; }", Operator::Arithmetic),
        ["int f(int a) { return a - a; }"]
    );
    assert_eq!(texts("void f(int a) { a--; }", Operator::Arithmetic), ["void f(int a) { a++; }"]);
    assert_eq!(texts("void f(int a) { a -= 2; }", Operator::Arithmetic), ["void f(int a) { a += 2; }"]);
}

#[test]
fn a_number_is_off_by_one_but_not_in_a_label() {
    let text = "int f(int a) { switch (a) { case 7: a = a * 4; } return a; }";
    let found = texts(text, Operator::OffByOne);
    assert_eq!(found.len(), 2);
    assert!(found[0].contains("a * 3") && found[1].contains("a * 5"), "{found:?}");
}

#[test]
fn a_wrong_macro_is_at_the_statements_that_it_stands_in() {
    let text =
        "#define SIZE 4\n#define LAST (SIZE - 1)\nint f(int a)\n{\n  a = SIZE;\n  a++;\n  return LAST;\n}\n";
    let found = made(text, Operator::WrongConstant);
    assert_eq!(found.len(), 3);
    assert!(found[0].0.starts_with("#define SIZE 3\n"), "{}", found[0].0);
    assert!(found.iter().all(|(_, lines)| lines == &[5, 7]), "{found:?}");
}

#[test]
fn a_wrong_macro_in_a_label_is_at_the_switch() {
    let text =
        "#define SIZE 4\nint f(int a)\n{\n  switch (a) {\n  case SIZE:\n    a++;\n  }\n  return a;\n}\n";
    let found = made(text, Operator::WrongConstant);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|(_, lines)| lines == &[4]), "{found:?}");
}

#[test]
fn a_wrong_macro_is_at_the_variable_that_it_initialises() {
    let text = "#define WIDTH 9\n#define SIDE 4\nstatic int width = WIDTH;\nstatic int table[SIDE] = {0};\n";
    let found = made(text, Operator::WrongConstant);
    let of_width = found.iter().filter(|(text, _)| !text.contains("WIDTH 9\n"));
    assert_eq!(of_width.map(|(_, lines)| lines.as_slice()).collect::<Vec<_>>(), [[3], [3], [3]]);
    assert!(found.iter().all(|(text, _)| text.contains("SIDE 4\n")), "{found:?}");
}

#[test]
fn a_wrong_element_of_a_table_is_at_its_own_line() {
    let text = "static const int table[] = {\n  1,\n  20,\n};\n";
    let lines: Vec<_> = made(text, Operator::WrongConstant).into_iter().map(|(_, lines)| lines).collect();
    assert_eq!(lines, [vec![2], vec![2], vec![2], vec![3], vec![3], vec![3]]);
}

#[test]
fn a_wrong_variable_is_visible_and_of_the_same_type() {
    let text = "int g; char *s; int f(int a, long b) { int c = a; { int d = 1; g = d; } return c; }";
    let found = texts(text, Operator::WrongVariable);
    assert!(found.iter().any(|text| text.contains("int c = g;")), "{found:?}");
    assert!(found.iter().any(|text| text.contains("return a;")), "{found:?}");
    assert!(!found.iter().any(|text| text.contains("return d;") || text.contains("return b;")), "{found:?}");
    assert!(!found.iter().any(|text| text.contains("= s;")), "{found:?}");
}

#[test]
fn conditions_are_negated_and_joined_wrongly_and_lose_a_part() {
    let text = "int f(int a, int b) { if (a && b) return 5; return 6; }";
    assert_eq!(texts(text, Operator::NegatedCondition), [text.replace("(a && b)", "(!(a && b))")]);
    assert_eq!(texts(text, Operator::Logical), [text.replace("&&", "||")]);
    assert_eq!(
        texts(text, Operator::RemovedCondition),
        [text.replace("a && b", "a"), text.replace("a && b", "b")]
    );
}

#[test]
fn a_removed_assignment_is_at_its_use_or_near_it() {
    let text = "int f(int a)\n{\n  int b = 1;\n  a++;\n  b = a;\n  a--;\n  return b;\n}\n";
    let (strict, lenient) = missing(text, Operator::RemovedStatement, 5);
    assert_eq!(strict, [7]);
    assert_eq!(lenient, [3, 4, 6, 7]);
}

#[test]
fn a_removed_guard_is_at_the_statement_that_it_guarded() {
    let text = "int f(int *a)\n{\n  if (a == 0)\n    return 0;\n  a++;\n  return *a;\n}\n";
    assert_eq!(missing(text, Operator::RemovedStatement, 3).0, [5]);
    let source = Source::parse(text).unwrap();
    for mutant in mutants(&source) {
        assert_eq!(mutant.apply(&source).lines().count(), text.lines().count(), "{mutant:?}");
    }
}

#[test]
fn a_missing_reset_in_a_loop_is_at_the_next_use_around_the_loop() {
    let text =
        "int f(int n)\n{\n  int a = 1;\n  while (n--) {\n    n -= a;\n    a = 0;\n  }\n  return n;\n}\n";
    assert_eq!(missing(text, Operator::MissingReset, 6).0, [5]);
    assert!(texts(text, Operator::MissingReset)[0].contains("a;\n    \n  }"));
}

/// The next round comes before what is behind the loop, and the inner loop's before the outer one's.
#[test]
fn a_missing_assignment_in_a_loop_is_at_the_use_on_each_way_on() {
    let text = "int f(int n)\n{\n  int sum = 0;\n  while (n > 9) {\n    sum++;\n    n /= 10;\n  }\n  sum = n + 1;\n  return sum;\n}\n";
    assert_eq!(missing(text, Operator::RemovedStatement, 6).0, [4, 8]);
    let text =
        "void f(int n)\n{\n  int i;\n  while (n--) {\n    i = 0;\n    while (i < n)\n      i++;\n  }\n}\n";
    assert_eq!(missing(text, Operator::RemovedStatement, 7).0, [6]);
    let text = "int f(int n)\n{\n  while (n > 9) {\n    n--;\n    if (n == 20)\n      return n;\n  }\n  return n;\n}\n";
    assert_eq!(missing(text, Operator::RemovedStatement, 4).0, [5]);
}

#[test]
fn what_is_missing_at_the_end_of_a_function_is_where_it_is_called_be_it_by_a_pointer() {
    let text = "void g(void);\nvoid f(int *a)\n{\n  if (*a)\n    g();\n}\nvoid (*run)(int *) = f;\nvoid h(int *a)\n{\n  (*run)(a);\n}\n";
    assert_eq!(missing(text, Operator::RemovedStatement, 5).0, [10]);
}

#[test]
fn a_condition_that_loses_a_part_is_a_branch_wherever_its_value_goes() {
    let text = "int f(int a, int b) { int c = a && b; c = a || b; return a && c; }";
    let source = Source::parse(text).unwrap();
    let removed = mutants(&source).into_iter().filter(|mutant| mutant.operator == Operator::RemovedCondition);
    let kinds: Vec<Kind> = removed.map(|mutant| mutant.kind).collect();
    assert_eq!(kinds, [Kind::Branch; 6]);
}

#[test]
fn initial_values_are_wrong_in_declarations_and_loops() {
    let text = "void f(void) { int a = 5, i; for (i = 2; i < a; i++) a--; }";
    let found = texts(text, Operator::WrongInitial);
    let wanted = ["a = 4", "a = 6", "i = 1", "i = 3"];
    assert!(
        found.len() == 4 && found.iter().zip(wanted).all(|(text, part)| text.contains(part)),
        "{found:?}"
    );
}

#[test]
fn neighbouring_arguments_are_swapped_but_not_a_format() {
    let text = "void f(int a, int b) { g(a, b + 1); printf(\"%d\", a); }";
    assert_eq!(texts(text, Operator::SwappedArguments), [text.replace("a, b + 1", "b + 1, a")]);
}

#[test]
fn another_value_is_returned() {
    let text = "enum e { A, B }; int f(int a) { if (a) return 0; return A; }";
    assert_eq!(
        texts(text, Operator::WrongReturn),
        [text.replace("return 0", "return 1"), text.replace("return A", "return B")]
    );
}

#[test]
fn a_loop_ends_a_step_early_or_late() {
    let text = "void f(int n, int m) { while (n > m) n--; do n++; while (n < m); if (n > m) n = 1; }";
    let wanted = [text.replacen("n > m", "n > m + 1", 1), text.replace("n < m", "n < m - 1")];
    assert_eq!(texts(text, Operator::LoopBound), wanted);
    // `n > m - 1` is `n >= m`, and another number is off by one.
    let text = "void f(int n) { while (n > 10) n--; for (; n != 3; ) n++; }";
    assert!(texts(text, Operator::LoopBound).is_empty());
    assert_eq!(texts(text, Operator::OffByOne).len(), 4);
}

#[test]
fn a_missing_break_is_at_the_first_statement_of_the_next_case() {
    let text = "int f(int a)\n{\n  switch (a) {\n  case 1:\n    a = 2;\n    break;\n  case 3:\n  case 4:\n    a = 5;\n  }\n  return a;\n}\n";
    assert_eq!(missing(text, Operator::MissingBreak, 6).0, [9]);
}

#[test]
fn a_pointer_goes_too_far_or_too_early() {
    let text = "char f(const char *p, int n) { p++; n++; p = p + n; return *p++; }";
    let found = texts(text, Operator::PointerStep);
    let wanted = ["p += 2;", "p + n + 1;", "*++p;"];
    assert!(
        found.len() == 3 && found.iter().zip(wanted).all(|(text, part)| text.contains(part)),
        "{found:?}"
    );
}

#[test]
fn a_difference_of_pointers_is_no_step_of_a_pointer() {
    let text = "struct s { char *end; }; long f(char *p, char *q, struct s *s, int n) { return (p - q) + (p - s->end) + *(p - n) + (p - &q[1]); }";
    assert_eq!(texts(text, Operator::PointerStep), [text.replace("p - n", "p - n + 1")]);
}

#[test]
fn numbers_are_wrong_however_they_are_written() {
    let wrong = |number: &str| {
        let text = format!("#define SIZE {number}\nlong f(void) {{ return g(SIZE); }}");
        let found = texts(&text, Operator::WrongConstant).into_iter();
        found.map(|text| text.lines().next().unwrap_or_default()[13..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(wrong("10u"), ["100u", "11u", "9u"]);
    assert_eq!(wrong("10L"), ["100L", "11L", "9L"]);
    assert_eq!(wrong("0x1f"), ["0x136", "0x1e", "0x20"]);
    assert_eq!(wrong("0xffffffffffffffffULL"), ["0xfffffffffffffffeULL"]);
    assert_eq!(wrong("0x00010000"), ["0x0000ffff", "0x00010001", "0x000a0000"]);
    assert_eq!(wrong("0x0"), ["-0x1", "0x1"]);
    assert_eq!(wrong("010"), ["011", "0120", "7"]);
    assert_eq!(wrong("0"), ["-1", "1"]);
    assert_eq!(wrong("1.5"), ["0.5", "15.0", "2.5"]);
    assert_eq!(wrong("2.f"), ["1.0f", "20.0f", "3.0f"]);
    assert_eq!(wrong("'b'"), ["'a'", "'c'"]);
    assert_eq!(wrong("'('"), ["')'", "39"]);
    assert!(wrong("1e30").iter().all(|wrong| wrong == "1e31"));
    assert!(wrong("'\\n'").is_empty() && wrong("L'a'").is_empty() && wrong("0x1p3").is_empty());
    assert!(wrong("089").is_empty() && wrong("SIZE2").is_empty());
}

#[test]
fn returned_and_compared_numbers_may_have_a_suffix() {
    let text = "double f(int n) { while (n < 10u) n++; if (n == 'b') return 1.0; return 7L; }";
    let wanted = [text.replace("1.0", "0.0"), text.replace("7L", "0L"), text.replace("7L", "8L")];
    assert_eq!(texts(text, Operator::WrongReturn), wanted);
    let wanted = [("10u", "11u"), ("10u", "9u"), ("'b'", "'a'"), ("'b'", "'c'")];
    assert_eq!(texts(text, Operator::OffByOne), wanted.map(|(right, wrong)| text.replace(right, wrong)));
}

#[test]
fn another_field_of_the_same_type_is_taken() {
    let text = "struct s { int a, *p; int b; }; int f(struct s *s) { return s->a; }";
    assert_eq!(texts(text, Operator::WrongField), [text.replace("s->a", "s->b")]);
}

#[test]
fn mutants_of_all_programs_differ_only_in_what_they_say() {
    for name in crate::programs::names().unwrap() {
        let program = crate::programs::load(&name).unwrap();
        let whole = program.source.whole();
        let all = mutants(&program.source);
        for mutant in &all {
            let mutated = mutant.apply(&program.source);
            let (before, after) = (&whole[..mutant.range.start], &whole[mutant.range.end..]);
            let changed = mutated.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            assert_eq!(changed, Some(mutant.replacement.as_str()), "{name}: {mutant:?}");
            assert_eq!(whole[mutant.range.clone()], mutant.original, "{name}: {mutant:?}");
            assert_ne!(mutant.replacement, mutant.original, "{name}: {mutant:?}");
            assert_eq!(mutated.lines().count(), whole.lines().count(), "{name}: {mutant:?}");
            assert!(!mutant.truth.strict.is_empty(), "{name}: {mutant:?}");
            assert!(mutant.truth.strict.is_subset(&mutant.truth.lenient), "{name}: {mutant:?}");
        }
        if name == "calculate" {
            let missing = Operator::ALL.iter().find(|wanted| all.iter().all(|one| one.operator != **wanted));
            assert_eq!(missing, None);
        }
    }
}

/// Ranks name a statement by the line that it begins in.
#[test]
fn a_fault_within_a_statement_is_named_by_the_line_in_which_that_begins() {
    for name in crate::programs::names().unwrap() {
        let program = crate::programs::load(&name).unwrap();
        let begins = program.source.statements();
        for mutant in mutants(&program.source) {
            for truth in [&mutant.truth.strict, &mutant.truth.lenient] {
                let is_named = |line| begins.get(line).is_none_or(|begin| truth.contains(begin));
                let unnamed: Vec<&usize> = truth.iter().filter(|line| !is_named(line)).collect();
                assert!(unnamed.is_empty(), "{name}: {} has {unnamed:?} of {truth:?}", mutant.name());
            }
        }
    }
}

#[test]
fn a_change_that_two_operators_make_is_one_of_the_more_specific() {
    let text = "void f(char *p, char *q, int n) { while (q > p + n) p++; }";
    assert!(texts(text, Operator::LoopBound).is_empty());
    let wanted = [text.replace("p + n", "p + n + 1"), text.replace("p++", "p += 2")];
    assert_eq!(texts(text, Operator::PointerStep), wanted);
}

#[test]
fn a_comparison_is_not_negated_for_another_operator_does_that() {
    let text = "void f(int a, int b) { if (a == b) a = 1; while ((a < b)) a++; if (!a) b = 2; }";
    assert_eq!(texts(text, Operator::NegatedCondition), [text.replace("(!a)", "(!(!a))")]);
    let relational = texts(text, Operator::Relational);
    assert!(relational.contains(&text.replace("==", "!=")) && relational.contains(&text.replace("<", ">=")));
}

#[test]
fn a_number_within_an_initial_value_is_off_by_one() {
    let text = "void f(int i) { int a = f(i + 1), b[2] = {4, i * 2}; for (i = g(7); i; i--) a = b[1]; }";
    let wanted = [("4, ", "3, "), ("4, ", "5, ")].map(|(right, wrong)| text.replace(right, wrong));
    assert_eq!(texts(text, Operator::WrongInitial), wanted);
    let off_by_one = texts(text, Operator::OffByOne);
    for wrong in
        [text.replace("i + 1", "i + 2"), text.replace("i * 2", "i * 3"), text.replace("g(7)", "g(8)")]
    {
        assert!(off_by_one.contains(&wrong), "{wrong}");
    }
}

#[test]
fn one_change_of_a_source_is_one_mutant_in_all_programs() {
    for name in crate::programs::names().unwrap() {
        let program = crate::programs::load(&name).unwrap();
        let mut seen = std::collections::BTreeMap::new();
        for mutant in mutants(&program.source) {
            let mutated = mutant.apply(&program.source);
            let words = mutated.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(other) = seen.insert(words, mutant.clone()) {
                // Of two statements in a row that are the same, one or the other is missing.
                let is_other = other.operator == mutant.operator && other.range != mutant.range;
                assert!(is_other, "{name}: {} is {}", mutant.name(), other.name());
            }
        }
    }
}

#[test]
fn a_variable_of_another_function_is_another_variable() {
    let text = "int g(int b)\n{\n  return b;\n}\nvoid f(int b)\n{\n  b++;\n  b = g(1);\n  g(2);\n}\n";
    assert_eq!(missing(text, Operator::RemovedStatement, 8), (vec![9], vec![7, 9]));
}

#[test]
fn a_field_is_not_a_variable_and_one_of_another_structure_is_another() {
    let text = [
        "struct one { int a; }; typedef struct { int a; } two;", // 1
        "struct box { struct one *ones; two *twos[3]; };",
        "void f(struct one *one, two *other, struct box *box)",
        "{",
        "  int a;",
        "  a = g();", // 6
        "  one->a = g();",
        "  other->a = g();",
        "  (*other).a += 1;",
        "  box->ones[1].a += 2;", // 10
        "  box->twos[1]->a++;",
        "  h(a);",
        "}",
    ]
    .join("\n");
    assert_eq!(missing(&text, Operator::RemovedStatement, 6).0, [12]);
    assert_eq!(missing(&text, Operator::RemovedStatement, 7).0, [10]);
    assert_eq!(missing(&text, Operator::RemovedStatement, 8).0, [9]);
    assert_eq!(missing(&text, Operator::RemovedStatement, 10).0, [11]);
}

#[test]
fn what_a_parameter_points_to_is_used_by_those_who_call() {
    let text = [
        "int f(int *number, int n)", // 1
        "{",
        "  *number = n;",
        "  return 1;",
        "}",
        "int g(int *number)", // 6
        "{",
        "  int a;",
        "  if (f(&a, 2))",
        "    *number += a;",
        "  return f(number, 3);", // 11
        "}",
    ]
    .join("\n");
    assert_eq!(missing(&text, Operator::RemovedStatement, 3).0, [9, 11]);
}

#[test]
fn a_pointer_is_used_to_write_what_it_points_to() {
    let text = "void f(char *p)\n{\n  char *q;\n  q = p;\n  p++;\n  *q = 1;\n  *q = 2;\n}\n";
    assert_eq!(missing(text, Operator::RemovedStatement, 4).0, [6]);
}

#[test]
fn a_use_in_the_other_arm_is_not_reached_but_in_the_next_round() {
    let arms = "  if (n) {\n    a = n;\n  } else if (a) {\n    n = a;\n  }\n";
    let text = format!("int f(int n, int a)\n{{\n{arms}  n++;\n  return n + a;\n}}\n");
    assert_eq!(missing(&text, Operator::RemovedStatement, 4).0, [9]);
    let text = format!("int f(int n, int a)\n{{\n  while (n) {{\n{arms}  n++;\n  }}\n  return n;\n}}\n");
    assert_eq!(missing(&text, Operator::RemovedStatement, 5).0, [6]);
}

#[test]
fn a_use_behind_a_break_or_return_is_not_reached() {
    let text = [
        "int f(int n, int a)", // 1
        "{",
        "  switch (n) {",
        "  case 1:",
        "    a = n;",
        "  case 2:", // 6
        "    n = 7;",
        "    break;",
        "  case 3: {",
        "    n = a;",
        "    break;", // 11
        "  }",
        "  }",
        "  if (n == 3) {",
        "    a = n;",
        "    return n;", // 16
        "  }",
        "  return a;",
        "}",
    ]
    .join("\n");
    assert_eq!(missing(&text, Operator::RemovedStatement, 5).0, [18]);
    assert_eq!(missing(&text, Operator::RemovedStatement, 15).0, [16]);
    let reached = text.replace("    break;\n  case 3", "    n++;\n  case 3");
    assert_eq!(missing(&reached, Operator::RemovedStatement, 5).0, [10]);
}

#[test]
fn a_loop_that_is_left_is_not_gone_around() {
    let text = [
        "int f(int n, int a)", // 1
        "{",
        "  while (n--) {",
        "    n -= a;",
        "    if (n) {",
        "      a = n;", // 6
        "      break;",
        "    }",
        "  }",
        "  return n;",
        "}",
    ]
    .join("\n");
    assert_eq!(missing(&text, Operator::RemovedStatement, 6).0, [7]);
    let around = text.replace("break;", "n++;");
    assert_eq!(missing(&around, Operator::RemovedStatement, 6).0, [4]);
}

#[test]
fn the_nearest_definition_should_have_been_overwritten() {
    let text = [
        "int f(int n)", // 1
        "{",
        "  int a = 1;",
        "  a = 2;",
        "  if (n) {",
        "    a = 3;", // 6
        "    return n;",
        "  }",
        "  while (n) {",
        "    n++;",
        "    n = a + 1;", // 11
        "    n--;",
        "    a = g(n);",
        "    n--;",
        "    n += a;",
        "    a = h(n);", // 16
        "    n--;",
        "  }",
        "  a = 5;",
        "  return a;",
        "}",
    ]
    .join("\n");
    // Around the loop comes what line 16 computed; the arm of line 6 ends in a return.
    assert_eq!(missing(&text, Operator::RemovedStatement, 13).1, [4, 12, 14, 15, 16]);
    let once = text.replace("while (n)", "if (n == 4)");
    assert_eq!(missing(&once, Operator::RemovedStatement, 13).1, [4, 12, 14, 15]);
}

#[test]
fn what_is_defined_nowhere_before_is_overwritten_where_it_is_initialised_or_elsewhere() {
    let text = [
        "static int a = 1, b;", // 1
        "void f(int n)",
        "{",
        "  a = n;",
        "  b = n;",
        "}", // 6
        "void g(int n)",
        "{",
        "  n++;",
        "  a = n + 1;",
        "  n--;", // 11
        "  b = n + 1;",
        "  n++;",
        "  h(n + a);",
        "  h(n + b);",
        "}", // 16
    ]
    .join("\n");
    assert_eq!(missing(&text, Operator::RemovedStatement, 10), (vec![14], vec![1, 9, 11, 14]));
    assert_eq!(missing(&text, Operator::RemovedStatement, 12), (vec![15], vec![5, 11, 13, 15]));
}
