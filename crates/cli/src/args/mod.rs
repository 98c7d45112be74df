//! What can be typed. These definitions are the one source of `--help`.

mod dump;

pub use dump::{
    Dump, DumpAlign, DumpCfg, DumpConditions, DumpCore, DumpCoverage, DumpDeps, DumpFormula, DumpFunction,
    DumpIndex, DumpStatements, DumpTrace, GraphFormat, Instant, instant,
};

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use program::{Scope, ScopeError, SourceMap, SourceMapError};
use replay::story::Hit;

use crate::case_arguments::CaseArguments;
use crate::exit_code;
use crate::minimize::MinimizeArguments;

/// Answers why a run failed, by running the program again in a deterministic machine.
#[derive(Debug, Parser)]
#[command(name = "whydunit", version, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program in the machine, as if it ran natively
    ///
    /// The program runs in a sandbox: it reads the host's files, but whatever it writes
    /// stays in memory and is gone at the end, unless --write-back exports it. Every run
    /// with the same program, arguments, environment, input and files is the same,
    /// instruction by instruction.
    #[command(
        verbatim_doc_comment,
        override_usage = "whydunit run [OPTIONS] -- PROGRAM [ARGS]...\n       whydunit run [OPTIONS] BUNDLE",
        after_long_help = exit_code::HELP
    )]
    Run(RunArguments),
    /// Run a program once and store the run in a file, a bundle
    ///
    /// The bundle holds the program, its libraries, every file that it looked at, its
    /// arguments, environment and input. Every command takes it in place of the program,
    /// also on another machine, and also when the original files have changed or are gone.
    /// The exit status is 0 when the bundle was written, whatever the program's own is.
    #[command(
        verbatim_doc_comment,
        override_usage = "whydunit record -o FILE [OPTIONS] -- PROGRAM [ARGS]..."
    )]
    Record(Box<RecordArguments>),
    /// Run a case and print its figures: instructions, system calls, memory, output, and the verdict
    ///
    /// The program's own output is not shown. The exit status is 0 whenever the case could
    /// be run and judged, whatever the verdict is.
    #[command(verbatim_doc_comment, override_usage = "whydunit stats [OPTIONS] -- PROGRAM [ARGS]...")]
    Stats(Box<StatsArguments>),
    /// Tell why a run failed: the condition at fault, and what led from there to the failure
    ///
    /// The run is made once more, and each condition that it decided is made to go the other
    /// way, in a run of its own. Those with which the run does not fail are told, with what
    /// they compared, where that came from, and what it led to.
    #[command(
        verbatim_doc_comment,
        override_usage = "whydunit explain [OPTIONS] -- PROGRAM [ARGS]...\n       \
                          whydunit explain FILE.c [OPTIONS] -- [ARGS]...",
        mut_arg("command", |command| command.required(false).trailing_var_arg(false).last(true)),
        after_long_help = exit_code::EXPLAIN_HELP
    )]
    Explain(Box<ExplainArguments>),
    /// Tell where a value came from, or why execution came to a line
    ///
    /// The story of a value: what made it, what that was made from, which conditions chose
    /// it, back to the program's input. The newest step comes first; numbers in brackets
    /// lead from one to the other.
    #[command(
        verbatim_doc_comment,
        override_usage = "whydunit why --at PLACE [OPTIONS] -- PROGRAM [ARGS]...",
        after_long_help = exit_code::QUESTION_HELP
    )]
    Why(WhyArguments),
    /// List the statements that something depends on
    #[command(
        override_usage = "whydunit slice --at PLACE [OPTIONS] -- PROGRAM [ARGS]...",
        after_long_help = exit_code::QUESTION_HELP
    )]
    Slice(SliceArguments),
    /// Find the smallest input with which the program still fails as it did
    ///
    /// Arguments, standard input and the files that arguments name are reduced: whole
    /// arguments and lines, then words, then bytes. What is left is written to a directory.
    #[command(
        verbatim_doc_comment,
        override_usage = "whydunit minimize [OPTIONS] -- PROGRAM [ARGS]...",
        after_long_help = exit_code::MINIMIZE_HELP
    )]
    Minimize(Box<MinimizeArguments>),
    /// Print an intermediate structure in a stable text form
    Dump {
        #[command(subcommand)]
        what: Dump,
    },
}

#[derive(Debug, Args)]
pub struct StatsArguments {
    /// How the answer is written: for people, or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub case: CaseArguments,
}

