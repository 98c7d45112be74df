//! A hash over the guest's file world, for finding out whether two runs are in the same state.

use std::hash::{Hash, Hasher};

use super::FileSystem;
use super::descriptors::Object;
use super::node::{Data, Kind, Node};

impl Hash for FileSystem {
    /// All that a guest could tell apart. What the host has is the same for all runs and is left out, apart from
    /// the numbers that its files were given.
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (inode, node) in self.tree.nodes() {
            inode.hash(state);
            hash_node(node, state);
        }
        for (number, descriptor) in &self.descriptors {
            (number, descriptor.file, descriptor.close_on_exec).hash(state);
        }
        for (id, file) in &self.files {
            (id, file.offset, file.flags, file.references, &file.listing).hash(state);
            match &file.object {
                Object::Node(inode) | Object::Generated { inode, .. } => inode.hash(state),
                Object::PipeReader(pipe) | Object::PipeWriter(pipe) => pipe.hash(state),
                Object::Input => {}
                Object::Output(stream) => stream.hash(state),
            }
        }
        for (id, pipe) in &self.pipes {
            (id, pipe.readers, pipe.writers, pipe.len()).hash(state);
            pipe.contents().for_each(|byte| byte.hash(state));
        }
        (self.working_directory, self.umask, &self.random, self.terminal, &self.input).hash(state);
    }
}

fn hash_node<H: Hasher>(node: &Node, state: &mut H) {
    // A directory on the way to a file gets new times when anybody on the host makes a file in it.
    if !is_as_on_host(node) {
        (node.mode(), node.user, node.group, node.links, node.modification, node.change, node.access)
            .hash(state);
    }
    match &node.kind {
        // Whether the host's bytes are at hand or would be read again makes no difference.
        Kind::File(Data::Resident(content)) if node.changed => content.hash(state),
        Kind::File(_) | Kind::Device(_) | Kind::Generated(_) | Kind::Foreign { .. } => {}
        Kind::Symlink(target) => target.hash(state),
        Kind::Directory(directory) | Kind::DescriptorDirectory(directory) => {
            (directory.parent, &directory.name).hash(state);
            for (name, entry) in &directory.entries {
                (name, entry).hash(state);
            }
        }
    }
}

fn is_as_on_host(node: &Node) -> bool {
    node.origin.as_ref().is_some_and(|origin| {
        let host = &origin.entry;
        (node.mode(), node.user, node.group, node.links) == (host.mode, host.user, host.group, host.links)
            && (node.modification, node.change, node.access) == (host.modification, host.change, host.access)
    })
}
