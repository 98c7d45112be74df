//! Accesses that go by one variable and land in another.

use super::Overflow;
use super::describe::{Seen, View};

/// A write of a library that begins so far behind an array is not taken for one that overran it.
const FURTHEST: u64 = 1 << 16;

/// An element that is not one of its array.
pub(super) fn by_index(view: &View<'_>, seen: &Seen) -> Option<Overflow> {
    let text = &seen.mention.text;
    let open = opening(text)?;
    let array = view.evaluate(text.get(..open)?)?;
    let (own, element) = (super::describe::range_of(&array)?, seen.range()?);
    if !view.is_array(&array) || element.start >= own.start && element.end <= own.end {
        return None;
    }
    let lies_in = view.name(element.start, element.end - element.start)?;
    // What the index was is worth more than what it is called.
    let index = view.evaluate(text.get(open + 1..text.len() - 1)?)?;
    let access = format!("{}[{}]", text.get(..open)?, index.text);
    (lies_in != access).then_some(Overflow { access, is_write: seen.mention.is_assigned, lies_in })
}

/// A write of a trusted function over the end of an array that the statement names, or behind it.
pub(super) fn by_library(view: &View<'_>, seen: &[Seen], address: u64, length: u64) -> Option<Overflow> {
    let ranges = || seen.iter().filter_map(|seen| Some((seen, seen.range()?)));
    let end = address.saturating_add(length);
    if ranges().any(|(_, range)| range.start <= address && end <= range.end) {
        return None;
    }
    let behind = ranges().filter(|(seen, range)| {
        view.is_array(&seen.value) && end > range.end && address.saturating_sub(range.end) < FURTHEST
    });
    let (overrun, range) = behind.max_by_key(|(_, range)| range.end)?;
    let access = overrun.mention.text.clone();
    // The array itself can have another name.
    let own = view.name(range.start, 1);
    let lies_in = view.name(address.max(range.end), 1).filter(|name| Some(name) != own.as_ref())?;
    Some(Overflow { access, is_write: true, lies_in })
}

/// Where the last pair of brackets opens, if the text ends with one.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b']' => depth += 1,
            b'[' if depth == 1 => return Some(at),
            b'[' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::opening;

    #[test]
    fn the_last_brackets_are_those_of_the_element() {
        assert_eq!(opening("a[i]"), Some(1));
        assert_eq!(opening("a[1][b[2]]"), Some(4));
        assert_eq!(opening("a[1].x"), None);
        assert_eq!(opening("a]"), None);
    }
}
