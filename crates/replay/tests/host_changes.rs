//! A recording is of one world: what happens to files after it was made is not in it.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use linux::{Config, Exit, Process};
use machine::{Time, Unwatched};
use replay::Recording;

/// Reads a file that it lists in a directory, forgets it, and reads it again.
const SCRIPT: &str = "for n in 1 2 3; do for f in *; do read line < $f; echo $f $line; done; \
                      test -e later || echo none; i=0; while test $i -lt 3000; do i=$((i+1)); done; done";

#[test]
fn a_replay_finds_files_as_they_were() {
    let place = std::env::temp_dir().join(format!("whydunit-host-changes-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("a"), "first\n").unwrap();
    fs::write(place.join("b"), "second\n").unwrap();
    let mut config = Config::new("/bin/sh");
    config.argv = [b"sh", &b"-c"[..], SCRIPT.as_bytes()].map(<[u8]>::to_vec).to_vec();
    config.cwd = place.canonicalize().unwrap();
    let mut process = Process::load(&config).unwrap();
    let mut recording = Recording::make(process.fork(), Time(u64::MAX));
    assert!(matches!(recording.exit(), Exit::Exited(0)), "{:?}", recording.exit());
    let end = recording.end();
    assert!(end > Time(2_000_000), "{end:?}");

    fs::write(place.join("a"), "another\n").unwrap();
    fs::remove_file(place.join("b")).unwrap();
    fs::write(place.join("later"), "").unwrap();
    let again = process.run(Time(u64::MAX), &mut Unwatched);
    assert_eq!(again, *recording.exit());
    assert_eq!((process.machine.time, process.state_hash()), (end, recording.last().state_hash()));
    let mut middle = recording.at(Time(end.0 / 2));
    middle.run(Time(u64::MAX), &mut Unwatched);
    assert_eq!(middle.state_hash(), process.state_hash());
    let mut passed = 0;
    recording.backward(end, |segment| {
        passed += segment.trace.length();
        true
    });
    assert_eq!(passed, end.0);

    // A process that is loaded now is of the new world, or the test would show nothing.
    let mut fresh = Process::load(&config).unwrap();
    fresh.run(Time(u64::MAX), &mut Unwatched);
    let printed = |process: &Process| process.kernel.output.contents(linux::fs::Stream::Stdout);
    assert_ne!(printed(&fresh), printed(&process));
    assert_eq!(config.cwd.as_os_str().as_bytes(), process.kernel.files.working_directory().unwrap());
    fs::remove_dir_all(&place).unwrap();
}
