//! Location expressions and call frame programs of any content, in debug information that is sound around them. The bytes are
//! seven parts, each with its length before it; see `fuzz_target!`.

#![no_main]

use fuzz::ask;
use fuzz::bytes::Bytes;
use fuzz::object::{CALL_FRAMES, CODE, DATA, Section, executable};
use libfuzzer_sys::fuzz_target;

const CODE_SIZE: u64 = 64;

/// An attribute and its form.
type Attribute = (u8, u8);

/// Tag, whether there are children, and attributes of the entries by number. All numbers are below 0x80, and so are their own
/// LEB128.
const ABBREVIATIONS: [(u8, u8, &[Attribute]); 9] = [
    (0x11, 1, &[(0x13, 0x0b), (0x11, 0x01), (0x12, 0x07)]),
    (0x2e, 1, &[(0x03, 0x08), (0x11, 0x01), (0x12, 0x07), (0x40, 0x18)]),
    (0x34, 0, &[(0x03, 0x08), (0x49, 0x13), (0x02, 0x18)]),
    (0x24, 0, &[(0x03, 0x08), (0x0b, 0x0b), (0x3e, 0x0b)]),
    (0x01, 1, &[(0x49, 0x13)]),
    (0x21, 0, &[(0x49, 0x13), (0x37, 0x18)]),
    (0x13, 1, &[(0x03, 0x08), (0x0b, 0x0b)]),
    (0x0d, 0, &[(0x03, 0x08), (0x49, 0x13), (0x38, 0x18)]),
    (0x48, 1, &[(0x7d, 0x01)]),
];
const PARAMETER: [u8; 7] = [0x49, 0, 0x02, 0x18, 0x7e, 0x18, 0];

fn abbreviations() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, (tag, children, attributes)) in ABBREVIATIONS.iter().enumerate() {
        bytes.extend([index as u8 + 1, *tag, *children]);
        bytes.extend(attributes.iter().flat_map(|(name, form)| [*name, *form]).chain([0, 0]));
    }
    bytes.push(ABBREVIATIONS.len() as u8 + 1);
    bytes.extend(PARAMETER);
    // The end of the last entry's attributes was one zero, and another ends the table.
    bytes.extend([0, 0]);
    bytes
}

/// An expression behind its length in LEB128.
fn expression(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len().min(0x3fff);
    let mut all = vec![0x80 | (length & 0x7f) as u8, (length >> 7) as u8];
    all.extend(&bytes[..length]);
    all
}

/// What is fuzzed.
struct Parts<'a> {
    frame_base: &'a [u8],
    local: &'a [u8],
    global: &'a [u8],
    count: &'a [u8],
    member: &'a [u8],
    call_value: &'a [u8],
}

/// A unit with a function that has a variable of each of three types.
fn unit(parts: &Parts<'_>) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend([5, 0, 1, 8, 0, 0, 0, 0]);
    bytes.extend([1, 12]);
    bytes.extend(CODE.to_le_bytes());
    bytes.extend(CODE_SIZE.to_le_bytes());
    let number = bytes.len() as u32;
    bytes.extend([4, b'i', 0, 4, 5]);
    let array = bytes.len() as u32;
    bytes.push(5);
    bytes.extend(number.to_le_bytes());
    bytes.push(6);
    bytes.extend(number.to_le_bytes());
    bytes.extend(expression(parts.count));
    bytes.push(0);
    let record = bytes.len() as u32;
    bytes.extend([7, b's', 0, 8, 8, b'm', 0]);
    bytes.extend(number.to_le_bytes());
    bytes.extend(expression(parts.member));
    bytes.push(0);
    variable(&mut bytes, b'g', number, parts.global);
    bytes.extend([2, b'f', 0]);
    bytes.extend(CODE.to_le_bytes());
    bytes.extend(CODE_SIZE.to_le_bytes());
    bytes.extend(expression(parts.frame_base));
    for (name, of) in [(b'a', number), (b'b', array), (b'c', record)] {
        variable(&mut bytes, name, of, parts.local);
    }
    bytes.push(9);
    bytes.extend((CODE + CODE_SIZE / 2).to_le_bytes());
    bytes.push(10);
    bytes.extend(expression(&[0x55]));
    bytes.extend(expression(parts.call_value));
    bytes.extend([0, 0, 0]);
    let length = bytes.len() as u32 - 4;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn variable(bytes: &mut Vec<u8>, name: u8, of: u32, location: &[u8]) {
    bytes.extend([3, name, 0]);
    bytes.extend(of.to_le_bytes());
    bytes.extend(expression(location));
}

/// A common entry that says how things are at a function's start, and the one of the function.
fn call_frames(program: &[u8]) -> Vec<u8> {
    let common = [0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0];
    let mut bytes = (common.len() as u32).to_le_bytes().to_vec();
    bytes.extend(common);
    let mut entry = (bytes.len() as u32 + 4).to_le_bytes().to_vec();
    entry.extend(CODE.to_le_bytes());
    entry.extend(CODE_SIZE.to_le_bytes());
    entry.extend(program);
    bytes.extend((entry.len() as u32).to_le_bytes());
    bytes.extend(entry);
    bytes.extend([0; 4]);
    bytes
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let frames = call_frames(bytes.part());
    let parts = Parts {
        frame_base: bytes.part(),
        local: bytes.part(),
        global: bytes.part(),
        count: bytes.part(),
        member: bytes.part(),
        call_value: bytes.part(),
    };
    let (unit, abbreviations) = (unit(&parts), abbreviations());
    let section = |name, address, content| Section { name, address, content };
    let file = executable(&[
        section(".text", CODE, &[0x90; CODE_SIZE as usize]),
        section(".eh_frame", CALL_FRAMES, &frames),
        section(".data", DATA, &[1; 64]),
        section(".debug_abbrev", 0, &abbreviations),
        section(".debug_info", 0, &unit),
    ]);
    let Some(program) = ask::open(file) else { return };
    assert!(program.find_globals("g").len() == 1, "the unit is not sound");
    ask::everything(&program, &[CODE, CODE + CODE_SIZE / 2]);
});
