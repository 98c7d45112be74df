//! A measurement: cases are drawn, asked about, and measured, several at a time.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};

use crate::cases::Case;
use crate::journal::{Header, Journal};
use crate::measure::Rank;
use crate::question::{Inquiry, Question};
use crate::row::Row;
use crate::suites::{self, Draw, Harvest, in_parallel};
use crate::table;
use crate::tool::Tool;
use crate::{fingerprint, native, programs, real};

/// Draws cases and asks about each what the file does not know yet. `place` keeps sources, executables and answers.
pub fn run(draw: &Draw, tool: &Tool, questions: &[Question], file: &Path, place: &Path) -> Result<()> {
    let journal = Journal::open(file, &header(draw, tool, place)?)?;
    let Harvest { cases, drawn } = suites::draw(draw, place)?;
    let journal = journal.of_cases(&cases)?;
    if drawn.mutants > 0 {
        journal.drawn(drawn)?;
    }
    let progress = Progress::new(cases.len(), &journal, questions);
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

fn header(draw: &Draw, tool: &Tool, place: &Path) -> Result<Header> {
    let instrument = std::env::current_exe().context("the instrument cannot be found")?;
    Ok(Header {
        suite: draw.suite,
        count: draw.count,
        seed: draw.seed,
        programs: draw.programs.clone(),
        seconds: tool.seconds,
        budget: tool.budget,
        tool: fingerprint::of_file(&tool.binary)?,
        instrument: fingerprint::of_file(&instrument)?,
        corpus: fingerprint::of_directories(&[programs::directory(), real::directory()])?,
        compiler: native::compiler()?,
        loader: tool.length_of_nothing(&place.join("nothing"))?,
    })
}

fn ask(case: &Case, tool: &Tool, questions: &[Question], journal: &Journal) -> Result<Vec<Row>> {
    let inquiry = Inquiry::new(tool, case)?;
    let mut rows = Vec::new();
    for question in questions.iter().filter(|question| !journal.knows(&case.name, **question)) {
        if let Some(answered) = inquiry.ask(*question)? {
            rows.push(Row::new(&inquiry.case, inquiry.executed()?, *question, &answered));
        }
    }
    Ok(rows)
}

/// How far it is, and how good the first technique that is asked is so far.
struct Progress {
    cases: usize,
    question: Option<Question>,
    done: Mutex<Done>,
}

/// Cases, answers to the question, and those with the fault among the first five statements.
#[derive(Clone, Copy, Default)]
struct Done {
    cases: usize,
    answers: usize,
    near: f64,
}

impl Done {
    fn add(&mut self, strict: Option<Rank>) {
        self.answers += 1;
        self.near += strict.map_or(0.0, |rank| rank.within(5));
    }
}

impl Progress {
    /// What an earlier run of the measurement has found out counts as well.
    fn new(cases: usize, journal: &Journal, questions: &[Question]) -> Progress {
        let question = questions.first().copied();
        let mut done = Done::default();
        question.into_iter().flat_map(|question| journal.ranks(question)).for_each(|rank| done.add(rank));
        Progress { cases, question, done: Mutex::new(done) }
    }

    fn tell(&self, rows: &[Row]) {
        let (Ok(mut done), Some(question)) = (self.done.lock(), self.question) else { return };
        done.cases += 1;
        rows.iter().filter(|row| row.question == question).for_each(|row| done.add(row.strict));
        let is_last = done.cases == self.cases;
        let line = told(*done, self.cases, question);
        if std::io::stderr().is_terminal() {
            eprint!("\r{line}{}", if is_last { "\n" } else { "" });
        } else if done.cases % 10 == 0 || is_last {
            eprintln!("{line}");
        }
    }
}

/// A bar, and the share of faults within five.
fn told(done: Done, cases: usize, question: Question) -> String {
    const WIDTH: usize = 30;
    let full = done.cases * WIDTH / cases.max(1);
    let share = done.near * 100.0 / done.answers.max(1) as f64;
    format!(
        "[{:.<WIDTH$}] {} of {cases} cases, {}: {share:.0} % of {} within five",
        "#".repeat(full.min(WIDTH)),
        done.cases,
        table::title(question),
        done.answers
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::{Technique, With};

    #[test]
    fn progress_tells_how_far_it_is_and_how_good() {
        let question = Question { technique: Technique::Explain, with: With::Alone };
        let mut done = Done { cases: 2, ..Done::default() };
        [Some(1), Some(6), None, Some(5)].into_iter().for_each(|rank| done.add(rank.map(Rank::exactly)));
        let line = told(done, 4, question);
        assert_eq!(
            line,
            format!(
                "[{}{}] 2 of 4 cases, explain (alone): 50 % of 4 within five",
                "#".repeat(15),
                ".".repeat(15)
            )
        );
    }
}
