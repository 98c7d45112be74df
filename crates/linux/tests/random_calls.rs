//! System calls with arguments that make no sense: nothing panics, nothing takes long, nothing outside changes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use linux::fs::Credentials;
use linux::{Config, Process};
use machine::{Backing, Core, Permissions, Region, Time};

const SCRATCH: u64 = 0x10_0000;
const LENGTH: u64 = 0x10_0000;

/// A small deterministic generator; the test needs variety, not quality.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 31
    }

    fn pick(&mut self, choices: &[u64]) -> u64 {
        choices[self.next() as usize % choices.len()]
    }

    fn argument(&mut self) -> u64 {
        const ODD: [u64; 18] = [
            0,
            1,
            2,
            3,
            7,
            4095,
            4096,
            0x1000_0000,
            1 << 31,
            1 << 32,
            1 << 40,
            (1 << 44) - 4096,
            (1 << 47) - 4096,
            i64::MAX as u64,
            i64::MAX as u64 - 4095,
            1 << 63,
            u64::MAX - 4095,
            u64::MAX,
        ];
        match self.next() % 8 {
            0 => self.pick(&ODD),
            1 => self.pick(&ODD).wrapping_add(self.next() % 64).wrapping_sub(32),
            2 | 3 => SCRATCH + self.next() % (LENGTH + 4096),
            4 => SCRATCH + (self.next() % 256) * 4096,
            5 => self.next() % 40,
            6 => 1 << (self.next() % 64),
            _ => self.next(),
        }
    }
}

/// Paths, small numbers and pointers, so that some arguments mean something.
fn fill(random: &mut Random) -> Vec<u8> {
    const PATHS: [&str; 14] = [
        "f",
        "g",
        "d",
        "d/f",
        "../..",
        ".",
        "/",
        "/proc/self/fd/3",
        "/proc/self/maps",
        "/proc/self/exe",
        "/dev/zero",
        "/dev/urandom",
        "l/",
        "",
    ];
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < LENGTH {
        match random.next() % 3 {
            0 => bytes.extend(PATHS[random.next() as usize % PATHS.len()].bytes().chain([0])),
            1 => bytes.extend(random.argument().to_le_bytes()),
            _ => bytes.extend([0; 16]),
        }
    }
    bytes.truncate(LENGTH as usize);
    bytes
}

fn calls(seed: u64, count: u32, directory: &std::path::Path) {
    let mut random = Random(seed);
    let mut config = Config::new("/bin/true");
    config.cwd = directory.to_path_buf();
    config.max_memory = 64 << 20;
    config.max_output = 1 << 20;
    config.stdin = Arc::new(b"input".to_vec());
    config.credentials = Credentials { user: 0, group: 0, groups: [].into() };
    let mut process = Process::load(&config).unwrap();
    let region = Region {
        start: SCRATCH,
        end: SCRATCH + LENGTH,
        permissions: Permissions::RW,
        backing: Backing::Zero,
        name: "".into(),
        shared: false,
    };
    let mut slowest = (Duration::ZERO, 0, [0; 6]);
    for step in 0..count {
        let Core { cpu, memory, .. } = &mut *process.machine;
        if step % 500 == 0 {
            // Calls may have unmapped or overwritten it.
            memory.map(region.clone());
            memory.write(SCRATCH, &fill(&mut random)).unwrap();
        }
        let number = match random.next() % 4 {
            // Those that matter most: memory, and what mapped files go with.
            0 => random.pick(&[9, 10, 11, 12, 25, 28, 26, 27, 319, 76, 77, 285]),
            1 => random.pick(&[0, 1, 2, 17, 18, 19, 20, 8, 32, 40, 326, 217, 257, 82, 86, 83, 22]),
            _ => random.next() % 460,
        };
        let arguments = std::array::from_fn(|_| random.argument());
        let started = Instant::now();
        let _ = process.kernel.serve(memory, cpu, Time(u64::from(step)), number, arguments);
        slowest = slowest.max((started.elapsed(), number, arguments));
        process.kernel.ended = None;
    }
    assert!(slowest.0 < Duration::from_secs(20), "{slowest:x?}");
    process.state_hash();
    let _ = process.kernel.files.changed_files();
}

#[test]
fn random_system_calls_do_no_harm() {
    let directory = std::env::temp_dir().join(format!("whydunit-random-calls-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("f"), vec![7; 100_000]).unwrap();
    std::fs::write(directory.join("g"), b"").unwrap();
    std::os::unix::fs::symlink("d", directory.join("l")).unwrap();
    let seeds = std::env::var("RANDOM_CALLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    for seed in 0..seeds {
        calls(seed, 20_000, &directory);
    }
    let mut names: Vec<_> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["f", "g", "l"]);
    assert_eq!(std::fs::read(directory.join("f")).unwrap(), vec![7; 100_000]);
    std::fs::remove_dir_all(directory).unwrap();
}
