//! The walk that keeps a bounded stack, against one that keeps every region of the whole tree and looks at the stack pointer
//! before each instruction.

mod common;

use std::collections::HashMap;
use std::rc::Rc;

use common::{Scratch, load, view};
use lift::{Op, Reg};
use machine::{Cpu, Observer, Time, Unwatched};
use program::conditions::{Exit, MemberKind, Step};
use program::{Condition, ConditionKind, Program, Scope, Trust};
use replay::index::{Aligned, Alignment, Index, Indexer, Region, Side, keys_of_one};
use replay::{Flow, FunctionFlow, Recording};

/// A region of the naive tree. Each decision opens one, inside of all that are open.
#[derive(Clone, Debug)]
enum Node {
    /// A function in scope, or trusted code; where its return address is.
    Frame {
        slot: u64,
        function: Option<u64>,
        number: u64,
    },
    Side {
        condition: u64,
        side: Side,
        close: Option<u64>,
    },
}

struct Naive<'p> {
    program: &'p Program,
    flow: &'p Flow<'p>,
    scope: Scope,
    known: HashMap<u64, Option<Rc<FunctionFlow>>>,
    open: Vec<Node>,
    callbacks: Vec<u64>,
    /// The address, the last op and the stack pointer of the instruction before.
    previous: Option<(u64, Op, u64)>,
    /// For each instruction in scope, its path.
    paths: Vec<(Time, Vec<Node>)>,
}

impl<'p> Naive<'p> {
    fn new(program: &'p Program, flow: &'p Flow<'p>) -> Naive<'p> {
        let (scope, known) = Default::default();
        let open = vec![Node::Frame { slot: u64::MAX, function: None, number: 0 }];
        Naive { program, flow, scope, known, open, callbacks: vec![0], previous: None, paths: Vec::new() }
    }

    fn function(&mut self, address: u64) -> Option<Rc<FunctionFlow>> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let start = self.program.function_at(address).map_or(address, |(start, _)| start);
        let in_scope = self.scope.of(self.program, start) == Trust::InScope;
        let found = in_scope.then(|| self.flow.function(address)).flatten();
        self.known.insert(address, found.clone());
        found
    }

    /// The place of the innermost frame, and its function.
    fn frame(&self) -> (usize, Option<u64>) {
        let found = self.open.iter().enumerate().rev().find_map(|(place, node)| match node {
            Node::Frame { function, .. } => Some((place, *function)),
            Node::Side { .. } => None,
        });
        found.unwrap()
    }

    fn condition_at(&self, address: u64) -> Option<(Condition, usize)> {
        let all = self.program.conditions(address)?;
        all.iter().find_map(|condition| {
            let place = condition.members.iter().position(|member| member.address == address)?;
            Some((condition.clone(), place))
        })
    }

    fn decide(&mut self, branch: u64, holds: bool, flow: &FunctionFlow) {
        let Some((condition, place)) = self.condition_at(branch) else {
            panic!("no condition at {branch:#x}")
        };
        let member = &condition.members[place];
        let step = if holds { member.holds } else { member.fails };
        let Step::Exit(exit) = step else { return };
        let truth = match condition.kind {
            ConditionKind::Branch { true_exit, .. } => true_exit,
            _ => Some(Exit::First),
        };
        let side = match truth {
            Some(truth) => [Side::False, Side::True][usize::from(truth == exit)],
            None => [Side::First, Side::Second][exit.index()],
        };
        let first = condition.members.iter().find(|member| member.kind == MemberKind::Jump).unwrap().address;
        let close = flow.reconvergence(first);
        self.open.push(Node::Side { condition: condition.id.address, side, close });
    }
}

