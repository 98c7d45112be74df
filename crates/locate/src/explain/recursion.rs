//! Functions that call each other until no stack is left.

use std::collections::HashMap;

use program::{Program, State, Stmt};
use replay::failure::FailureKind;

use crate::switching::Search;

/// So many of the innermost frames are looked at.
const MOST_FRAMES: usize = 512;
/// A call that is made so often there is one of a recursion.
const OFTEN: usize = 8;
/// So many calls are told.
const MOST_CALLS: usize = 6;

/// A call that leads to itself again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecursiveCall {
    pub caller: String,
    pub callee: String,
    pub stmt: Option<Stmt>,
}

/// The calls of a recursion that used up the stack, the innermost first; none if the stack was used up by something else.
pub fn calls(search: &mut Search<'_, '_>) -> Vec<RecursiveCall> {
    if !matches!(search.failure.kind, FailureKind::StackOverflow { .. }) {
        return Vec::new();
    }
    let process = search.recording.at(search.failure.time);
    let program = search.flow.program();
    let frames = program.backtrace_of(&State::of(&process.machine), MOST_FRAMES).frames;
    let places: Vec<u64> = frames.iter().map(|frame| frame.lookup).collect();
    let calls = places.windows(2).filter_map(|pair| match pair {
        [callee, caller] => Some((*callee, *caller)),
        _ => None,
    });
    let mut counts: HashMap<(String, u64), usize> = HashMap::new();
    let mut found: Vec<(String, u64)> = Vec::new();
    for (callee, caller) in calls {
        let call = (name_of(program, callee), caller);
        let count = counts.entry(call.clone()).or_default();
        *count += 1;
        if *count == OFTEN {
            found.push(call);
        }
    }
    found.truncate(MOST_CALLS);
    let told = |(callee, place): (String, u64)| RecursiveCall {
        caller: name_of(program, place),
        callee,
        stmt: program.statement_at(place),
    };
    found.into_iter().map(told).collect()
}

fn name_of(program: &Program, address: u64) -> String {
    let location = program.locate(address);
    location.function_name().map_or_else(|| format!("{address:#x}"), str::to_owned)
}
