//! Whether the likeliest cause is certain, and what speaks against it.

use replay::story::{Role, Told};

use super::Explanation;
use crate::switching::{Change, Critical, Effect, Statistics};

/// Why the likeliest cause is not certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The failure is not repaired, only avoided or put off.
    Unrepaired,
    /// It takes more than one decision that goes the other way.
    Several,
    /// It was led to another case, and there are many.
    Case,
    /// Others save the run as well.
    Others,
    /// Something was not tried, or could not be judged.
    Untried,
    /// To end a loop early leaves out all that comes after.
    LeavesOut,
    /// No dependence leads from it to the failure.
    Unrelated,
    /// What it compared was computed, by code that may be wrong itself.
    Compared,
    /// Something is computed on the way from it to the failure: a run that leaves out a wrong statement may be right.
    OnTheWay,
}

impl Explanation {
    /// Whether the likeliest cause is certain.
    pub fn is_certain(&self) -> bool {
        !self.causes.is_empty() && self.doubts().is_empty()
    }

    /// What speaks against the likeliest cause.
    pub fn doubts(&self) -> Vec<Doubt> {
        let Some(cause) = self.causes.first() else { return Vec::new() };
        let Critical { effect, change, distance, .. } = &cause.critical;
        let Statistics { left_out, unverified, cut_short, .. } = self.statistics;
        let between = cause.way().split_last().map_or(&[][..], |(_, before)| before);
        let is_several = match change {
            Change::Once | Change::Case(_) => false,
            Change::Inverted | Change::Always(_) | Change::With(_) => true,
        };
        let doubts = [
            (*effect != Effect::Repairs, Doubt::Unrepaired),
            (is_several, Doubt::Several),
            (matches!(change, Change::Case(_)), Doubt::Case),
            (self.has_others, Doubt::Others),
            (self.is_cut_short || [left_out, unverified, cut_short] != [0; 3], Doubt::Untried),
            (cause.leaves_out, Doubt::LeavesOut),
            (distance.is_none(), Doubt::Unrelated),
            (cause.is_computed, Doubt::Compared),
            (between.iter().any(makes), Doubt::OnTheWay),
        ];
        doubts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, doubt)| doubt).collect()
    }
}

/// Whether a step may have made something wrong.
pub(super) fn makes(step: &Told) -> bool {
    !matches!(step.role, Role::Decides { .. } | Role::Calls)
}
