//! Statements: from code and initialised data to the places of the source that people speak of.

mod clauses;
mod code;
mod columns;
mod data;
mod initialisers;
mod layout;
mod shape;
mod stmt;
mod text;

use std::sync::Arc;

use code::CodeTables;
use data::DataTables;
pub use stmt::{Part, PlacedStmt, Span, Stmt};

use crate::debug_info::DebugInfo;
use crate::object_file::ObjectFile;
use crate::program::Program;
use crate::source::{SourceMap, Sources, Warning};
use crate::types::Types;

/// What is known of the statements of one object, as it is asked for.
#[derive(Default)]
pub(crate) struct Tables {
    code: CodeTables,
    data: DataTables,
}

/// One object, and what it takes to answer questions about its statements. Addresses are the object's own.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    object: &'a ObjectFile,
    info: &'a DebugInfo,
    types: Types<'a>,
    sources: &'a Sources,
}

impl Program {
    /// Looks for sources where `map` says that they are now.
    pub fn with_source_map(mut self, map: SourceMap) -> Program {
        self.forget_sources();
        self.sources = Sources::new(map, self.sources.reader().clone());
        self
    }

    /// What made the answers so far poorer than they could be, each once, in the order in which it was
    /// noticed.
    pub fn warnings(&self) -> Vec<Warning> {
        self.sources.warnings()
    }

    /// The statement that the code at `address` belongs to. `None` when there is no debug information for it,
    /// and for code that the compiler says belongs to no line.
    pub fn statement_at(&self, address: u64) -> Option<Stmt> {
        let (view, bias) = self.view(address)?;
        view.statement_at(address.wrapping_sub(bias))
    }

    /// The statement at `address`, and where that is inlined code, the statements of the calls around it,
    /// innermost first.
    pub fn statements_at(&self, address: u64) -> Vec<Stmt> {
        let Some((view, bias)) = self.view(address) else { return Vec::new() };
        view.call_chain(address.wrapping_sub(bias))
    }

    /// The statements of the function that `address` is in, with those that are inlined into it after its
    /// own, in the order of the source.
    pub fn statements_of(&self, address: u64) -> Vec<PlacedStmt> {
        let Some((view, bias)) = self.view(address) else { return Vec::new() };
        let mut found = view.statements_of(address.wrapping_sub(bias));
        found.iter_mut().for_each(|placed| placed.move_by(bias));
        found
    }

    /// The statement that gives the data at `address` the value that it has at the start. `None` when that is
    /// not the data of a variable, or of one that no statement initialises.
    pub fn statement_of_data(&self, address: u64) -> Option<Stmt> {
        let (view, bias) = self.view(address)?;
        view.statement_of_data(address.wrapping_sub(bias))
    }

    /// The statements that initialise the variable at `address`, an element each, in the order of their
    /// addresses.
    pub fn statements_of_variable(&self, address: u64) -> Vec<PlacedStmt> {
        let Some((view, bias)) = self.view(address) else { return Vec::new() };
        let mut found = view.statements_of_variable(address.wrapping_sub(bias));
        found.iter_mut().for_each(|placed| placed.move_by(bias));
        found
    }

    /// The text of a statement, in one line and without comments; `None` without its source.
    pub fn text_of(&self, stmt: &Stmt) -> Option<String> {
        let (file, range) = self.find_text(stmt)?;
        Some(file.text(range))
    }

    /// The first and the last line of a statement's text. Without its source that is its one line.
    pub fn span_of(&self, stmt: &Stmt) -> Span {
        let Some((file, range)) = self.find_text(stmt) else { return stmt.line..=stmt.line };
        let last = range.end.saturating_sub(1).max(range.start);
        file.position(range.start).0..=file.position(last).0
    }

    /// The path of the object that is the program itself, not one of its libraries. It is mapped below its
    /// loader and all that this loads.
    pub fn main_object(&self) -> Option<&Arc<str>> {
        self.objects_by_address().find(|object| !object.segments().is_empty()).map(|object| &object.path)
    }

    fn view(&self, address: u64) -> Option<(View<'_>, u64)> {
        let (index, bias) = self.object_at(address)?;
        let view = self.view_of_object(index);
        if view.is_none() {
            let (object, _) = self.place(address)?;
            self.sources.warn(Warning::NoDebugInfo { object: object.path.clone() });
        }
        Some((view?, bias))
    }

    fn view_of_object(&self, index: u32) -> Option<View<'_>> {
        let (info, types) = self.debug(index)?;
        let object = self.objects.get(usize::try_from(index).ok()?)?;
        Some(View { object, info, types, sources: &self.sources })
    }
}

impl PlacedStmt {
    fn move_by(&mut self, bias: u64) {
        for range in &mut self.ranges {
            *range = range.start.wrapping_add(bias)..range.end.wrapping_add(bias);
        }
    }
}
