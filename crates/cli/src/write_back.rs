//! `--write-back DIR`: what the guest made or changed, copied out of its sandbox.
//!
//! The guest chose all names and link targets. So no component on the way below DIR may be a symbolic link, and a
//! file that is already there is replaced, never written into, since it could be a link to elsewhere: nothing
//! outside of DIR is touched.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use linux::fs::{Change, ChangeKind};

/// Permission bits that are carried over; the set-user-id bit is not.
const PERMISSIONS: u32 = 0o777;

/// Makes the directory if it is not there.
pub fn prepare(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("the directory {} cannot be made", directory.display()))
}

/// Writes all changes below `directory`. Returns the paths that the guest removed, about which nothing is done.
pub fn export(changes: &[Change], directory: &Path) -> Result<Vec<PathBuf>> {
    prepare(directory)?;
    let mut removed = Vec::new();
    let mut directories = Vec::new();
    for change in changes {
        let guest_path = guest_path(change)?;
        if change.kind == ChangeKind::Removed {
            removed.push(guest_path);
            continue;
        }
        let target = place(change, directory)
            .and_then(|target| write(change, &target).map(|()| target))
            .with_context(|| format!("{} cannot be written back", guest_path.display()))?;
        if let ChangeKind::Directory { permissions } = change.kind {
            directories.push((target, permissions));
        }
    }
    // Only now, since a directory may be one that cannot be written to.
    for (path, permissions) in directories.into_iter().rev() {
        fs::set_permissions(&path, Permissions::from_mode(permissions & PERMISSIONS))
            .with_context(|| format!("the permissions of {} cannot be set", path.display()))?;
    }
    Ok(removed)
}

fn guest_path(change: &Change) -> Result<PathBuf> {
    let mut path = PathBuf::from("/");
    for component in &change.path {
        if matches!(&component[..], b"" | b"." | b"..") || component.contains(&b'/') || component.contains(&0)
        {
            bail!("a changed file has the impossible name {:?}", OsStr::from_bytes(component));
        }
        path.push(OsStr::from_bytes(component));
    }
    Ok(path)
}

/// Where a change goes: all directories above it exist and are no links.
fn place(change: &Change, directory: &Path) -> Result<PathBuf> {
    let Some((last, parents)) = change.path.split_last() else { return Ok(directory.to_path_buf()) };
    let mut path = directory.to_path_buf();
    for parent in parents {
        path.push(OsStr::from_bytes(parent));
        make_directory(&path)?;
    }
    path.push(OsStr::from_bytes(last));
    Ok(path)
}

fn write(change: &Change, target: &Path) -> Result<()> {
    match &change.kind {
        ChangeKind::Directory { .. } => make_directory(target)?,
        ChangeKind::File { content, permissions, .. } => {
            make_room(target)?;
            // Only for the one who runs this, until all of it is there.
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
            file.write_all(content)?;
            file.set_permissions(Permissions::from_mode(permissions & PERMISSIONS))?;
        }
        ChangeKind::Symlink { target: to } => {
            make_room(target)?;
            symlink(OsStr::from_bytes(to), target)?;
        }
        ChangeKind::Removed => {}
    }
    Ok(())
}

fn make_directory(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let is_directory = fs::symlink_metadata(path)?.is_dir();
            if !is_directory {
                bail!("{} is there already and is no directory", path.display());
            }
            Ok(())
        }
        result => Ok(result?),
    }
}

/// Removes a file or link that an earlier export left.
fn make_room(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => bail!("{} is there already and is a directory", path.display()),
        Ok(_) => Ok(fs::remove_file(path)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linux::fs::Timestamp;
    use std::sync::Arc;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path =
                std::env::temp_dir().join(format!("whydunit-write-back-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn change(path: &str, kind: ChangeKind) -> Change {
        Change { path: path.split('/').map(|name| name.as_bytes().to_vec()).collect(), kind, existed: false }
    }

    fn file(path: &str, content: &str) -> Change {
        let content = Arc::new(content.as_bytes().to_vec());
        change(path, ChangeKind::File { content, permissions: 0o4640, modification: Timestamp::default() })
    }

    #[test]
    fn files_directories_and_links_are_written_below_the_directory() {
        let scratch = Scratch::new("plain");
        let directory = scratch.0.join("out");
        let changes = [
            file("a/b/c.txt", "hello"),
            change("d", ChangeKind::Directory { permissions: 0o500 }),
            file("d/e", "deep"),
            change("l", ChangeKind::Symlink { target: Arc::from(&b"/nowhere"[..]) }),
            change("etc/passwd", ChangeKind::Removed),
        ];
        // Twice: an export can be repeated.
        for _ in 0..2 {
            let removed = export(&changes, &directory);
            fs::set_permissions(directory.join("d"), Permissions::from_mode(0o700)).unwrap();
            assert_eq!(removed.unwrap(), [PathBuf::from("/etc/passwd")]);
        }
        assert_eq!(fs::read(directory.join("a/b/c.txt")).unwrap(), b"hello");
        let mode = fs::metadata(directory.join("a/b/c.txt")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o640);
        assert_eq!(fs::read(directory.join("d/e")).unwrap(), b"deep");
        assert_eq!(fs::read_link(directory.join("l")).unwrap(), Path::new("/nowhere"));
    }

    #[test]
    fn links_are_neither_followed_nor_written_through() {
        let scratch = Scratch::new("links");
        let (outside, directory) = (scratch.0.join("outside"), scratch.0.join("out"));
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(&directory).unwrap();
        fs::write(outside.join("file"), "precious").unwrap();
        symlink(&outside, directory.join("way")).unwrap();
        symlink(outside.join("file"), directory.join("file")).unwrap();
        assert!(export(&[file("way/file", "evil")], &directory).is_err());
        export(&[file("file", "mine")], &directory).unwrap();
        assert_eq!(fs::read(outside.join("file")).unwrap(), b"precious");
        assert_eq!(fs::read(directory.join("file")).unwrap(), b"mine");
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        let scratch = Scratch::new("names");
        for path in ["../x", "a/../../x", ".", ""] {
            assert!(export(&[file(path, "evil")], &scratch.0.join("out")).is_err(), "{path}");
        }
        assert!(!scratch.0.join("x").exists());
    }
}
