//! Answers for programs: one form for all commands.

use replay::failure::{Difference, Failure, FailureKind, Verdict};
use replay::{Case, Stdin};
use serde_json::{Map, Value, json};

/// The version of the form; within one there are only additions.
const SCHEMA: &str = "whydunit/1";

/// An answer. What a command finds it adds to `findings`, what it concludes to `causes`, the likeliest first, and its figures are `counts`.
pub fn envelope(
    command: &str,
    case: &Case,
    verdict: &Verdict,
    findings: Vec<Value>,
    causes: Vec<Value>,
    counts: Value,
) -> String {
    let failure = match verdict {
        Verdict::Failed(failure) => failure_value(failure),
        Verdict::Passed | Verdict::CannotTell(_) => Value::Null,
    };
    let mut told = Map::new();
    told.insert("outcome".to_owned(), json!(outcome(verdict)));
    if let Verdict::CannotTell(reason) = verdict {
        told.insert("reason".to_owned(), json!(reason));
    }
    told.insert("causes".to_owned(), json!(causes));
    let answer = json!({
        "schema": SCHEMA,
        "command": command,
        "case": case_value(case),
        "failure": failure,
        "findings": findings,
        "verdict": told,
        "counts": counts,
    });
    format!("{answer:#}\n")
}

fn outcome(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed(_) => "failed",
        Verdict::CannotTell(_) => "unknown",
    }
}

/// The case, without its environment, which is nobody else's business, and without what may be large.
fn case_value(case: &Case) -> Value {
    let stdin = match &case.stdin {
        Stdin::Bytes(bytes) => json!({ "bytes": bytes.len() }),
        Stdin::File { path, offset } => json!({ "file": path, "offset": offset }),
    };
    json!({
        "program": case.program,
        "argv": case.argv,
        "cwd": case.cwd,
        "stdin": stdin,
        "terminal": case.terminal,
        "limits": case.limits,
        "oracle": case.oracle,
    })
}

fn failure_value(failure: &Failure) -> Value {
    let mut value = json!({
        "kind": failure.kind.name(),
        "text": failure.to_string(),
        "time": failure.time.0,
        "emission": failure.emission.map(|time| time.0),
        "write": failure.write.map(|time| time.0),
        "property": failure.property,
        "expected": failure.expected,
    });
    if let (Value::Object(value), Value::Object(details)) = (&mut value, details(&failure.kind)) {
        value.extend(details);
    }
    value
}

/// What only failures of one kind have.
fn details(kind: &FailureKind) -> Value {
    match kind {
        FailureKind::Crash { signal, fault } => json!({
            "signal": linux::signal::name(*signal),
            "instruction": fault.map(|fault| fault.rip),
        }),
        FailureKind::StackOverflow { size, address } => json!({ "size": size, "instruction": address }),
        FailureKind::Abort(abort) => json!({
            "message": abort.message,
            "position": abort.position.as_ref().map(|position| json!({
                "file": position.file,
                "line": position.line,
                "column": position.column,
                "function": position.function,
            })),
        }),
        FailureKind::GuestFault { address, .. } => json!({ "instruction": address }),
        FailureKind::WrongOutput(wrong) => json!({
            "channel": wrong.channel.to_string(),
            "offset": wrong.offset,
            "line": wrong.line,
            "difference": match wrong.difference {
                Difference::Missing => "missing",
                Difference::Surplus => "surplus",
                Difference::Different => "different",
            },
            "actual_line": wrong.actual,
            "expected_line": wrong.expected,
        }),
        FailureKind::WrongExit { actual, .. } => json!({ "status": actual }),
        FailureKind::Hang { call, .. } => json!({ "call": call }),
        FailureKind::AssertViolated(violation) => json!({
            "file": violation.file,
            "line": violation.line,
            "values": violation.values.iter().map(|(name, value)| json!({ "name": name, "value": value }))
                .collect::<Vec<_>>(),
        }),
        FailureKind::OracleSaysSo { message } => json!({ "message": message }),
    }
}
