//! What the commands share that ask about the past of a run: the case is run and recorded, and places are understood.

use std::io::{self, IsTerminal, Write as _};

use linux::Process;
use machine::Time;
use program::{Program, Scope, SourceMap};
use replay::failure::{Failure as Failed, FailureKind, Verdict};
use replay::oracle::{examine, judge};
use replay::story::{AskError, Hit, Target};
use replay::{Case, Gauge, Heap, Options, Oracle, Recording};
use report::Paper;

use crate::args::ViewArguments;
use crate::case_arguments::{CaseArguments, Opened, cut_in_its_loop};
use crate::exit_code::{self, Failure};
use crate::fault_report::{self, Past};
use crate::progress::Progress;
use crate::streams::{self, tell};
use crate::view::program_of;

/// A case that has been run.
pub struct RecordedCase {
    pub case: Case,
    /// What was expected in the user's words, which may be of use for other inputs as well.
    given: Oracle,
    pub recording: Recording,
    pub program: Program,
    pub scope: Scope,
    map: SourceMap,
    start: Process,
}

impl RecordedCase {
    pub fn open(case: &CaseArguments, view: &ViewArguments) -> Result<RecordedCase, Failure> {
        RecordedCase::record(|| case.open(), view)
    }

    /// A run that does not end is ended, and counts as a hang.
    pub fn open_to_an_end(case: &CaseArguments, view: &ViewArguments) -> Result<RecordedCase, Failure> {
        RecordedCase::record(|| case.open_to_an_end(), view)
    }

    fn record(
        open: impl FnOnce() -> Result<Opened, Failure>,
        view: &ViewArguments,
    ) -> Result<RecordedCase, Failure> {
        let usage = |error: anyhow::Error| Failure::new(exit_code::USAGE, error);
        let scope = view.scope().map_err(usage)?;
        let map = view.sources.source_map().map_err(usage)?;
        let Opened { case, mut process } = open()?;
        let start = process.fork();
        let options = Options::from(case.end());
        let progress = Progress::telling(still_running(options.gauge.clone()));
        let recording = Recording::make(process, options);
        drop(progress);
        for warning in recording.last().kernel.warnings.list() {
            tell(&format!("whydunit: warning: {warning}\n"));
        }
        let program = program_of(recording.last()).with_source_map(map.clone());
        let given = case.oracle.clone();
        Ok(RecordedCase { case, given, recording, program, scope, map, start })
    }

    /// The same run with another heap, of so many instructions at the most.
    pub fn with_heap(&self, heap: Heap, most: u64) -> Result<RecordedCase, Failure> {
        let mut case = Case { heap, ..self.case.clone() };
        case.limits.instructions = case.limits.instructions.min(most);
        self.again(case, self.given.clone())
    }

    /// The beginning of a run that goes round in a loop without end, as far as it is worth looking at.
    pub fn cut_in_its_loop(&self) -> Result<Option<RecordedCase>, Failure> {
        let Some(case) = cut_in_its_loop(&self.case, &self.recording) else { return Ok(None) };
        // The limit is the last of what is expected, and holds for other inputs as well.
        let mut given = self.given.clone();
        if let (Some(limit), Some(cut)) = (given.expectations.last_mut(), case.oracle.expectations.last()) {
            limit.clone_from(cut);
        }
        self.again(case, given).map(Some)
    }

    fn again(&self, case: Case, given: Oracle) -> Result<RecordedCase, Failure> {
        let mut process = case.load().map_err(|error| Failure::new(exit_code::USAGE, error))?;
        let start = process.fork();
        let recording = Recording::make(process, Options::from(case.end()));
        let (scope, map) = (self.scope.clone(), self.map.clone());
        let program = program_of(recording.last()).with_source_map(map.clone());
        Ok(RecordedCase { case, given, recording, program, scope, map, start })
    }

    /// What can be said without another run.
    pub fn verdict(&self) -> Verdict {
        judge(&self.case, self.recording.last())
    }

    /// The case before anything was found out of what is expected: a reference can be asked about other inputs.
    pub fn as_given(&self) -> Case {
        Case { oracle: self.given.clone(), ..self.case.clone() }
    }

    /// The verdict, with all that it takes. What is expected is known in full then: a reference has been run.
    pub fn judge(&mut self) -> Result<Verdict, Failure> {
        let examined = examine(&self.case, self.start.fork(), &self.view())
            .map_err(|error| Failure::new(exit_code::USAGE, anyhow::Error::from(error)))?;
        self.case = examined.case;
        Ok(match examined.verdict {
            Verdict::Failed(failure) => {
                Verdict::Failed(Failed { doing: self.doing(&failure.kind), ..failure })
            }
            verdict => verdict,
        })
    }

    /// What the program did that it was killed for, as the end of a sentence that begins with "it".
    fn doing(&mut self, kind: &FailureKind) -> Option<Box<str>> {
        let is_killed = matches!(kind, FailureKind::Crash { .. } | FailureKind::GuestFault { .. });
        if is_killed { self.what_happened().map(String::into_boxed_str) } else { None }
    }

    /// How the program ended by a fault, as the end of a sentence that begins with "it".
    pub fn what_happened(&mut self) -> Option<String> {
        let RecordedCase { recording, program, .. } = self;
        let last = recording.at(recording.end());
        let exit = recording.exit().clone();
        fault_report::doing(&last, &exit, program, &mut Recorded { recording, current: None })
    }

    /// How processes of the case are looked at.
    pub fn view(&self) -> impl Fn(&Process) -> Program + Sync + use<> {
        let map = self.map.clone();
        move |process| program_of(process).with_source_map(map.clone())
    }
}

/// What a recording knows of the past.
struct Recorded<'a> {
    recording: &'a mut Recording,
    current: Option<Process>,
}

impl Past for Recorded<'_> {
    fn at(&mut self, time: Time) -> Option<&Process> {
        let process = self.recording.at(time);
        Some(self.current.insert(process))
    }
}

/// How far a run is, in words.
pub fn still_running(gauge: Gauge) -> impl Fn() -> String + Send + 'static {
    const GIGA: u64 = 1_000_000_000;
    move || match gauge.done() / GIGA {
        0 => "running the program".to_owned(),
        done => format!("still running after {done} G instructions"),
    }
}

/// Understands the place that was typed.
pub fn target(text: &str, hit: Hit) -> Result<Target, Failure> {
    Target::parse(text, hit).map_err(refused)
}

/// A question that has no answer.
pub fn refused(error: AskError) -> Failure {
    let status = match error {
        AskError::NoCrash { .. } => exit_code::NO_FAILURE,
        _ if error.is_usage() => exit_code::USAGE,
        _ => exit_code::NO_ANSWER,
    };
    // Debug information has whole paths; people here have not.
    let here = std::env::current_dir().map(|here| format!("{}/", here.display())).unwrap_or_default();
    let message = error.to_string();
    let message = if here.len() > 1 { message.replace(&here, "") } else { message };
    Failure::new(status, anyhow::anyhow!(message))
}

/// What answers are written on.
pub fn paper() -> Paper {
    let has_colour = io::stdout().is_terminal() && !streams::refuses_colour();
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    Paper::new(columns.filter(|columns| *columns > 0).or_else(terminal_width), has_colour)
}

fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Prints an answer.
pub fn print(text: &str) -> Result<(), Failure> {
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    written.map_err(unwritten)
}

/// An answer that could not be printed.
pub fn unwritten(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => {
            Failure::new(exit_code::BROKEN_PIPE, anyhow::anyhow!("the reader of the answer has gone"))
        }
        _ => Failure::new(exit_code::NO_ANSWER, error),
    }
}
