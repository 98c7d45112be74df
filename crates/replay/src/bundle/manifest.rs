//! What stands in a bundle's table of contents, and the way from there to a capsule and back.
//!
//! These are mirrors of the types of `linux`, so that those can change without changing the format. What is read may
//! come from anybody: paths and names are checked here, since all that works on them relies on their form.

use std::collections::BTreeMap;
use std::sync::Arc;

use linux::errno::Errno;
use linux::fs::{Attachment, Capsule, HostEntry, HostPath, Name, Timestamp};
use serde::{Deserialize, Serialize};

use super::format::{Packed, Packer};
use super::{BundleError, Ending};
use crate::case::{Bytes, Case};

#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The program and version that wrote it.
    pub made_by: String,
    /// Standard input is left out; its number is below.
    pub case: Case,
    /// Standard input was typed: reads end behind each line.
    pub input_by_lines: bool,
    pub ending: Ending,
    /// The contents, which the rest refers to by their place here.
    pub packed: Vec<Packed>,
    pub stdin: Option<usize>,
    pub files: World,
}

/// A capsule.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct World {
    entries: Vec<(Bytes, Answer<Entry>)>,
    listings: Vec<(Bytes, Answer<Vec<Bytes>>)>,
    contents: Vec<(Bytes, Answer<usize>)>,
    attachments: Vec<(Bytes, Attached)>,
}

/// What the host said, or the number of its error.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    Is(T),
    Error(i32),
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    mode: u32,
    user: u32,
    group: u32,
    links: u64,
    size: u64,
    blocks: u64,
    device: u64,
    inode: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    special_device: u64,
    access: (i64, u32),
    modification: (i64, u32),
    change: (i64, u32),
    #[serde(default, skip_serializing_if = "is_empty")]
    target: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
struct Attached {
    content: usize,
    modification: (i64, u32),
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_empty(bytes: &Bytes) -> bool {
    bytes.is_empty()
}

impl World {
    pub fn new(capsule: &Capsule, packer: &mut Packer) -> World {
        let path = |path: &HostPath| Bytes::from(&path[..]);
        let mut contents = |content: &Arc<Vec<u8>>| packer.add(content);
        World {
            entries: capsule
                .entries
                .iter()
                .map(|(at, entry)| (path(at), Answer::of(entry, entry_record)))
                .collect(),
            listings: capsule
                .listings
                .iter()
                .map(|(at, names)| {
                    (
                        path(at),
                        Answer::of(names, |names| names.iter().map(|name| Bytes::from(&name[..])).collect()),
                    )
                })
                .collect(),
            contents: capsule
                .contents
                .iter()
                .map(|(at, content)| (path(at), Answer::of(content, &mut contents)))
                .collect(),
            attachments: capsule
                .attachments
                .iter()
                .map(|(at, Attachment { content, modification })| {
                    (
                        path(at),
                        Attached { content: contents(content), modification: time_record(*modification) },
                    )
                })
                .collect(),
        }
    }

    /// A file that has this content, for telling.
    pub fn path_of(&self, number: usize) -> Option<&Bytes> {
        let read = self
            .contents
            .iter()
            .find(|(_, answer)| matches!(answer, Answer::Is(content) if *content == number));
        let attached = || self.attachments.iter().find(|(_, attached)| attached.content == number);
        read.map(|(path, _)| path).or_else(|| attached().map(|(path, _)| path))
    }

