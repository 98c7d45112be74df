//! Programs compiled and run as they are, within limits.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::programs::Test;
use crate::started;

/// What files are called in the directory of a case: nothing tells what is wrong.
pub const SOURCE: &str = "main.c";
pub const EXECUTABLE: &str = "main";
pub const INPUT: &str = "input";
pub const EXPECTED: &str = "expected";

/// The environment is part of a run: this one is the same everywhere, natively and in the machine.
pub const ENVIRONMENT: [(&str, &str); 1] = [("PATH", "/usr/bin:/bin")];

/// A run that computes for longer hangs; the longest that ends takes a hundredth of it. What others do meanwhile does not count.
const SECONDS: libc::rlim_t = 2;
/// So does one that waits so long.
const PATIENCE: libc::c_uint = 30;
/// A mutant may write or allocate without end: bytes.
const MOST_WRITTEN: libc::rlim_t = 1 << 20;
const MOST_ALLOCATED: libc::rlim_t = 1_000_000 << 10;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Exited(i32),
    Killed(i32),
    Hung,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub ending: Ending,
}

/// Compiles a source in a directory; false if the compiler refuses it, also where types do not fit.
pub fn compile(text: &str, directory: &Path) -> Result<bool> {
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(directory.join(SOURCE), text))
        .with_context(|| format!("{} cannot be written", directory.display()))?;
    let status = Command::new("gcc")
        .args(["-g", "-O0"])
        .args(errors())
        .args(["-o", EXECUTABLE, SOURCE, "-lm"])
        .current_dir(directory)
        .stderr(Stdio::null())
        .status()
        .context("gcc cannot be run")?;
    Ok(status.success())
}

