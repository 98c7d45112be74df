//! Fills the steps of a story with what is seen at their instants.

use std::ops::Range;

use lift::Reg;
use program::{Part, Place, Stmt};

use super::ask::register;
use super::describe::{Seen, View};
use super::mentions::mentions;
use super::parameters::parameter;
use super::web::{Kind, Knot};
use super::{Known, Link, Operand, Origin, Reference, Role, Told, overflow, overread, truth};
use crate::dependence::{Made, Source, Step};

/// So many things that a step made or used are told.
const MOST_TOLD: usize = 6;

/// What a step needs to know of those that it uses.
pub(super) struct Links<'a> {
    /// Which step a knot is, as seen from a step that uses it.
    pub find: &'a dyn Fn(usize, &Step) -> Option<Reference>,
    /// What the text of a knot's statement assigns to.
    pub assigned: &'a dyn Fn(usize) -> Option<Vec<String>>,
}

/// What the step was made from, in the state before it.
pub(super) fn before(told: &mut Told, knot: &Knot, text: &str, view: &View<'_>, links: &Links<'_>) {
    let seen: Vec<Seen> = mentions(text).iter().filter_map(|mention| view.see(mention)).collect();
    let reads = seen.iter().filter(|seen| seen.mention.is_read && seen.value.place.is_some());
    let mut operands: Vec<(Seen, Operand)> = reads
        .map(|seen| {
            let operand = Operand {
                known: seen.known(),
                is_address: seen.mention.is_address,
                is_parameter: false,
                from: None,
            };
            (seen.clone(), operand)
        })
        .collect();
    for ((maker, kind), thread) in &knot.threads {
        for step in &thread.used {
            let Some(reference) = (links.find)(*maker, step) else { continue };
            match kind {
                Kind::Decision => add(&mut told.chosen_by, reference),
                Kind::Call => add(&mut told.called_by, reference),
                Kind::Value | Kind::Address => {
                    let is_address = *kind == Kind::Address;
                    if !attach(&mut operands, view, step, reference)
                        && !attach_by_name(&mut operands, step, reference, || (links.assigned)(*maker))
                        && let Some(link) = link(view, step, reference, told.number, is_address)
                    {
                        attach_link(told, &mut operands, link);
                    }
                }
            }
        }
    }
    // What a call is given may have nothing to do with the story; what leads elsewhere does.
    let is_selective = !told.calls.is_empty() && told.role == Role::Makes || told.role == Role::Calls;
    let knows_better = !told.links.is_empty()
        || !knot.ends.is_empty()
        || operands.iter().any(|(_, operand)| operand.from.is_some());
    let keeps = |seen: &Seen, operand: &Operand| {
        let is_whole = view.is_array(&seen.value) || seen.value.truth.is_none();
        match operand.from {
            Some(_) => !(is_whole && operand.is_address),
            None => !(is_whole || is_selective && knows_better),
        }
    };
    let kept = operands.into_iter().filter(|(seen, operand)| keeps(seen, operand));
    told.used = kept.map(|(_, operand)| operand).take(MOST_TOLD).collect();
    told.overflows.extend(seen.iter().filter_map(|seen| overflow::by_index(view, seen)));
    for step in knot.made.iter().filter(|step| step.in_library) {
        if let Made::Memory { address, length } = step.made {
            let found = overflow::by_library(view, &seen, address, length);
            told.overflows.extend(found.filter(|found| !told.overflows.contains(found)));
        }
    }
    if knot.made.first().is_some_and(|step| step.in_library) {
        told.library = library(view.called(), &told.calls);
    }
    if let Role::Decides { holds } = &mut told.role
        && holds.is_none()
    {
        *holds = truth::by_text(view, truth::condition(text));
    }
    let is_unset = |source: &Source| matches!(source, Source::Uninitialised { .. });
    let texts = match knot.ends.iter().any(|(source, _)| is_unset(source)) {
        true => overread::texts_given(told, &seen, view),
        false => Vec::new(),
    };
    for (source, is_newest) in &knot.ends {
        let Source::Uninitialised { address } = source else { continue };
        let own = seen.iter().find(|seen| seen.range().is_some_and(|range| range.contains(address)));
        let own = own.map(|seen| seen.mention.text.clone());
        // An earlier execution is spoken of only by what the statement itself names: memory has other names by now.
        let is_unsaid = own.is_none() && !is_newest;
        if is_unsaid || overread::is_beside_texts(*address, &texts, &seen, view) {
            continue;
        }
        let origin = Origin::Uninitialised { name: own.or_else(|| view.name(*address, 1)) };
        if !told.origins.contains(&origin) {
            told.origins.push(origin);
        }
    }
}

