//! Builders are held against the meaning of nodes on random expressions, and shown to find again what people wrote.

use crate::term::*;

/// Numbers without a pattern, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Small numbers, corners and any.
    fn number(&mut self) -> u128 {
        match self.below(5) {
            0 => u128::from(self.next() % 9),
            1 => self.pick(&[0, u128::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0xff, 0xffff, 1 << 127]),
            2 => 1 << self.below(128),
            _ => u128::from(self.next()) << 64 | u128::from(self.next()),
        }
    }

    /// Floats of moderate size, and any bits.
    fn float(&mut self, format: Format) -> u128 {
        let small = self.next() as i64 % 1000;
        match (self.below(3), format) {
            (0, Format::Single) => (small as f32 / 8.0).to_bits().into(),
            (0, Format::Double) => (small as f64 / 8.0).to_bits().into(),
            (0, Format::Extended) => 0x3fff_8000_0000_0000_0000 + (u128::from(self.next()) >> 1),
            (1, Format::Extended) => self.number() | 1 << 63,
            _ => self.number(),
        }
    }
}

const WIDTHS: [u32; 8] = [1, 8, 16, 32, 33, 64, 80, 128];

/// Terms with the values that they should have.
struct Pool {
    terms: Terms,
    random: Random,
    all: Vec<(Term, u128)>,
    evaluation: Evaluation,
}

impl Pool {
    fn new(seed: u64) -> Pool {
        let mut pool = Pool {
            terms: Terms::new(),
            random: Random(seed),
            all: Vec::new(),
            evaluation: Evaluation::default(),
        };
        let sorts = WIDTHS.map(|width| Sort::Bits(width as u8)).into_iter();
        let sorts: Vec<Sort> = sorts.chain([Sort::Bool]).chain(Format::ALL.map(Sort::Float)).collect();
        for sort in sorts {
            for _ in 0..2 {
                let value = match sort {
                    Sort::Float(format) => pool.random.float(format),
                    Sort::Bool | Sort::Bits(_) => pool.random.number(),
                } & sort.mask();
                let variable = pool.terms.variable(sort);
                pool.evaluation.assign(variable, value);
                let term = pool.terms.of_variable(variable);
                pool.all.push((term, value));
                let constant = match sort {
                    Sort::Float(format) => pool.random.float(format),
                    Sort::Bool | Sort::Bits(_) => pool.random.number(),
                } & sort.mask();
                let term = pool.terms.value(sort, constant);
                pool.all.push((term, constant));
            }
        }
        pool
    }

    fn any(&mut self, wanted: impl Fn(Sort) -> bool) -> (Term, u128) {
        loop {
            let recent = self.all.len().min(40);
            let from = if self.random.below(2) == 0 { self.all.len() - recent } else { 0 };
            let at = from + self.random.below(self.all.len() - from);
            if wanted(self.terms.sort(self.all[at].0)) {
                return self.all[at];
            }
        }
    }

    /// Makes a node of what there is, computes its value by its meaning, and compares with the value of what was built.
    fn step(&mut self) {
        let (node, values) = self.node();
        let expected = self.terms.value_of(node, values).expect("no unknown was asked for");
        let built = self.terms.build(node);
        assert_eq!(self.terms.sort(built), self.terms.sort_of(node), "{node:?}");
        let value = self.evaluation.value(&self.terms, built);
        let operands: Vec<String> = node.children().map(|child| self.terms.print(child)).collect();
        assert_eq!(value, expected, "{node:?} of {operands:?} became {}", self.terms.print(built));
        self.all.push((built, expected));
    }