#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// C or C++ sources, in place of a program: they are compiled with -g -O0 -lm first
    #[arg(value_name = "FILE.c")]
    pub sources: Vec<OsString>,

    /// Which conditions are tried first: those on which the failure depends, or the last ones
    #[arg(long, value_enum, default_value = "prior")]
    pub order: OrderArgument,

    /// Whose conditions are tried: those of the program's own code, or all
    #[arg(long, value_enum, default_value = "own")]
    pub scope: ScopeArgument,

    /// An input with which the program passes: conditions that have to do with what makes the
    /// difference to it are tried, and told to be read, before others
    ///
    /// It stands for standard input, or, where the program has none, for the one file that
    /// its arguments name.
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub passing_input: Option<PathBuf>,

    /// Minimize the input first, and take what makes the difference to an input that was found to
    /// pass then, as --passing-input does
    ///
    /// The run with the input as it was given is the one that is explained. The oracle has to be
    /// one that can judge any input, see whydunit minimize.
    #[arg(long, verbatim_doc_comment, conflicts_with = "passing_input")]
    pub minimize: bool,

    /// How many instructions all trials together may take; K, M and G stand for thousands, millions, billions
    #[arg(long, value_name = "N", value_parser = count, default_value = "10G")]
    pub budget: u64,

    /// Tell what was found after so many seconds
    #[arg(long, value_name = "S")]
    pub timeout: Option<u64>,

    /// How many trials are made at the same time; the answer does not depend on it
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,

    /// How the answer is written: for people, for programs, or as a page for a browser
    #[arg(long, value_enum, default_value = "text")]
    pub format: PageFormat,

    /// Write the answer to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub case: CaseArguments,
}

/// Whose conditions are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScopeArgument {
    /// Those of the program's own code, as --trust and --suspect say
    Own,
    /// Those of libraries as well
    All,
}

/// In which order conditions are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderArgument {
    /// Those first on which the failure depends, the nearest first
    Prior,
    /// The last executed first
    Lefs,
}

#[derive(Debug, Args)]
pub struct WhyArguments {
    /// What is asked about
    ///
    /// FILE:LINE        why execution came there
    /// FILE:LINE:EXPR   why EXPR has its value there: before the line is executed, or
    ///                  after it if the line itself writes EXPR
    /// crash            why the program was killed, aborted or failed an assertion
    /// exit             why its exit status is what it is
    /// output:N         why byte N of standard output, from 0, is what it is
    /// stderr:N         the same of standard error
    #[arg(long, verbatim_doc_comment, value_name = "PLACE")]
    pub at: String,

    /// Which execution of the line is meant: its number, from 1, or `last`
    #[arg(long, value_name = "N", value_parser = hit, default_value = "last")]
    pub hit: Hit,

    /// How many steps back the story goes
    #[arg(long, value_name = "N", default_value = "8")]
    pub depth: usize,

    /// How the answer is written: for people, or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub case: CaseArguments,
}

#[derive(Debug, Args)]
pub struct SliceArguments {
    /// What is asked about (repeatable)
    ///
    /// The places of `whydunit why`, and
    /// condition:FILE:LINE   what the line decided
    /// input:N               byte N of standard input, from 0 (what comes of it)
    /// argument:N            an argument of the program, from 1 (what comes of it)
    #[arg(long, verbatim_doc_comment, required = true, value_name = "PLACE")]
    pub at: Vec<String>,

    /// Where a chop begins (repeatable); what it leads to is said with --at
    #[arg(long, value_name = "PLACE", required_if_eq("kind", "chop"))]
    pub from: Vec<String>,

    /// Which execution of lines is meant: its number, from 1, or `last`
    #[arg(long, value_name = "N", value_parser = hit, default_value = "last")]
    pub hit: Hit,

    /// Which dependences are followed
    #[arg(long, value_enum, default_value = "full")]
    pub kind: SliceKind,

    /// A table with a line for each statement, instead of the marked source
    #[arg(long)]
    pub list: bool,

    /// All executions of statements instead, as they are found: the newest first, in a forward
    /// slice the oldest
    #[arg(long, conflicts_with_all = ["list", "format"])]
    pub instances: bool,

    /// How the answer is written: for people, or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub case: CaseArguments,
}

