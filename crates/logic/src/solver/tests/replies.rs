//! Any bytes are an answer or none, and never a panic.

use crate::random::{Random, rounds};
use crate::solver::child::reply::{self, Expression, Reader};

fn read(bytes: &[u8]) -> Vec<Expression> {
    let mut reader = Reader::default();
    let mut all = Vec::new();
    for byte in bytes {
        match reader.take(*byte) {
            Ok(expression) => all.extend(expression),
            Err(_) => return all,
        }
    }
    all.extend(reader.finish());
    all
}

#[test]
fn expressions_are_read() {
    let atom = |text: &str| Expression::Atom(text.to_owned());
    let text = b"sat ; a comment (\n((|v 0| #x0f)\n (b (_ bv5 32)) \"a \"\"b\"\"\")\nunsat";
    let first = Expression::List(vec![atom("|v 0|".trim_matches('|')), atom("#x0f")]);
    let five = Expression::List(vec![atom("_"), atom("bv5"), atom("32")]);
    let second = Expression::List(vec![atom("b"), five]);
    let list = Expression::List(vec![first, second, Expression::Text("a \"b\"".to_owned())]);
    assert_eq!(read(text), [atom("sat"), list, atom("unsat")]);
}

#[test]
fn values_are_read_in_all_their_forms() {
    let values = |text: &str, widths: &[u32]| reply::values(&read(text.as_bytes())[0], widths);
    assert_eq!(values("((v1 #b101) (v0 #xff) (v2 (_ bv5 32)))", &[8, 3, 32]), Some(vec![255, 5, 5]));
    let wide = format!("((v0 #x{}))", "f".repeat(32));
    assert_eq!(values(&wide, &[128]), Some(vec![u128::MAX]));
    for wrong in ["((v0 #x1ff))", "((v0 #xff) (v0 #xff))()", "((v0 ff))", "((v1 #xff))", "(v0)", "sat"] {
        assert!(values(wrong, &[8]).is_none_or(|values| values == [255]), "{wrong}");
    }
    assert_eq!(values("((v0 #xff))", &[8, 8]), None);
    assert_eq!(values("((v0 #x1ff))", &[8]), None);
}

/// Parts of answers in any order, with bytes changed.
fn garbled(random: &mut Random) -> Vec<u8> {
    const PARTS: [&str; 16] = [
        "(",
        ")",
        "sat\n",
        "unsat\n",
        " ",
        "v0",
        "#xff",
        "#b1",
        "(_ bv5 32)",
        "|",
        "\"",
        ";",
        "c0 ",
        "\n",
        "(error \"",
        "\u{e9}",
    ];
    let mut bytes = Vec::new();
    for _ in 0..random.below(40) {
        bytes.extend_from_slice(random.pick(&PARTS).as_bytes());
        if random.below(10) == 0 {
            bytes.push(random.any() as u8);
        }
    }
    bytes
}

#[test]
fn any_bytes_are_an_answer_or_none() {
    let mut random = Random::new(7);
    let mut understood = 0;
    for _ in 0..rounds(100_000, 10_000_000) {
        let bytes = garbled(&mut random);
        for expression in read(&bytes) {
            let (values, core) = (reply::values(&expression, &[8, 1]), reply::core(&expression, 2));
            if let Some(core) = core {
                assert!(core.iter().all(|number| *number < 2));
            }
            understood += usize::from(reply::status(&expression).is_some() || values.is_some());
            assert!(expression.shortened().chars().count() <= 101);
        }
    }
    assert!(understood > 1000, "{understood}");
}
