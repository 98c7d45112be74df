//! A kernel with a scratch page, for tests that make system calls without a program; and programs made byte by
//! byte, for tests of loading and running.

use std::sync::Arc;

use lift::Reg;
use machine::{Backing, Cpu, Memory, PAGE_SIZE, Permissions, Region, Time};

use crate::clock::DEFAULT_START;
use crate::errno::Errno;
use crate::fs::tests::Scratch;
use crate::fs::{Credentials, FileSystem, Host, Pieces, Setup, StandardStreams, Timestamp};
use crate::kernel::{Command, Kernel, Limits, PID, SysResult};
use crate::syscalls::nr;

/// Where the scratch region of 64 KiB lies.
pub const SCRATCH: u64 = 0x10_0000;
pub const SCRATCH_LENGTH: u64 = 0x1_0000;

pub struct Rig {
    pub kernel: Kernel,
    pub memory: Memory,
    pub cpu: Cpu,
}

impl Rig {
    pub fn new() -> Rig {
        let mut memory = Memory::new(64 << 20);
        memory.map(Region {
            start: SCRATCH,
            end: SCRATCH + SCRATCH_LENGTH,
            permissions: Permissions::RW,
            backing: Backing::Zero,
            name: "".into(),
            shared: false,
        });
        let limits = Limits { memory: 64 << 20, output: 1 << 20 };
        let setup = Setup {
            credentials: Credentials { user: 1000, group: 1000, groups: [].into() },
            working_directory: b"/".to_vec(),
            process: PID,
            standard_input: Arc::default(),
            input_open: false,
            input_pieces: Pieces::Chunks,
            input_file: None,
            streams: StandardStreams::Pipes,
            overlay_limit: limits.memory,
            memory_total: limits.memory,
            now: Timestamp::default(),
            host: Host::default(),
        };
        let files = FileSystem::new(&setup).unwrap();
        Rig {
            kernel: Kernel::new(Command::default(), files, limits, DEFAULT_START),
            memory,
            cpu: Cpu::default(),
        }
    }

    /// A kernel as root, with a directory of the host as its working directory.
    pub fn over(scratch: &Scratch) -> Rig {
        let mut rig = Rig::new();
        rig.kernel.files = scratch.world();
        rig
    }

    /// Puts a string at the end of the scratch region and returns its address.
    pub fn string(&mut self, text: &str) -> u64 {
        let address = SCRATCH + SCRATCH_LENGTH - 0x1000;
        self.put(address, text.as_bytes());
        self.put(address + text.len() as u64, &[0]);
        address
    }

    /// Opens a file and returns its descriptor.
    pub fn open(&mut self, path: &str, flags: u32) -> SysResult {
        let path = self.string(path);
        self.call(nr::open, &[path, u64::from(flags), 0o644])
    }

    /// Makes a system call with up to six arguments.
    pub fn call(&mut self, number: u64, args: &[u64]) -> SysResult {
        let mut all = [0; 6];
        for (to, from) in all.iter_mut().zip(args) {
            *to = *from;
        }
        let result = self.kernel.serve(&mut self.memory, &mut self.cpu, Time(1), number, all);
        if number != nr::rt_sigreturn {
            self.cpu.set(Reg::RAX, result.unwrap_or_else(Errno::as_return_value));
        }
        if !self.kernel.waiting {
            self.kernel.deliver_into(&mut self.memory, &mut self.cpu, Time(1), Some(number));
        }
        result
    }

    /// Puts bytes into guest memory.
    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        self.memory.write(address, bytes).unwrap();
    }

    /// Bytes of guest memory.
    pub fn get(&mut self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.memory.read(address, &mut bytes).unwrap();
        bytes
    }

    pub fn get_u64(&mut self, address: u64) -> u64 {
        u64::from_le_bytes(self.get(address, 8).try_into().unwrap())
    }

    pub fn get_u32(&mut self, address: u64) -> u32 {
        u32::from_le_bytes(self.get(address, 4).try_into().unwrap())
    }
}

/// The two types of programs.
pub const FIXED: u16 = 2;
pub const RELOCATABLE: u16 = 3;

/// A loadable segment of a program made here.
pub struct Segment {
    pub address: u64,
    pub offset: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub flags: u32,
}

/// A program with the given segments, its headers in the first page and 0x90 in all the rest.
pub fn program(kind: u16, entry: u64, interpreter: Option<&str>, segments: &[Segment]) -> Vec<u8> {
    let mut headers = Vec::new();
    let mut header = |kind: u32, segment: &Segment| {
        headers.extend(kind.to_le_bytes());
        headers.extend(segment.flags.to_le_bytes());
        for field in [
            segment.offset,
            segment.address,
            segment.address,
            segment.file_size,
            segment.memory_size,
            PAGE_SIZE,
        ] {
            headers.extend(field.to_le_bytes());
        }
    };
    let path = interpreter.map(|path| format!("{path}\0"));
    if let Some(path) = &path {
        let length = path.len() as u64;
        header(3, &Segment { address: 0, offset: 2048, file_size: length, memory_size: length, flags: 4 });
    }
    segments.iter().for_each(|segment| header(1, segment));
    let count = segments.len() as u16 + u16::from(path.is_some());

    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend(kind.to_le_bytes());
    file.extend(62u16.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    file.extend([entry, 64, 0].iter().flat_map(|field| field.to_le_bytes()));
    file.extend(0u32.to_le_bytes());
    file.extend([64, 56, count, 0, 0, 0].iter().flat_map(|field: &u16| field.to_le_bytes()));
    file.extend(headers);
    file.resize(2048, 0);
    file.extend(path.unwrap_or_default().as_bytes());
    file.resize(3 * PAGE_SIZE as usize, 0x90);
    file
}
