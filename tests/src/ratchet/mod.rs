//! The ratchet: what whydunit promises, row by row, in `tests/ratchet.toml`, each row checked for real.
//!
//! A row that `works` must pass. A row that is `not yet, because …` must still fail: one that passes has to be promoted, so that what
//! works once stays promised.

mod checks;
mod rows;

use serde::Deserialize;

pub use rows::{Program, Ratchet};

/// A promise and the check that tells whether it is kept.
pub trait Row: Send + 'static {
    /// Unique among the rows of all kinds.
    fn name(&self) -> String;
    fn status(&self) -> &Status;
    fn check(&self) -> Result<(), Failure>;
}

/// What a row says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Status {
    Works,
    NotYet { because: String },
}

/// Why a check did not pass.
#[derive(Debug)]
pub enum Failure {
    /// whydunit does not do what the row promises.
    Difference(String),
    /// The check itself cannot be made: a program is not installed, a guest does not compile. Never excused by `not yet`.
    Broken(String),
}

/// Makes a row's check and holds the result against what the row says.
pub fn verdict(row: &dyn Row) -> Result<(), String> {
    match (row.status(), row.check()) {
        (_, Err(Failure::Broken(why))) => Err(format!("the check itself is broken: {why}")),
        (Status::Works, Ok(())) => Ok(()),
        (Status::Works, Err(Failure::Difference(what))) => Err(what),
        (Status::NotYet { because }, Ok(())) => Err(format!(
            "passes now, though tests/ratchet.toml says not yet, because {because}.\nPromote it: status = \"works\""
        )),
        (Status::NotYet { .. }, Err(Failure::Difference(what))) => {
            println!("not yet, as the ratchet says:\n{what}");
            Ok(())
        }
    }
}

impl TryFrom<String> for Status {
    type Error = String;

    fn try_from(text: String) -> Result<Status, String> {
        match text.strip_prefix("not yet, because ") {
            _ if text == "works" => Ok(Status::Works),
            Some(because) if !because.trim().is_empty() => Ok(Status::NotYet { because: because.to_owned() }),
            _ => Err(format!("a status is \"works\" or \"not yet, because …\", not {text:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stub(Status, fn() -> Result<(), Failure>);

    impl Row for Stub {
        fn name(&self) -> String {
            "stub".to_owned()
        }
        fn status(&self) -> &Status {
            &self.0
        }
        fn check(&self) -> Result<(), Failure> {
            (self.1)()
        }
    }

    fn judge(status: &str, check: fn() -> Result<(), Failure>) -> Result<(), String> {
        verdict(&Stub(Status::try_from(status.to_owned()).expect("a status"), check))
    }

    #[test]
    fn a_kept_promise_passes_and_a_broken_one_fails() {
        assert!(judge("works", || Ok(())).is_ok());
        assert!(judge("works", || Err(Failure::Difference("differs".into()))).is_err());
    }

    #[test]
    fn what_does_not_work_yet_must_be_promoted_once_it_does() {
        assert!(
            judge("not yet, because of x87", || Err(Failure::Difference("differs".into())))
                .is_ok_and(|()| true)
        );
        assert!(judge("not yet, because of x87", || Ok(())).is_err_and(|text| text.contains("Promote")));
    }

    #[test]
    fn a_broken_check_is_never_excused() {
        assert!(judge("not yet, because of x87", || Err(Failure::Broken("no gcc".into()))).is_err());
    }

    #[test]
    fn a_status_without_a_reason_is_refused() {
        assert!(Status::try_from("not yet".to_owned()).is_err());
        assert!(Status::try_from("not yet, because ".to_owned()).is_err());
        assert!(Status::try_from("Works".to_owned()).is_err());
    }
}
