//! Puts a story together: which steps are told, in which order, and what each says.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use machine::Time;
use program::{State, Stmt};

use super::describe::View;
use super::mentions::{called, mentions};
use super::origins::Beginning;
use super::web::{CRITERION, Kind, Knot, Web};
use super::{
    Asked, Link, Passed, Reference, Repeats, Role, Story, Subject, Told, gather, overread, suspect, truth,
};
use crate::Recording;
use crate::dependence::{Code, Follow, Made, Step, StmtId};

/// More steps than this nobody reads; the nearest are told.
const MOST_STEPS: usize = 60;

impl Recording {
    /// The story of what was asked about, told for so many steps back.
    pub fn story(&mut self, code: &mut Code<'_>, asked: Asked, depth: usize) -> Story {
        let mut web = Web::new();
        let slice = self.slice(code, &asked.question, Follow::Full, &mut web);
        fold_braces(&mut web, code);
        let reached = distances(&web);
        let chosen = nearest(&reached, depth);
        let numbers = numbers(&web, &chosen);
        let mut tale = Tale { web: &web, numbers: &numbers, reached: &reached };
        let mut told: Vec<Told> = tale.begin(code, &asked, &chosen);
        tale.look(self, code, &asked, &mut told);
        tale.name_origins(self, code, &mut told);
        name_functions(&mut told);
        name_arguments(&mut told);
        told.iter_mut().for_each(tell_repeats_alike);
        told.iter_mut().for_each(tell_as_value_what_is_counted_on);
        told.sort_by_key(|step| step.number);
        let mut steps = told.into_iter();
        let end = steps.next().unwrap_or_else(|| blank(0, 0, Role::Asked));
        let left_out = reached.len().saturating_sub(chosen.len());
        let deepest = reached.values().copied().max().unwrap_or(0);
        let suspect = suspect::pattern(&web, code);
        Story { asked, end, steps: steps.collect(), left_out, deepest, suspect, slice }
    }
}

/// At a closing brace compilers only move a result to where it is returned in.
fn fold_braces(web: &mut Web, code: &Code<'_>) {
    let is_brace = |knot: &Knot| {
        let text = code.statement(knot.stmt).and_then(|stmt| code.program().text_of(stmt));
        text.as_deref().map(str::trim) == Some("}")
    };
    let braces: Vec<usize> =
        (1..web.knots.len()).filter(|index| web.knots.get(*index).is_some_and(is_brace)).collect();
    for brace in braces {
        web.fold(brace);
    }
}

/// How many steps each knot is away, as far as ways lead there.
fn distances(web: &Web) -> BTreeMap<usize, usize> {
    let mut reached = BTreeMap::from([(CRITERION, 0)]);
    let mut queue = VecDeque::from([CRITERION]);
    while let Some(at) = queue.pop_front() {
        let distance = reached.get(&at).copied().unwrap_or(0);
        for next in web.knots.get(at).map(Knot::uses).unwrap_or_default() {
            if let std::collections::btree_map::Entry::Vacant(entry) = reached.entry(next) {
                entry.insert(distance + 1);
                queue.push_back(next);
            }
        }
    }
    reached
}

/// The knots that are told.
fn nearest(reached: &BTreeMap<usize, usize>, depth: usize) -> BTreeSet<usize> {
    let mut near: Vec<(usize, usize)> = reached.iter().map(|(knot, distance)| (*distance, *knot)).collect();
    near.sort_unstable();
    let near = near.into_iter().filter(|(distance, _)| *distance <= depth);
    near.take(MOST_STEPS + 1).map(|(_, knot)| knot).collect()
}

/// Numbers for knots, the newest first; 0 is what was asked about.
fn numbers(web: &Web, chosen: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
    let time = |knot: usize| web.knots.get(knot).map_or(Time(0), Knot::time);
    let mut order: Vec<usize> = chosen.iter().copied().filter(|knot| *knot != CRITERION).collect();
    order.sort_by_key(|knot| (std::cmp::Reverse(time(*knot)), *knot));
    order.into_iter().enumerate().map(|(index, knot)| (knot, index + 1)).chain([(CRITERION, 0)]).collect()
}

