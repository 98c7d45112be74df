//! Which statements a run executed, and how often.

use std::collections::{BTreeMap, HashMap};

use program::{Scope, Stmt};

use crate::flow::Flow;
use crate::index::{Event, Indexer, keys_of_one};
use crate::recording::Recording;

/// How many instances of each statement in scope the run has. Instances are those of the execution index: calls do not end
/// them, another round of a loop does.
pub fn coverage(recording: &mut Recording, flow: &Flow<'_>, scope: &Scope) -> BTreeMap<Stmt, u64> {
    let program = flow.program();
    let mut indexer = Indexer::new(flow, scope, keys_of_one(program));
    let mut begun: HashMap<u64, u64> = HashMap::new();
    // What the loader does leaves nothing open.
    let start = recording.program_start();
    recording.forward(start..recording.end(), |segment| {
        indexer.follow(segment.trace, segment.before, |event| {
            if let Event::Statement { address, .. } = event {
                *begun.entry(address).or_default() += 1;
            }
        });
        true
    });
    let mut statements = BTreeMap::new();
    for (address, count) in begun {
        if let Some(stmt) = program.statement_at(address) {
            *statements.entry(stmt).or_default() += count;
        }
    }
    statements
}
