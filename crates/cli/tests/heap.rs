//! The checked heap as its users see it. What is found and what is not is in `memory_errors`.

mod common;

use std::process::Command;

use common::{Scratch, skip};

const LEAKS: &str = r#"#include <stdlib.h>
struct node { struct node *next; char text[24]; };
static struct node *kept;
static struct node *make(struct node *next) {
    struct node *node = malloc(sizeof *node);
    node->next = next;
    return node;
}
static void lose(void) {
    struct node *list = make(make(make(0)));
    list = 0;
}
static void clear(void) { volatile char used[4096]; for (int i = 0; i < 4096; i++) used[i] = 0; }
int main(void) {
    kept = make(make(0));
    for (int i = 0; i < 3; i++)
        lose();
    clear();
    return 0;
}
"#;

#[test]
fn lost_blocks_are_told_by_where_they_were_allocated() {
    let scratch = Scratch::new("leaks");
    scratch.compile("leaks", LEAKS, &["-O0"]);
    let ran = scratch.whydunit(&["run", "--leaks", "--", "./leaks"]);
    assert_eq!(ran.status, 0);
    let expected = "whydunit: memory that was not freed:
  definitely lost: 96 bytes in 3 blocks
  indirectly lost: 192 bytes in 6 blocks
  possibly lost: 0 bytes in 0 blocks
  still reachable: 64 bytes in 2 blocks
96 bytes in 3 blocks are definitely lost, allocated:
  in malloc (libc.so.6)
  called from make at leaks.c:5:25
       5 |     struct node *node = malloc(sizeof *node);
  called from lose at leaks.c:10:25
  called from main at leaks.c:17:9
";
    assert_eq!(ran.stderr, expected);
    let unchecked = scratch.whydunit(&["run", "--leaks", "--heap=program", "--", "./leaks"]);
    assert!(unchecked.stderr.contains("the heap is not checked"), "{}", unchecked.stderr);
}

fn compile_cpp(scratch: &Scratch, name: &str, source: &str, options: &[&str]) {
    let file = format!("{name}.cc");
    scratch.write(&file, source);
    let words = [&["-g", "-o", name, &file], options].concat();
    let output = Command::new("g++").current_dir(scratch.path()).args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const THROWS: &str = r#"#include <cstdio>
#include <cstdint>
#include <new>
#include <vector>
int main() {
    volatile size_t huge = SIZE_MAX / 4;
    try { delete[] new char[huge]; } catch (std::bad_alloc &) { puts("caught"); }
    printf("%d\n", new (std::nothrow) char[huge] == nullptr);
    try { std::vector<long> v(1000); v.at(1000) = 1; } catch (std::exception &) { puts("range"); }
    std::vector<int> v;
    for (int i = 0; i < 1000; i++) v.push_back(i);
    printf("%d\n", v[999]);
}
"#;

#[test]
fn operators_that_have_no_memory_throw_or_return_null() {
    let scratch = Scratch::new("throws");
    for options in [&[][..], &["-static"], &["-O2"]] {
        compile_cpp(&scratch, "throws", THROWS, options);
        let ran = scratch.whydunit(&["run", "--", "./throws"]);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (0, "caught\n1\nrange\n999\n"),
            "{options:?} {}",
            ran.stderr
        );
    }
}

const REPLACED: &str = r#"#include <cstdio>
#include <cstdlib>
#include <new>
static int made, gone;
void *operator new(size_t size) { made++; return malloc(size); }
void operator delete(void *p) noexcept { gone++; free(p); }
void operator delete(void *p, size_t) noexcept { gone++; free(p); }
int main(int argc, char **) {
    int *p = new int(3), *q = new int[4];
    delete p;
    printf("%d %d\n", made, gone);
    q[argc == 1 ? 0 : 4] = 1;
    delete[] q;
    printf("%d %d\n", made, gone);
}
"#;

#[test]
fn operators_of_the_program_run_as_its_code_and_what_they_allocate_is_checked() {
    let scratch = Scratch::new("replaced");
    compile_cpp(&scratch, "replaced", REPLACED, &[]);
    let ran = scratch.whydunit(&["run", "--", "./replaced"]);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, "2 1\n2 2\n", ""));
    let ran = scratch.whydunit(&["run", "--", "./replaced", "bad"]);
    let told = "it wrote to memory 0 bytes after a block of 16 allocated at replaced.cc:5\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

