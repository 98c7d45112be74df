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

const DENSE: &str = "
    int out;
    __attribute__((noinline)) void act(int n) { out += n; __asm__ volatile(\"\" ::: \"memory\"); }
    __attribute__((noinline)) int dense(int x) {
        switch (x) {
        case 3: act(17); act(1); break;
        case 4: act(out); break;
        case 5: act(out * 3); act(2); break;
        case 6: out = out * out; act(3); break;
        case 7: act(5); act(out); break;
        case 9: return -out;
        case 10: act(1); act(1); act(1); break;
        default: act(99); return 7;
        }
        return out;
    }
    __attribute__((noinline)) int bytes(const unsigned char *x) {
        switch (*x) {
        case 'a': act(17); act(1); break;
        case 'b': act(out); break;
        case 'c': act(out * 3); act(2); break;
        case 'd': out = out * out; act(3); break;
        case 'e': act(5); act(out); break;
        case 'f': return -out;
        }
        return out;
    }
    __attribute__((noinline)) int in_loop(const char *text, long n) {
        int total = 0;
        for (long i = 0; i < n; i++) {
            switch (text[i]) {
            case '0': total += 3; act(1); break;
            case '1': total *= 3; act(2); break;
            case '2': total ^= 99; act(3); break;
            case '3': total -= i; act(total); break;
            case '4': act(total); act(4); break;
            case '5': switch (text[i + 1]) {
                case 10: act(1); act(9); break;
                case 11: act(2); act(8); break;
                case 12: act(3); act(7); break;
                case 13: act(4); act(6); break;
                case 14: act(5); act(5); break;
                }
            }
        }
        return total;
    }
    int main(int c, char **v) { return dense(c) + bytes(v[0]) + in_loop(v[0], c); }";

/// Where the table sends a value.
fn case(table: &program::JumpTable, value: i64) -> Option<BlockId> {
    table.cases.iter().find(|(case, _)| *case == value).map(|(_, to)| *to)
}

#[test]
fn a_dense_switch_has_its_cases_and_its_default() {
    in_all_variants("cfg-dense", DENSE, |program, variant| {
        let cfg = graph(program, "dense");
        assert_sound(&cfg, variant);
        assert_eq!(cfg.holes, [], "{variant}");
        let [table] = &cfg.tables[..] else { panic!("{variant}: {cfg:x?}") };
        let values: Vec<i64> = table.cases.iter().map(|(value, _)| *value).collect();
        assert_eq!(values, [3, 4, 5, 6, 7, 8, 9, 10], "{variant}");
        assert_eq!(table.bound, program::TableBound::Checked, "{variant}");
        assert!(table.default.is_some(), "{variant}");
        assert_eq!(case(table, 8), table.default, "8 is a gap: {variant}");
        let mut distinct: Vec<BlockId> = table.cases.iter().map(|(_, to)| *to).collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 8, "{variant}");
        let switch = &cfg.block(table.block).unwrap().terminator;
        assert!(matches!(switch, Terminator::Switch { targets } if targets.len() == 8), "{variant}");
    });
}

#[test]
fn a_switch_on_a_byte_in_memory_has_its_cases() {
    in_all_variants("cfg-bytes", DENSE, |program, variant| {
        let cfg = graph(program, "bytes");
        assert_eq!(cfg.holes, [], "{variant}");
        let [table] = &cfg.tables[..] else { panic!("{variant}: {cfg:x?}") };
        let values: Vec<i64> = table.cases.iter().map(|(value, _)| *value).collect();
        assert_eq!(values, [97, 98, 99, 100, 101, 102], "{variant}");
    });
}

#[test]
fn switches_in_a_loop_and_in_each_other_are_both_found() {
    in_all_variants("cfg-nested", DENSE, |program, variant| {
        let cfg = graph(program, "in_loop");
        assert_sound(&cfg, variant);
        assert_eq!(cfg.holes, [], "{variant}");
        assert_eq!(cfg.tables.len(), 2, "{variant}: {cfg:x?}");
        let first = |number: i64| cfg.tables.iter().any(|table| table.cases.first().unwrap().0 == number);
        assert!(first(48) && first(10), "{variant}: {:?}", cfg.tables);
        assert!(!cfg.analyse().loops.all().is_empty(), "{variant}");
    });
}

#[test]
fn a_call_that_never_returns_ends_its_block() {
    let source = "
        #include <stdlib.h>
        #include <stdio.h>
        #include <setjmp.h>
        jmp_buf environment;
        __attribute__((noinline)) static void usage(int status) { puts(\"usage\"); exit(status); }
        __attribute__((noinline)) static void fail(int n) { if (n) usage(1); else longjmp(environment, 1); }
        __attribute__((noinline)) static void spin(void) { for (;;) __asm__ volatile(\"\"); }
        __attribute__((noinline)) static int mostly(int n) { if (n == 3) fail(n); return n; }
        __attribute__((noinline)) int check(int n) {
            if (n > 100) { usage(2); }
            if (n > 50) { fail(n); }
            if (n > 40) { spin(); }
            return mostly(n);
        }
        int main(int c, char **v) { return check(c); }";
    in_all_variants("cfg-noreturn", source, |program, variant| {
        let cfg = graph(program, "check");
        assert_sound(&cfg, variant);
        assert_eq!(cfg.holes, [], "{variant}");
        let stops = cfg.blocks.iter().filter(|block| block.terminator == Terminator::Stop).count();
        let endless = cfg.analyse().post_dominators.endless().len();
        assert_eq!(stops + endless, 3, "{variant}: {cfg:x?}");
        let ends =
            |terminator: &Terminator| matches!(terminator, Terminator::Return | Terminator::TailCall { .. });
        assert_eq!(
            cfg.blocks.iter().filter(|block| ends(&block.terminator)).count(),
            1,
            "{variant}: {cfg:x?}"
        );
    });
}

#[test]
fn a_function_that_is_declared_not_to_return_does_not() {
    let library = "void give_up(int n) { while (1) n++; }";
    let source = "
        #include <error.h>
        extern void give_up(int) __attribute__((noreturn));
        int check(int n) {
            if (n > 3) give_up(n);
            if (n == 2) error(1, 0, \"fatal\");
            if (n == 1) error(0, 0, \"only a warning\");
            return n + 1;
        }
        int main(int c, char **v) { return check(c); }";
    let scratch = Scratch::new("cfg-declared");
    let library = scratch.compile("gcc", "library.c", library, &["-shared", "-fPIC"]);
    for options in [&["gcc", "-O0"], &["gcc", "-O2"], &["clang", "-O2"]] {
        let library = library.to_str().unwrap();
        let path = scratch.compile(
            options[0],
            "source.c",
            source,
            &["-g", "-gdwarf-5", options[1], "-Wl,--no-as-needed", library],
        );
        let cfg = graph(&open(&path), "check");
        let stops = cfg.blocks.iter().filter(|block| block.terminator == Terminator::Stop).count();
        assert_eq!(stops, 2, "{options:?}: {cfg:x?}");
    }
}

#[test]
fn tail_calls_leave_the_function_and_moved_code_does_not() {
    let source = "
        #include <stdlib.h>
        int out;
        __attribute__((noinline)) int other(int n) { return out += n; }
        __attribute__((noinline, cold)) void rare(int n) { out -= n; }
        int (*pointer)(int) = other;
        __attribute__((noinline)) int tail(int n) { if (n) out++; return other(n + 1); }
        __attribute__((noinline)) int indirect(int n) { out++; return pointer(n); }
        __attribute__((noinline)) int split(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                if (__builtin_expect(i == 17, 0)) { rare(i); rare(i + 1); sum *= 3; }
                sum += other(i);
            }
            return sum;
        }
        int main(int c, char **v) { return tail(c) + indirect(c) + split(c); }";
    in_all_variants("cfg-tail", source, |program, variant| {
        let optimises = variant.contains("-O2") || variant.contains("-O3");
        let tail = graph(program, "tail");
        let other = program.find_symbol("other").unwrap().address;
        let direct =
            |block: &program::BasicBlock| block.terminator == Terminator::TailCall { target: Some(other) };
        assert_eq!(tail.blocks.iter().any(direct), optimises, "{variant}: {tail:x?}");
        let indirect = graph(program, "indirect");
        let unknown = |block: &program::BasicBlock| block.terminator == Terminator::TailCall { target: None };
        assert_eq!(indirect.blocks.iter().any(unknown), optimises, "{variant}: {indirect:x?}");
        let split = graph(program, "split");
        assert_sound(&split, variant);
        assert!(
            split.blocks.iter().all(|block| !matches!(block.terminator, Terminator::TailCall { .. })),
            "{variant}"
        );
        assert!(returns(&split) >= 1, "{variant}");
        if let Ok(cold) = program.find_symbol("split.cold") {
            assert!(split.block_at(cold.address).is_some(), "{variant}");
            assert_eq!(program.cfg(cold.address).unwrap().start, split.start, "{variant}");
        }
    });
}

#[test]
fn a_computed_goto_goes_to_its_labels() {
    let source = "
        int run(const unsigned char *code) {
            static const void *const labels[] = {&&stop, &&add, &&subtract, &&twice};
            int value = 1;
            goto *labels[*code++];
        add: value += 3; goto *labels[*code++];
        subtract: value -= 7; goto *labels[*code++];
        twice: value *= 2; goto *labels[*code++];
        stop: return value;
        }
        int main(int c, char **v) { return run((unsigned char *)v[0]); }";
    in_all_variants("cfg-goto", source, |program, variant| {
        let cfg = graph(program, "run");
        assert_sound(&cfg, variant);
        assert_eq!(cfg.holes, [], "{variant}");
        assert!(!cfg.tables.is_empty(), "{variant}");
        for table in &cfg.tables {
            assert_eq!(table.bound, program::TableBound::Extent, "{variant}");
            let mut targets: Vec<BlockId> = table.cases.iter().map(|(_, to)| *to).collect();
            targets.sort();
            targets.dedup();
            assert_eq!(targets.len(), 4, "{variant}: {cfg:x?}");
        }
        assert_eq!(returns(&cfg), 1, "{variant}");
    });
}

#[test]
fn code_that_catches_exceptions_is_in_the_graph() {
    let source = "
        #include <cstdlib>
        int risky(int n) { if (n > 3) throw n; return n; }
        int guarded(int n) {
            try { return risky(n); }
            catch (int caught) { return caught > 10 ? 1 : 2; }
            catch (...) { abort(); }
        }
        int main(int c, char **v) { return guarded(c); }";
    let scratch = Scratch::new("cfg-exceptions");
    for compiler in ["g++", "clang++"] {
        for level in ["-O0", "-O2"] {
            let program =
                open(&scratch.compile(compiler, "source.cc", source, &["-g", "-fno-inline", level]));
            let cfg = graph(&program, "guarded");
            assert_sound(&cfg, compiler);
            assert_eq!(cfg.holes, [], "{compiler} {level}");
            assert!(!cfg.landing_pads.is_empty(), "{compiler} {level}: {cfg:x?}");
            let pad = cfg.block(cfg.landing_pads[0]).unwrap().start;
            assert_eq!(program.cfg(pad).unwrap().start, cfg.start, "{compiler} {level}");
            let stops = cfg.blocks.iter().filter(|block| block.terminator == Terminator::Stop).count();
            assert!(stops > 0, "abort: {compiler} {level}");
        }
    }
}

#[test]
fn a_match_in_rust_has_its_arms() {
    let source = "
        use std::hint::black_box;
        #[derive(Clone, Copy)]
        pub enum Kind { A, B, C, D, E, F, G }
        #[no_mangle]
        #[inline(never)]
        pub fn choose(kind: &Kind, n: u64) -> u64 {
            match *kind {
                Kind::A => black_box(n) + 1,
                Kind::B => black_box(n) * 3,
                Kind::C => black_box(n) ^ 77,
                Kind::D => black_box(n) / 5,
                Kind::E => black_box(n) << 3,
                Kind::F => black_box(n).pow(3),
                Kind::G => panic!(\"no {}\", n),
            }
        }
        fn main() {
            let all = [Kind::A, Kind::B, Kind::C, Kind::D, Kind::E, Kind::F, Kind::G];
            let chosen = all[std::env::args().count() % 7];
            println!(\"{}\", choose(&chosen, 3));
        }";
    let scratch = Scratch::new("cfg-rust");
    for level in ["0", "2"] {
        let option = format!("opt-level={level}");
        let path = scratch.compile("rustc", "source.rs", source, &["-g", "-A", "warnings", "-C", &option]);
        let cfg = graph(&open(&path), "choose");
        assert_sound(&cfg, level);
        assert_eq!(cfg.holes, [], "{level}");
        let [table] = &cfg.tables[..] else { panic!("{level}: {cfg:x?}") };
        let values: Vec<i64> = table.cases.iter().map(|(value, _)| *value).collect();
        assert_eq!(values, [0, 1, 2, 3, 4, 5, 6], "{level}");
        let stops = cfg.blocks.iter().filter(|block| block.terminator == Terminator::Stop).count();
        assert!(stops >= 1, "the panic does not return: {level}");
    }
}

#[test]
fn what_a_run_did_completes_a_graph_and_stays_a_hole() {
    let source = "
        __asm__(\".globl odd\\n .type odd, @function\\n odd:\\n push %rbx\\n .cfi_startproc\\n .cfi_def_cfa_offset 16\\n\"
                \"lea 1f(%rip), %rax\\n add %rdi, %rax\\n jmp *%rax\\n\"
                \"1: nop\\n 2: mov $1, %eax\\n pop %rbx\\n ret\\n .cfi_endproc\\n .size odd, .-odd\");
        int odd(long n);
        int main(int c, char **v) { return odd(0); }";
    let scratch = Scratch::new("cfg-complete");
    let path = scratch.compile("gcc", "source.c", source, &["-g"]);
    let program = open(&path);
    let before = graph(&program, "odd");
    let [hole] = before.holes[..] else { panic!("{before:x?}") };
    let block = before.block(before.block_at(hole.address).unwrap()).unwrap();
    assert_eq!(block.terminator, Terminator::Unknown);

    let jump = block.last;
    let observed = [program::Transfer { from: jump, to: block.end }, program::Transfer { from: 1, to: 2 }];
    let after = program.complete(before.start, &observed).unwrap();
    assert_sound(&after, "completed");
    assert_eq!(after.added(), &observed[..1]);
    assert_eq!(returns(&after), 1);
    assert_eq!(after.holes, [hole], "what was seen need not be all");
    let block = after.block(after.block_at(jump).unwrap()).unwrap();
    assert!(matches!(&block.terminator, Terminator::Switch { targets } if targets.len() == 1));
    assert_eq!(*graph(&program, "odd"), *before, "the graph of the code alone is as it was");
}

#[test]
fn a_call_that_was_seen_to_return_goes_on() {
    let source = "
        #include <stdlib.h>
        int checked(int n) { if (n) abort(); return n; }
        int main(int c, char **v) { return checked(0); }";
    let scratch = Scratch::new("cfg-returned");
    let program = open(&scratch.compile("gcc", "source.c", source, &["-g"]));
    let before = graph(&program, "checked");
    let stop = before.blocks.iter().find(|block| block.terminator == Terminator::Stop).unwrap();
    let returned = program::Transfer { from: stop.last, to: stop.end };
    assert!(!before.has_transfer(returned));
    let after = program.complete(before.start, &[returned]).unwrap();
    assert!(after.has_transfer(returned));
    assert_eq!(after.added(), [returned]);
}

/// A program with a function `f` of these bytes.
fn with_code(scratch: &Scratch, code: &[u8]) -> Program {
    let lines: Vec<String> = code
        .chunks(32)
        .map(|chunk| format!(".byte {}", chunk.iter().map(u8::to_string).collect::<Vec<_>>().join(",")))
        .collect();
    let source = format!(
        ".globl _start\n.globl f\n.type f, @function\n_start: ret\nf:\n.cfi_startproc\n{}\n.cfi_endproc\n.size f, .-f\n",
        lines.join("\n")
    );
    open(&scratch.compile("gcc", "source.s", &source, &["-nostdlib", "-static"]))
}

#[test]
fn any_bytes_make_a_graph() {
    let scratch = Scratch::new("cfg-hostile");
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    for round in 0..20 {
        // Bytes that begin jumps, branches, calls and prefixes are more frequent than chance has them.
        let interesting = [0xeb, 0x74, 0x0f, 0xff, 0xe0, 0xe8, 0xc3, 0x66, 0xf0, 0x48, 0x8d, 0x3c];
        let mut byte = || if random() < 100 { interesting[usize::from(random()) % 12] } else { random() };
        let code: Vec<u8> = (0..4000).map(|_| byte()).collect();
        let program = with_code(&scratch, &code);
        let start = program.find_symbol("f").unwrap().address;
        for offset in (0..4000).step_by(97) {
            if let Some(cfg) = program.cfg(start + offset) {
                assert_sound(&cfg, &format!("round {round}"));
                cfg.analyse();
                program.cfg_text(&cfg);
            }
        }
    }
}

#[test]
fn the_time_for_a_large_function_is_not_quadratic() {
    let scratch = Scratch::new("cfg-large");
    // Branches that all go to the next but one, indirect jumps in between: 100 000 instructions, many ways.
    let mut code = Vec::new();
    for number in 0..50_000 {
        code.extend([0x39, 0xc8, 0x74, 0x02]);
        code.extend(if number % 100 == 0 { [0xff, 0xe0] } else { [0x89, 0xc1] });
    }
    code.push(0xc3);
    let program = with_code(&scratch, &code);
    let start = program.find_symbol("f").unwrap().address;
    let started = std::time::Instant::now();
    let cfg = program.cfg(start).unwrap();
    let elapsed = started.elapsed();
    assert_eq!(cfg.blocks.len(), 100_001);
    // Well under a second on an idle machine; quadratic time would be minutes.
    assert!(elapsed.as_secs() < 10, "{elapsed:?}");
}
