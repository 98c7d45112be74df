//! What the source text of a file says about conditions: which expressions stand alone, and what is done when they hold.
//!
//! Line tables give one position an instruction, of an operator, a parenthesis or a keyword. The text tells which
//! positions belong to one expression: `a &&` on one line and `b` on the next, but not `if (a)` and `if (b)`.

mod c;
mod rust;
mod written;

use std::ops::Range;
use std::rc::Rc;

use tree_sitter::{Node, Tree};

use crate::source::{Language, SourceFile};

pub use written::Written;

/// Expressions that contain statements that contain expressions: deeper than this there is no source.
const DEEPEST_NESTING: usize = 64;

/// An expression that stands alone: the condition of a statement, the expression of a statement, or an
/// initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Unit(u32);

/// The units of one source file.
pub(crate) struct Text {
    file: Rc<SourceFile>,
    spans: Vec<Span>,
    units: Vec<UnitText>,
}

/// A range of bytes whose positions belong to a unit. Spans are nested or apart.
struct Span {
    range: Range<usize>,
    unit: Unit,
    parent: Option<usize>,
}

#[derive(Default)]
struct UnitText {
    /// The expression, without the parentheses around it, or the statement that it is.
    written: Range<usize>,
    /// What is executed when the unit, or the part of it that controls this, holds (true) or does not.
    sides: Vec<(Range<usize>, bool)>,
    loops: bool,
    /// It is the condition of an `if` or a loop.
    controls: bool,
    switch: bool,
    asserts: bool,
}

impl Text {
    /// `None` when its language is not known, or when it cannot be parsed.
    pub fn new(file: Rc<SourceFile>) -> Option<Text> {
        let understand = match file.language()? {
            Language::C | Language::Cpp => Text::understand_c,
            Language::Rust => Text::understand_rust,
        };
        let mut text = Text { file: file.clone(), spans: Vec::new(), units: Vec::new() };
        text.collect(&file.syntax()?.tree, file.content(), understand);
        text.nest();
        Some(text)
    }

    /// The unit that a position, counted from 1, belongs to.
    pub fn unit_at(&self, line: u32, column: u32) -> Option<Unit> {
        let offset = self.file.offset(line, column)?;
        let mut at = self.spans.partition_point(|span| span.range.start <= offset).checked_sub(1);
        for _ in 0..DEEPEST_NESTING {
            let span = self.spans.get(at?)?;
            if offset < span.range.end {
                return Some(span.unit);
            }
            at = span.parent;
        }
        None
    }

    /// Whether a position is executed because the unit holds, or because it does not.
    pub fn side(&self, unit: Unit, line: u32, column: u32) -> Option<bool> {
        let offset = self.file.offset(line, column)?;
        let text = self.units.get(unit.0 as usize)?;
        let within = text.sides.iter().filter(|(range, _)| range.contains(&offset));
        within.min_by_key(|(range, _)| range.len()).map(|(_, side)| *side)
    }

    /// Whether the unit is evaluated again when it holds, unless something comes in between.
    pub fn is_loop(&self, unit: Unit) -> bool {
        self.units.get(unit.0 as usize).is_some_and(|unit| unit.loops)
    }

    /// Whether all of the unit is the condition of a statement.
    pub fn is_controlling(&self, unit: Unit) -> bool {
        self.units.get(unit.0 as usize).is_some_and(|unit| unit.controls)
    }

    pub fn is_switch(&self, unit: Unit) -> bool {
        self.units.get(unit.0 as usize).is_some_and(|unit| unit.switch)
    }

    /// Whether the unit is `assert(…)`, whose other side does not return.
    pub fn is_assertion(&self, unit: Unit) -> bool {
        self.units.get(unit.0 as usize).is_some_and(|unit| unit.asserts)
    }

    /// The nearest condition that decides whether a position is executed.
    pub fn controlling(&self, line: u32, column: u32) -> Option<Unit> {
        let offset = self.file.offset(line, column)?;
        let sides = self
            .units
            .iter()
            .enumerate()
            .filter(|(_, unit)| unit.controls)
            .flat_map(|(at, unit)| unit.sides.iter().map(move |(range, _)| (range, Unit(at as u32))));
        let around = sides.filter(|(range, _)| range.contains(&offset));
        around.min_by_key(|(range, _)| range.len()).map(|(_, unit)| unit)
    }

