//! Where chains end, in words that a person has for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lift::Reg;
use linux::fs::Inode;
use linux::{Place, Process};
use machine::Memory;
use program::{NoAllocations, Program, State};

use crate::Recording;
use crate::dependence::Source;

/// So much of an input is quoted.
const LONGEST_QUOTE: u64 = 64;
/// So many arguments and environment variables are looked at.
const MOST_STRINGS: usize = 1 << 16;

/// Where a value came from in the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nobody had given it a value; with its name, where that is known.
    Uninitialised {
        name: Option<String>,
    },
    /// An argument of the program; 0 is its name.
    Argument {
        index: usize,
        text: String,
    },
    ArgumentCount,
    Environment {
        name: String,
    },
    /// Bytes of standard input.
    Input {
        bytes: Span,
        text: Option<String>,
    },
    /// Bytes of a file that was there before.
    File {
        path: String,
        bytes: Span,
        text: Option<String>,
    },
    /// Bytes of a pipe that nobody wrote to.
    Pipe {
        bytes: Span,
    },
    /// A variable without an initialiser, which is zero from the beginning.
    Zero {
        name: String,
    },
    /// What the system said when it was asked.
    System {
        call: String,
    },
}

/// First and last.
pub type Span = (u64, u64);

/// What a program finds when it begins.
pub(super) struct Beginning {
    /// Where the number of arguments is.
    count: u64,
    arguments: Vec<Range<u64>>,
    environment: Vec<Range<u64>>,
    process: Process,
}

impl Beginning {
    pub fn of(recording: &mut Recording) -> Beginning {
        let first = recording.at(recording.start());
        let memory = &first.machine.memory;
        let count = first.machine.cpu.get(Reg::RSP);
        let (arguments, after) = strings(memory, count.wrapping_add(8));
        let (environment, _) = strings(memory, after);
        let begin = recording.program_start();
        Beginning { count, arguments, environment, process: recording.at(begin) }
    }

    /// Where the text of an argument is, and how many arguments there are; 0 is the program's name.
    pub fn argument(&self, index: usize) -> (Option<Range<u64>>, usize) {
        (self.arguments.get(index).cloned(), self.arguments.len())
    }

    /// Where the text of an argument or an environment variable is.
    pub fn range_of(&self, origin: &Origin) -> Option<Range<u64>> {
        match origin {
            Origin::Argument { index, .. } => self.arguments.get(*index).cloned(),
            Origin::Environment { name } => {
                let is_it = |range: &&Range<u64>| self.variable(range) == *name;
                self.environment.iter().find(is_it).cloned()
            }
            _ => None,
        }
    }

    /// The name of an environment variable.
    fn variable(&self, range: &Range<u64>) -> String {
        let text = self.text(range);
        text.split('=').next().unwrap_or(&text).to_owned()
    }

    pub fn text(&self, range: &Range<u64>) -> String {
        let mut bytes = vec![0; range.end.saturating_sub(range.start).min(LONGEST_QUOTE) as usize];
        let read = self.process.machine.memory.peek(range.start, &mut bytes);
        bytes.truncate(read);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What some sources are; those that a step tells, constants and what belongs to libraries are left out.
    pub fn origins<'a>(
        &self,
        sources: impl Iterator<Item = &'a Source>,
        program: &Program,
        last: &mut Process,
    ) -> BTreeSet<Origin> {
        let mut found = BTreeSet::new();
        let mut input: Vec<u64> = Vec::new();
        let mut files: BTreeMap<Inode, Vec<u64>> = BTreeMap::new();
        let mut zero: Vec<u64> = Vec::new();
        for source in sources {
            match source {
                Source::Input(Place::Input { offset }) => input.push(*offset),
                Source::Input(Place::File { inode, offset }) => {
                    files.entry(*inode).or_default().push(*offset);
                }
                Source::Input(Place::Pipe { offset, .. }) => {
                    found.insert(Origin::Pipe { bytes: (*offset, *offset) });
                }
                Source::Input(_) | Source::Uninitialised { .. } | Source::Constant(_) => {}
                Source::InitialRegister(_) => {}
                Source::Kernel { call } => {
                    let call = linux::syscall_name(*call).map_or_else(|| call.to_string(), str::to_owned);
                    found.insert(Origin::System { call });
                }
                Source::Signal { signal } => {
                    found.insert(Origin::System { call: linux::signal::name(*signal) });
                }
                Source::Initial { address } => match self.initial(*address) {
                    Some(origin) => {
                        found.insert(origin);
                    }
                    None if self.may_be_zero(*address, program) => zero.push(*address),
                    None => {}
                },
            }
        }
        found.extend(ranges(&input).map(|bytes| {
            let quoted = bytes_of(last.kernel.files.known_input(), bytes);
            Origin::Input { bytes, text: quoted }
        }));
        for (inode, offsets) in files {
            for bytes in ranges(&offsets) {
                let length = (bytes.1 - bytes.0).saturating_add(1).min(LONGEST_QUOTE);
                let text = last.kernel.files.original_bytes(inode, bytes.0, length as usize);
                let path = last.kernel.files.host_path(inode).map(String::from_utf8_lossy);
                let path = path.map_or_else(|| "a file without a name".to_owned(), |path| path.into_owned());
                let text = text.map(|text| String::from_utf8_lossy(&text).into_owned());
                found.insert(Origin::File { path, bytes, text });
            }
        }
        found.extend(self.zeros(&zero, program));
        found
    }

