//! How each kind of row is checked: the same program natively and under whydunit, in surroundings that are made afresh for each.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::rows::{Example, Guest, Instructions, Program, Syscall};
use super::{Failure, Row, Status};
use crate::command::{self, RunError};
use crate::compile::{self, Language, PLAIN};
use crate::outcome::Outcome;
use crate::tree::{Detail, Tree};
use crate::{inputs, place};

/// The fuzzer's cases are the same every time; another seed is a matter for `cargo run -p oracle --bin fuzz`.
const FUZZ_SEED: u64 = 1;

/// So many differing instructions are told in full.
const MOST_TOLD: usize = 5;

/// Fills the directory that a program is run in.
type Prepare = fn(&Path) -> std::io::Result<()>;

impl Row for Program {
    fn name(&self) -> String {
        let stdin = self.stdin.as_ref().map(|file| format!(" < {file}")).unwrap_or_default();
        format!("program::{}{stdin}", self.run.title())
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn check(&self) -> Result<(), Failure> {
        let scratch = place::scratch(&self.name());
        let (work, export) = (scratch.join("work"), scratch.join("export"));
        let mut program = command::Program::new(self.run.list()).directory(&work);
        if let Some(file) = &self.stdin {
            program = program.stdin(file);
        }
        let export_option = ["--write-back".as_ref(), export.as_os_str()];
        let options = if self.files { &export_option[..] } else { &[] };
        let mut compared = compare(&program, &scratch, options, inputs::write_all)?;
        if self.sorted {
            compared.native = compared.native.with_sorted_lines();
            compared.guest = compared.guest.with_sorted_lines();
        }
        compared.same_outcome()?;
        if self.files { compared.same_files(&export, &work) } else { Ok(()) }
    }
}

impl Row for Guest {
    fn name(&self) -> String {
        format!("guest::{}", self.run.title())
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn check(&self) -> Result<(), Failure> {
        let words = self.run.list();
        let (name, arguments) =
            words.split_first().ok_or_else(|| Failure::Broken("no program named".into()))?;
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let scratch = place::scratch(&self.name());
        fs::write(scratch.join("stdin"), &self.stdin).map_err(broken)?;
        let heap = self.heap.as_ref().map(|heap| [OsStr::new("--heap"), OsStr::new(heap)]);
        let options: Vec<&OsStr> = heap.into_iter().flatten().collect();
        let (source, language) = Language::find(name);
        for variant in compile::variants().into_iter().filter(|variant| language.has(variant)) {
            let executable = compile::compile(&source, variant, &flags).map_err(Failure::Broken)?;
            let program = with_arguments(executable, arguments)
                .stdin(scratch.join("stdin"))
                .directory(scratch.join("work"));
            let compared = compare(&program, &scratch, &options, |_| Ok(()))?;
            if compared.native.status != self.exit {
                return Err(Failure::Broken(format!(
                    "{variant}: natively it should end with {}: {:?}",
                    self.exit, compared.native
                )));
            }
            compared.same_outcome().map_err(|failure| failure.within(&variant.to_string()))?;
        }
        Ok(())
    }
}

impl Row for Instructions {
    fn name(&self) -> String {
        format!("instructions::{}", self.group)
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn check(&self) -> Result<(), Failure> {
        let cases = if place::long() { 1_000_000 } else { 15_000 };
        let report = oracle::fuzz::run_range(&self.group, 0..cases, FUZZ_SEED).map_err(Failure::Broken)?;
        println!("{} cases", report.cases);
        if report.cases < cases / 2 && report.unsupported.is_empty() {
            return Err(Failure::Broken(format!("only {} cases were run", report.cases)));
        }
        let mut found: Vec<String> =
            report.unsupported.iter().map(|form| format!("not supported: {form}")).collect();
        found.extend(report.differences.iter().take(MOST_TOLD).map(|difference| difference.text.clone()));
        if found.is_empty() {
            return Ok(());
        }
        Err(Failure::Difference(format!(
            "{} differences, of which:\n{}",
            report.differences.len(),
            found.join("\n")
        )))
    }
}

impl Row for Syscall {
    fn name(&self) -> String {
        format!("syscall::{}", self.name)
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn check(&self) -> Result<(), Failure> {
        let source = place::guest(&format!("syscalls/{}.c", self.area));
        let executable = compile::compile(&source, PLAIN, &[]).map_err(Failure::Broken)?;
        let scratch = place::scratch(&Row::name(self));
        let program =
            with_arguments(executable, std::slice::from_ref(&self.name)).directory(scratch.join("work"));
        let mut compared = compare(&program, &scratch, &[], |_| Ok(()))?;
        if let Some(expected) = &self.expect {
            compared.native =
                Outcome { stdout: expected.clone().into_bytes(), stderr: Vec::new(), status: 0 };
        }
        compared.same_outcome()
    }
}

impl Row for Example {
    fn name(&self) -> String {
        let flags = self.flags.iter().map(|flag| format!(" {flag}")).collect::<String>();
        format!("example::{}{flags}", self.run.title())
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn check(&self) -> Result<(), Failure> {
        let words = self.run.list();
        let (name, arguments) =
            words.split_first().ok_or_else(|| Failure::Broken("no example named".into()))?;
        let source = place::root().join("examples").join(name).join(format!("{name}.c"));
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let executable = compile::compile(&source, PLAIN, &flags).map_err(Failure::Broken)?;
        let scratch = place::scratch(&self.name());
        let program = with_arguments(executable, arguments).directory(scratch.join("work"));
        compare(&program, &scratch, &[], |_| Ok(()))?.same_outcome()
    }
}

impl Failure {
    fn within(self, context: &str) -> Failure {
        match self {
            Failure::Difference(text) => Failure::Difference(format!("{context}: {text}")),
            Failure::Broken(text) => Failure::Broken(format!("{context}: {text}")),
        }
    }
}

/// The two runs of one program, the tree that they started from, and the one that the native run left.
struct Compared {
    native: Outcome,
    guest: Outcome,
    before: Tree,
    natives_files: Tree,
}

/// Runs the program in `scratch/work`, first natively, then under whydunit, each time with the directory made afresh by `prepare`.
/// Whatever the guest does to files, the host's must stay as they were.
fn compare(
    program: &command::Program,
    scratch: &Path,
    options: &[&OsStr],
    prepare: Prepare,
) -> Result<Compared, Failure> {
    let work = scratch.join("work");
    let fresh = || -> Result<Tree, Failure> {
        if work.exists() {
            fs::remove_dir_all(&work).map_err(broken)?;
        }
        fs::create_dir_all(&work).map_err(broken)?;
        prepare(&work).map_err(broken)?;
        Tree::read(&work).map_err(broken)
    };
    fresh()?;
    let native = program.run().map_err(|error| Failure::Broken(format!("native run: {error}")))?;
    let natives_files = Tree::read(&work).map_err(broken)?;
    let before = fresh()?;
    let guest = match program.under_whydunit(options).run() {
        Ok(outcome) => outcome,
        Err(error @ RunError::NotStarted(_)) => return Err(Failure::Broken(format!("whydunit: {error}"))),
        Err(error @ RunError::TimedOut { .. }) => {
            return Err(Failure::Difference(format!("whydunit: {error}")));
        }
    };
    let touched = before.differences(&Tree::read(&work).map_err(broken)?, Detail::All);
    if !touched.is_empty() {
        return Err(Failure::Difference(format!(
            "the guest changed the host's files: {}",
            touched.join(", ")
        )));
    }
    Ok(Compared { native, guest, before, natives_files })
}

impl Compared {
    fn same_outcome(&self) -> Result<(), Failure> {
        match self.native.difference(&self.guest) {
            Some(difference) => Err(Failure::Difference(difference)),
            None => Ok(()),
        }
    }