    fn collect(&mut self, tree: &Tree, source: &[u8], understand: fn(&mut Text, Node<'_>, &[u8])) {
        let mut cursor = tree.walk();
        loop {
            understand(self, cursor.node(), source);
            if cursor.goto_first_child() || cursor.goto_next_sibling() {
                continue;
            }
            loop {
                if !cursor.goto_parent() {
                    return;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
            }
        }
    }

    /// A statement with a condition. clang gives the keyword as the place of the jump.
    fn controlled(&mut self, statement: Node<'_>, condition: Range<usize>, unit: UnitText) {
        let start = statement.start_byte();
        let unit = self.add(condition.clone(), unit);
        self.span(start..condition.start, unit);
    }

    fn add(&mut self, range: Range<usize>, text: UnitText) -> Unit {
        let unit = Unit(self.units.len() as u32);
        let written = self.without_parentheses(range.clone());
        self.units.push(UnitText { written, ..text });
        self.span(range, unit);
        unit
    }

    fn without_parentheses(&self, range: Range<usize>) -> Range<usize> {
        let text = self.file.content().get(range.clone()).unwrap_or_default();
        let is_inside = text.len() > 2 && text.first() == Some(&b'(') && text.last() == Some(&b')');
        // Those of `(a) && (b)` belong to its parts.
        let mut open = 0usize;
        let closes_early = text.iter().take(text.len().saturating_sub(1)).any(|byte| {
            match byte {
                b'(' => open += 1,
                b')' => open = open.saturating_sub(1),
                _ => {}
            }
            open == 0
        });
        if is_inside && !closes_early { range.start + 1..range.end - 1 } else { range }
    }

    fn span(&mut self, range: Range<usize>, unit: Unit) {
        if range.start < range.end {
            self.spans.push(Span { range, unit, parent: None });
        }
    }

    /// Parts of an expression that are evaluated only if another part holds, or does not. Nodes are visited from
    /// the outside in, so the unit that was added last is the one around them, or they are in none.
    fn sides_within(&mut self, node: Node<'_>, sides: [(Option<Range<usize>>, bool); 2]) {
        let around = self.spans.iter().rev().take(DEEPEST_NESTING);
        let around =
            around.filter(|span| span.range.start <= node.start_byte() && node.end_byte() <= span.range.end);
        let Some(unit) = around.map(|span| span.unit).next() else { return };
        if let Some(unit) = self.units.get_mut(unit.0 as usize) {
            unit.sides.extend(sides.into_iter().filter_map(|(range, side)| Some((range?, side))));
        }
    }

    /// Finds each span's parent.
    fn nest(&mut self) {
        self.spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.spans.len() {
            let start = self.spans[at].range.start;
            while open.last().is_some_and(|last| self.spans[*last].range.end <= start) {
                open.pop();
            }
            self.spans[at].parent = open.last().copied();
            open.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn text(source: &str) -> Option<Text> {
        Text::new(Rc::new(SourceFile::new("test.c", Arc::new(source.as_bytes().to_vec()))))
    }

    const SOURCE: &str = "\
void f(int a, int b) {
    if (a &&
        b) yes();
    else no();
    if (a) if (b) yes();
    for (int i = 0; i < a; i++) yes();
    do { yes(); } while (a);
    x = a ? yes() : no();
    assert (a);
    while (a) ;
    switch (a) { case 1: yes(); }
}
";

    fn at(line: u32, marker: &str) -> (u32, u32) {
        let text = SOURCE.lines().nth(line as usize - 1).unwrap();
        (line, 1 + text.find(marker).unwrap() as u32)
    }

    fn unit(text: &Text, (line, column): (u32, u32)) -> Unit {
        text.unit_at(line, column).unwrap()
    }

    #[test]
    fn a_condition_over_two_lines_is_one_unit_and_nested_conditions_are_two() {
        let text = text(SOURCE).unwrap();
        assert_eq!(unit(&text, at(2, "&&")), unit(&text, at(3, "b)")));
        assert_eq!(
            unit(&text, at(2, "if")),
            unit(&text, at(3, "b)")),
            "the keyword stands for its condition"
        );
        assert_ne!(unit(&text, at(5, "a)")), unit(&text, at(5, "b)")));
        let clauses = ["i = 0", "i < a", "i++", "yes"].map(|clause| unit(&text, at(6, clause)));
        assert!((0..4).all(|n| !clauses[..n].contains(&clauses[n])), "each clause of a for is its own");
    }

    #[test]
    fn the_text_tells_which_side_a_position_is_on() {
        let text = text(SOURCE).unwrap();
        let side =
            |condition, position: (u32, u32)| text.side(unit(&text, condition), position.0, position.1);
        assert_eq!(side(at(2, "a"), at(3, "yes")), Some(true));
        assert_eq!(side(at(2, "a"), at(4, "no")), Some(false));
        assert_eq!(side(at(2, "a"), at(5, "if")), None, "what follows is executed on both sides");
        assert_eq!(side(at(6, "i < a"), at(6, "i++")), Some(true));
        assert_eq!(side(at(7, "a);"), at(7, "yes")), Some(true));
        assert_eq!(side(at(8, "a ?"), at(8, "yes")), Some(true));
        assert_eq!(side(at(8, "a ?"), at(8, "no")), Some(false));
        assert!(text.is_loop(unit(&text, at(10, "a)"))) && !text.is_loop(unit(&text, at(2, "a"))));
        assert!(text.is_assertion(unit(&text, at(9, "a"))));
        assert!(text.is_switch(unit(&text, at(11, "a)"))));
    }

    #[test]
    fn rust_has_conditions_without_parentheses_and_expressions_without_semicolons() {
        let source = "\
fn f(a: bool, b: i32) -> bool {
    if a && g(b) { yes() } else { no() }
    while b < 3 { yes() }
    for x in 0..b { yes(x) }
    let Some(x) = h(b) else { return no() };
    match b { 1 if a => yes(), _ => no() }
    assert!(b > 1);
    a.then(|| b == 5);
    b == 4
}
";
        let file = SourceFile::new("test.rs", Arc::new(source.as_bytes().to_vec()));
        let text = Text::new(Rc::new(file)).unwrap();
        let at = |line: u32, marker: &str| {
            let found = source.lines().nth(line as usize - 1).unwrap().find(marker).unwrap();
            (line, 1 + found as u32)
        };
        let side = |condition, (line, column): (u32, u32)| text.side(unit(&text, condition), line, column);
        assert_eq!(side(at(2, "a &&"), at(2, "yes")), Some(true));
        assert_eq!(side(at(2, "g(b"), at(2, "no")), Some(false));
        assert_eq!(side(at(3, "b <"), at(3, "yes")), Some(true));
        assert_eq!(side(at(4, "0.."), at(4, "yes")), Some(true));
        assert_eq!(side(at(5, "h(b"), at(5, "no")), Some(false));
        assert_eq!(side(at(6, "a =>"), at(6, "yes")), Some(true));
        assert!(text.is_switch(unit(&text, at(6, "b {"))));
        assert!(text.is_assertion(unit(&text, at(7, "b > 1"))));
        assert!(text.is_controlling(unit(&text, at(2, "if"))) && text.is_loop(unit(&text, at(3, "b <"))));
        let written = |position| text.written(unit(&text, position), position).unwrap().text;
        assert_eq!(written(at(2, "g(b")), "a && g(b)");
        assert_eq!(written(at(8, "== 5")), "b == 5");
        assert_eq!(written(at(9, "==")), "b == 4");
    }

    #[test]
    fn the_text_tells_what_is_written_as_a_condition_and_which_one_decides_about_a_position() {
        let text = text(SOURCE).unwrap();
        let written = |position| text.written(unit(&text, position), position).unwrap();
        assert_eq!(written(at(3, "b)")).text, "a && b");
        assert_eq!(written(at(3, "b)")).line, 2);
        assert_eq!(written(at(5, "b)")).text, "b");
        assert!(!written(at(3, "yes")).is_condition);
        let (line, column) = at(3, "yes");
        assert_eq!(text.controlling(line, column), Some(unit(&text, at(2, "a"))));
        let (line, column) = at(9, "assert");
        assert_eq!(text.controlling(line, column), None);
    }

    #[test]
    fn a_comparison_within_a_statement_is_the_condition_there() {
        let source = "int f(void) { g(a[b > 1], c); return (a == 1) && !h(b) - 1; }";
        let text = text(source).unwrap();
        let written = |marker: &str| {
            let position = (1, 1 + source.find(marker).unwrap() as u32);
            text.written(unit(&text, position), position).unwrap().text
        };
        assert_eq!(written("b > 1"), "b > 1");
        assert_eq!(written("> 1"), "b > 1");
        assert_eq!(written("== 1"), "(a == 1) && !h(b) - 1");
        assert_eq!(written("c);"), "b > 1", "it is the only one");
    }

    #[test]
    fn text_that_is_no_c_is_no_danger() {
        for source in ["", "if (", "((((((((((", "\u{0}\u{1}if(a)", "fn main() { if a && b { c } }"] {
            let text = text(source).unwrap();
            for column in 0..40 {
                text.unit_at(1, column);
                text.unit_at(u32::MAX, u32::MAX);
            }
        }
        let deep = "if(a)".repeat(20_000);
        assert!(text(&deep).is_some());
    }
}
