//! A measurement: cases are drawn, asked about, and measured, several at a time.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};

use crate::cases::Case;
use crate::journal::{Drawn, Header, Journal};
use crate::question::{Inquiry, Question};
use crate::row::Row;
use crate::suites::{self, Draw, Harvest, in_parallel};
use crate::tool::Tool;

/// Draws cases and asks about each what the file does not know yet. `place` keeps sources, executables and answers.
pub fn run(draw: &Draw, tool: &Tool, questions: &[Question], file: &Path, place: &Path) -> Result<()> {
    let journal = Journal::open(file, &header(draw, tool)?)?;
    let Harvest { cases, mutants, tried, not_compiled, never_failing } = suites::draw(draw, place)?;
    if mutants > 0 {
        journal.drawn(Drawn { mutants, tried, cases: cases.len(), not_compiled, never_failing })?;
    }
    let progress = Progress { cases: cases.len(), done: Mutex::default() };
    let waiting = Mutex::new(cases.iter());
    in_parallel(draw.jobs, || {
        loop {
            let next = waiting.lock().ok().and_then(|mut waiting| waiting.next());
            let Some(case) = next else { return Ok(()) };
            let rows = ask(case, tool, questions, &journal)?;
            progress.tell(&rows);
            rows.into_iter().try_for_each(|row| journal.add(row))?;
        }
    })
}

fn header(draw: &Draw, tool: &Tool) -> Result<Header> {
    let binary =
        std::fs::read(&tool.binary).with_context(|| format!("{} cannot be read", tool.binary.display()))?;
    Ok(Header {
        suite: draw.suite,
        count: draw.count,
        seed: draw.seed,
        programs: draw.programs.clone(),
        seconds: tool.seconds,
        budget: tool.budget,
        tool: format!("{:016x}", fingerprint(&binary)),
    })
}

/// FNV-1a: tells builds apart, no more.
fn fingerprint(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn ask(case: &Case, tool: &Tool, questions: &[Question], journal: &Journal) -> Result<Vec<Row>> {
    let inquiry = Inquiry::new(tool, case);
    let mut rows = Vec::new();
    for question in questions.iter().filter(|question| !journal.knows(&case.name, **question)) {
        if let Some(answered) = inquiry.ask(*question)? {
            rows.push(Row::new(&inquiry, case, *question, &answered)?);
        }
    }
    Ok(rows)
}

/// How far it is, and how good so far.
struct Progress {
    cases: usize,
    /// Cases, answers, and answers with the fault among the first five statements.
    done: Mutex<(usize, usize, usize)>,
}

impl Progress {
    fn tell(&self, rows: &[Row]) {
        let Ok(mut done) = self.done.lock() else { return };
        done.0 += 1;
        done.1 += rows.len();
        done.2 += rows.iter().filter(|row| row.strict.is_some_and(|rank| rank <= 5)).count();
        let (cases, answers, near) = *done;
        if std::io::stderr().is_terminal() {
            let end = if cases == self.cases { "\n" } else { "" };
            eprint!("\r{cases} of {} cases, {near} of {answers} within five {end}", self.cases);
        } else if cases % 10 == 0 || cases == self.cases {
            eprintln!("{cases} of {} cases, {near} of {answers} within five", self.cases);
        }
    }
}
