//! The dependences near a criterion, one by one: statement instances, and what each of them used of which other.

use std::collections::{BTreeMap, BTreeSet};

use lift::Reg;
use linux::Place;
use machine::Time;
use program::{State, Stmt};

use super::describe::View;
use crate::dependence::{
    Code, Follow, Made, Need, Question, Slice, Source, Step, StmtId, Strength, Use, Watch,
};
use crate::recording::Recording;

/// So many edges are kept; the others are counted.
const MOST_EDGES: usize = 10_000;
/// So many ends of chains are kept for an instance.
const MOST_ENDS: usize = 256;

/// What a criterion depends on, as far as was asked.
#[derive(Clone, Debug)]
pub struct Edges {
    /// The newest first; the first is the criterion itself.
    pub instances: Vec<DependentInstance>,
    /// How many edges lead further, or were too many.
    pub left_out: u64,
    pub slice: Slice,
}

/// A statement instance, with what it used.
#[derive(Clone, Debug)]
pub struct DependentInstance {
    /// `None` for the criterion, and for code of no statement.
    pub stmt: Option<Stmt>,
    /// The least number of steps from the criterion that is known.
    pub distance: u32,
    /// The latest instant at which it made something that was used.
    pub time: Time,
    /// The latest first.
    pub edges: Vec<Edge>,
    /// Where chains end.
    pub ends: BTreeSet<Source>,
}

/// A dependence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub kind: EdgeKind,
    /// The instance that it leads to, by its place in [`Edges::instances`].
    pub to: usize,
    pub used: Used,
    /// When that was made.
    pub time: Time,
    /// By trusted code that the instance called.
    pub in_library: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    Value,
    Address,
    /// A condition decided.
    Control,
    /// A call brought it about.
    Call,
    /// A condition whose other side would, or could, have written what was used.
    Potential(Strength),
}

/// What was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Used {
    Register(Reg),
    /// With its name after it was made.
    Memory {
        address: u64,
        length: u64,
        name: Option<String>,
    },
    Kernel(Place),
    /// Control.
    Nothing,
}

impl Recording {
    /// The dependences of a criterion, up to so many steps back.
    pub fn edges(&mut self, code: &mut Code<'_>, question: &Question, follow: Follow, depth: u32) -> Edges {
        let mut gathered = Gathered::new(question.time, depth);
        let slice = self.slice(code, question, follow, &mut gathered);
        let instances = gathered.instances.into_iter().map(|(stmt, mut instance)| {
            instance.stmt = code.statement(stmt).cloned();
            instance
        });
        let mut edges = Edges { instances: instances.collect(), left_out: gathered.left_out, slice };
        edges.name(self, code);
        edges
    }
}

impl Edges {
    /// Goes to the instants at which memory was written, the earliest first, since that is the cheapest order.
    fn name(&mut self, recording: &mut Recording, code: &mut Code<'_>) {
        let mut looks: BTreeMap<Time, Vec<&mut Used>> = BTreeMap::new();
        for edge in self.instances.iter_mut().flat_map(|instance| &mut instance.edges) {
            if let Used::Memory { .. } = edge.used {
                looks.entry(Time(edge.time.0.saturating_add(1))).or_default().push(&mut edge.used);
            }
        }
        for (time, wanted) in looks {
            let process = recording.at(time);
            let state = State::of(&process.machine);
            let view = View::new(&state, code);
            for used in wanted {
                if let Used::Memory { address, length, name } = used {
                    *name = view.name(*address, *length);
                }
            }
        }
    }
}

/// Keeps the steps of a pass that are near.
struct Gathered {
    depth: u32,
    instances: Vec<(StmtId, DependentInstance)>,
    /// By the numbers of the pass.
    places: BTreeMap<u32, usize>,
    edges: usize,
    left_out: u64,
}

impl Gathered {
    fn new(time: Time, depth: u32) -> Gathered {
        let criterion = (StmtId::NONE, DependentInstance::new(time, 0));
        let places = BTreeMap::from([(0, 0)]);
        Gathered { depth, instances: vec![criterion], places, edges: 0, left_out: 0 }
    }

