//! Why a program could not be loaded, in words that say what to do about it.

use std::path::{Path, PathBuf};

use crate::elf::ElfError;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{path}: no such file; give the path of a program", path = path.display())]
    NotFound { path: PathBuf },
    #[error("{path} cannot be read: {cause}; whydunit needs to read the program that it runs", path = path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    #[error("{path} is a directory, not a program", path = path.display())]
    Directory { path: PathBuf },
    #[error("{path} is not a regular file, so it is no program", path = path.display())]
    NotRegular { path: PathBuf },
    #[error("{path} is too large to load ({size} bytes)", path = path.display())]
    TooLarge { path: PathBuf, size: u64 },
    #[error(
        "{path} is a script for {interpreter}; run the interpreter: whydunit run -- {interpreter} {path}",
        path = path.display()
    )]
    Script { path: PathBuf, interpreter: String },
    #[error(
        "{path} is the wrapper script that libtool made for {program}; run that program instead \
         (whydunit run -- {program}), or let libtool find it: \
         libtool --mode=execute whydunit run -- {path}",
        path = path.display(), program = program.display()
    )]
    LibtoolWrapper { path: PathBuf, program: PathBuf },
    #[error("{path} {cause}", path = path.display())]
    NotAProgram { path: PathBuf, cause: ElfError },
    #[error(
        "{path} needs the interpreter {interpreter}, which is not there ({cause}); \
         install the C library that the program was linked against",
        path = path.display(), interpreter = interpreter.display()
    )]
    MissingInterpreter { path: PathBuf, interpreter: PathBuf, cause: std::io::Error },
    #[error("the interpreter of {path}, {interpreter}, {cause}", path = path.display(), interpreter = interpreter.display())]
    BadInterpreter { path: PathBuf, interpreter: PathBuf, cause: ElfError },
    #[error(
        "the arguments and the environment are too long ({size} bytes, at most {limit}); give fewer or shorter ones"
    )]
    ArgumentsTooLong { size: u64, limit: u64 },
    #[error("an argument or environment string contains a zero byte, which no program could be given")]
    ZeroInArgument,
    #[error("{path} does not fit into the memory limit of {limit} bytes; raise it with --max-memory", path = path.display())]
    NoMemory { path: PathBuf, limit: u64 },
    #[error("{path} wants to be loaded where the stack or the kernel is (address {address:#x})", path = path.display())]
    AddressTaken { path: PathBuf, address: u64 },
    #[error("the working directory {path} cannot be used: {cause}", path = path.display())]
    WorkingDirectory { path: PathBuf, cause: crate::errno::Errno },
    #[error("other bytes cannot be given in the place of {path}: {cause}", path = path.display())]
    Replaced { path: PathBuf, cause: crate::errno::Errno },
}

impl LoadError {
    /// A file that is no ELF file at all may be something else that is well known.
    pub(crate) fn for_program(path: &Path, file: &[u8], cause: ElfError) -> LoadError {
        let path = path.to_path_buf();
        if cause != ElfError::NotElf {
            return LoadError::NotAProgram { path, cause };
        }
        if let Some(program) = libtool_target(&path, file) {
            return LoadError::LibtoolWrapper { path, program };
        }
        match script_interpreter(file) {
            Some(interpreter) => LoadError::Script { path, interpreter },
            None => LoadError::NotAProgram { path, cause },
        }
    }
}

/// What the first line names after `#!`, with its argument if there is one.
fn script_interpreter(file: &[u8]) -> Option<String> {
    let line = file.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line.get(..256).unwrap_or(line));
    let line = line.trim();
    // `env` only looks the interpreter up, but it would have to execute it, which a sandboxed guest cannot.
    let mut words = line.split_whitespace();
    let interpreter = match words.next()? {
        "/usr/bin/env" | "/bin/env" => words.find(|word| !word.starts_with('-'))?.to_string(),
        _ => line.to_string(),
    };
    Some(interpreter.chars().filter(|character| !character.is_control()).collect())
}

/// Libtool's scripts say on their second line for what they stand.
fn libtool_target(path: &Path, file: &[u8]) -> Option<PathBuf> {
    const MARK: &str = " - temporary wrapper script for ";
    let head = String::from_utf8_lossy(file.get(..1024).unwrap_or(file));
    if !head.starts_with("#!") {
        return None;
    }
    let line = head.lines().find(|line| line.starts_with('#') && line.contains(MARK))?;
    let (_, target) = line.split_once(MARK)?;
    Some(path.parent().unwrap_or(Path::new("")).join(target.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(path: &str, file: &[u8]) -> String {
        LoadError::for_program(Path::new(path), file, ElfError::NotElf).to_string()
    }

    #[test]
    fn a_script_is_answered_with_the_command_to_use_instead() {
        assert_eq!(
            message("./build.sh", b"#! /bin/sh -e\necho hi\n"),
            "./build.sh is a script for /bin/sh -e; run the interpreter: whydunit run -- /bin/sh -e ./build.sh"
        );
        assert!(message("x.py", b"#!/usr/bin/env python3\n").ends_with("whydunit run -- python3 x.py"));
    }

    #[test]
    fn a_libtool_wrapper_is_answered_with_the_real_program() {
        let script =
            b"#! /bin/bash\n\n# hello - temporary wrapper script for .libs/hello\n# Generated by libtool\n";
        let text = message("src/hello", script);
        assert!(text.contains("whydunit run -- src/.libs/hello"), "{text}");
        assert!(text.contains("libtool --mode=execute whydunit run -- src/hello"), "{text}");
    }

    #[test]
    fn anything_else_is_not_an_elf_file() {
        assert_eq!(message("notes.txt", b"hello"), "notes.txt is not an ELF file");
        assert_eq!(message("odd", b"#!\n"), "odd is not an ELF file");
    }
}
