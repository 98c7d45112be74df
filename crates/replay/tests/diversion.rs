//! Runs that go another way: where they come to, what they write, and that the recording does not notice.

mod common;

use std::ops::Range;

use common::{Scratch, line_of, load_with_input, view};
use lift::{Op, Reg};
use linux::Exit;
use machine::{Action, Cpu, Intervention, Observer, Time};
use program::Program;
use replay::{Diversion, Flow, Outcome, Recording, RunId, Scanner};

const PROGRAM: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>
static int cells[8];
static char input[16];
static jmp_buf place;
static int depth(int n)
{
    int r = 0;
    if (n > 0) /* recursion */
        r = depth(n - 1) + 1;
    cells[n] = r; /* after recursion */
    return r;
}
static void fail(int how) { if (how) longjmp(place, 1); cells[7] = 1; }
static int jump(int how)
{
    if (how == 1) /* leave by jump */
        fail(1);
    cells[6] = how; /* after jump */
    return how;
}
static int stay(int how)
{
    if (how == 3) /* stay by jump */
        if (setjmp(place) == 0)
            fail(1);
    cells[5] = how; /* after stay */
    return how;
}
int main(int count, char **words)
{
    if (count > 1) { /* plain */
        cells[0] = 7;
        cells[1] = 9;
    }
    cells[2] = 1; /* after plain */
    if (count > 2) /* reads */
        read(0, input, sizeof input);
    cells[3] = 1; /* after reads */
    depth(3);
    if (setjmp(place) == 0)
        jump(0);
    stay(0);
    while (count > 5) /* endless */
        cells[4]++;
    printf("%d\n", cells[3]);
    return 0;
}
"#;

/// The branches of a run: when and where.
#[derive(Default)]
struct Branches(Vec<(Time, u64)>);

impl Observer for Branches {
    fn instruction(&mut self, time: Time, address: u64, ops: &[Op], _: &Cpu) {
        if matches!(ops.last(), Some(Op::Branch { .. })) {
            self.0.push((time, address));
        }
    }
}

struct Setting {
    program: Program,
    recording: Recording,
    branches: Vec<(Time, u64)>,
    _scratch: Scratch,
}

impl Setting {
    fn new(name: &str) -> Setting {
        let scratch = Scratch::new(name);
        let compiled = scratch.compile("program", PROGRAM, &["-O0", "-no-pie"]);
        let mut process = load_with_input(&compiled, &[], "text");
        let mut branches = Branches::default();
        process.fork().run(Time(u64::MAX), &mut branches);
        let recording = Recording::make(process.fork(), Time(u64::MAX));
        process.run(Time(u64::MAX), &mut machine::Unwatched);
        Setting { program: view(&process), recording, branches: branches.0, _scratch: scratch }
    }

    /// Diverts at the first execution of the branch on the line with the marker.
    fn flip(&mut self, marker: &str) -> (Diversion, Option<u64>) {
        let line = line_of(PROGRAM, marker);
        let is_there = |address| {
            let location = self.program.locate(address);
            location.position().is_some_and(|at| at.line == line && at.file.ends_with("program.c"))
        };
        let &(time, address) = self.branches.iter().find(|(_, address)| is_there(*address)).unwrap();
        let flow = Flow::new(&self.program);
        let meeting = flow.function(address).unwrap().reconvergence(address);
        (self.recording.divert(time, &[Intervention::At(time, Action::FlipBranch)]), meeting)
    }

    fn cell(&self, index: u64) -> Range<u64> {
        let cells = self.program.find_symbol("cells").unwrap().address;
        cells + 4 * index..cells + 4 * index + 4
    }
}

#[test]
fn what_the_other_side_writes_is_told_up_to_where_the_ways_meet() {
    let mut setting = Setting::new("diversion-plain");
    let (mut diversion, meeting) = setting.flip("/* plain */");
    let start = diversion.time();
    let arrival = diversion.run_to(meeting, 1000, &mut Scanner::default());
    assert_eq!(arrival.outcome, Outcome::Reached);
    let both = setting.cell(0).start..setting.cell(1).end;
    assert_eq!(arrival.writes.memory, std::slice::from_ref(&both));
    assert_eq!(arrival.time, Time(start.0 + 3));
    assert_eq!(diversion.process().machine.cpu.rip, meeting.unwrap());
    assert_eq!(diversion.instance().time, arrival.time);
    assert!(matches!(diversion.id(), RunId::Diversion(list) if list.len() == 1));
}