    fn node(&mut self) -> (Node, [u128; 3]) {
        let is_bits = |sort: Sort| matches!(sort, Sort::Bits(_));
        let is_float = |sort: Sort| matches!(sort, Sort::Float(_));
        let is_bool = |sort: Sort| sort == Sort::Bool;
        let rounding = self.random.pick(&Rounding::ALL);
        match self.random.below(16) {
            0 => {
                let ((a, x), (b, y)) = (self.any(is_bool), self.any(is_bool));
                let node =
                    [Node::Not(a), Node::And(a, b), Node::Or(a, b), Node::Xor(a, b), Node::Implies(a, b)];
                (self.random.pick(&node), [x, y, 0])
            }
            1 => {
                let ((c, x), (a, y)) = (self.any(is_bool), self.any(|_| true));
                let sort = self.terms.sort(a);
                let (b, z) = self.any(|other| other == sort);
                (Node::IfThenElse(c, a, b), [x, y, z])
            }
            2 => {
                let (a, x) = self.any(|_| true);
                let sort = self.terms.sort(a);
                let (b, y) = self.any(|other| other == sort);
                (Node::Equal(a, b), [x, y, 0])
            }
            3 => {
                let (a, x) = self.any(is_bits);
                (Node::BitsUnary(self.random.pick(&[BitsUnary::Not, BitsUnary::Negate]), a), [x, 0, 0])
            }
            4..8 => {
                use BitsBinary::*;
                let functions = [
                    Add,
                    Add,
                    Sub,
                    Sub,
                    Mul,
                    UnsignedDivide,
                    UnsignedRemainder,
                    SignedDivide,
                    SignedRemainder,
                    And,
                    Or,
                    Xor,
                    ShiftLeft,
                    ShiftRight,
                    ShiftRightSigned,
                ];
                let ((a, x), (b, y)) = self.pair();
                (Node::BitsBinary(self.random.pick(&functions), a, b), [x, y, 0])
            }
            8 => {
                use BitsCompare::*;
                let relations = [UnsignedLess, UnsignedLessOrEqual, SignedLess, SignedLessOrEqual];
                let ((a, x), (b, y)) = self.pair();
                (Node::BitsCompare(self.random.pick(&relations), a, b), [x, y, 0])
            }
            9 | 10 => {
                let (a, x) = self.any(|sort| is_bits(sort) && sort.width() < 128);
                let room = 128 - self.terms.width(a);
                let (b, y) = self.any(|sort| is_bits(sort) && sort.width() <= room);
                (Node::Concat(a, b), [x, y, 0])
            }
            11 => {
                let (of, x) = self.any(is_bits);
                let high = self.random.below(self.terms.width(of) as usize);
                let low = self.random.below(high + 1);
                (Node::Extract { high: high as u8, low: low as u8, of }, [x, 0, 0])
            }
            12 => {
                let (a, x) = self.any(is_bits);
                let width = self.terms.width(a);
                let to = self.random.pick(&WIDTHS).max(width) as u8;
                (self.random.pick(&[Node::ZeroExtend(to, a), Node::SignExtend(to, a)]), [x, 0, 0])
            }
            13 => {
                let (a, x) = self.any(is_float);
                let nodes = [
                    Node::FloatSquareRoot(rounding, a),
                    Node::FloatRound(rounding, a),
                    Node::FloatNegate(a),
                    Node::FloatAbsolute(a),
                    Node::FloatIsNan(a),
                    Node::FloatToBits(a),
                    Node::FloatConvert(self.random.pick(&Format::ALL), rounding, a),
                    Node::FloatToSigned(self.random.pick(&[8, 16, 32, 64]), rounding, a),
                ];
                (self.random.pick(&nodes), [x, 0, 0])
            }
            14 => {
                let (a, x) = self.any(is_float);
                let sort = self.terms.sort(a);
                let (b, y) = self.any(|other| other == sort);
                use FloatArithmetic::*;
                let function = self.random.pick(&[Add, Sub, Mul, Div]);
                let relation =
                    self.random.pick(&[FloatCompare::Equal, FloatCompare::Less, FloatCompare::LessOrEqual]);
                let nodes = [
                    Node::FloatArithmetic(function, rounding, a, b),
                    Node::FloatRemainder(a, b),
                    Node::FloatCompare(relation, a, b),
                ];
                (self.random.pick(&nodes), [x, y, 0])
            }
            _ => {
                let format = self.random.pick(&Format::ALL);
                let bits = format.bits();
                if self.random.below(2) == 0 {
                    let (a, x) = self.any(|sort| is_bits(sort) && sort.width() == bits);
                    return (Node::FloatFromBits(format, a), [x, 0, 0]);
                }
                let (a, x) = self.any(|sort| is_bits(sort) && sort.width() <= 64);
                (Node::FloatFromSigned(format, rounding, a), [x, 0, 0])
            }
        }
    }

