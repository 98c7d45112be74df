//! What one run has seen of its host's files, as data: enough to run it again where those files are others, or none.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{HostEntry, HostError, HostPath};
use crate::errno::Errno;
use crate::fs::{Name, Timestamp};

/// Every question that was asked, with its answer; nothing in it ever changes. What was never asked is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capsule {
    /// What each name was: also that it was not there.
    pub entries: BTreeMap<HostPath, Result<HostEntry, Errno>>,
    /// What was in each directory that was listed, in the host's order.
    pub listings: BTreeMap<HostPath, Result<Arc<[Name]>, Errno>>,
    /// The bytes of each regular file that was read.
    pub contents: BTreeMap<HostPath, Result<Arc<Vec<u8>>, Errno>>,
    /// Files that the guest has nothing to do with, for those who explain its run: debug files and sources.
    pub attachments: BTreeMap<HostPath, Attachment>,
}

/// A file that the guest does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub content: Arc<Vec<u8>>,
    pub modification: Timestamp,
}

impl Capsule {
    pub(super) fn entry(&self, path: &HostPath) -> Result<HostEntry, HostError> {
        answer(self.entries.get(path))
    }

    pub(super) fn names(&self, path: &HostPath) -> Result<Arc<[Name]>, HostError> {
        answer(self.listings.get(path))
    }

    pub(super) fn content(&self, path: &HostPath) -> Result<Arc<Vec<u8>>, HostError> {
        answer(self.contents.get(path))
    }
}

fn answer<T: Clone>(known: Option<&Result<T, Errno>>) -> Result<T, HostError> {
    match known {
        Some(Ok(known)) => Ok(known.clone()),
        Some(Err(errno)) => Err(HostError::Errno(*errno)),
        None => Err(HostError::Unknown),
    }
}
