//! `whydunit slice`: the statements that something depends on.

use std::io::{self, Write};

use replay::story::{Asked, Subject};
use replay::{Bounds, Code, Follow, Made, Slice, Step, StmtId, Strength, Unseen, Use, Watch};
use report::{Gathering, SliceReport, envelope};
use serde_json::json;

use crate::args::{Format, SliceArguments, SliceKind};
use crate::asking::{self, RecordedCase};
use crate::exit_code::{self, Failure};
use crate::progress::Progress;
use crate::view::{short_path, tell_warnings_about};
use crate::why::stream_name;

pub fn slice(arguments: &SliceArguments) -> Result<u8, Failure> {
    let targets: Vec<_> =
        arguments.at.iter().map(|text| asking::target(text, arguments.hit)).collect::<Result<_, _>>()?;
    let mut recorded = RecordedCase::open(&arguments.case, &arguments.view)?;
    let progress = Progress::of("following dependences", recorded.recording.gauge());
    let RecordedCase { recording, program, scope, .. } = &mut recorded;
    let mut code = Code::new(program, scope.clone());
    let asked: Vec<Asked> = targets
        .iter()
        .map(|target| target.ask(recording, &mut code))
        .collect::<Result<_, _>>()
        .map_err(asking::refused)?;
    let questions: Vec<_> = asked.iter().map(|asked| asked.question.clone()).collect();
    let follow = arguments.kind.follow();
    let slice = recording.slice_of_all(&mut code, &questions, follow, &mut Unseen);
    drop(progress);
    if arguments.instances {
        // The first pass has met all statements, so that the second can name them.
        let mut out = io::BufWriter::new(io::stdout().lock());
        let heading =
            writeln!(out, "{:>12}  {:>8}  {:>10}  {:>10}  place", "time", "distance", "instance", "used by");
        let mut stream = Stream { failed: heading.err(), ..Stream::new(out, &code) };
        recording.slice_of_all(&mut code, &questions, follow, &mut stream);
        return match stream.failed.or_else(|| stream.to.flush().err()) {
            Some(error) => Err(asking::unwritten(error)),
            None => Ok(status(&slice)),
        };
    }
    let report = SliceReport::new(Gathering {
        slice: &slice,
        kind: arguments.kind.name(),
        criteria: asked.iter().map(criterion).collect(),
        program: &recorded.program,
        shorten: &short_path,
    });
    let files = slice.statements.keys().map(|stmt| &*stmt.file);
    tell_warnings_about(&recorded.program, &files.collect());
    let text = match (arguments.format, arguments.list) {
        (Format::Text, false) => report.text(asking::paper()),
        (Format::Text, true) => report.table(asking::paper()),
        (Format::Json, _) => {
            let counts = json!(report.counts);
            let judged = recorded.judge(&arguments.view)?;
            envelope("slice", &judged.case, &judged.verdict, vec![json!(report)], counts)
        }
    };
    asking::print(&text)?;
    Ok(status(&slice))
}

fn status(slice: &Slice) -> u8 {
    if slice.statements.is_empty() { exit_code::NO_ANSWER } else { exit_code::SUCCESS }
}

impl SliceKind {
    pub fn follow(self) -> Follow {
        match self {
            SliceKind::Data => Follow::Data,
            SliceKind::Full => Follow::Full,
            SliceKind::Relevant => Follow::Relevant(Bounds::default()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            SliceKind::Data => "data",
            SliceKind::Full => "full",
            SliceKind::Relevant => "relevant",
        }
    }
}

/// What was asked about, in words.
pub fn criterion(asked: &Asked) -> String {
    let place = asked.stmt.as_ref().map(|stmt| format!("{}:{}", short_path(&stmt.file), stmt.line));
    let place = place.unwrap_or_default();
    match &asked.subject {
        Subject::Value { expression, value, is_after } => {
            let when = if *is_after { "after" } else { "at" };
            format!("`{expression}` = {value} {when} {place}")
        }
        Subject::Reached => format!("that execution came to {place}"),
        Subject::Crash { .. } => "how the program ended".to_owned(),
        Subject::Output { stream, offset, .. } => format!("byte {offset} of {}", stream_name(*stream)),
        Subject::Exit { status } => format!("the exit status {status}"),
    }
}

/// Prints instances as a pass comes to them, the newest first.
struct Stream<W> {
    to: W,
    /// The places of statements, by number.
    places: Vec<String>,
    /// Who used what, last.
    last: Option<(u32, u32, Use)>,
    /// Why the rest is not printed.
    failed: Option<io::Error>,
}

impl<W: Write> Stream<W> {
    fn new(to: W, code: &Code<'_>) -> Stream<W> {
        let statements = (0..).map_while(|id| code.statement(StmtId(id)));
        let places = statements.map(|stmt| format!("{}:{}", short_path(&stmt.file), stmt.line)).collect();
        Stream { to, places, last: None, failed: None }
    }
}

impl<W: Write> Watch for Stream<W> {
    fn step(&mut self, step: Step) {
        let this = Some((step.user, step.maker, step.how));
        if self.last == this || self.failed.is_some() {
            return;
        }
        self.last = this;
        let place = self.places.get(step.stmt.0 as usize).map_or("?", String::as_str);
        let how = match (step.made, step.how) {
            (Made::Decision, _) => "decides",
            (Made::Omission(Strength::Strong), _) => "would have changed it",
            (Made::Omission(Strength::Weak), _) => "could have changed it, with others forced",
            (Made::Call, _) => "calls",
            (_, Use::Value) => "value",
            (_, Use::Address) => "address",
            (_, Use::Control) => "condition",
        };
        let library = if step.in_library { " in a library" } else { "" };
        let line = writeln!(
            self.to,
            "{:>12}  {:>8}  {:>10}  {:>10}  {place}  {how}{library}",
            step.time.0, step.distance, step.maker, step.user
        );
        self.failed = line.err();
    }
}
