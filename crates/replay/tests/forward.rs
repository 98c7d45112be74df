//! Forward slices, chops and bidirectional slices: that they are the inverse of backward ones, with the answers that a
//! person gives for small programs.

mod guest;
mod naive;

use std::collections::BTreeSet;

use guest::{Guest, argument, lines};
use linux::Place;
use linux::fs::Stream;
use machine::{Executed, Time, Trace};
use naive::Random;
use program::{Scope, State};
use replay::{
    Backward, Cell, Code, Follow, Question, Recording, Seed, SeedKind, Segment, Slice, StmtId, Unseen, Watch,
    accesses,
};

/// The instants at which something was made that came from a criterion.
#[derive(Default)]
struct Carried(BTreeSet<Time>);

impl Watch for Carried {
    const WATCHES: bool = false;

    fn carried(&mut self, time: Time) {
        self.0.insert(time);
    }
}

/// What an instruction wrote; `None` of those that do more than that.
fn results(executed: &Executed<'_>) -> Option<Vec<Cell>> {
    use lift::{Op, Reg};
    let is_more = |op: &Op| op.ends_block() || matches!(op, Op::String { .. } | Op::Helper { .. });
    if executed.ops.iter().any(is_more) {
        return None;
    }
    let mut cells = Vec::new();
    for op in executed.ops {
        op.writes(|reg| {
            if !reg.is_temp() && reg != Reg::RSP && reg != Reg::MXCSR {
                cells.push(Cell::Register(reg, 0xff));
            }
        });
    }
    for access in accesses(executed).into_iter().filter(|access| access.write) {
        let (address, length) = (access.range.start, access.range.end - access.range.start);
        cells.push(Cell::Memory { address, length });
    }
    Some(cells).filter(|cells| !cells.is_empty())
}

/// What an instruction of the program at this time wrote, if that is a step of the program.
fn step_at(recording: &mut Recording, code: &mut Code<'_>, time: Time) -> Option<Vec<Cell>> {
    let mut found = None;
    recording.forward(time..Time(time.0 + 1), |segment| {
        for pass in segment.trace.forward() {
            let block = code.block(&pass);
            let known = &block.instructions[pass.instructions().start];
            let executed = pass.forward().next().unwrap();
            if block.in_scope && known.at.stmt != StmtId::NONE && !known.is_transit {
                found = results(&executed);
            }
        }
        false
    });
    found
}

/// Whether the instruction at `x` is in the backward slice of what the one at `y` wrote.
fn leads_back(recording: &mut Recording, code: &mut Code<'_>, cells: &[Cell], x: Time, y: Time) -> bool {
    let at = recording.at(Time(y.0 + 1));
    let mut watch = Unseen;
    // What was there from the beginning counts as given before.
    let begin = Time(x.0 - 1);
    let mut pass = Backward::new(code, &State::of(&at.machine), begin, Follow::Full, &mut watch);
    cells.iter().for_each(|cell| pass.ask(*cell));
    let mut before = recording.at(x);
    let (mut trace, mut calls) = (Trace::new(), Vec::new());
    before.fork().run_followed(Time(y.0 + 1), &mut trace, &mut calls);
    pass.pass(Segment { before: &mut before, start: x, end: Time(y.0 + 1), trace: &trace, calls: &calls });
    pass.finish().statements.values().any(|share| share.first == x && share.instances > 0)
}

/// Asks about random pairs of instructions; how many of them had to do with each other.
fn check_pairs(guest: &mut Guest, name: &str, seed: u64, makers: u64) -> [u64; 2] {
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let Guest { recording, .. } = guest;
    let (begin, end) = (recording.program_start(), recording.end());
    let mut random = Random::new(seed);
    let mut counts = [0; 2];
    let mut in_scope = Vec::new();
    recording.forward(begin..end, |segment| {
        for pass in segment.trace.forward() {
            let block = code.block(&pass);
            let times = (pass.time.0..).take(pass.instructions().len());
            in_scope.extend(times.filter(|_| block.in_scope));
        }
        true
    });
    let mut made = 0;
    for _ in 0..makers * 20 {
        let x = Time(in_scope[random.below(in_scope.len() as u64) as usize]);
        let Some(cells) = step_at(recording, &mut code, x).filter(|_| made < makers) else { continue };
        made += 1;
        let criterion = Seed { time: Time(x.0 + 1), kind: SeedKind::Cells(cells) };
        let mut carried = Carried::default();
        recording.forward_slice(&mut code, &[criterion], Follow::Full, &mut carried);
        let carried_in_scope: Vec<u64> =
            in_scope.iter().copied().filter(|time| carried.0.contains(&Time(*time))).collect();
        for number in 0..24 {
            // Half of them of what is said to have come of it.
            let among = if number % 2 == 0 { &carried_in_scope } else { &in_scope };
            let Some(y) = among.get(random.below(among.len() as u64) as usize).copied().map(Time) else {
                continue;
            };
            let Some(cells) = step_at(recording, &mut code, y).filter(|_| y > x) else { continue };
            let is_in = carried.0.contains(&y);
            let leads = leads_back(recording, &mut code, &cells, x, y);
            assert_eq!(
                is_in, leads,
                "{name}: what was made at {y:?} from what was made at {x:?}, forwards and backwards"
            );
            counts[usize::from(is_in)] += 1;
        }
    }
    counts
}

