//! Dynamic relocations: what the loader puts into the slots of an object.

use std::ops::Range;

use object::elf::{
    R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE,
};
use object::{Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget};

use crate::object_file::{Elf, ObjectFile, parse, range_within};

const SLOT_SIZE: u64 = 8;

struct Slot {
    address: u64,
    value: Value,
}

enum Value {
    /// An address of the object itself, in a variable that the program may change.
    Own(u64),
    /// A symbol of the object itself, in a slot of the linker's.
    Linked(u64),
    /// A symbol of another object, by where its name is in the file; `for_calls` if the slot is for calls alone.
    Import { name: Range<usize>, for_calls: bool },
    /// What a function of the object chooses at the start.
    Chosen,
}

#[derive(Default)]
pub(crate) struct Relocations {
    /// Sorted by address.
    slots: Vec<Slot>,
}

impl Relocations {
    pub fn new(object: &ObjectFile) -> Relocations {
        let mut slots = parse(object.content()).map(|elf| slots(object, &elf)).unwrap_or_default();
        slots.sort_by_key(|slot| slot.address);
        Relocations { slots }
    }

    fn at(&self, address: u64) -> Option<&Value> {
        let index = self.slots.binary_search_by_key(&address, |slot| slot.address).ok()?;
        Some(&self.slots.get(index)?.value)
    }

    /// Whether the loader writes the slot at this address.
    pub fn has(&self, address: u64) -> bool {
        self.at(address).is_some()
    }

    /// The address of the object that the loader puts here.
    pub fn own(&self, address: u64) -> Option<u64> {
        match self.at(address)? {
            Value::Own(value) | Value::Linked(value) => Some(*value),
            Value::Import { .. } | Value::Chosen => None,
        }
    }

    /// All addresses of the object that the loader puts anywhere.
    pub fn own_values(&self) -> impl Iterator<Item = u64> + '_ {
        self.slots.iter().filter_map(|slot| match slot.value {
            Value::Own(value) | Value::Linked(value) => Some(value),
            Value::Import { .. } | Value::Chosen => None,
        })
    }

    /// The address of the object that is here as long as it runs.
    pub fn linked(&self, address: u64) -> Option<u64> {
        match self.at(address)? {
            Value::Linked(value) => Some(*value),
            Value::Own(_) | Value::Import { .. } | Value::Chosen => None,
        }
    }

    /// The name of what another object defines, whose address the loader puts here.
    pub fn import<'a>(&self, object: &'a ObjectFile, address: u64) -> Option<&'a str> {
        let Value::Import { name, .. } = self.at(address)? else { return None };
        std::str::from_utf8(object.content().get(name.clone())?).ok()
    }

    /// The slot for calls of a function of another object that an address is in: where it begins, and the function's name.
    pub fn call_slot<'a>(&self, object: &'a ObjectFile, address: u64) -> Option<(u64, &'a str)> {
        let after = self.slots.partition_point(|slot| slot.address <= address);
        let slot = self.slots.get(after.checked_sub(1)?)?;
        let Value::Import { for_calls: true, .. } = slot.value else { return None };
        (address - slot.address < SLOT_SIZE).then_some((slot.address, self.import(object, slot.address)?))
    }
}

fn slots(object: &ObjectFile, elf: &Elf) -> Vec<Slot> {
    let symbols = elf.dynamic_symbol_table();
    let Some(relocations) = elf.dynamic_relocations() else { return Vec::new() };
    let found = relocations.filter_map(|(address, relocation)| {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
        let value = match r_type {
            R_X86_64_RELATIVE => Value::Own(relocation.addend() as u64),
            R_X86_64_IRELATIVE => Value::Chosen,
            R_X86_64_64 | R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => {
                let RelocationTarget::Symbol(index) = relocation.target() else { return None };
                let symbol = symbols.as_ref()?.symbol_by_index(index).ok()?;
                let addend = if r_type == R_X86_64_64 { relocation.addend() } else { 0 };
                let value = symbol.address().wrapping_add_signed(addend);
                match symbol.is_definition() {
                    true if r_type == R_X86_64_64 => Value::Own(value),
                    true => Value::Linked(value),
                    false => Value::Import {
                        name: range_within(object.content(), symbol.name_bytes().ok()?)?,
                        for_calls: r_type == R_X86_64_JUMP_SLOT,
                    },
                }
            }
            _ => return None,
        };
        Some(Slot { address, value })
    });
    found.collect()
}
