//! From the conditions that save a run to what a person is told: which is the cause, what led to it, and what came of it.

mod doubts;
mod paths;
mod rank;
mod recursion;
mod unset;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

pub use doubts::Doubt;
use machine::Time;
use program::{ConditionKind, Program, Stmt, conditions::Exit};
pub use recursion::RecursiveCall;
use replay::failure::{AbortKind, FailureKind};
use replay::story::{Asked, Beside, Decided, Link, Story, Subject, Told};
use replay::{Bounds, Cell, Follow, Question, Seed, SeedKind, Slice, Source, Unseen};
pub use unset::Unset;

use crate::criterion::{in_place_of_missing, printed_from};
use crate::instances::{Instance, Instances, KnownCondition};
use crate::switching::{Change, Critical, Effect, Found, Meter, Options, Search, Statistics};

/// So many causes are told of in full.
const MOST_CAUSES: usize = 4;
/// How far back the story of the failure goes, and that of what a cause compared.
const STORY_DEPTH: usize = 64;
const OPERANDS_DEPTH: usize = 6;
/// So many statements are listed to be read, and so many told that gave what was compared its value.
const MOST_READING: usize = 12;
const MOST_FROM: usize = 6;
const MOST_VALUE: usize = 4;
const MOST_BESIDE: usize = 2;

/// Why a run failed, as far as was found out.
pub struct Explanation {
    /// The likeliest first.
    pub causes: Vec<Cause>,
    /// Something that was used before anybody had given it a value.
    pub unset: Option<Unset>,
    /// That other decisions than the cause repair the run as well, or do as much as it does.
    pub has_others: bool,
    /// Of a stack that was used up: the calls of functions that call each other without end.
    pub recursion: Vec<RecursiveCall>,
    /// Decisions that save the run and are not told of.
    pub left_out: usize,
    /// How the failure came about, by dependence.
    pub story: Story,
    /// Of a failure at a statement: what gave what was used there its value, the nearest first.
    pub value: Vec<Told>,
    /// What wrote to other elements beside the value that was compared, or that is wrong, each followed by what led it there: the write that should have
    /// replaced the value may have missed it.
    pub beside: Vec<(Stmt, u32)>,
    /// With a cause: what else the failure depends on, the nearest first.
    pub further: Vec<(Stmt, u32)>,
    /// Without a cause: where what is wrong came from, the nearest first, and after that what decided about it.
    pub computed: Vec<(Stmt, u32)>,
    pub history: History,
    /// Of wrong output: when the program's own code put the wrong byte into the stream.
    pub emission: Option<Time>,
    pub statistics: Statistics,
    pub is_cut_short: bool,
    /// Nobody waited until all that there is to tell about the causes was found out.
    pub is_told_in_part: bool,
}

/// What it is that the statements which are told without a cause lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// A value that was computed.
    Computed,
    /// A constant, or a text of the program: it is not computed from anything.
    Constant,
    /// What a run without end goes by.
    Endless,
    /// What the program did in place of what it should have written, which has no history.
    InPlaceOfMissing,
}

/// A condition that should perhaps have gone the other way.
pub struct Cause {
    pub critical: Critical,
    pub decided: Decided,
    /// How often the condition was decided before the failure.
    pub total: u64,
    /// It let a loop go on, which would have ended otherwise.
    pub leaves_out: bool,
    /// Conditions that were decided by its outcome and save the run as well, in the order in which they were.
    pub steps: Vec<(Critical, Decided)>,
    /// From the condition to the failure, in the order in which it happened; empty if the failure does not depend on it.
    pub path: Vec<Told>,
    /// Where output is missing and so nothing leads to it: how it comes about when the condition goes the other way, from there on.
    pub missed: Vec<Told>,
    /// What gave what it compared its value, the nearest first.
    pub from: Vec<Told>,
    /// Other statements have a part in what it compared, told or not; or nobody knows.
    pub is_computed: bool,
    /// What to read, the nearest first, with how far it is.
    pub reading: Vec<(Stmt, u32)>,
    pub sizes: Sizes,
}

impl Cause {
    /// From the condition to the failure, or to what should have happened instead.
    pub fn way(&self) -> &[Told] {
        if self.path.is_empty() { &self.missed } else { &self.path }
    }
}

/// How many statements slices around a decision have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// What it came from and what came of it.
    pub both_ways: usize,
    /// What lies on a way from what makes the input fail to the failure, and what of that is around the decision.
    pub chop: Option<usize>,
    pub chop_both_ways: Option<usize>,
}

