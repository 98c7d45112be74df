//! Programs compiled and run as they are, within limits.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::programs::Test;

/// What files are called in the directory of a case: nothing tells what is wrong.
pub const SOURCE: &str = "main.c";
pub const EXECUTABLE: &str = "main";
pub const INPUT: &str = "input";
pub const EXPECTED: &str = "expected";

/// A run that takes longer hangs; the longest that ends takes a hundredth of it.
const SECONDS: &str = "2";
/// A mutant may write or allocate without end: 512-byte blocks, and KiB.
const LIMITS: &str = "ulimit -c 0 -f 2048; ulimit -v 1000000; exec \"$@\"";

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
    pub ending: Ending,
}

/// Compiles a source in a directory; false if the compiler refuses it, also where types do not fit.
pub fn compile(text: &str, directory: &Path) -> Result<bool> {
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(directory.join(SOURCE), text))
        .with_context(|| format!("{} cannot be written", directory.display()))?;
    let errors = ["int-conversion", "incompatible-pointer-types", "format", "implicit-function-declaration"];
    let status = Command::new("gcc")
        .args(["-g", "-O0"])
        .args(errors.map(|error| format!("-Werror={error}")))
        .args(["-o", EXECUTABLE, SOURCE, "-lm"])
        .current_dir(directory)
        .stderr(Stdio::null())
        .status()
        .context("gcc cannot be run")?;
    Ok(status.success())
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
    let mut command = limited(&directory.join(EXECUTABLE));
    outcome(command.args(test.arguments()), place.path(), INPUT)
}

/// A program, to be run within limits. Its arguments are to be added.
pub fn limited(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", LIMITS, "sh", "timeout", "-k", "1", SECONDS]).arg(program);
    command
}

/// What comes of a program in a directory, with a file of it as standard input.
pub fn outcome(command: &mut Command, place: &Path, stdin: &str) -> Result<Outcome> {
    // Without a name: the program may look into its directory.
    let mut output = tempfile::tempfile_in(place).context("an output cannot be written")?;
    let status = command
        .current_dir(place)
        .stdin(File::open(place.join(stdin)).context("an input cannot be opened")?)
        .stdout(output.try_clone().context("an output cannot be written")?)
        .stderr(Stdio::null())
        .status()
        .context("sh cannot be run")?;
    let ending = match (status.code(), status.signal()) {
        (Some(124), _) => Ending::Hung,
        (Some(code), _) if code > 128 => killed(code - 128),
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => killed(signal.unwrap_or(0)),
    };
    let mut stdout = Vec::new();
    output.rewind().and_then(|()| output.read_to_end(&mut stdout)).context("an output cannot be read")?;
    Ok(Outcome { stdout, ending })
}

/// A program that prints without end is stopped by the limit on its output.
fn killed(signal: i32) -> Ending {
    const SIGXFSZ: i32 = 25;
    if signal == SIGXFSZ { Ending::Hung } else { Ending::Killed(signal) }
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

    #[test]
    fn types_that_do_not_fit_are_refused() {
        let place = tempfile::tempdir().unwrap();
        assert!(!compile("int main(void) { char *a = 0; int b = a; return b; }", place.path()).unwrap());
    }
}