/// Which dependences a backward pass follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackwardKind {
    /// Values, and the addresses that they were found by
    Data,
    /// Also the conditions that decided what was executed
    Full,
    /// Also conditions that would have changed something had they gone the other way
    Relevant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SliceKind {
    /// Values, and the addresses that they were found by
    Data,
    /// Also the conditions that decided what was executed
    Full,
    /// Also conditions that would have changed something had they gone the other way
    Relevant,
    /// What came of it, by values, addresses and conditions
    Forward,
    /// What lies on a way to it from the places that --from names
    Chop,
    /// What it came from and what came of it
    Bidirectional,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// How an answer is written that has a page, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    Text,
    Json,
    Html,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub guest: GuestArguments,

    /// Stop after so many instructions; K, M and G stand for thousands, millions, billions
    #[arg(long, value_name = "N", value_parser = count)]
    pub max_instructions: Option<u64>,

    /// Print what the run cost, and a hash of the final state, to standard error at the end
    #[arg(long)]
    pub stats: bool,

    /// At the end, tell which blocks of the heap were lost, and where they were allocated
    #[arg(long)]
    pub leaks: bool,

    /// Values that depend on memory that was never written
    ///
    /// report: at the end, tell where conditions, addresses and output depend on such
    /// memory, which takes longer; ignore: say nothing.
    #[arg(long, verbatim_doc_comment, value_enum, value_name = "WHAT", default_value_t = UninitArgument::Ignore)]
    pub uninit: UninitArgument,

    /// At the end, copy the files that the program made or changed into this directory
    ///
    /// A file /a/b becomes DIR/a/b. Nothing outside of DIR is touched.
    #[arg(long, value_name = "DIR")]
    pub write_back: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RecordArguments {
    /// Where to write the bundle; a file of this name is replaced when the new one is complete
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Which sources are stored, and where they are
    #[command(flatten)]
    pub view: ViewArguments,

    #[command(flatten)]
    pub case: CaseArguments,
}

/// What becomes of values that depend on memory that was never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UninitArgument {
    /// Where they are used is told
    Report,
    /// Nothing
    Ignore,
}

/// Who serves the program's allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HeapArgument {
    /// The machine, which notices what is done wrong with memory
    Checked,
    /// The program's own allocator
    Program,
}

/// The program to run and all that its run depends on.
#[derive(Clone, Debug, Args)]
pub struct GuestArguments {
    /// Take the program's standard input from this file
    ///
    /// Without it the program reads whydunit's own standard input, only as much as it
    /// asks for.
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub stdin: Option<PathBuf>,

    /// Set an environment variable for the program (repeatable)
    ///
    /// The program gets the environment that whydunit was started with, as natively;
    /// this adds to it, or overrides. The environment is part of what a run depends on:
    /// for a run that does not depend on yours, use `env -i whydunit run --env …`.
    #[arg(long = "env", verbatim_doc_comment, value_name = "NAME=VALUE", value_parser = OsStringValueParser::new().try_map(environment_entry))]
    pub environment: Vec<EnvironmentEntry>,

    /// The most memory that the program may use, in bytes or with K, M, G
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "4G")]
    pub max_memory: u64,

    /// The most output that the program may write, in bytes or with K, M, G
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1G")]
    pub max_output: u64,

    /// Who serves the program's allocations
    ///
    /// checked: the machine, which notices what is done wrong with memory; program: the
    /// program's own allocator.
    #[arg(long, verbatim_doc_comment, value_enum, value_name = "WHO", default_value_t = HeapArgument::Checked)]
    pub heap: HeapArgument,

    /// Let the program believe that its standard streams are a terminal
    #[arg(long)]
    pub terminal: bool,

    /// The program, looked up in PATH unless it has a slash, and its arguments; or a bundle
    #[arg(required = true, trailing_var_arg = true, value_names = ["PROGRAM", "ARGS"])]
    pub command: Vec<OsString>,
}

/// Where the program's sources are.
#[derive(Debug, Args)]
pub struct SourceArguments {
    /// Look for sources under NEW that were compiled under OLD (repeatable)
    ///
    /// Of several that fit, the one with the longest OLD counts.
    #[arg(long, value_name = "OLD=NEW", value_parser = source_rule)]
    pub source_map: Vec<String>,
}

/// How a program is looked at: where its sources are, and which code is under suspicion.
#[derive(Debug, Args)]
pub struct ViewArguments {
    #[command(flatten)]
    pub sources: SourceArguments,

