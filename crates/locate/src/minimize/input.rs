//! What a program is given: arguments, standard input, and the files that its arguments name.

use std::fmt;
use std::sync::Arc;

use linux::Process;
use linux::fs::{At, Capsule, FileSystem, Follow, Target};
use replay::{Bytes, Case, Stdin};
use sha2::{Digest, Sha256};

use super::text::Text;
use super::trials::{Candidate, Key};

/// Which part of the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartName {
    /// Counted from 1, as it was given.
    Argument(usize),
    Stdin,
    /// Absolute, without links.
    File(Bytes),
}

impl fmt::Display for PartName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartName::Argument(number) => write!(formatter, "argument {number}"),
            PartName::Stdin => formatter.write_str("stdin"),
            PartName::File(path) => path.fmt(formatter),
        }
    }
}

/// A part of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: PartName,
    pub text: Arc<Text>,
    /// The file that an argument names. Such an argument can be left out, but a part of a path names nothing.
    pub names: Option<Named>,
}

/// A file that an argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Absolute, without links.
    pub path: Bytes,
    /// Where its path begins in the argument: behind an equals sign, or at the start.
    pub offset: usize,
}

/// All that can be reduced of what a case is given. Clones share texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The arguments in their order, then standard input, then files.
    pub parts: Vec<Part>,
    /// What comes before the offset at which standard input is read from its file.
    skipped: Bytes,
}

impl Input {
    /// The input of a case whose process has run; `start` is that process before its first instruction, so that it
    /// knows what was read.
    pub fn of(case: &Case, start: &Process) -> Input {
        let mut seen = Seen { files: start.kernel.files.clone(), capsule: start.kernel.files.capsule() };
        let program = seen.path(case, &case.program);
        let mut parts = Vec::new();
        let mut files: Vec<Part> = Vec::new();
        for (number, argument) in case.argv.iter().enumerate().skip(1) {
            let named = seen.named(case, argument).filter(|(named, _)| Some(&named.path) != program.as_ref());
            let names = named.as_ref().map(|(named, _)| named.clone());
            if let Some((named, content)) = named {
                let name = PartName::File(named.path);
                if files.iter().all(|file| file.name != name) {
                    files.push(Part { name, text: Arc::new(Text::given(&content)), names: None });
                }
            }
            let text = Arc::new(Text::given(argument));
            parts.push(Part { name: PartName::Argument(number), text, names });
        }
        let mut skipped = Bytes::default();
        let stdin = match &case.stdin {
            Stdin::Bytes(bytes) => Some(bytes.to_vec()),
            Stdin::File { path, offset } => seen.named(case, path).map(|(_, content)| {
                let offset = usize::try_from(*offset).unwrap_or(usize::MAX).min(content.len());
                let (before, after) = content.split_at(offset);
                skipped = Bytes::from(before);
                after.to_vec()
            }),
        };
        if let Some(bytes) = stdin.filter(|bytes| !bytes.is_empty() && bytes.len() <= Text::LONGEST) {
            let text = Arc::new(Text::given(&bytes));
            parts.push(Part { name: PartName::Stdin, text, names: None });
        }
        parts.extend(files);
        Input { parts, skipped }
    }

    /// The case with this input.
    pub fn apply(&self, case: &Case) -> Case {
        let mut case = case.clone();
        case.argv.truncate(1);
        for part in &self.parts {
            let bytes = Bytes::from(part.text.bytes());
            match (&part.name, &case.stdin) {
                (PartName::Argument(_), _) => case.argv.push(bytes),
                (PartName::Stdin, Stdin::Bytes(_)) => case.stdin = Stdin::Bytes(bytes),
                (PartName::Stdin, Stdin::File { path, .. }) => {
                    let whole = Bytes::from([&self.skipped[..], part.text.bytes()].concat());
                    case.replaced.push((path.clone(), whole));
                }
                (PartName::File(path), _) => case.replaced.push((path.clone(), bytes)),
            }
        }
        case
    }

    /// The part that another input stands for: standard input, or the only file where there is none.
    pub fn main_part(&self) -> Option<&Part> {
        let mut files = self.parts.iter().filter(|part| matches!(part.name, PartName::File(_)));
        let stdin = self.parts.iter().find(|part| part.name == PartName::Stdin);
        stdin.or_else(|| files.next().filter(|_| files.next().is_none()))
    }

    pub fn part(&self, name: &PartName) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == *name)
    }

    /// The part with another text.
    pub fn with(&self, name: &PartName, text: Text) -> Input {
        let text = Arc::new(text);
        let mut input = self.clone();
        for part in input.parts.iter_mut().filter(|part| part.name == *name) {
            part.text = text.clone();
        }
        input
    }

    /// Without all but some of the arguments, which are counted from 0 as they are now.
    pub fn with_arguments(&self, kept: &[usize]) -> Input {
        let mut input = self.clone();
        let mut place = 0;
        input.parts.retain(|part| {
            let PartName::Argument(_) = part.name else { return true };
            let is_kept = kept.binary_search(&place).is_ok();
            place += 1;
            is_kept
        });
        input
    }

    pub fn arguments(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part.name, PartName::Argument(_))).count()
    }

    /// Bytes of all parts together.
    pub fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.text.bytes().len() as u64).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

impl Candidate for Input {
    fn key(&self) -> Key {
        let mut hash = Sha256::new();
        for part in &self.parts {
            let tag = match &part.name {
                // An argument is what it says, wherever it stood.
                PartName::Argument(_) => "argument".to_owned(),
                PartName::Stdin => "stdin".to_owned(),
                PartName::File(path) => format!("file {path:?}"),
            };
            for piece in [tag.as_bytes(), part.text.bytes()] {
                hash.update((piece.len() as u64).to_le_bytes());
                hash.update(piece);
            }
        }
        hash.finalize().into()
    }
}

/// What a run has seen of files.
struct Seen {
    files: FileSystem,
    capsule: Capsule,
}

impl Seen {
    /// The file that an argument names, alone or behind an equals sign, if the program has read it: its path and its content.
    fn named(&mut self, case: &Case, argument: &Bytes) -> Option<(Named, Arc<Vec<u8>>)> {
        let value = argument.iter().position(|byte| *byte == b'=').map(|at| at + 1);
        [Some(0), value].into_iter().flatten().find_map(|offset| {
            let path = self.path(case, argument.get(offset..)?)?;
            let content = self.capsule.contents.get(&path[..])?.as_ref().ok()?;
            (content.len() <= Text::LONGEST).then(|| (Named { path, offset }, content.clone()))
        })
    }

    /// Where a path leads on the host.
    fn path(&mut self, case: &Case, path: &[u8]) -> Option<Bytes> {
        let absolute = match path {
            [] => return None,
            [b'/', ..] => path.to_vec(),
            _ => [&case.cwd[..], b"/", path].concat(),
        };
        let target = self.files.locate(At::working_directory(&absolute), Follow::Yes, false).ok()?;
        let Target::Node(inode) = target else { return None };
        self.files.host_path(inode).map(Bytes::from)
    }
}
