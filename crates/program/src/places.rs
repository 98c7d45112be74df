//! From a line of the source to the code that belongs to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::near::{nearest, suggestion};
use crate::program::Program;
use crate::statements::PlacedStmt;

/// A statement over more lines than this is not found by one of its later lines.
const LONGEST_STATEMENT: u32 = 200;

/// So many files of one name are told apart.
const MOST_CANDIDATES: usize = 10;

/// The code of a source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePlaces {
    /// Path of the file, as the debug information has it.
    pub file: Arc<str>,
    /// The line that was asked for. Statements that begin before it and reach over it count when none begins there.
    pub line: u32,
    /// In the order of the source; each with all of its copies. [`Program::function_at`] tells which function a copy
    /// is in, and the statement which function it was written in.
    pub statements: Vec<PlacedStmt>,
    /// Where execution comes to one of them: where a stretch of its code begins, and where a loop that is
    /// inside of the statement begins again. Sorted.
    pub starts: Vec<u64>,
}

/// Why a line has no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("the program has no debug information, so its lines are not known; compile it with -g")]
    NoDebugInfo,
    #[error("no code of the program comes from a file {file}{}", suggestion(.close))]
    NoFile { file: String, close: Vec<String> },
    #[error("{file} could be {}; say more of its path", .candidates.join(" or "))]
    Ambiguous { file: String, candidates: Vec<String> },
    #[error("{file} has no line {line}; {}", match .last { Some(last) => format!("it has {last} lines"), None => format!("its last line with code is {}", .last_code) })]
    NoLine { file: String, line: u32, last: Option<u32>, last_code: u32 },
    #[error("line {line} of {file} has no code; {}", nearby(.before, .after))]
    NoCode { file: String, line: u32, before: Option<u32>, after: Option<u32> },
}

fn nearby(before: &Option<u32>, after: &Option<u32>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("the nearest lines that have some are {before} and {after}"),
        (Some(line), None) | (None, Some(line)) => format!("the nearest line that has some is {line}"),
        (None, None) => "nor has any other line".to_owned(),
    }
}

/// The code of one file: for each line addresses where some of its code begins.
type Lines = BTreeMap<u32, Vec<u64>>;

impl Program {
    /// The code of a line. `file` is a path or the end of one, by whole names.
    pub fn find_line(&self, file: &str, line: u32) -> Result<LinePlaces, LineError> {
        let (path, lines) = self.find_file(file)?;
        let mut statements = self.statements_from(&path, lines.get(&line).into_iter().flatten());
        statements.retain(|placed| placed.stmt.line == line);
        if statements.is_empty() {
            statements = self.statements_over(&path, line, &lines);
        }
        if statements.is_empty() {
            return Err(self.no_line(&path, line, &lines));
        }
        let starts = self.starts(&statements);
        Ok(LinePlaces { file: path, line, statements, starts })
    }

