//! Values as text and taken apart, at places that are made up.

mod common;

use common::{Scratch, open};
use program::{Frame, Limits, Place, Program, Registers, Rule, State, TypeId, Value, ValueKind};

const SOURCE: &str = r#"
#include <stddef.h>
enum flags { A = 1, B = 2, C = 4 };
struct inner { short low, high; };
union both { int number; unsigned char bytes[4]; };
struct all {
    int count; char text[12]; struct inner inner; union both both; enum flags flags; _Bool valid;
    unsigned bits : 3; signed more : 5; int many[30]; struct all *self; double real;
};
struct all everything;
int main(void) { return everything.count; }
"#;

fn type_of(program: &Program, name: &str) -> TypeId {
    program.find_type(name).unwrap()
}

/// Memory that is at address 0x7000_0000.
fn state(bytes: &[u8]) -> State<'_> {
    State::new(Registers::new(0, [0; 16]), move |address, buffer: &mut [u8]| {
        let Some(start) = address.checked_sub(0x7000_0000) else { return false };
        let Some(found) = bytes.get(start as usize..start as usize + buffer.len()) else { return false };
        buffer.copy_from_slice(found);
        true
    })
}

fn bytes() -> Vec<u8> {
    let mut bytes = vec![0u8; 168];
    bytes[0] = 42;
    bytes[4..9].copy_from_slice(b"a\"b\n\x01");
    bytes[16..20].copy_from_slice(&[1, 0, 0xff, 0xff]);
    bytes[20..24].copy_from_slice(&[0x41, 0, 0, 0]);
    bytes[24] = 5;
    bytes[28] = 1;
    bytes[29] = 0b1110_1101;
    bytes[32] = 9;
    bytes[152..160].copy_from_slice(&0x7000_0000u64.to_le_bytes());
    bytes[160..168].copy_from_slice(&0.1f64.to_le_bytes());
    bytes
}

#[test]
fn a_struct_prints_with_all_kinds_of_members() {
    let scratch = Scratch::new("values");
    for compiler in ["gcc", "clang"] {
        let program = open(&scratch.compile(compiler, "values.c", SOURCE, &["-g"]));
        let bytes = bytes();
        let print = |limits| {
            program.print_value(
                type_of(&program, "all"),
                &Place::Memory(0x7000_0000),
                None,
                &state(&bytes),
                limits,
            )
        };
        let whole = "{count = 42, text = \"a\\\"b\\n\\001\\000\\000\\000\\000\\000\\000\", inner = {low = 1, high = -1}, \
                     both = {number = 65, bytes = \"A\\000\\000\"}, flags = (A | C), valid = true, bits = 5, more = -3, \
                     many = {9, 0 <repeats 29 times>}, self = 0x70000000, real = 0.10000000000000001}";
        assert_eq!(print(Limits::default()), whole);
        let few = print(Limits { elements: 3, repeats: 50, ..Limits::default() });
        assert!(few.contains("many = {9, 0, 0...}"), "{few}");
        let short = print(Limits { length: 20, ..Limits::default() });
        assert_eq!(short, format!("{}...", &whole[..20]));
    }
}

#[test]
fn a_value_is_taken_apart_for_programs() {
    let scratch = Scratch::new("values-apart");
    let program = open(&scratch.compile("gcc", "apart.c", SOURCE, &["-g"]));
    let all = program.find_globals("everything").remove(0);
    let bytes = bytes();
    let shifted = State::new(Registers::new(0, [0; 16]), |_, buffer: &mut [u8]| {
        buffer.copy_from_slice(&bytes[..buffer.len()]);
        true
    });
    let Value { kind: ValueKind::Record(fields), .. } = program.value_of(&all, None, &shifted) else {
        panic!()
    };
    let field = |name: &str| {
        let found = fields.iter().find(|field| field.name.as_deref() == Some(name));
        found.unwrap().value.kind.clone()
    };
    assert_eq!(field("count"), ValueKind::Integer(42));
    assert_eq!(field("more"), ValueKind::Integer(-3));
    assert_eq!(field("valid"), ValueKind::Boolean(true));
    assert_eq!(field("flags"), ValueKind::Enum { value: 5, name: "(A | C)".to_owned() });
    assert_eq!(field("self"), ValueKind::Pointer(0x7000_0000));
    assert_eq!(field("real"), ValueKind::Float("0.10000000000000001".to_owned()));
    let ValueKind::Array { elements, is_complete } = field("many") else { panic!() };
    assert!(is_complete && elements.len() == 30);
}

#[test]
fn what_cannot_be_read_says_why() {
    let scratch = Scratch::new("values-unreadable");
    let program = open(&scratch.compile("gcc", "unreadable.c", SOURCE, &["-g"]));
    let bytes = bytes();
    let print = |place: &Place| {
        program.print_value(type_of(&program, "all"), place, None, &state(&bytes), Limits::default())
    };
    assert_eq!(print(&Place::Memory(0x10)), "<error: Cannot access memory at address 0x10>");
    assert_eq!(print(&Place::Memory(0x7000_0010)), "<error: Cannot access memory at address 0x700000a8>");
    assert_eq!(print(&Place::OptimizedOut), "<optimized out>");
}

const RENAMED: &str = r#"
int plain(void) __asm__("internal_plain");
int plain(void) { return 1; }
extern int known(void) __attribute__((alias("internal_plain")));
int (*pointer)(void) = known;
int main(void) { return pointer(); }
"#;

