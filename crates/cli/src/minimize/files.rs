//! A reduced input as files, and the command line that uses them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use locate::minimize::{Input, Part, PartName};
use replay::{Bytes, Case, Files, Stdin};

use super::shell::quote;

/// What standard input is called.
const STDIN: &str = "stdin";

/// What was written.
pub struct Written {
    /// Where parts are now.
    pub files: BTreeMap<PartName, PathBuf>,
    /// A command line that uses the files.
    pub command: String,
    /// The case of that command line; `None` if its program is in a bundle, which knows no other files.
    pub case: Option<Case>,
}

/// Refuses a directory that has something in it.
pub fn check(directory: &Path) -> Result<()> {
    let told = || format!("{} cannot be written to", directory.display());
    match fs::read_dir(directory) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => bail!(
                "{} is there already and not empty; name another directory with -o",
                directory.display()
            ),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(told),
    }
}

/// Writes standard input and the files that are still named.
pub fn write(directory: &Path, case: &Case, input: &Input) -> Result<Written> {
    check(directory)?;
    let mut files = BTreeMap::new();
    let mut taken = BTreeSet::new();
    let names = || input.parts.iter().filter_map(|part| part.names.as_ref());
    let is_named = |path: &Bytes| names().any(|named| named.path == *path);
    for part in &input.parts {
        let name = match &part.name {
            PartName::Argument(_) => continue,
            PartName::File(path) if !is_named(path) => continue,
            PartName::File(path) => file_name(path),
            PartName::Stdin => STDIN.to_owned(),
        };
        let path = directory.join(free_name(&mut taken, name));
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, part.text.bytes()))
            .with_context(|| format!("{} cannot be written", path.display()))?;
        files.insert(part.name.clone(), path);
    }
    let argv = arguments(case, input, &files);
    let stdin = files.get(&PartName::Stdin);
    let mut command = argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
    if let Some(path) = stdin {
        command.push_str(&format!(" < {}", quote(path.as_os_str().as_bytes())));
    }
    let case = match &case.files {
        Files::Sealed(_) => None,
        Files::Host => Some(Case { argv, stdin: stdin_of(case, stdin)?, ..case.clone() }),
    };
    Ok(Written { files, command, case })
}

fn stdin_of(case: &Case, written: Option<&PathBuf>) -> Result<Stdin> {
    let Some(path) = written else { return Ok(case.stdin.clone()) };
    let path = std::path::absolute(path).context("the working directory is gone")?;
    Ok(Stdin::File { path: Bytes::from(path.as_path()), offset: 0 })
}

/// The arguments, with the new paths of files in the place of the old ones.
fn arguments(case: &Case, input: &Input, files: &BTreeMap<PartName, PathBuf>) -> Vec<Bytes> {
    let moved = |part: &Part| {
        let named = part.names.as_ref()?;
        let path = files.get(&PartName::File(named.path.clone()))?;
        let before = part.text.bytes().get(..named.offset).unwrap_or_default();
        Some(Bytes::from([before, path.as_os_str().as_bytes()].concat()))
    };
    let arguments = input.parts.iter().filter(|part| matches!(part.name, PartName::Argument(_)));
    let arguments = arguments.map(|part| moved(part).unwrap_or_else(|| Bytes::from(part.text.bytes())));
    case.argv.first().cloned().into_iter().chain(arguments).collect()
}

fn file_name(path: &Bytes) -> String {
    path.as_path().file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The name, or one like it that is free.
fn free_name(taken: &mut BTreeSet<String>, name: String) -> String {
    let mut free = name.clone();
    let mut number = 1;
    while !taken.insert(free.clone()) {
        number += 1;
        free = format!("{number}-{name}");
    }
    free
}