pub(super) fn blank(number: usize, depth: usize, role: Role) -> Told {
    let (made, used, links, chosen_by, called_by, origins, overflows) = Default::default();
    let (stmt, text, calls, passed, library, repeats) = Default::default();
    let time = Time(0);
    Told {
        number,
        depth,
        stmt,
        text,
        time,
        role,
        made,
        used,
        links,
        chosen_by,
        called_by,
        calls,
        passed,
        library,
        origins,
        repeats,
        overflows,
        left_out: 0,
    }
}

/// What is to be seen of a step in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Before,
    /// After a condition decided.
    After,
    /// After it made something.
    Made,
    /// After the first time that it happened.
    First,
}

struct Tale<'a> {
    web: &'a Web,
    numbers: &'a BTreeMap<usize, usize>,
    reached: &'a BTreeMap<usize, usize>,
}

impl Tale<'_> {
    fn knot(&self, knot: usize) -> Option<&Knot> {
        self.web.knots.get(knot)
    }

    /// The steps with all that needs no look at a state, in no order.
    fn begin(&self, code: &Code<'_>, asked: &Asked, chosen: &BTreeSet<usize>) -> Vec<Told> {
        let mut steps = Vec::new();
        for index in chosen {
            let Some(knot) = self.knot(*index) else { continue };
            let number = self.numbers.get(index).copied().unwrap_or(0);
            let depth = self.reached.get(index).copied().unwrap_or(0);
            let is_asked = *index == CRITERION;
            let stmt = if is_asked { asked.stmt.clone() } else { code.statement(knot.stmt).cloned() };
            let uses = knot.uses();
            let text = stmt.as_ref().and_then(|stmt| code.program().text_of(stmt));
            steps.push(Told {
                calls: self.calls(stmt.as_ref(), text.as_deref()),
                text,
                stmt,
                time: if is_asked { asked.question.time } else { knot.time() },
                repeats: self.repeats(*index, knot),
                left_out: uses.iter().filter(|used| !self.numbers.contains_key(used)).count(),
                ..blank(number, depth, if is_asked { Role::Asked } else { role(knot) })
            });
        }
        steps
    }

    fn calls(&self, stmt: Option<&Stmt>, text: Option<&str>) -> Vec<String> {
        let function = stmt.and_then(|stmt| stmt.function.as_deref());
        let bare = function.map(|name| name.split('(').next().unwrap_or(name));
        let own = bare.map(|name| name.rsplit("::").next().unwrap_or(name));
        called(text.unwrap_or_default(), own).into_iter().map(str::to_owned).collect()
    }

    fn repeats(&self, index: usize, knot: &Knot) -> Option<Repeats> {
        if knot.instances < 2 {
            return None;
        }
        let mut from: Vec<Reference> = Vec::new();
        for ((maker, kind), thread) in &knot.threads {
            let is_older = thread.used.is_empty() && *maker != index;
            if let (true, Kind::Value | Kind::Address, Some(number)) =
                (is_older, kind, self.numbers.get(maker))
            {
                from.push(Reference { number: *number, is_earlier: false });
            }
        }
        from.sort_unstable();
        from.dedup();
        let first = knot.oldest.map_or(Time(0), |step| step.time);
        let (made, origins) = Default::default();
        Some(Repeats { times: knot.instances, first, made, from, origins })
    }

    /// Goes to the instants of the steps, the earliest first, since that is the cheapest order.
    fn look(&mut self, recording: &mut Recording, code: &mut Code<'_>, asked: &Asked, steps: &mut [Told]) {
        let by_number: BTreeMap<usize, usize> =
            self.numbers.iter().map(|(knot, number)| (*number, *knot)).collect();
        let mut looks: BTreeMap<Time, Vec<(usize, Look)>> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let mut at = |time: Time, look: Look| looks.entry(time).or_default().push((index, look));
            at(step.time, Look::Before);
            if step.role != Role::Asked {
                at(Time(step.time.0.saturating_add(1)), Look::After);
            }
            let knot = by_number.get(&step.number).and_then(|knot| self.knot(*knot));
            if let Some(last) = knot.and_then(Knot::last_value) {
                at(Time(last.time.0.saturating_add(1)), Look::Made);
            }
            if let Some(repeats) = &step.repeats {
                at(Time(repeats.first.0.saturating_add(1)), Look::First);
            }
        }
        for (time, wanted) in looks {
            let process = recording.at(time);
            let state = State::of(&process.machine);
            for (index, look) in wanted {
                let Some(step) = steps.get_mut(index) else { continue };
                let knot = by_number.get(&step.number).and_then(|knot| self.knot(*knot));
                let Some(knot) = knot else { continue };
                self.look_at(step, knot, look, asked, &state, code);
            }
        }
    }

    fn look_at(
        &self,
        step: &mut Told,
        knot: &Knot,
        look: Look,
        asked: &Asked,
        state: &State<'_>,
        code: &mut Code<'_>,
    ) {
        let statements: BTreeMap<StmtId, Stmt> = knot
            .uses()
            .iter()
            .filter_map(|used| self.knot(*used))
            .filter_map(|used| Some((used.stmt, code.statement(used.stmt)?.clone())))
            .collect();
        let view = View::new(state, code);
        let text = match (&asked.subject, step.role) {
            (Subject::Value { expression, .. }, Role::Asked) => expression.clone(),
            (_, Role::Asked) => String::new(),
            _ => step.text.clone().unwrap_or_default(),
        };
        match (look, step.role) {
            (Look::Before, Role::Initialises) => {
                step.made =
                    step.stmt.as_ref().map(|stmt| gather::initialised(stmt, &view)).unwrap_or_default();
            }
            (_, Role::Initialises) => {}
            (Look::Before, _) => {
                let find = |maker: usize, used: &Step| {
                    let number = *self.numbers.get(&maker)?;
                    let is_earlier = self.knot(maker).is_some_and(|knot| knot.newest != used.maker);
                    Some(Reference { number, is_earlier })
                };
                let assigned = |maker: usize| {
                    let stmt = self.knot(maker).and_then(|knot| statements.get(&knot.stmt))?;
                    let text = view.program.text_of(stmt)?;
                    let found = mentions(&text).into_iter().filter(|mention| mention.is_assigned);
                    Some(found.map(|mention| mention.text).collect())
                };
                let links = gather::Links { find: &find, assigned: &assigned };
                gather::before(step, knot, &text, &view, &links);
            }
            (Look::After, _) => {
                if let Role::Decides { holds } = &mut step.role {
                    let next = state.registers().rip().unwrap_or(0);
                    let decision = knot.made.iter().find(|made| made.made == Made::Decision);
                    let by_branch = decision
                        .filter(|decision| decision.time == knot.time())
                        .and_then(|decision| truth::by_branch(view.program, decision.address, next));
                    *holds = by_branch.or(*holds);
                }
            }
            (Look::Made, _) => step.made = gather::made(&knot.made, &text, &view),
            (Look::First, _) => {
                let first: Vec<Step> = knot.oldest.into_iter().collect();
                if let Some(repeats) = &mut step.repeats {
                    repeats.made = gather::made(&first, &text, &view);
                }
            }
        }
    }

    fn name_origins(&self, recording: &mut Recording, code: &mut Code<'_>, steps: &mut [Told]) {
        let by_number: BTreeMap<usize, usize> =
            self.numbers.iter().map(|(knot, number)| (*number, *knot)).collect();
        let beginning = Beginning::of(recording);
        let mut last = recording.at(recording.end());
        let program = code.program();
        for step in steps {
            let Some(knot) = by_number.get(&step.number).and_then(|knot| self.knot(*knot)) else { continue };
            let mut of = |is_newest: bool| {
                let ends = knot.ends.iter().filter(|(_, newest)| **newest == is_newest);
                beginning.origins(ends.map(|(source, _)| source), program, &mut last)
            };
            let mut newest = of(true);
            if newest.len() > 1 && overread::reads_by_the_way(step) {
                let process = recording.at(step.time);
                let state = State::of(&process.machine);
                let view = View::new(&state, code);
                newest = overread::leave_out_neighbours(newest, step, &beginning, &view);
            }
            if let Some(repeats) = &mut step.repeats {
                repeats.origins.extend(of(false).difference(&newest).cloned());
            }
            step.origins.extend(newest);
        }
    }
}

