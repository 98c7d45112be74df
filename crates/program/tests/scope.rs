//! Which code of a real program is under suspicion.

mod common;

use std::sync::Arc;

use common::{Scratch, open};
use program::{Mapping, Program, Scope, Trust, TrustReason};

fn scope(trust: &[&str], suspect: &[&str]) -> Scope {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    Scope::new(&owned(trust), &owned(suspect)).unwrap()
}

fn of(program: &Program, scope: &Scope, name: &str) -> Trust {
    scope.of(program, program.find_symbol(name).unwrap().address)
}

const SOURCE: &str = "int main(int c, char **v) { return c; }";

#[test]
fn what_is_linked_in_without_debug_information_is_trusted() {
    let scratch = Scratch::new("scope-static");
    let program = open(&scratch.compile("gcc", "own.c", SOURCE, &["-g", "-static"]));
    assert_eq!(of(&program, &Scope::default(), "main"), Trust::InScope);
    assert_eq!(of(&program, &Scope::default(), "malloc"), Trust::Trusted(TrustReason::NoSource));
    assert_eq!(program.warnings(), []);
}

#[test]
fn a_program_without_any_debug_information_is_in_scope() {
    let scratch = Scratch::new("scope-bare");
    let program = open(&scratch.compile("gcc", "own.c", SOURCE, &["-g0"]));
    assert_eq!(of(&program, &Scope::default(), "main"), Trust::InScope);
}

#[test]
fn inlined_code_of_system_headers_is_trusted_inside_of_the_programs_own() {
    let source = "#include <vector>\nint total(std::vector<int> &v) {\n    int s = 0;\n    for (int x : v)\n        s += x;\n\
                  \u{20}   v.push_back(s);\n    return s;\n}\nint main() { std::vector<int> v(3); return total(v); }\n";
    let scratch = Scratch::new("scope-inlined");
    let program = open(&scratch.compile("g++", "own.cc", source, &["-g", "-O2"]));
    let (mut own, mut trusted) = (0, 0);
    for placed in program.statements_of(program.find_symbol("total").unwrap().address) {
        let is_own = placed.stmt.file.ends_with("/own.cc");
        for range in placed.ranges {
            let expected = if is_own { Trust::InScope } else { Trust::Trusted(TrustReason::SystemSource) };
            assert_eq!(Scope::default().of(&program, range.start), expected);
            *(if is_own { &mut own } else { &mut trusted }) += 1;
        }
    }
    assert!(own > 0 && trusted > 0, "{own} {trusted}");
}

#[test]
fn patterns_are_for_objects_and_for_sources() {
    let scratch = Scratch::new("scope-patterns");
    let program = open(&scratch.compile("gcc", "own.c", SOURCE, &["-g"]));
    for pattern in ["own.c", "own.out", "*.c", scratch.path().to_str().unwrap()] {
        let asked = Trust::Trusted(TrustReason::Asked { pattern: Arc::from(pattern) });
        assert_eq!(of(&program, &scope(&[pattern], &[]), "main"), asked);
        assert_eq!(of(&program, &scope(&[pattern], &["own.c"]), "main"), Trust::InScope);
    }
}

#[test]
fn the_program_is_what_is_mapped_lowest_and_libraries_are_told_from_it() {
    let scratch = Scratch::new("scope-library");
    let path = scratch.compile("gcc", "own.c", SOURCE, &["-g0"]);
    let library =
        scratch.compile("gcc", "library.c", "int f(void) { return 1; }", &["-g0", "-shared", "-fPIC"]);
    let mapping = |path: &std::path::Path, start: u64| Mapping {
        start,
        end: start + 0x10000,
        file_offset: 0,
        path: Arc::from(path.to_str().unwrap()),
        content: None,
    };
    // The library first: the order in which mappings are told says nothing.
    let program =
        Program::from_mappings([mapping(&library, 0x7f00_0000_0000), mapping(&path, 0x5555_0000_0000)]);
    assert_eq!(program.main_object().map(|object| &**object), path.to_str());
    assert_eq!(Scope::default().of(&program, 0x5555_0000_0100), Trust::InScope);
    assert_eq!(Scope::default().of(&program, 0x7f00_0000_0100), Trust::Trusted(TrustReason::NoDebugInfo));
    assert_eq!(Scope::default().of(&program, 0x10), Trust::Trusted(TrustReason::NoObject));
}
