//! What of an input makes the difference to one with which the program passes, as the beginning of a slice.

use std::ops::Range;

use lift::Reg;
use linux::Place;
use linux::fs::{At, FileSystem, Follow, Target};
use replay::{Case, Cell, Recording, Seed, SeedKind};

use crate::minimize::{Difference, Input, PartName, differing};

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
    /// The input was minimized, and this is the difference to one that was found to pass on the way.
    Minimized,
    /// The texts alone. The other one passes, and the smallest difference is nothing that the failing input has.
    Texts,
    /// The texts alone, for nobody can tell whether the program passes with the other one.
    Unjudged,
    /// The texts alone, for nobody waited until the other one was tried.
    Untried,
}

impl Inducing {
    /// By what runs found out; `None` if it is nothing that the failing input has.
    pub fn found(difference: &Difference, basis: Basis) -> Option<Inducing> {
        let (part, ranges) = (difference.part.clone(), difference.given());
        (!ranges.is_empty()).then_some(Inducing { part, ranges, basis })
    }

    /// By comparing the texts alone; `None` if it is not known which part the other text stands for.
    pub fn of(case: &Case, recording: &mut Recording, passing: &[u8], basis: Basis) -> Option<Inducing> {
        let input = Input::of(case, &recording.at(recording.start()));
        let part = input.main_part()?;
        Some(Inducing { part: part.name.clone(), ranges: differing(part.text.bytes(), passing), basis })
    }

    /// Whether a failing run has no standard input and no files, so that nothing of it can make a difference.
    pub fn has_none(case: &Case, recording: &mut Recording) -> bool {
        let input = Input::of(case, &recording.at(recording.start()));
        input.parts.iter().all(|part| matches!(part.name, PartName::Argument(_)))
    }

    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum()
    }

    /// What a forward slice begins with; `None` if the program does not see that part.
    pub fn seeds(&self, recording: &mut Recording) -> Option<Vec<Seed>> {
        let time = recording.program_start();
        let cells = match &self.part {
            PartName::Argument(number) => self.in_memory(argument(recording, *number)?),
            PartName::Stdin | PartName::File(_) => self.in_files(&mut recording.at(time).kernel.files)?,
        };
        Some(vec![Seed { time, kind: SeedKind::Cells(cells) }])
    }

    /// The bytes of a part that lies there.
    fn in_memory(&self, start: u64) -> Vec<Cell> {
        let cell = |range: &Range<u64>| Cell::Memory {
            address: start.saturating_add(range.start),
            length: range.end.saturating_sub(range.start),
        };
        self.ranges.iter().map(cell).collect()
    }

    fn in_files(&self, files: &mut FileSystem) -> Option<Vec<Cell>> {
        let mut place_of = |offset: u64| match &self.part {
            PartName::Stdin => files.read_place(0, Some(offset)),
            PartName::File(path) => match files.locate(At::working_directory(path), Follow::Yes, false) {
                Ok(Target::Node(inode)) => Some(Place::File { inode, offset }),
                _ => None,
            },
            PartName::Argument(_) => None,
        };
        let cell = |range: &Range<u64>| {
            let length = range.end.saturating_sub(range.start);
            Some(Cell::Kernel { place: place_of(range.start)?, length })
        };
        self.ranges.iter().map(cell).collect()
    }
}

/// Where an argument lies: what the stack begins with is their number, and then where each is.
fn argument(recording: &mut Recording, number: usize) -> Option<u64> {
    let mut start = recording.at(recording.start());
    let stack = start.machine.cpu.get(Reg::RSP);
    let offset = u64::try_from(number).ok()?.checked_add(1)?.checked_mul(8)?;
    let mut address = [0; 8];
    start.machine.memory.read(stack.checked_add(offset)?, &mut address).ok()?;
    Some(u64::from_le_bytes(address))
}
