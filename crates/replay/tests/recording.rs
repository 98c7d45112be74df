//! Recordings of real runs: every instant is the one that a run from the start would have passed through.

use linux::{Config, Exit, Process};
use machine::{Cpu, Observer, Time, Unwatched};
use replay::{Options, Recording};

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
    let recording = Recording::make(process.fork(), Time(u64::MAX));
    assert_eq!(recording.checkpoints().1, 0, "all is in memory");
    instants_are_those_of(&mut process, recording);
}

#[test]
fn pages_that_went_to_a_file_come_back() {
    let mut process = sort();
    let options = Options { memory: 1 << 20, ..Options::default() };
    let recording = Recording::make(process.fork(), options);
    let (count, spilled) = recording.checkpoints();
    assert!(spilled > count / 2, "{spilled} of {count} checkpoints are in a file");
    instants_are_those_of(&mut process, recording);
}

#[test]
fn a_recording_does_without_a_file_that_cannot_be_made() {
    let mut process = sort();
    let options = Options { memory: 0, directory: "/nowhere".into(), ..Options::default() };
    let recording = Recording::make(process.fork(), options);
    assert_eq!(recording.checkpoints().1, 0);
    instants_are_those_of(&mut process, recording);
}

/// Takes the process through its run and compares it with states of the recording, asked for in another order.
fn instants_are_those_of(process: &mut Process, mut recording: Recording) {
    assert!(matches!(recording.exit(), Exit::Exited(0)), "{:?}", recording.exit());
    let end = recording.end();
    assert!(end > Time(5_000_000), "{end:?}");
    let times = (0..40u64).map(|n| Time(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % end.0));
    let mut asked: Vec<(Time, u64)> = times.map(|time| (time, recording.at(time).state_hash())).collect();
    asked.sort();
    for (time, hash) in asked {
        process.run(time, &mut Unwatched);
        assert_eq!(hash, process.state_hash(), "{time:?}");
    }
    process.run(end, &mut Unwatched);
    assert_eq!(recording.at(Time(u64::MAX)).state_hash(), process.state_hash());
}

#[test]
fn the_number_of_checkpoints_is_bounded() {
    let mut short = Recording::make(sort(), Time(4_000_000));
    let mut long = Recording::make(sort(), Time(u64::MAX));
    assert!(short.checkpoints().0 <= 32 && long.checkpoints().0 <= 32);
    assert!(long.checkpoints().0 >= 4, "{:?}", long.checkpoints());
    assert_eq!(long.at(Time(4_000_000)).state_hash(), short.at(Time(4_000_000)).state_hash());
}

#[test]
fn a_forward_pass_sees_what_a_backward_pass_sees() {
    let mut recording = Recording::make(sort(), Time(u64::MAX));
    let (from, to) = (Time(1_000_003), Time(3_000_017));
    let mut forward = Vec::new();
    recording.forward(from..to, |segment| {
        for executed in segment.trace.forward().flat_map(|pass| pass.forward().collect::<Vec<_>>()) {
            forward.push((executed.time, executed.address, executed.words.to_vec()));
        }
        true
    });
    let mut backward = Vec::new();
    recording.backward(to, |segment| {
        for executed in segment.trace.backward().flat_map(|pass| pass.backward().collect::<Vec<_>>()) {
            backward.push((executed.time, executed.address, executed.words.to_vec()));
        }
        segment.start > from
    });
    backward.reverse();
    let missing = backward.len() - forward.len();
    assert_eq!(forward.len() as u64, to.0 - from.0);
    assert!(forward == backward[missing..]);
}

#[test]
fn a_stretch_can_be_watched() {
    struct Count(u64, Time);
    impl Observer for Count {
        fn instruction(&mut self, time: Time, _: u64, _: &[lift::Op], _: &Cpu) {
            assert_eq!(time, Time(self.1.0 + self.0));
            self.0 += 1;
        }
    }
    let mut recording = Recording::make(sort(), Time(u64::MAX));
    let mut count = Count(0, Time(2_345_678));
    recording.events(Time(2_345_678)..Time(2_345_999), &mut count);
    assert_eq!(count.0, 321);
}

#[test]
fn a_backward_pass_covers_the_run_without_gaps() {
    backward_pass_covers(Options::default());
    backward_pass_covers(Options { memory: 1 << 20, ..Options::default() });
}

fn backward_pass_covers(options: Options) {
    let mut recording = Recording::make(sort(), options);
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

#[test]
fn a_pass_shows_how_far_it_has_come() {
    let mut recording = Recording::make(sort(), Time(u64::MAX));
    let gauge = recording.gauge();
    assert_eq!(gauge.percent(), None);
    let end = recording.end();
    for backward in [true, false] {
        let mut shown = Vec::new();
        let mut look = || {
            shown.extend(gauge.percent());
            true
        };
        match backward {
            true => recording.backward(end, |_| look()),
            false => recording.forward(Time(0)..end, |_| look()),
        }
        assert!(shown.is_sorted() && shown.first() == Some(&0) && shown.last() > Some(&85), "{shown:?}");
        assert!(shown.iter().any(|percent| (30..70).contains(percent)), "{shown:?}");
    }
}

#[test]
fn a_recording_knows_when_a_run_has_begun_to_repeat_itself() {
    let mut config = Config::new("/usr/bin/yes");
    config.argv = vec![b"yes".to_vec()];
    let recording = Recording::make(Process::load(&config).unwrap(), Time(5_000_000));
    assert_eq!(recording.end(), Time(5_000_000));
    let news = recording.last_news();
    assert!(news > Time(50_000) && news < Time(3_000_000), "{news:?}");
}