/// What compiles, in the words that it has for itself.
pub fn compiler() -> Result<String> {
    let output = Command::new("gcc").arg("--version").output().context("gcc cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

impl Outcome {
    /// `None` of a run that did not end by itself.
    pub fn status(&self) -> Option<i32> {
        match self.ending {
            Ending::Exited(status) => Some(status),
            Ending::Killed(_) | Ending::Hung => None,
        }
    }
}

/// The options by which the compiler refuses what only a careless user would run.
pub fn errors() -> impl Iterator<Item = String> {
    let errors = [
        "int-conversion",
        "incompatible-pointer-types",
        "format",
        "implicit-function-declaration",
        "overflow",
    ];
    errors.into_iter().map(|error| format!("-Werror={error}"))
}

/// Puts what a test needs into a directory.
pub fn lay_out(test: &Test, directory: &Path) -> Result<()> {
    let write = |name: &str, content: &str| {
        fs::write(directory.join(name), content).with_context(|| format!("{name} cannot be written"))
    };
    write(INPUT, &test.stdin)?;
    test.files.iter().try_for_each(|(name, content)| write(name, content))
}

/// Runs what was compiled in a directory, with files of its own that are gone afterwards.
pub fn run(directory: &Path, test: &Test) -> Result<Outcome> {
    let place = tempfile::tempdir_in(directory).context("no directory can be made for a run")?;
    lay_out(test, place.path())?;
    let program = bring(&directory.join(EXECUTABLE), place.path())?;
    let mut command = limited(&program);
    outcome(command.args(test.arguments()), place.path(), INPUT)
}

/// Puts an executable into a directory. It is started by a name that is the same for all: the name lies in the memory of the
/// run, and a longer one moves everything else.
pub fn bring(executable: &Path, place: &Path) -> Result<PathBuf> {
    fs::hard_link(executable, place.join(EXECUTABLE))
        .with_context(|| format!("{} cannot be brought to a run", executable.display()))?;
    Ok(Path::new(".").join(EXECUTABLE))
}

/// A program, to be run within limits and in an environment that is always the same. Its arguments are to be added.
pub fn limited(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(ENVIRONMENT);
    // SAFETY: `limit` allocates nothing and takes no lock; it only makes system calls.
    unsafe { command.pre_exec(limit) };
    command
}

/// Limits the process that calls it, and what it executes.
fn limit() -> std::io::Result<()> {
    let limits = [
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_CPU, SECONDS),
        (libc::RLIMIT_FSIZE, MOST_WRITTEN),
        (libc::RLIMIT_AS, MOST_ALLOCATED),
    ];
    for (resource, most) in limits {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the limit lives until the call returns.
        succeed(unsafe { libc::getrlimit(resource, &mut limit) })?;
        // The processor's hard limit kills with another signal than the soft one, so it has to come later. Whoever called us may have set lower ones.
        limit.rlim_max = limit.rlim_max.min(most + 1);
        limit.rlim_cur = most.min(limit.rlim_max);
        // SAFETY: as above.
        succeed(unsafe { libc::setrlimit(resource, &limit) })?;
    }
    // SAFETY: the call only has the kernel send this process a signal.
    unsafe { libc::alarm(PATIENCE) };
    Ok(())
}

fn succeed(result: libc::c_int) -> std::io::Result<()> {
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// What comes of a program in a directory, with a file of it as standard input.
pub fn outcome(command: &mut Command, place: &Path, stdin: &str) -> Result<Outcome> {
    // Without names: the program may look into its directory.
    let create = || tempfile::tempfile_in(place).context("an output cannot be written");
    let handle = |file: &File| file.try_clone().context("an output cannot be written");
    let (output, errors) = (create()?, create()?);
    command
        .current_dir(place)
        .stdin(File::open(place.join(stdin)).context("an input cannot be opened")?)
        .stdout(handle(&output)?)
        .stderr(handle(&errors)?);
    let status = started::spawn(command)?.wait().context("a program cannot be waited for")?;
    let ending = match status.code() {
        Some(code) => Ending::Exited(code),
        None => killed(status.signal().unwrap_or(0)),
    };
    Ok(Outcome { stdout: content(output)?, stderr: content(errors)?, ending })
}

fn content(mut file: File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).context("an output cannot be read")?;
    Ok(bytes)
}

/// A program that computes, waits or prints without end is stopped by a limit.
fn killed(signal: i32) -> Ending {
    match signal {
        libc::SIGXCPU | libc::SIGALRM | libc::SIGXFSZ => Ending::Hung,
        signal => Ending::Killed(signal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(body: &str) -> Ending {
        let place = tempfile::tempdir().unwrap();
        let text = format!("#include <stdio.h>\nint main(void) {{ {body} }}\n");
        assert!(compile(&text, place.path()).unwrap(), "{text}");
        run(place.path(), &Test::default()).unwrap().ending
    }

    #[test]
    fn each_way_to_end_is_told_apart() {
        assert_eq!(ending("return 3;"), Ending::Exited(3));
        assert_eq!(ending("return 255;"), Ending::Exited(255));
        assert_eq!(ending("return 124;"), Ending::Exited(124));
        assert_eq!(ending("return 139;"), Ending::Exited(139));
        assert_eq!(ending("return *(volatile int *)0;"), Ending::Killed(11));
        assert_eq!(ending("for (;;) ;"), Ending::Hung);
        assert_eq!(ending("for (;;) puts(\"again\");"), Ending::Hung);
    }

    #[test]
    fn files_are_those_of_the_test_in_each_run() {
        let place = tempfile::tempdir().unwrap();
        let body =
            "FILE *f = fopen(\"state\", \"r+\"); int c = getc(f); rewind(f); putc('z', f); putchar(c);";
        let text = format!("#include <stdio.h>\nint main(void) {{ {body} return 0; }}\n");
        assert!(compile(&text, place.path()).unwrap());
        let test: Test = toml::from_str("files = { state = 'abc' }").unwrap();
        for _ in 0..2 {
            assert_eq!(run(place.path(), &test).unwrap().stdout, b"a");
        }
    }

    /// What is unset holds what was there before: addresses, names and whatever the loader has left.
    #[test]
    fn a_run_that_reads_what_is_unset_is_the_same_each_time_and_wherever_it_is() {
        let text = "#include <stdio.h>\n#include <stdlib.h>\n\
            static void show(void) { unsigned long left[64]; for (int i = 0; i < 64; i++) printf(\"%lx \", left[i]); }\n\
            int main(int argc, char **argv) {\n\
              char *unset = malloc(64); show();\n\
              printf(\"%p %p %p %s %s %d\", (void *)&argc, (void *)unset, (void *)main, argv[0], getenv(\"HOME\"), unset[9]);\n\
              return 0; }\n";
        let printed = |name: &str| {
            let place = tempfile::tempdir().unwrap();
            let directory = place.path().join(name);
            assert!(compile(text, &directory).unwrap());
            String::from_utf8(run(&directory, &Test::default()).unwrap().stdout).unwrap()
        };
        let first = printed("a");
        assert!(first.ends_with("./main (null) 0"), "{first}");
        for name in ["a", "a directory with a longer name"] {
            assert_eq!(printed(name), first);
        }
    }

    #[test]
    fn a_number_that_does_not_fit_its_type_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let table = |number: &str| {
            format!("#include <stdint.h>\nuint32_t t[] = {{{number}}}; int main(void) {{ return t[0]; }}")
        };
        assert!(compile(&table("0xffffffff"), place.path()).unwrap());
        assert!(!compile(&table("42949672950"), place.path()).unwrap());
    }

    #[test]
    fn types_that_do_not_fit_are_refused() {
        let place = tempfile::tempdir().unwrap();
        assert!(!compile("int main(void) { char *a = 0; int b = a; return b; }", place.path()).unwrap());
    }
}
