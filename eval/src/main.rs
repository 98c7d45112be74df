//! Measures whydunit against its peers and prints tables for docs/benchmarks.md.

mod bench;
mod debug_info;
mod logic;
mod measure;
mod memory;
mod phase;
mod place;
mod recordings;
mod snapshots;
mod speed;
mod switching;

use clap::{Parser, Subcommand};

/// Measures whydunit and prints markdown tables, with the command that made them.
#[derive(Debug, Parser)]
#[command(name = "eval")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Speed against native, valgrind and memcheck; memory against run length; cost of clones
    Bench(bench::Options),
    /// One phase of the bench, in a process of its own so that its memory can be told
    #[command(hide = true)]
    Phase(phase::Phase),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Bench(options) => bench::run(&options),
        Command::Phase(phase) => phase.run(),
    }
}
