//! The story of a value, as it is reported.

use linux::fs::Stream;
use program::Stmt;
use replay::story::{
    Known, Link, Operand, Origin, Overflow, Passed, Reference, Repeats, Role, Story, Subject, Told,
};
use serde::Serialize;

use crate::Shorten;

/// The answer of `whydunit why`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhyReport {
    /// What kind of finding it is.
    pub kind: &'static str,
    pub asked: AskedReport,
    /// What was asked about, told like a step.
    pub end: StepReport,
    /// The newest first.
    pub steps: Vec<StepReport>,
    /// How many statements are further back.
    pub left_out: usize,
    /// The least depth at which none is.
    pub whole_depth: usize,
    /// What to suspect to be told of the trusted code that most of it happened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AskedReport {
    pub subject: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The value is that after the statement.
    pub is_after: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceReport>,
    /// How the program ended, as the end of a sentence that begins with "it".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The line of output that has the byte, and the character of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<(String, usize)>,
    /// Which execution of the line, from 1, and how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<(u64, u64)>,
    pub time: u64,
}

/// A place of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceReport {
    pub file: String,
    pub line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepReport {
    pub number: usize,
    pub depth: usize,
    pub place: Option<PlaceReport>,
    pub text: Option<String>,
    pub time: u64,
    pub role: &'static str,
    /// Of a condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    pub made: Vec<KnownReport>,
    pub used: Vec<OperandReport>,
    pub links: Vec<LinkReport>,
    /// Numbers of steps.
    pub chosen_by: Vec<usize>,
    pub called_by: Vec<usize>,
    /// The functions that the text calls.
    pub calls: Vec<String>,
    /// What it passed to functions that it called.
    pub passed: Vec<PassedReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    pub origins: Vec<OriginReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<RepeatsReport>,
    pub overflows: Vec<OverflowReport>,
    pub left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownReport {
    pub name: String,
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassedReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    pub name: String,
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperandReport {
    pub name: String,
    pub value: Option<String>,
    /// It was used to find something.
    pub is_address: bool,
    /// The step that made it, and whether an execution before its last one is meant.
    pub from: Option<usize>,
    pub is_earlier: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkReport {
    pub kind: &'static str,
    pub by: usize,
    pub is_earlier: bool,
    /// The function that returned, or the parameter that was passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OriginReport {
    pub kind: &'static str,
    /// Of a variable, a file, a system call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of an argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The first and the last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepeatsReport {
    pub times: u64,
    pub first_time: u64,
    pub first_made: Vec<KnownReport>,
    pub from: Vec<usize>,
    /// Of executions before the last, where they are others.
    pub origins: Vec<OriginReport>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverflowReport {
    pub access: String,
    pub is_write: bool,
    pub lies_in: String,
}

impl WhyReport {
    pub fn new(story: &Story, shorten: Shorten<'_>) -> WhyReport {
        WhyReport {
            kind: "story",
            asked: asked(story, shorten),
            end: step(&story.end, shorten),
            steps: story.steps.iter().map(|told| step(told, shorten)).collect(),
            left_out: story.left_out,
            whole_depth: story.deepest,
            suspect: story.suspect.clone(),
        }
    }

    /// Whether it says anything.
    pub fn is_answer(&self) -> bool {
        !self.steps.is_empty() || !self.end.origins.is_empty()
    }

    /// Shows where in an output the byte is that was asked about.
    pub fn show_output(&mut self, output: &[u8], offset: u64) {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(output.len());
        let (before, after) = output.split_at(at);
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let length = after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len());
        let text = |bytes: Option<&[u8]>| {
            let text = String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
            text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
        };
        let line: String = text(output.get(start..at + length));
        let column = text(output.get(start..at)).chars().count();
        self.asked.line = Some((line, column));
    }
}

fn asked(story: &Story, shorten: Shorten<'_>) -> AskedReport {
    let asked = &story.asked;
    let mut report = AskedReport {
        subject: "reached",
        expression: None,
        value: None,
        is_after: false,
        stream: None,
        offset: None,
        status: None,
        signal: None,
        detail: None,
        line: None,
        place: asked.stmt.as_ref().map(|stmt| PlaceReport::new(stmt, shorten)),
        hit: asked.hit,
        time: asked.question.time.0,
    };
    match &asked.subject {
        Subject::Value { expression, value, is_after } => {
            report.subject = "value";
            report.expression = Some(expression.clone());
            report.value = Some(value.clone());
            report.is_after = *is_after;
        }
        Subject::Reached => {}
        Subject::Crash { signal } => {
            report.subject = "crash";
            report.signal = signal.map(|signal| linux::signal::name(signal).to_string());
        }
        Subject::Output { stream, offset, byte } => {
            report.subject = "output";
            report.stream = Some(match stream {
                Stream::Stdout => "stdout",
                Stream::Stderr => "stderr",
            });
            report.offset = Some(*offset);
            report.value = Some(String::from_utf8_lossy(&[*byte]).into_owned());
        }
        Subject::Exit { status } => {
            report.subject = "exit";
            report.status = Some(*status);
        }
    }
    report
}

impl PlaceReport {
    pub fn new(stmt: &Stmt, shorten: Shorten<'_>) -> PlaceReport {
        PlaceReport {
            file: shorten(&stmt.file),
            line: stmt.line,
            column: stmt.column(),
            function: stmt.function.as_ref().map(|name| name.to_string()),
        }
    }

    /// File and line; the function where there are none.
    pub(crate) fn spot(&self) -> String {
        match (self.file.is_empty(), &self.function) {
            (false, _) => format!("{}:{}", self.file, self.line),
            (true, Some(function)) => function.clone(),
            (true, None) => "somewhere".to_owned(),
        }
    }
}

pub(crate) fn step(told: &Told, shorten: Shorten<'_>) -> StepReport {
    let (role, holds) = match told.role {
        Role::Asked => ("asked", None),
        Role::Makes => ("makes", None),
        Role::Decides { holds } => ("decides", holds),
        Role::Calls => ("calls", None),
        Role::Initialises => ("initialises", None),
    };
    let numbers = |references: &[Reference]| references.iter().map(|reference| reference.number).collect();
    StepReport {
        number: told.number,
        depth: told.depth,
        place: told.stmt.as_ref().map(|stmt| PlaceReport::new(stmt, shorten)),
        text: told.text.clone(),
        time: told.time.0,
        role,
        holds,
        made: told.made.iter().map(known).collect(),
        used: told.used.iter().map(operand).collect(),
        links: told.links.iter().map(link).collect(),
        chosen_by: numbers(&told.chosen_by),
        called_by: numbers(&told.called_by),
        calls: told.calls.clone(),
        passed: told.passed.iter().map(passed).collect(),
        library: told.library.clone(),
        origins: told.origins.iter().map(|one| origin(one, shorten)).collect(),
        repeats: told.repeats.as_ref().map(|one| repeats(one, shorten)),
        overflows: told.overflows.iter().map(overflow).collect(),
        left_out: told.left_out,
    }
}

fn passed(passed: &Passed) -> PassedReport {
    let Known { name, value } = passed.known.clone();
    PassedReport { function: passed.function.clone(), name, value }
}

fn known(known: &Known) -> KnownReport {
    KnownReport { name: known.name.clone(), value: known.value.clone() }
}

fn operand(operand: &Operand) -> OperandReport {
    OperandReport {
        name: operand.known.name.clone(),
        value: operand.known.value.clone(),
        is_address: operand.is_address,
        from: operand.from.map(|from| from.number),
        is_earlier: operand.from.is_some_and(|from| from.is_earlier),
    }
}

fn link(link: &Link) -> LinkReport {
    let report = |kind, by: &Reference| LinkReport {
        kind,
        by: by.number,
        is_earlier: by.is_earlier,
        name: None,
        value: None,
    };
    match link {
        Link::Returned { function, by } => LinkReport { name: function.clone(), ..report("returned", by) },
        Link::Passed { parameter, by } => LinkReport {
            name: parameter.as_ref().map(|known| known.name.clone()),
            value: parameter.as_ref().and_then(|known| known.value.clone()),
            ..report("passed", by)
        },
        Link::Other { by, is_address: true } => report("address", by),
        Link::Other { by, is_address: false } => report("value", by),
    }
}

fn origin(origin: &Origin, shorten: Shorten<'_>) -> OriginReport {
    let of = |kind| OriginReport { kind, ..OriginReport::default() };
    match origin.clone() {
        Origin::Uninitialised { name } => OriginReport { name, ..of("uninitialised") },
        Origin::Argument { index, text } => {
            OriginReport { index: Some(index), text: Some(text), ..of("argument") }
        }
        Origin::ArgumentCount => of("argument-count"),
        Origin::Environment { name } => OriginReport { name: Some(name), ..of("environment") },
        Origin::Input { bytes, text } => OriginReport { bytes: Some(bytes), text, ..of("stdin") },
        Origin::File { path, bytes, text } => {
            OriginReport { name: Some(shorten(&path)), bytes: Some(bytes), text, ..of("file") }
        }
        Origin::Pipe { bytes } => OriginReport { bytes: Some(bytes), ..of("pipe") },
        Origin::Zero { name } => OriginReport { name: Some(name), ..of("zero") },
        Origin::System { call } => OriginReport { name: Some(call), ..of("system") },
    }
}

fn repeats(repeats: &Repeats, shorten: Shorten<'_>) -> RepeatsReport {
    RepeatsReport {
        times: repeats.times,
        first_time: repeats.first.0,
        first_made: repeats.made.iter().map(known).collect(),
        from: repeats.from.iter().map(|reference| reference.number).collect(),
        origins: repeats.origins.iter().map(|one| origin(one, shorten)).collect(),
    }
}

fn overflow(overflow: &Overflow) -> OverflowReport {
    let Overflow { access, is_write, lies_in } = overflow.clone();
    OverflowReport { access, is_write, lies_in }
}
