//! The text of the files in /proc/self that tell about the process.

use std::fmt::Write;

use machine::{Backing, Memory, PAGE_SIZE, Region};

use crate::clock::Clock;
use crate::fs::{Credentials, ProcessFile, ProcessText};
use crate::heap::Heap;
use crate::kernel::{Command, PARENT_PID, PID};
use crate::resources::Resources;

/// The parts of the kernel that the texts are made of.
pub struct KernelText<'a> {
    pub memory: &'a Memory,
    pub command: &'a Command,
    pub name: &'a [u8],
    pub clock: &'a Clock,
    pub resources: &'a Resources,
    pub heap: &'a Heap,
    pub credentials: Credentials,
    pub umask: u32,
}

impl ProcessText for KernelText<'_> {
    fn text(&self, file: ProcessFile) -> Vec<u8> {
        match file {
            ProcessFile::CommandLine => terminated(&self.command.argv),
            ProcessFile::Environment => terminated(&self.command.env),
            ProcessFile::Maps => self.maps().into_bytes(),
            ProcessFile::Status => self.status().into_bytes(),
            ProcessFile::Stat => self.stat().into_bytes(),
            ProcessFile::Statm => self.sizes_in_pages().into_bytes(),
            ProcessFile::Comm => [self.name, b"\n"].concat(),
            ProcessFile::Limits => self.limits().into_bytes(),
            // It lies on the guest's stack; those who ask here have getauxval.
            ProcessFile::AuxiliaryVector => Vec::new(),
        }
    }
}

impl KernelText<'_> {
    fn maps(&self) -> String {
        let mut text = String::new();
        for region in self.memory.regions() {
            let Region { start, end, permissions, backing, name, shared } = region;
            let bit = |granted: bool, letter: char| if granted { letter } else { '-' };
            let (offset, device) = match backing {
                Backing::Zero | Backing::Fresh => (0, "00:00"),
                Backing::Bytes { offset, .. } => (*offset, "08:01"),
            };
            let head = format!(
                "{start:08x}-{end:08x} {}{}{}{} {offset:08x} {device} 0",
                bit(permissions.read, 'r'),
                bit(permissions.write, 'w'),
                bit(permissions.execute, 'x'),
                if *shared { 's' } else { 'p' },
            );
            let name = if self.is_heap(region) { "[heap]" } else { name };
            // The kernel puts names into one column.
            let line = if name.is_empty() { format!("{head} ") } else { format!("{head:<72} {name}") };
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn is_heap(&self, region: &Region) -> bool {
        region.name.is_empty() && region.start < self.heap.end && self.heap.start < region.end
    }

    fn status(&self) -> String {
        let name = String::from_utf8_lossy(self.name);
        let Credentials { user, group, groups } = &self.credentials;
        let groups: Vec<String> = groups.iter().map(u32::to_string).collect();
        let kilobytes = self.mapped_bytes() / 1024;
        let resident = self.memory.resident_pages() * PAGE_SIZE / 1024;
        format!(
            "Name:\t{name}\nUmask:\t{:04o}\nState:\tR (running)\nTgid:\t{PID}\nNgid:\t0\nPid:\t{PID}\n\
             PPid:\t{PARENT_PID}\nTracerPid:\t0\nUid:\t{user}\t{user}\t{user}\t{user}\n\
             Gid:\t{group}\t{group}\t{group}\t{group}\nFDSize:\t256\nGroups:\t{} \n\
             VmPeak:\t{kilobytes:8} kB\nVmSize:\t{kilobytes:8} kB\nVmHWM:\t{resident:8} kB\n\
             VmRSS:\t{resident:8} kB\nThreads:\t1\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n\
             voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n",
            self.umask,
            groups.join(" "),
        )
    }

    /// 52 numbers; those that we have no notion of are 0.
    fn stat(&self) -> String {
        let name = String::from_utf8_lossy(self.name);
        let ticks = self.clock.elapsed().as_millis() / 10;
        let start = (self.clock.uptime() - self.clock.elapsed()).as_millis() / 10;
        let mut text = format!("{PID} ({name}) R {PARENT_PID} {PID} {PARENT_PID} 0 -1 4194304 0 0 0 0");
        let pages = self.memory.resident_pages();
        let size = self.mapped_bytes();
        // User and system time, those of children, priority, nice, threads, timer, start, size, resident pages, limit.
        let _ = write!(text, " {ticks} 0 0 0 20 0 1 0 {start} {size} {pages} {}", u64::MAX);
        for _ in text.split(' ').count()..52 {
            text.push_str(" 0");
        }
        text.push('\n');
        text
    }

    fn sizes_in_pages(&self) -> String {
        let resident = self.memory.resident_pages();
        format!("{} {resident} 0 0 0 {resident} 0\n", self.mapped_bytes() / PAGE_SIZE)
    }

    fn limits(&self) -> String {
        const NAMES: [(&str, &str); 16] = [
            ("Max cpu time", "seconds"),
            ("Max file size", "bytes"),
            ("Max data size", "bytes"),
            ("Max stack size", "bytes"),
            ("Max core file size", "bytes"),
            ("Max resident set", "bytes"),
            ("Max processes", "processes"),
            ("Max open files", "files"),
            ("Max locked memory", "bytes"),
            ("Max address space", "bytes"),
            ("Max file locks", "locks"),
            ("Max pending signals", "signals"),
            ("Max msgqueue size", "bytes"),
            ("Max nice priority", ""),
            ("Max realtime priority", ""),
            ("Max realtime timeout", "us"),
        ];
        let value = |limit: u64| match limit {
            u64::MAX => "unlimited".to_string(),
            limit => limit.to_string(),
        };
        let mut text = format!("{:<25} {:<20} {:<20} {:<10}\n", "Limit", "Soft Limit", "Hard Limit", "Units");
        for (number, (name, unit)) in (0u64..).zip(NAMES) {
            if let Some(limit) = self.resources.get(number) {
                let (soft, hard) = (value(limit.soft), value(limit.hard));
                let _ = writeln!(text, "{name:<25} {soft:<20} {hard:<20} {unit:<10}");
            }
        }
        text
    }

    fn mapped_bytes(&self) -> u64 {
        self.memory.regions().iter().map(|region| region.end - region.start).sum()
    }
}

fn terminated(strings: &[Vec<u8>]) -> Vec<u8> {
    strings.iter().flat_map(|string| string.iter().copied().chain([0])).collect()
}