    /// The place of the instance that a step leads to, if it is near enough.
    fn enter(&mut self, step: &Step) -> Option<usize> {
        if let Some(known) = self.places.get(&step.maker) {
            return Some(*known);
        }
        if step.distance > self.depth || self.edges >= MOST_EDGES {
            return None;
        }
        let place = self.instances.len();
        self.instances.push((step.stmt, DependentInstance::new(step.time, step.distance)));
        self.places.insert(step.maker, place);
        Some(place)
    }
}

impl Watch for Gathered {
    const SHARES: bool = true;

    fn wants_user(&self, user: Need) -> bool {
        user.distance() < self.depth
    }

    fn step(&mut self, step: Step) {
        let Some(user) = self.places.get(&step.user).copied() else { return };
        let Some(to) = self.enter(&step) else {
            self.left_out += 1;
            return;
        };
        if let Some((_, maker)) = self.instances.get_mut(to) {
            maker.distance = maker.distance.min(step.distance);
        }
        let Some((_, user)) = self.instances.get_mut(user) else { return };
        let edge = Edge::new(&step, to);
        if user.edges.iter_mut().rev().any(|known| known.takes_in(&edge)) {
            return;
        }
        if self.edges >= MOST_EDGES {
            self.left_out += 1;
            return;
        }
        self.edges += 1;
        user.edges.push(edge);
    }

    fn end(&mut self, user: Need, source: &Source) {
        self.end_of_other(user.user(), source);
    }

    fn end_of_other(&mut self, user: u32, source: &Source) {
        let user = self.places.get(&user).and_then(|place| self.instances.get_mut(*place));
        if let Some((_, user)) = user.filter(|(_, user)| user.ends.len() < MOST_ENDS) {
            user.ends.insert(source.clone());
        }
    }
}

impl DependentInstance {
    fn new(time: Time, distance: u32) -> DependentInstance {
        DependentInstance { stmt: None, distance, time, edges: Vec::new(), ends: BTreeSet::new() }
    }
}

impl Edge {
    fn new(step: &Step, to: usize) -> Edge {
        let kind = match (step.made, step.how) {
            (Made::Decision, _) => EdgeKind::Control,
            (Made::Omission(strength), _) => EdgeKind::Potential(strength),
            (Made::Call, _) => EdgeKind::Call,
            (_, Use::Address) => EdgeKind::Address,
            // What a condition goes by is a value like others; that it decided is told by its users.
            (_, Use::Value | Use::Control) => EdgeKind::Value,
        };
        let used = match step.made {
            Made::Register(reg) => Used::Register(reg),
            Made::Memory { address, length } => Used::Memory { address, length, name: None },
            Made::Kernel(place) => Used::Kernel(place),
            Made::Decision | Made::Omission(_) | Made::Call => Used::Nothing,
        };
        Edge { kind, to, used, time: step.time, in_library: step.in_library }
    }

    /// Whether the other tells nothing that this does not; bytes that touch these are added.
    fn takes_in(&mut self, other: &Edge) -> bool {
        if (self.kind, self.to, self.in_library) != (other.kind, other.to, other.in_library) {
            return false;
        }
        match (&mut self.used, &other.used) {
            (Used::Memory { address, length, .. }, Used::Memory { address: start, length: more, .. }) => {
                let (end, other_end) = (address.saturating_add(*length), start.saturating_add(*more));
                if *start > end || *address > other_end {
                    return false;
                }
                *address = (*address).min(*start);
                *length = end.max(other_end) - *address;
                true
            }
            (Used::Register(one), Used::Register(other)) => one == other,
            (Used::Kernel(one), Used::Kernel(other)) => {
                std::mem::discriminant(one) == std::mem::discriminant(other)
            }
            (Used::Nothing, Used::Nothing) => true,
            _ => false,
        }
    }
}
