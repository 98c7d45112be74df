//! Statements of code, by line tables.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::entries::Entry;
use crate::lines::{self, SourceFrame};
use crate::statements::clauses::{self, LoopPlace};
use crate::statements::{Part, PlacedStmt, Stmt, View, columns};

/// Rows of one function's line table; the largest functions of generated code have tens of thousands.
const MOST_ROWS: usize = 1 << 20;

#[derive(Default)]
pub(crate) struct CodeTables {
    /// By the start of a range of code; with its end.
    functions: RefCell<BTreeMap<u64, (u64, Rc<FunctionTable>)>>,
    /// Each name once.
    names: RefCell<BTreeSet<Arc<str>>>,
}

/// The statements of one function.
#[derive(Default)]
struct FunctionTable {
    statements: Vec<Stmt>,
    /// Sorted, without overlaps; with the index of the statement.
    pieces: Vec<(Range<u64>, usize)>,
}

/// A stretch of code with one source position.
pub(super) struct Row {
    pub range: Range<u64>,
    pub function: Option<Arc<str>>,
    pub file: Arc<str>,
    pub line: u32,
    pub column: Option<u32>,
}

impl View<'_> {
    pub fn statement_at(&self, address: u64) -> Option<Stmt> {
        let table = self.table(address)?;
        let after = table.pieces.partition_point(|(range, _)| range.start <= address);
        let (range, index) = table.pieces.get(after.checked_sub(1)?)?;
        range.contains(&address).then(|| table.statements.get(*index).cloned()).flatten()
    }

    pub fn call_chain(&self, address: u64) -> Vec<Stmt> {
        let mut chain: Vec<Stmt> = self.statement_at(address).into_iter().collect();
        let frames = lines::frames(self.info, address);
        let calls = frames.into_iter().skip(1).filter_map(|frame| self.row(address..address, frame));
        chain.extend(calls.map(|row| self.statement(&row, clauses::place(self, &row), &BTreeSet::new())));
        chain
    }

    pub fn statements_of(&self, address: u64) -> Vec<PlacedStmt> {
        let Some(table) = self.table(address) else { return Vec::new() };
        let mut found: BTreeMap<&Stmt, Vec<Range<u64>>> = BTreeMap::new();
        for (range, index) in &table.pieces {
            if let Some(stmt) = table.statements.get(*index) {
                found.entry(stmt).or_default().push(range.clone());
            }
        }
        let placed = found.into_iter().map(|(stmt, ranges)| PlacedStmt { stmt: stmt.clone(), ranges });
        let own = lines::frames(self.info, address).pop().and_then(|frame| frame.function);
        let (mut own, inlined): (Vec<_>, Vec<_>) =
            placed.partition(|placed| placed.stmt.function.as_deref() == own.as_deref());
        own.extend(inlined);
        own
    }

    fn table(&self, address: u64) -> Option<Rc<FunctionTable>> {
        let tables = &self.object.statements.code;
        let known = || {
            let functions = tables.functions.borrow();
            let (_, (end, table)) = functions.range(..=address).next_back()?;
            (address < *end).then(|| table.clone())
        };
        if let Some(table) = known() {
            return Some(table);
        }
        let (ranges, bounds) = self.extent(address)?;
        let table = Rc::new(self.build(&ranges, &bounds));
        let mut functions = tables.functions.borrow_mut();
        for range in ranges {
            functions.insert(range.start, (range.end, table.clone()));
        }
        Some(table)
    }

    /// The code of the function at an address, and where inlined code in it begins and ends. What has no
    /// entry in the debug information, as assembly, is as large as its symbol says.
    fn extent(&self, address: u64) -> Option<(Vec<Range<u64>>, Vec<u64>)> {
        if let Some(function) = self.info.function_at(address) {
            return Some((without_overlaps(ranges(&function).collect()), inlined_bounds(&function)));
        }
        let symbol = self.object.symbols().at(self.object, address)?;
        let end = symbol.address.checked_add(symbol.size)?;
        let range = symbol.address..end;
        range.contains(&address).then(|| (Vec::from([range]), Vec::new()))
    }

    fn build(&self, ranges: &[Range<u64>], bounds: &[u64]) -> FunctionTable {
        let mut rows = Vec::new();
        for range in ranges {
            self.rows(range, bounds, &mut rows);
        }
        let loops = self.lines_like_loops(&rows);
        let mut places: Vec<_> = rows.iter().map(|row| clauses::place(self, row)).collect();
        clauses::find_steps(&mut places);
        let mut table = FunctionTable::default();
        let mut known: BTreeMap<Stmt, usize> = BTreeMap::new();
        for (row, place) in rows.into_iter().zip(places) {
            let stmt = self.statement(&row, place, &loops);
            let index = *known.entry(stmt).or_insert_with_key(|stmt| {
                table.statements.push(stmt.clone());
                table.statements.len() - 1
            });
            match table.pieces.last_mut() {
                Some((last, same)) if *same == index && last.end == row.range.start => {
                    last.end = row.range.end
                }
                _ => table.pieces.push((row.range, index)),
            }
        }
        table
    }

    /// The rows of the line table in a range, cut where inlined code begins and ends. Of several rows at one
    /// address the last counts, rows that begin no statement count too, and code of line 0 is left out.
    fn rows(&self, range: &Range<u64>, bounds: &[u64], rows: &mut Vec<Row>) {
        let Ok(found) = self.info.context.find_location_range(range.start, range.end) else { return };
        for (start, size, _) in found.take(MOST_ROWS.saturating_sub(rows.len())) {
            let end = start.saturating_add(size).min(range.end);
            let mut start = start.max(range.start);
            // Tables of damaged files can go backwards.
            if rows.last().is_some_and(|last: &Row| last.range.end > start) {
                continue;
            }
            let inside = bounds.partition_point(|bound| *bound <= start);
            let cuts =
                bounds.get(inside..).unwrap_or_default().iter().copied().take_while(|bound| *bound < end);
            for cut in cuts.chain([end]) {
                if start < cut {
                    let innermost = lines::frames(self.info, start).into_iter().next();
                    rows.extend(innermost.and_then(|frame| self.row(start..cut, frame)));
                }
                start = cut;
            }
        }
    }

    fn row(&self, range: Range<u64>, frame: SourceFrame) -> Option<Row> {
        let position = frame.position?;
        let by_symbol = || {
            let symbol = self.object.symbols().at(self.object, range.start)?;
            Some(crate::demangle(symbol.name).unwrap_or_else(|| symbol.name.to_owned()))
        };
        let function = frame.function.or_else(by_symbol).map(|name| self.shared(Arc::from(name)));
        let file = self.shared(position.file);
        Some(Row { range, function, file, line: position.line, column: position.column })
    }

    /// The statement of a row; `loops` are lines whose columns are told apart for want of the source.
    fn statement(&self, row: &Row, place: Option<LoopPlace>, loops: &BTreeSet<(Arc<str>, u32)>) -> Stmt {
        let (line, part) = place.map_or_else(
            || {
                let is_loop = loops.contains(&(row.file.clone(), row.line));
                let column = row.column.filter(|_| is_loop);
                (row.line, column.map_or(Part::Line, |column| Part::Clause { column, clause: None }))
            },
            LoopPlace::part,
        );
        let (object, file) = (self.object.path.clone(), row.file.clone());
        Stmt { object, file, line, part, function: row.function.clone() }
    }

    /// The lines of missing sources that look like those of a `for`.
    fn lines_like_loops(&self, rows: &[Row]) -> BTreeSet<(Arc<str>, u32)> {
        let mut by_file: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
        for row in rows {
            by_file.entry((&row.function, &row.file)).or_default().push((row.line, row.column.unwrap_or(0)));
        }
        by_file.retain(|(_, file), _| self.sources.file(file, &self.object.path).is_none());
        let found = by_file.into_iter().flat_map(|((_, file), rows)| {
            columns::lines_like_loops(&rows).into_iter().map(|line| (file.clone(), line))
        });
        found.collect()
    }

    fn shared(&self, name: Arc<str>) -> Arc<str> {
        let mut names = self.object.statements.code.names.borrow_mut();
        if let Some(known) = names.get(&name) {
            return known.clone();
        }
        names.insert(name.clone());
        name
    }
}

/// Where code that is inlined into a function begins and ends; sorted.
fn inlined_bounds(function: &Entry<'_>) -> Vec<u64> {
    let inlined = function.inside(&[gimli::DW_TAG_inlined_subroutine]);
    let ranges = inlined.flat_map(|(_, call)| ranges(&call).collect::<Vec<_>>());
    let mut bounds: Vec<u64> = ranges.flat_map(|range| [range.start, range.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

fn ranges(entry: &Entry<'_>) -> impl Iterator<Item = Range<u64>> {
    entry.ranges().into_iter().map(|range| range.begin..range.end)
}

fn without_overlaps(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
