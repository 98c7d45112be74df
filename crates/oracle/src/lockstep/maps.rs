//! What /proc tells of the child: its mappings and where its heap begins.

use std::fs;
use std::io;

use super::ptrace::Pid;

/// One line of /proc/PID/maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    pub read: bool,
    pub write: bool,
    pub execute: bool,
    pub shared: bool,
    /// Where in its file it begins.
    pub offset: u64,
    /// A path, a name in brackets, or nothing.
    pub name: String,
}

impl Mapping {
    /// The kernel's own pages in user space. No program that lacks AT_SYSINFO_EHDR enters them,
    /// and some cannot be read from outside.
    pub fn is_kernel_page(&self) -> bool {
        self.name.starts_with("[v")
    }

    pub fn is_stack(&self) -> bool {
        self.name == "[stack]"
    }

    pub fn length(&self) -> u64 {
        self.end - self.start
    }

    /// `start-end perms offset device inode path`
    fn parse(line: &str) -> Option<Mapping> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let permissions = fields.next()?.as_bytes();
        let offset = fields.next()?;
        let name = fields.nth(2).unwrap_or("").trim_start().to_owned();
        Some(Mapping {
            start: u64::from_str_radix(start, 16).ok()?,
            end: u64::from_str_radix(end, 16).ok()?,
            read: permissions.first() == Some(&b'r'),
            write: permissions.get(1) == Some(&b'w'),
            execute: permissions.get(2) == Some(&b'x'),
            shared: permissions.get(3) == Some(&b's'),
            offset: u64::from_str_radix(offset, 16).ok()?,
            name,
        })
    }
}

pub fn mappings(pid: Pid) -> io::Result<Vec<Mapping>> {
    fs::read_to_string(format!("/proc/{pid}/maps"))?
        .lines()
        .map(|line| Mapping::parse(line).ok_or_else(|| malformed("maps", line)))
        .collect()
}

/// Where brk(2) starts from.
pub fn heap_start(pid: Pid) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    parse_heap_start(&text).ok_or_else(|| malformed("stat", &text))
}

/// `start_brk` is field 47; the second field, the name in parentheses, may hold anything.
fn parse_heap_start(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(47 - 3)?.parse().ok()
}

fn malformed(file: &str, text: &str) -> io::Error {
    io::Error::other(format!("cannot read /proc/PID/{file}: {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_with_spaces_in_its_path_is_read() {
        let line = "7ffff7fc5000-7ffff7fc6000 r-xp 00001000 fe:00 262 /tmp/a b";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!((mapping.start, mapping.end), (0x7ffff7fc5000, 0x7ffff7fc6000));
        assert_eq!((mapping.read, mapping.write, mapping.execute), (true, false, true));
        assert_eq!((mapping.name.as_str(), mapping.offset), ("/tmp/a b", 0x1000));
    }

    #[test]
    fn anonymous_and_kernel_mappings_are_told_apart() {
        assert_eq!(Mapping::parse("1000-2000 rw-p 00000000 00:00 0 ").unwrap().name, "");
        let vdso = "7ffff7fc3000-7ffff7fc5000 r-xp 00000000 00:00 0                  [vdso]";
        assert!(Mapping::parse(vdso).unwrap().is_kernel_page());
        assert_eq!(Mapping::parse("nonsense"), None);
    }

    #[test]
    fn the_heap_start_is_found_behind_a_strange_process_name() {
        let mut stat = String::from("17 (a) 1 b)");
        for field in 3..=52 {
            stat.push_str(&format!(" {}", field * 10));
        }
        assert_eq!(parse_heap_start(&stat), Some(470));
    }
}