#[test]
fn of_several_symbols_the_one_that_a_function_was_compiled_by_is_shown() {
    let scratch = Scratch::new("values-renamed");
    for compiler in ["gcc", "clang"] {
        let program = open(&scratch.compile(compiler, "renamed.c", RENAMED, &["-g", "-no-pie"]));
        let address = program.find_symbol("known").unwrap().address;
        let bytes = address.to_le_bytes();
        let pointer = program.find_globals("pointer")[0].of.unwrap();
        let place = Place::Memory(0x7000_0000);
        let printed = program.print_value(pointer, &place, None, &state(&bytes), Limits::default());
        assert_eq!(printed, format!("{address:#x} <internal_plain>"), "{compiler}");
    }
}

const OPEN_ENDED: &str = r#"
struct numbers { int count; int items[]; };
struct text { int count; char items[]; };
struct numbers *numbers;
struct text *text;
int main(void) { return 0; }
"#;

#[test]
fn an_array_without_a_length_is_shown_as_its_address() {
    let scratch = Scratch::new("values-open-ended");
    for compiler in ["gcc", "clang"] {
        let program = open(&scratch.compile(compiler, "open.c", OPEN_ENDED, &["-g"]));
        let bytes = [1, 0, 0, 0, b'a', b'b', 0, 0];
        let print = |name| {
            let place = Place::Memory(0x7000_0000);
            program.print_value(type_of(&program, name), &place, None, &state(&bytes), Limits::default())
        };
        assert_eq!(print("numbers"), "{count = 1, items = 0x70000004}", "{compiler}");
        assert_eq!(print("text"), "{count = 1, items = 0x70000004 \"ab\"}", "{compiler}");
    }
}

const CALLING: &str = r#"
#include <stdio.h>
void *pointer;
int main(void) { return puts("called"); }
"#;

#[test]
fn a_slot_for_calls_is_named_after_the_function() {
    use object::{Object, RelocationFlags, elf::R_X86_64_JUMP_SLOT};
    let scratch = Scratch::new("values-slot");
    let path = scratch.compile("gcc", "calling.c", CALLING, &["-g", "-no-pie", "-Wl,-z,lazy"]);
    let content = std::fs::read(&path).unwrap();
    let elf = object::File::parse(&*content).unwrap();
    let is_for_calls = |flags| flags == RelocationFlags::Elf { r_type: R_X86_64_JUMP_SLOT };
    let mut slots = elf.dynamic_relocations().unwrap().filter(|(_, found)| is_for_calls(found.flags()));
    let address = slots.next().unwrap().0;
    let program = open(&path);
    let pointer = program.find_globals("pointer")[0].of.unwrap();
    let print = |address: u64| {
        let place = Place::Memory(0x7000_0000);
        program.print_value(pointer, &place, None, &state(&address.to_le_bytes()), Limits::default())
    };
    assert_eq!(print(address), format!("{address:#x} <puts@got[plt]>"));
    assert_eq!(print(address + 4), format!("{:#x} <puts@got[plt]+4>", address + 4));
}

/// All memory is readable and full of ones, so that the array has more bytes than there are addresses.
#[test]
fn an_array_that_says_to_be_longer_than_memory_is_not_walked_through() {
    const ARRAY: &str = "long fill(long length) { int table[length]; table[0] = 1; return table[length - 1]; }\n\
                         int main(void) { return fill(3); }";
    let scratch = Scratch::new("values-endless");
    let program = open(&scratch.compile("gcc", "endless.c", ARRAY, &["-g", "-O0"]));
    let symbol = program.find_symbol("fill").unwrap();
    let address = symbol.address + symbol.size / 2;
    let registers = Registers::new(address, [0x7000; 16]);
    let state = State::new(registers, |_, buffer: &mut [u8]| {
        buffer.fill(0x7f);
        true
    });
    let frame = Frame { address, lookup: address, registers, rule: Rule::Innermost };
    let calls = program.calls_at(&frame);
    let table = calls[0].variable("table").unwrap();
    let text = program.print_variable(table, Some(&frame), &state, Limits::default());
    assert!(text.contains("which is more than max-value-size"), "{text}");
    let value = program.value_of(table, Some(&frame), &state);
    assert!(matches!(value.kind, ValueKind::Unknown(_)), "{value:?}");
}

/// Without a discriminant, the variant is the one whose fields have values at all.
#[test]
fn the_only_variant_of_an_enum_that_can_be_is_the_one_that_is() {
    const ENUMS: &str = "use std::convert::Infallible;\n\
        pub enum Flow { Never(Infallible, u8), Value(u32), Nested(Result<Infallible, (Infallible,)>) }\n\
        #[used] static FLOW: Flow = Flow::Value(5);\n\
        #[used] static RIGHT: Result<u32, Infallible> = Ok(7);\n\
        #[used] static WRONG: Result<Infallible, u32> = Err(8);\n\
        fn main() {}\n";
    let scratch = Scratch::new("values-variants");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let program = open(&scratch.compile(&rustc, "variants.rs", ENUMS, &["--edition", "2024", "-g"]));
    let state = State::new(Registers::new(0, [0; 16]), |address, buffer: &mut [u8]| {
        let found = program.file_bytes(address).and_then(|bytes| bytes.get(..buffer.len()));
        found.map(|bytes| buffer.copy_from_slice(bytes)).is_some()
    });
    for (name, wanted) in [("FLOW", "::Value(5)"), ("RIGHT", "::Ok(7)"), ("WRONG", "::Err(8)")] {
        let found = program.find_globals(&format!("variants::{name}"));
        let text = program.print_variable(&found[0], None, &state, Limits::default());
        assert!(text.ends_with(wanted), "{name}: {text}");
    }
}
