//! What can be typed after `whydunit dump`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use replay::story::Hit;

use super::{BackwardKind, GuestArguments, SourceArguments, ViewArguments, count, hit, number};
use crate::case_arguments::CaseArguments;

#[derive(Debug, Subcommand)]
pub enum Dump {
    /// Two runs side by side: which statement instances of one are those of the other
    ///
    /// The programs are two builds of one, or one with two inputs. Each line tells an
    /// instance that both runs have (=), or only the first (<), or only the second (>): when
    /// it begins in either run, and its place.
    #[command(
        verbatim_doc_comment,
        override_usage = "whydunit dump align [OPTIONS] -- PROGRAM [ARGS]... --- PROGRAM [ARGS]..."
    )]
    Align(DumpAlign),
    /// The control flow graph of a function, with its post-dominators, loops and control dependences
    #[command(override_usage = "whydunit dump cfg [--format text|dot] -- PROGRAM SYMBOL")]
    Cfg(DumpCfg),
    /// The conditions of a function: which branches belong together, what they compare, where they lead
    #[command(override_usage = "whydunit dump conditions [--source-map OLD=NEW] -- PROGRAM SYMBOL")]
    Conditions(DumpConditions),
    /// The state at an instant of a run, as an ELF core file that gdb opens
    ///
    /// The program runs in the machine as under `whydunit run`, but what it prints is not
    /// shown. Then: gdb PROGRAM FILE
    #[command(
        verbatim_doc_comment,
        override_usage = "whydunit dump core --at T [-o FILE] [OPTIONS] -- PROGRAM [ARGS]..."
    )]
    Core(DumpCore),
    /// The statements that a run executed, each with how often
    #[command(override_usage = "whydunit dump coverage [--to T] [OPTIONS] -- PROGRAM [ARGS]...")]
    Coverage(DumpCoverage),
    /// The dependences near a place or an instant of a run: what each statement instance used of which other
    #[command(override_usage = "whydunit dump deps --at PLACE|T [OPTIONS] -- PROGRAM [ARGS]...")]
    Deps(Box<DumpDeps>),
    /// The formula of a value: what the statements of the program computed it from, as C, with the value that each had
    #[command(override_usage = "whydunit dump formula --at PLACE [OPTIONS] -- PROGRAM [ARGS]...")]
    Formula(Box<DumpFormula>),
    /// The execution index of an instant of a run: the calls, condition sides and iterations around it
    #[command(override_usage = "whydunit dump index --at T [OPTIONS] -- PROGRAM [ARGS]...")]
    Index(DumpIndex),
    /// Each instruction of a function, and the ops that it is lifted to
    #[command(override_usage = "whydunit dump ops -- PROGRAM SYMBOL")]
    Ops(DumpFunction),
    /// The statements of a function or of an initialised variable: lines, addresses, text
    #[command(override_usage = "whydunit dump statements [OPTIONS] -- PROGRAM SYMBOL")]
    Statements(DumpStatements),
    /// What a run executed: statements, instructions, and the memory that they accessed
    #[command(override_usage = "whydunit dump trace [--from T] [--to T] [OPTIONS] -- PROGRAM [ARGS]...")]
    Trace(DumpTrace),
    /// The parameters and variables of a function, where they are, and their types
    #[command(override_usage = "whydunit dump types -- PROGRAM SYMBOL")]
    Types(DumpFunction),
}

#[derive(Debug, Args)]
pub struct DumpCore {
    /// The instant: how many instructions have been executed, or `end`
    ///
    /// The state is that before instruction T, counted from 0; K, M and G stand for
    /// thousands, millions, billions. `end` is where the program was killed or stopped,
    /// or just before it exits.
    #[arg(long, verbatim_doc_comment, value_name = "T", value_parser = instant)]
    pub at: Instant,

    /// Where to write it; the program's name with .core at its end unless said otherwise
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub guest: GuestArguments,
}