/// Finds out why a run failed.
pub fn explain(search: &mut Search<'_, '_>, asked: &Asked, options: &Options, meter: &Meter) -> Explanation {
    let mut found = search.run(options, meter);
    let story = search.recording.story(search.code, asked.clone(), STORY_DEPTH);
    let failing = story.end.stmt.clone();
    forget_the_check(search, &mut found, failing.as_ref());
    rank::find_distances(search, &mut found);
    let ranked = rank::rank(search, &found, right_around(&story));
    let (mut causes, mut followed) = (Vec::new(), unset::Followed::default());
    let mut unset = followed.unset(search, &story);
    for mut chain in ranked {
        chain.steps.retain(|step| search.holds_afresh(step));
        if causes.len() < MOST_CAUSES && search.holds_afresh(&chain.head) {
            if causes.is_empty() {
                let before = chain.before.as_ref();
                unset = unset.or_else(|| followed.unset(search, before?));
            }
            causes.push(cause(search, &found, &story, chain));
        }
    }
    if unset.is_some() && causes.iter().all(|cause| !cause.critical.effect.helps()) {
        // Not to come to where something was used that nobody gave a value is no repair, and the reason is known.
        causes.clear();
    }
    let mut led_by = None;
    if causes.is_empty() && unset.is_none() {
        (unset, led_by) = followed.first(search, &found).unzip();
    }
    let value = value(&search.failure.kind, &story, causes.first());
    let (has_others, left_out) = others(&found.critical, &causes);
    let (computed, history) = match causes.is_empty() {
        true => history(search, asked, led_by.as_ref()),
        false => (Vec::new(), History::Computed),
    };
    let beside = beside(search, &found.instances, asked, causes.first());
    let mut explained = Explanation {
        causes,
        unset,
        recursion: recursion::calls(search),
        has_others,
        left_out,
        story,
        value,
        beside,
        further: Vec::new(),
        computed,
        history,
        emission: Some(found.emission).filter(|emission| *emission < search.failure.time),
        statistics: found.statistics,
        is_cut_short: found.is_cut_short,
        is_told_in_part: search.recording.patience().is_over(),
    };
    explained.further = further(&explained);
    explained
}

/// Whether there are others that do as much as the likeliest cause, and how many that save the run are not told.
fn others(critical: &[Critical], causes: &[Cause]) -> (bool, usize) {
    let told =
        causes.iter().flat_map(|cause| cause.steps.iter().map(|(step, _)| step).chain([&cause.critical]));
    let saving = critical.iter().filter(|one| one.effect.saves());
    let left_out = saving.clone().count().saturating_sub(told.filter(|one| one.effect.saves()).count());
    let Some(head) = causes.first().map(|cause| &cause.critical) else { return (false, left_out) };
    let mut others = saving.filter(|one| one.place != head.place);
    (others.any(|one| one.effect <= head.effect.max(Effect::Fulfils)), left_out)
}

/// That the check that failed should have come out otherwise is no news.
fn forget_the_check(search: &Search<'_, '_>, found: &mut Found, failing: Option<&Stmt>) {
    let FailureKind::Abort(abort) = &search.failure.kind else { return };
    let is_check = matches!(abort.by, AbortKind::Assertion | AbortKind::Panic);
    let Found { instances, critical, .. } = found;
    let is_it = |one: &Critical| {
        let stmt = instances.known(&one.instance).and_then(|known| known.stmt.as_ref());
        is_check && stmt.zip(failing).is_some_and(|(stmt, failing)| line_of(stmt) == line_of(failing))
    };
    if critical.iter().any(|one| !is_it(one)) {
        critical.retain(|one| !is_it(one));
    }
}

/// How far the condition right around what failed is: a step further where the statement failed within a library.
fn right_around(story: &Story) -> u32 {
    let is_own = |step: &Told| step.depth == 1 && step.library.is_some() && step.stmt == story.end.stmt;
    if story.steps.iter().any(is_own) { 2 } else { 1 }
}

