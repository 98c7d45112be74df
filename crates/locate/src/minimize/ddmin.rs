//! Delta debugging after Zeller and Hildebrandt, of anything that is a list of items: what of it is needed to fail
//! ([`ddmin`]), and what makes the difference between something that fails and something that passes ([`isolate`]).

use std::ops::Range;

use super::trials::{Candidate, First, Outcome, Trials};

/// The items, by number, that cannot be left out one by one: all together fail, and without any one of them they do not.
/// `build` makes a candidate of the items that are kept. All items together are known to fail. A search that is cut short
/// returns the fewest that failed so far.
pub fn ddmin<C: Candidate>(
    trials: &mut Trials<'_, C>,
    count: usize,
    build: &dyn Fn(&[usize]) -> C,
) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..count).collect();
    if count == 0 {
        return kept;
    }
    match trials.outcome(|| build(&[])) {
        Some(Outcome::Fails) => return Vec::new(),
        Some(_) => {}
        None => return kept,
    }
    let (mut parts, mut from) = (2, 0);
    while kept.len() >= 2 {
        parts = parts.min(kept.len());
        match trials.first(parts, &|part| build(only(&kept, parts, part)), Outcome::Fails) {
            First::At(part) => {
                kept = only(&kept, parts, part).to_vec();
                (parts, from) = (2, 0);
                continue;
            }
            First::CutShort => break,
            First::Nowhere(_) => {}
        }
        // What was tried without success before the last removal is tried last. Of two parts, the one is without the other.
        let order = |turn: usize| (from + turn) % parts;
        let turns = if parts > 2 { parts } else { 0 };
        match trials.first(turns, &|turn| build(&without(&kept, parts, order(turn))), Outcome::Fails) {
            First::At(turn) => {
                let part = order(turn);
                kept = without(&kept, parts, part);
                parts -= 1;
                from = if part < parts { part } else { 0 };
                continue;
            }
            First::CutShort => break,
            First::Nowhere(_) => {}
        }
        if parts >= kept.len() {
            break;
        }
        (parts, from) = (parts.saturating_mul(2), 0);
    }
    kept
}

/// Two selections of items that differ as little as was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolated {
    pub passing: Vec<usize>,
    /// All of `passing` and more.
    pub failing: Vec<usize>,
}

impl Isolated {
    /// The items that make the difference.
    pub fn difference(&self) -> Vec<usize> {
        minus(&self.failing, &self.passing)
    }
}

/// Brings a selection that passes and one that fails as near to each other as possible. No item at all is known to pass, and
/// all of them to fail. In the end no single item of the difference makes the one fail when it is added, nor the other pass when it
/// is taken away, unless it is the only one.
pub fn isolate<C: Candidate>(
    trials: &mut Trials<'_, C>,
    count: usize,
    build: &dyn Fn(&[usize]) -> C,
) -> Isolated {
    let mut found = Isolated { passing: Vec::new(), failing: (0..count).collect() };
    let mut parts = 2;
    loop {
        let difference = found.difference();
        if difference.len() <= 1 {
            return found;
        }
        parts = parts.min(difference.len());
        let more = |part| plus(&found.passing, only(&difference, parts, part));
        let less = |part| minus(&found.failing, only(&difference, parts, part));
        let grown = match trials.first(parts, &|part| build(&more(part)), Outcome::Fails) {
            First::At(part) => {
                found.failing = more(part);
                parts = 2;
                continue;
            }
            First::CutShort => return found,
            First::Nowhere(outcomes) => outcomes,
        };
        let shrunk = match trials.first(parts, &|part| build(&less(part)), Outcome::Passes) {
            First::At(part) => {
                found.passing = less(part);
                parts = 2;
                continue;
            }
            First::CutShort => return found,
            First::Nowhere(outcomes) => outcomes,
        };
        if let Some(part) = grown.iter().position(|outcome| *outcome == Outcome::Passes) {
            found.passing = more(part);
            parts = (parts - 1).max(2);
        } else if let Some(part) = shrunk.iter().position(|outcome| *outcome == Outcome::Fails) {
            found.failing = less(part);
            parts = (parts - 1).max(2);
        } else if parts < difference.len() {
            parts = parts.saturating_mul(2);
        } else {
            return found;
        }
    }
}

/// Where one of `parts` parts of a list lies, all of which are as long as each other, or by one longer.
fn range_of(length: usize, parts: usize, part: usize) -> Range<usize> {
    let bound = |part: usize| (length as u128 * part as u128 / parts.max(1) as u128) as usize;
    bound(part)..bound(part + 1)
}

fn only(items: &[usize], parts: usize, part: usize) -> &[usize] {
    items.get(range_of(items.len(), parts, part)).unwrap_or_default()
}

