//! Recordings of real runs: every instant is the one that a run from the start would have passed through.

use linux::{Config, Exit, Process};
use machine::{Time, Unwatched};
use replay::Recording;

fn sort() -> Process {
    let text: Vec<u8> =
        (0..20_000u64).flat_map(|n| format!("{:x}\n", n.wrapping_mul(0x9e37_79b9)).into_bytes()).collect();
    let mut config = Config::new("/usr/bin/sort");
    config.argv = vec![b"sort".to_vec()];
    config.env = vec![b"LC_ALL=C".to_vec()];
    config.stdin = text.into();
    Process::load(&config).unwrap()
}

#[test]
fn any_instant_can_be_had_again() {
    let mut process = sort();
    let mut recording = Recording::make(process.fork(), Time(u64::MAX));
    assert!(matches!(recording.exit(), Exit::Exited(0)), "{:?}", recording.exit());
    let end = recording.end();
    assert!(end > Time(5_000_000), "{end:?}");
    let mut times: Vec<Time> =
        (0..40u64).map(|n| Time(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % end.0)).collect();
    times.sort();
    for time in times {
        process.run(time, &mut Unwatched);
        assert_eq!(recording.at(time).state_hash(), process.state_hash(), "{time:?}");
    }
    process.run(end, &mut Unwatched);
    assert_eq!(recording.at(Time(u64::MAX)).state_hash(), process.state_hash());
}

#[test]
fn a_backward_pass_covers_the_run_without_gaps() {
    let mut recording = Recording::make(sort(), Time(u64::MAX));
    let mut end = recording.end();
    let mut instructions = 0;
    recording.backward(end, |segment| {
        assert_eq!(segment.end, end);
        assert_eq!(segment.trace.length(), end.0 - segment.start.0, "from {:?} to {end:?}", segment.start);
        assert_eq!(segment.before.machine.time, segment.start);
        let mut time = end;
        for pass in segment.trace.backward() {
            for executed in pass.backward() {
                time.0 -= 1;
                assert_eq!(executed.time, time);
                instructions += 1;
            }
        }
        end = segment.start;
        true
    });
    assert_eq!((end, instructions), (Time(0), recording.end().0));
}
