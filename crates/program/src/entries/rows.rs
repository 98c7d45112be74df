//! The line table of one unit, for the question which line an instruction belongs to.

use std::sync::Arc;

use gimli::{Reader as _, Unit};

use super::Debug;
use crate::debug_info::Reader;
use crate::lines::Position;

/// A damaged table can have a row a byte.
const MOST_ROWS: usize = 1 << 23;

#[derive(Clone, Copy)]
struct Row {
    address: u64,
    file: u64,
    line: u32,
    column: u32,
    is_statement: bool,
    /// No code from here on, up to the next row.
    is_end: bool,
}

pub(crate) struct LineRows {
    /// Sorted by address; those at one address in the order of the table.
    rows: Vec<Row>,
}

impl LineRows {
    pub fn new(unit: &Unit<Reader>) -> LineRows {
        let mut sequences: Vec<Vec<Row>> = Vec::new();
        let mut current: Vec<Row> = Vec::new();
        let Some(program) = unit.line_program.clone() else { return LineRows { rows: Vec::new() } };
        let mut rows = program.rows();
        let mut count = 0;
        while let Ok(Some((_, row))) = rows.next_row() {
            count += 1;
            if count > MOST_ROWS {
                break;
            }
            let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
            };
            // Line 0 says that code belongs to no line: it goes with what is before it.
            if line != 0 || row.end_sequence() {
                current.push(Row {
                    address: row.address(),
                    file: row.file_index(),
                    line,
                    column,
                    is_statement: row.is_stmt(),
                    is_end: row.end_sequence(),
                });
            }
            if row.end_sequence() {
                sequences.push(std::mem::take(&mut current));
            }
        }
        sequences.sort_by_key(|sequence| sequence.first().map_or(0, |row| row.address));
        let mut rows: Vec<Row> = sequences.into_iter().flatten().collect();
        // Where one sequence begins at the end of another, the beginning counts.
        rows.sort_by_key(|row| (row.address, !row.is_end));
        LineRows { rows }
    }

    /// Of the rows at the last address that is not after the instruction, the last that begins a statement.
    fn at(&self, address: u64) -> Option<Row> {
        let after = self.rows.partition_point(|row| row.address <= address);
        let before = self.rows.get(..after)?;
        let last = before.last().filter(|row| !row.is_end)?;
        let same = before.iter().rev().take_while(|row| row.address == last.address && !row.is_end);
        let statement = same.into_iter().find(|row| row.is_statement);
        Some(*statement.unwrap_or(last))
    }
}

impl Debug<'_> {
    /// Address, file and line of each row of a unit that has code.
    pub fn lines(self, unit: u32) -> impl Iterator<Item = (u64, u64, u32)> {
        let rows = self.rows(unit).map(|rows| rows.rows.as_slice()).unwrap_or_default();
        rows.iter().filter(|row| !row.is_end).map(|row| (row.address, row.file, row.line))
    }

    /// The source position of an instruction.
    pub fn position(self, unit: u32, address: u64) -> Option<Position> {
        let parsed = self.unit(unit)?;
        let row = self.rows(unit)?.at(address)?;
        let file = self.file(unit, parsed, row.file)?;
        Some(Position {
            file: Arc::from(file),
            line: row.line,
            column: Some(row.column).filter(|column| *column != 0),
        })
    }

    /// The paths of all files that line tables name, one unit after the other; those of several units come several
    /// times.
    pub fn source_paths(self) -> impl Iterator<Item = String> {
        self.units().flat_map(move |unit| {
            let parsed = self.unit(unit);
            let files = parsed.and_then(|parsed| parsed.line_program.as_ref());
            // Before DWARF 5 they are counted from 1, and 0 is the unit's own.
            let count = files.map_or(0, |program| program.header().file_names().len() as u64 + 1);
            (0..count).filter_map(move |index| self.file(unit, parsed?, index))
        })
    }

    /// The path of a file of a unit's line table.
    pub fn file(self, unit: u32, parsed: &Unit<Reader>, index: u64) -> Option<String> {
        let header = parsed.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let text = |value| {
            let text = self.dwarf(unit).attr_string(parsed, value).ok()?;
            Some(text.to_string_lossy().ok()?.into_owned())
        };
        let mut path = text(file.path_name())?;
        if let Some(directory) = file.directory(header).and_then(text)
            && file.directory_index() != 0
        {
            path = join(&directory, path);
        }
        match parsed
            .comp_dir
            .as_ref()
            .and_then(|directory| Some(directory.to_string_lossy().ok()?.into_owned()))
        {
            Some(directory) => Some(without_dots(&join(&directory, path))),
            None => Some(without_dots(&path)),
        }
    }
}

/// A path without directories that are the one before: a program that was compiled as `./file.c` has one.
pub(crate) fn without_dots(path: &str) -> String {
    let mut tidy = path.to_owned();
    while tidy.contains("/./") {
        tidy = tidy.replace("/./", "/");
    }
    tidy
}

fn join(directory: &str, path: String) -> String {
    match path.starts_with('/') || directory.is_empty() {
        true => path,
        false => format!("{}/{path}", directory.trim_end_matches('/')),
    }
}
