//! `whydunit slice`: the statements that something depends on, or that depend on it.

use std::io::{self, Write};

use replay::story::{AskError, Asked, Begun, BegunWith, Subject, Target};
use replay::{
    Bounds, Code, Follow, Made, Question, Recording, Seed, Slice, Step, StmtId, Strength, Unseen, Use, Watch,
};
use report::{Gathering, SliceReport, envelope, quoted};
use serde_json::json;

use crate::args::{BackwardKind, Format, SliceArguments, SliceKind};
use crate::asking::{self, RecordedCase};
use crate::exit_code::{self, Failure};
use crate::progress::Progress;
use crate::view::{short_path, tell_warnings_about};
use crate::why::stream_name;

pub fn slice(arguments: &SliceArguments) -> Result<u8, Failure> {
    let parse = |texts: &[String]| -> Result<Vec<Target>, Failure> {
        texts.iter().map(|text| asking::target(text, arguments.hit)).collect()
    };
    let (targets, from) = (parse(&arguments.at)?, parse(&arguments.from)?);
    check(arguments)?;
    let mut recorded = RecordedCase::open(&arguments.case, &arguments.view)?;
    let progress = Progress::of("following dependences", recorded.recording.gauge());
    let RecordedCase { recording, program, scope, .. } = &mut recorded;
    let mut code = Code::new(program, scope.clone());
    let wanted =
        Wanted::understood(arguments.kind, &targets, &from, recording, &mut code).map_err(asking::refused)?;
    let slice = wanted.follow(recording, &mut code, &mut Unseen);
    drop(progress);
    if arguments.instances {
        // The first pass has met all statements, so that the second can name them.
        let mut out = io::BufWriter::new(io::stdout().lock());
        let other = if arguments.kind == SliceKind::Forward { "came from" } else { "used by" };
        let heading =
            writeln!(out, "{:>12}  {:>8}  {:>10}  {other:>10}  place", "time", "distance", "instance");
        let mut stream = Stream { failed: heading.err(), ..Stream::new(out, &code) };
        wanted.follow(recording, &mut code, &mut stream);
        return match stream.failed.or_else(|| stream.to.flush().err()) {
            Some(error) => Err(asking::unwritten(error)),
            None => Ok(status(&slice)),
        };
    }
    let report = SliceReport::new(Gathering {
        slice: &slice,
        kind: arguments.kind.name(),
        criteria: wanted.criteria,
        from: wanted.from,
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
            let verdict = recorded.judge()?;
            envelope("slice", &recorded.case, &verdict, vec![json!(report)], Vec::new(), counts)
        }
    };
    asking::print(&text)?;
    Ok(status(&slice))
}

/// What was typed has to make sense together.
fn check(arguments: &SliceArguments) -> Result<(), Failure> {
    let wrong = |message: &str| Err(Failure::new(exit_code::USAGE, anyhow::anyhow!("{message}")));
    match arguments.kind {
        SliceKind::Chop => Ok(()),
        _ if !arguments.from.is_empty() => wrong("--from says where a chop begins; it needs --kind chop"),
        SliceKind::Bidirectional if arguments.at.len() > 1 => {
            wrong("a bidirectional slice is one of a single place; --at can be given once")
        }
        _ => Ok(()),
    }
}

/// Which slice is wanted.
struct Wanted {
    way: Way,
    /// What it is a slice of, and where a chop begins, in words.
    criteria: Vec<String>,
    from: Vec<String>,
}

enum Way {
    Backward(Vec<Question>, Follow),
    Forward(Vec<Seed>),
    Chop(Vec<Seed>, Vec<Question>),
    Both(Seed),
}

impl Wanted {
    fn understood(
        kind: SliceKind,
        targets: &[Target],
        from: &[Target],
        recording: &mut Recording,
        code: &mut Code<'_>,
    ) -> Result<Wanted, AskError> {
        let is_forward = matches!(kind, SliceKind::Forward | SliceKind::Bidirectional);
        let (mut questions, mut seeds, mut criteria) = (Vec::new(), Vec::new(), Vec::new());
        for target in targets {
            if is_forward || matches!(target, Target::Condition { .. }) {
                let begun = target.begin(recording, code)?;
                criteria.push(begun_with(&begun));
                questions.push(recording.question_of(code, &begun.seed));
                seeds.push(begun.seed);
            } else {
                let asked = target.ask(recording, code)?;
                criteria.push(criterion(&asked));
                questions.push(asked.question);
            }
        }
        let sources: Vec<Begun> =
            from.iter().map(|target| target.begin(recording, code)).collect::<Result<_, _>>()?;
        let from = sources.iter().map(begun_with).collect();
        let way = match kind {
            SliceKind::Data => Way::Backward(questions, BackwardKind::Data.follow()),
            SliceKind::Full => Way::Backward(questions, BackwardKind::Full.follow()),
            SliceKind::Relevant => Way::Backward(questions, BackwardKind::Relevant.follow()),
            SliceKind::Forward => Way::Forward(seeds),
            SliceKind::Chop => Way::Chop(sources.into_iter().map(|begun| begun.seed).collect(), questions),
            SliceKind::Bidirectional => match seeds.pop() {
                Some(seed) => Way::Both(seed),
                None => Way::Forward(seeds),
            },
        };
        Ok(Wanted { way, criteria, from })
    }

    fn follow(&self, recording: &mut Recording, code: &mut Code<'_>, watch: &mut impl Watch) -> Slice {
        match &self.way {
            Way::Backward(questions, follow) => recording.slice_of_all(code, questions, *follow, watch),
            Way::Forward(seeds) => recording.forward_slice(code, seeds, Follow::Full, watch),
            Way::Chop(from, to) => recording.chop(code, from, to, watch),
            Way::Both(seed) => recording.both_ways(code, seed, watch).all(),
        }
    }
}

fn status(slice: &Slice) -> u8 {
    if slice.statements.is_empty() { exit_code::NO_ANSWER } else { exit_code::SUCCESS }
}

impl BackwardKind {
    pub fn follow(self) -> Follow {
        match self {
            BackwardKind::Data => Follow::Data,
            BackwardKind::Full => Follow::Full,
            BackwardKind::Relevant => Follow::Relevant(Bounds::default()),
        }
    }
}

impl SliceKind {
    fn name(self) -> &'static str {
        match self {
            SliceKind::Data => "data",
            SliceKind::Full => "full",
            SliceKind::Relevant => "relevant",
            SliceKind::Forward => "forward",
            SliceKind::Chop => "chop",
            SliceKind::Bidirectional => "bidirectional",
        }
    }
}

/// What a forward slice begins with, in words.
fn begun_with(begun: &Begun) -> String {
    let place = begun.stmt.as_ref().map(|stmt| format!("{}:{}", short_path(&stmt.file), stmt.line));
    let place = place.unwrap_or_default();
    match &begun.what {
        BegunWith::Value(subject) => in_words(subject, &place),
        BegunWith::Statement => format!("what {place} did"),
        BegunWith::Condition => format!("the condition at {place}"),
        BegunWith::Input { offset } => format!("byte {offset} of standard input"),
        BegunWith::Argument { number, text } => format!("argument {number} {}", quoted(text)),
    }
}

/// What was asked about, in words.
pub fn criterion(asked: &Asked) -> String {
    let place = asked.stmt.as_ref().map(|stmt| format!("{}:{}", short_path(&stmt.file), stmt.line));
    in_words(&asked.subject, &place.unwrap_or_default())
}

fn in_words(subject: &Subject, place: &str) -> String {
    match subject {
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
