//! From the conditions that save a run to what a person is told: which is the cause, what led to it, and what came of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lift::Reg;
use program::Stmt;
use program::conditions::MemberKind;
use replay::failure::FailureKind;
use replay::story::{Asked, Decided, Link, Reference, Role, Story, Subject, Told};
use replay::{Cell, Follow, Question, Seed, SeedKind, Step, Unseen, Watch};

use crate::instances::Instances;
use crate::switching::{Critical, Effect, Found, Options, Progress, Search, Statistics};

/// So many conditions that save the run are compared with each other.
const MOST_COMPARED: usize = 24;
/// So many causes are told of in full.
const MOST_CAUSES: usize = 4;
/// How far back the story of the failure goes, and that of what a cause compared.
const STORY_DEPTH: usize = 64;
const OPERANDS_DEPTH: usize = 4;
/// So many statements are listed to be read.
const MOST_READING: usize = 12;

/// Why a run failed, as far as was found out.
pub struct Explanation {
    /// The likeliest first.
    pub causes: Vec<Cause>,
    /// Conditions that save the run and are not told of.
    pub left_out: usize,
    /// How the failure came about, by dependence.
    pub story: Story,
    /// The statements that computed what is wrong, the nearest first.
    pub computed: Vec<(Stmt, u32)>,
    pub statistics: Statistics,
    pub is_cut_short: bool,
}

/// A condition that should perhaps have gone the other way.
pub struct Cause {
    pub critical: Critical,
    pub decided: Decided,
    /// How often the condition was decided before the failure.
    pub total: u64,
    /// It decides whether a loop goes on.
    pub ends_loop: bool,
    /// Conditions that depend on it and save the run as well.
    pub steps: Vec<(Critical, Decided)>,
    /// The steps of the failure's story that lead from it to the failure; empty if the story does not know it.
    pub path: Vec<usize>,
    /// Where came from what it was decided by.
    pub before: Story,
    /// What to read, the nearest first, with how far it is.
    pub reading: Vec<(Stmt, u32)>,
}

/// Finds out why a run failed.
pub fn explain(
    search: &mut Search<'_, '_>,
    asked: &Asked,
    options: &Options,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Explanation {
    let found = search.run(options, go_on);
    let story = search.recording.story(search.code, asked.clone(), STORY_DEPTH);
    let ranked = rank(search, &found);
    let told: usize = ranked.iter().take(MOST_CAUSES).map(|(_, steps)| 1 + steps.len()).sum();
    let causes: Vec<Cause> = ranked
        .into_iter()
        .take(MOST_CAUSES)
        .map(|(critical, steps)| cause(search, &found.instances, &story, critical, steps))
        .collect();
    let computed = match causes.is_empty() {
        true => computed(search, &asked.question),
        false => Vec::new(),
    };
    Explanation {
        causes,
        left_out: found.critical.len().saturating_sub(told),
        story,
        computed,
        statistics: found.statistics,
        is_cut_short: found.is_cut_short,
    }
}

fn cause(
    search: &mut Search<'_, '_>,
    instances: &Instances,
    story: &Story,
    critical: Critical,
    steps: Vec<Critical>,
) -> Cause {
    let decided = search.recording.decision(search.code, critical.instance.time);
    let question = question_of(search, instances, &critical);
    let stmt = decided.stmt.clone();
    let asked = Asked { question, subject: Subject::Reached, stmt, hit: None };
    let before = search.recording.story(search.code, asked, OPERANDS_DEPTH);
    let reading = reading(search, &critical, &before, story);
    let steps = steps.into_iter().map(|step| {
        let decided = search.recording.decision(search.code, step.instance.time);
        (step, decided)
    });
    let steps = steps.collect();
    let known = instances.known(&critical.instance);
    Cause {
        total: known.map_or(0, |known| known.count),
        ends_loop: known.is_some_and(|known| known.ends_loop),
        path: path(story, decided.stmt.as_ref(), critical.instance.time),
        critical,
        decided,
        steps,
        before,
        reading,
    }
}

/// What a decision was made by. Why it was made at all is another matter: what it is within decides about all that it does.
fn question_of(search: &mut Search<'_, '_>, instances: &Instances, critical: &Critical) -> Question {
    let time = critical.instance.time;
    let member = instances
        .known(&critical.instance)
        .and_then(|known| known.condition.members.get(usize::from(critical.instance.member)));
    if member.is_some_and(|member| member.kind == MemberKind::Jump) {
        let seed = Seed { time, kind: SeedKind::Decision };
        return Question { why_here: false, ..search.recording.question_of(search.code, &seed) };
    }
    // What is no jump goes by the flags.
    let flags = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];
    Question { time, cells: flags.map(|reg| Cell::Register(reg, 0xff)).to_vec(), why_here: false }
}

