//! Which of the conditions that save a run is the likeliest cause.
//!
//! The nearest to the failure first: everything that comes before it can keep it from happening, and most of that is innocent. From
//! there the way leads upstream only as long as one condition hands its outcome on to the next as a value: `if (is_large(x))`
//! to the `return x > limit` in it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use lift::Reg;
use linux::{HeapFault, Relation};
use machine::Time;
use program::conditions::MemberKind;
use program::{Program, Scope, Stmt, Trust};
use replay::failure::FailureKind;
use replay::story::{Link, Role, Story, Told};
use replay::{Cell, Outcome, Question, Recording, Scanner, Seed, SeedKind};

use super::{step_of, story_of};
use crate::instances::{Instance, Instances, KnownCondition};
use crate::switching::{Change, Critical, Effect, Found, Search};

/// So often an outcome is handed on.
const MOST_HANDED_ON: usize = 4;
/// So many steps lie at most between a condition and the one that hands its outcome on to it.
const MOST_BETWEEN: usize = 16;

/// A condition, and those that were decided by its outcome.
pub struct Chain {
    pub head: Critical,
    /// In the order in which they were decided.
    pub steps: Vec<Critical>,
    /// Where came from what the head was decided by; `None` if nobody waited for it.
    pub before: Option<Story>,
}

/// What failed may depend on decisions by what they left out: then they are at a distance, too.
pub fn find_distances(search: &mut Search<'_, '_>, found: &mut Found) {
    if found.critical.iter().all(|one| one.distance.is_some()) || search.recording.patience().is_over() {
        return;
    }
    search.find_relevant_distances(found);
    for one in &mut found.critical {
        one.distance = one.distance.or(found.distances.get(&one.place).copied());
    }
}

/// The likeliest first; of each condition the likeliest decision. The condition right around what failed is `near`.
pub fn rank(search: &mut Search<'_, '_>, found: &Found, near: u32) -> Vec<Chain> {
    let (kind, program) = (&search.failure.kind, search.flow.program());
    let is_the_act = is_the_act(search.recording);
    let mut critical = found.critical.clone();
    critical.sort_by_cached_key(|one| {
        (
            is_trusted(program, found, one),
            worth(kind, is_the_act, found, one, near),
            one.distance.unwrap_or(u32::MAX),
            Reverse(one.instance.time),
            one.trial,
        )
    });
    let mut chains: Vec<Chain> = Vec::new();
    let mut told = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for nearest in &critical {
        // A compiler may check a condition of the source at several places: who reads it sees one.
        let is_told_elsewhere = || written(program, found, nearest).is_some_and(|text| texts.contains(&text));
        if told.contains(&nearest.instance.condition) || is_told_elsewhere() {
            continue;
        }
        let heads: Vec<usize> = chains.iter().map(|chain| chain.head.place).collect();
        let is_news = |one: &Critical| !told.contains(&one.instance.condition) || heads.contains(&one.place);
        let chain = upstream(search, found, nearest, &critical, is_news);
        told.extend(chain.steps.iter().chain([&chain.head]).map(|one| one.instance.condition));
        texts.extend(written(program, found, &chain.head));
        match chains.iter_mut().find(|known| known.head.place == chain.head.place) {
            Some(known) => known.steps.extend(chain.steps),
            None => chains.push(chain),
        }
        if chains.len() >= super::MOST_CAUSES {
            break;
        }
    }
    chains
}

/// Whether a condition is in code that nobody suspects unless asked to: it comes after all that the program itself decides.
fn is_trusted(program: &Program, found: &Found, one: &Critical) -> bool {
    let stmt = found.instances.known(&one.instance).and_then(|known| known.stmt.as_ref());
    stmt.is_some_and(|stmt| Scope::default().of_statement(program, stmt) != Trust::InScope)
}

