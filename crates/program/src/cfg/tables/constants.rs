//! Registers that hold one constant at a place, however control came there: the address of a table that was
//! loaded before a loop.

use lift::Reg;
use rustc_hash::FxHashSet;

use super::Budget;
use super::symbolic::State;
use crate::cfg::descent::Code;
use crate::cfg::flow;
use crate::object_file::ObjectFile;

/// The value of a register before the instruction at an address, when it is the same on all ways that lead there
/// from the function's `entry`.
pub(super) fn find(
    object: &ObjectFile,
    code: &Code,
    entry: u64,
    (reg, address): (Reg, u64),
    budget: &mut Budget,
) -> Option<u64> {
    if !reg.is_general() {
        return None;
    }
    let mut found = None;
    let mut seen = FxHashSet::from_iter([address]);
    let mut pending = vec![address];
    while let Some(at) = pending.pop() {
        // At the entry it is what the caller left there.
        if at == entry {
            return None;
        }
        for from in code.predecessors(at) {
            budget.spend(1)?;
            let value = if code.steps.get(&from)?.writes & 1 << reg.0 != 0 {
                constant_after(object, from, reg)?
            } else if let Some(known) = budget.constants.get(&(reg, from)) {
                *known
            } else {
                if seen.insert(from) {
                    pending.push(from);
                }
                continue;
            };
            if found.is_some_and(|other| other != value) {
                return None;
            }
            found = Some(value);
        }
    }
    // All ways to each of these places have been followed, too.
    budget
        .constants
        .extend(found.into_iter().flat_map(|value| seen.iter().map(move |at| ((reg, *at), value))));
    found
}

/// What the instruction leaves in the register, when that does not depend on anything.
fn constant_after(object: &ObjectFile, address: u64, reg: Reg) -> Option<u64> {
    let mut ops = Vec::new();
    flow::step(object.bytes_at(address)?, address, &mut ops)?;
    let mut state = State::default();
    ops.iter().for_each(|op| state.run(op));
    let value = state.register(reg);
    state.expressions.as_constant(value)
}
