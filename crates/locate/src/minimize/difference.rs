//! The smallest difference between an input that fails and one that passes.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use replay::Bytes;

use super::ddmin::isolate;
use super::input::{Input, PartName};
use super::text::{Level, Text};
use super::trials::{Outcome, Trials};

/// Two inputs that differ in one part, as little as was found: with the one the program fails, with the other it passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub part: PartName,
    pub failing: Input,
    pub passing: Input,
    pub spans: Vec<Span>,
    /// It could perhaps be smaller.
    pub is_cut_short: bool,
}

impl Difference {
    /// Where the bytes that make the difference were in the input as it was given, as far as they were there.
    pub fn given(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let Some(part) = self.failing.part(&self.part) else { return ranges };
        let places = self.spans.iter().flat_map(|span| span.range.clone());
        for place in places.filter_map(|at| part.text.place(at)) {
            match ranges.last_mut() {
                Some(last) if last.end == place => last.end += 1,
                _ => ranges.push(place..place + 1),
            }
        }
        ranges
    }
}

/// Bytes that one has and the other has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// In the part, as it is in the failing input.
    pub range: Range<usize>,
    /// The same in the input as it was given; `None` where nothing of it is there, or not in one piece.
    pub given: Option<Range<u64>>,
    pub bytes: Bytes,
    /// What the passing input has instead.
    pub instead: Bytes,
}

/// A piece of a text that is replaced by one of another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    passing: Range<usize>,
    failing: Range<usize>,
}

/// Brings an input that fails and another text of one of its parts, with which it passes, as near to each other as possible: by
/// whole lines, then by tokens, then by bytes.
pub(super) fn narrow(
    trials: &mut Trials<'_, Input>,
    failing: &Input,
    part: &PartName,
    passing: Text,
) -> Option<Difference> {
    let mut fails = Text::clone(&failing.part(part)?.text);
    let mut passes = passing;
    for level in Level::ALL {
        let edits = edits(&passes, &fails, level);
        let build = |kept: &[usize]| failing.with(part, mixed(&passes, &fails, &edits, kept));
        let found = isolate(trials, edits.len(), &build);
        let nearer = mixed(&passes, &fails, &edits, &found.passing);
        fails = mixed(&passes, &fails, &edits, &found.failing);
        passes = nearer;
    }
    let spans = edits(&passes, &fails, Level::Bytes);
    Some(Difference {
        part: part.clone(),
        spans: spans_of(&spans, &passes, &fails),
        failing: failing.with(part, fails),
        passing: failing.with(part, passes),
        is_cut_short: trials.is_cut_short(),
    })
}

/// The bytes of a failing text that a passing one has not, word by word. Where it only lacks something, the byte that
/// follows.
pub fn differing(failing: &[u8], passing: &[u8]) -> Vec<Range<u64>> {
    let (failing, passing) = (Text::given(failing), Text::given(passing));
    let length = failing.bytes().len();
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for Edit { failing: range, .. } in edits(&passing, &failing, Level::Tokens) {
        let end = range.end.max(range.start + 1).min(length) as u64;
        let start = range.start.min(length.saturating_sub(1)) as u64;
        match ranges.last_mut() {
            Some(last) if last.end >= start => last.end = last.end.max(end),
            _ => ranges.push(start..end),
        }
    }
    ranges.retain(|range| !range.is_empty());
    ranges
}

/// The nearest input that is known to pass of those that leave out one unit of a part.
pub(super) fn known_neighbour(trials: &Trials<'_, Input>, failing: &Input) -> Option<(PartName, Text)> {
    /// Each unit takes a look at the whole input.
    const MOST_UNITS: usize = 1 << 12;
    for level in Level::ALL.into_iter().rev() {
        for part in &failing.parts {
            let units = part.text.units(level);
            if units.len() > MOST_UNITS {
                continue;
            }
            for left_out in 0..units.len() {
                let kept: Vec<usize> = (0..units.len()).filter(|unit| *unit != left_out).collect();
                let text = part.text.keep(&units, &kept);
                let candidate = failing.with(&part.name, text.clone());
                if trials.recall(&candidate) == Some(Outcome::Passes) {
                    return Some((part.name.clone(), text));
                }
            }
        }
    }
    None
}

/// What has to be changed, one unit at a time.
fn edits(passing: &Text, failing: &Text, level: Level) -> Vec<Edit> {
    let (old, new) = (passing.units(level), failing.units(level));
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    let bytes = |text: &'_ Text, unit: &Range<usize>| unit.start.min(text.bytes().len())..unit.end;
    input.update_before(old.iter().filter_map(|unit| passing.bytes().get(bytes(passing, unit))));
    input.update_after(new.iter().filter_map(|unit| failing.bytes().get(bytes(failing, unit))));
    let mut edits = Vec::new();
    for hunk in Diff::compute(Algorithm::Myers, &input).hunks() {
        let mut before = hunk.before.start as usize..hunk.before.end as usize;
        let mut after = hunk.after.start as usize..hunk.after.end as usize;
        while !before.is_empty() || !after.is_empty() {
            edits.push(Edit {
                passing: next_unit(&old, &mut before, passing.bytes().len()),
                failing: next_unit(&new, &mut after, failing.bytes().len()),
            });
        }
    }
    edits
}

