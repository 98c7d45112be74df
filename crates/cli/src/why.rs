//! `whydunit why`: the story of a value.

use linux::Process;
use linux::fs::Stream;
use machine::Time;
use replay::story::Subject;
use replay::{Code, Recording};
use report::{WhyReport, envelope};
use serde_json::json;

use crate::args::{Format, WhyArguments};
use crate::asking::{self, RecordedCase};
use crate::exit_code::{self, Failure};
use crate::fault_report::{self, Past};
use crate::progress::Progress;
use crate::view::{short_path, tell_warnings_about};

pub fn why(arguments: &WhyArguments) -> Result<u8, Failure> {
    let target = asking::target(&arguments.at, arguments.hit)?;
    let mut recorded = RecordedCase::open(&arguments.case, &arguments.view)?;
    let progress = Progress::of("following what led there", recorded.recording.gauge());
    let RecordedCase { recording, program, scope, .. } = &mut recorded;
    let mut code = Code::new(program, scope.clone());
    let asked = target.ask(recording, &mut code).map_err(asking::refused)?;
    let story = recording.story(&mut code, asked, arguments.depth);
    drop(progress);
    let mut report = WhyReport::new(&story, &short_path);
    match &story.asked.subject {
        Subject::Crash { .. } => report.asked.detail = what_happened(&mut recorded),
        Subject::Output { stream, offset, .. } => {
            let output = recorded.recording.last().kernel.output.contents(*stream);
            report.show_output(&output, *offset);
        }
        Subject::Value { .. } | Subject::Reached | Subject::Exit { .. } => {}
    }
    let files = story.steps.iter().chain([&story.end]).filter_map(|step| Some(&*step.stmt.as_ref()?.file));
    tell_warnings_about(&recorded.program, &files.collect());
    let status = if report.is_answer() { exit_code::SUCCESS } else { exit_code::NO_ANSWER };
    let text = match arguments.format {
        Format::Text => report.text(asking::paper()),
        Format::Json => {
            let counts = json!({
                "instructions": recorded.recording.end().0,
                "steps": report.steps.len(),
                "statements": story.slice.statements.len(),
            });
            let verdict = recorded.judge()?;
            envelope("why", &recorded.case, &verdict, vec![json!(report)], Vec::new(), counts)
        }
    };
    asking::print(&text)?;
    Ok(status)
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

/// How the program ended, as the end of a sentence that begins with "it".
fn what_happened(recorded: &mut RecordedCase) -> Option<String> {
    let RecordedCase { recording, program, .. } = recorded;
    let last = recording.at(recording.end());
    let exit = recording.exit().clone();
    fault_report::doing(&last, &exit, program, &mut Recorded { recording, current: None })
        .or_else(|| recorded.verdict().failure().map(|failure| failure.to_string()))
}

/// For messages.
pub fn stream_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "standard output",
        Stream::Stderr => "standard error",
    }
}
