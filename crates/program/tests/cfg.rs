//! Control flow graphs of small functions, as both compilers make them.

mod common;

use std::sync::Arc;

use common::{Scratch, open};
use program::{BlockId, Cfg, Program, Terminator};

const COMPILERS: [&str; 2] = ["gcc", "clang"];
const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// Calls `check` with the program in every variant of compiler and optimisation.
fn in_all_variants(name: &str, source: &str, mut check: impl FnMut(&Program, &str)) {
    let scratch = Scratch::new(name);
    for compiler in COMPILERS {
        for level in LEVELS {
            for position in [&["-fPIE", "-pie"][..], &["-fno-pie", "-no-pie"]] {
                let options: Vec<&str> = [&["-g", "-w", level][..], position].concat();
                let path = scratch.compile(compiler, "source.c", source, &options);
                check(&open(&path), &format!("{compiler} {}", options.join(" ")));
            }
        }
    }
}

fn graph(program: &Program, function: &str) -> Arc<Cfg> {
    let symbol = program.find_symbol(function).unwrap();
    program.cfg(symbol.address).unwrap()
}

fn returns(cfg: &Cfg) -> usize {
    cfg.blocks.iter().filter(|block| block.terminator == Terminator::Return).count()
}

/// Every edge leads to a block, the blocks are in order and do not overlap.
fn assert_sound(cfg: &Cfg, variant: &str) {
    assert!(cfg.block(cfg.entry).is_some(), "{variant}");
    assert_eq!(cfg.block(cfg.entry).unwrap().start, cfg.start, "{variant}");
    for pair in cfg.blocks.windows(2) {
        assert!(pair[0].end <= pair[1].start, "{variant}: {pair:x?}");
    }
    for block in &cfg.blocks {
        assert!(block.terminator.successors().all(|to| cfg.block(to).is_some()), "{variant}: {block:x?}");
    }
}

#[test]
fn a_loop_with_a_condition_has_a_way_back_and_a_way_out() {
    let source = "int count(const char *s) { int n = 0; while (*s) if (*s++ == 'a') n++; return n; }
                  int main(int c, char **v) { return count(v[0]); }";
    in_all_variants("cfg-loop", source, |program, variant| {
        let cfg = graph(program, "count");
        assert_sound(&cfg, variant);
        assert_eq!(cfg.holes, [], "{variant}: {cfg:x?}");
        assert!(returns(&cfg) >= 1, "{variant}");
        let goes_back = |(index, block): (usize, &program::BasicBlock)| {
            block.terminator.successors().any(|to| to <= BlockId(index as u32))
        };
        assert!(cfg.blocks.iter().enumerate().any(goes_back), "{variant}");
    });
}
