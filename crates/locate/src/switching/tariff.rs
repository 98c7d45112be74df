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

/// What it has cost the trials of each condition so far to wait, and what it has saved.
#[derive(Default)]
pub struct Accounts {
    by_condition: HashMap<u32, Account>,
}

/// Sums over the trials of a condition.
#[derive(Clone, Copy, Default)]
struct Account {
    /// How many there are, also of those that do not wait.
    trials: u64,
    /// What they took for waiting.
    spent: u64,
    /// What share of the rest of the run each would have taken without, less what it took at last all the same; in parts of [`WHOLE`]. It is the
    /// share that tells about others: those that are tried first are near the end of the run, and cannot save much.
    saved: u64,
}

const WHOLE: u64 = 1 << 16;
/// The first so many trials of a condition wait, and of the others one in so many, whatever others have come to: those near the failure may be unlike all others.
const PROBES: u64 = 16;

impl Accounts {
    /// Whether the next trial of a condition waits; from its beginning on the spine takes `rest` to the failure.
    pub fn let_wait(&mut self, parking: Parking, condition: u32, rest: u64) -> bool {
        let account = self.by_condition.entry(condition).or_default();
        account.trials += 1;
        match parking {
            Parking::Never => false,
            Parking::WhileItPays => account.is_probed() || account.pays(rest),
            Parking::Always => true,
        }
    }

    /// A trial that was allowed to wait, from whose beginning on the spine took `rest` to the failure.
    pub fn note(&mut self, condition: u32, trial: &Trial, rest: u64) {
        let plain = if trial.ending == Ending::AsTheSpine { rest } else { trial.length };
        let saved =
            u128::from(plain.saturating_sub(trial.ran_out)) * u128::from(WHOLE) / u128::from(rest.max(1));
        let account = self.by_condition.entry(condition).or_default();
        account.spent = account.spent.saturating_add(trial.spent);
        account.saved = account.saved.saturating_add(u64::try_from(saved).unwrap_or(u64::MAX));
    }
}

impl Account {
    fn is_probed(&self) -> bool {
        self.trials <= PROBES || self.trials.is_multiple_of(PROBES)
    }

    fn pays(&self, rest: u64) -> bool {
        let saved = u128::from(self.saved) * u128::from(rest) / u128::from(WHOLE);
        saved >= u128::from(self.spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(spent: u64, length: u64, ran_out: u64) -> Trial {
        let ending = Ending::Failed { wrote: true, right: None };
        Trial { ending, spent, length, ran_out, ..Trial::default() }
    }

    fn as_the_spine(spent: u64) -> Trial {
        Trial { ending: Ending::AsTheSpine, spent, ..Trial::default() }
    }

    /// How many of the next hundred trials of a condition would wait.
    fn waiting(accounts: &mut Accounts, condition: u32, rest: u64) -> usize {
        (0..100).filter(|_| accounts.let_wait(Parking::WhileItPays, condition, rest)).count()
    }

    #[test]
    fn trials_wait_where_their_condition_has_saved_more_than_it_cost() {
        let mut accounts = Accounts::default();
        assert_eq!(waiting(&mut accounts, 1, 0), 100, "nothing is known yet");
        accounts.note(1, &as_the_spine(100), 1000);
        accounts.note(1, &failed(300, 1000, 1000), 1000);
        assert_eq!(waiting(&mut accounts, 1, 400), 100, "one of two is spared the rest of the run");
        assert!(waiting(&mut accounts, 1, 399) < 10, "but some, since it may be otherwise further off");
        assert_eq!(waiting(&mut accounts, 2, 0), 100, "each condition has an account of its own");
    }

    #[test]
    fn what_ends_early_by_itself_saves_little() {
        let mut accounts = Accounts::default();
        waiting(&mut accounts, 1, 0);
        accounts.note(1, &failed(100, 50, 10), 1000);
        assert!(waiting(&mut accounts, 1, 2000) < 10, "80 instructions for 100");
        assert_eq!(waiting(&mut accounts, 1, 4000), 100);
    }

    #[test]
    fn the_first_trials_of_a_condition_wait_whatever_comes_of_one() {
        let mut accounts = Accounts::default();
        accounts.note(1, &failed(100, 10, 10), 1000);
        let waits: Vec<bool> = (0..20).map(|_| accounts.let_wait(Parking::WhileItPays, 1, 1000)).collect();
        assert_eq!(waits.iter().position(|waits| !waits), Some(PROBES as usize));
    }
}