    /// Whether the native run and what `--write-back` put into `export` make the same of `work`.
    fn same_files(self, export: &Path, work: &Path) -> Result<(), Failure> {
        let exported = Tree::read(&export.join(work.strip_prefix("/").unwrap_or(work))).map_err(broken)?;
        let guests_files = self.before.overlaid_with(&exported, &removed_files(&self.guest, work));
        let differences = self.natives_files.differences(&guests_files, Detail::Contents);
        if differences.is_empty() {
            Ok(())
        } else {
            Err(Failure::Difference(format!("files: {}", differences.join(", "))))
        }
    }
}

/// The files below `work` that whydunit says the program removed.
fn removed_files(guest: &Outcome, work: &Path) -> Vec<PathBuf> {
    let stderr = String::from_utf8_lossy(&guest.stderr);
    let told = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("whydunit: the program removed ")?.split("; ").next());
    told.filter_map(|path| Path::new(path).strip_prefix(work).ok().map(Path::to_owned)).collect()
}

fn with_arguments(executable: PathBuf, arguments: &[String]) -> command::Program {
    command::Program::new(
        std::iter::once(executable.into_os_string()).chain(arguments.iter().map(Into::into)),
    )
}

fn broken(error: std::io::Error) -> Failure {
    Failure::Broken(error.to_string())
}
