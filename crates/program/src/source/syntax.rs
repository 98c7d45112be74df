//! How the text of a source file is built up: which stretches of it are one statement, the clauses of its
//! `for` loops, its comments.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::source::blocks::{self, Pieces};
use crate::source::enumerators;

/// Work is counted in the parser's reports of progress and the pieces of text that it asks for. Well-formed
/// text takes one for about 90 bytes; text that is made to be hard is given up.
const FIRST_WORK: usize = 10_000;
const BYTES_A_WORK: usize = 8;
const PIECE: usize = 4096;

/// The last resort, for text on which little work takes long.
const LONGEST_TIME: Duration = Duration::from_secs(20);

/// Text larger than this is not parsed: a tree takes twenty times the memory of its text.
const LARGEST: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
    Rust,
}

impl Language {
    /// By the name of a file.
    pub fn of(path: &str) -> Option<Language> {
        match path.rsplit_once('.')?.1 {
            "c" | "h" => Some(Language::C),
            "cc" | "cpp" | "cxx" | "c++" | "C" | "hh" | "hpp" | "hxx" | "h++" | "H" | "ipp" | "tcc" => {
                Some(Language::Cpp)
            }
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }

    fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        }
    }
}

/// A clause of a `for`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clause {
    Initialiser,
    Condition,
    Step,
}

/// A `for` with clauses: where each is in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// From the keyword to the closing parenthesis.
    pub header: Range<usize>,
    pub initialiser: Option<Range<usize>>,
    pub condition: Option<Range<usize>>,
    pub step: Option<Range<usize>>,
}

impl Loop {
    pub fn clause(&self, clause: Clause) -> Option<&Range<usize>> {
        match clause {
            Clause::Initialiser => self.initialiser.as_ref(),
            Clause::Condition => self.condition.as_ref(),
            Clause::Step => self.step.as_ref(),
        }
    }

    /// The clause that a place of the text is in; `None` at the keyword and the punctuation.
    pub fn clause_at(&self, offset: usize) -> Option<Clause> {
        let holds = |clause: &Clause| self.clause(*clause).is_some_and(|range| range.contains(&offset));
        [Clause::Initialiser, Clause::Condition, Clause::Step].into_iter().find(holds)
    }

    /// Where a clause begins, or the loop when the clause is empty.
    pub fn start_of(&self, clause: Clause) -> usize {
        self.clause(clause).map_or(self.header.start, |range| range.start)
    }
}

pub(crate) struct Syntax {
    pub tree: Tree,
    pieces: Pieces,
    enumerators: OnceCell<BTreeMap<String, u64>>,
}

impl Syntax {
    /// `None` when the text is too large or too hard.
    pub fn new(language: Language, content: &[u8]) -> Option<Syntax> {
        if content.len() > LARGEST {
            return None;
        }
        let tree = parse(language, content)?;
        let pieces = blocks::pieces(language, &tree, content);
        Some(Syntax { tree, pieces, enumerators: OnceCell::new() })
    }

    /// The enumerators of a C file, by name; `content` is its text.
    pub fn enumerators(&self, content: &[u8]) -> &BTreeMap<String, u64> {
        self.enumerators.get_or_init(|| enumerators::enumerators(&self.tree, content))
    }

    /// Sorted, without overlaps.
    pub fn comments(&self) -> &[Range<usize>] {
        &self.pieces.comments
    }

    /// The stretches of text that are statements, or heads of statements without their bodies, and touch
    /// `line`. The clauses of a `for` are not among them.
    pub fn statements(&self, line: &Range<usize>) -> &[Range<usize>] {
        let statements = &self.pieces.statements;
        let first = statements.partition_point(|statement| statement.end <= line.start);
        let last = statements.partition_point(|statement| statement.start < line.end);
        statements.get(first..last).unwrap_or_default()
    }

    /// The innermost function that a place of the text is in.
    pub fn function_at(&self, offset: usize) -> Option<Range<usize>> {
        let mut cursor = self.tree.walk();
        let mut found = None;
        loop {
            let node = cursor.node();
            if !node.byte_range().contains(&offset) {
                return found;
            }
            if matches!(node.kind(), "function_definition" | "function_item") {
                found = Some(node.byte_range());
            }
            if cursor.goto_first_child_for_byte(offset).is_none() {
                return found;
            }
        }
    }

    /// The innermost `for` whose header holds a place of the text.
    pub fn loop_at(&self, offset: usize) -> Option<&Loop> {
        let loops = &self.pieces.loops;
        let after = loops.partition_point(|found| found.header.start <= offset);
        // A header can hold others only inside of a GNU statement expression or a lambda.
        loops.get(..after)?.iter().rev().take(8).find(|found| found.header.contains(&offset))
    }
}

fn parse(language: Language, content: &[u8]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let most = FIRST_WORK.saturating_add(content.len() / BYTES_A_WORK);
    let started = Instant::now();
    let work = Cell::new(0usize);
    let mut progress = |_: &tree_sitter::ParseState| {
        work.set(work.get() + 1);
        let goes_on = work.get() <= most && started.elapsed() < LONGEST_TIME;
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut read = |offset: usize, _| {
        work.set(work.get() + 1);
        let rest = content.get(offset..).filter(|_| work.get() <= most).unwrap_or_default();
        rest.get(..PIECE).unwrap_or(rest)
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    // A text whose end was cut off is not the file's.
    tree.filter(|_| work.get() <= most)
}

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;
