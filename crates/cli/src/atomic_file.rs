//! A file that appears under its name when it is complete, and not at all when something fails.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Made beside its target under another name; removed again unless it is kept.
pub struct AtomicFile {
    pub file: File,
    temporary: PathBuf,
    target: PathBuf,
}

impl AtomicFile {
    pub fn create(path: &Path) -> Result<AtomicFile> {
        let told = || format!("{} cannot be written", path.display());
        // A link is followed: what it points to is replaced. Devices and the like would be replaced by a file.
        let target = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => bail!("{}: it is a directory", told()),
            Ok(metadata) if !metadata.is_file() => bail!("{}: it is not a regular file", told()),
            Ok(_) => fs::canonicalize(path).with_context(told)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error).with_context(told),
        };
        let Some(name) = target.file_name() else { bail!("{}: it has no name", told()) };
        let temporary =
            target.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
        let create = || File::options().write(true).create_new(true).open(&temporary);
        let file = match create() {
            // Left behind by a process of our number that was killed: we are the only one that lives.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&temporary).and_then(|()| create())
            }
            result => result,
        };
        Ok(AtomicFile { file: file.with_context(told)?, temporary, target })
    }

    /// Gives the file its name, in place of what had it.
    pub fn keep(self) -> Result<()> {
        // The name must not be on the disk before the content is.
        self.file.sync_all().with_context(|| format!("{} cannot be written", self.target.display()))?;
        fs::rename(&self.temporary, &self.target)
            .with_context(|| format!("{} cannot be written", self.target.display()))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After `keep` there is nothing under this name any more.
        let _ = fs::remove_file(&self.temporary);
    }
}
