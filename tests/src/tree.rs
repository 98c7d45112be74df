//! A directory tree as a value: names, kinds, modes, times and contents, so that two can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a tree looked like at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    links: u64,
    owner: (u32, u32),
    modified: (i64, i64),
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    File(Vec<u8>),
    Directory,
    Link(PathBuf),
    Other,
}

/// How much of an entry must agree.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything, times included: nothing may have touched the tree.
    All,
    /// Names, kinds, permissions and contents: two runs made the same tree, each in its own time.
    Contents,
}

impl Tree {
    /// Reads the tree below `root`, `root` itself included.
    pub fn read(root: &Path) -> io::Result<Tree> {
        let mut entries = BTreeMap::new();
        let mut waiting = vec![PathBuf::new()];
        while let Some(relative) = waiting.pop() {
            let path = root.join(&relative);
            let metadata = fs::symlink_metadata(&path)?;
            let kind = metadata.file_type();
            let content = if kind.is_dir() {
                for child in fs::read_dir(&path)? {
                    waiting.push(relative.join(child?.file_name()));
                }
                Content::Directory
            } else if kind.is_file() {
                Content::File(fs::read(&path)?)
            } else if kind.is_symlink() {
                Content::Link(fs::read_link(&path)?)
            } else {
                Content::Other
            };
            let entry = Entry {
                mode: metadata.mode(),
                links: metadata.nlink(),
                owner: (metadata.uid(), metadata.gid()),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
                content,
            };
            entries.insert(relative, entry);
        }
        Ok(Tree { entries })
    }

    /// Says how `other` differs from this tree, a line an entry; empty when it does not.
    pub fn differences(&self, other: &Tree, detail: Detail) -> Vec<String> {
        let mut found = Vec::new();
        for (path, entry) in &self.entries {
            match other.entries.get(path) {
                None => found.push(format!("{} is gone", path.display())),
                Some(now) => found
                    .extend(entry.difference(now, detail).map(|what| format!("{}: {what}", path.display()))),
            }
        }
        let new = other.entries.keys().filter(|path| !self.entries.contains_key(*path));
        found.extend(new.map(|path| format!("{} is new", path.display())));
        found
    }
}

impl Entry {
    fn difference(&self, now: &Entry, detail: Detail) -> Option<String> {
        if self.content != now.content {
            return Some(match (&self.content, &now.content) {
                (Content::File(was), Content::File(is)) => {
                    format!("content changed ({} bytes, now {})", was.len(), is.len())
                }
                (Content::Link(was), Content::Link(is)) => {
                    format!("pointed to {}, now to {}", was.display(), is.display())
                }
                _ => "is another kind of file".to_owned(),
            });
        }
        if self.mode != now.mode {
            return Some(format!("mode was {:o}, is {:o}", self.mode, now.mode));
        }
        if detail == Detail::Contents {
            return None;
        }
        if self.owner != now.owner {
            return Some(format!("owner was {:?}, is {:?}", self.owner, now.owner));
        }
        if self.links != now.links {
            return Some(format!("had {} links, has {}", self.links, now.links));
        }
        (self.modified != now.modified).then(|| "was modified in place".to_owned())
    }
}
