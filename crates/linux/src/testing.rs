//! A kernel with a scratch page, for tests that make system calls without a program.

use std::sync::Arc;

use machine::{Backing, Cpu, Memory, Permissions, Region, Time};

use crate::clock::DEFAULT_START;
use crate::fs::{Credentials, FileSystem, Setup, StandardStreams, Timestamp};
use crate::kernel::{Command, Kernel, Limits, PID, SysResult};

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
            streams: StandardStreams::Pipes,
            overlay_limit: limits.memory,
            memory_total: limits.memory,
            now: Timestamp::default(),
        };
        let files = FileSystem::new(&setup).unwrap();
        Rig {
            kernel: Kernel::new(Command::default(), files, limits, DEFAULT_START),
            memory,
            cpu: Cpu::default(),
        }
    }

    /// Makes a system call with up to six arguments.
    pub fn call(&mut self, number: u64, args: &[u64]) -> SysResult {
        let mut all = [0; 6];
        for (to, from) in all.iter_mut().zip(args) {
            *to = *from;
        }
        self.kernel.serve(&mut self.memory, &mut self.cpu, Time(1), number, all)
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
