//! A results file: a line that says what was measured, and a line for each answer. A measurement that was interrupted goes
//! on where it was.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::measure::Rank;
use crate::question::Question;
use crate::row::Row;
use crate::suites::{Drawn, Suite};

/// What was measured, and with what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub suite: Suite,
    pub count: usize,
    pub seed: u64,
    pub programs: Vec<String>,
    pub seconds: u64,
    pub budget: u64,
    /// A hash of the whydunit that was asked.
    pub tool: String,
    /// Hashes of what asked it, and of the programs, their tests and answers, and the real bugs.
    pub instrument: String,
    pub corpus: String,
    /// What compiled the programs.
    pub compiler: String,
    /// Instructions of a program that does nothing: what all runs have before and after they are about anything.
    pub loader: u64,
}

impl Header {
    /// The names of the members that another one has otherwise.
    fn differences(&self, other: &Header) -> Result<Vec<String>> {
        let members = |header: &Header| serde_json::to_value(header).context("a header cannot be written");
        let (own, other) = (members(self)?, members(other)?);
        let all = own.as_object().into_iter().flatten();
        Ok(all.filter(|(name, value)| other.get(name) != Some(value)).map(|(name, _)| name.clone()).collect())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    Header(Header),
    Drawn(Drawn),
    Row(Box<Row>),
}

/// The content of a results file.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub header: Option<Header>,
    pub drawn: Option<Drawn>,
    /// By case and question.
    pub rows: Vec<Row>,
}

impl Results {
    pub fn read(path: &Path) -> Result<Results> {
        let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut results = Results::default();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(Entry::Header(header)) => results.header = Some(header),
                Ok(Entry::Drawn(drawn)) => results.drawn = Some(drawn),
                Ok(Entry::Row(row)) => results.rows.push(*row),
                // The last line of a measurement that was killed.
                Err(_) if number + 1 == lines.len() && !text.ends_with('\n') => {}
                Err(error) => {
                    let place = format!("{}:{}", path.display(), number + 1);
                    return Err(error).with_context(|| format!("{place} is no line of a results file"));
                }
            }
        }
        results.rows.sort_by(|a, b| (&a.case, a.question).cmp(&(&b.case, b.question)));
        Ok(results)
    }
}

/// A results file that is being written.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// The ranks that were known when it was opened, by the strict rule.
    known: HashMap<(String, Question), Option<Rank>>,
}

impl Journal {
    /// Opens a file, or goes on with one that has the same header.
    pub fn open(path: &Path, header: &Header) -> Result<Journal> {
        let mut known = HashMap::new();
        if path.exists() {
            let results = Results::read(path)?;
            let before = results.header.as_ref();
            let before = before.with_context(|| format!("{} has no header; remove it", path.display()))?;
            let differences = header.differences(before)?.join(", ");
            ensure!(
                differences.is_empty(),
                "{} holds another measurement, with another {differences}: its rows cannot be mixed with new ones. \
                 Name another file with --output, or remove it to measure anew; compare tells what differs",
                path.display()
            );
            known.extend(results.rows.iter().map(|row| ((row.case.clone(), row.question), row.strict)));
            // Without a line that was cut off.
            write_whole(path, &results)?;
        } else {
            write_whole(path, &Results { header: Some(header.clone()), ..Results::default() })?;
        }
        let file = OpenOptions::new().append(true).open(path);
        let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Journal { path: path.to_owned(), file: Mutex::new(file), known })
    }

    /// Without what is known of other cases than those that were drawn, which no table shall count.
    pub fn of_cases(self, cases: &[Case]) -> Result<Journal> {
        let drawn: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        let mut results = Results::read(&self.path)?;
        results.rows.retain(|row| drawn.contains(row.case.as_str()));
        write_whole(&self.path, &results)?;
        let header = results.header.context("a results file has no header")?;
        Journal::open(&self.path, &header)
    }

    pub fn knows(&self, case: &str, question: Question) -> bool {
        self.known.contains_key(&(case.to_owned(), question))
    }

    /// The ranks of answers to a question that were known when it was opened.
    pub fn ranks(&self, question: Question) -> impl Iterator<Item = Option<Rank>> {
        self.known.iter().filter(move |((_, known), _)| *known == question).map(|(_, rank)| *rank)
    }

    pub fn drawn(&self, drawn: Drawn) -> Result<()> {
        self.append(&Entry::Drawn(drawn))
    }

    pub fn add(&self, row: Row) -> Result<()> {
        self.append(&Entry::Row(Box::new(row)))
    }

    fn append(&self, entry: &Entry) -> Result<()> {
        let line = serde_json::to_string(entry).context("a row cannot be written")? + "\n";
        let mut file = self.file.lock().map_err(|_| anyhow::anyhow!("another worker panicked"))?;
        file.write_all(line.as_bytes()).with_context(|| format!("{} cannot be written", self.path.display()))
    }
}

