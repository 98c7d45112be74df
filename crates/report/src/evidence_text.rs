//! The search in words, for people.

use locate::switching::Statistics;
use replay::{counted, grouped};

use crate::explain::{ExplainReport, InducingReport};
use crate::quote::{listed, plain};

/// What was tried besides single decisions.
pub(crate) fn besides(search: &Statistics) -> String {
    let kinds = [
        (search.cases, "other case of a switch statement", "other cases of switch statements"),
        (
            search.wholes,
            "time all decisions of one condition together",
            "times all decisions of one condition together",
        ),
        (search.pairs, "pair of the most promising decisions", "pairs of the most promising decisions"),
    ];
    let tried = kinds.iter().filter(|(count, ..)| *count > 0);
    let tried: Vec<String> = tried.map(|(count, one, many)| counted(*count, one, many)).collect();
    listed(&tried)
}

/// How the cause was found, or how much was tried.
pub(crate) fn found_by(report: &ExplainReport) -> String {
    let search = &report.search;
    match report.causes.first() {
        Some(cause) => format!(
            "found by trial {} of {}, each a run in which a decision goes the other way, and again by one from the very start",
            grouped(cause.trial as u64),
            grouped(search.tried + search.cases + search.wholes + search.pairs)
        ),
        None => tried_of(search),
    }
}

/// Why the cause is not certain.
pub(crate) fn doubts(report: &ExplainReport) -> Option<String> {
    let reason = |doubt: &&'static str| match *doubt {
        "unrepaired" => "the failure is not repaired",
        "several" => "one decision is not enough",
        "case" => "one of many other cases may help by chance",
        "others" => "others save the run as well",
        "untried" => "not everything was tried",
        "leaves-out" => "to end a loop early leaves out much",
        "unrelated" => "no dependence leads from it to the failure",
        "compared" => "what it compared had been computed, which may be what is wrong (FROM)",
        _ => "something is computed on the way to the failure, which may be what is wrong (PATH)",
    };
    let reasons: Vec<&str> = report.doubts.iter().map(reason).collect();
    (!reasons.is_empty()).then(|| format!("not certain: {}", reasons.join("; ")))
}

pub(crate) fn tried_of(search: &Statistics) -> String {
    let decisions = counted(search.candidates, "decision was", "decisions were");
    format!("{} of {decisions} tried the other way", grouped(search.tried))
}

/// What makes the difference to a passing input, and how that is known where it may be more than what matters.
pub(crate) fn difference(report: &ExplainReport) -> Vec<String> {
    let Some(InducingReport { bytes, part, basis, .. }) = &report.difference else { return Vec::new() };
    let what = match *basis {
        "minimized" => "minimizing came to two inputs, of which one fails and one passes, that differ",
        _ => "the input differs from the passing one",
    };
    let differs = format!(
        "{what} in {} of {}; {} on a way from there to the failure",
        counted(*bytes, "byte", "bytes"),
        plain(part),
        counted(report.search.on_the_way, "decision lies", "decisions lie")
    );
    let reason = match *basis {
        "unjudged" => Some("nothing could judge whether the program passes with the other one"),
        "untried" => Some("there was no time to try the other one"),
        _ => None,
    };
    let as_they_are = |reason| format!("that is the difference of the two texts as they are: {reason}");
    [differs].into_iter().chain(reason.map(as_they_are)).collect()
}

/// How many decisions there are besides those that are listed.
pub(crate) fn and_more(left_out: usize) -> String {
    let decisions = counted(left_out as u64, "more decision that saves", "more decisions that save");
    format!("and {decisions} the run")
}

/// The same where none is listed.
pub(crate) fn others_that_save(report: &ExplainReport) -> Option<String> {
    let is_said = report.left_out > 0 && report.causes.len() == 1;
    let decisions = || counted(report.left_out as u64, "more decision saves", "more decisions save");
    is_said.then(|| format!("{} the run", decisions()))
}

/// What came of the trials of single decisions, and what all trials took.
pub(crate) fn what_came_of_trials(search: &Statistics) -> String {
    let ended_early = search.parked_for_good + search.wrong_output + search.cut_short;
    let kinds = [
        (search.parked_for_good, "made no difference", "made no difference"),
        (search.wrong_output, "was given up for what it printed", "were given up for what they printed"),
        (search.cut_short, "was given up before it ended", "were given up before they ended"),
        (search.tried.saturating_sub(ended_early), "was run to its end", "were run to their end"),
    ];
    let instructions = counted(search.instructions, "instruction", "instructions");
    let told: Vec<(u64, &str, &str)> = kinds.into_iter().filter(|(count, ..)| *count > 0).collect();
    let trials = counted(search.tried, "trial", "trials");
    match told[..] {
        [] => format!("{instructions} in all trials"),
        [(1, one, _)] => format!("the trial of a single decision {one} · {instructions} in all"),
        [(_, _, many)] => format!("all {trials} of single decisions {many} · {instructions} in all"),
        _ => {
            let told: Vec<String> =
                told.into_iter().map(|(count, one, many)| counted(count, one, many)).collect();
            format!("of {trials} of single decisions {} · {instructions} in all", listed(&told))
        }
    }
}

/// What was left undone.
pub(crate) fn limits_of(search: &Statistics) -> impl Iterator<Item = String> + use<> {
    let kinds = [
        (
            search.unverified,
            "more trial passed as far as the machine can tell, and was not run again or could not be judged",
            "more trials passed as far as the machine can tell, and were not run again or could not be judged",
        ),
        (
            search.unclassified,
            "trial failed as well, and was not looked at whether it avoided the crash before",
            "trials failed as well, and were not looked at whether they avoided the crash before",
        ),
        (search.left_out, "earlier decision was not looked at", "earlier decisions were not looked at"),
    ];
    let told = kinds.into_iter().filter(|(count, ..)| *count > 0);
    told.map(|(count, one, many)| counted(count, one, many))
}

/// What limits a claim that nothing saves the run.
pub(crate) fn as_far_as(search: &Statistics) -> String {
    match search.unverified + search.unclassified {
        0 => String::new(),
        unknown => {
            let trials = counted(unknown, "trial was", "trials were");
            format!(", as far as was looked: {trials} not judged to the end")
        }
    }
}