    /// Trust code whose object or source file fits this pattern (repeatable)
    ///
    /// A pattern stands for the end of a path or for a directory with all that is in it:
    /// util.c, 'lib/*.c', /home/me/vendor. Libraries and headers of the system are trusted
    /// anyway, and so is code without debug information, unless it is the program itself.
    #[arg(long, verbatim_doc_comment, value_name = "GLOB", value_parser = pattern)]
    pub trust: Vec<String>,

    /// Suspect code whose object or source file fits this pattern, whatever else says that
    /// it is trusted (repeatable)
    #[arg(long, verbatim_doc_comment, value_name = "GLOB", value_parser = pattern)]
    pub suspect: Vec<String>,
}

/// `NAME=VALUE`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentEntry {
    pub name: OsString,
    pub value: OsString,
}

fn environment_entry(text: OsString) -> Result<EnvironmentEntry, &'static str> {
    let bytes = text.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) if at > 0 => {
            let part = |bytes| OsStr::from_bytes(bytes).to_owned();
            Ok(EnvironmentEntry { name: part(&bytes[..at]), value: part(&bytes[at + 1..]) })
        }
        _ => Err("it has the form NAME=VALUE"),
    }
}

fn source_rule(text: &str) -> Result<String, SourceMapError> {
    SourceMap::default().add(text).map(|()| text.to_owned())
}

fn pattern(text: &str) -> Result<String, ScopeError> {
    Scope::new(&[text.to_owned()], &[]).map(|_| text.to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    number(text, 1024).ok_or_else(|| "a size is a number of bytes, as in 65536, 64K, 512M or 4G".to_owned())
}

pub(crate) fn count(text: &str) -> Result<u64, String> {
    number(text, 1000).ok_or_else(|| "a count is a number, as in 250000, 250K, 5M or 2G".to_owned())
}

fn hit(text: &str) -> Result<Hit, String> {
    if text == "last" {
        return Ok(Hit::Last);
    }
    let number = number(text, 1000).filter(|number| *number > 0).map(Hit::Nth);
    number.ok_or_else(|| "an execution is a number, from 1, or `last`".to_owned())
}

/// A whole number, perhaps with a suffix that stands for a power of `base`.
fn number(text: &str, base: u64) -> Option<u64> {
    let (digits, power) = match text.chars().last()?.to_ascii_uppercase() {
        'K' => (&text[..text.len() - 1], 1),
        'M' => (&text[..text.len() - 1], 2),
        'G' => (&text[..text.len() - 1], 3),
        _ => (text, 0),
    };
    // u64's own parser would accept a plus sign.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(base.pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definitions_are_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn numbers_have_suffixes_and_bounds() {
        assert_eq!(size("64k"), Ok(65536));
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(count("2M"), Ok(2_000_000));
        assert_eq!(count("0"), Ok(0));
        for wrong in ["", "K", "-1", "+1", "1.5G", "1T", "18446744073709551616", "99999999999G", "1é"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_instant_is_a_count_or_the_end() {
        assert_eq!(instant("0"), Ok(Instant::After(0)));
        assert_eq!(instant("3k"), Ok(Instant::After(3000)));
        assert_eq!(instant("end"), Ok(Instant::End));
        for wrong in ["", "End", "-1", "now"] {
            assert!(instant(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_environment_entry_has_a_name() {
        let entry = environment_entry("A=b=c".into()).unwrap();
        assert_eq!((entry.name, entry.value), ("A".into(), "b=c".into()));
        assert_eq!(environment_entry("A=".into()).unwrap().value, "");
        assert!(environment_entry("A".into()).is_err());
        assert!(environment_entry("=b".into()).is_err());
    }

    fn run(words: &[&str]) -> Result<RunArguments, clap::Error> {
        let words = ["whydunit", "run"].iter().chain(words);
        Arguments::try_parse_from(words).map(|arguments| match arguments.command {
            Command::Run(run) => run,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn options_after_the_program_are_the_programs() {
        for words in [&["--stats", "--", "ls", "-l", "--stats"][..], &["--stats", "ls", "-l", "--stats"]] {
            let arguments = run(words).unwrap();
            assert_eq!(arguments.guest.command, ["ls", "-l", "--stats"]);
            assert!(arguments.stats);
        }
        assert!(run(&["--no-such-option", "ls"]).is_err());
        assert!(run(&["--stats"]).is_err());
    }
}
