use super::*;
use crate::Variable;

/// A few variables: an int, an unsigned, a double, a pointer, an enumeration, a char, a long.
struct Some {
    terms: Terms,
    variables: Vec<(&'static str, Kind, Term)>,
}

impl Some {
    fn new() -> Some {
        let mut terms = Terms::new();
        let all = [
            ("i", Kind::Signed, 32),
            ("n", Kind::Unsigned, 32),
            ("area", Kind::Float, 64),
            ("p", Kind::Pointer, 64),
            ("kind", Kind::Signed, 32),
            ("letter", Kind::Signed, 8),
            ("sum", Kind::Signed, 64),
            ("j", Kind::Signed, 32),
        ];
        let variables = all
            .map(|(name, kind, width)| (name, kind, terms.unknown(Sort::Bits(width))))
            .into_iter()
            .collect();
        Some { terms, variables }
    }

    fn get(&self, name: &str) -> Term {
        self.variables.iter().find(|known| known.0 == name).unwrap().2
    }

    fn area(&mut self) -> Term {
        let area = self.get("area");
        self.terms.float_from_bits(Format::Double, area)
    }

    fn double(&mut self, value: f64) -> Term {
        self.terms.float(Format::Double, value.to_bits().into())
    }

    fn text(&self, term: Term) -> String {
        in_c(&self.terms, &Called(&self.variables), term)
    }
}

struct Called<'a>(&'a [(&'static str, Kind, Term)]);

impl Names for Called<'_> {
    fn name(&self, variable: Variable) -> String {
        self.0[variable.index()].0.to_owned()
    }

    fn kind(&self, variable: Variable) -> Kind {
        self.0[variable.index()].1
    }

    fn spell(&self, variable: Variable, value: u128) -> Option<String> {
        match self.0[variable.index()].0 {
            "kind" => (value == 2).then(|| "RIGHT".to_owned()),
            "letter" => char::from_u32(value as u32).map(|letter| format!("'{letter}'")),
            _ => None,
        }
    }
}

#[test]
fn a_property_reads_as_it_would_be_written() {
    let mut some = Some::new();
    let (kind, right) = (some.get("kind"), some.terms.bits(32, 2));
    let is_right = some.terms.equal(kind, right);
    let (least, area) = (some.double(9.915), some.area());
    let is_enough = some.terms.float_less_or_equal(least, area);
    let both = some.terms.and(is_right, is_enough);
    assert_eq!(some.text(both), "kind == RIGHT && 9.915 <= area");
}

#[test]
fn operators_are_enclosed_only_where_c_needs_it() {
    let mut some = Some::new();
    let (i, j) = (some.get("i"), some.get("j"));
    let product = some.terms.mul(i, j);
    let sum = some.terms.add(product, i);
    assert_eq!(some.text(sum), "i + i * j");
    let sum = some.terms.add(i, j);
    let product = some.terms.mul(sum, j);
    assert_eq!(some.text(product), "j * (i + j)");
    let difference = some.terms.sub(j, sum);
    assert!(["j - (i + j)", "-i"].contains(&some.text(difference).as_str()), "{}", some.text(difference));
    let inner = some.terms.signed_divide(i, j);
    let outer = some.terms.signed_divide(j, inner);
    assert_eq!(some.text(outer), "j / (i / j)");
}

#[test]
fn subtracting_a_number_is_written_so() {
    let mut some = Some::new();
    let (i, one) = (some.get("i"), some.terms.bits(32, 1));
    let less = some.terms.sub(i, one);
    assert_eq!(some.text(less), "i - 1");
}

#[test]
fn a_variable_is_widened_by_c_itself_beside_a_wider_one() {
    let mut some = Some::new();
    let (i, j, sum) = (some.get("i"), some.get("j"), some.get("sum"));
    let (wide, other) = (some.terms.sign_extend(64, i), some.terms.sign_extend(64, j));
    let total = some.terms.add(sum, wide);
    assert!(["sum + i", "i + sum"].contains(&some.text(total).as_str()), "{}", some.text(total));
    // Without a conversion this would be a product of ints.
    let product = some.terms.mul(wide, other);
    assert_eq!(some.text(product), "(long)i * j");
    let less = some.terms.signed_less(sum, wide);
    assert_eq!(some.text(less), "sum < i");
}

#[test]
fn comparisons_without_a_sign_say_so_unless_the_type_does() {
    let mut some = Some::new();
    let (i, n, ten) = (some.get("i"), some.get("n"), some.terms.bits(32, 10));
    let plain = some.terms.unsigned_less(n, ten);
    assert_eq!(some.text(plain), "n < 10");
    let cast = some.terms.unsigned_less(i, ten);
    assert_eq!(some.text(cast), "(unsigned)i < 10");
    let most = some.terms.bits(32, 0xffff_fff0);
    let large = some.terms.unsigned_less(n, most);
    assert_eq!(some.text(large), "n < 4294967280");
}

#[test]
fn a_sign_is_widened_before_it_is_read_as_none() {
    let mut some = Some::new();
    let (i, p) = (some.get("i"), some.get("p"));
    let wide = some.terms.sign_extend(64, i);
    let less = some.terms.unsigned_less(wide, p);
    assert_eq!(some.text(less), "(unsigned long)i < p");
}

#[test]
fn what_does_not_hold_is_told_by_the_opposite_comparison() {
    let mut some = Some::new();
    let (i, j) = (some.get("i"), some.get("j"));
    let less = some.terms.signed_less(i, j);
    let not = some.terms.not(less);
    assert!(["i >= j", "j <= i"].contains(&some.text(not).as_str()), "{}", some.text(not));
    let (area, limit) = (some.area(), some.double(2.5));
    let less = some.terms.float_less(area, limit);
    let not = some.terms.not(less);
    // It may be no number.
    assert_eq!(some.text(not), "!(area < 2.5)");
}

#[test]
fn pointers_and_characters_are_spelled_as_such() {
    let mut some = Some::new();
    let (p, null) = (some.get("p"), some.terms.bits(64, 0));
    let is_null = some.terms.equal(p, null);
    let not = some.terms.not(is_null);
    assert_eq!(some.text(not), "p != NULL");
    let (letter, a) = (some.get("letter"), some.terms.bits(8, b'a'.into()));
    let is_a = some.terms.equal(letter, a);
    assert_eq!(some.text(is_a), "letter == 'a'");
}

#[test]
fn a_conversion_is_written_where_c_would_compute_otherwise() {
    let mut some = Some::new();
    let (i, j) = (some.get("i"), some.get("j"));
    let product = some.terms.mul(i, j);
    let wide = some.terms.float_from_signed(Format::Double, Rounding::Nearest, product);
    let two = some.double(2.0);
    let half = some.terms.float_arithmetic(FloatArithmetic::Div, Rounding::Nearest, wide, two);
    assert_eq!(some.text(half), "(double)(i * j) / 2.0");
}

#[test]
fn a_deep_term_ends_somewhere() {
    let mut some = Some::new();
    let (i, j) = (some.get("i"), some.get("j"));
    let mut term = i;
    for _ in 0..100_000 {
        let product = some.terms.mul(term, j);
        term = some.terms.add(product, i);
    }
    let text = some.text(term);
    assert!(text.contains('…') && text.len() < 4 * LONGEST, "{} bytes", text.len());
}
