//! Names for places: which variable, field or element some bytes of memory are, or how to get to them.
//!
//! What live variables point to is searched once a state, breadth first, so that the shortest access path is found;
//! the search is bounded, and what it did not reach has no name, or that of its heap block.

mod inside;
mod walk;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::lines::Position;
use crate::program::Program;
use crate::state::State;
use crate::types::TypeId;
use crate::unwind::Frame;
use crate::variables::{Call, Place};

/// Who knows the heap's blocks.
pub trait Allocations {
    /// The block that an address is in, or was in when it was freed.
    fn block_at(&self, address: u64) -> Option<Allocation>;
}

/// A block of the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub start: u64,
    pub size: u64,
    /// The statement that asked for it.
    pub position: Option<Position>,
}

/// Nothing is known of the heap.
pub struct NoAllocations;

impl Allocations for NoAllocations {
    fn block_at(&self, _: u64) -> Option<Allocation> {
        None
    }
}

/// How many objects are looked at, how many steps from a variable, and how many bytes are read for it.
const MOST_OBJECTS: usize = 20_000;
const DEEPEST: usize = 24;
const MOST_BYTES: u64 = 16 << 20;

/// A stretch of memory of a known type.
struct Object {
    address: u64,
    of: TypeId,
    /// How many of its type lie one after the other.
    count: u64,
    size: u64,
    /// As the source would write it: a variable, or a pointer to the object.
    path: String,
    through_pointer: bool,
    depth: usize,
}

/// The bytes of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    pub range: Range<u64>,
    /// Of one element; never 0.
    pub size: u64,
}

/// The names of one state.
pub struct Names<'a> {
    program: &'a Program,
    state: &'a State<'a>,
    allocations: &'a dyn Allocations,
    objects: Vec<Object>,
    /// By start address.
    by_start: BTreeMap<u64, usize>,
    /// Variables of the innermost frame that are in registers.
    registers: BTreeMap<u16, String>,
    read: u64,
}

impl Program {
    /// The names of a state with these frames, innermost first, found now and kept.
    pub fn names<'a>(
        &'a self,
        state: &'a State<'a>,
        frames: &[Frame],
        allocations: &'a dyn Allocations,
    ) -> Names<'a> {
        let mut names = Names {
            program: self,
            state,
            allocations,
            objects: Vec::new(),
            by_start: BTreeMap::new(),
            registers: BTreeMap::new(),
            read: 0,
        };
        names.add_locals(frames);
        names.add_globals();
        names.walk();
        names
    }
}

impl Names<'_> {
    /// The best name for `size` bytes at an address; `None` when nothing is known of it.
    pub fn of_memory(&self, address: u64, size: u64) -> Option<String> {
        if let Some(object) = self.object_at(address) {
            return Some(self.inside(object, address, size));
        }
        let block = self.allocations.block_at(address)?;
        let place = block.position.map_or_else(String::new, |position| {
            let file = position.file.rsplit('/').next().unwrap_or(&position.file);
            format!(" allocated at {file}:{}", position.line)
        });
        Some(format!("block of {} bytes{place}", block.size))
    }

    /// The innermost array that an address lies in.
    pub fn array_around(&self, address: u64) -> Option<Elements> {
        self.array_inside(self.object_at(address)?, address)
    }

    /// The variable that the innermost frame keeps in a register, by DWARF number.
    pub fn of_register(&self, number: u16) -> Option<&str> {
        self.registers.get(&number).map(String::as_str)
    }

    fn object_at(&self, address: u64) -> Option<&Object> {
        let (_, index) = self.by_start.range(..=address).next_back()?;
        let object = self.objects.get(*index)?;
        (address.wrapping_sub(object.address) < object.size).then_some(object)
    }

    /// Variables of all frames. A name that an inner frame has, too, is told apart by its function.
    fn add_locals(&mut self, frames: &[Frame]) {
        let mut seen: Vec<String> = Vec::new();
        for (level, frame) in frames.iter().enumerate() {
            for call in self.program.calls_at(frame) {
                let fresh = self.add_call(&call, frame, level == 0, &seen);
                seen.extend(fresh);
            }
        }
    }

    /// Returns the names that the call has used.
    fn add_call(&mut self, call: &Call, frame: &Frame, is_innermost: bool, seen: &[String]) -> Vec<String> {
        let mut own: Vec<String> = Vec::new();
        for variable in call.variables() {
            if own.contains(&variable.name) {
                continue;
            }
            own.push(variable.name.clone());
            let path = match &call.function {
                Some(function) if seen.contains(&variable.name) => format!("{function}::{}", variable.name),
                _ => variable.name.clone(),
            };
            match self.program.place_of(variable, Some(frame), self.state) {
                Place::Memory(address) => self.add_root(address, variable.of, path),
                Place::Register(number) => {
                    if is_innermost {
                        self.registers.entry(number).or_insert_with(|| path.clone());
                    }
                    let value = frame.registers.get(number);
                    self.add_pointer_variable(value, variable.of, path);
                }
                _ => {}
            }
        }
        own
    }

    fn add_globals(&mut self) {
        for variable in self.program.globals() {
            if self.objects.len() >= MOST_OBJECTS {
                break;
            }
            if let Place::Memory(address) = self.program.place_of(&variable, None, self.state) {
                self.add_root(address, variable.of, variable.name);
            }
        }
    }
}