/// Puts together what lies on one chain: the condition that comes first, and those that depend on it.
fn rank(search: &mut Search<'_, '_>, found: &Found) -> Vec<(Critical, Vec<Critical>)> {
    let is_hang = matches!(search.failure.kind, FailureKind::Hang { .. });
    // A loop that ends early leaves out all that comes after: that it saves the run says little, unless it should end.
    let leaves_out = |one: &Critical| {
        !is_hang && found.instances.known(&one.instance).is_some_and(|known| known.ends_loop)
    };
    let key = |one: &Critical| (one.effect, leaves_out(one), one.distance.unwrap_or(u32::MAX), one.trial);
    let mut critical = found.critical.clone();
    critical.sort_by_key(key);
    critical.truncate(MOST_COMPARED);
    let places: BTreeMap<usize, usize> =
        critical.iter().enumerate().map(|(at, one)| (one.place, at)).collect();
    // Which of them each depends on.
    let upstream: Vec<BTreeSet<usize>> = critical
        .iter()
        .map(|one| {
            let question = question_of(search, &found.instances, one);
            let mut met = Met { instances: &found.instances, places: &places, found: BTreeSet::new() };
            search.recording.slice(search.code, &question, Follow::Full, &mut met);
            met.found.into_iter().filter(|other| critical[*other].place != one.place).collect()
        })
        .collect();
    let is_better = |other: usize, one: usize| {
        (critical[other].effect, leaves_out(&critical[other]))
            <= (critical[one].effect, leaves_out(&critical[one]))
    };
    let heads: Vec<usize> = (0..critical.len())
        .filter(|one| !upstream[*one].iter().any(|other| is_better(*other, *one)))
        .collect();
    let mut taken = BTreeSet::new();
    let mut ranked = Vec::new();
    for head in heads {
        let follows = |one: &usize| upstream[*one].contains(&head) && is_better(head, *one);
        let steps: Vec<usize> =
            (0..critical.len()).filter(follows).filter(|one| taken.insert(*one)).collect();
        let nearest = steps.iter().chain([&head]).filter_map(|one| critical[*one].distance).min();
        let mut steps: Vec<Critical> = steps.into_iter().map(|one| critical[one].clone()).collect();
        steps.sort_by_key(|step| step.instance.time);
        let (effect, leaves_out, _, trial) = key(&critical[head]);
        let rank = (effect, leaves_out, nearest.unwrap_or(u32::MAX), trial);
        ranked.push((rank, critical[head].clone(), steps));
    }
    ranked.sort_by_key(|(rank, ..)| *rank);
    ranked.into_iter().map(|(_, head, steps)| (head, steps)).collect()
}

/// Which of some decisions a slice has.
struct Met<'a> {
    instances: &'a Instances,
    places: &'a BTreeMap<usize, usize>,
    found: BTreeSet<usize>,
}

impl Watch for Met<'_> {
    fn step(&mut self, step: Step) {
        let place = self.instances.at(step.time);
        self.found.extend(place.and_then(|place| self.places.get(&place)));
    }
}