    /// Arguments and environment.
    fn initial(&self, address: u64) -> Option<Origin> {
        if address.wrapping_sub(self.count) < 8 {
            return Some(Origin::ArgumentCount);
        }
        // The zero at the end of a text counts as a part of it.
        let holds = |range: &&Range<u64>| (range.start..=range.end).contains(&address);
        if let Some(index) = self.arguments.iter().position(|range| holds(&range)) {
            let text = self.arguments.get(index).map_or_else(String::new, |range| self.text(range));
            return Some(Origin::Argument { index, text });
        }
        let variable = self.environment.iter().find(holds)?;
        Some(Origin::Environment { name: self.variable(variable) })
    }

    /// Whether it may belong to a variable that nobody initialises.
    fn may_be_zero(&self, address: u64, program: &Program) -> bool {
        let regions = self.process.machine.memory.regions();
        let is_writable = regions
            .iter()
            .any(|region| (region.start..region.end).contains(&address) && region.permissions.write);
        is_writable
            && !(linux::STACK_TOP - linux::STACK_SIZE..linux::STACK_TOP).contains(&address)
            && program.statement_of_data(address).is_none()
    }

    fn zeros(&self, addresses: &[u64], program: &Program) -> BTreeSet<Origin> {
        if addresses.is_empty() {
            return BTreeSet::new();
        }
        let state = State::of(&self.process.machine);
        let names = program.names(&state, &[], &NoAllocations);
        let named = addresses.iter().filter_map(|address| names.of_memory(*address, 1));
        named.map(|name| Origin::Zero { name }).collect()
    }
}

/// The strings that a list of pointers leads to, and where the list ends.
fn strings(memory: &Memory, mut at: u64) -> (Vec<Range<u64>>, u64) {
    let mut found = Vec::new();
    let mut word = [0; 8];
    while found.len() < MOST_STRINGS && memory.peek(at, &mut word) == 8 {
        at = at.wrapping_add(8);
        let start = u64::from_le_bytes(word);
        if start == 0 {
            break;
        }
        found.push(start..start.saturating_add(length(memory, start)));
    }
    (found, at)
}

fn length(memory: &Memory, start: u64) -> u64 {
    let mut length = 0;
    let mut chunk = [0; 64];
    loop {
        let read = memory.peek(start.wrapping_add(length), &mut chunk);
        let text = chunk.get(..read).unwrap_or_default();
        match text.iter().position(|byte| *byte == 0) {
            Some(end) => return length + end as u64,
            None if read < chunk.len() => return length + read as u64,
            None => length += read as u64,
        }
    }
}

/// Offsets, put together where they follow each other.
fn ranges(sorted: &[u64]) -> impl Iterator<Item = Span> {
    let mut found: Vec<Span> = Vec::new();
    for offset in sorted {
        match found.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*offset) => *last = *offset,
            _ => found.push((*offset, *offset)),
        }
    }
    found.into_iter()
}

fn bytes_of(bytes: &[u8], (first, last): Span) -> Option<String> {
    let last = last.min(first.saturating_add(LONGEST_QUOTE - 1));
    let range = usize::try_from(first).ok()?..=usize::try_from(last).ok()?;
    Some(String::from_utf8_lossy(bytes.get(range)?).into_owned())
}