/// The statement of a condition, and what is written there.
fn written(program: &Program, found: &Found, one: &Critical) -> Option<(Stmt, String)> {
    let known = found.instances.known(&one.instance)?;
    let stmt = known.stmt.clone()?;
    let text = program.written_condition(known.condition.id.address, &stmt)?.text;
    Some((stmt, text))
}

/// Whether the run was stopped at the very act that is wrong: an access beyond a block, or the freeing of what cannot be freed. That a block is accessed
/// that has been freed may be the fault of who freed it.
fn is_the_act(recording: &Recording) -> bool {
    match recording.last().heap_fault() {
        Some(HeapFault::Access { nearby, .. }) => {
            nearby.is_none_or(|nearby| !matches!(nearby.relation, Relation::Inside(_)))
        }
        Some(HeapFault::Misuse(_)) => true,
        None => false,
    }
}

/// How much it says that a condition saves the run; the least says most.
fn worth(
    kind: &FailureKind,
    is_the_act: bool,
    found: &Found,
    one: &Critical,
    near: u32,
) -> (u8, bool, bool, bool) {
    let is_near = one.distance.is_some_and(|distance| distance <= near);
    let effect = match one.effect {
        Effect::Repairs | Effect::Fulfils => 0,
        // The checked heap stops a run at the very access that is wrong: to keep from it is all that can be done.
        Effect::Skips if is_near && is_the_act => 0,
        Effect::Skips if is_near => 1,
        Effect::Survives if one.distance.is_some() => 1,
        Effect::Skips => 2,
        Effect::Survives => 3,
        Effect::Postpones => 4,
    };
    // A loop that ends early leaves out all that comes after: that it saves the run says little, unless it should end.
    let known = found.instances.known(&one.instance);
    let is_whole = matches!(one.change, Change::Inverted | Change::Always(_));
    let second = if let Change::With(second) = &one.change { Some(second) } else { None };
    let leaves_out = second.is_some_and(|second| second.leaves_out)
        || known.is_some_and(|known| known.leaves_out(&one.instance) || is_whole && known.goes_on.is_some());
    // One mistake is likelier than two, and a condition that is wrong is often decided wrongly more than once.
    let is_of_two = second.is_some_and(|second| !second.is_same);
    // Nobody can look at what has no place in the source.
    let is_nowhere = known.is_none_or(|known| known.stmt.is_none());
    let is_endless = matches!(kind, FailureKind::Hang { .. } | FailureKind::StackOverflow { .. });
    let should_end = is_endless || effect == 0 && one.effect == Effect::Skips;
    (effect, is_nowhere, leaves_out && !should_end, is_of_two)
}

/// Goes from a condition to the one whose outcome it was decided by, and so on.
fn upstream(
    search: &mut Search<'_, '_>,
    found: &Found,
    nearest: &Critical,
    all: &[Critical],
    is_news: impl Fn(&Critical) -> bool,
) -> Chain {
    let mut chain = vec![nearest.clone()];
    let mut before = story_of(search, &found.instances, &nearest.instance);
    while chain.len() <= MOST_HANDED_ON {
        let known = |one: &&Critical| chain.iter().all(|member| member.place != one.place);
        let others: Vec<&Critical> =
            all.iter().filter(known).filter(|one| one.effect == nearest.effect && is_news(one)).collect();
        let next = before.as_ref().and_then(|before| handed_on_by(search, before, &found.instances, &others));
        let Some(next) = next else { break };
        before = story_of(search, &found.instances, &next.instance);
        chain.push(next);
    }
    let head = chain.pop().unwrap_or_else(|| nearest.clone());
    chain.reverse();
    Chain { head, steps: chain, before }
}

