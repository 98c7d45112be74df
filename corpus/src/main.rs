//! `corpus`: measures how soon faults that are known are named.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};

use corpus::journal::Results;
use corpus::question::{Question, Technique, With};
use corpus::suites::{Draw, Suite};
use corpus::tool::{self, Tool};
use corpus::{compare, papers, plots, run, table};

/// Measure how soon `whydunit explain`, and what one would use instead, names faults that are known
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Draw cases, ask about them, and write a line of JSON for each answer
    Run(RunArguments),
    /// Print the tables of a results file
    Table {
        file: PathBuf,
        /// Also a line for each case, the worst first
        #[arg(long)]
        cases: bool,
    },
    /// Tell what got better or worse from one results file to another, case by case
    Compare { old: PathBuf, new: PathBuf },
    /// Print the figures that the papers have of their own methods
    Papers,
    /// Draw the plots of a results file, as SVG
    Plot {
        file: PathBuf,
        /// Where they are written
        #[arg(short, long, default_value = ".")]
        output: PathBuf,
    },
}

#[derive(Args)]
struct RunArguments {
    #[arg(long, value_enum, default_value = "mutants")]
    suite: Suite,
    /// What is asked (repeatable, or separated by commas)
    #[arg(long, value_enum, value_delimiter = ',', default_value = "explain")]
    technique: Vec<Technique>,
    /// What there is beside the failing run (repeatable, or separated by commas)
    #[arg(long, value_enum, value_delimiter = ',', default_value = "alone")]
    with: Vec<With>,
    /// How many cases
    #[arg(long, default_value_t = 60)]
    sample: usize,
    /// Which cases
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this program (repeatable)
    #[arg(long, value_name = "NAME")]
    program: Vec<String>,
    /// Instructions that the trials of an explanation may take
    #[arg(long, default_value_t = 2_000_000_000)]
    budget: u64,
    /// Seconds that an answer may take
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many cases at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// The whydunit command; else the one that WHYDUNIT_BIN names, else a fresh release build
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,
    /// The results file; if it is there and holds the same measurement, that goes on
    #[arg(short, long, value_name = "FILE", default_value = "results.jsonl")]
    output: PathBuf,
    /// Keep sources, executables, inputs and the last answers of the cases in this directory
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<PathBuf>,
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Run(arguments) => measure(&arguments)?,
        Command::Table { file, cases } => print!("{}", table::tables(&Results::read(&file)?, cases)),
        Command::Compare { old, new } => {
            print!("{}", compare::compare(&Results::read(&old)?, &Results::read(&new)?));
        }
        Command::Papers => print!("{}", papers::tables()),
        Command::Plot { file, output } => {
            for path in plots::draw(&Results::read(&file)?, &output)? {
                println!("{}", path.display());
            }
        }
    }
    Ok(())
}

fn measure(arguments: &RunArguments) -> Result<()> {
    let scratch = tempfile::tempdir().context("no temporary directory can be made")?;
    let place = arguments.keep.as_deref().unwrap_or(scratch.path());
    std::fs::create_dir_all(place).with_context(|| format!("{} cannot be made", place.display()))?;
    let place = place.canonicalize().context("a directory cannot be found again")?;
    let binary = arguments.tool.clone().map_or_else(tool::binary, Ok)?;
    let binary = binary.canonicalize().with_context(|| format!("there is no {}", binary.display()))?;
    let tool = Tool { binary, seconds: arguments.seconds, budget: arguments.budget };
    let draw = Draw {
        suite: arguments.suite,
        count: arguments.sample,
        seed: arguments.seed,
        programs: arguments.program.clone(),
        jobs: arguments.jobs,
    };
    let questions = Question::all(&arguments.technique, &arguments.with);
    let names = |values: &[&str]| values.join(", ");
    anyhow::ensure!(
        !questions.is_empty(),
        "no technique of {} can use what --with names",
        names(&arguments.technique.iter().map(|technique| technique.name()).collect::<Vec<_>>())
    );
    run::run(&draw, &tool, &questions, &arguments.output, &place)?;
    show(&arguments.output)
}

fn show(file: &Path) -> Result<()> {
    print!("{}", table::tables(&Results::read(file)?, false));
    Ok(())
}