    /// The file that is meant, and its code. Files of libraries count only when the program itself has none of the
    /// name.
    fn find_file(&self, wanted: &str) -> Result<(Arc<str>, Lines), LineError> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let main = self.main_object().cloned();
        let mut objects: Vec<u32> = (0..self.objects.len() as u32).collect();
        objects.sort_by_key(|object| {
            let path = self.objects.get(*object as usize).map(|object| &object.path);
            path != main.as_ref()
        });
        for object in objects {
            let mut files = self.files_of(object);
            // Those of libraries are no help to who has mistyped one of the program's.
            if names.is_empty() {
                names.extend(files.keys().filter_map(|path| path.rsplit('/').next()).map(str::to_owned));
            }
            let matching: Vec<Arc<str>> =
                files.keys().filter(|path| is_end_of(wanted, path)).cloned().collect();
            let exact = matching.iter().find(|path| &***path == wanted);
            match (exact, matching.as_slice()) {
                (Some(path), _) | (None, [path]) => {
                    return Ok((path.clone(), files.remove(path).unwrap_or_default()));
                }
                (None, []) => {}
                (None, several) => {
                    let candidates = several.iter().take(MOST_CANDIDATES);
                    return Err(LineError::Ambiguous {
                        file: wanted.to_owned(),
                        candidates: candidates.map(|path| path.to_string()).collect(),
                    });
                }
            }
        }
        if names.is_empty() {
            return Err(LineError::NoDebugInfo);
        }
        let name = wanted.rsplit('/').next().unwrap_or(wanted);
        let close = nearest(names.iter().map(String::as_str), name);
        Err(LineError::NoFile { file: wanted.to_owned(), close })
    }

    /// The files that some code of an object comes from.
    fn files_of(&self, object: u32) -> BTreeMap<Arc<str>, Lines> {
        let mut files: BTreeMap<Arc<str>, Lines> = BTreeMap::new();
        let (Some((_, types)), Some(bias)) = (self.debug(object), self.bias_of(object)) else { return files };
        for unit in types.debug.units() {
            let Some(parsed) = types.debug.unit(unit) else { continue };
            let mut by_index: BTreeMap<u64, Lines> = BTreeMap::new();
            for (address, file, line) in types.debug.lines(unit) {
                let addresses = by_index.entry(file).or_default().entry(line).or_default();
                addresses.push(address.wrapping_add(bias));
            }
            for (index, lines) in by_index {
                let Some(path) = types.debug.file(unit, parsed, index) else { continue };
                let known = files.entry(Arc::from(path)).or_default();
                for (line, mut addresses) in lines {
                    known.entry(line).or_default().append(&mut addresses);
                }
            }
        }
        files
    }

    /// The statements of a file in the functions that some addresses are in; copies joined.
    fn statements_from<'a>(
        &self,
        path: &Arc<str>,
        addresses: impl Iterator<Item = &'a u64>,
    ) -> Vec<PlacedStmt> {
        let mut found: BTreeMap<_, BTreeSet<(u64, u64)>> = BTreeMap::new();
        let mut covered: Vec<Range<u64>> = Vec::new();
        for address in addresses {
            if covered.iter().any(|range| range.contains(address)) {
                continue;
            }
            let placed = self.statements_of(*address);
            covered.extend(placed.iter().flat_map(|placed| placed.ranges.iter().cloned()));
            for PlacedStmt { stmt, ranges } in placed {
                if same_file(&stmt.file, path) {
                    found
                        .entry(stmt)
                        .or_default()
                        .extend(ranges.into_iter().map(|range| (range.start, range.end)));
                }
            }
        }
        let placed = found.into_iter().map(|(stmt, ranges)| PlacedStmt {
            stmt,
            ranges: ranges.into_iter().map(|(start, end)| start..end).collect(),
        });
        placed.collect()
    }

    /// The statements that begin before a line and reach over it; of several that are inside of each other the last.
    fn statements_over(&self, path: &Arc<str>, line: u32, lines: &Lines) -> Vec<PlacedStmt> {
        let before = line.saturating_sub(LONGEST_STATEMENT)..line;
        let mut around = self.statements_from(path, lines.range(before).flat_map(|(_, addresses)| addresses));
        around.retain(|placed| placed.stmt.line < line && self.span_of(&placed.stmt).contains(&line));
        let last = around.iter().map(|placed| placed.stmt.line).max();
        around.retain(|placed| Some(placed.stmt.line) == last);
        around
    }

    fn no_line(&self, path: &Arc<str>, line: u32, lines: &Lines) -> LineError {
        let file = path.to_string();
        let object = self.main_object().cloned().unwrap_or_else(|| Arc::from(""));
        let last = self.sources.file(path, &object).map(|source| source.lines());
        let last_code = lines.keys().next_back().copied().unwrap_or(0);
        if line == 0 || line > last.unwrap_or(last_code) {
            return LineError::NoLine { file, line, last, last_code };
        }
        let before = lines.range(..line).next_back().map(|(line, _)| *line);
        let after = lines.range(line..).find(|(other, _)| **other > line).map(|(line, _)| *line);
        LineError::NoCode { file, line, before, after }
    }

    fn starts(&self, statements: &[PlacedStmt]) -> Vec<u64> {
        let mut starts: BTreeSet<u64> = BTreeSet::new();
        for placed in statements {
            starts.extend(placed.ranges.iter().map(|range| range.start));
            let is_inside = |address: u64| placed.ranges.iter().any(|range| range.contains(&address));
            let functions: BTreeSet<u64> =
                placed.ranges.iter().filter_map(|range| Some(self.cfg(range.start)?.start)).collect();
            for graph in functions.into_iter().filter_map(|start| self.cfg(start)) {
                let block = |id: crate::BlockId| graph.blocks.get(id.0 as usize);
                for found in graph.analyse().loops.all() {
                    let Some(header) = block(found.header) else { continue };
                    let is_own = found
                        .latches
                        .iter()
                        .any(|latch| block(*latch).is_some_and(|latch| is_inside(latch.last)));
                    if is_inside(header.start) && is_own {
                        starts.insert(header.start);
                    }
                }
            }
        }
        starts.into_iter().collect()
    }
}

/// Whether `wanted` is a path or the last names of it.
fn is_end_of(wanted: &str, path: &str) -> bool {
    let wanted = wanted.trim_start_matches("./");
    match path.strip_suffix(wanted) {
        Some(before) => {
            !wanted.is_empty() && (before.is_empty() || before.ends_with('/') || wanted.starts_with('/'))
        }
        None => false,
    }
}

/// Whether two paths of debug information lead to one file; tables differ in how they write a directory.
fn same_file(a: &str, b: &str) -> bool {
    let names = |path: &str| -> Vec<String> {
        path.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect()
    };
    a == b || names(a) == names(b)
}