/// What a statement failed by has a history of its own, which is where the fault is when no condition is wrong. What was printed has one as well: where it
/// was computed may be wrong as likely as a pair of conditions.
fn value(kind: &FailureKind, story: &Story, cause: Option<&Cause>) -> Vec<Told> {
    let happens = matches!(
        kind,
        FailureKind::Crash { .. }
            | FailureKind::Abort(_)
            | FailureKind::GuestFault { .. }
            | FailureKind::AssertViolated(_)
    );
    let is_of_two = |cause: &Cause| matches!(&cause.critical.change, Change::With(second) if !second.is_same);
    if !cause.is_some_and(|cause| happens || is_of_two(cause)) {
        return Vec::new();
    }
    let data = story.slice.statements.iter().filter(|(_, share)| share.data_instances > 0);
    let mut data: Vec<(u32, &Stmt)> = data.map(|(stmt, share)| (share.distance, stmt)).collect();
    data.sort_unstable();
    let step = |stmt: &Stmt| story.steps.iter().find(|step| step.stmt.as_ref() == Some(stmt)).cloned();
    let mut near: Vec<Told> = data.into_iter().filter_map(|(_, stmt)| step(stmt)).collect();
    if !happens {
        near.retain(computes);
    }
    // A check that failed has no value of its own, but what it compared has.
    let near = if near.is_empty() { from(story) } else { near };
    let mut told: BTreeSet<Line> = story.end.stmt.iter().map(line_of).collect();
    let is_news = |step: &Told| step.stmt.as_ref().is_some_and(|stmt| told.insert(line_of(stmt)));
    near.into_iter().filter(is_news).take(MOST_VALUE).map(|step| of_its_use(story, step)).collect()
}

/// A step without the values of its last execution, where something used an earlier one: which value that was is not known.
fn of_its_use(story: &Story, step: Told) -> Told {
    let by_link = |link: &Link| match link {
        Link::Returned { by, .. } | Link::Passed { by, .. } | Link::Other { by, .. } => *by,
    };
    // What a step has of itself, as in `i++`, is of the execution before anyway.
    let users = [&story.end].into_iter().chain(&story.steps).filter(|user| user.number != step.number);
    let mut references = users.flat_map(|user| {
        let operands = user.used.iter().filter_map(|operand| operand.from);
        operands.chain(user.links.iter().map(by_link))
    });
    match references.any(|by| by.number == step.number && by.is_earlier) {
        true => Told { made: Vec::new(), ..step },
        false => step,
    }
}

/// Whether a step made something of several values, rather than hand one on.
fn computes(step: &Told) -> bool {
    !step.made.is_empty() && step.used.iter().filter(|operand| !operand.is_address).count() > 1
}

/// The nearest statements that the failure depends on and that are told nowhere else: what computed it before what decided about it.
fn further(explained: &Explanation) -> Vec<(Stmt, u32)> {
    let Some(cause) = explained.causes.first() else { return Vec::new() };
    let mut told = lines(cause.way().iter().chain(&cause.from).chain(&explained.value));
    told.extend(cause.reading.iter().chain(&explained.beside).map(|(stmt, _)| line_of(stmt)));
    told.extend(explained.causes.iter().filter_map(|cause| cause.decided.stmt.as_ref()).map(line_of));
    let mut near: Vec<(bool, u32, &Stmt)> = explained
        .story
        .slice
        .statements
        .iter()
        .map(|(stmt, share)| (share.data_instances == 0, share.distance, stmt))
        .collect();
    near.sort_unstable();
    let news = near.into_iter().filter(|(_, _, stmt)| told.insert(line_of(stmt)));
    news.take(MOST_READING).map(|(_, distance, stmt)| (stmt.clone(), distance)).collect()
}

/// What wrote beside the value that was compared, or without a cause beside what is wrong.
fn beside(
    search: &mut Search<'_, '_>,
    instances: &Instances,
    asked: &Asked,
    cause: Option<&Cause>,
) -> Vec<(Stmt, u32)> {
    if search.recording.patience().is_over() {
        return Vec::new();
    }
    let question = match cause {
        Some(cause) => rank::question_of(search, instances, &cause.critical.instance),
        None => printed_from(search.failure, asked, search.recording, search.code)
            .unwrap_or_else(|| asked.question.clone()),
    };
    let mut told = cause.map(|cause| lines(cause.way().iter().chain(&cause.from))).unwrap_or_default();
    let writes = search.recording.beside(search.code, &question).into_iter();
    let writes: Vec<Beside> =
        writes.filter(|write| told.insert(line_of(&write.stmt))).take(MOST_BESIDE).collect();
    let mut found = Vec::new();
    for write in writes {
        let led = led_by(search, &write).into_iter().filter(|stmt| told.insert(line_of(stmt)));
        let led: Vec<Stmt> = led.collect();
        found.push((write.stmt, 0));
        found.extend(led.into_iter().map(|stmt| (stmt, 1)));
    }
    found
}

