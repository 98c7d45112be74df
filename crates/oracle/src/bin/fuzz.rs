//! `fuzz`: runs random instructions on the processor and in the machine, and prints where they
//! differ.

use oracle::fuzz::{self, Report};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "\
usage: fuzz [--group NAME]... [--cases N] [--seed N] [--case INDEX] [--show N]
  --group NAME   only this group (may be given again); `--group list` lists them
  --cases N      cases a group (default 100000)
  --seed N       another seed, other cases (default 1)
  --case INDEX   only this case of the group, as a difference names it
  --show N       how many differences to print in full (default 5)";

struct Options {
    groups: Vec<String>,
    cases: u64,
    seed: u64,
    case: Option<u64>,
    show: usize,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if options.groups.iter().any(|group| group == "list") {
        println!("{}", fuzz::groups().join("\n"));
        return ExitCode::SUCCESS;
    }
    let mut failed = false;
    for group in &options.groups {
        let start = Instant::now();
        let indices = match options.case {
            Some(index) => index..index + 1,
            None => 0..options.cases,
        };
        match fuzz::run_range(group, indices, options.seed) {
            Ok(report) => {
                failed |= !report.differences.is_empty();
                print(group, &report, &options, start);
            }
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

fn print(group: &str, report: &Report, options: &Options, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{group:<18} {:>9} cases  {:>9.0}/s  {:>3} differences  {} forms unsupported",
        report.cases,
        report.cases as f64 / seconds,
        report.differences.len(),
        report.unsupported.len(),
    );
    for form in &report.unsupported {
        println!("  unsupported: {form}");
    }
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for difference in &report.differences {
        match counts.iter_mut().find(|(form, _)| *form == difference.form) {
            Some((_, count)) => *count += 1,
            None => counts.push((&difference.form, 1)),
        }
    }
    // The most frequent first; a block is its own form, so there can be many.
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for (form, count) in counts.iter().take(12) {
        println!("  {count:>4} in {form}");
    }
    for difference in report.differences.iter().take(options.show) {
        println!("{}", difference.text);
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { groups: Vec::new(), cases: 100_000, seed: 1, case: None, show: 5 };
    while let Some(name) = arguments.next() {
        if name == "--help" {
            return Err(String::new());
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number, not {value}"));
        match name.as_str() {
            "--group" => options.groups.push(value),
            "--cases" => options.cases = number()?,
            "--seed" => options.seed = number()?,
            "--case" => options.case = Some(number()?),
            "--show" => options.show = number()? as usize,
            _ => return Err(format!("there is no option {name}")),
        }
    }
    if options.groups.is_empty() {
        options.groups = fuzz::groups().iter().map(|group| group.to_string()).collect();
    }
    Ok(options)
}
