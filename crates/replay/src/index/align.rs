//! Two runs side by side: which statement instances of one are those of the other.
//!
//! Both runs are walked over in lock-step. Where both are in the same regions and come to the same statement, the two
//! instances are a pair. Where one is in a region in which the other is not, its instances have no partner until it has left the
//! region. Nothing is kept of either run but where it is.

use std::collections::VecDeque;

use linux::{Exit, Process};
use machine::{Time, Trace};

use super::keys::PointKey;
use super::walk::{Event, Indexer, Key};

/// Instructions that are run before what happened in them is looked at.
const STRETCH: u64 = 1 << 14;

/// An instance of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub key: PointKey,
    /// When it begins.
    pub time: Time,
    pub address: u64,
}

/// A step of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aligned {
    Both(Point, Point),
    /// The first run has an instance without a partner.
    Left(Point),
    Right(Point),
}

/// Two runs, one beside the other.
pub struct Alignment<'l, 'r> {
    left: Side<'l>,
    right: Side<'r>,
    /// How many of the outermost regions are the same in both.
    common: usize,
}

impl<'l, 'r> Alignment<'l, 'r> {
    /// Two processes, each with a walk that is where the process is: both at the start.
    pub fn new(left: (Process, Indexer<'l>), right: (Process, Indexer<'r>)) -> Alignment<'l, 'r> {
        Alignment { left: Side::new(left.0, left.1), right: Side::new(right.0, right.1), common: 0 }
    }

    /// How deep the walks were at most.
    pub fn deepest(&self) -> usize {
        self.left.indexer.state().deepest().max(self.right.indexer.state().deepest())
    }
}

impl Iterator for Alignment<'_, '_> {
    type Item = Aligned;

    fn next(&mut self) -> Option<Aligned> {
        self.left.advance(&mut self.common);
        self.right.advance(&mut self.common);
        match (self.left.point, self.right.point) {
            (None, None) => None,
            (Some(point), None) => self.left(point),
            (None, Some(point)) => self.right(point),
            (Some(left), Some(right)) => self.compare(left, right),
        }
    }
}

impl Alignment<'_, '_> {
    fn compare(&mut self, left: Point, right: Point) -> Option<Aligned> {
        let both = |common: usize| Some((self.left.path.get(common)?, self.right.path.get(common)?));
        while both(self.common).is_some_and(|(left, right)| left.is_same(right)) {
            self.common += 1;
        }
        let rest = (self.left.path.get(self.common), self.right.path.get(self.common));
        match rest {
            (None, None) if left.key == right.key => {
                self.left.point = None;
                self.right.point = None;
                Some(Aligned::Both(left, right))
            }
            (None, None) if left.key < right.key => self.left(left),
            (None, None) => self.right(right),
            (Some(_), None) => self.left(left),
            (None, Some(_)) => self.right(right),
            // Which of two regions comes first in the source, is left first. Of one condition that went two ways, it
            // does not matter.
            (Some(one), Some(other)) if one.place() <= other.place() => self.left(left),
            (Some(_), Some(_)) => self.right(right),
        }
    }

    fn left(&mut self, point: Point) -> Option<Aligned> {
        self.left.point = None;
        Some(Aligned::Left(point))
    }

    fn right(&mut self, point: Point) -> Option<Aligned> {
        self.right.point = None;
        Some(Aligned::Right(point))
    }
}

/// One of the runs.
struct Side<'p> {
    process: Process,
    indexer: Indexer<'p>,
    trace: Trace,
    events: VecDeque<Event>,
    /// The regions that are open.
    path: Vec<Key>,
    /// The instance that was come to and not dealt with.
    point: Option<Point>,
    ended: bool,
}

impl<'p> Side<'p> {
    fn new(process: Process, indexer: Indexer<'p>) -> Side<'p> {
        let (trace, events, path) = Default::default();
        Side { process, indexer, trace, events, path, point: None, ended: false }
    }

    /// Goes on to the next instance, if there is none at hand.
    fn advance(&mut self, common: &mut usize) {
        while self.point.is_none() {
            match self.events.pop_front() {
                Some(Event::Statement { key, time, address }) => {
                    self.point = Some(Point { key, time, address })
                }
                Some(Event::Enter(key)) => self.path.push(key),
                Some(Event::Leave(depth)) => {
                    // The outermost frame is no part of the path.
                    self.path.truncate(depth.saturating_sub(1));
                    *common = (*common).min(self.path.len());
                }
                // Nothing is waited for.
                Some(Event::Come(_)) => {}
                None if self.ended => return,
                None => self.run(),
            }
        }
    }

    fn run(&mut self) {
        let mut before = self.process.fork();
        let until = Time(self.process.machine.time.0.saturating_add(STRETCH));
        self.trace.clear();
        let exit = self.process.run_traced(until, &mut self.trace);
        self.ended = !matches!(exit, Exit::Until);
        let events = &mut self.events;
        self.indexer.follow(&self.trace, &mut before, |event| events.push_back(event));
    }
}

impl Key {
    /// Whether two regions are the same. What is unknown is the same as nothing.
    fn is_same(&self, other: &Key) -> bool {
        self.is_known() && self == other
    }

    fn is_known(&self) -> bool {
        match self {
            // What trusted code calls has no place.
            Key::Call { function, site, number, .. } => function.is_some() && (site.is_some() || *number > 0),
            Key::Trusted { site } => site.is_some(),
            Key::Side { condition, .. } => condition.is_some(),
            Key::Again { at, .. } => at.is_some(),
        }
    }

    /// Where it is in the source.
    fn place(&self) -> Option<PointKey> {
        match self {
            Key::Call { site, .. } | Key::Trusted { site } => site.map(|(key, _)| key),
            Key::Side { condition, .. } => condition.map(|(key, _)| key),
            Key::Again { at, .. } => *at,
        }
    }
}
