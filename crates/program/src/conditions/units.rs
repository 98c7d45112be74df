//! Which expression of the source each instruction of a function belongs to.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::lines::{Position, Row};

use super::text::{Text, Unit};

/// An expression of the source, or as much of one as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// In the file of this number.
    Unit(usize, Unit),
    /// A line, when there is no text or no column.
    Line(usize, u32),
}

/// The origins of a stretch of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origins {
    /// The line table knows of none.
    Nowhere,
    One(Origin),
    Several,
}

struct Located {
    start: u64,
    end: u64,
    position: Position,
    origin: Origin,
}

pub(super) struct Units {
    rows: Vec<Located>,
    texts: Vec<Option<Rc<Text>>>,
}

impl Units {
    /// `rows` are sorted by address; `text` finds what a file says.
    pub fn new(rows: Vec<Row>, mut text: impl FnMut(&Arc<str>) -> Option<Rc<Text>>) -> Units {
        let mut units = Units { rows: Vec::new(), texts: Vec::new() };
        let mut files: HashMap<Arc<str>, usize> = HashMap::new();
        for Row { start, end, position } in rows {
            let Some(position) = position else { continue };
            let file = *files.entry(position.file.clone()).or_insert_with(|| {
                units.texts.push(text(&position.file));
                units.texts.len() - 1
            });
            let origin = units.origin(file, &position);
            units.rows.push(Located { start, end, position, origin });
        }
        units
    }

    fn origin(&self, file: usize, position: &Position) -> Origin {
        let text = self.texts.get(file).and_then(|text| text.as_ref());
        let unit = text.and_then(|text| text.unit_at(position.line, position.column?));
        unit.map_or(Origin::Line(file, position.line), |unit| Origin::Unit(file, unit))
    }

    fn row(&self, address: u64) -> Option<&Located> {
        let before = self.rows.partition_point(|row| row.start <= address).checked_sub(1)?;
        self.rows.get(before).filter(|row| address < row.end)
    }

    pub fn position(&self, address: u64) -> Option<&Position> {
        self.row(address).map(|row| &row.position)
    }

    pub fn origin_at(&self, address: u64) -> Option<Origin> {
        self.row(address).map(|row| row.origin)
    }

    /// What all rows from `start` to `end` have in common.
    pub fn origins(&self, start: u64, end: u64) -> Origins {
        let first = self.rows.partition_point(|row| row.end <= start);
        let rows = self.rows.iter().skip(first).take_while(|row| row.start < end);
        let mut origins = Origins::Nowhere;
        for row in rows {
            origins = match origins {
                Origins::Nowhere => Origins::One(row.origin),
                Origins::One(origin) if origin == row.origin => origins,
                _ => return Origins::Several,
            };
        }
        origins
    }

    /// Whether some code from `start` to `end` belongs to an expression.
    pub fn touches(&self, start: u64, end: u64, origin: Origin) -> bool {
        let first = self.rows.partition_point(|row| row.end <= start);
        self.rows.iter().skip(first).take_while(|row| row.start < end).any(|row| row.origin == origin)
    }

    /// The text and the unit in it.
    pub fn text_of(&self, origin: Origin) -> Option<(&Text, Unit)> {
        match origin {
            Origin::Unit(file, unit) => Some((self.texts.get(file)?.as_deref()?, unit)),
            Origin::Line(..) => None,
        }
    }

    /// Whether a row of the line table begins at this address.
    pub fn begins(&self, address: u64) -> bool {
        self.row(address).is_some_and(|row| row.start == address)
    }

    /// Whether the code from `start` to `end` is executed because the condition of `origin` holds, or because not:
    /// by the first position in it.
    pub fn side(&self, origin: Origin, start: u64, end: u64) -> Option<bool> {
        let (text, unit) = self.text_of(origin)?;
        let first = self.rows.partition_point(|row| row.end <= start);
        let row = self.rows.get(first).filter(|row| row.start < end)?;
        let same_file = matches!((origin, row.origin),
            (Origin::Unit(a, _), Origin::Unit(b, _) | Origin::Line(b, _)) if a == b);
        same_file.then(|| text.side(unit, row.position.line, row.position.column?)).flatten()
    }
}