/// What the source calls the trusted function that was at work: without symbols the library itself may know no better.
fn library(found: Option<String>, calls: &[String]) -> Option<String> {
    match (found, calls) {
        (Some(name), calls) if calls.contains(&name) => Some(name),
        (_, [only]) => Some(only.clone()),
        (found, _) => found,
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

/// Finds the operand that a step made.
fn attach(operands: &mut [(Seen, Operand)], view: &View<'_>, step: &Step, reference: Reference) -> bool {
    let is_it = |seen: &Seen| match step.made {
        Made::Memory { address, length } => seen
            .range()
            .is_some_and(|range| range.start < address.saturating_add(length) && address < range.end),
        Made::Register(reg) => {
            matches!(seen.value.place, Some(Place::Register(number)) if register(number) == Some(reg))
        }
        Made::Kernel(_) | Made::Decision | Made::Omission(_) | Made::Call => false,
    };
    let is_parameter = |seen: &Seen| match step.made {
        Made::Register(reg) if view.is_called_by(step.stmt) => {
            parameter_of(view, reg).as_ref() == Some(&seen.mention.text)
        }
        _ => false,
    };
    // What is named most precisely counts: an element before its array.
    let sizes = operands.iter().filter(|(seen, _)| is_it(seen)).filter_map(|(seen, _)| seen.value.size);
    let least = sizes.min();
    let mut found = false;
    for (seen, operand) in operands {
        let is_passed = is_parameter(seen);
        if is_passed || is_it(seen) && seen.value.size == least {
            operand.from.get_or_insert(reference);
            operand.is_parameter |= is_passed;
            found = true;
        }
    }
    found
}

/// Finds the operand that a statement gave a value in a register, by its name.
fn attach_by_name(
    operands: &mut [(Seen, Operand)],
    step: &Step,
    reference: Reference,
    assigned: impl Fn() -> Option<Vec<String>>,
) -> bool {
    if !matches!(step.made, Made::Register(_)) {
        return false;
    }
    let names = assigned().unwrap_or_default();
    let found = operands.iter_mut().find(|(seen, operand)| {
        operand.from.is_none() && !seen.mention.is_assigned && names.contains(&seen.mention.text)
    });
    if let Some((_, operand)) = found {
        operand.from = Some(reference);
        return true;
    }
    false
}

fn parameter_of(view: &View<'_>, reg: Reg) -> Option<String> {
    let calls = view.program.calls_at(view.frame()?);
    parameter(view.program, calls.iter().find(|call| !call.is_inlined)?, reg)
}

/// What a step that made none of the operands is to the one that uses it.
fn link(view: &View<'_>, step: &Step, by: Reference, number: usize, is_address: bool) -> Option<Link> {
    match step.made {
        Made::Register(reg) if view.is_called_by(step.stmt) => {
            let name = parameter_of(view, reg);
            // Which object a method works on is seen from the call.
            if name.as_deref() == Some("this") {
                return None;
            }
            let value = |name: &String| view.evaluate(name).map(|value| super::describe::value_text(&value));
            let parameter = name.map(|name| Known { value: value(&name), name });
            Some(Link::Passed { parameter, by })
        }
        Made::Register(Reg::RAX | Reg::RDX) => Some(Link::Returned { function: None, by }),
        Made::Register(reg) if reg == Reg::xmm(0) => Some(Link::Returned { function: None, by }),
        // Pieces of one statement that the compiler has scattered.
        _ if by.number == number => None,
        _ => Some(Link::Other { by, is_address }),
    }
}

fn attach_link(told: &mut Told, operands: &mut [(Seen, Operand)], link: Link) {
    if let Link::Passed { parameter: Some(known), by } = &link
        && let Some((_, operand)) = operands.iter_mut().find(|(seen, _)| seen.mention.text == known.name)
    {
        operand.from.get_or_insert(*by);
        operand.is_parameter = true;
        return;
    }
    add(&mut told.links, link);
}

/// What a text names that it reads, with the values.
pub(super) fn read(text: &str, view: &View<'_>) -> Vec<Operand> {
    let seen: Vec<Seen> = mentions(text).iter().filter_map(|mention| view.see(mention)).collect();
    let plain = |seen: &&Seen| {
        seen.mention.is_read
            && seen.value.place.is_some()
            && seen.value.truth.is_some()
            && !view.is_array(&seen.value)
    };
    let operand = |seen: &Seen| Operand {
        known: seen.known(),
        is_address: seen.mention.is_address,
        is_parameter: false,
        from: None,
    };
    seen.iter().filter(plain).map(operand).take(MOST_TOLD).collect()
}

/// What some steps of a knot made, in the state after them.
pub(super) fn made(steps: &[Step], text: &str, view: &View<'_>) -> Vec<Known> {
    let seen: Vec<Seen> = mentions(text).iter().filter_map(|mention| view.see(mention)).collect();
    let mut found: Vec<Known> = Vec::new();
    for step in steps.iter().take(MOST_TOLD) {
        let known = match step.made {
            Made::Memory { address, length } => {
                let end = address.saturating_add(length);
                let overlaps = |range: &Range<u64>| range.start < end && address < range.end;
                // What a store reaches beyond what the text names is worth telling.
                let beyond =
                    seen.iter().filter_map(Seen::range).filter(overlaps).map(|range| range.end).max();
                if let Some(beyond) = beyond.filter(|beyond| *beyond < end) {
                    let known = view.known(beyond, 1);
                    found.extend(known.filter(|known| found.iter().all(|other| other.name != known.name)));
                }
                by_text(&seen, |seen| seen.range().is_some_and(|range| overlaps(&range)))
                    .or_else(|| view.known(address, length))
            }
            Made::Register(reg) => by_text(&seen, |seen| {
                seen.mention.is_assigned
                    && matches!(seen.value.place, Some(Place::Register(number)) if register(number) == Some(reg))
            }),
            Made::Kernel(_) | Made::Decision | Made::Omission(_) | Made::Call => None,
        };
        if let Some(known) = known.filter(|known| found.iter().all(|other| other.name != known.name)) {
            found.push(known);
        }
    }
    found
}

/// What is assigned counts before what is only named.
fn by_text(seen: &[Seen], is_it: impl Fn(&Seen) -> bool) -> Option<Known> {
    let mut fitting: Vec<&Seen> = seen.iter().filter(|seen| is_it(seen)).collect();
    fitting.sort_by_key(|seen| (!seen.mention.is_assigned, seen.value.size.unwrap_or(u64::MAX)));
    fitting.first().map(|seen| seen.known())
}

/// What an initialiser gives its variable.
pub(super) fn initialised(stmt: &Stmt, view: &View<'_>) -> Vec<Known> {
    let Part::Initialiser { variable, element } = &stmt.part else { return Vec::new() };
    let name = format!("{variable}{element}");
    let value = view.evaluate(&name).map(|value| super::describe::value_text(&value));
    vec![Known { name, value }]
}
