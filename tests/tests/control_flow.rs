//! Static control flow graphs against real runs: nearly every transfer of control that a program makes within its own code is an edge
//! of a graph that was made from the code alone. Misses are listed with their form.

use std::path::{Path, PathBuf};

use tests::compile::{self, Linkage, Variant};
use tests::ratchet::{Program, Ratchet};
use tests::transfers::{self, Run, Verdict};
use tests::{inputs, place};

const SHARE: f64 = 0.999;

/// So many misses of one program are listed.
const MOST_LISTED: usize = 12;

/// The programs of the short mode, by how their command begins; each is the hard case of a stripped executable.
const SHORT: [&str; 30] = [
    "grep -n -E",
    "grep -c cause",
    "sed -f",
    "sed -n -E",
    "gzip -9",
    "gzip -d -c prose.txt.gz",
    "bzip2 -9",
    "bzip2 -d",
    "sort -n",
    "sort -k",
    "tar -cf",
    "tar -tvf",
    "find tree -type f",
    "ls -laR",
    "diff -u",
    "wc prose",
    "od -t f8",
    "md5sum",
    "cut -f",
    "tr -cs",
    "uniq",
    "join -a",
    "m4",
    "busybox sort",
    "busybox sed",
    "busybox awk",
    "mawk -f",
    "bc -q sums",
    "fmt",
    "date -u -d 2001",
];

fn instructions() -> u64 {
    if place::long() { 500_000_000 } else { 4_000_000 }
}

fn found_in_path(name: &str) -> Option<PathBuf> {
    let directories = ["/usr/local/bin", "/usr/bin", "/bin"];
    directories.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.exists())
}

fn check(name: &str, run: &Run, total: &mut Verdict) {
    match transfers::check(run) {
        Ok(verdict) => {
            println!("{name}: {verdict}");
            verdict.misses.iter().take(MOST_LISTED).for_each(|miss| println!("    {miss}"));
            total.add(verdict);
        }
        Err(why) => panic!("{name}: {why}"),
    }
}

fn judge(total: &Verdict) {
    println!("all: {total}");
    assert!(total.distinct > 2_000, "too little was run to prove anything: {total}");
    assert!(total.share() >= SHARE, "{total}");
}

fn is_wanted(row: &Program) -> bool {
    place::long() || SHORT.iter().any(|start| row.run.title().starts_with(start))
}

#[test]
fn transfers_of_installed_programs_are_edges() {
    let ratchet = Ratchet::read().unwrap();
    let scratch = place::scratch("control-flow");
    inputs::write_all(&scratch).unwrap();
    let mut total = Verdict::default();
    for row in ratchet.working_programs().filter(|row| is_wanted(row)) {
        let words = row.run.list();
        let program = found_in_path(&words[0]).unwrap_or_else(|| panic!("{} is not installed", words[0]));
        let stdin = row.stdin.as_ref().map(|file| std::fs::read(scratch.join(file)).unwrap());
        let run = Run {
            program: &program,
            words: &words,
            directory: &scratch,
            stdin: stdin.unwrap_or_default(),
            most_instructions: instructions(),
        };
        check(&row.run.title(), &run, &mut total);
    }
    judge(&total);
}

#[test]
fn transfers_of_our_own_programs_are_edges() {
    let scratch = place::scratch("control-flow-guests");
    let mut total = Verdict::default();
    for name in
        ["integers", "strings", "sorting", "structures", "varargs", "control", "digests", "allocation"]
    {
        for compiler in ["gcc", "clang"] {
            for optimisation in ["-O0", "-O2"] {
                let variant = Variant { compiler, optimisation, linkage: Linkage::Dynamic };
                let program = compile::compile(&place::guest(&format!("{name}.c")), variant, &[]).unwrap();
                let run = Run {
                    program: &program,
                    words: &[name.to_owned()],
                    directory: &scratch,
                    stdin: Vec::new(),
                    most_instructions: instructions(),
                };
                check(&format!("{name} {variant}"), &run, &mut total);
            }
        }
    }
    judge(&total);
}
