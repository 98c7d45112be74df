//! A hundred random programs (a thousand in the long mode), in batches that run side by side.

use libtest_mimic::{Arguments, Failed, Trial};
use tests::{csmith, place};

const SEEDS_A_BATCH: u64 = 5;

fn main() {
    let arguments = Arguments::from_args();
    let seeds: u64 = if place::long() { 1000 } else { 100 };
    let batches = (0..seeds / SEEDS_A_BATCH).map(|batch| 1 + batch * SEEDS_A_BATCH).map(|first| {
        let last = first + SEEDS_A_BATCH - 1;
        Trial::test(format!("seeds {first:04} to {last:04}"), move || check(first, last))
    });
    libtest_mimic::run(&arguments, batches.collect()).exit();
}

fn check(first: u64, last: u64) -> Result<(), Failed> {
    let batch = csmith::compare(first..=last)?;
    println!(
        "{} programs compared, {} skipped because they natively do not end",
        batch.compared, batch.skipped
    );
    if !batch.differences.is_empty() {
        return Err(batch.differences.join("\n").into());
    }
    if batch.compared == 0 {
        return Err("none of the programs ends natively, so nothing was compared".into());
    }
    Ok(())
}