    /// Two of the same width; the second is sometimes a constant that is likely to matter.
    fn pair(&mut self) -> ((Term, u128), (Term, u128)) {
        let (a, x) = self.any(|sort| matches!(sort, Sort::Bits(_)));
        let sort = self.terms.sort(a);
        if self.random.below(3) == 0 {
            let value = self.random.number() & sort.mask();
            let constant = (self.terms.value(sort, value), value);
            return if self.random.below(4) == 0 { (constant, (a, x)) } else { ((a, x), constant) };
        }
        ((a, x), self.any(|other| other == sort))
    }
}

#[test]
fn what_is_built_has_the_value_that_was_asked_for() {
    for seed in 0..200 {
        let mut pool = Pool::new(seed);
        for _ in 0..400 {
            pool.step();
        }
    }
}

fn unknown(terms: &mut Terms, width: u32) -> Term {
    terms.unknown(Sort::Bits(width as u8))
}

#[test]
fn equal_terms_are_one_term() {
    let mut terms = Terms::new();
    let (a, b) = (unknown(&mut terms, 32), unknown(&mut terms, 32));
    assert_eq!(terms.add(a, b), terms.add(b, a));
    let difference = terms.sub(a, b);
    assert_ne!(difference, terms.sub(b, a));
    assert_eq!(terms.add(difference, b), a);
}

#[test]
fn bytes_that_were_taken_apart_are_put_together_again() {
    let mut terms = Terms::new();
    for make in
        [|terms: &mut Terms, a| terms.zero_extend(64, a), |terms: &mut Terms, a| terms.sign_extend(64, a)]
    {
        let narrow = unknown(&mut terms, 32);
        let whole = make(&mut terms, narrow);
        let bytes: Vec<Term> = (0..8).map(|n| terms.extract(8 * n + 7, 8 * n, whole)).collect();
        let joined = bytes.into_iter().reduce(|low, high| terms.concat(high, low));
        assert_eq!(joined, Some(whole));
        let half = terms.extract(31, 0, whole);
        assert_eq!(half, narrow);
    }
}

#[test]
fn multiplications_by_adding_and_shifting_are_multiplications() {
    let mut terms = Terms::new();
    let a = unknown(&mut terms, 64);
    let two = terms.bits(64, 2);
    let four_times = terms.shift_left(a, two);
    let five_times = terms.add(a, four_times);
    let ten_times = terms.add(five_times, five_times);
    assert_eq!(terms.print(ten_times), "(v0 * 10)");
    let nine_times = terms.sub(ten_times, a);
    assert_eq!(terms.print(nine_times), "(v0 * 9)");
}

#[test]
fn signs_of_floats_are_changed_by_masks() {
    let mut terms = Terms::new();
    let a = unknown(&mut terms, 64);
    let (sign, rest) = (terms.bits(64, 1 << 63), terms.bits(64, (1 << 63) - 1));
    let (flipped, cleared) = (terms.bits_xor(a, sign), terms.bits_and(a, rest));
    let (flipped, cleared) =
        (terms.float_from_bits(Format::Double, flipped), terms.float_from_bits(Format::Double, cleared));
    assert_eq!(
        (terms.print(flipped), terms.print(cleared)),
        ("-.as_f64(v0)".into(), "fabs(as_f64(v0))".into())
    );
}

#[test]
fn a_comparison_of_extended_values_is_one_of_the_values() {
    let mut terms = Terms::new();
    let (a, b) = (unknown(&mut terms, 8), unknown(&mut terms, 8));
    let (wide_a, wide_b) = (terms.zero_extend(32, a), terms.zero_extend(32, b));
    let letter = terms.bits(32, 0x61);
    let (less, equal) = (terms.signed_less(wide_a, wide_b), terms.equal(wide_a, letter));
    assert_eq!((terms.print(less), terms.print(equal)), ("(v0 <u v1)".into(), "(v0 == 97)".into()));
    let at_least = terms.not(less);
    assert_eq!(terms.print(at_least), "(v1 <=u v0)");
}