    pub fn capsule(&self, contents: &[Arc<Vec<u8>>]) -> Result<Capsule, BundleError> {
        let content = |number: &usize| {
            contents
                .get(*number)
                .cloned()
                .ok_or_else(|| BundleError::nonsense("it refers to a content that is not there"))
        };
        Ok(Capsule {
            entries: collect(&self.entries, |answer| answer.check(entry))?,
            listings: collect(&self.listings, |answer| {
                answer.check(|names| names.iter().map(name).collect::<Result<Arc<[Name]>, _>>())
            })?,
            contents: collect(&self.contents, |answer| answer.check(content))?,
            attachments: collect(&self.attachments, |attached| {
                Ok(Attachment {
                    content: content(&attached.content)?,
                    modification: time(attached.modification)?,
                })
            })?,
        })
    }
}

impl<T> Answer<T> {
    fn of<A>(answer: &Result<A, Errno>, record: impl FnOnce(&A) -> T) -> Answer<T> {
        match answer {
            Ok(answer) => Answer::Is(record(answer)),
            Err(errno) => Answer::Error(errno.0),
        }
    }

    fn check<A>(
        &self,
        read: impl FnOnce(&T) -> Result<A, BundleError>,
    ) -> Result<Result<A, Errno>, BundleError> {
        match self {
            Answer::Is(answer) => read(answer).map(Ok),
            // The range in which a system call returns errors.
            Answer::Error(number @ 1..=4095) => Ok(Err(Errno(*number))),
            Answer::Error(number) => {
                Err(BundleError::nonsense(format!("{number} is the number of no error")))
            }
        }
    }
}

fn collect<T, A>(
    list: &[(Bytes, T)],
    read: impl Fn(&T) -> Result<A, BundleError>,
) -> Result<BTreeMap<HostPath, A>, BundleError> {
    let mut map = BTreeMap::new();
    for (at, answer) in list {
        if !is_clean_path(at) {
            return Err(BundleError::nonsense(format!("{at:?} is no path that a file is found by")));
        }
        if map.insert(HostPath::from(&at[..]), read(answer)?).is_some() {
            return Err(BundleError::nonsense(format!("it says twice what {at} is")));
        }
    }
    Ok(map)
}

/// Absolute, without empty components, `.` and `..`.
fn is_clean_path(path: &[u8]) -> bool {
    let Some(below_root) = path.strip_prefix(b"/") else { return false };
    below_root.is_empty() || below_root.split(|byte| *byte == b'/').all(is_clean_name)
}

fn is_clean_name(name: &[u8]) -> bool {
    !name.is_empty() && name != b"." && name != b".." && !name.contains(&b'/') && !name.contains(&0)
}

fn name(bytes: &Bytes) -> Result<Name, BundleError> {
    match is_clean_name(bytes) {
        true => Ok(Name::from(&bytes[..])),
        false => Err(BundleError::nonsense(format!("{bytes:?} is no name of a file"))),
    }
}

fn entry_record(entry: &HostEntry) -> Entry {
    Entry {
        mode: entry.mode,
        user: entry.user,
        group: entry.group,
        links: entry.links,
        size: entry.size,
        blocks: entry.blocks,
        device: entry.device,
        inode: entry.inode,
        special_device: entry.special_device,
        access: time_record(entry.access),
        modification: time_record(entry.modification),
        change: time_record(entry.change),
        target: Bytes::from(&entry.target[..]),
    }
}

fn entry(record: &Entry) -> Result<HostEntry, BundleError> {
    if i64::try_from(record.size).is_err() {
        return Err(BundleError::nonsense(format!("a file of {} bytes cannot be", record.size)));
    }
    Ok(HostEntry {
        mode: record.mode,
        user: record.user,
        group: record.group,
        links: record.links,
        size: record.size,
        blocks: record.blocks,
        device: record.device,
        inode: record.inode,
        special_device: record.special_device,
        access: time(record.access)?,
        modification: time(record.modification)?,
        change: time(record.change)?,
        target: record.target[..].into(),
    })
}

fn time_record(time: Timestamp) -> (i64, u32) {
    (time.seconds, time.nanoseconds)
}

fn time((seconds, nanoseconds): (i64, u32)) -> Result<Timestamp, BundleError> {
    match nanoseconds < 1_000_000_000 {
        true => Ok(Timestamp { seconds, nanoseconds }),
        false => Err(BundleError::nonsense("a second has a billion nanoseconds")),
    }
}
