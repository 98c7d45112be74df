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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    // Several calls in one line are one call to who reads it.
    let call = |callee: u64, caller: u64| RecursiveCall {
        caller: name_of(program, caller),
        callee: name_of(program, callee),
        stmt: program.statement_at(caller),
    };
    let calls = places.windows(2).filter_map(|pair| match pair {
        [callee, caller] => Some(call(*callee, *caller)),
        _ => None,
    });
    let mut counts: HashMap<RecursiveCall, usize> = HashMap::new();
    let mut found = Vec::new();
    for call in calls {
        let count = counts.entry(call.clone()).or_default();
        *count += 1;
        if *count == OFTEN {
            found.push(call);
        }
    }
    found.truncate(MOST_CALLS);
    found
}

fn name_of(program: &Program, address: u64) -> String {
    let location = program.locate(address);
    location.function_name().map_or_else(|| format!("{address:#x}"), str::to_owned)
}
