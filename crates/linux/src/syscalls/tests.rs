//! Whatever a guest asks for, the kernel answers: calls with random arguments.

use super::*;
use crate::fs::RandomStream;
use crate::testing::{Rig, SCRATCH, SCRATCH_LENGTH};

/// Numbers that calls are apt to trip over.
const CORNERS: [u64; 24] = [
    0,
    1,
    2,
    3,
    8,
    0xfff,
    0x1000,
    0x1001,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xffff_ff9c,
    0x1_0000_0000,
    0x7fff_ffff_efff,
    0x7fff_ffff_f000,
    0x8000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX - 0xfff,
    u64::MAX - 99,
    u64::MAX,
    SCRATCH,
    SCRATCH + SCRATCH_LENGTH - 1,
    SCRATCH + SCRATCH_LENGTH,
];

const PATHS: [&[u8]; 10] = [
    b"/tmp/random",
    b"/tmp/random/below",
    b"/tmp",
    b"/",
    b"",
    b".",
    b"/proc/self/maps",
    b"/proc/self/fd/3",
    b"/dev/zero",
    b"/etc/passwd",
];

struct Generator(RandomStream);

impl Generator {
    fn number(&mut self, bound: u64) -> u64 {
        u64::from_le_bytes(self.0.bytes(8).try_into().unwrap()) % bound
    }

    fn argument(&mut self) -> u64 {
        match self.number(8) {
            0 | 1 => SCRATCH + self.number(PATHS.len() as u64) * 0x100,
            2 | 3 => SCRATCH + self.number(SCRATCH_LENGTH),
            4 => self.number(12),
            5 => 1 << self.number(64),
            6 => self.number(0x2000),
            _ => CORNERS[self.number(CORNERS.len() as u64) as usize],
        }
    }
}

#[test]
fn random_calls_are_answered() {
    for seed in 0..1500 {
        let mut random = RandomStream::default();
        random.bytes(8 * 31 * seed);
        let mut generator = Generator(random);
        let mut rig = Rig::new();
        for _ in 0..400 {
            for (index, path) in PATHS.iter().enumerate() {
                let _ = rig.memory.write(SCRATCH + index as u64 * 0x100, &[path, &b"\0"[..]].concat());
            }
            let noise = generator.0.bytes(256);
            let _ = rig.memory.write(SCRATCH + 0x4000 + generator.number(0x8000), &noise);
            let number = match generator.number(20) {
                0 => generator.argument(),
                1 => nr::mmap,
                2 => nr::open,
                3 => nr::mremap,
                _ => generator.number(451),
            };
            let args: Vec<u64> = (0..6).map(|_| generator.argument()).collect();
            let result = rig.call(number, &args);
            if let Err(errno) = result {
                assert!(errno.name().is_some(), "{number} {args:x?}: {errno:?}");
            }
            if rig.kernel.ended.take().is_some() {
                rig.kernel.output = Default::default();
            }
        }
    }
}
