//! /dev, /proc and /sys: a few files of our own in place of the host's.
//!
//! The host's would show its changing state, and its devices would lead out of the sandbox. What is not made here
//! does not exist for the guest.

use std::sync::Arc;

use super::abi::device_number;
use super::node::{Device, Directory, Generated, Inode, Kind, Node, ProcessFile};
use super::{FileSystem, Name, Setup};
use crate::errno::Errno;

pub const DEVICES_DEVICE: u64 = device_number(0, 5);
pub const PIPES_DEVICE: u64 = device_number(0, 13);
pub const SYS_DEVICE: u64 = device_number(0, 21);
pub const PROC_DEVICE: u64 = device_number(0, 22);
pub const MEMORY_DEVICE: u64 = device_number(0, 1);

/// The inode numbers of the links in /proc/self/fd begin here, far from those of nodes.
pub const DESCRIPTOR_LINKS: u64 = 1 << 48;

/// What uname says, and /proc with it.
pub const KERNEL_RELEASE: &str = "6.1.0";
pub const KERNEL_VERSION: &str = "#1 SMP whydunit";

/// Makes the nodes of one virtual file system.
struct Builder<'a> {
    files: &'a mut FileSystem,
    setup: &'a Setup,
    device: u64,
    sealed: bool,
}

impl FileSystem {
    pub(super) fn install_virtual_files(&mut self, setup: &Setup) -> Result<(), Errno> {
        let root = self.tree.root;
        let mut builder = Builder { files: self, setup, device: DEVICES_DEVICE, sealed: false };
        builder.devices(root)?;
        builder.device = PROC_DEVICE;
        builder.sealed = true;
        builder.processes(root)?;
        builder.device = SYS_DEVICE;
        builder.system(root)
    }
}