/// The shortest way of a story from a decision to its end.
fn path(story: &Story, stmt: Option<&Stmt>, time: machine::Time) -> Vec<usize> {
    let is_it = |step: &&Told| step.stmt.as_ref() == stmt && step.stmt.is_some();
    let decides = |step: &&Told| matches!(step.role, Role::Decides { .. });
    let mut same = story.steps.iter().filter(is_it);
    let cause =
        same.clone().find(|step| step.time == time).or_else(|| same.clone().find(decides)).or(same.next());
    let Some(cause) = cause else { return Vec::new() };
    let mut from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        let step = if at == 0 { Some(&story.end) } else { story.steps.iter().find(|step| step.number == at) };
        for next in step.map(references).unwrap_or_default() {
            if next.number != 0 && !from.contains_key(&next.number) {
                from.insert(next.number, at);
                queue.push_back(next.number);
            }
        }
        if at == 0 {
            // What was asked about is told by the newest step.
            let newest = story.steps.first().map(|step| step.number);
            if let Some(number) = newest.filter(|number| !from.contains_key(number)) {
                from.insert(number, 0);
                queue.push_back(number);
            }
        }
    }
    let mut path = Vec::new();
    let mut at = cause.number;
    while let Some(next) = from.get(&at) {
        path.push(at);
        if *next == 0 || path.len() > story.steps.len() {
            return path;
        }
        at = *next;
    }
    Vec::new()
}

/// The steps that a step refers to.
fn references(step: &Told) -> Vec<Reference> {
    let operands = step.used.iter().filter_map(|operand| operand.from);
    let links = step.links.iter().map(|link| match link {
        Link::Returned { by, .. } | Link::Passed { by, .. } | Link::Other { by, .. } => *by,
    });
    operands
        .chain(links)
        .chain(step.chosen_by.iter().copied())
        .chain(step.called_by.iter().copied())
        .collect()
}

/// The statements around a decision that have to do with the failure, the nearest first.
fn reading(
    search: &mut Search<'_, '_>,
    critical: &Critical,
    before: &Story,
    failure: &Story,
) -> Vec<(Stmt, u32)> {
    let seed = Seed { time: critical.instance.time, kind: SeedKind::Decision };
    let after = search.recording.forward_slice(search.code, &[seed], Follow::Full, &mut Unseen);
    let mut near: BTreeMap<Stmt, u32> = BTreeMap::new();
    let upward = before.slice.statements.iter();
    let downward = after.statements.iter().filter(|(stmt, _)| failure.slice.statements.contains_key(stmt));
    for (stmt, share) in upward.chain(downward) {
        let known = near.entry(stmt.clone()).or_insert(share.distance);
        *known = share.distance.min(*known);
    }
    let mut near: Vec<(Stmt, u32)> = near.into_iter().collect();
    near.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
    near.truncate(MOST_READING);
    near
}

/// What computed the value that is wrong.
fn computed(search: &mut Search<'_, '_>, question: &Question) -> Vec<(Stmt, u32)> {
    let follow = if question.cells.is_empty() { Follow::Full } else { Follow::Data };
    let slice = search.recording.slice(search.code, question, follow, &mut Unseen);
    let mut near: Vec<(Stmt, u32)> =
        slice.statements.into_iter().map(|(stmt, share)| (stmt, share.distance)).collect();
    near.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
    near.truncate(MOST_READING);
    near
}

impl Explanation {
    /// Whether the likeliest cause is certain: it alone repairs the run, nothing was left untried, and what it compared was not
    /// computed by code that may be wrong itself. A loop that ends early proves nothing.
    pub fn is_certain(&self) -> bool {
        let repairs = self.causes.iter().filter(|cause| cause.critical.effect == Effect::Repairs).count();
        let Statistics { left_out, unverified, cut_short, .. } = self.statistics;
        let is_whole =
            !self.is_cut_short && [left_out, unverified, cut_short] == [0; 3] && self.left_out == 0;
        let is_plain = |cause: &Cause| {
            let computes = |step: &Told| step.role == Role::Makes && !step.made.is_empty();
            !cause.ends_loop && cause.critical.distance.is_some() && !cause.before.steps.iter().any(computes)
        };
        repairs == 1 && is_whole && self.causes.first().is_some_and(is_plain)
    }
}
