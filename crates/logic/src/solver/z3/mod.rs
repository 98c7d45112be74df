//! Z3 in this process.
//!
//! Each query has a context of its own, so that its answer depends on nothing that was asked before, and is limited by steps, not by time. It is solved on a thread of
//! its own, with a stack that Z3's recursions fit in. One sequence of tactics serves all queries about terms: floats become bits, bits become clauses.

mod library;

use super::{Backend, Limits, Logic, Script, Solved, Unknown, Verdict, Wanted};
use library::{Failure, Found, Z3Library};
use std::ffi::CStr;

/// The library's name, with the version of its interface.
const LIBRARY: &str = "libz3.so.4";
/// Only as much of it is taken from the host as is used.
const STACK: usize = 1 << 30;

/// What is cheap comes first: for most queries of a trace, constants and equations leave little to the last one.
const TACTICS: [&CStr; 10] = [
    c"simplify",
    c"propagate-values",
    c"solve-eqs",
    c"fpa2bv",
    c"simplify",
    c"propagate-values",
    c"solve-eqs",
    c"max-bv-sharing",
    c"bit-blast",
    c"sat",
];

const TACTICS_OF_INTEGERS: [&CStr; 3] = [c"simplify", c"solve-eqs", c"smt"];

fn tactics(logic: Logic) -> &'static [&'static CStr] {
    match logic {
        Logic::Bits | Logic::BitsAndFloats => &TACTICS,
        Logic::Integers => &TACTICS_OF_INTEGERS,
    }
}

pub struct Z3 {
    library: Z3Library,
}

impl Z3 {
    /// Opens the library; without it, the reason says what to do.
    pub fn open() -> Result<Z3, Unknown> {
        Z3::open_file(LIBRARY)
    }

    pub(super) fn open_file(file: &str) -> Result<Z3, Unknown> {
        let library = Z3Library::open(file).map_err(|error| {
            Unknown::Missing(format!(
                "Z3 is not there ({error}); install Debian's libz3-4, or name another solver with --solver"
            ))
        })?;
        Ok(Z3 { library })
    }
}

impl Backend for Z3 {
    fn solve(&mut self, script: &Script, wanted: Wanted, limits: Limits) -> Solved {
        let library = &self.library;
        let job = move || solve(library, script, wanted, limits);
        let done = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, job);
            thread.map(|thread| thread.join())
        });
        match done {
            Ok(Ok(solved)) => solved,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                unknown(Unknown::Missing(format!("there is no thread for Z3 ({error}); is memory short?")))
            }
        }
    }
}

fn unknown(reason: Unknown) -> Solved {
    Solved { verdict: Verdict::Unknown(reason), units: 0 }
}

fn solve(library: &Z3Library, script: &Script, wanted: Wanted, limits: Limits) -> Solved {
    library.set_global(c"memory_max_size", &limits.memory.to_string());
    attempt(library, script, wanted, limits).unwrap_or_else(|failure| {
        unknown(match failure {
            Failure::OutOfMemory => Unknown::Memory(limits.memory),
            Failure::Other(message) => why(message, limits),
        })
    })
}

fn attempt(library: &Z3Library, script: &Script, wanted: Wanted, limits: Limits) -> Result<Solved, Failure> {
    let (units, is_core_wanted) = (limits.units.to_string(), (wanted == Wanted::Core).to_string());
    let context = library.context(&[(c"unsat_core", &is_core_wanted), (c"rlimit", &units)]);
    let assertions = context.parse(script.text())?;
    if assertions.len() != script.equations() + script.len() {
        return Err(Failure::Other("Z3 did not understand a script".to_owned()));
    }
    let mut solver = context.solver(tactics(script.logic()))?;
    for (place, assertion) in assertions.iter().enumerate() {
        match (wanted, place.checked_sub(script.equations())) {
            (Wanted::Core, Some(number)) => solver.assert_tracked(assertion, number)?,
            (Wanted::Core, None) | (Wanted::Verdict, _) => solver.assert(assertion)?,
        }
    }
    let found = solver.check()?;
    let units = solver.statistic("rlimit count").unwrap_or(0).into();
    let verdict = match (found, wanted) {
        (Found::Sat, _) => {
            let names = (0..script.variables().len()).map(Script::variable_name);
            let constants: Result<Vec<_>, Failure> = names
                .zip(script.widths())
                .map(|(name, width)| context.bits_constant(&name, *width))
                .collect();
            let values = solver.values(&constants?)?;
            let values: Option<Vec<u128>> = values.iter().map(|value| value.parse().ok()).collect();
            Verdict::Sat(values.ok_or_else(|| Failure::Other("Z3 gave no number as a value".to_owned()))?)
        }
        (Found::Unsat, Wanted::Verdict) => Verdict::Unsat((0..script.len()).collect()),
        (Found::Unsat, Wanted::Core) => Verdict::Unsat(match solver.core()? {
            // Equations alone contradict nothing, so a core without constraints is one that was lost.
            core if core.is_empty() => (0..script.len()).collect(),
            core => core,
        }),
        (Found::Unknown, _) => Verdict::Unknown(why(solver.reason_unknown(), limits)),
    };
    Ok(Solved { verdict, units })
}

/// What Z3 says of its limits, in our words.
fn why(reason: String, limits: Limits) -> Unknown {
    if reason.contains("resource limit") || reason.contains("canceled") {
        Unknown::ResourceLimit(limits.units)
    } else if reason.contains("memory") {
        Unknown::Memory(limits.memory)
    } else {
        Unknown::Incomplete(reason)
    }
}
