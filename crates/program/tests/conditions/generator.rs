//! C functions with one condition each: all shapes of `!`, `&&`, `||` over comparisons and calls.

use std::fmt::Write as _;

/// A small generator of numbers, the same on every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

#[derive(Clone, Debug)]
pub enum Expression {
    /// The kind of leaf; which variables it has follows from its place.
    Leaf(usize),
    Not(Box<Expression>),
    And(Box<(Expression, Expression)>),
    Or(Box<(Expression, Expression)>),
}

pub const LEAVES: usize = 13;
pub const MOST_LEAVES: usize = 16;

/// All shapes up to a depth, with leaf 0 everywhere.
pub fn shapes(depth: usize) -> Vec<Expression> {
    let mut all = vec![Expression::Leaf(0)];
    for _ in 0..depth {
        let mut next = vec![Expression::Leaf(0)];
        next.extend(all.iter().map(|inner| Expression::Not(Box::new(inner.clone()))));
        for a in &all {
            for b in &all {
                next.push(Expression::And(Box::new((a.clone(), b.clone()))));
                next.push(Expression::Or(Box::new((a.clone(), b.clone()))));
            }
        }
        all = next;
    }
    all
}

/// A random shape of exactly this depth.
pub fn shape(random: &mut Random, depth: usize) -> Expression {
    if depth == 0 {
        return Expression::Leaf(0);
    }
    let deep = shape(random, depth - 1);
    let other_depth = random.below(depth);
    let other = shape(random, other_depth);
    let pair = if random.below(2) == 0 { (deep, other) } else { (other, deep) };
    match random.below(5) {
        0 => Expression::Not(Box::new(if random.below(2) == 0 { pair.0 } else { pair.1 })),
        1 | 2 => Expression::And(Box::new(pair)),
        _ => Expression::Or(Box::new(pair)),
    }
}

impl Expression {
    /// The same shape with other leaves.
    pub fn with_leaves(&self, choose: &mut impl FnMut() -> usize) -> Expression {
        match self {
            Expression::Leaf(_) => Expression::Leaf(choose()),
            Expression::Not(inner) => Expression::Not(Box::new(inner.with_leaves(choose))),
            Expression::And(pair) => {
                Expression::And(Box::new((pair.0.with_leaves(choose), pair.1.with_leaves(choose))))
            }
            Expression::Or(pair) => {
                Expression::Or(Box::new((pair.0.with_leaves(choose), pair.1.with_leaves(choose))))
            }
        }
    }

    pub fn leaves(&self) -> usize {
        match self {
            Expression::Leaf(_) => 1,
            Expression::Not(inner) => inner.leaves(),
            Expression::And(pair) | Expression::Or(pair) => pair.0.leaves() + pair.1.leaves(),
        }
    }

    /// A leaf that is not 0 or 1.
    pub fn is_number(&self) -> bool {
        matches!(self, Expression::Leaf(0 | 8 | 10))
    }

    /// As C text; `next` counts leaves.
    pub fn text(&self, next: &mut usize) -> String {
        match self {
            Expression::Leaf(kind) => {
                *next += 1;
                leaf_text(*kind, *next - 1)
            }
            Expression::Not(inner) => format!("!({})", inner.text(next)),
            Expression::And(pair) => format!("({} && {})", pair.0.text(next), pair.1.text(next)),
            Expression::Or(pair) => format!("({} || {})", pair.0.text(next), pair.1.text(next)),
        }
    }

    pub fn holds(&self, next: &mut usize, integers: &[i32], doubles: &[f64]) -> bool {
        match self {
            Expression::Leaf(kind) => {
                *next += 1;
                leaf_holds(*kind, *next - 1, integers, doubles)
            }
            Expression::Not(inner) => !inner.holds(next, integers, doubles),
            Expression::And(pair) => {
                let (a, b) = (pair.0.holds(next, integers, doubles), pair.1.holds(next, integers, doubles));
                a && b
            }
            Expression::Or(pair) => {
                let (a, b) = (pair.0.holds(next, integers, doubles), pair.1.holds(next, integers, doubles));
                a || b
            }
        }
    }
}

fn leaf_text(kind: usize, n: usize) -> String {
    match kind {
        0 => format!("a{n}"),
        1 => format!("a{n} < b{n}"),
        2 => format!("a{n} == b{n}"),
        3 => format!("(unsigned)a{n} <= (unsigned)b{n}"),
        4 => format!("x{n} < y{n}"),
        5 => format!("x{n} == y{n}"),
        6 => format!("x{n} != y{n}"),
        7 => format!("(float)x{n} >= (float)y{n}"),
        8 => format!("f(a{n})"),
        9 => format!("f(a{n}) > 0"),
        10 => format!("(a{n} & 2)"),
        11 => format!("g(x{n}) > y{n}"),
        _ => format!("(b{n} = f(a{n})) >= 1"),
    }
}

fn leaf_holds(kind: usize, n: usize, integers: &[i32], doubles: &[f64]) -> bool {
    let (a, b) = (integers[2 * n], integers[2 * n + 1]);
    let (x, y) = (doubles[2 * n], doubles[2 * n + 1]);
    match kind {
        0 | 8 => a != 0,
        1 => a < b,
        2 => a == b,
        3 => a as u32 <= b as u32,
        4 => x < y,
        5 => x == y,
        6 => x != y,
        7 => x as f32 >= y as f32,
        9 => a > 0,
        10 => a & 2 != 0,
        11 => x > y,
        _ => a >= 1,
    }
}

/// What stands around a condition.
pub const CONTEXTS: [&str; 9] = [
    "if (COND) yes(); else no();",
    "if (COND) { yes(); } no();",
    "while (COND) yes(); no();",
    "for (; COND; tick()) yes(); no();",
    "do yes(); while (COND); no();",
    "r = COND ? yes() : no();",
    "return COND;",
    "r = COND; sink(r);",
    "sink(COND);",
];

pub struct Case {
    pub expression: Expression,
    pub context: usize,
}

impl Case {
    pub fn name(number: usize) -> String {
        format!("case_{number}")
    }

    pub fn is_value(&self) -> bool {
        self.context >= 6
    }

    pub fn body(&self) -> String {
        let condition = self.expression.text(&mut 0);
        CONTEXTS[self.context].replace("COND", &condition)
    }
}

/// One file with a function a case.
pub fn source(cases: &[Case]) -> String {
    let mut text = String::from(
        "#define OUT __attribute__((noinline))\n\
         volatile int count;\n\
         OUT int yes(void) { return count++; }\n\
         OUT int no(void) { return count--; }\n\
         OUT void tick(void) { count += 2; }\n\
         OUT void sink(int r) { count = r; }\n\
         OUT int f(int n) { count += 3; return n; }\n\
         OUT double g(double n) { count += 3; return n; }\n\
         void _start(void) {}\n",
    );
    for (number, case) in cases.iter().enumerate() {
        let _ = write!(text, "int {}(const int *i, const double *d) {{ int r = 0;", Case::name(number));
        for n in 0..case.expression.leaves() {
            let (even, odd) = (2 * n, 2 * n + 1);
            let _ = write!(text, " int a{n} = i[{even}], b{n} = i[{odd}];");
            let _ = write!(text, " double x{n} = d[{even}], y{n} = d[{odd}];");
        }
        let _ = writeln!(text, "\n    {}\n    return r; }}", case.body());
    }
    text
}