fn write_whole(path: &Path, results: &Results) -> Result<()> {
    let header = results.header.clone().map(Entry::Header);
    let drawn = results.drawn.map(Entry::Drawn);
    let rows = results.rows.iter().map(|row| Entry::Row(Box::new(row.clone())));
    let mut text = String::new();
    for entry in header.into_iter().chain(drawn).chain(rows) {
        text += &serde_json::to_string(&entry).context("a row cannot be written")?;
        text.push('\n');
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::{ALONE, row};

    fn header() -> Header {
        Header {
            suite: Suite::Mutants,
            count: 2,
            seed: 1,
            programs: Vec::new(),
            seconds: 60,
            budget: 1000,
            tool: "0".to_owned(),
            instrument: "0".to_owned(),
            corpus: "0".to_owned(),
            compiler: "gcc 1".to_owned(),
            loader: 100,
        }
    }

    #[test]
    fn a_measurement_that_was_killed_goes_on_where_it_was() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("results.jsonl");
        let journal = Journal::open(&path, &header()).unwrap();
        journal.add(row(&[12], false)).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
        let again = Journal::open(&path, &header()).unwrap();
        assert!(again.knows("small 1", ALONE) && !again.knows("small 2", ALONE));
        assert_eq!(again.ranks(ALONE).collect::<Vec<_>>(), [Some(Rank::exactly(1))]);
        again.add(Row { case: "small 2".to_owned(), ..row(&[1], false) }).unwrap();
        let results = Results::read(&path).unwrap();
        let ranks: Vec<_> = results.rows.iter().map(|row| (row.case.as_str(), row.strict)).collect();
        assert_eq!(ranks, [("small 1", Some(Rank::exactly(1))), ("small 2", None)]);
    }

    #[test]
    fn another_measurement_is_not_mixed_in() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("results.jsonl");
        Journal::open(&path, &header()).unwrap();
        let refusal = |header: &Header| Journal::open(&path, header).err().map(|error| error.to_string());
        for (header, what) in [
            (Header { seed: 2, ..header() }, "another seed:"),
            (Header { corpus: "1".to_owned(), ..header() }, "another corpus:"),
            (
                Header { instrument: "1".to_owned(), compiler: "gcc 2".to_owned(), ..header() },
                "another compiler, instrument:",
            ),
        ] {
            let said = refusal(&header).unwrap_or_default();
            assert!(said.contains(what) && said.contains("--output"), "{said}");
        }
        assert_eq!(refusal(&header()), None);
    }

    #[test]
    fn what_is_no_longer_drawn_is_no_longer_counted() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("results.jsonl");
        let journal = Journal::open(&path, &header()).unwrap();
        journal.add(row(&[12], false)).unwrap();
        journal.add(Row { case: "gone 1".to_owned(), ..row(&[12], false) }).unwrap();
        let again = Journal::open(&path, &header()).unwrap().of_cases(&[crate::row::tests::case()]).unwrap();
        assert!(again.knows("small 1", ALONE) && !again.knows("gone 1", ALONE));
        assert_eq!(Results::read(&path).unwrap().rows.len(), 1);
    }
}