impl Observer for Naive<'_> {
    fn instruction(&mut self, time: Time, address: u64, ops: &[Op], cpu: &Cpu) {
        let stack = cpu.get(Reg::RSP);
        let function = self.function(address);
        // Frames below the stack pointer are gone.
        while let Some(place) =
            self.open.iter().position(|node| matches!(node, Node::Frame { slot, .. } if *slot < stack))
        {
            self.open.truncate(place);
            let frames = self.open.iter().filter(|node| matches!(node, Node::Frame { .. })).count();
            self.callbacks.truncate(frames);
        }
        let entry = function.as_ref().map(|function| function.entry());
        if let Some((from, op, before)) = self.previous.take() {
            let (_, current) = self.frame();
            match op {
                Op::Call { .. } if current.is_some() || entry.is_some() => {
                    let number = match current {
                        Some(_) => 0,
                        None => {
                            *self.callbacks.last_mut().unwrap() += 1;
                            *self.callbacks.last().unwrap()
                        }
                    };
                    self.callbacks.push(0);
                    self.open.push(Node::Frame { slot: before - 8, function: entry, number });
                }
                Op::Branch { taken, .. } if current.is_some() => {
                    if let Some(flow) = self.function(from) {
                        self.decide(from, taken == address, &flow);
                    }
                }
                _ => {}
            }
        }
        if let Some(Node::Frame { function, .. }) = {
            let place = self.frame().0;
            self.open.get_mut(place)
        } && *function != entry
            && entry.is_some()
        {
            // By way of a stub.
            *function = entry;
        }
        // Regions end where their ways meet again.
        while let Some(Node::Side { close, .. }) = self.open.last()
            && *close == Some(address)
        {
            self.open.pop();
        }
        if entry.is_some() {
            self.paths.push((time, self.open.clone()));
        }
        if let Some(op) = ops.last() {
            self.previous = Some((address, *op, stack));
        }
    }
}

/// One region of the path for each condition of an activation, with how often it was decided.
fn folded(path: &[Node]) -> Vec<String> {
    let mut folded: Vec<(String, u64, u64)> = Vec::new();
    let mut frame = 0;
    for node in path.iter().skip(1) {
        match node {
            Node::Frame { function: None, .. } => frame = folded.len(),
            Node::Frame { function: Some(function), number, .. } => {
                folded.push((format!("call {function:#x} number {number}"), 0, 0));
                frame = folded.len();
            }
            Node::Side { condition, side, .. } => {
                let known = folded[frame..].iter().position(|(_, other, _)| other == condition);
                let count = known.map_or(0, |place| folded[frame + place].2);
                folded.truncate(known.map_or(folded.len(), |place| frame + place));
                folded.push((format!("{condition:#x} {side}"), *condition, count + 1));
            }
        }
    }
    folded.into_iter().map(|(text, _, count)| format!("{text} ({count})")).collect()
}

fn written(index: &Index) -> Vec<String> {
    let texts = index.regions.iter().filter_map(|region| match region {
        Region::Call { function, number, .. } => Some(format!("call {function:#x} number {number} (0)")),
        Region::Side { condition, side, count, .. } => Some(format!("{condition:#x} {side} ({count})")),
        Region::Trusted { .. } => None,
        Region::Again { .. } => panic!("{index}"),
    });
    texts.collect()
}

fn compare(name: &str, source: &str, options: &[&str]) {
    let scratch = Scratch::new(name);
    let mut process = load(&scratch.compile("program", source, options), &["7"]);
    let mut ended = process.fork();
    ended.run(Time(u64::MAX), &mut Unwatched);
    let program = view(&ended);
    let flow = Flow::new(&program);
    let scope = Scope::default();
    let mut naive = Naive::new(&program, &flow);
    process.fork().run(Time(u64::MAX), &mut naive);
    let expected: HashMap<Time, Vec<Node>> = naive.paths.into_iter().collect();
    let mut recording = Recording::make(process.fork(), Time(u64::MAX));
    let mut walk = Indexer::new(&flow, &scope, keys_of_one(&program));
    let mut compared = 0;
    let end = recording.end();
    recording.forward(Time(0)..end, |segment| {
        walk.follow_indices(segment.trace, segment.before, |time, index| {
            assert_eq!(written(&index), folded(&expected[&time]), "{time:?} {index}");
            compared += 1;
        });
        true
    });
    assert!(compared > 200, "{compared}");
}