#[test]
fn what_the_kernel_writes_is_told_too() {
    let mut setting = Setting::new("diversion-kernel");
    let (mut diversion, meeting) = setting.flip("/* reads */");
    let arrival = diversion.run_to(meeting, 10_000, &mut Scanner::default());
    assert_eq!(arrival.outcome, Outcome::Reached);
    assert_eq!(arrival.writes.system_calls, 1);
    let input = setting.program.find_symbol("input").unwrap().address;
    assert!(arrival.writes.memory.contains(&(input..input + 4)), "{:x?}", arrival.writes.memory);
    assert!(!arrival.writes.touches(&setting.cell(3)), "that is after the place where the ways meet");
}

#[test]
fn only_the_same_activation_counts() {
    let mut setting = Setting::new("diversion-recursion");
    // The first execution is that of depth(3): flipped, it does not call itself.
    let (mut diversion, meeting) = setting.flip("/* recursion */");
    let arrival = diversion.run_to(meeting, 1000, &mut Scanner::default());
    assert_eq!(arrival.outcome, Outcome::Reached);
    assert!(!arrival.writes.touches(&setting.cell(2)));
    // Not flipped, three activations below pass the place first.
    let time = diversion.start();
    let mut same = setting.recording.divert(time, &[]);
    let arrival = same.run_to(meeting, 1000, &mut Scanner::default());
    assert_eq!(arrival.outcome, Outcome::Reached);
    assert!(arrival.writes.touches(&setting.cell(0)) && arrival.writes.touches(&setting.cell(2)));
    assert!(!arrival.writes.touches(&setting.cell(3)));
    // Without a place it runs to the return.
    let arrival = same.run_to(None, 1000, &mut Scanner::default());
    assert_eq!(arrival.outcome, Outcome::Left);
    assert!(arrival.writes.touches(&setting.cell(3)));
}

#[test]
fn a_jump_out_of_the_activation_leaves_it_and_one_back_into_it_does_not() {
    let mut setting = Setting::new("diversion-longjmp");
    let (mut diversion, meeting) = setting.flip("/* leave by jump */");
    let arrival = diversion.run_to(meeting, 1000, &mut Scanner::default());
    assert_eq!(arrival.outcome, Outcome::Left);
    assert!(!arrival.writes.touches(&setting.cell(6)));
    let (mut diversion, meeting) = setting.flip("/* stay by jump */");
    let arrival = diversion.run_to(meeting, 1000, &mut Scanner::default());
    assert_eq!(arrival.outcome, Outcome::Reached);
    assert!(!arrival.writes.touches(&setting.cell(7)), "longjmp came back before that");
}

#[test]
fn an_endless_side_uses_up_its_budget_and_a_fault_ends_it() {
    let mut setting = Setting::new("diversion-endless");
    let (diversion, meeting) = setting.flip("/* endless */");
    let time = diversion.start();
    let interventions = [
        Intervention::At(time, Action::FlipBranch),
        Intervention::At(time, Action::SetValue { reg: Reg::RBP, value: 8 }),
    ];
    let mut wild = setting.recording.divert(time, &interventions);
    let arrival = wild.run_to(meeting, 100_000, &mut Scanner::default());
    assert!(
        matches!(&arrival.outcome, Outcome::Ended(Exit::Killed { fault: Some(_), .. })),
        "{:?}",
        arrival.outcome
    );
    let always = [
        Intervention::At(time, Action::FlipBranch),
        Intervention::Always(branch_at(&setting, time), machine::Edit::Skip),
    ];
    let mut endless = setting.recording.divert(time, &always);
    let arrival = endless.run_to(Some(0x10), 100_000, &mut Scanner::default());
    assert!(matches!(arrival.outcome, Outcome::Left | Outcome::Ended(_)), "{:?}", arrival.outcome);
    let (mut diversion, _) = setting.flip("/* plain */");
    let arrival = diversion.run_to(Some(0x10), 100, &mut Scanner::default());
    assert_eq!((arrival.outcome, arrival.time), (Outcome::CutShort, Time(diversion.start().0 + 100)));
}

