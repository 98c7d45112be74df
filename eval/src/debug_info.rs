//! Debug information: how long the first answer takes about a large program, beside gdb. Each question is put to a program that was just
//! opened, so nothing was read before.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use program::{Program, read_file};

use crate::measure::{self, median};

/// Debian's debugging build of Python: 24 MB, most of it debug information.
const PROGRAM: &str = "/usr/bin/python3.11d";
const FUNCTION: &str = "PyDict_SetItem";
const GLOBAL: &str = "_PyRuntime";

/// A question, how it is put to us, and how to gdb.
struct Question {
    text: &'static str,
    ask: fn(&Program, u64) -> bool,
    gdb: Option<String>,
}

fn questions() -> Vec<Question> {
    let gdb = |command: &str| Some(command.to_owned());
    vec![
        Question {
            text: "source line of an address",
            ask: |program, at| program.locate(at).position().is_some(),
            gdb: gdb(&format!("info line *&{FUNCTION}")),
        },
        Question {
            text: "statements of a function",
            ask: |program, at| !program.statements_of(at).is_empty(),
            gdb: None,
        },
        Question {
            text: "variables of a function, with their types",
            ask: |program, at| {
                let blocks = program.blocks_of(at);
                let variables =
                    blocks.iter().flat_map(|block| &block.variables).map(|(variable, _)| variable);
                !program.definitions_for(variables).is_empty()
            },
            gdb: gdb(&format!("info scope {FUNCTION}")),
        },
        Question {
            text: "a global variable by name, with its type",
            ask: |program, _| {
                let found = program.find_globals(GLOBAL);
                found.first().is_some_and(|global| program.type_definition(global.of).len() > 100)
            },
            gdb: gdb(&format!("ptype {GLOBAL}")),
        },
        Question {
            text: "control flow graph and conditions of a function",
            ask: |program, at| program.conditions(at).is_some_and(|conditions| !conditions.is_empty()),
            gdb: None,
        },
    ]
}

pub fn table(rounds: usize) -> Result<String> {
    let path = Path::new(PROGRAM);
    let mut text = String::from("| first answer | whydunit | gdb |\n|---|---|---|\n");
    for question in questions() {
        let mut ours = Vec::new();
        let mut peers = Vec::new();
        for _ in 0..rounds {
            ours.push(ask(path, &question)?);
            if let Some(command) = &question.gdb {
                let words = ["gdb", "-nx", "-batch", "-ex", command, PROGRAM];
                peers.push(measure::run(&words)?.wall);
            }
        }
        let time = |times: &[Duration]| {
            median(times).map_or_else(|| "—".to_owned(), |time| format!("{:.0} ms", time.as_secs_f64() * 1e3))
        };
        text.push_str(&format!("| {} | {} | {} |\n", question.text, time(&ours), time(&peers)));
    }
    let size = std::fs::metadata(path).map_or(0, |file| file.len());
    text.push_str(&format!(
        "\n{PROGRAM} ({:.0} MB), {FUNCTION}, {GLOBAL}; medians of {rounds}, opening the file included, gdb with its start-up.\n",
        size as f64 / 1e6
    ));
    Ok(text)
}

/// How long it takes from nothing to the answer.
fn ask(path: &Path, question: &Question) -> Result<Duration> {
    let start = Instant::now();
    let content = read_file(path)
        .with_context(|| format!("{} cannot be read: install Debian's python3.11-dbg", path.display()))?;
    let program = Program::from_object(PROGRAM, Arc::clone(&content), 0).context("it is no ELF file")?;
    let address = program.find_symbol(FUNCTION)?.address;
    anyhow::ensure!((question.ask)(&program, address), "no answer about the {}", question.text);
    Ok(start.elapsed())
}
