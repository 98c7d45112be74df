//! The bench: everything that is measured, one table after the other.

use std::fs;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::speed::{self, Clock};
use crate::{debug_info, logic, memory, place, recordings, snapshots, switching};

#[derive(Debug, Args)]
pub struct Options {
    /// How often each command is run; of speeds the least time counts, else the median
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// Compare processor times instead of wall times: for a machine that has other things to do
    #[arg(long)]
    pub processor_time: bool,
    /// Smaller inputs and one round: to see that it works, not to measure
    #[arg(long)]
    pub quick: bool,
    /// Only the table of speeds
    #[arg(long)]
    pub speed: bool,
    /// Only the tables of predicate switching
    #[arg(long)]
    pub switching: bool,
    /// Only how much of what trials of predicate switching do differs from what the failing run does (minutes)
    #[arg(long)]
    pub differing: bool,
    /// Only the tables of formulas and solvers
    #[arg(long)]
    pub logic: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let rounds = if options.quick { 1 } else { options.rounds.max(1) };
    let divisor = if options.quick { 16 } else { 1 };
    let clock = if options.processor_time { Clock::Processor } else { Clock::Wall };
    let whydunit = place::whydunit()?;
    let command: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "Made on {} by `eval/bench {}` on {}.\n",
        today(),
        command.get(1..).unwrap_or_default().join(" ").trim(),
        processor()
    );
    if options.switching {
        println!("{}", switching::table(divisor)?);
        return Ok(());
    }
    if options.differing {
        println!("{}", switching::differing()?);
        return Ok(());
    }
    if options.logic {
        println!("{}", logic::table(divisor)?);
        return Ok(());
    }
    println!("{}", speed::table(&whydunit, rounds, divisor, clock)?);
    if options.speed {
        return Ok(());
    }
    println!("{}", memory::table(&whydunit, divisor)?);
    println!("{}", snapshots::table()?);
    println!("{}", recordings::table(rounds, divisor, clock)?);
    println!("{}", debug_info::table(rounds)?);
    println!("{}", switching::table(divisor)?);
    println!("{}", logic::table(divisor)?);
    Ok(())
}

fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    output.map_or_else(
        |_| "an unknown day".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("an unknown processor", |(_, name)| name);
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name} ({count} processors)")
}
