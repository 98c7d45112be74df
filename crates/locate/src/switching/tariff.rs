//! What it costs a trial to wait beside the spine, and whether that pays.
//!
//! All costs are in instructions of a plain run.

use std::collections::HashMap;

use super::trial::{Ending, Trial};

/// What it takes to run a trial to where its way meets the spine's and to compare the two; to make a trial that waits a process again; and to execute an
/// instruction in the world of one.
pub const MEET: u64 = 1 << 14;
pub const WAKE: u64 = 1 << 14;
pub const STEP: u64 = 160;
/// So much more than a plain run of the same stretch a trial may take; then it runs on to its end. What it has to do with is what the program does
/// all the time, or what it writes is soon known to be wrong.
pub const GRACE: u64 = 1 << 16;

/// Whether trials wait where their way meets the spine's. The outcome is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parking {
    Never,
    /// As long as that is cheaper, for a trial and for those of its condition, than to run on.
    WhileItPays,
    /// However dear that is: to measure how much of what trials do differs from what the spine does, and to see that nothing depends on it.
    Always,
}

impl Parking {
    /// Whether a trial of a condition may wait, from which on the spine takes `rest` to its end.
    pub(super) fn lets_wait(self, accounts: &Accounts, condition: u32, rest: u64) -> bool {
        match self {
            Parking::Never => false,
            Parking::WhileItPays => accounts.pays(condition, rest),
            Parking::Always => true,
        }
    }
}

/// What it has cost the trials of each condition so far to wait, and what it has saved.
#[derive(Default)]
pub struct Accounts {
    by_condition: HashMap<u32, Account>,
}

/// Sums over the trials of a condition.
#[derive(Clone, Copy, Default)]
struct Account {
    /// What they took for waiting.
    spent: u64,
    /// What share of the rest of the run each would have taken without, less what it took at last all the same; in parts of [`WHOLE`]. It is the
    /// share that tells about others: those that are tried first are near the end of the run, and cannot save much.
    saved: u64,
}

const WHOLE: u64 = 1 << 16;

impl Accounts {
    fn pays(&self, condition: u32, rest: u64) -> bool {
        let Some(account) = self.by_condition.get(&condition) else { return true };
        let saved = u128::from(account.saved) * u128::from(rest) / u128::from(WHOLE);
        saved >= u128::from(account.spent)
    }

    /// A trial that was allowed to wait, from whose beginning on the spine took `rest` to its end.
    pub fn note(&mut self, condition: u32, trial: &Trial, rest: u64) {
        let plain = if trial.ending == Ending::AsTheSpine { rest } else { trial.length };
        let saved =
            u128::from(plain.saturating_sub(trial.ran_out)) * u128::from(WHOLE) / u128::from(rest.max(1));
        let account = self.by_condition.entry(condition).or_default();
        account.spent = account.spent.saturating_add(trial.spent);
        account.saved = account.saved.saturating_add(u64::try_from(saved).unwrap_or(u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_wait_where_their_condition_has_saved_more_than_it_cost() {
        let mut accounts = Accounts::default();
        assert!(accounts.pays(1, 0), "nothing is known yet");
        accounts.note(1, &Trial { ending: Ending::AsTheSpine, spent: 100, ..Trial::default() }, 1000);
        let failed = Ending::Failed { wrote: false, right: None };
        accounts.note(
            1,
            &Trial { ending: failed, spent: 300, length: 1000, ran_out: 1000, ..Trial::default() },
            1000,
        );
        assert!(accounts.pays(1, 400), "one of two is spared the rest of the run");
        assert!(!accounts.pays(1, 399));
        assert!(accounts.pays(2, 0), "each condition has an account of its own");
    }

    #[test]
    fn what_ends_early_by_itself_saves_little() {
        let mut accounts = Accounts::default();
        let failed = Ending::Failed { wrote: true, right: None };
        accounts.note(
            1,
            &Trial { ending: failed, spent: 100, length: 50, ran_out: 10, ..Trial::default() },
            1000,
        );
        assert!(!accounts.pays(1, 2000), "80 instructions for 100");
        assert!(accounts.pays(1, 4000));
    }
}