/// Where the next of some units lies; where they end, nowhere, behind the last one.
fn next_unit(units: &[Range<usize>], left: &mut Range<usize>, length: usize) -> Range<usize> {
    match left.next() {
        Some(unit) => units.get(unit).cloned().unwrap_or(length..length),
        None => {
            let at = units.get(left.start).map_or(length, |unit| unit.start);
            at..at
        }
    }
}

/// The passing text with some of the edits made, and so with all of them the failing one.
fn mixed(passing: &Text, failing: &Text, edits: &[Edit], made: &[usize]) -> Text {
    let mut text = Text::default();
    let mut at = 0;
    for (number, edit) in edits.iter().enumerate() {
        // What both have is taken from the failing one, whose places are known.
        text.push(failing, at..edit.failing.start);
        match made.binary_search(&number) {
            Ok(_) => text.push(failing, edit.failing.clone()),
            Err(_) => text.push(passing, edit.passing.clone()),
        }
        at = edit.failing.end;
    }
    text.push(failing, at..failing.bytes().len());
    text
}

/// Edits as stretches of the failing text.
fn spans_of(edits: &[Edit], passing: &Text, failing: &Text) -> Vec<Span> {
    let mut joined: Vec<Edit> = Vec::new();
    for edit in edits {
        match joined.last_mut() {
            Some(last)
                if last.failing.end == edit.failing.start && last.passing.end == edit.passing.start =>
            {
                last.failing.end = edit.failing.end;
                last.passing.end = edit.passing.end;
            }
            _ => joined.push(edit.clone()),
        }
    }
    let bytes =
        |text: &Text, range: &Range<usize>| Bytes::from(text.bytes().get(range.clone()).unwrap_or_default());
    let span = |edit: &Edit| Span {
        range: edit.failing.clone(),
        given: given(failing, &edit.failing),
        bytes: bytes(failing, &edit.failing),
        instead: bytes(passing, &edit.passing),
    };
    joined.iter().map(span).collect()
}

fn given(text: &Text, range: &Range<usize>) -> Option<Range<u64>> {
    let first = text.place(range.start).filter(|_| !range.is_empty())?;
    let is_one_piece = range.clone().zip(first..).all(|(at, place)| text.place(at) == Some(place));
    is_one_piece.then(|| first..first + range.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_another_text_is_told_in_bytes() {
        assert_eq!(differing(b"a bb c\nd\n", b"a xx c\nd\n").first(), Some(&(2..4)));
        assert_eq!(differing(b"a c\n", b"a bb c\n").len(), 1);
        assert_eq!(differing(b"same\n", b"same\n"), []);
        assert_eq!(differing(b"", b"x"), []);
        assert_eq!(differing(b"x", b"").first(), Some(&(0..1)));
    }

    #[test]
    fn all_edits_together_turn_the_one_text_into_the_other() {
        let pairs = [
            ("", "abc"),
            ("abc", ""),
            ("one\ntwo\nthree\n", "one\n2\nthree\nfour\n"),
            ("a b c d", "x b d e f"),
            ("same", "same"),
        ];
        for (passing, failing) in pairs {
            let (passes, fails) = (Text::other(passing.as_bytes()), Text::given(failing.as_bytes()));
            for level in Level::ALL {
                let edits = edits(&passes, &fails, level);
                let all: Vec<usize> = (0..edits.len()).collect();
                assert_eq!(mixed(&passes, &fails, &edits, &all), fails, "{level:?}");
                assert_eq!(mixed(&passes, &fails, &edits, &[]).bytes(), passing.as_bytes(), "{level:?}");
                assert_eq!(edits.is_empty(), passing == failing);
            }
        }
    }

    #[test]
    fn spans_tell_where_bytes_were_in_the_input_that_was_given() {
        let whole = Text::given(b"keep drop keep [[x");
        let mut failing = Text::default();
        failing.push(&whole, 0..5);
        failing.push(&whole, 15..18);
        let passing = Text::other(b"keep x");
        let edits = edits(&passing, &failing, Level::Bytes);
        let spans = spans_of(&edits, &passing, &failing);
        let [span] = &spans[..] else { panic!("{spans:?}") };
        assert_eq!((span.range.clone(), span.given.clone()), (5..7, Some(15..17)));
        assert_eq!((&span.bytes[..], &span.instead[..]), (&b"[["[..], &b""[..]));
    }
}
