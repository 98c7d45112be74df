//! What is asked about each case: a technique, and what it is given beside the failing run.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Cost, Coverage, Place, Reply};
use crate::cases::{Case, Tested};
use crate::measure::Order;
use crate::programs::Test;
use crate::random::Random;
use crate::report::{Part, Report};
use crate::spectrum::{Formula, Spectrum};
use crate::tool::{Help, Tool};

/// So many tests are tried until one passes in the machine, too.
const MOST_TWINS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// The report of `whydunit explain`, as it is read
    Explain,
    /// The conditions of that report that save the run, and the statements around the first
    Switching,
    /// The statements of the full slice, the nearest first
    FullSlice,
    /// The statements of the relevant slice, the nearest first
    RelevantSlice,
    /// The statements that the failing run executed, in any order
    Random,
    Ochiai,
    Tarantula,
    Dstar,
}

/// What is there beside the failing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum With {
    Alone,
    Passing,
    Reference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Question {
    pub technique: Technique,
    pub with: With,
}

/// What was answered.
#[derive(Default)]
pub struct Answered {
    pub order: Order,
    /// The part of the report that each statement stands in.
    pub parts: Vec<(Place, Part)>,
    pub report: Option<Report>,
    pub reply: Reply,
    pub length: u64,
    pub cost: Cost,
}

impl Technique {
    pub fn name(self) -> &'static str {
        match self {
            Technique::Explain => "explain",
            Technique::Switching => "switching",
            Technique::FullSlice => "full slice",
            Technique::RelevantSlice => "relevant slice",
            Technique::Random => "random order",
            Technique::Ochiai => "Ochiai",
            Technique::Tarantula => "Tarantula",
            Technique::Dstar => "DStar",
        }
    }
}

impl Technique {
    /// Does it need the run to fail in the machine? The others take the verdicts of native runs.
    fn runs_the_failure(self) -> bool {
        match self {
            Technique::Explain | Technique::Switching | Technique::FullSlice | Technique::RelevantSlice => {
                true
            }
            Technique::Random | Technique::Ochiai | Technique::Tarantula | Technique::Dstar => false,
        }
    }
}

impl With {
    pub fn name(self) -> &'static str {
        match self {
            With::Alone => "alone",
            With::Passing => "passing",
            With::Reference => "reference",
        }
    }
}

impl Question {
    /// Is it answered from the report of `explain`?
    pub fn explains(self) -> bool {
        matches!(self.technique, Technique::Explain | Technique::Switching)
    }

    /// The questions that make sense: slices and random orders know one run alone, spectra need tests that pass.
    pub fn all(techniques: &[Technique], with: &[With]) -> Vec<Question> {
        let mut questions = Vec::new();
        for technique in techniques {
            let fits = |with: &&With| match technique {
                Technique::Explain | Technique::Switching => true,
                Technique::FullSlice | Technique::RelevantSlice | Technique::Random => **with == With::Alone,
                Technique::Ochiai | Technique::Tarantula | Technique::Dstar => **with == With::Passing,
            };
            questions
                .extend(with.iter().filter(fits).map(|with| Question { technique: *technique, with: *with }));
        }
        questions
    }
}

/// A case that is asked about; what several questions need is found once.
pub struct Inquiry<'a> {
    tool: &'a Tool,
    /// As it fails in the machine.
    pub case: Case,
    is_reproduced: bool,
    spectrum: OnceCell<Spectrum>,
    executed: OnceCell<Coverage>,
    explained: RefCell<BTreeMap<With, Rc<Answer<Report>>>>,
}

