//! What a solver found, done to a run.

use super::Concolic;
use crate::solver::Model;
use machine::{Action, Intervention, Time};
use replay::{Cell, Recording};
use std::collections::BTreeMap;

impl Concolic {
    /// Gives the unknowns of a recorded run the values of a model; those that it does not tell keep theirs. None, if one of them is not of registers and
    /// memory: what the kernel gives is altered by another input, not by an intervention.
    pub fn interventions(&self, recording: &mut Recording, model: &Model) -> Option<Vec<Intervention>> {
        let values: BTreeMap<_, _> = model.values.iter().copied().collect();
        let mut actions = Vec::new();
        let mut registers: BTreeMap<(Time, lift::Reg), u64> = BTreeMap::new();
        for input in &self.inputs {
            let Some(&value) = values.get(&input.variable) else { continue };
            match input.cell {
                Cell::Register(reg, bytes) => {
                    let whole = registers
                        .entry((input.time, reg))
                        .or_insert_with(|| recording.at(input.time).machine.cpu.get(reg));
                    let low = 8 * bytes.trailing_zeros();
                    let mask = (self.terms.variable_sort(input.variable).mask() as u64) << low;
                    *whole = *whole & !mask | (value as u64) << low & mask;
                }
                Cell::Memory { address, length } => {
                    let bytes = value.to_le_bytes().get(..usize::try_from(length).ok()?)?.to_vec();
                    actions.push(Intervention::At(input.time, Action::Poke { address, bytes }));
                }
                Cell::Kernel { .. } => return None,
            }
        }
        let registers = registers.into_iter();
        actions.extend(
            registers.map(|((time, reg), value)| Intervention::At(time, Action::SetValue { reg, value })),
        );
        Some(actions)
    }
}