/// The statements that computed where a write went.
fn led_by(search: &mut Search<'_, '_>, write: &Beside) -> Vec<Stmt> {
    let Beside { stmt, time, range } = write;
    let cells = vec![Cell::Memory { address: range.start, length: range.end - range.start }];
    let question = Question { time: Time(time.0 + 1), cells, why_here: false };
    let asked = Asked { question, subject: Subject::Reached, stmt: Some(stmt.clone()), hit: None };
    let story = search.recording.story(search.code, asked, OPERANDS_DEPTH);
    let own = story.steps.iter().filter(|step| step.stmt.as_ref() == Some(stmt));
    let addresses = own.flat_map(|step| &step.used).filter(|operand| operand.is_address);
    let makers = addresses.filter_map(|operand| step_of(&story, operand.from?.number));
    // Who hands a pointer on has not computed it.
    makers.filter(|maker| !maker.made.is_empty()).filter_map(|maker| maker.stmt.clone()).collect()
}

/// A step of a story by its number; 0 is what was asked about.
fn step_of(story: &Story, number: usize) -> Option<&Told> {
    [&story.end].into_iter().chain(&story.steps).find(|step| step.number == number)
}

fn cause(
    search: &mut Search<'_, '_>,
    found: &Found,
    failure: &Story,
    rank::Chain { head: critical, steps, before }: rank::Chain,
) -> Cause {
    let instances = &found.instances;
    let decided = decided(search, instances, &critical);
    let (reading, sizes) = match &before {
        Some(before) => reading(search, &critical, before, failure, found.chop.as_ref()),
        None => Default::default(),
    };
    let from = before.as_ref().map(from).unwrap_or_default();
    let is_computed = before.as_ref().is_none_or(is_computed);
    let steps = steps.into_iter().map(|step| {
        let decided = self::decided(search, instances, &step);
        (step, decided)
    });
    let steps: Vec<_> = steps.collect();
    let known = instances.known(&critical.instance);
    let path = paths::path(search, instances, &failure.asked.question, &critical);
    let missed = if path.is_empty() { paths::missed(search, &critical) } else { Vec::new() };
    Cause {
        total: known.map_or(0, |known| known.count),
        leaves_out: known.is_some_and(|known| known.leaves_out(&critical.instance)),
        path,
        missed,
        critical,
        decided,
        steps,
        from,
        is_computed,
        reading,
        sizes,
    }
}

/// Whether other statements have a part in what was asked about.
fn is_computed(story: &Story) -> bool {
    let own = story.end.stmt.as_ref().map(line_of);
    let data = story.slice.statements.iter().filter(|(_, share)| share.data_instances > 0);
    data.map(|(stmt, _)| line_of(stmt)).any(|line| Some(line) != own) || from(story).iter().any(doubts::makes)
}

/// What a condition compared, and how it was decided.
fn decided(search: &mut Search<'_, '_>, instances: &Instances, critical: &Critical) -> Decided {
    let decided = search.recording.decision(search.code, critical.instance.time);
    let holds = instances.known(&critical.instance).and_then(|known| holds(known, critical.instance.exit?));
    decided.by_machine(holds)
}

/// Whether a condition of the source holds when it ends so.
fn holds(known: &KnownCondition, exit: Exit) -> Option<bool> {
    match &known.condition.kind {
        ConditionKind::Branch { true_exit, .. } => true_exit.map(|yes| yes == exit),
        // The number that is made of it need not be the condition's own: the decision itself knows what the source has.
        ConditionKind::Value { .. } | ConditionKind::Select | ConditionKind::Switch { .. } => None,
    }
}

/// The steps that gave what was compared its value, the nearest first: values before the addresses that they were found by; what
/// decided about them is not among it.
fn from(before: &Story) -> Vec<Told> {
    let mut found: Vec<Told> = Vec::new();
    let mut seen = BTreeSet::from([0]);
    let mut queue = VecDeque::from([0]);
    // A check that failed is a decision of the statement itself.
    let own = before.end.chosen_by.iter().map(|by| by.number);
    let own = own.filter(|number| step_of(before, *number).is_some_and(|step| step.stmt == before.end.stmt));
    queue.extend(own.filter(|number| seen.insert(*number)));
    let (compared, returned) = (compared(before), returned(before));
    while let Some(step) = queue.pop_front().and_then(|number| step_of(before, number)) {
        let is_news = step.number != 0 && step.stmt != before.end.stmt;
        // A constant that is returned says something only to who compares it.
        let is_told = !step.used.is_empty() || compared.contains(&step.number);
        let is_return = is_return(step) && returned.contains(&step.number);
        let says = !step.made.is_empty() || is_return && is_told;
        if is_news && says && found.len() < MOST_FROM {
            found.push(step.clone());
        }
        // What is compared of a call is what it returned, not what it was given.
        let is_call = step.links.iter().any(|link| matches!(link, Link::Returned { .. }));
        let is_own = step.stmt == before.end.stmt;
        let next = if is_own && is_call { rank::outcomes(step) } else { made_from(step) };
        queue.extend(next.into_iter().filter(|next| seen.insert(*next)));
    }
    found.into_iter().map(|step| of_its_use(before, step)).collect()
}