const OWN: &str = r#"#include <stddef.h>
#include <stdio.h>
static char pool[4096];
static size_t used;
void *malloc(size_t size) { used += 1000; return used > sizeof pool ? 0 : pool + used; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t size) { (void)p; return malloc(size); }
int main(int argc, char **argv) {
    char *p = malloc(40);
    p[argc == 1 ? 39 : 40] = 1;
    printf("%d\n", (int)used);
    return 0;
}
"#;

#[test]
fn an_allocator_of_the_program_is_served_too() {
    let scratch = Scratch::new("own");
    scratch.compile("own", OWN, &["-O0", "-fno-builtin"]);
    let ran = scratch.whydunit(&["run", "--", "./own"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "0\n"), "its own code did not run: {}", ran.stderr);
    let ran = scratch.whydunit(&["run", "--", "./own", "bad"]);
    assert!(ran.stderr.contains("0 bytes after a block of 40 allocated at own.c:10"), "{}", ran.stderr);
}

const RUST: &str = r#"fn main() {
    let mut v: Vec<u64> = (0..100).collect();
    v.extend(0..1000);
    let bad = std::env::args().count() > 1;
    let p = v.as_ptr();
    let n = v.len();
    v.push(1);
    let p = if bad { p } else { v.as_ptr() };
    println!("{} {}", unsafe { *p.add(7) }, n);
}
"#;

#[test]
fn rusts_allocations_are_checked() {
    let scratch = Scratch::new("rust");
    scratch.write("vectors.rs", RUST);
    let output = Command::new("rustc").current_dir(scratch.path()).args(["-g", "vectors.rs"]).output();
    if !output.is_ok_and(|output| output.status.success()) {
        return skip("a program in Rust", "there is no rustc");
    }
    let ran = scratch.whydunit(&["run", "--", "./vectors"]);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, "7 1100\n", ""));
    let ran = scratch.whydunit(&["run", "--", "./vectors", "bad"]);
    assert!(
        ran.stderr.contains("it read memory after it was freed, 56 bytes into a block of"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_stripped_static_program_runs_with_a_warning_that_its_heap_is_not_checked() {
    let scratch = Scratch::new("stripped");
    let source = "#include <stdlib.h>\nint main(void) { char *p = malloc(4); p[4] = 1; return 0; }\n";
    scratch.compile("stripped", source, &["-static", "-s"]);
    let ran = scratch.whydunit(&["run", "--", "./stripped"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.starts_with("whydunit: warning: the heap is not checked"), "{}", ran.stderr);
}

const STORY: &str = r#"#include <stdlib.h>
#include <string.h>
struct word { char *text; int length; };
static struct word copy(const char *text) {
    struct word word;
    word.length = strlen(text);
    word.text = malloc(word.length);
    strcpy(word.text, text);
    return word;
}
int main(void) {
    struct word word = copy("hello");
    free(word.text);
    free(word.text);
    return 0;
}
"#;

#[test]
fn why_tells_of_a_heap_fault_and_where_its_block_came_from() {
    let scratch = Scratch::new("heap-why");
    scratch.compile("story", STORY, &["-O0", "-fno-builtin"]);
    let ran = scratch.whydunit(&["why", "--at", "crash", "--", "./story"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("0 bytes after a block of 5 allocated at story.c:7"), "{}", ran.stdout);
    let ran = scratch.whydunit(&["why", "--at", "crash", "--format", "json", "--", "./story"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["failure"]["kind"], "guest-fault", "{answer}");
    let fixed = STORY.replace("malloc(word.length)", "malloc(word.length + 1)");
    scratch.compile("story", &fixed, &["-O0", "-fno-builtin"]);
    let ran = scratch.whydunit(&["why", "--at", "crash", "--", "./story"]);
    assert!(ran.stdout.contains("freed a block twice"), "{}", ran.stdout);
    assert!(ran.stdout.contains("story.c:7"), "the pointer came from there: {}", ran.stdout);
}

#[test]
fn a_bundle_keeps_who_serves_allocations() {
    let scratch = Scratch::new("heap-bundle");
    scratch.compile("story", STORY, &["-O0", "-fno-builtin"]);
    for (heap, told) in [("checked", "misused its heap"), ("program", "was killed by SIGABRT")] {
        let recorded =
            scratch.whydunit(&["record", "-o", "story.whyd", &format!("--heap={heap}"), "--", "./story"]);
        assert!(recorded.stderr.contains("story.whyd"), "{recorded:?}");
        let ran = scratch.whydunit(&["run", "story.whyd"]);
        assert!(ran.stderr.contains(told), "{heap}: {}", ran.stderr);
    }
}
