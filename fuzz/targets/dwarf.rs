//! Debug and unwind sections of any content in a sound ELF file. The bytes are sections one after the other: which one it is, a
//! length of two bytes, and the content.

#![no_main]

use fuzz::bytes::Bytes;
use fuzz::object::{CALL_FRAMES, CODE, DATA, Section, executable};
use libfuzzer_sys::fuzz_target;

/// In the order that scripts/fuzz numbers them.
const SECTIONS: [(&str, u64); 15] = [
    (".text", CODE),
    (".eh_frame", CALL_FRAMES),
    (".data", DATA),
    (".debug_abbrev", 0),
    (".debug_info", 0),
    (".debug_line", 0),
    (".debug_line_str", 0),
    (".debug_str", 0),
    (".debug_loclists", 0),
    (".debug_rnglists", 0),
    (".debug_addr", 0),
    (".debug_str_offsets", 0),
    (".debug_loc", 0),
    (".debug_ranges", 0),
    (".debug_types", 0),
];

/// Places in the code that are asked about.
const PLACES: u64 = 5;

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let mut sections: Vec<Section<'_>> = Vec::new();
    while let Some(number) = bytes.byte() {
        let (name, address) = SECTIONS[usize::from(number) % SECTIONS.len()];
        let content = bytes.part();
        if sections.iter().all(|section| section.name != name) {
            sections.push(Section { name, address, content });
        }
    }
    let size = sections.iter().find(|section| section.name == ".text").map_or(0, |text| text.content.len());
    let Some(program) = fuzz::ask::open(executable(&sections)) else { return };
    let code: Vec<u64> = (0..PLACES).map(|place| CODE + place * size as u64 / PLACES).collect();
    fuzz::ask::everything(&program, &code);
});
