//! Every row of `tests/ratchet.toml` is a test of its own name.

use libtest_mimic::{Arguments, Failed, Trial};
use tests::ratchet::{Ratchet, verdict};

fn main() {
    let arguments = Arguments::from_args();
    let rows = match Ratchet::read().and_then(Ratchet::into_rows) {
        Ok(rows) => rows,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let trials = rows
        .into_iter()
        .map(|row| Trial::test(row.name(), move || verdict(row.as_ref()).map_err(Failed::from)))
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
