//! Types as text, from every form of debug information that compilers make.

mod common;

use std::process::Command;

use common::{Scratch, open, run};
use program::{Keyword, Program, TypeKind};

const SOURCE: &str = r#"
struct later;
enum color { RED, GREEN = 5, BLUE };
typedef struct node {
    int id;
    const char *name;
    struct node *next;
    unsigned low : 3, high : 5;
    union { int number; float fraction; };
    enum color color;
    int table[2][3];
    char *(*callback)(int, const char *const *);
    struct later *later;
} node_t;
struct later { long value; node_t all[]; };
node_t node;
struct later later;
int (*rows)[4];
int *cells[4];
volatile const int watched;
long long (*compute)(void);
int main(void) { return node.low + node.high + later.value + !rows + !cells[0] + watched + !compute; }
"#;

const NODE: &str = "struct node {
    int id;
    const char *name;
    struct node *next;
    unsigned int low : 3;
    unsigned int high : 5;
    union {
        int number;
        float fraction;
    };
    enum color color;
    int table[2][3];
    char *(*callback)(int, const char * const *);
    struct later *later;
}";

fn global_type(program: &Program, name: &str) -> String {
    let found = program.find_globals(name);
    program.type_name(found.first().unwrap_or_else(|| panic!("no {name}")).of)
}

#[test]
fn every_form_of_debug_information_gives_the_same_types() {
    let scratch = Scratch::new("types-forms");
    for (compiler, options) in [
        ("gcc", &["-gdwarf-5"][..]),
        ("gcc", &["-gdwarf-4"]),
        ("gcc", &["-gdwarf-3", "-gstrict-dwarf"]),
        ("gcc", &["-gdwarf-4", "-fdebug-types-section"]),
        ("gcc", &["-gdwarf-5", "-fdebug-types-section"]),
        ("gcc", &["-g", "-O2", "-flto"]),
        ("gcc", &["-g", "-gz=zlib"]),
        ("clang", &["-gdwarf-5"]),
        ("clang", &["-gdwarf-4"]),
        ("clang", &["-gdwarf-4", "-fdebug-types-section"]),
    ] {
        let program = open(&scratch.compile(compiler, "forms.c", SOURCE, options));
        let what = format!("{compiler} {options:?}");
        let node = program.find_type("node");
        assert_eq!(program.type_definition(node), NODE, "{what}");
        assert_eq!(program.type_name(node), "struct node", "{what}");
        assert_eq!(program.type_definition(program.find_type("node_t")), NODE, "{what}");
        assert_eq!(
            program.type_definition(program.find_type("later")),
            "struct later {\n    long value;\n    node_t all[];\n}",
            "{what}"
        );
        assert_eq!(program.type_definition(program.find_type("color")), "enum color {RED, GREEN = 5, BLUE}");
        assert_eq!(global_type(&program, "rows"), "int (*)[4]");
        assert_eq!(global_type(&program, "cells"), "int *[4]");
        assert_eq!(global_type(&program, "watched"), "const volatile int");
        assert_eq!(global_type(&program, "compute"), "long long (*)(void)");
    }
}

#[test]
fn bit_fields_have_the_same_place_in_old_and_new_debug_information() {
    let scratch = Scratch::new("types-bits");
    for options in [&["-gdwarf-5"][..], &["-gdwarf-3", "-gstrict-dwarf"]] {
        let program = open(&scratch.compile("gcc", "bits.c", SOURCE, options));
        let node = program.type_of(program.find_type("node").unwrap()).unwrap();
        let TypeKind::Record(record) = &node.kind else { panic!() };
        assert_eq!(record.keyword, Keyword::Struct);
        let bits: Vec<_> = record.members.iter().filter_map(|member| member.bits).collect();
        assert_eq!(bits, [(192, 3), (195, 5)], "{options:?}");
    }
}

#[test]
fn a_declaration_is_completed_by_the_definition_in_another_file() {
    let scratch = Scratch::new("types-elsewhere");
    let other = scratch.path().join("other.c");
    std::fs::write(
        &other,
        "struct hidden { int inside; }; struct hidden it; struct hidden *get(void) { return &it; }",
    )
    .unwrap();
    let source = "struct hidden *get(void); struct nowhere *pointer; struct hidden *held;\n\
                  int main(void) { held = get(); return !pointer; }";
    let program = open(&scratch.compile("gcc", "user.c", source, &["-g", other.to_str().unwrap()]));
    let held = program.find_globals("held");
    assert_eq!(program.type_definition(held[0].of), "struct hidden {\n    int inside;\n} *");
    let pointer = program.find_globals("pointer");
    assert_eq!(program.type_definition(pointer[0].of), "struct nowhere {\n    <incomplete type>\n} *");
}

#[test]
fn debug_information_that_dwz_has_packed_is_read() {
    if Command::new("dwz").arg("--version").output().is_err() {
        return;
    }
    let scratch = Scratch::new("types-dwz");
    let path = scratch.compile("gcc", "packed.c", SOURCE, &["-gdwarf-4"]);
    run(Command::new("dwz").arg(&path));
    let program = open(&path);
    assert_eq!(program.type_definition(program.find_type("node")), NODE);
}

#[test]
fn functions_of_unnamed_blocks_list_all_their_variables() {
    let source = "int f(int a) { static int kept = 1; int b = a; { int b = 2; kept += b; } return b + kept; }\n\
                  int main(void) { return f(1); }";
    let scratch = Scratch::new("types-blocks");
    for compiler in ["gcc", "clang"] {
        let program = open(&scratch.compile(compiler, "blocks.c", source, &["-g", "-O0"]));
        let blocks = program.blocks_of(program.find_symbol("f").unwrap().address);
        let names: Vec<Vec<&str>> = blocks
            .iter()
            .map(|block| {
                let mut names: Vec<&str> = block.variables.iter().map(|(v, _)| v.name.as_str()).collect();
                names.sort();
                names
            })
            .collect();
        assert_eq!(names, [vec!["a", "b", "kept"], vec!["b"]], "{compiler}");
        let texts =
            blocks[0].variables.iter().filter(|(v, _)| v.name == "a").map(|(_, d)| d[0].text.as_str());
        assert!(
            texts.clone().all(|text| text.starts_with("frame base - ")),
            "{:?}",
            texts.collect::<Vec<_>>()
        );
    }
}
