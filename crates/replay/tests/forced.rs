//! Conditions whose other side could have changed something, had conditions on that side gone another way, too.

mod guest;

use guest::Guest;
use linux::Place;
use linux::fs::Stream;
use replay::{Bounds, Cell, Follow, Made, Question, Share, Slice, Step, Strength, Tried, Unseen, Watch};

fn question(guest: &Guest) -> Question {
    let place = Place::Output { stream: Stream::Stdout, offset: 0 };
    let cells = vec![Cell::Kernel { place, length: 1 }];
    Question { time: guest.recording.end(), cells, why_here: false }
}

fn relevant(way: &str, optimisation: &str, bounds: Bounds) -> (Slice, Tried) {
    let mut guest = Guest::compile("forced.c", &[optimisation], &[way]);
    let question = question(&guest);
    let slice = guest.slice(&question, Follow::Relevant(bounds), &mut Unseen);
    let tried = slice.tried.unwrap();
    println!("{way}: {tried:?}");
    (slice, tried)
}

fn share(slice: &Slice, line: u32) -> Option<&Share> {
    slice.statements.iter().find(|(stmt, _)| stmt.line == line).map(|(_, share)| share)
}

#[test]
fn a_condition_is_weakly_relevant_if_only_forced_conditions_on_its_other_side_write_what_is_used() {
    for (way, line) in [("nested", 12), ("loop", 60), ("table", 70)] {
        let (slice, tried) = relevant(way, "-O0", Bounds::default());
        let share = share(&slice, line).unwrap_or_else(|| panic!("line {line} is in the slice of {way}"));
        assert_eq!((share.omissions, share.weak_omissions), (0, 1), "{way}");
        assert_eq!(tried.forced.telling, 1, "{way}");
        assert_eq!(tried.forced.left_out, 0, "{way}");
    }
}

#[test]
fn a_switch_is_relevant_if_another_of_its_cases_writes_what_is_used() {
    for (way, line, expected) in [("cases", 99, (1, 0)), ("inside", 113, (0, 1))] {
        for (compiler, options) in
            [("gcc", &["-O0"][..]), ("clang", &["-O0"]), ("gcc", &["-O0", "-fno-pie", "-no-pie"])]
        {
            let mut guest = Guest::compile_by(compiler, "forced.c", options, &[way]);
            let question = question(&guest);
            let slice = guest.slice(&question, Follow::Relevant(Bounds::default()), &mut Unseen);
            let share = share(&slice, line).unwrap_or_else(|| panic!("{way} by {compiler} {options:?}"));
            assert_eq!((share.omissions, share.weak_omissions), expected, "{way} by {compiler} {options:?}");
            let tried = slice.tried.unwrap();
            assert_eq!(tried.left_out, 0, "{way} by {compiler} {options:?}");
        }
    }
}

#[test]
fn a_condition_that_was_not_executed_is_not_in_the_slice() {
    let (slice, _) = relevant("nested", "-O0", Bounds::default());
    assert!(!slice.contains(13) && !slice.contains(14));
}

#[test]
fn the_steps_of_a_pass_say_how_strong_an_omission_is() {
    #[derive(Default)]
    struct Omissions(Vec<Strength>);
    impl Watch for Omissions {
        fn step(&mut self, step: Step) {
            if let Made::Omission(strength) = step.made {
                self.0.push(strength);
            }
        }
    }
    for (program, way, expected) in
        [("forced.c", &["nested"][..], Strength::Weak), ("forced.c", &["rounds"], Strength::Strong)]
    {
        let mut guest = Guest::compile(program, &["-O0"], way);
        let question = question(&guest);
        let mut seen = Omissions::default();
        guest.slice(&question, Follow::Relevant(Bounds::default()), &mut seen);
        assert!(seen.0.contains(&expected), "{way:?}: {:?}", seen.0);
    }
}

#[test]
fn forced_code_that_goes_wrong_ends_without_harm_and_is_counted() {
    // What main does is the same in all of them.
    let usual = relevant("nested", "-O0", Bounds::default()).1.forced;
    for (way, line) in [("wild", 21), ("loud", 32)] {
        let (slice, tried) = relevant(way, "-O0", Bounds::default());
        assert!(!slice.contains(line), "{way}");
        assert_eq!((tried.forced.ended, tried.forced.telling), (usual.ended + 1, 0), "{way}");
    }
    let (slice, tried) = relevant("slow", "-O0", Bounds::default());
    assert!(!slice.contains(49));
    assert_eq!((tried.forced.cut, tried.forced.telling), (usual.cut + 1, 0));
}

#[test]
fn what_the_bounds_cut_off_is_counted() {
    let (slice, tried) = relevant("table", "-O0", Bounds { ways: 2, ..Bounds::default() });
    assert!(!slice.contains(70));
    assert!(tried.forced.left_out >= 3, "{tried:?}");
    let (slice, tried) = relevant("nested", "-O0", Bounds { ways: 0, ..Bounds::default() });
    assert!(!slice.contains(12));
    assert!(tried.forced.ways == 0 && tried.forced.left_out > 0, "{tried:?}");
}

#[test]
fn an_experiment_in_a_frame_speaks_for_the_others() {
    let (_, tried) = relevant("rounds", "-O0", Bounds::default());
    assert!(tried.experiments > 1000 && tried.known > 990, "{tried:?}");
    assert!(tried.forced.ways < 100, "{tried:?}");
    // So they do not count for the bound.
    let (_, bounded) = relevant("rounds", "-O0", Bounds { experiments: 50, ..Bounds::default() });
    assert_eq!((bounded.experiments, bounded.left_out), (tried.experiments, 0));
    let (_, cut) = relevant("rounds", "-O0", Bounds { experiments: 2, ..Bounds::default() });
    assert!(cut.left_out > 0 && cut.experiments + cut.left_out == tried.experiments, "{cut:?}");
}

#[test]
fn two_passes_tell_the_same_and_so_do_two_recordings() {
    for way in ["nested", "table", "rounds", "wild"] {
        let mut guest = Guest::compile("forced.c", &["-O0"], &[way]);
        let question = question(&guest);
        let mut ask = || {
            let slice = guest.slice(&question, Follow::Relevant(Bounds::default()), &mut Unseen);
            (slice.statements, slice.sources, slice.tried)
        };
        let first = ask();
        assert_eq!(first, ask(), "{way}");
        let (slice, _) = relevant(way, "-O0", Bounds::default());
        assert_eq!(first, (slice.statements, slice.sources, slice.tried), "{way}");
    }
}