#[derive(Debug, Args)]
pub struct DumpDeps {
    /// What is asked about: a place, as for `whydunit why`, or an instant
    ///
    /// T means what the instruction T made, counted from 0; `end` is the last one.
    #[arg(long, verbatim_doc_comment, value_name = "PLACE|T")]
    pub at: String,
    /// Which execution of a line is meant: its number, from 1, or `last`
    #[arg(long, value_name = "N", value_parser = hit, default_value = "last")]
    pub hit: Hit,
    /// Which dependences are followed
    #[arg(long, value_enum, default_value = "full")]
    pub kind: BackwardKind,
    /// How many steps back
    #[arg(long, value_name = "N", default_value = "4")]
    pub depth: u32,
    /// How they are written: as text, or for Graphviz
    #[arg(long, value_enum, default_value = "text")]
    pub format: GraphFormat,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub case: CaseArguments,
}

#[derive(Debug, Args)]
pub struct DumpFormula {
    /// What is asked about: a place, as for `whydunit why`
    #[arg(long, value_name = "PLACE")]
    pub at: String,
    /// Which execution of a line is meant: its number, from 1, or `last`
    #[arg(long, value_name = "N", value_parser = hit, default_value = "last")]
    pub hit: Hit,
    /// How many definitions are told, the last ones
    #[arg(long, value_name = "N", default_value = "100")]
    pub most: usize,
    /// What should be so of the value, as `area < 10`: only what contradicts it is told
    #[arg(long, value_name = "EXPR")]
    pub should: Option<String>,
    /// Another solver than Z3's library: a command that reads SMT-LIB 2.6, as `z3 -in`
    #[arg(long, value_name = "COMMAND", requires = "should")]
    pub solver: Option<String>,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub case: CaseArguments,
}

impl DumpFormula {
    pub fn solver(&self) -> logic::solver::Choice {
        self.solver.as_deref().map(logic::solver::Choice::command).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub struct DumpIndex {
    /// The instant: the instruction T, counted from 0, or `end`, the last one
    #[arg(long, value_name = "T", value_parser = instant)]
    pub at: Instant,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub guest: GuestArguments,
}

#[derive(Debug, Args)]
pub struct DumpCoverage {
    /// The instruction to stop before; the end of the run unless said otherwise
    #[arg(long, value_name = "T", value_parser = count)]
    pub to: Option<u64>,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub guest: GuestArguments,
}

#[derive(Debug, Args)]
pub struct DumpAlign {
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub guest: GuestArguments,
}

#[derive(Debug, Args)]
pub struct DumpTrace {
    /// The first instruction, counted from 0; K, M and G stand for thousands, millions, billions
    #[arg(long, value_name = "T", value_parser = count, default_value = "0")]
    pub from: u64,
    /// The instruction to stop before; the end of the run unless said otherwise
    #[arg(long, value_name = "T", value_parser = count)]
    pub to: Option<u64>,
    #[command(flatten)]
    pub sources: SourceArguments,
    #[command(flatten)]
    pub guest: GuestArguments,
}

/// An instant of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// After so many instructions.
    After(u64),
    End,
}

#[derive(Debug, Args)]
pub struct DumpStatements {
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub function: DumpFunction,
}

#[derive(Debug, Args)]
pub struct DumpConditions {
    #[command(flatten)]
    pub sources: SourceArguments,
    #[command(flatten)]
    pub function: DumpFunction,
}

#[derive(Debug, Args)]
pub struct DumpFunction {
    /// An executable or library, looked up in PATH unless it has a slash; or a bundle
    pub program: OsString,
    /// A function's name, mangled or as in the source, or an address in it (0x…)
    pub symbol: String,
}

#[derive(Debug, Args)]
pub struct DumpCfg {
    /// How the graph is written: as text, or for Graphviz
    #[arg(long, value_enum, default_value = "text")]
    pub format: GraphFormat,
    #[command(flatten)]
    pub function: DumpFunction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    Text,
    Dot,
}

pub fn instant(text: &str) -> Result<Instant, String> {
    if text == "end" {
        return Ok(Instant::End);
    }
    let instructions = number(text, 1000).map(Instant::After);
    instructions
        .ok_or_else(|| "an instant is a number of instructions, as in 250000 or 5M, or `end`".to_owned())
}