/// The one of some decisions whose outcome became what is asked about in a story.
fn handed_on_by(
    search: &mut Search<'_, '_>,
    story: &Story,
    instances: &Instances,
    others: &[&Critical],
) -> Option<Critical> {
    let mut seen = BTreeSet::from([0]);
    let mut queue: VecDeque<usize> = outcomes(&story.end).into();
    while let Some(step) = queue.pop_front().and_then(|number| step_of(story, number)) {
        if seen.len() > MOST_BETWEEN {
            return None;
        }
        if !seen.insert(step.number) {
            continue;
        }
        let values = outcomes(step);
        let own = decision_of(search.flow.program(), step, instances, others);
        match own.filter(|own| is_one_activation(search.recording, own.instance.time, step.time)) {
            Some(found) => return Some(found.clone()),
            // What is computed from several values is nobody's outcome.
            None if values.len() == 1 => queue.extend(values),
            None => {}
        }
    }
    None
}

/// The steps that made the value of a step: of a call what it returned, not what it was given; and no addresses.
pub fn outcomes(step: &Told) -> Vec<usize> {
    let returned = step.links.iter().filter_map(|link| match link {
        Link::Returned { by, .. } => Some(by.number),
        _ => None,
    });
    let returned: Vec<usize> = returned.collect();
    if !returned.is_empty() {
        return returned;
    }
    let operands = step.used.iter().filter(|operand| !operand.is_address);
    let operands = operands.filter_map(|operand| Some(operand.from?.number));
    let links = step.links.iter().filter_map(|link| match link {
        Link::Passed { by, .. } | Link::Other { by, is_address: false } => Some(by.number),
        Link::Returned { .. } | Link::Other { .. } => None,
    });
    operands.chain(links).collect()
}

/// The one of some decisions whose outcome a step made its value of.
fn decision_of<'c>(
    program: &Program,
    step: &Told,
    instances: &Instances,
    others: &[&'c Critical],
) -> Option<&'c Critical> {
    let place = |stmt: &Stmt| (stmt.file.clone(), stmt.line, stmt.function.clone());
    // What a library wrote for the statement, as `scanf` does, is not what that decided.
    let own = step.stmt.as_ref().filter(|_| step.library.is_none()).map(place)?;
    let becomes_value = |one: &&&Critical| {
        let known = instances.known(&one.instance);
        let is_it = known.and_then(|known| known.stmt.as_ref()).map(place).as_ref() == Some(&own);
        let decides = || matches!(step.role, Role::Decides { .. });
        is_it
            && known
                .is_some_and(|known| known.becomes_value() || decides() && !is_controlling(program, known))
    };
    others
        .iter()
        .filter(becomes_value)
        .find(|one| instances.is_last_before(&one.instance, step.time))
        .copied()
}

/// Whether a condition only decides what is executed: what its statement made besides, as a call in it that reads the next line, was made before it was
/// decided.
fn is_controlling(program: &Program, known: &KnownCondition) -> bool {
    let written = |stmt| program.written_condition(known.condition.id.address, stmt);
    known.stmt.as_ref().and_then(written).is_some_and(|written| written.controls)
}

/// Whether the activation that is there at one instant is still there at another. A function that is called again is in another one, and what it decided
/// before is not what it hands on.
fn is_one_activation(recording: &mut Recording, from: Time, to: Time) -> bool {
    let length = to.0.saturating_sub(from.0).saturating_add(1);
    let arrival = recording.divert(from, &[]).run_to(None, length, &mut Scanner::default());
    arrival.outcome != Outcome::Left || arrival.time > to
}

/// What a decision was made by. Why it was made at all is another matter: what it is within decides about all that it does.
pub fn question_of(search: &mut Search<'_, '_>, instances: &Instances, instance: &Instance) -> Question {
    let time = instance.time;
    let known = instances.known(instance);
    let member = known.and_then(|known| known.condition.members.get(usize::from(instance.member)));
    if member.is_some_and(|member| matches!(member.kind, MemberKind::Jump | MemberKind::Table)) {
        let seed = Seed { time, kind: SeedKind::Decision };
        return Question { why_here: false, ..search.recording.question_of(search.code, &seed) };
    }
    // What is no jump goes by the flags.
    let flags = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];
    Question { time, cells: flags.map(|reg| Cell::Register(reg, 0xff)).to_vec(), why_here: false }
}
