//! What of an input makes the difference to one with which the program passes, as the beginning of a slice.

use std::ops::Range;

use linux::Place;
use linux::fs::{At, Follow, Target};
use replay::{Case, Cell, Recording, Seed, SeedKind};

use crate::minimize::{Input, PartName, differing};

/// Bytes of the failing input that the passing one has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inducing {
    pub part: PartName,
    pub ranges: Vec<Range<u64>>,
    pub basis: Basis,
}

/// How it is known what makes the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Runs with inputs between the two found the smallest difference.
    Narrowed,
    /// The texts alone. The other one passes, and the smallest difference is nothing that the failing input has.
    Texts,
    /// The texts alone, for nobody can tell whether the program passes with the other one.
    Unjudged,
    /// The texts alone, for nobody waited until the other one was tried.
    Untried,
}

impl Inducing {
    /// By comparing the texts alone; `None` if it is not known which part the other text stands for.
    pub fn of(case: &Case, recording: &mut Recording, passing: &[u8], basis: Basis) -> Option<Inducing> {
        let input = Input::of(case, &recording.at(recording.start()));
        let part = input.main_part()?;
        Some(Inducing { part: part.name.clone(), ranges: differing(part.text.bytes(), passing), basis })
    }

    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum()
    }

    /// What a forward slice begins with; `None` if the program does not see that part.
    pub fn seeds(&self, recording: &mut Recording) -> Option<Vec<Seed>> {
        let begin = recording.program_start();
        let mut files = recording.at(begin).kernel.files.clone();
        let place_of = |offset: u64| match &self.part {
            PartName::Stdin => files.read_place(0, Some(offset)),
            PartName::File(path) => match files.locate(At::working_directory(path), Follow::Yes, false) {
                Ok(Target::Node(inode)) => Some(Place::File { inode, offset }),
                _ => None,
            },
            PartName::Argument(_) => None,
        };
        let places: Vec<Option<Place>> = self.ranges.iter().map(|range| range.start).map(place_of).collect();
        let cells = places.into_iter().zip(&self.ranges).map(|(place, range)| {
            Some(Cell::Kernel { place: place?, length: range.end.saturating_sub(range.start) })
        });
        let cells = cells.collect::<Option<Vec<Cell>>>()?;
        Some(vec![Seed { time: begin, kind: SeedKind::Cells(cells) }])
    }
}