/// Multiplications and shifts as compilers make them, and with factors that they do not use: whatever is taken for a division has the values of the form.
#[test]
fn forms_of_divisions_have_the_values_of_divisions() {
    let mut random = Random(7);
    let mut found = [0; 5];
    for round in 0..6000 {
        let kind = random.below(found.len());
        let bits = random.pick(&[8, 16]);
        let divisor = 2 + random.below(if round % 2 == 0 { 12 } else { 100 }) as u128;
        let shift = bits + random.below(bits as usize) as u32;
        let exact = (1u128 << shift) / divisor + 1;
        let factor = match random.below(4) {
            0 => random.number() & ((1 << (2 * bits)) - 1),
            _ => exact,
        };
        let mut terms = Terms::new();
        let variable = terms.variable(Sort::Bits(bits as u8));
        let x = terms.of_variable(variable);
        let form = division_form(&mut terms, kind, x, factor, shift);
        let becomes_division = terms.cone([form]).into_iter().any(|term| {
            matches!(
                terms.node(term),
                Node::BitsBinary(BitsBinary::UnsignedDivide | BitsBinary::SignedDivide, ..)
            )
        });
        if !becomes_division {
            continue;
        }
        found[kind] += 1;
        let equivalence = *terms.equivalences().first().expect("the form is kept");
        for value in
            (0..1u128 << bits).step_by(if bits == 8 { 1 } else { 97 }).chain([0x7fff, 0x8000, 0xffff])
        {
            let mut assignment = Assignment::default();
            assignment.set(variable, value);
            let mut evaluation = Evaluation::new(assignment);
            let values = [equivalence.form, equivalence.division].map(|term| evaluation.value(&terms, term));
            assert_eq!(values[0], values[1], "{} of {value}", terms.print(equivalence.form));
        }
    }
    assert!(found.iter().all(|count| *count > 20), "{found:?}");
}

fn division_form(terms: &mut Terms, kind: usize, x: Term, factor: u128, shift: u32) -> Term {
    let bits = terms.width(x);
    let wide = if kind >= 2 { terms.sign_extend(2 * bits, x) } else { terms.zero_extend(2 * bits, x) };
    // Of a factor with one bit too many, that bit is added apart.
    let in_product = if kind == 1 || kind == 4 { factor.wrapping_sub(1 << bits) } else { factor };
    let factor = terms.bits(2 * bits, in_product);
    let product = terms.mul(wide, factor);
    let (rest, upper) = (shift - bits, terms.extract(2 * bits - 1, bits, product));
    let count = terms.bits(bits, rest.into());
    let sign = terms.bits(bits, u128::from(bits) - 1);
    match kind {
        0 => {
            let count = terms.bits(2 * bits, shift.into());
            terms.shift_right(product, count)
        }
        1 => {
            let (one, difference) = (terms.bits(bits, 1), terms.sub(x, upper));
            let half = terms.shift_right(difference, one);
            let sum = terms.add(half, upper);
            let count = terms.sub(count, one);
            terms.shift_right(sum, count)
        }
        2 => {
            let (shifted, sign) = (terms.shift_right_signed(upper, count), terms.shift_right_signed(x, sign));
            terms.sub(shifted, sign)
        }
        3 => {
            let count = terms.bits(2 * bits, shift.into());
            let shifted = terms.shift_right_signed(product, count);
            let (low, zero) = (terms.extract(bits - 1, 0, shifted), terms.bits(2 * bits, 0));
            let negative = terms.signed_less(product, zero);
            let one = terms.truth_to_bits(negative, bits);
            terms.add(low, one)
        }
        _ => {
            let sum = terms.add(upper, x);
            let (shifted, sign) = (terms.shift_right_signed(sum, count), terms.shift_right_signed(x, sign));
            terms.sub(shifted, sign)
        }
    }
}

#[test]
fn no_depth_is_too_deep() {
    let mut terms = Terms::new();
    let (a, b) = (unknown(&mut terms, 64), unknown(&mut terms, 64));
    let mut deep = a;
    for _ in 0..300_000 {
        let product = terms.mul(deep, b);
        deep = terms.bits_xor(product, a);
    }
    assert_eq!(terms.depth(deep), 600_000);
    assert_eq!(terms.size([deep]), 600_002);
    let one = terms.bits(64, 1);
    let mut substitution = Substitution::default();
    substitution.replace(b, one);
    let replaced = substitution.apply(&mut terms, deep);
    assert_eq!(Evaluation::default().value(&terms, replaced), 0);
    assert!(terms.print(deep).len() < 5000);
}