/// The steps whose values were compared: what the statement itself only hands on is looked through.
fn compared(before: &Story) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut queue: VecDeque<usize> = rank::outcomes(&before.end).into();
    while let Some(number) = queue.pop_front() {
        let own = step_of(before, number).filter(|step| step.stmt == before.end.stmt);
        if found.insert(number) {
            queue.extend(own.map(rank::outcomes).unwrap_or_default());
        }
    }
    found
}

/// The steps whose values functions returned; others only passed something on.
fn returned(before: &Story) -> BTreeSet<usize> {
    let links = [&before.end].into_iter().chain(&before.steps).flat_map(|step| &step.links);
    let by = links.filter_map(|link| match link {
        Link::Returned { by, .. } => Some(by.number),
        Link::Passed { .. } | Link::Other { .. } => None,
    });
    by.collect()
}

fn is_return(step: &Told) -> bool {
    step.text.as_deref().is_some_and(|text| text.trim_start().starts_with("return"))
}

/// The steps whose values a step used, those first that are no addresses.
fn made_from(step: &Told) -> Vec<usize> {
    let operands = step.used.iter().filter_map(|operand| Some((operand.is_address, operand.from?.number)));
    let links = step.links.iter().map(|link| match link {
        Link::Returned { by, .. } | Link::Passed { by, .. } => (false, by.number),
        Link::Other { by, is_address } => (*is_address, by.number),
    });
    let mut all: Vec<(bool, usize)> = operands.chain(links).collect();
    all.sort_by_key(|(is_address, _)| *is_address);
    all.into_iter().map(|(_, number)| number).collect()
}

/// The statements around a decision that have to do with the failure, the nearest first; where it is known what of the input makes
/// the run fail, those before the others that lie on a way from there.
fn reading(
    search: &mut Search<'_, '_>,
    critical: &Critical,
    before: &Story,
    failure: &Story,
    chop: Option<&Slice>,
) -> (Vec<(Stmt, u32)>, Sizes) {
    let seed = Seed { time: critical.instance.time, kind: SeedKind::Decision };
    let after = search.recording.forward_slice(search.code, &[seed], Follow::Full, &mut Unseen);
    let around: BTreeSet<&Stmt> = before.slice.statements.keys().chain(after.statements.keys()).collect();
    let within = |chop: &Slice| around.iter().filter(|stmt| chop.statements.contains_key(**stmt)).count();
    let sizes = Sizes {
        both_ways: around.len(),
        chop: chop.map(|chop| chop.statements.len()),
        chop_both_ways: chop.map(within),
    };
    let mut near: BTreeMap<Stmt, u32> = BTreeMap::new();
    let upward = before.slice.statements.iter();
    let downward = after.statements.iter().filter(|(stmt, _)| failure.slice.statements.contains_key(stmt));
    for (stmt, share) in upward.chain(downward) {
        let known = near.entry(stmt.clone()).or_insert(share.distance);
        *known = share.distance.min(*known);
    }
    let is_on_the_way = |stmt: &Stmt| chop.is_none_or(|chop| chop.statements.contains_key(stmt));
    let (first, then): (Vec<_>, Vec<_>) = near.into_iter().partition(|(stmt, _)| is_on_the_way(stmt));
    let mut reading = nearest(first);
    reading.extend(nearest(then));
    reading.truncate(MOST_READING);
    (reading, sizes)
}