impl<'a> Inquiry<'a> {
    /// What is asked goes by what the machine shows, which a user would see there; natively it may be another failure of
    /// the same mistake.
    pub fn new(tool: &'a Tool, case: &Case) -> Result<Inquiry<'a>> {
        let mut inquiry = Inquiry {
            tool,
            case: case.clone(),
            is_reproduced: true,
            spectrum: OnceCell::new(),
            executed: OnceCell::new(),
            explained: RefCell::default(),
        };
        if let Some(right_status) = case.right_status {
            match tool.witness(case, right_status)? {
                Some(witness) => inquiry.case.fail_as(&witness, right_status),
                None => inquiry.is_reproduced = false,
            }
        }
        Ok(inquiry)
    }

    /// The answer; `None` if the case lacks what the question wants to give.
    pub fn ask(&self, question: Question) -> Result<Option<Answered>> {
        if !self.is_reproduced && question.technique.runs_the_failure() {
            let has_help = question.with != With::Passing || self.passing()?.is_some();
            let answered = Answered { reply: Reply::NotReproduced, ..Answered::default() };
            return Ok(has_help.then_some(answered));
        }
        let answered = match question.technique {
            Technique::Explain => return self.explain(question.with, Report::reading_order),
            Technique::Switching => return self.explain(question.with, Report::switching_order),
            Technique::FullSlice => self.sliced(self.tool.slice(&self.case, "full")?),
            Technique::RelevantSlice => self.sliced(self.tool.slice(&self.case, "relevant")?),
            Technique::Random => {
                let Coverage { reply, counts, cost } = self.coverage()?;
                let mut places: Vec<Place> = counts.iter().map(|(place, _)| place.clone()).collect();
                Random::new(0, &self.case.name).shuffle(&mut places);
                Answered { order: Order::of(places), reply: *reply, cost: *cost, ..Answered::default() }
            }
            Technique::Ochiai => self.suspect(Formula::Ochiai)?,
            Technique::Tarantula => self.suspect(Formula::Tarantula)?,
            Technique::Dstar => self.suspect(Formula::Dstar)?,
        };
        Ok(Some(answered))
    }

    /// The answer of `explain`, read in an order.
    fn explain(&self, with: With, read: fn(&Report) -> Vec<(Place, Part)>) -> Result<Option<Answered>> {
        let Some(answer) = self.explanation(with)? else { return Ok(None) };
        let read = answer.found.as_ref().map(read).unwrap_or_default();
        let parts: Vec<(Place, Part)> =
            read.into_iter().map(|(place, part)| (self.case.statement(place), part)).collect();
        let order = Order::of(parts.iter().map(|(place, _)| place.clone()));
        let Answer { reply, found, length, cost } = answer.as_ref();
        let (reply, report, length, cost) = (*reply, found.clone(), *length, *cost);
        Ok(Some(Answered { order, parts, report, reply, length, cost }))
    }

    fn sliced(&self, answer: Answer<Vec<Place>>) -> Answered {
        let Answer { reply, found, length, cost } = answer;
        let statements = found.unwrap_or_default().into_iter().map(|place| self.case.statement(place));
        Answered { order: Order::of(statements), reply, length, cost, ..Answered::default() }
    }

    fn explanation(&self, with: With) -> Result<Option<Rc<Answer<Report>>>> {
        if let Some(known) = self.explained.borrow().get(&with) {
            return Ok(Some(Rc::clone(known)));
        }
        let help = match with {
            With::Alone => Some(Help::None),
            With::Passing => self.passing()?.map(Help::Passing),
            With::Reference => self.case.reference.as_deref().map(Help::Reference),
        };
        let Some(help) = help else { return Ok(None) };
        let answer = Rc::new(self.tool.explain(&self.case, help)?);
        self.explained.borrow_mut().insert(with, Rc::clone(&answer));
        Ok(Some(answer))
    }

    /// The passing test with the same command line whose input is the most alike. Natively it passes, but the machine may notice that it
    /// goes wrong with the heap as well; then it is the next one.
    fn passing(&self) -> Result<Option<&Test>> {
        let Some(failing) = self.case.tests.get(self.case.failing).map(|tested| &tested.test) else {
            return Ok(None);
        };
        let is_like = |tested: &&Tested| {
            tested.passes == Some(true)
                && tested.test.files == failing.files
                && tested.test.arguments().eq(failing.arguments())
                && tested.test.stdin != failing.stdin
        };
        let mut twins: Vec<&Test> =
            self.case.tests.iter().filter(is_like).map(|tested| &tested.test).collect();
        twins.sort_by_cached_key(|test| unlike(&test.stdin, &failing.stdin));
        for twin in twins.into_iter().take(MOST_TWINS) {
            if self.tool.passes(&self.case, twin)? {
                return Ok(Some(twin));
            }
        }
        Ok(None)
    }

    fn suspect(&self, formula: Formula) -> Result<Answered> {
        let spectrum = match self.spectrum.get() {
            Some(known) => known,
            None => {
                let found = Spectrum::of(self.tool, &self.case)?;
                self.spectrum.get_or_init(|| found)
            }
        };
        let (reply, cost) = (spectrum.reply, spectrum.cost);
        Ok(Answered { order: spectrum.order(formula), reply, cost, ..Answered::default() })
    }

    /// How often the failing run executed each statement.
    pub fn executed(&self) -> Result<&[(Place, u64)]> {
        Ok(&self.coverage()?.counts)
    }

    fn coverage(&self) -> Result<&Coverage> {
        if let Some(known) = self.executed.get() {
            return Ok(known);
        }
        let found = self.tool.coverage_of_failure(&self.case)?;
        Ok(self.executed.get_or_init(|| found))
    }
}

/// How many bytes are neither in a common beginning nor in a common end.
fn unlike(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let most = a.len().min(b.len());
    let beginning = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let end = a.iter().rev().zip(b.iter().rev()).take(most - beginning).take_while(|(x, y)| x == y).count();
    a.len().max(b.len()) - beginning - end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_the_middle_alone_is_most_alike() {
        assert_eq!(unlike("abc", "abc"), 0);
        assert_eq!(unlike("abcd", "abxd"), 1);
        assert_eq!(unlike("aaa", "aa"), 1);
        assert_eq!(unlike("", "xy"), 2);
    }

    #[test]
    fn each_technique_is_asked_with_what_it_can_use() {
        let all = Question::all(Technique::value_variants(), With::value_variants());
        assert_eq!(all.len(), 2 * 3 + 3 + 3);
        assert!(all.contains(&Question { technique: Technique::Ochiai, with: With::Passing }));
    }
}
