//! The instruction fuzzer: random instructions in random states, executed by the processor and by
//! the machine, whose outcomes must agree in everything that the architecture defines.
//!
//! The way of a case: [`forms`] lists what can be tried, [`operands`], [`shape`] and [`generate`]
//! make an instruction with a state, [`native`] has a child run it on the processor ([`child`]),
//! [`emulated`] runs it in the machine, [`compare`] judges, [`describe`] tells.

mod amd;
mod child;
mod compare;
mod describe;
mod emulated;
mod exempt;
mod forms;
mod generate;
mod layout;
mod native;
mod operands;
pub(crate) mod random;
mod shape;
#[cfg(test)]
mod slots;
#[cfg(test)]
mod sources;
mod state;
mod undefined;

use emulated::{Answer, Emulated, Executor};
pub(crate) use exempt::units_apart;
use generate::Generator;
use layout::SLOTS;
use native::{Native, NativeError};
use state::{Case, Outcome};
use std::collections::BTreeSet;

/// The names of the instruction groups.
pub fn groups() -> &'static [&'static str] {
    forms::GROUPS
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases both sides executed.
    pub cases: u64,
    pub differences: Vec<Difference>,
    /// The forms that the machine refused, each once.
    pub unsupported: Vec<String>,
}

/// A case in which the machine is wrong.
#[derive(Debug)]
pub struct Difference {
    /// Names the case together with group and seed.
    pub index: u64,
    /// The form, such as `ADD r/m32, r32`.
    pub form: String,
    /// The case, and how the two sides differ.
    pub text: String,
}

/// A report stops to collect at this many differences: they are likely to be of one kind.
const ENOUGH: usize = 200;

/// Runs `cases` random cases of a group.
///
/// # Panics
/// If there is no such group, or if the processor's side cannot work here: a run without a judge must
/// not look like a good one.
pub fn run_group(group: &str, cases: u64, seed: u64) -> Report {
    run_range(group, 0..cases, seed).unwrap_or_else(|message| panic!("{message}"))
}

/// Runs the cases with these indices; one alone is run again as it was. An error says why that
/// cannot be done here.
pub fn run_range(group: &str, indices: std::ops::Range<u64>, seed: u64) -> Result<Report, String> {
    let Some(group) = groups().iter().find(|name| **name == group) else {
        return Err(format!("no group is called {group}; there are: {}", groups().join(", ")));
    };
    let image = Generator::image(seed);
    let mut generator = Generator::new(group, seed);
    let mut native = Native::start(&image).map_err(|error| describe::native_error(&error))?;
    let mut emulated = Emulated::new(&image);
    let mut collector = Collector { group, seed, report: Report::default(), unsupported: BTreeSet::new() };
    let mut start = indices.start;
    while start < indices.end && collector.report.differences.len() < ENOUGH {
        // A batch ends where the slots do, so that every index has the same slot in every run.
        let end = indices.end.min((start / SLOTS as u64 + 1) * SLOTS as u64);
        let batch: Vec<Case> = (start..end).map(|index| generator.case(index)).collect();
        run_batch(&batch, &mut native, &mut emulated, &mut collector)?;
        start = end;
    }
    let Collector { mut report, unsupported, .. } = collector;
    report.unsupported = unsupported.into_iter().collect();
    Ok(report)
}

fn run_batch(
    batch: &[Case],
    native: &mut Native,
    emulated: &mut Emulated,
    collector: &mut Collector,
) -> Result<(), String> {
    match native.run(batch) {
        Ok(outcomes) => {
            emulated.load(batch);
            for (case, outcome) in batch.iter().zip(&outcomes) {
                collector.judge(case, outcome, emulated);
            }
            Ok(())
        }
        Err(error @ NativeError::Start(_)) => Err(describe::native_error(&error)),
        // The other cases are run again, by a new child.
        Err(NativeError::Lost { slot, how }) => match batch.get(slot..).and_then(<[Case]>::split_first) {
            Some((case, rest)) => {
                collector.add(case, &format!("  the processor's side was lost: {how}\n"));
                run_batch(&batch[..slot], native, emulated, collector)?;
                run_batch(rest, native, emulated, collector)
            }
            None => Err(how),
        },
    }
}

struct Collector {
    group: &'static str,
    seed: u64,
    report: Report,
    unsupported: BTreeSet<String>,
}

impl Collector {
    fn judge(&mut self, case: &Case, native: &Outcome, emulated: &mut Emulated) {
        for executor in Executor::ALL {
            match emulated.run(case, executor) {
                // An address that was not made for this jumped into a neighbour: nothing to learn.
                Answer::Outcome(outcome) if layout::is_in_another_case(outcome.state.rip, case.input.rip) => {
                    break;
                }
                Answer::Outcome(outcome) => {
                    let text = compare::differences(case, native, &outcome);
                    if !text.is_empty() {
                        self.add(case, &format!("  {executor:?} executor:\n{text}"));
                        break;
                    }
                }
                Answer::Unsupported => {
                    self.unsupported.insert(describe::form(case));
                    return;
                }
                Answer::Broken(how) => {
                    self.add(case, &format!("  the machine {how}\n"));
                    break;
                }
            }
        }
        self.report.cases += 1;
    }

    fn add(&mut self, case: &Case, difference: &str) {
        if self.report.differences.len() < ENOUGH {
            self.report.differences.push(Difference {
                index: case.index,
                form: describe::form(case),
                text: describe::case(self.group, self.seed, case, difference),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases a group; `WHYDUNIT_LONG=1` asks for many more.
    fn budget() -> u64 {
        let long = std::env::var_os("WHYDUNIT_LONG").is_some_and(|value| value == "1");
        if long { 1_000_000 } else { 12_000 }
    }

    /// Half of the groups each, so that both run at the same time.
    fn check(half: usize) {
        let mut failures = String::new();
        for group in groups().iter().skip(half).step_by(2) {
            let report = run_group(group, budget(), 20);
            let agreed = report.cases == budget() && report.unsupported.is_empty();
            if !report.differences.is_empty() || !agreed {
                failures +=
                    &format!("{group}: {} differences in {} cases", report.differences.len(), report.cases);
                failures += &format!(", unsupported: {:?}\n", report.unsupported);
                failures.extend(report.differences.iter().take(3).map(|difference| difference.text.as_str()));
            }
        }
        assert!(failures.is_empty(), "{failures}");
    }

    #[test]
    fn the_machine_agrees_with_the_processor_in_the_even_groups() {
        check(0);
    }

    #[test]
    fn the_machine_agrees_with_the_processor_in_the_odd_groups() {
        check(1);
    }

    #[test]
    fn the_usual_budget_is_large_enough() {
        assert!(groups().len() as u64 * 12_000 >= 200_000);
    }

    #[test]
    fn one_case_alone_is_run_as_in_its_batch() {
        let report = run_range("alu", 1500..1501, 3).expect("runs");
        assert_eq!((report.cases, report.differences.len()), (1, 0));
        assert!(run_range("no such group", 0..1, 3).is_err());
    }
}
