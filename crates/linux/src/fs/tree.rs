//! The overlay: a table of nodes over the host's tree.
//!
//! Nodes come into the table when the guest first sees them and stay as long as they have a name or a holder. A
//! directory of the host keeps pointing at the host's path wherever the guest moves it, so a rename of a large
//! tree is the move of one name.

use super::abi::{PATH_MAX, S_IFDIR, S_IFLNK, S_IFMT, S_IFREG, device_number};
use super::content::Content;
use super::host::{self, Host, HostEntry, HostError, HostPath};
use super::node::{Data, Directory, Entry, Inode, Kind, Node, Origin};
use super::{Map, Name, Timestamp};
use crate::errno::Errno;
use std::collections::HashSet;
use std::sync::Arc;

/// Charged against the overlay's limit for each node and each name, whatever its content.
pub const NODE_COST: u64 = 512;

#[derive(Clone)]
pub struct Tree {
    nodes: Map<Inode, Node>,
    next_inode: u64,
    pub root: Inode,
    host: Host,
    /// Files of the host with several names are one node, found by the host's device and inode.
    hard_links: Map<(u64, u64), Inode>,
    /// The guest's number for each device of the host, in the order of first sight.
    devices: Map<u64, u64>,
    used: u64,
    limit: u64,
    /// What a capsule was asked and does not know.
    unknown: Vec<HostPath>,
}

impl Tree {
    pub fn new(host: Host, limit: u64) -> Result<Tree, Errno> {
        let mut tree = Tree {
            nodes: Map::default(),
            next_inode: 1,
            root: Inode(1),
            host,
            hard_links: Map::default(),
            devices: Map::default(),
            used: 0,
            limit,
            unknown: Vec::new(),
        };
        let path: HostPath = b"/"[..].into();
        let entry = tree.host.entry(&path).map_err(|error| tree.refused(error, &path, Errno::ENOENT))?;
        tree.root = tree.adopt(tree.root, Name::from(&b""[..]), path, entry);
        Ok(tree)
    }

    /// The node behind a number. Numbers are only handed out for nodes in the table.
    pub fn node(&self, inode: Inode) -> Result<&Node, Errno> {
        self.nodes.get(&inode).ok_or(Errno::EIO)
    }

