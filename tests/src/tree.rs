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
    /// Reads the tree below `root`, `root` itself included; a tree without entries when there is no `root`.
    pub fn read(root: &Path) -> io::Result<Tree> {
        let mut entries = BTreeMap::new();
        let mut waiting = if root.exists() { vec![PathBuf::new()] } else { Vec::new() };
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

    /// What this tree becomes when `export`, a tree that `--write-back` made, is laid over it and `removed` is taken away.
    pub fn overlaid_with(mut self, export: &Tree, removed: &[PathBuf]) -> Tree {
        for (path, entry) in &export.entries {
            // A directory above a changed file is exported with it, whether it was changed itself or not, and then has the usual mode.
            let only_on_the_way = entry.content == Content::Directory && entry.mode & 0o7777 == 0o755;
            if !(only_on_the_way && self.entries.contains_key(path)) {
                self.entries.insert(path.clone(), entry.clone());
            }
        }
        self.entries.retain(|path, _| !removed.iter().any(|gone| path.starts_with(gone)));
        self
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn every_change_to_a_tree_is_told() {
        let root = crate::place::scratch("tree-changes");
        fs::create_dir(root.join("d")).expect("mkdir");
        fs::write(root.join("d/f"), "one").expect("write");
        let before = Tree::read(&root).expect("read");
        assert!(before.differences(&before.clone(), Detail::All).is_empty());
        fs::write(root.join("d/f"), "two").expect("write");
        assert_eq!(
            before.differences(&Tree::read(&root).expect("read"), Detail::Contents),
            ["d/f: content changed (3 bytes, now 3)"]
        );
        fs::write(root.join("d/f"), "one").expect("write");
        assert_eq!(
            before.differences(&Tree::read(&root).expect("read"), Detail::All),
            ["d/f: was modified in place"]
        );
        fs::set_permissions(root.join("d/f"), fs::Permissions::from_mode(0o600)).expect("chmod");
        assert_eq!(
            before.differences(&Tree::read(&root).expect("read"), Detail::Contents),
            ["d/f: mode was 100644, is 100600"]
        );
        fs::rename(root.join("d/f"), root.join("g")).expect("rename");
        assert_eq!(
            before.differences(&Tree::read(&root).expect("read"), Detail::Contents),
            ["d/f is gone", "g is new"]
        );
    }
}