fn branch_at(setting: &Setting, time: Time) -> u64 {
    setting.branches.iter().find(|(when, _)| *when == time).unwrap().1
}

#[test]
fn the_recording_does_not_notice() {
    let mut setting = Setting::new("diversion-recording");
    let end = setting.recording.end();
    let times: Vec<Time> = (0..8).map(|part| Time(end.0 * part / 8)).collect();
    let before: Vec<u64> = times.iter().map(|time| setting.recording.at(*time).state_hash()).collect();
    let (mut diversion, _) = setting.flip("/* plain */");
    assert_ne!(diversion.run_until(Time(u64::MAX)), Exit::Until);
    let after: Vec<u64> = times.iter().map(|time| setting.recording.at(*time).state_hash()).collect();
    assert_eq!(before, after);
    assert_ne!(diversion.process().state_hash(), setting.recording.last().state_hash());
}

/// What a search for a place finds, by looking at each instruction.
struct Naive {
    target: u64,
    start: Time,
    depth: i64,
    found: Option<(Outcome, Time)>,
    stores: Vec<Range<u64>>,
}

impl Observer for Naive {
    fn instruction(&mut self, time: Time, address: u64, _: &[Op], _: &Cpu) {
        if self.found.is_none() && self.depth < 0 {
            self.found = Some((Outcome::Left, time));
        }
        if self.found.is_none() && self.depth == 0 && address == self.target && time > self.start {
            self.found = Some((Outcome::Reached, time));
        }
    }

    fn store(&mut self, address: u64, bytes: u64) {
        if self.found.is_none() {
            self.stores.push(address..address + bytes);
        }
    }

    fn call(&mut self, _: Time, _: u64, _: u64) {
        self.depth += 1;
    }

    fn ret(&mut self, _: Time, _: u64) {
        self.depth -= 1;
    }
}

#[test]
fn searches_find_what_a_look_at_each_instruction_finds() {
    let mut setting = Setting::new("diversion-naive");
    let flow = Flow::new(&setting.program);
    let mut scanner = Scanner::default();
    let (mut reached, mut left) = (0, 0);
    let step = setting.branches.len() / 400;
    for (number, &(time, address)) in setting.branches.iter().step_by(step.max(1)).enumerate() {
        let meeting = flow.function(address).and_then(|function| function.reconvergence(address));
        // Some look for a place that is nowhere, so that the activation is left.
        let Some(target) = meeting.map(|meeting| if number % 3 == 0 { 0x10 } else { meeting }) else {
            continue;
        };
        let flip = [Intervention::At(time, Action::FlipBranch)];
        let budget = 20_000;
        let mut watched = setting.recording.divert(time, &flip);
        let (stores, found) = (Vec::new(), None);
        let mut naive = Naive { target, start: time, depth: 0, found, stores };
        watched.run_watched(Time(time.0 + budget), &mut naive);
        let Some(expected) = naive.found else { continue };
        let mut diversion = setting.recording.divert(time, &flip);
        let arrival = diversion.run_to(Some(target), budget, &mut scanner);
        assert_eq!((&arrival.outcome, arrival.time), (&expected.0, expected.1), "at {time:?} {address:#x}");
        if expected.0 == Outcome::Reached {
            reached += 1;
        } else {
            left += 1;
        }
        if arrival.writes.system_calls == 0 {
            let mut bytes: Vec<u64> = naive.stores.into_iter().flatten().collect();
            bytes.sort();
            bytes.dedup();
            let told: Vec<u64> = arrival.writes.memory.into_iter().flatten().collect();
            assert!(told == bytes, "at {time:?} {address:#x}");
        }
    }
    assert!(reached > 100 && left > 0, "{reached} reached, {left} left");
}