impl Builder<'_> {
    fn devices(&mut self, root: Inode) -> Result<(), Errno> {
        let dev = self.directory(root, "dev", 0o755)?;
        let devices = [
            ("null", Device::Null),
            ("zero", Device::Zero),
            ("full", Device::Full),
            ("random", Device::Random),
            ("urandom", Device::Urandom),
            ("tty", Device::Terminal),
        ];
        for (name, device) in devices {
            self.add(dev, name, Kind::Device(device), 0o666, 0)?;
        }
        let links = [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
        ];
        for (name, target) in links {
            self.link(dev, name, target)?;
        }
        self.directory(dev, "shm", 0o1777)?;
        Ok(())
    }

    fn processes(&mut self, root: Inode) -> Result<(), Errno> {
        let proc = self.directory(root, "proc", 0o555)?;
        let id = self.setup.process.to_string();
        self.link(proc, "self", &id)?;
        self.link(proc, "thread-self", &format!("{id}/task/{id}"))?;
        self.link(proc, "mounts", "self/mounts")?;
        let kilobytes = self.setup.memory_total / 1024;
        let free = kilobytes / 2;
        self.text(
            proc,
            "meminfo",
            &format!(
                "MemTotal:       {kilobytes:8} kB\nMemFree:        {free:8} kB\nMemAvailable:   {free:8} kB\n\
                 Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\n\
                 SwapFree:              0 kB\n"
            ),
        )?;
        self.text(proc, "cpuinfo", CPU_INFORMATION)?;
        self.text(proc, "version", &format!("Linux version {KERNEL_RELEASE} {KERNEL_VERSION}\n"))?;
        self.text(proc, "uptime", "1000.00 1000.00\n")?;
        self.text(proc, "loadavg", &format!("0.00 0.00 0.00 1/1 {id}\n"))?;
        self.text(
            proc,
            "stat",
            "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nbtime 0\nprocesses 1\n",
        )?;
        self.text(proc, "filesystems", "nodev\tproc\nnodev\tsysfs\nnodev\ttmpfs\n\text4\n")?;

        let process = self.process_directory(proc, &id)?;
        let task = self.directory(process, "task", 0o555)?;
        self.process_directory(task, &id)?;
        self.settings(proc)
    }

    fn process_directory(&mut self, parent: Inode, id: &str) -> Result<Inode, Errno> {
        let user = self.setup.credentials.user;
        let process = self.directory(parent, id, 0o555)?;
        let files = [
            ("cmdline", ProcessFile::CommandLine, 0o444),
            ("environ", ProcessFile::Environment, 0o400),
            ("maps", ProcessFile::Maps, 0o444),
            ("status", ProcessFile::Status, 0o444),
            ("stat", ProcessFile::Stat, 0o444),
            ("statm", ProcessFile::Statm, 0o444),
            ("comm", ProcessFile::Comm, 0o644),
            ("limits", ProcessFile::Limits, 0o444),
            ("auxv", ProcessFile::AuxiliaryVector, 0o400),
        ];
        for (name, file, permissions) in files {
            self.add(process, name, Kind::Generated(Generated::Process(file)), permissions, user)?;
        }
        self.add(process, "exe", Kind::Generated(Generated::Executable), 0o777, user)?;
        self.add(process, "cwd", Kind::Generated(Generated::WorkingDirectory), 0o777, user)?;
        self.link(process, "root", "/")?;
        self.text(process, "mounts", MOUNTS)?;
        self.text(process, "mountinfo", MOUNT_INFORMATION)?;
        self.text(process, "cgroup", "0::/\n")?;
        let mut descriptors = Directory::new(process, name("fd"));
        descriptors.sealed = true;
        self.add(process, "fd", Kind::DescriptorDirectory(descriptors), 0o500, user)?;
        Ok(process)
    }

    fn settings(&mut self, proc: Inode) -> Result<(), Errno> {
        let sys = self.directory(proc, "sys", 0o555)?;
        let kernel = self.directory(sys, "kernel", 0o555)?;
        let release = format!("{KERNEL_RELEASE}\n");
        let version = format!("{KERNEL_VERSION}\n");
        let settings = [
            ("osrelease", release.as_str()),
            ("ostype", "Linux\n"),
            ("version", version.as_str()),
            ("hostname", "whydunit\n"),
            ("domainname", "(none)\n"),
            ("pid_max", "32768\n"),
            ("ngroups_max", "65536\n"),
            ("randomize_va_space", "0\n"),
            ("cap_last_cap", "40\n"),
        ];
        for (name, text) in settings {
            self.text(kernel, name, text)?;
        }
        let random = self.directory(kernel, "random", 0o555)?;
        self.text(random, "boot_id", "77687964-756e-4974-8000-000000000001\n")?;
        self.text(random, "uuid", "77687964-756e-4974-8000-000000000002\n")?;
        let memory = self.directory(sys, "vm", 0o555)?;
        self.text(memory, "overcommit_memory", "0\n")?;
        self.text(memory, "max_map_count", "65530\n")?;
        self.text(memory, "mmap_min_addr", "65536\n")?;
        let files = self.directory(sys, "fs", 0o555)?;
        self.text(files, "file-max", "1024\n")?;
        self.text(files, "pipe-max-size", "1048576\n")?;
        Ok(())
    }

    fn system(&mut self, root: Inode) -> Result<(), Errno> {
        let sys = self.directory(root, "sys", 0o555)?;
        let devices = self.directory(sys, "devices", 0o755)?;
        let system = self.directory(devices, "system", 0o755)?;
        let cpu = self.directory(system, "cpu", 0o755)?;
        for name in ["online", "possible", "present"] {
            self.text(cpu, name, "0\n")?;
        }
        self.directory(cpu, "cpu0", 0o755)?;
        Ok(())
    }

    fn directory(&mut self, parent: Inode, name_text: &str, permissions: u32) -> Result<Inode, Errno> {
        let mut directory = Directory::new(parent, name(name_text));
        directory.sealed = self.sealed;
        self.add(parent, name_text, Kind::Directory(directory), permissions, 0)
    }

    fn text(&mut self, parent: Inode, name: &str, text: &str) -> Result<(), Errno> {
        let text = Arc::new(text.as_bytes().to_vec());
        self.add(parent, name, Kind::Generated(Generated::Fixed(text)), 0o444, 0).map(|_| ())
    }

    fn link(&mut self, parent: Inode, name: &str, target: &str) -> Result<(), Errno> {
        self.add(parent, name, Kind::Symlink(target.as_bytes().into()), 0o777, 0).map(|_| ())
    }

    fn add(
        &mut self,
        parent: Inode,
        text: &str,
        kind: Kind,
        permissions: u32,
        user: u32,
    ) -> Result<Inode, Errno> {
        let tree = &mut self.files.tree;
        let before = tree.node(parent)?.modification;
        let mut node = Node::new(kind, permissions, user, user, self.device, self.setup.now);
        node.changed = false;
        let inode = tree.add_uncharged(node);
        tree.set_name(parent, name(text), inode, before).map(|()| inode)
    }
}

fn name(text: &str) -> Name {
    Name::from(text.as_bytes())
}

const CPU_INFORMATION: &str = "processor\t: 0\nvendor_id\t: whydunit\ncpu family\t: 6\nmodel\t\t: 0\n\
    model name\t: whydunit virtual x86-64\nstepping\t: 0\ncpu MHz\t\t: 1000.000\ncache size\t: 0 KB\n\
    physical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\nfpu\t\t: yes\nwp\t\t: yes\n\
    flags\t\t: fpu tsc cx8 cmov mmx fxsr sse sse2 syscall nx lm\nbogomips\t: 2000.00\n\
    address sizes\t: 48 bits physical, 48 bits virtual\n\n";

const MOUNTS: &str = "/dev/sda1 / ext4 rw,relatime 0 0\nproc /proc proc rw,nosuid,nodev,noexec 0 0\n\
    sysfs /sys sysfs ro,nosuid,nodev,noexec 0 0\ntmpfs /dev tmpfs rw,nosuid 0 0\n";

const MOUNT_INFORMATION: &str = "1 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
    2 1 0:22 / /proc rw,nosuid,nodev,noexec - proc proc rw\n\
    3 1 0:21 / /sys ro,nosuid,nodev,noexec - sysfs sysfs ro\n4 1 0:5 / /dev rw,nosuid - tmpfs tmpfs rw\n";
