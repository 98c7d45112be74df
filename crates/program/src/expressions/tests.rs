//! What needs no guest: the form of expressions, and arithmetic.

use super::*;
use crate::Registers;
use crate::unwind::Rule;

fn constant(text: &str) -> Result<TypedValue, EvalError> {
    let program = Program::from_mappings([]);
    let registers = Registers::new(0, [0; 16]);
    let state = State::new(registers, |_, _: &mut [u8]| false);
    let frame = Frame { address: 0, lookup: 0, registers, rule: Rule::Innermost };
    Expression::parse(text).unwrap().evaluate(&program, &state, &frame)
}

#[track_caller]
fn check(text: &str, value: &str, type_name: &str) {
    let found = constant(text).unwrap();
    assert_eq!((found.text.as_str(), found.type_name.as_str()), (value, type_name), "{text}");
}

#[test]
fn arithmetic_is_that_of_c() {
    check("1 + 2 * 3 - 4 / 3", "6", "int");
    check("(1 + 2) * 3 % 5", "4", "int");
    check("-7 / 2", "-3", "int");
    check("-7 % 2", "-1", "int");
    check("1 << 4 | 3 & 6 ^ 1", "19", "int");
    check("7 / 2.0", "3.5", "double");
    check("1.5f + 1", "2.5", "float");
    check("'a' + 1", "98", "int");
    check("'\\n' == 10 && '\\x41' == 65 && '\\101' == 'A'", "1", "int");
    check("~0", "-1", "int");
    check("!3 + !0", "1", "int");
    check("1 ? 2 : 1 / 0", "2", "int");
    check("0 && 1 / 0", "0", "int");
    check("1 || 1 / 0", "1", "int");
    check("2 > 1 == 1", "1", "int");
}

#[test]
fn integers_are_promoted_and_converted() {
    check("2147483647 + 1", "-2147483648", "int");
    check("2147483648", "2147483648", "long");
    check("0xffffffff", "4294967295", "unsigned int");
    check("4294967295u + 1", "0", "unsigned int");
    check("-1 < 1u", "0", "int");
    check("-1 < 1l", "1", "int");
    check("-1 < 1ul", "0", "int");
    check("-1l < 1u", "1", "int");
    check("(unsigned char) 300 + 0", "44", "int");
    check("(signed char) 200", "-56", "signed char");
    check("(unsigned) -1", "4294967295", "unsigned int");
    check("(long long unsigned) -1", "18446744073709551615", "unsigned long");
    check("(int) 3.99", "3", "int");
    check("(_Bool) 0.5", "1", "_Bool");
    check("(uint8_t) -1 + 0", "255", "int");
    check("-2147483647 - 1 >> 31", "-1", "int");
    check("0x80000000 >> 31", "1", "unsigned int");
    check("sizeof(long) + sizeof 1", "12", "unsigned long");
    check("sizeof(char *) * 2", "16", "unsigned long");
    check("(char *) 4096 + 2", "0x1002", "signed char *");
    check("(int *) 16 - (int *) 8", "2", "long");
    check("(int *) 8 > NULL", "1", "int");
}

#[test]
fn what_has_no_value_says_why() {
    let message = |text: &str| constant(text).unwrap_err().to_string();
    assert_eq!(message("1 / 0"), "`1 / 0` has no value there: division by zero");
    assert_eq!(
        message("1 << 32"),
        "`1 << 32` has no value there: a value of 32 bits can be shifted by 0 to 31"
    );
    assert_eq!(message("1.5 % 2"), "`1.5 % 2` has no value there: this operator wants integers");
    assert_eq!(message("x + 1"), "there is no variable `x` there");
    assert_eq!(
        message("LIMIT"),
        "there is no variable `LIMIT` there; macros are not known, write what it stands for"
    );
    assert_eq!(message("*3"), "`3` is no pointer");
    assert_eq!(
        message("*(int *) 16"),
        "`*(int *) 16` has no value there: Cannot access memory at address 0x10"
    );
    assert_eq!(message("(strange) 3"), "there is no type `strange`");
    assert_eq!(message("&3"), "`3` has no address: it is computed");
    assert!(constant("1 / 0").is_err_and(|error| !error.is_lasting()));
    assert!(constant("x").is_err_and(|error| error.is_lasting()));
}

#[test]
fn a_wrong_text_is_told_with_its_place() {
    let message = |text: &str| Expression::parse(text).unwrap_err().to_string();
    assert_eq!(message("a = 3"), "`=` would assign; to compare, write `==`, at character 3 of `a = 3`");
    assert_eq!(message("a +"), "something is missing at the end, at character 4 of `a +`");
    assert_eq!(message("f(1)"), "functions cannot be called, at character 2 of `f(1)`");
    assert_eq!(message("a b"), "an operator or the end is expected, at character 3 of `a b`");
    assert_eq!(message("a++"), "nothing can be changed, at character 2 of `a++`");
    assert_eq!(message("(a"), "`)` is expected, at character 3 of `(a`");
    assert_eq!(message("a.3"), "an operator or the end is expected, at character 2 of `a.3`");
    assert_eq!(message("1x"), "`1x` is no number, at character 1 of `1x`");
    assert_eq!(message("'ab'"), "a character is one byte, at character 1 of `'ab'`");
    assert_eq!(message("\"ab"), "the closing \" is missing, at character 1 of `\"ab`");
    assert_eq!(message("a @ b"), "`@` is no part of an expression, at character 3 of `a @ b`");
    assert!(message("  ").starts_with("the expression is empty"));
}

#[test]
fn deep_and_long_texts_are_refused() {
    for text in
        ["(".repeat(5000), "-".repeat(5000), "a+".repeat(5000), "a[".repeat(5000), "1".repeat(1 << 15)]
    {
        assert!(Expression::parse(&text).is_err());
    }
    assert!(Expression::parse(&format!("1{}", " + 1".repeat(200))).is_ok());
}

#[test]
fn random_words_are_never_too_much() {
    let words = [
        "a", "(", ")", "[", "]", "->", ".", "*", "&", "-", "1", "2.5", "'x'", "\"s\"", "?", ":", "&&", "int",
        "sizeof", "struct", "é", "~", "<<", "==", "unsigned",
    ];
    let mut seed = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..seed % 12 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
            text.push(' ');
        }
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1) >> 1;
        if Expression::parse(&text).is_ok() {
            let _ = constant(&text);
        }
    }
}

#[test]
fn operands_are_what_is_read() {
    let operands = |text: &str| -> Vec<String> {
        let expression = Expression::parse(text).unwrap();
        expression.operands().iter().map(|operand| operand.text().to_owned()).collect()
    };
    assert_eq!(operands("a[i].x > n && n"), ["a[i].x", "i", "n"]);
    assert_eq!(operands("*p == p->next->value + 1"), ["*p", "p->next->value"]);
    assert_eq!(operands("(list)->count == 3"), ["(list)->count"]);
    assert!(operands("1 + 2").is_empty());
}
