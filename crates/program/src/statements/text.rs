//! Where the text of a statement is.

use std::ops::Range;
use std::rc::Rc;

use crate::program::Program;
use crate::source::SourceFile;
use crate::statements::{Part, Span, Stmt, View};

impl Program {
    /// A line of the file that a statement is in, as it is there; `None` without the source, and behind its end.
    pub fn source_line(&self, stmt: &Stmt, line: u32) -> Option<String> {
        Some(String::from_utf8_lossy(&self.source_bytes(stmt, line)?).into_owned())
    }

    /// The same in the bytes that it has, which are no text in some encodings.
    pub fn source_bytes(&self, stmt: &Stmt, line: u32) -> Option<Vec<u8>> {
        let file = self.sources.file(&stmt.file, &stmt.object)?;
        file.content().get(file.line(line)?).map(<[u8]>::to_vec)
    }

    /// The first and the last line of the function that a statement is in, as far as the text says; `None` without the
    /// source, in languages that are not known, and outside of functions.
    pub fn function_span_of(&self, stmt: &Stmt) -> Option<Span> {
        let (file, range) = self.find_text(stmt)?;
        let function = file.syntax()?.function_at(range.start)?;
        let last = function.end.saturating_sub(1).max(function.start);
        Some(file.position(function.start).0..=file.position(last).0)
    }

    /// The source of a statement and the place of its text; `None` when the source is not there, or too
    /// short.
    pub(super) fn find_text(&self, stmt: &Stmt) -> Option<(Rc<SourceFile>, Range<usize>)> {
        let file = self.sources.file(&stmt.file, &stmt.object)?;
        let line = file.line(stmt.line)?;
        let found = match &stmt.part {
            Part::Line => None,
            Part::Clause { column, .. } => clause(&file, stmt, *column),
            // The whole of a variable is its declaration.
            Part::Initialiser { element, .. } if element.is_empty() => None,
            Part::Initialiser { variable, element } => {
                self.view_of(stmt).and_then(|view| view.initialiser_text(stmt, variable, element))
            }
        };
        let range = found.or_else(|| statements(&file, &line)).unwrap_or(line);
        Some((file, range))
    }

    fn view_of(&self, stmt: &Stmt) -> Option<View<'_>> {
        let index = self.objects.iter().position(|object| object.path == stmt.object)?;
        self.view_of_object(u32::try_from(index).ok()?)
    }
}

/// A clause is known by where it begins; an empty one by its loop.
fn clause(file: &SourceFile, stmt: &Stmt, column: u32) -> Option<Range<usize>> {
    let offset = file.offset(stmt.line, column)?;
    let found = file.syntax()?.loop_at(offset)?;
    let range = found.clause_at(offset).and_then(|clause| found.clause(clause));
    Some(range.unwrap_or(&found.header).clone())
}

/// From the first to the last statement that touches a line, and the braces on this line that close what was
/// opened.
fn statements(file: &SourceFile, line: &Range<usize>) -> Option<Range<usize>> {
    let touching = file.syntax()?.statements(line);
    let (start, end) = (touching.first()?.start, touching.last()?.end);
    let text = file.content().get(start..end)?;
    let count = |wanted: u8| text.iter().filter(|byte| **byte == wanted).count();
    let mut open = count(b'{').saturating_sub(count(b'}'));
    let rest = file.content().get(end..line.end.max(end))?;
    let mut closed = 0;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'}' if open > 0 => (open, closed) = (open - 1, at + 1),
            b' ' | b'\t' => {}
            _ => break,
        }
    }
    Some(start..end + closed)
}