fn role(knot: &Knot) -> Role {
    let is = |wanted: Made| knot.made.iter().any(|step| step.made == wanted);
    let is_initialiser = |step: &Step| step.address == 0 && matches!(step.made, Made::Memory { .. });
    if knot.made.iter().all(is_initialiser) {
        Role::Initialises
    } else if is(Made::Decision) {
        Role::Decides { holds: None }
    } else if knot.made.iter().all(|step| step.made == Made::Call) {
        Role::Calls
    } else {
        Role::Makes
    }
}

/// What was returned was returned by the function of the step that did it.
fn name_functions(steps: &mut [Told]) {
    let functions: BTreeMap<usize, Option<String>> = steps
        .iter()
        .map(|step| {
            let function = step.stmt.as_ref().and_then(|stmt| stmt.function.as_ref());
            (step.number, function.map(|name| name.to_string()))
        })
        .collect();
    for step in steps {
        let own = functions.get(&step.number).cloned().flatten();
        let calls = !step.calls.is_empty();
        for link in &mut step.links {
            if let Link::Returned { function, by } = link {
                let found = functions.get(&by.number).cloned().flatten();
                *function = found.filter(|name| calls || Some(name) != own.as_ref());
            }
        }
    }
}

/// What a function was given is told at the call, too, since the text there may not show it.
fn name_arguments(steps: &mut [Told]) {
    let mut found: Vec<(usize, Passed)> = Vec::new();
    for step in steps.iter() {
        let function =
            step.stmt.as_ref().and_then(|stmt| stmt.function.as_ref()).map(|name| name.to_string());
        let operands = step.used.iter().filter(|operand| operand.is_parameter);
        let operands = operands.filter_map(|operand| Some((operand.from?, operand.known.clone())));
        let links = step.links.iter().filter_map(|link| match link {
            Link::Passed { parameter, by } => Some((*by, parameter.clone()?)),
            Link::Returned { .. } | Link::Other { .. } => None,
        });
        for (by, known) in operands.chain(links).filter(|(by, _)| !by.is_earlier && by.number != step.number)
        {
            found.push((by.number, Passed { function: function.clone(), known }));
        }
    }
    for (number, passed) in found {
        if let Some(step) = steps.iter_mut().find(|step| step.number == number)
            && !step.passed.contains(&passed)
        {
            step.passed.push(passed);
            step.passed.sort_by(|one, other| one.known.name.cmp(&other.known.name));
        }
    }
}

/// The first time is told by the names that the last is told by.
fn tell_repeats_alike(step: &mut Told) {
    if let Some(repeats) = &mut step.repeats
        && !step.made.is_empty()
    {
        repeats.made.retain(|known| step.made.iter().any(|made| made.name == known.name));
    }
}

/// `text[length++] = letter` makes the next length of the length, whatever else it goes by it to.
fn tell_as_value_what_is_counted_on(step: &mut Told) {
    for operand in &mut step.used {
        operand.is_address &= step.made.iter().all(|made| made.name != operand.known.name);
    }
}