    pub fn node_mut(&mut self, inode: Inode) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&inode).ok_or(Errno::EIO)
    }

    pub fn nodes(&self) -> impl Iterator<Item = (&Inode, &Node)> {
        self.nodes.iter()
    }

    /// Bytes of the overlay in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Accounts for `bytes` more, unless that goes over the limit.
    pub fn charge(&mut self, bytes: u64) -> Result<(), Errno> {
        let used = self.used.saturating_add(bytes);
        if used > self.limit {
            return Err(Errno::ENOSPC);
        }
        self.used = used;
        Ok(())
    }

    pub fn refund(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Puts a new node into the table. It has no name yet.
    pub fn add(&mut self, node: Node) -> Result<Inode, Errno> {
        self.charge(NODE_COST)?;
        Ok(self.enter(node))
    }

    /// Like `add`, for what the guest does not pay for.
    pub fn add_uncharged(&mut self, node: Node) -> Inode {
        self.enter(node)
    }

    /// What `name` means in `directory`: the overlay's word, else the host's.
    pub fn child(&mut self, directory: Inode, name: &[u8]) -> Result<Option<Inode>, Errno> {
        let node = self.node(directory)?;
        let listing = node.directory().ok_or(Errno::ENOTDIR)?;
        match listing.entries.get(name) {
            Some(Entry::Node(inode)) => return Ok(Some(*inode)),
            Some(Entry::Whiteout) => return Ok(None),
            None => {}
        }
        let Some(lower) = &listing.lower else { return Ok(None) };
        let path = host::join(lower, name);
        let answer = self.host.entry(&path);
        let entry = match answer.map_err(|error| self.refused(error, &path, Errno::ENOENT)) {
            Ok(entry) => entry,
            Err(Errno::ENOENT | Errno::ENOTDIR) => return Ok(None),
            Err(error) => return Err(error),
        };
        let name = Name::from(name);
        let inode = self.adopt(directory, name.clone(), path, entry);
        if let Some(listing) = self.node_mut(directory)?.directory_mut() {
            listing.entries.insert_mut(name, Entry::Node(inode));
        }
        Ok(Some(inode))
    }

    /// All names in a directory with their nodes: first what the host has, in its order, so that listings look
    /// as they do natively; then what the guest added, sorted.
    pub fn children(&mut self, directory: Inode) -> Result<Vec<(Name, Inode)>, Errno> {
        let listing = self.node(directory)?.directory().ok_or(Errno::ENOTDIR)?;
        let lower = match listing.lower.clone() {
            Some(lower) => {
                self.host.names(&lower).map_err(|error| self.refused(error, &lower, Errno::ENOENT))?
            }
            None => Arc::default(),
        };
        let listing = self.node(directory)?.directory().ok_or(Errno::ENOTDIR)?;
        let on_host: HashSet<&Name> = lower.iter().collect();
        let mut added: Vec<Name> =
            listing.entries.keys().filter(|name| !on_host.contains(name)).cloned().collect();
        added.sort();
        let names: Vec<Name> = lower.iter().cloned().chain(added).collect();
        let mut children = Vec::with_capacity(names.len());
        for name in names {
            // A name that the host cannot describe (it went away meanwhile) is not there.
            if let Ok(Some(inode)) = self.child(directory, &name) {
                children.push((name, inode));
            }
        }
        Ok(children)
    }

    pub fn is_empty(&mut self, directory: Inode) -> Result<bool, Errno> {
        Ok(self.children(directory)?.is_empty())
    }

    /// Whether the host itself has this name, whatever the overlay says.
    pub fn host_entry(&self, path: &HostPath) -> Option<HostEntry> {
        self.host.entry(path).ok()
    }

    /// Points a name at a node. The caller keeps the link counts.
    pub fn set_name(
        &mut self,
        directory: Inode,
        name: Name,
        inode: Inode,
        now: Timestamp,
    ) -> Result<(), Errno> {
        if let Some(moved) = self.node_mut(inode)?.directory_mut() {
            moved.parent = directory;
            moved.name = name.clone();
        }
        self.touch_directory(directory, now)?.entries.insert_mut(name, Entry::Node(inode));
        Ok(())
    }

    /// Takes a name away. A whiteout stays behind only where the host has the name: it costs memory that nobody
    /// pays for.
    pub fn clear_name(&mut self, directory: Inode, name: &Name, now: Timestamp) -> Result<(), Errno> {
        let lower = self.node(directory)?.directory().and_then(|listing| listing.lower.as_ref());
        let on_host = lower.is_some_and(|lower| self.host.entry(&host::join(lower, name)).is_ok());
        let listing = self.touch_directory(directory, now)?;
        if on_host {
            listing.entries.insert_mut(name.clone(), Entry::Whiteout);
        } else {
            listing.entries.remove_mut(name);
        }
        Ok(())
    }

    /// Makes the bytes of a regular file available and returns them.
    pub fn content(&mut self, inode: Inode) -> Result<&Content, Errno> {
        self.load(inode)?;
        match &self.node(inode)?.kind {
            Kind::File(Data::Resident(content)) => Ok(content),
            _ => Err(Errno::EINVAL),
        }
    }

    pub fn content_mut(&mut self, inode: Inode) -> Result<&mut Content, Errno> {
        self.load(inode)?;
        match &mut self.node_mut(inode)?.kind {
            Kind::File(Data::Resident(content)) => Ok(content),
            _ => Err(Errno::EINVAL),
        }
    }

    /// All bytes of a regular file in one piece, and whether that is a copy of ours. What the copy takes is charged.
    pub fn flatten(&mut self, inode: Inode) -> Result<(Arc<Vec<u8>>, bool), Errno> {
        let content = self.content(inode)?;
        let (before, cost) = (content.memory(), content.cost_of_flattening());
        if cost == 0 {
            return self.content_mut(inode)?.flatten();
        }
        self.charge(cost).map_err(|_| Errno::ENOMEM)?;
        let content = self.content_mut(inode)?;
        let flat = content.flatten();
        let after = content.memory();
        self.refund((before + cost).saturating_sub(after));
        flat
    }

    pub fn hold(&mut self, inode: Inode) -> Result<(), Errno> {
        let node = self.node_mut(inode)?;
        node.holders = node.holders.saturating_add(1);
        Ok(())
    }

    /// Gives up a hold; the last one of a nameless node ends it.
    pub fn release(&mut self, inode: Inode) {
        if let Some(node) = self.nodes.get_mut(&inode) {
            node.holders = node.holders.saturating_sub(1);
        }
        self.collect(inode);
    }

    /// Drops one name's share in a node.
    pub fn unlink(&mut self, inode: Inode, now: Timestamp) {
        if let Some(node) = self.nodes.get_mut(&inode) {
            node.links = if node.is_directory() { 0 } else { node.links.saturating_sub(1) };
            node.change = now;
        }
        self.collect(inode);
    }

    /// Whether `ancestor` is `inode` or above it. A place that is nested deeper than anybody has the time to climb
    /// counts as below everything, so that nothing is moved there.
    pub fn is_ancestor(&self, ancestor: Inode, inode: Inode) -> bool {
        const DEEPEST: usize = 1 << 16;
        let mut at = inode;
        for _ in 0..DEEPEST {
            if at == ancestor {
                return true;
            }
            match self.nodes.get(&at).and_then(Node::directory) {
                Some(directory) if directory.parent != at => at = directory.parent,
                _ => return false,
            }
        }
        true
    }

    /// The absolute path of a directory, if it still has one that a system call could name.
    pub fn path_of_directory(&self, inode: Inode) -> Result<Vec<u8>, Errno> {
        let mut names = Vec::new();
        let mut length = 0;
        let mut at = inode;
        while at != self.root {
            let node = self.node(at)?;
            let directory = node.directory().ok_or(Errno::ENOTDIR)?;
            if node.links == 0 {
                return Err(Errno::ENOENT);
            }
            length += 1 + directory.name.len();
            if length >= PATH_MAX {
                return Err(Errno::ENAMETOOLONG);
            }
            names.push(directory.name.clone());
            at = directory.parent;
        }
        if names.is_empty() {
            return Ok(b"/".to_vec());
        }
        Ok(names.iter().rev().flat_map(|name| [b"/", &name[..]].concat()).collect())
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    pub fn take_unknown(&mut self) -> Vec<HostPath> {
        std::mem::take(&mut self.unknown)
    }

    /// The error that the guest sees; what is unknown is noted, and answered with `otherwise`.
    fn refused(&mut self, error: HostError, path: &HostPath, otherwise: Errno) -> Errno {
        match error {
            HostError::Errno(errno) => errno,
            HostError::Unknown => {
                self.unknown.push(path.clone());
                otherwise
            }
        }
    }

    fn touch_directory(&mut self, inode: Inode, now: Timestamp) -> Result<&mut Directory, Errno> {
        let node = self.node_mut(inode)?;
        node.modification = now;
        node.change = now;
        node.directory_mut().ok_or(Errno::ENOTDIR)
    }

    fn enter(&mut self, node: Node) -> Inode {
        let inode = Inode(self.next_inode);
        self.next_inode += 1;
        self.nodes.insert_mut(inode, node);
        inode
    }

    /// Makes a node of what the host has.
    fn adopt(&mut self, parent: Inode, name: Name, path: HostPath, entry: HostEntry) -> Inode {
        let identity = (entry.device, entry.inode);
        let shared = entry.links > 1 && entry.mode & S_IFMT != S_IFDIR;
        if shared && let Some(known) = self.hard_links.get(&identity) {
            return *known;
        }
        let kind = match entry.mode & S_IFMT {
            S_IFREG => Kind::File(Data::Unread),
            S_IFDIR => {
                let lower = Some(path.clone());
                Kind::Directory(Directory { parent, name, lower, entries: Map::default(), sealed: false })
            }
            S_IFLNK => Kind::Symlink(entry.target.clone()),
            file_type => Kind::Foreign { file_type, special_device: entry.special_device },
        };
        let device = self.guest_device(entry.device);
        let inode = self.enter(Node {
            kind,
            permissions: entry.mode & 0o7777,
            user: entry.user,
            group: entry.group,
            links: entry.links,
            device,
            access: entry.access,
            modification: entry.modification,
            change: entry.change,
            origin: Some(Arc::new(Origin { path, entry })),
            changed: false,
            holders: 0,
            linkable: false,
        });
        if shared {
            self.hard_links.insert_mut(identity, inode);
        }
        inode
    }

    fn guest_device(&mut self, device: u64) -> u64 {
        if let Some(known) = self.devices.get(&device) {
            return *known;
        }
        let number = device_number(8, 1 + self.devices.size() as u32);
        self.devices.insert_mut(device, number);
        number
    }

    fn load(&mut self, inode: Inode) -> Result<(), Errno> {
        let node = self.node(inode)?;
        let (Kind::File(Data::Unread), Some(origin)) = (&node.kind, &node.origin) else { return Ok(()) };
        let origin = origin.clone();
        let bytes = self
            .host
            .content(&origin.path, &origin.entry)
            .map_err(|error| self.refused(error, &origin.path, Errno::EIO))?;
        self.node_mut(inode)?.kind = Kind::File(Data::Resident(Content::from_bytes(bytes)));
        Ok(())
    }

    /// Frees what nobody can reach any more.
    fn collect(&mut self, inode: Inode) {
        let Some(node) = self.nodes.get(&inode) else { return };
        if node.holders > 0 {
            return;
        }
        if node.links > 0 {
            // The host's bytes can be asked again; a run over many files must not keep them all.
            let unwritten = matches!(&node.kind, Kind::File(Data::Resident(_))) && !node.changed;
            if unwritten && let Some(node) = self.nodes.get_mut(&inode) {
                node.kind = Kind::File(Data::Unread);
            }
            return;
        }
        let content = match &node.kind {
            Kind::File(Data::Resident(content)) => content.memory(),
            _ => 0,
        };
        let node_cost = if node.origin.is_none() { NODE_COST } else { 0 };
        if let Some(origin) = &node.origin {
            self.hard_links.remove_mut(&(origin.entry.device, origin.entry.inode));
        }
        self.nodes.remove_mut(&inode);
        self.refund(content + node_cost);
    }
}
