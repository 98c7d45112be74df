//! What a string routine of the C library did not mean to read.
//!
//! Such a routine loads whole vectors and looks only at what counts of them, so that what lies beside a text is among what its
//! answer was made from. A neighbour that it was not given is no origin that a person would name, and of a text only what is before its end is.

use std::collections::BTreeSet;
use std::ops::Range;

use program::Place;

use super::Told;
use super::describe::{Seen, View};
use super::mentions::mentions;
use super::origins::{Beginning, Origin};

/// As far beyond the ends of a text as routines load.
const REACH: u64 = 64;

/// A text that is longer is not looked at.
const LONGEST: u64 = 1 << 12;

/// Whether all that a statement calls are such routines, so that what it was not given was read by the way.
pub(super) fn reads_by_the_way(told: &Told) -> bool {
    let mut calls = told.calls.iter().peekable();
    calls.peek().is_some() && calls.all(|name| linux::has_contract(name))
}

/// Leaves out the arguments and environment variables that lie beside those that a statement gave to such routines. `view` is
/// the state in which it was about to be done.
pub(super) fn leave_out_neighbours(
    origins: BTreeSet<Origin>,
    told: &Told,
    beginning: &Beginning,
    view: &View<'_>,
) -> BTreeSet<Origin> {
    let text = told.text.as_deref().unwrap_or_default();
    let given: Vec<u64> =
        mentions(text).iter().filter_map(|mention| pointed_to(view, &mention.text)).collect();
    let is_given = |range: &Range<u64>| given.iter().any(|start| (range.start..=range.end).contains(start));
    let known: Vec<Range<u64>> =
        origins.iter().filter_map(|origin| beginning.range_of(origin)).filter(is_given).collect();
    let is_beside = |range: &Range<u64>| {
        known.iter().any(|text| {
            range.start <= text.end.saturating_add(REACH) && text.start <= range.end.saturating_add(REACH)
        })
    };
    let keeps = |origin: &Origin| {
        beginning.range_of(origin).is_none_or(|range| is_given(&range) || !is_beside(&range))
    };
    origins.into_iter().filter(keeps).collect()
}

/// Where the texts begin that a statement gave to such routines. `view` is the state in which it was about to be done.
pub(super) fn texts_given(told: &Told, seen: &[Seen], view: &View<'_>) -> Vec<u64> {
    let reads_texts =
        |name: &String| linux::has_contract(name) && (name.contains("str") || name.ends_with("index"));
    match told.calls.iter().any(reads_texts) {
        true => seen.iter().filter_map(|seen| pointed_to(view, &seen.mention.text)).collect(),
        false => Vec::new(),
    }
}

/// Whether a byte that has no value lies behind the ends of all these texts, or before their beginnings, and the statement reads it in no other way.
pub(super) fn is_beside_texts(address: u64, texts: &[u64], seen: &[Seen], view: &View<'_>) -> bool {
    let is_read_by_itself = |seen: &Seen| {
        !view.is_array(&seen.value) && seen.range().is_some_and(|range| range.contains(&address))
    };
    !texts.is_empty()
        && !seen.iter().any(is_read_by_itself)
        && !texts.iter().any(|start| is_in_text(view, *start, address))
}

/// Whether a byte is one of the text that begins at `start`, or its end; of one that is too long to look at anybody may think so.
fn is_in_text(view: &View<'_>, start: u64, address: u64) -> bool {
    let Some(before) = address.checked_sub(start) else { return false };
    let mut text = vec![0; before.min(LONGEST) as usize];
    before > LONGEST || view.state.read(start, &mut text) && !text.contains(&0)
}

/// Where something that is a pointer or an array leads to.
fn pointed_to(view: &View<'_>, name: &str) -> Option<u64> {
    match view.evaluate(&format!("*({name})"))?.place? {
        Place::Memory(address) => Some(address),
        _ => None,
    }
}