fn without(items: &[usize], parts: usize, part: usize) -> Vec<usize> {
    let Range { start, end } = range_of(items.len(), parts, part);
    let (before, after) = (items.get(..start).unwrap_or_default(), items.get(end..).unwrap_or_default());
    [before, after].concat()
}

/// Both lists are sorted, as all are here.
fn plus(items: &[usize], others: &[usize]) -> Vec<usize> {
    let mut all = [items, others].concat();
    all.sort_unstable();
    all
}

fn minus(items: &[usize], others: &[usize]) -> Vec<usize> {
    items.iter().copied().filter(|item| others.binary_search(item).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minimize::trials::{Counts, Key, Limits};

    /// A selection of items is what it is.
    struct Selection(Vec<usize>);

    impl Candidate for Selection {
        fn key(&self) -> Key {
            // An exact one for small selections.
            let mut key = [0; 32];
            for item in &self.0 {
                key[item / 8] |= 1 << (item % 8);
            }
            key
        }
    }

    struct Setting {
        threads: usize,
        budget: u64,
    }

    fn search<T>(
        setting: &Setting,
        test: &(dyn Fn(&[usize]) -> Outcome + Sync),
        run: impl FnOnce(&mut Trials<'_, Selection>) -> T,
    ) -> (T, Counts, bool) {
        let test = |selection: &Selection| test(&selection.0);
        let Setting { threads, budget } = *setting;
        let mut trials = Trials::new(&test, Limits { threads, budget, stop: &|| false, watch: &|_| {} });
        let found = run(&mut trials);
        (found, trials.counts(), trials.is_cut_short())
    }

    const ALONE: Setting = Setting { threads: 1, budget: u64::MAX };

    fn minimal(count: usize, test: &(dyn Fn(&[usize]) -> Outcome + Sync)) -> Vec<usize> {
        search(&ALONE, test, |trials| ddmin(trials, count, &|kept| Selection(kept.to_vec()))).0
    }

    fn isolated(count: usize, test: &(dyn Fn(&[usize]) -> Outcome + Sync)) -> Isolated {
        search(&ALONE, test, |trials| isolate(trials, count, &|kept| Selection(kept.to_vec()))).0
    }

    fn fails_if(holds: bool) -> Outcome {
        if holds { Outcome::Fails } else { Outcome::Passes }
    }

    #[test]
    fn items_that_are_needed_together_are_found_wherever_they_are() {
        for needed in [&[0, 6, 7][..], &[3], &[], &[0, 1, 2, 3, 4, 5, 6, 7], &[2, 5]] {
            let all_there = |kept: &[usize]| fails_if(needed.iter().all(|item| kept.contains(item)));
            assert_eq!(minimal(8, &all_there), needed);
        }
        assert!(minimal(0, &|_| Outcome::Fails).is_empty());
    }

    const TAG: &str = "<SELECT NAME=\"priority\" MULTIPLE SIZE=7>";

    fn tag(kept: &[usize]) -> Outcome {
        let text: String = kept.iter().map(|item| TAG.as_bytes()[*item] as char).collect();
        let rest = text.strip_prefix("<SELECT");
        fails_if(rest.is_some_and(|rest| rest.starts_with([' ', '>']) && rest.ends_with('>')))
    }

    #[test]
    fn a_tag_is_reduced_to_its_name_and_the_difference_to_one_character() {
        let kept = minimal(TAG.len(), &tag);
        let text: String = kept.iter().map(|item| TAG.as_bytes()[*item] as char).collect();
        assert_eq!(text, "<SELECT>");
        let found = isolated(TAG.len(), &tag);
        assert_eq!(found.difference().len(), 1, "{found:?}");
        let (_, counts, _) = search(&ALONE, &tag, |trials| {
            isolate(trials, TAG.len(), &|kept| Selection(kept.to_vec()));
        });
        let tested = counts.asked - counts.remembered;
        assert!(tested < 12, "halving takes few tests, not {tested}");
    }

    /// Items that only make sense together, as an opening and a closing bracket do.
    #[test]
    fn pairs_that_make_no_sense_alone_are_isolated_as_pairs() {
        let test = |kept: &[usize]| {
            let whole = [0, 2, 4, 6].iter().all(|first| kept.contains(first) == kept.contains(&(first + 1)));
            if whole { fails_if(kept.contains(&2)) } else { Outcome::Unresolved }
        };
        let found = isolated(8, &test);
        assert_eq!(found.difference(), [2, 3]);
        assert_eq!((test(&found.passing), test(&found.failing)), (Outcome::Passes, Outcome::Fails));
    }

    /// A small deterministic generator; the tests need variety, not quality.
    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    /// Fails with all items of one of some groups, unless an item that spoils it is there without its helper; and now and
    /// then nobody can tell.
    fn arbitrary(seed: u64, count: usize) -> impl Fn(&[usize]) -> Outcome + Sync {
        let mut state = seed;
        let mut item = move || next(&mut state) as usize % count;
        let groups: Vec<Vec<usize>> = (0..3).map(|size| (0..=size * 2).map(|_| item()).collect()).collect();
        let (spoils, helps) = (item(), item());
        let groups: Vec<Vec<usize>> = groups.into_iter().skip(seed as usize % 3).collect();
        move |kept: &[usize]| {
            if kept.len() == count {
                return Outcome::Fails;
            }
            let has = |item: &usize| kept.contains(item);
            let is_spoilt = has(&spoils) && !has(&helps);
            let odd = kept.iter().fold(seed, |sum, item| sum.wrapping_mul(31).wrapping_add(*item as u64)) % 5;
            match groups.iter().any(|group| group.iter().all(has)) {
                true if !is_spoilt => Outcome::Fails,
                _ if odd == 0 => Outcome::Unresolved,
                _ => Outcome::Passes,
            }
        }
    }

    #[test]
    fn whatever_is_tested_each_item_that_is_left_is_needed_and_threads_change_nothing() {
        for seed in 0..300 {
            let count = 1 + seed as usize % 40;
            let test = arbitrary(seed, count);
            let reduce = |threads, budget| {
                search(&Setting { threads, budget }, &test, |trials| {
                    ddmin(trials, count, &|kept| Selection(kept.to_vec()))
                })
            };
            let alone = reduce(1, u64::MAX);
            let kept = &alone.0;
            assert_eq!(test(kept), Outcome::Fails, "seed {seed}");
            for item in kept {
                let rest: Vec<usize> = kept.iter().copied().filter(|other| other != item).collect();
                assert_ne!(test(&rest), Outcome::Fails, "seed {seed}: {item} of {kept:?} is not needed");
            }
            let short = reduce(1, 7);
            assert_eq!(test(&short.0), Outcome::Fails, "seed {seed}");
            for threads in 2..=4 {
                assert_eq!(reduce(threads, u64::MAX), alone, "seed {seed}, {threads} threads");
                assert_eq!(reduce(threads, 7), short, "seed {seed}, {threads} threads");
            }
        }
    }

    #[test]
    fn whatever_is_tested_no_single_item_of_the_difference_can_be_spared() {
        for seed in 0..300 {
            let count = 1 + seed as usize % 40;
            let arbitrary = arbitrary(seed, count);
            let test = |kept: &[usize]| if kept.is_empty() { Outcome::Passes } else { arbitrary(kept) };
            let narrow = |threads| {
                search(&Setting { threads, budget: u64::MAX }, &test, |trials| {
                    isolate(trials, count, &|kept| Selection(kept.to_vec()))
                })
            };
            let alone = narrow(1);
            let found = &alone.0;
            assert_eq!(test(&found.passing), Outcome::Passes, "seed {seed}");
            assert_eq!(test(&found.failing), Outcome::Fails, "seed {seed}");
            let difference = found.difference();
            assert!(!difference.is_empty());
            for item in difference.iter().filter(|_| difference.len() > 1) {
                assert_ne!(test(&plus(&found.passing, &[*item])), Outcome::Fails, "seed {seed}");
                assert_ne!(test(&minus(&found.failing, &[*item])), Outcome::Passes, "seed {seed}");
            }
            for threads in 2..=4 {
                assert_eq!(narrow(threads), alone, "seed {seed}, {threads} threads");
            }
        }
    }

    #[test]
    fn the_budget_bounds_the_tests_and_what_is_known_costs_nothing() {
        let needed = |kept: &[usize]| fails_if(kept.contains(&3) && kept.contains(&90));
        for budget in [0, 1, 5, 40] {
            let made = std::sync::atomic::AtomicU64::new(0);
            let counted = |kept: &[usize]| {
                made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                needed(kept)
            };
            let (kept, counts, is_cut_short) = search(&Setting { threads: 1, budget }, &counted, |trials| {
                ddmin(trials, 100, &|kept| Selection(kept.to_vec()))
            });
            assert!(made.into_inner() <= budget);
            assert_eq!(needed(&kept), Outcome::Fails);
            assert!(counts.asked - counts.remembered <= budget);
            assert_eq!(is_cut_short, kept != [3, 90], "{budget}");
        }
        let (_, counts, _) = search(&ALONE, &needed, |trials| {
            let build = |kept: &[usize]| Selection(kept.to_vec());
            ddmin(trials, 100, &build);
            let before = trials.counts();
            ddmin(trials, 100, &build);
            assert_eq!(trials.counts().asked, 2 * before.asked);
            assert_eq!(trials.counts().asked - trials.counts().remembered, before.asked - before.remembered);
        });
        assert!(counts.remembered >= counts.asked / 2);
    }
}
