//! Executables of any content, loaded by the machine's kernel, with the heap checked (which looks at symbols), and run a little.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use linux::fs::{Capsule, HostEntry, HostPath, Timestamp};
use linux::{Config, HeapMode, Process};
use machine::{Time, Unwatched};

const MEMORY: u64 = 64 << 20;
const INSTRUCTIONS: Time = Time(500);

fn entry(mode: u32, size: usize) -> HostEntry {
    let time = Timestamp { seconds: 0, nanoseconds: 0 };
    HostEntry {
        mode,
        user: 1000,
        group: 1000,
        links: 1,
        size: size as u64,
        blocks: 8,
        device: 1,
        inode: 1,
        special_device: 0,
        access: time,
        modification: time,
        change: time,
        target: b"".as_slice().into(),
    }
}

/// A host that has the program twice: a program can name itself as its interpreter, or the other.
fn host(data: &[u8]) -> Capsule {
    let path = |text: &str| -> HostPath { text.as_bytes().into() };
    let content = Arc::new(data.to_vec());
    let mut capsule = Capsule::default();
    capsule.entries.insert(path("/"), Ok(entry(0o40755, 0)));
    for name in ["/p", "/i"] {
        capsule.entries.insert(path(name), Ok(entry(0o100755, data.len())));
        capsule.contents.insert(path(name), Ok(content.clone()));
    }
    capsule
}

fuzz_target!(|data: &[u8]| {
    let config = Config { max_memory: MEMORY, heap: HeapMode::Checked, ..Config::new("/p") };
    match Process::load_in_capsule(&config, Arc::new(host(data))) {
        Ok(mut process) => {
            process.run(INSTRUCTIONS, &mut Unwatched);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
