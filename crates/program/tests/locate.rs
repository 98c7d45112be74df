//! Addresses to names and lines and back, on objects of several compilers and shapes.

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use common::{Scratch, line_of, open, run};
use program::{Mapping, Program, SymbolError};

const C_SOURCE: &str = r#"
static int inner(int *p) {
    return *p + 1; // inner
}
__attribute__((noinline)) int outer(int *p) {
    return inner(p) * 3; // outer
}
int main(int argc, char **argv) {
    return outer(&argc); // main
}
"#;

/// The innermost file name and line at the start of a symbol, after its prologue's first byte.
fn line_at(program: &Program, address: u64) -> Option<(String, u32)> {
    let location = program.locate(address);
    let position = location.position()?.clone();
    let name = Path::new(&*position.file).file_name()?.to_str()?.to_owned();
    Some((name, position.line))
}

#[test]
fn a_symbol_is_found_by_name_and_its_address_leads_back() {
    let scratch = Scratch::new("back");
    let program = open(&scratch.compile("gcc", "back.c", C_SOURCE, &["-g", "-O0"]));
    let symbol = program.find_symbol("outer").unwrap();
    assert!(symbol.size > 8);
    let location = program.locate(symbol.address + 4);
    let function = location.function.clone().unwrap();
    assert_eq!((function.name.as_str(), function.start, function.offset), ("outer", symbol.address, 4));
    assert_eq!(location.function_name(), Some("outer"));
    assert_eq!(line_at(&program, symbol.address), Some(("back.c".into(), line_of(C_SOURCE, "int outer("))));
    assert_eq!(location.frames.len(), 1);
}

#[test]
fn inlined_calls_show_as_frames_innermost_first() {
    let scratch = Scratch::new("inline");
    let program = open(&scratch.compile("gcc", "inline.c", C_SOURCE, &["-g", "-O2"]));
    let symbol = program.find_symbol("outer").unwrap();
    let frames = (symbol.address..symbol.address + symbol.size)
        .map(|address| program.locate(address).frames)
        .find(|frames| frames.len() == 2)
        .expect("inner is inlined somewhere in outer");
    let names: Vec<_> = frames.iter().map(|frame| frame.function.as_deref().unwrap()).collect();
    assert_eq!(names, ["inner", "outer"]);
    let lines: Vec<_> = frames.iter().map(|frame| frame.position.as_ref().unwrap().line).collect();
    assert_eq!(lines, [line_of(C_SOURCE, "// inner"), line_of(C_SOURCE, "// outer")]);
}

#[test]
fn every_dwarf_shape_gives_the_same_line() {
    let scratch = Scratch::new("shapes");
    let expected = Some(("shape.c".to_owned(), line_of(C_SOURCE, "int outer(")));
    for options in [
        &["-g", "-gdwarf-4"][..],
        &["-g", "-gdwarf-5"],
        &["-g", "-gz=zlib"],
        &["-g", "-gz=zlib-gnu"],
        &["-g", "-no-pie"],
        &["-g", "-static"],
        &["-g1"],
    ] {
        let program = open(&scratch.compile("gcc", "shape.c", C_SOURCE, options));
        let address = program.find_symbol("outer").unwrap().address;
        assert_eq!(line_at(&program, address), expected, "{options:?}");
    }
}

#[test]
fn a_stripped_object_is_read_with_its_separate_debug_file() {
    let scratch = Scratch::new("separate");
    let whole = scratch.compile("gcc", "separate.c", C_SOURCE, &["-g", "-Wl,--build-id=none"]);
    let address = open(&whole).find_symbol("outer").unwrap().address;
    let debug = scratch.path().join("separate.debug");
    let stripped = scratch.path().join("separate");
    run(Command::new("objcopy").arg("--only-keep-debug").arg(&whole).arg(&debug));
    let link = format!("--add-gnu-debuglink={}", debug.display());
    run(Command::new("objcopy").arg("--strip-all").arg(link).arg(&whole).arg(&stripped));

    let program = open(&stripped);
    let expected = Some(("separate.c".to_owned(), line_of(C_SOURCE, "int outer(")));
    assert_eq!(line_at(&program, address), expected);
    assert_eq!(program.find_symbol("outer").unwrap().address, address);

    // Another build's file must not be believed.
    std::fs::write(&debug, [std::fs::read(&debug).unwrap(), vec![0]].concat()).unwrap();
    assert_eq!(line_at(&open(&stripped), address), None);
}

#[test]
fn cpp_names_are_demangled_and_found_without_parameters() {
    let source = "namespace shapes { int area(int a, int b) { return a * b; }\n\
                  int area(double a) { return a; } int edge(int a) { return 4 * a; } }\n\
                  int main(int c, char **) { return shapes::area(c, c) + shapes::area(1.0) + shapes::edge(c); }";
    let scratch = Scratch::new("cpp");
    let program = open(&scratch.compile("g++", "names.cc", source, &["-g", "-O0"]));
    let edge = program.find_symbol("shapes::edge").unwrap();
    assert_eq!(edge.name, "shapes::edge(int)");
    assert_eq!(program.locate(edge.address).function_name(), Some("shapes::edge(int)"));
    let exact = program.find_symbol("shapes::area(double)").unwrap();
    assert_eq!(program.find_symbol("_ZN6shapes4areaEd").unwrap(), exact);
    let error = program.find_symbol("shapes::area").unwrap_err();
    let SymbolError::Ambiguous { candidates, .. } = &error else { panic!("{error}") };
    assert_eq!(candidates.len(), 2);
    assert!(error.to_string().contains(&format!("{:#x}", exact.address)));
}

