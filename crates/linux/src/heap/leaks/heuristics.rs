//! Pointers to the inside of a block that are all that a program has of it, as memcheck's heuristics have them.

use machine::Memory;

use super::super::Block;

/// Words that are looked at of what may be a table of virtual functions, and how many of them must lead to code.
const WORDS_OF_TABLE: u64 = 10;
const FUNCTIONS: usize = 2;

/// Whether a pointer into a block shows that the block is in use as one to its start does.
pub fn is_as_good_as_start(memory: &Memory, block: &Block, pointer: u64) -> bool {
    let word = |index: u64| word_at(memory, block.address + index * 8).unwrap_or(0);
    let counted = match pointer - block.address {
        // An array of objects with destructors: new[] keeps their number in front. So do those who keep a length there.
        8 => block.size > 8 && word(0) > 0 && (block.size - 8).is_multiple_of(word(0)),
        // A text of the C++ library as it was before C++11: length, capacity, number of owners.
        24 => word(0) <= word(1) && word(1).checked_add(25) == Some(block.size),
        _ => false,
    };
    counted || is_base(memory, block, pointer)
}

/// An object that is known by another base than its first: both begin with a pointer to a table of virtual functions.
fn is_base(memory: &Memory, block: &Block, pointer: u64) -> bool {
    pointer.is_multiple_of(8)
        && [block.address, pointer]
            .into_iter()
            .all(|place| word_at(memory, place).is_some_and(|table| is_table(memory, table)))
}

fn is_table(memory: &Memory, table: u64) -> bool {
    table.is_multiple_of(8)
        && (0..WORDS_OF_TABLE)
            .map_while(|index| word_at(memory, table.checked_add(index * 8)?))
            .filter(|&word| memory.region_at(word).is_some_and(|region| region.permissions.execute))
            .nth(FUNCTIONS - 1)
            .is_some()
}

fn word_at(memory: &Memory, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (memory.peek(address, &mut bytes) == bytes.len()).then(|| u64::from_le_bytes(bytes))
}