/// Where what is wrong came from, and what that is.
fn history(
    search: &mut Search<'_, '_>,
    asked: &Asked,
    led_by: Option<&Question>,
) -> (Vec<(Stmt, u32)>, History) {
    let mut lines = BTreeSet::new();
    if let Some(question) = in_place_of_missing(search.failure, search.recording, search.code) {
        let mut listed = led_by.map_or_else(Vec::new, |led| computed(search, led, &KINDS[..2], &mut lines).0);
        listed.extend(computed(search, &question, &KINDS, &mut lines).0);
        return (listed, History::InPlaceOfMissing);
    }
    let printed = printed_from(search.failure, asked, search.recording, search.code);
    let value = printed.as_ref().unwrap_or(&asked.question);
    let (mut listed, is_constant) = computed(search, value, &KINDS, &mut lines);
    // Where a byte stands depends on what was printed before it, so its own history comes after that of the value.
    if printed.is_some() {
        listed.extend(computed(search, &asked.question, &KINDS[2..], &mut lines).0);
    }
    let history = match search.failure.kind {
        FailureKind::Hang { .. } => History::Endless,
        _ if is_constant => History::Constant,
        _ => History::Computed,
    };
    (listed, history)
}

/// What computed a value, what decided about it, and what would have if it had gone the other way.
const KINDS: [Follow; 3] = [Follow::Data, Follow::Full, Follow::Relevant(Bounds::DEFAULT)];

/// What a value depends on by dependences of these kinds, one after the other, each line once; and whether it is a constant.
fn computed(
    search: &mut Search<'_, '_>,
    question: &Question,
    kinds: &[Follow],
    lines: &mut BTreeSet<Line>,
) -> (Vec<(Stmt, u32)>, bool) {
    let kinds = kinds.iter().filter(|kind| **kind != Follow::Data || !question.cells.is_empty());
    let mut listed = Vec::new();
    let mut is_constant = false;
    for follow in kinds {
        if matches!(follow, Follow::Relevant(_)) && search.recording.patience().is_over() {
            break;
        }
        let is_data = *follow == Follow::Data;
        let asked = Question { why_here: question.why_here && !is_data, ..question.clone() };
        let slice = search.recording.slice(search.code, &asked, *follow, &mut Unseen);
        is_constant |= is_data && is_constant_of(search.flow.program(), &slice);
        let more = slice.statements.into_iter().filter(|(stmt, _)| !lines.contains(&line_of(stmt)));
        let near = nearest(more.map(|(stmt, share)| (stmt, share.distance)).collect());
        lines.extend(near.iter().map(|(stmt, _)| line_of(stmt)));
        listed.extend(near);
    }
    (listed, is_constant)
}

/// Whether what a data slice was made for comes from nothing but the program's own file, in one statement; or from one constant, which others handed on.
fn is_constant_of(program: &Program, slice: &Slice) -> bool {
    let has_lines = slice.statements.keys().all(|stmt| !stmt.file.is_empty());
    let is_own = |source: &Source| match source {
        Source::Constant(_) => true,
        Source::Initial { address } => program.file_bytes(*address).is_some(),
        _ => false,
    };
    let is_one = match slice.sources.keys().next() {
        Some(Source::Constant(_)) => slice.sources.len() == 1,
        _ => slice.statements.len() == 1,
    };
    is_one && has_lines && slice.sources.keys().all(is_own)
}

fn lines<'t>(steps: impl IntoIterator<Item = &'t Told>) -> BTreeSet<Line> {
    steps.into_iter().filter_map(|step| step.stmt.as_ref()).map(line_of).collect()
}

/// The nearest statements, each line once.
fn nearest(mut statements: Vec<(Stmt, u32)>) -> Vec<(Stmt, u32)> {
    statements.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
    let mut lines = BTreeSet::new();
    statements.retain(|(stmt, _)| lines.insert(line_of(stmt)));
    statements.truncate(MOST_READING);
    statements
}

/// A file and a line; where there is no file, a function.
type Line = (Arc<str>, u32, Option<Arc<str>>);

/// What a person takes for one statement: a line, or a function where there are no lines.
fn line_of(stmt: &Stmt) -> Line {
    let function = stmt.function.clone().filter(|_| stmt.file.is_empty());
    (stmt.file.clone(), stmt.line, function)
}

/// The story of what a decision was made by; `None` if nobody waits for it.
fn story_of(search: &mut Search<'_, '_>, instances: &Instances, instance: &Instance) -> Option<Story> {
    if search.recording.patience().is_over() {
        return None;
    }
    let question = rank::question_of(search, instances, instance);
    let stmt = instances.known(instance).and_then(|known| known.stmt.clone());
    let asked = Asked { question, subject: Subject::Reached, stmt, hit: None };
    Some(search.recording.story(search.code, asked, OPERANDS_DEPTH))
}