const STRUCTURES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int table[16];
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int find(int key)
{
    for (int i = 0; i < 16; i++) {
        if (table[i] == key && (i & 1 || key > 3))
            return i;
        if (table[i] < 0)
            break;
    }
    return -1;
}
static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    if (x < y)
        return -1;
    return x > y;
}
static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
int main(int count, char **words)
{
    int seed = atoi(words[1]), sum = 0, i = 0;
    do {
        seed = seed * 1103515245 + 12345;
        table[i] = (seed >> 16) & 15;
    } while (++i < 16);
    while (1) {
        if (sum > 40)
            break;
        sum += find(sum & 15) + 2;
        if (sum & 1)
            continue;
        sum += even(sum & 7) || odd(sum & 3);
    }
again:
    if (sum < 60) {
        sum += 3;
        goto again;
    }
    qsort(table, 16, sizeof *table, compare);
    sum += ackermann(2, 2);
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++)
            if (!(a == 1 || b == 2) || sum == 3)
                sum += a * b;
    printf("%d\n", sum);
    return sum > 0 ? 0 : 1;
}
"#;

#[test]
fn the_walk_finds_the_regions_that_the_whole_tree_has() {
    compare("naive-plain", STRUCTURES, &["-O0"]);
}

#[test]
fn the_walk_finds_them_in_optimised_code() {
    compare("naive-optimised", STRUCTURES, &["-O1", "-fno-inline", "-fno-optimize-sibling-calls"]);
}

/// The indices of the statement instances of a run, by the time when they begin.
fn indices(program: &Program, process: &mut linux::Process) -> HashMap<Time, Index> {
    let (flow, scope) = (Flow::new(program), Scope::default());
    let mut recording = Recording::make(process.fork(), Time(u64::MAX));
    let mut walk = Indexer::new(&flow, &scope, keys_of_one(program));
    let mut found = HashMap::new();
    let end = recording.end();
    recording.forward(Time(0)..end, |segment| {
        walk.follow_indices(segment.trace, segment.before, |time, index| {
            found.insert(time, index);
        });
        true
    });
    found
}

#[test]
fn two_runs_are_aligned_exactly_where_their_indices_are_the_same() {
    let scratch = Scratch::new("naive-align");
    let program = scratch.compile("program", STRUCTURES, &["-O0"]);
    let (mut left, mut right) = (load(&program, &["7"]), load(&program, &["11"]));
    let mut ended = left.fork();
    ended.run(Time(u64::MAX), &mut Unwatched);
    let program = view(&ended);
    let (lefts, rights) = (indices(&program, &mut left), indices(&program, &mut right));
    let (flow, scope, keys) = (Flow::new(&program), Scope::default(), keys_of_one(&program));
    let indexer = || Indexer::new(&flow, &scope, keys.clone());
    let (mut pairs, mut alone) = (0, 0);
    // A statement may be entered at another instruction of it.
    let name = |index: &Index| (index.regions.clone(), index.leaf.line);
    let known: std::collections::HashSet<_> = rights.values().map(name).collect();
    let others: std::collections::HashSet<_> = lefts.values().map(name).collect();
    for step in Alignment::new((left.fork(), indexer()), (right.fork(), indexer())) {
        match step {
            Aligned::Both(a, b) => {
                assert_eq!(name(&lefts[&a.time]), name(&rights[&b.time]));
                pairs += 1;
            }
            Aligned::Left(a) => {
                assert!(!known.contains(&name(&lefts[&a.time])), "{}", lefts[&a.time]);
                alone += 1;
            }
            Aligned::Right(b) => {
                assert!(!others.contains(&name(&rights[&b.time])), "{}", rights[&b.time]);
                alone += 1;
            }
        }
    }
    assert!(pairs > 100 && alone > 100, "{pairs} pairs, {alone} alone");
}
