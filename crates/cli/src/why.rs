//! `whydunit why`: the story of a value.

use linux::fs::Stream;
use replay::Code;
use replay::story::Subject;
use report::{WhyReport, envelope};
use serde_json::json;

use crate::args::{Format, WhyArguments};
use crate::asking::{self, RecordedCase};
use crate::exit_code::{self, Failure};
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
        Subject::Crash { .. } => {
            let told = recorded.what_happened();
            report.asked.detail =
                told.or_else(|| recorded.verdict().failure().map(|failure| failure.to_string()));
        }
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

/// For messages.
pub fn stream_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "standard output",
        Stream::Stderr => "standard error",
    }
}
