//! Whole ELF files, opened by the static view and asked everything.

#![no_main]

use libfuzzer_sys::fuzz_target;

/// Functions and variables of the seeds.
const NAMES: [&str; 6] = ["_start", "walk", "choose", "table", "shared", "per_thread"];

fuzz_target!(|data: &[u8]| {
    let Some(program) = fuzz::ask::open(data.to_vec()) else { return };
    let entry = data.get(24..32).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
    let mut code = vec![entry];
    for symbol in NAMES.iter().filter_map(|name| program.find_symbol(name).ok()) {
        code.push(symbol.address.wrapping_add(symbol.size / 2));
    }
    fuzz::ask::everything(&program, &code);
});
