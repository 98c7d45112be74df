//! From a path to a node, as Linux walks it.
//!
//! Every component is looked up here, in the overlay first; the host's kernel never follows a link for us, or the
//! guest could see around its own changes.

use super::abi::{AT_FDCWD, LINKS_MAX, NAME_MAX, PATH_MAX};
use super::descriptors::{FileId, Object};
use super::node::{Generated, Inode, Kind};
use super::permission::EXECUTE;
use super::{FileSystem, Name};
use crate::errno::Errno;

/// A path and the directory descriptor that it is relative to, as in the `…at` system calls.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub directory: i32,
    pub path: &'a [u8],
}

impl<'a> At<'a> {
    pub fn new(directory: i32, path: &'a [u8]) -> At<'a> {
        At { directory, path }
    }

    pub fn working_directory(path: &'a [u8]) -> At<'a> {
        At { directory: AT_FDCWD, path }
    }
}

/// What happens to a symbolic link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follow {
    Yes,
    /// Only when the path goes on with a slash.
    No,
    /// Only when no slash follows: the link's target is to be made, and that will be no directory.
    UnlessSlash,
    /// The name itself is to be made, moved or removed.
    Never,
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Node(Inode),
    /// A pipe or a standard stream, reached through a descriptor or through /proc/self/fd.
    File(FileId),
    /// A name in /proc/self/fd, not followed.
    DescriptorLink(i32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Last {
    Name,
    Dot,
    DotDot,
    Root,
}

pub(super) struct Found {
    pub parent: Inode,
    pub name: Name,
    pub last: Last,
    pub target: Option<Target>,
    /// The path ended with a slash.
    pub slash: bool,
}

struct Component {
    name: Vec<u8>,
    slash: bool,
}

/// What one name in a directory is.
enum Looked {
    Absent,
    Node(Inode),
    Link(Vec<u8>),
    DescriptorLink(i32),
}

impl FileSystem {
    /// The thing at a path. An empty path means the descriptor itself where `allow_empty` says so.
    pub fn locate(&mut self, at: At<'_>, follow: Follow, allow_empty: bool) -> Result<Target, Errno> {
        if at.path.is_empty() && allow_empty {
            return match at.directory {
                AT_FDCWD => Ok(Target::Node(self.working_directory)),
                descriptor => self.target_of_descriptor(descriptor),
            };
        }
        let found = self.walk(at, follow)?;
        let target = found.target.ok_or(Errno::ENOENT)?;
        if found.slash && !self.is_directory(target) {
            return Err(Errno::ENOTDIR);
        }
        Ok(target)
    }

    /// Like `locate`, for what must have a node.
    pub(super) fn locate_node(&mut self, at: At<'_>, follow: Follow) -> Result<Inode, Errno> {
        match self.locate(at, follow, false)? {
            Target::Node(inode) => Ok(inode),
            Target::File(_) => Err(Errno::EACCES),
            Target::DescriptorLink(_) => Err(Errno::EPERM),
        }
    }

    pub(super) fn target_of_descriptor(&self, descriptor: i32) -> Result<Target, Errno> {
        let (id, file) = self.file(descriptor)?;
        Ok(match &file.object {
            Object::Node(inode) | Object::Generated { inode, .. } => Target::Node(*inode),
            _ => Target::File(id),
        })
    }

    pub(super) fn is_directory(&self, target: Target) -> bool {
        matches!(target, Target::Node(inode) if self.tree.node(inode).is_ok_and(|node| node.is_directory()))
    }

    pub fn change_directory(&mut self, at: At<'_>) -> Result<(), Errno> {
        let target = self.locate(at, Follow::Yes, false)?;
        self.enter_directory(target)
    }

    pub fn change_directory_to_descriptor(&mut self, descriptor: i32) -> Result<(), Errno> {
        let target = self.target_of_descriptor(descriptor)?;
        self.enter_directory(target)
    }

    /// The absolute path of the working directory; ENOENT when it was removed.
    pub fn working_directory(&self) -> Result<Vec<u8>, Errno> {
        self.tree.path_of_directory(self.working_directory)
    }

    fn enter_directory(&mut self, target: Target) -> Result<(), Errno> {
        let Target::Node(inode) = target else { return Err(Errno::ENOTDIR) };
        if !self.tree.node(inode)?.is_directory() {
            return Err(Errno::ENOTDIR);
        }
        self.require(inode, EXECUTE)?;
        self.tree.hold(inode)?;
        let before = std::mem::replace(&mut self.working_directory, inode);
        self.tree.release(before);
        Ok(())
    }

    pub(super) fn walk(&mut self, at: At<'_>, follow: Follow) -> Result<Found, Errno> {
        if at.path.is_empty() {
            return Err(Errno::ENOENT);
        }
        if at.path.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let mut current = if at.path.starts_with(b"/") { self.tree.root } else { self.start(at.directory)? };
        let mut pending = Vec::new();
        push_components(&mut pending, at.path, false);
        let mut links = 0;
        while let Some(component) = pending.pop() {
            let is_last = pending.is_empty();
            self.require(current, EXECUTE)?;
            if component.name.len() > NAME_MAX {
                return Err(Errno::ENAMETOOLONG);
            }
            if component.name == b"." || component.name == b".." {
                let mut last = Last::Dot;
                if component.name == b".." {
                    last = Last::DotDot;
                    current = self.parent(current)?;
                }
                if is_last {
                    return Ok(found_directory(current, last));
                }
                continue;
            }
            let looked = self.look(current, &component.name)?;
            let follow_this = match follow {
                Follow::Yes => true,
                Follow::No => !is_last || component.slash,
                Follow::UnlessSlash => !is_last || !component.slash,
                Follow::Never => !is_last,
            };
            let target = match looked {
                Looked::Link(text) if follow_this => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(Errno::ELOOP);
                    }
                    if text.is_empty() {
                        return Err(Errno::ENOENT);
                    }
                    if text.starts_with(b"/") {
                        current = self.tree.root;
                    }
                    push_components(&mut pending, &text, component.slash);
                    if pending.is_empty() {
                        return Ok(found_directory(self.tree.root, Last::Root));
                    }
                    continue;
                }
                Looked::DescriptorLink(descriptor) if follow_this => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(Errno::ELOOP);
                    }
                    let target = self.target_of_descriptor(descriptor).map_err(|_| Errno::ENOENT)?;
                    Some(target)
                }
                Looked::Link(_) => self.tree.child(current, &component.name)?.map(Target::Node),
                Looked::DescriptorLink(descriptor) => Some(Target::DescriptorLink(descriptor)),
                Looked::Node(inode) => Some(Target::Node(inode)),
                Looked::Absent => None,
            };
            if is_last {
                let name = Name::from(component.name);
                return Ok(Found { parent: current, name, last: Last::Name, target, slash: component.slash });
            }
            current = match target {
                Some(Target::Node(inode)) if self.is_directory(Target::Node(inode)) => inode,
                Some(_) => return Err(Errno::ENOTDIR),
                None => return Err(Errno::ENOENT),
            };
        }
        Ok(found_directory(self.tree.root, Last::Root))
    }

    fn start(&self, directory: i32) -> Result<Inode, Errno> {
        if directory == AT_FDCWD {
            return Ok(self.working_directory);
        }
        match self.target_of_descriptor(directory)? {
            Target::Node(inode) if self.is_directory(Target::Node(inode)) => Ok(inode),
            _ => Err(Errno::ENOTDIR),
        }
    }

    fn parent(&self, directory: Inode) -> Result<Inode, Errno> {
        let parent = self.tree.node(directory)?.directory().ok_or(Errno::ENOTDIR)?.parent;
        // The parent of a removed directory may be gone itself.
        self.tree.node(parent).map_err(|_| Errno::ENOENT)?;
        Ok(parent)
    }

    fn look(&mut self, directory: Inode, name: &[u8]) -> Result<Looked, Errno> {
        let node = self.tree.node(directory)?;
        if let Kind::DescriptorDirectory(_) = &node.kind {
            let number = std::str::from_utf8(name).ok().and_then(|text| text.parse::<i32>().ok());
            return Ok(match number.filter(|number| self.descriptors.contains_key(number)) {
                Some(number) => Looked::DescriptorLink(number),
                None => Looked::Absent,
            });
        }
        let Some(inode) = self.tree.child(directory, name)? else { return Ok(Looked::Absent) };
        Ok(match self.link_text(inode)? {
            Some(text) => Looked::Link(text),
            None => Looked::Node(inode),
        })
    }

    /// Where a link points, or none if the node is no link.
    pub(super) fn link_text(&self, inode: Inode) -> Result<Option<Vec<u8>>, Errno> {
        Ok(match &self.tree.node(inode)?.kind {
            Kind::Symlink(target) => Some(target.to_vec()),
            Kind::Generated(Generated::Executable) => Some(self.executable.to_vec()),
            Kind::Generated(Generated::WorkingDirectory) => Some(self.working_directory()?),
            _ => None,
        })
    }
}

fn found_directory(directory: Inode, last: Last) -> Found {
    Found {
        parent: directory,
        name: Name::from(&b""[..]),
        last,
        target: Some(Target::Node(directory)),
        slash: false,
    }
}

/// Pushes the components of a path so that the first is on top. The last inherits the slash that followed the
/// link whose text this is.
fn push_components(pending: &mut Vec<Component>, path: &[u8], slash_follows: bool) {
    let ends_with_slash = path.ends_with(b"/");
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    for (index, name) in names.rev().enumerate() {
        let slash = index > 0 || ends_with_slash || slash_follows;
        pending.push(Component { name: name.to_vec(), slash });
    }
}