#[inline(never)]
fn landmark() -> u32 {
    std::hint::black_box(line!())
}

#[test]
fn rust_names_are_demangled() {
    assert!(landmark() > 0);
    let program = open(&std::env::current_exe().unwrap());
    let name = "locate::landmark";
    let symbol = program.find_symbol(name).unwrap();
    assert_eq!(program.locate(symbol.address).function.unwrap().name, name);
}

#[test]
fn an_unknown_name_is_answered_with_close_ones() {
    let scratch = Scratch::new("close");
    let program = open(&scratch.compile("gcc", "close.c", C_SOURCE, &["-g"]));
    let error = program.find_symbol("outre").unwrap_err();
    assert_eq!(error.to_string(), "no symbol is called outre; close to it: outer");
    let SymbolError::NotFound { close, .. } = program.find_symbol("nothing_like_it").unwrap_err() else {
        panic!()
    };
    assert!(close.is_empty());
}

#[test]
fn a_stripped_program_says_that_it_has_no_symbols() {
    let scratch = Scratch::new("stripped");
    let path = scratch.compile("gcc", "stripped.c", C_SOURCE, &["-s", "-static"]);
    let error = open(&path).find_symbol("outer").unwrap_err();
    assert_eq!(error, SymbolError::Stripped { name: "outer".into() });
}

#[test]
fn functions_of_a_stripped_program_have_bounds_by_their_call_frames() {
    let scratch = Scratch::new("bounds");
    let path = scratch.compile("gcc", "bounds.c", C_SOURCE, &[]);
    let whole = open(&path);
    let symbol = whole.find_symbol("outer").unwrap();
    assert_eq!(whole.function_at(symbol.address + 3), Some((symbol.address, symbol.size)));
    run(Command::new("strip").arg(&path));
    assert_eq!(open(&path).function_at(symbol.address + 3), Some((symbol.address, symbol.size)));
}

/// The mappings that the kernel makes for a PIE's segments, at `bias`.
fn kernel_mappings(path: &Path, bias: u64) -> Vec<Mapping> {
    use object::read::elf::{FileHeader, ProgramHeader};
    let content = Arc::new(std::fs::read(path).unwrap());
    let header = object::elf::FileHeader64::<object::LittleEndian>::parse(&**content).unwrap();
    let endian = object::LittleEndian;
    let segments = header.program_headers(endian, &**content).unwrap().iter();
    let loadable = segments.filter(|segment| segment.p_type(endian) == object::elf::PT_LOAD);
    loadable
        .map(|segment| {
            let address = bias + segment.p_vaddr(endian);
            let end = address + segment.p_filesz(endian);
            Mapping {
                start: address & !0xfff,
                end: (end + 0xfff) & !0xfff,
                file_offset: segment.p_offset(endian) & !0xfff,
                path: Arc::from(path.to_str().unwrap()),
                content: None,
            }
        })
        .collect()
}

#[test]
fn load_addresses_follow_from_mappings_also_when_segments_share_a_page() {
    let source = "int data = 5; int main(void) { return data; }";
    let scratch = Scratch::new("bias");
    for options in [&["-g"][..], &["-g", "-Wl,-z,noseparate-code"], &["-g", "-Wl,-z,norelro"]] {
        let path = scratch.compile("gcc", "bias.c", source, options);
        let unloaded = open(&path);
        let bias = 0x5555_5555_4000;
        let loaded = Program::from_mappings(kernel_mappings(&path, bias));
        for name in ["main", "data"] {
            let expected = unloaded.find_symbol(name).unwrap().address + bias;
            assert_eq!(loaded.find_symbol(name).unwrap().address, expected, "{name} {options:?}");
            assert_eq!(loaded.locate(expected).function.unwrap().name, name, "{options:?}");
        }
    }
}

#[test]
fn an_address_outside_of_all_objects_is_known_by_nothing() {
    let program = Program::from_mappings([]);
    let location = program.locate(0x1000);
    assert_eq!((location.object, location.function, location.frames.len()), (None, None, 0));
}

#[test]
fn a_stub_of_the_linker_is_called_after_what_it_leads_to() {
    let scratch = Scratch::new("stub");
    let source = "int puts(const char *); int main(void) { return puts(\"hello\"); }\n";
    for compiler in ["gcc", "clang"] {
        let program = open(&scratch.compile(compiler, "stub.c", source, &["-g", "-no-pie"]));
        let main = program.find_symbol("main").unwrap().address;
        let names =
            (main & !0xfff..main).map(|address| program.locate(address).function_name().map(str::to_owned));
        assert!(names.flatten().any(|name| name == "puts@plt"), "{compiler}");
    }
}
