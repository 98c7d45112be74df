//! The other side of a condition with the conditions inside of it forced: what could be written there, whichever way they
//! go. Each block of the side is executed at most once, so that this ends, in states that no run may ever be in; so
//! what it finds is a weak dependence.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use lift::{Reg, jump_register};
use linux::Snapshot;
use machine::{Action, Intervention, Pass, Time, Unwatched};
use program::{BlockId, Terminator};

use super::potential::Bounds;
use super::sides::Side;
use crate::diversion::{Diversion, Goal, Outcome, Scanner, Writes};
use crate::events::{Ending, Shape};
use crate::flow::FunctionFlow;

/// What came of forcing the conditions on other sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forced {
    /// Executions of conditions whose other side has conditions of its own, which were forced.
    pub conditions: u64,
    /// Of them, those in which something needed was written.
    pub telling: u64,
    /// Ways that were run, one or more for each of them.
    pub ways: u64,
    /// Those that ended early: by a fault, by a system call with an effect, or because the program or the function did.
    pub ended: u64,
    /// Those that were too long.
    pub cut: u64,
    /// Sides that conditions were not forced to: there were too many, or it is not known how.
    pub left_out: u64,
}

impl Forced {
    pub fn add(&mut self, other: &Forced) {
        self.conditions += other.conditions;
        self.telling += other.telling;
        self.ways += other.ways;
        self.ended += other.ended;
        self.cut += other.cut;
        self.left_out += other.left_out;
    }

    /// Counts how a way ended.
    fn count(&mut self, outcome: &Outcome, ways_meet: bool) {
        match outcome {
            Outcome::Reached => {}
            Outcome::Left => self.ended += u64::from(ways_meet),
            Outcome::CutShort => self.cut += 1,
            Outcome::Ended(_) | Outcome::Called => self.ended += 1,
        }
    }

    /// All of the side was executed.
    pub fn is_complete(&self) -> bool {
        self.ended + self.cut + self.left_out == 0
    }
}

/// System calls that do nothing but find memory, so that what is allocated on a forced way does not end it.
const HARMLESS: [u64; 5] = [MMAP, MPROTECT, MUNMAP, BRK, MADVISE];
const MMAP: u64 = 9;
const MPROTECT: u64 = 10;
const MUNMAP: u64 = 11;
const BRK: u64 = 12;
const MADVISE: u64 = 28;

/// The side to be explored.
pub struct Exploration<'a> {
    pub flow: &'a FunctionFlow,
    pub side: &'a Side,
    pub meeting: Option<u64>,
    pub bounds: Bounds,
    /// Ways that may still be run.
    pub most_ways: u64,
    /// The first way begins with the first instruction of the side, not with the branch that leads there.
    pub is_inside: bool,
}

/// A side of a nested condition that no way has gone to yet.
struct Turn {
    origin: Rc<Snapshot>,
    time: Time,
    action: Action,
    target: BlockId,
}

impl Exploration<'_> {
    /// Runs every block of the side that can be reached from the state, each once. Blocks of `seen` are not entered.
    pub fn run(&self, from: Snapshot, seen: BTreeSet<BlockId>, scanner: &mut Scanner) -> (Writes, Forced) {
        let mut forced = Forced { conditions: 1, ..Forced::default() };
        let mut writes = Writes::default();
        let mut visited = seen;
        let mut open: VecDeque<Turn> = VecDeque::new();
        let mut diversion = Diversion::new(&mut from.process(), &[]);
        let mut before_start = u64::from(self.is_inside);
        loop {
            forced.ways += 1;
            let start = Time(diversion.time().0.saturating_sub(std::mem::take(&mut before_start)));
            let mut way = Way {
                around: self,
                start,
                visited: &mut visited,
                branch: None,
                turns: Vec::new(),
                unknown: 0,
            };
            let arrival = diversion.run_to_goal(&mut way, self.bounds.forced_instructions, scanner);
            let (turns, unknown) = (way.turns, way.unknown);
            forced.left_out += unknown;
            forced.count(&arrival.outcome, self.meeting.is_some());
            writes.join(&arrival.writes);
            let origin = Rc::new(diversion.into_origin());
            for (time, action, target) in turns {
                open.push_back(Turn { origin: origin.clone(), time, action, target });
            }
            open.retain(|turn| !visited.contains(&turn.target));
            if forced.ways >= self.most_ways {
                let targets: BTreeSet<BlockId> = open.iter().map(|turn| turn.target).collect();
                forced.left_out += targets.len() as u64;
                break;
            }
            let Some(turn) = open.pop_front() else { break };
            let mut process = turn.origin.process();
            process.run(turn.time, &mut Unwatched);
            diversion = Diversion::new(&mut process, &[Intervention::At(turn.time, turn.action)]);
        }
        (writes, forced)
    }
}

/// One way over the side.
struct Way<'a> {
    around: &'a Exploration<'a>,
    start: Time,
    visited: &'a mut BTreeSet<BlockId>,
    /// The branch or jump that was executed last, until it is known where it led.
    branch: Option<Decided>,
    turns: Vec<(Time, Action, BlockId)>,
    /// Sides that no intervention leads to.
    unknown: u64,
}

struct Decided {
    time: Time,
    address: u64,
    /// The register with the target, of an indirect jump.
    target: Option<Reg>,
}

impl Goal for Way<'_> {
    fn place(&mut self, pass: &Pass<'_>, shape: &Shape) -> Option<usize> {
        for (place, address) in shape.addresses().iter().enumerate() {
            // The first instruction is the branch that leads here.
            if pass.time.0 + place as u64 <= self.start.0 {
                continue;
            }
            if let Some(branch) = self.branch.take() {
                self.turn(&branch, *address);
            }
            let block = self.around.side.beginning_at(*address);
            if Some(*address) == self.around.meeting || block.is_some_and(|block| !self.visited.insert(block))
            {
                return Some(place);
            }
        }
        let count = shape.addresses().len() as u64;
        let time = Time(pass.time.0 + count.saturating_sub(1));
        if time > self.start {
            let target = match shape.ending {
                Ending::Branch { .. } => None,
                Ending::Indirect { stack: false } => {
                    pass.backward().next().and_then(|last| jump_register(last.ops))
                }
                _ => return None,
            };
            self.branch = Some(Decided { time, address: shape.last(), target });
        }
        None
    }

    fn permits(&self, call: u64) -> bool {
        HARMLESS.contains(&call)
    }
}

impl Way<'_> {
    /// Notes where a branch could have led to besides the block at `went`.
    fn turn(&mut self, branch: &Decided, went: u64) {
        let cfg = self.around.flow.cfg();
        let Some(block) = cfg.block_at(branch.address).and_then(|id| cfg.block(id)) else { return };
        if block.last != branch.address {
            return;
        }
        for target in block.terminator.successors() {
            let Some(start) = cfg.block(target).map(|block| block.start) else { continue };
            if start == went || self.visited.contains(&target) || !self.around.side.contains(target) {
                continue;
            }
            match (&block.terminator, branch.target) {
                (Terminator::Branch { .. }, _) => {
                    self.turns.push((branch.time, Action::FlipBranch, target));
                }
                (Terminator::Switch { .. }, Some(reg)) => {
                    self.turns.push((branch.time, Action::SetValue { reg, value: start }, target));
                }
                _ => self.unknown += 1,
            }
        }
    }
}