#[test]
fn what_came_of_something_is_what_it_is_in_the_slice_of() {
    let mut counts = [0; 2];
    for (source, compiler, level, arguments) in [
        ("two_parts.c", "gcc", "-O0", &["2", "1"][..]),
        ("steps.c", "clang", "-O1", &["2", "abc"]),
        ("ways.c", "gcc", "-O1", &["depth", "30"]),
        ("ways.c", "gcc", "-O0", &["jump", "6"]),
        ("ways.c", "clang", "-O0", &["nest", "4"]),
        ("ways.c", "gcc", "-O2", &["machine", "abbabac"]),
        ("sums.c", "gcc", "-O0", &[]),
        ("channels.c", "gcc", "-O0", &["pipe", "xy"]),
    ] {
        let mut guest = Guest::compile_by(compiler, source, &[level], arguments);
        let found = check_pairs(&mut guest, &format!("{source} {arguments:?}"), 5, 12);
        counts.iter_mut().zip(found).for_each(|(all, more)| *all += more);
    }
    println!("{} pairs of instructions, {} have to do with each other", counts[0] + counts[1], counts[1]);
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// What came of an argument.
fn from_argument(guest: &mut Guest, number: u64) -> Vec<Seed> {
    let (address, length) = argument(&mut guest.recording, number).unwrap();
    let kind = SeedKind::Cells(vec![Cell::Memory { address, length }]);
    vec![Seed { time: guest.recording.program_start(), kind }]
}

fn forward(guest: &mut Guest, criteria: &[Seed], follow: Follow) -> Slice {
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    guest.recording.forward_slice(&mut code, criteria, follow, &mut Unseen)
}

/// The times at which a line's first instruction ran.
fn arrivals(guest: &mut Guest, line: u32) -> Vec<Time> {
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let (begin, end) = (guest.recording.program_start(), guest.recording.end());
    let (mut found, mut last) = (Vec::new(), None);
    guest.recording.forward(begin..end, |segment| {
        for pass in segment.trace.forward() {
            let block = code.block(&pass);
            for (executed, index) in pass.forward().zip(pass.instructions()) {
                let stmt = code.statement(block.instructions[index].at.stmt).map(|stmt| stmt.line);
                if stmt == Some(line) && last != stmt {
                    found.push(executed.time);
                }
                last = stmt.or(last);
            }
        }
        true
    });
    found
}

/// The branch of a line's execution that begins at this time.
fn branch_from(guest: &mut Guest, time: Time) -> Seed {
    let mut found = None;
    guest.recording.forward(time..Time(time.0 + 64), |segment| {
        let all = segment.trace.forward().flat_map(|pass| pass.forward().collect::<Vec<_>>());
        let mut branches =
            all.filter(|executed| matches!(executed.ops.last(), Some(lift::Op::Branch { .. })));
        found = branches.next().map(|executed| executed.time);
        false
    });
    Seed { time: found.unwrap(), kind: SeedKind::Decision }
}

fn expect(slice: &Slice, expected: &[u32]) {
    assert_eq!(lines(slice.statements.keys()), BTreeSet::from_iter(expected.iter().copied()));
}

#[test]
fn what_comes_of_an_argument_goes_by_data_and_by_conditions() {
    let mut guest = Guest::compile("two_parts.c", &["-O0"], &["2", "1"]);
    let criteria = from_argument(&mut guest, 1);
    let data = forward(&mut guest, &criteria, Follow::Data);
    // The comparisons are computed from it as well.
    expect(&data, &[5, 6, 10, 11, 12, 15, 16, 17, 18, 21]);
    assert_eq!(data.decisions, 0);
    let full = forward(&mut guest, &criteria, Follow::Full);
    expect(&full, &[5, 6, 10, 11, 12, 15, 16, 17, 18, 21]);
    assert_eq!(full.decisions, 2);
}

#[test]
fn what_a_condition_decides_is_what_comes_of_it() {
    let mut guest = Guest::compile("two_parts.c", &["-O0"], &["2", "1"]);
    let time = arrivals(&mut guest, 12)[0];
    let condition = branch_from(&mut guest, time);
    let slice = forward(&mut guest, std::slice::from_ref(&condition), Follow::Full);
    expect(&slice, &[12, 15, 21]);
    assert_eq!(lines(slice.data_part()), BTreeSet::from([12]));
    assert_eq!(slice.statements.iter().find(|(stmt, _)| stmt.line == 15).unwrap().1.distance, 1);
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let both = guest.recording.both_ways(&mut code, &condition, &mut Unseen);
    expect(&both.backward, &[5, 10, 11, 12]);
    expect(&both.all(), &[5, 10, 11, 12, 15, 21]);
    // The condition is under way at the instant, and one execution all the same.
    assert!(both.all().statements.values().all(|share| share.instances == 1));
}

#[test]
fn a_chop_has_what_lies_between_and_nothing_else() {
    let mut guest = Guest::compile("two_parts.c", &["-O0"], &["2", "1"]);
    let time = arrivals(&mut guest, 16)[0];
    let place = Place::Output { stream: Stream::Stdout, offset: 0 };
    let end = guest.recording.end();
    let output = Question { time: end, cells: vec![Cell::Kernel { place, length: 1 }], why_here: false };
    let inputs = from_argument(&mut guest, 2);
    let decided = arrivals(&mut guest, 12)[0];
    let condition = branch_from(&mut guest, decided);
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let statement = Seed { time, kind: SeedKind::Statement };
    let chop = guest.recording.chop(&mut code, &[statement], std::slice::from_ref(&output), &mut Unseen);
    expect(&chop, &[6, 16, 17, 18, 21]);
    assert_eq!((chop.decisions, chop.sources.len()), (1, 0));
    let inducing = guest.recording.chop(&mut code, &inputs, &[output], &mut Unseen);
    expect(&inducing, &[5, 6, 10, 11, 12, 15, 16, 17, 18, 21]);
    let both = guest.recording.both_ways(&mut code, &condition, &mut Unseen);
    expect(&both.chop(&inducing), &[5, 10, 11, 12, 15, 21]);
}

#[test]
fn what_goes_through_the_kernel_is_followed_and_what_a_library_keeps_is_not() {
    let mut guest = Guest::compile("channels.c", &["-O0"], &["pipe", "xy"]);
    let criteria = from_argument(&mut guest, 2);
    let slice = forward(&mut guest, &criteria, Follow::Data);
    assert!(slice.contains(32) && slice.contains(33), "{:?}", lines(slice.statements.keys()));
    // Line 26 and line 31 put something out to the same stream: its place in the buffer is followed as the value that it is,
    // but neither an address nor a condition.
    let mut guest = Guest::compile("steps.c", &["-O0"], &["2", "abc"]);
    let time = arrivals(&mut guest, 26)[0];
    let slice = forward(&mut guest, &[Seed { time, kind: SeedKind::Statement }], Follow::Full);
    expect(&slice, &[26, 31]);
    assert_eq!(lines(slice.select_part()), BTreeSet::new());
}

/// What is usual for activations: those of the program, of the C library's output and of what is called at the end.
const FEW: usize = 24;

#[test]
fn little_is_kept_about_control_however_long_and_deep_a_run_goes() {
    let long = if std::env::var_os("WHYDUNIT_LONG").is_some() { "10000000" } else { "1000000" };
    for (way, given, activations, regions, expected) in [
        ("depth", "20000", 20_000 + FEW, 8, &[11, 12, 13, 14, 15, 117, 120, 133][..]),
        ("find", "9", FEW, 8, &[20, 21, 22, 117, 122, 133]),
        ("jump", "5000", FEW, 8, &[28, 29, 30, 31, 38, 39, 40, 41, 43, 44, 46, 117, 124, 133]),
        ("loop", long, FEW, 8, &[71, 72, 73, 74, 76, 117, 128, 133]),
        ("nest", "12", FEW, 12, &[82, 83, 84, 86, 88, 90, 93, 96, 117, 130, 133]),
    ] {
        // The loader is not to look up names meanwhile: it saves all registers, whatever they hold.
        let mut guest = Guest::compile("ways.c", &["-O0", "-Wl,-z,now"], &[way, given]);
        let time = arrivals(&mut guest, 117)[0];
        let slice = forward(&mut guest, &[Seed { time, kind: SeedKind::Statement }], Follow::Full);
        println!("{way}: {:?} {:?}", lines(slice.statements.keys()), slice.stacks);
        assert!(slice.stacks.activations <= activations, "{way}: {:?}", slice.stacks);
        assert!(slice.stacks.waiting <= regions, "{way}: {:?}", slice.stacks);
        expect(&slice, expected);
    }
}
