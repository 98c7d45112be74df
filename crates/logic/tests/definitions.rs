//! The definitions of a slice, as cascade and abstraction need them: each result with a name, over the names of earlier ones.

mod common;

use common::{Checked, Scratch, load};
use logic::concolic::{Addresses, ConstraintKind, Naming, Options};
use logic::{Term, Terms};
use machine::{Observer, Time};
use program::{Program, Scope};
use replay::{Cell, Code, Follow, Question, Recording, Watch};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const TRIANGLE: &str = include_str!("../../../examples/triangle/triangle.c");

/// The stretches that have a part in a slice.
#[derive(Default)]
struct Stretches(Vec<Range<Time>>);

impl Watch for Stretches {
    fn stretch(&mut self, times: Range<Time>) {
        self.0.push(times);
    }
}

/// When a function that begins there returns.
struct Returns {
    program: Program,
    name: &'static str,
    address: u64,
    found: Option<Time>,
}

impl Observer for Returns {
    fn instruction(&mut self, _: Time, address: u64, _: &[lift::Op], _: &machine::Cpu) {
        self.address = address;
    }

    fn ret(&mut self, time: Time, _: u64) {
        if self.program.locate(self.address).function_name().is_some_and(|name| name == self.name) {
            self.found = Some(time);
        }
    }
}

struct Followed {
    checked: Checked,
    program: Program,
    criterion: Term,
}

/// Follows the slice of what `area_of` returns, to there.
fn follow(program: &Path, naming: impl Fn(&[Range<Time>]) -> Naming) -> Followed {
    let arguments = ["6", "5", "4"];
    let mut recording = Recording::make(load(program, &arguments, b""), Time(10_000_000));
    let view = || Program::from_memory(&recording.last().machine.memory);
    let (view, code_view) = (view(), view());
    let mut returns = Returns { program: view, name: "area_of", address: 0, found: None };
    let (start, end) = (recording.start(), recording.end());
    recording.events(start..end, &mut returns);
    let time = returns.found.expect("area_of returns");
    let result = lift::Reg::xmm(0);
    let question = Question { time, cells: vec![Cell::Register(result, lift::WHOLE)], why_here: true };
    let mut stretches = Stretches::default();
    let mut code = Code::new(&code_view, Scope::new(&[], &[]).unwrap());
    recording.slice(&mut code, &question, Follow::Full, &mut stretches);
    stretches.0.sort_unstable_by_key(|stretch| stretch.start);
    stretches.0.dedup();
    let mut process = recording.at(start);
    let mut checked = Checked::new(options(naming(&stretches.0)));
    checked.run(&mut process, time);
    let criterion = checked.concolic.register(result).expect("the result depends on what was defined");
    Followed { checked, program: returns.program, criterion }
}

impl Followed {
    fn line(&self, address: u64) -> Option<u32> {
        let place = self.program.locate(address);
        place
            .position()
            .filter(|position| position.file.ends_with("triangle.c"))
            .map(|position| position.line)
    }

    /// The definitions of a line that the criterion depends on, as text.
    fn cone_of_line(&self, line: u32) -> Vec<String> {
        let (terms, definitions) = (self.checked.concolic.terms(), self.checked.concolic.definitions());
        let cone = definitions.cone(terms, [self.criterion]);
        let all = cone.into_iter().map(|number| definitions.list()[number]);
        all.filter(|definition| self.line(definition.address) == Some(line))
            .map(|definition| terms.print(definition.term))
            .collect()
    }
}

fn options(naming: Naming) -> Options {
    Options { naming, addresses: Addresses::Sensitive, ..Options::default() }
}

#[test]
fn a_slice_becomes_definitions_that_hold_in_the_run() {
    let scratch = Scratch::new("definitions");
    for option in ["-O0", "-O2"] {
        let program = scratch.compile_text("triangle", TRIANGLE, "gcc", &[option, "-fno-inline"]);
        let mut followed = follow(&program, |stretches| Naming::Stretches(stretches.into()));
        let concolic = &mut followed.checked.concolic;
        let definitions = concolic.definitions().list().to_vec();
        assert!(definitions.len() > 10, "{}", definitions.len());
        for definition in definitions {
            assert_eq!(concolic.value(definition.term), definition.value, "{definition:?}");
            let formula = definition.formula(concolic.terms_mut());
            assert_eq!(concolic.value(formula), 1);
            assert_eq!(only_names(concolic.terms(), definition.term), Ok(()), "{option}");
        }
        for constraint in concolic.constraints().to_vec() {
            assert_eq!(concolic.value(constraint.term), 1, "{constraint:?}");
        }
    }
}

/// A name for each instruction: no definition is made of more than a few nodes.
fn only_names(terms: &Terms, term: Term) -> Result<(), String> {
    let size = terms.size([term]);
    if size < 200 { Ok(()) } else { Err(format!("{size} nodes: {}", terms.print(term))) }
}

#[test]
fn what_is_stored_is_a_definition_as_it_was_written() {
    let scratch = Scratch::new("stored");
    let program = scratch.compile_text("triangle", TRIANGLE, "gcc", &["-O0"]);
    let followed = follow(&program, |stretches| Naming::Stretches(stretches.into()));
    // area = b * c / 2.0
    let area = followed.cone_of_line(22);
    let shape = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    assert_eq!(shape(&area[0]), "(f((v * v)) /. .)", "{}", area[0]);
    // a * a != b * b + c * c
    let concolic = &followed.checked.concolic;
    let decisions = concolic.constraints().iter().filter(|constraint| {
        matches!(constraint.kind, ConstraintKind::Branch { .. })
            && followed.line(constraint.address) == Some(16)
    });
    let texts: Vec<String> =
        decisions.map(|constraint| shape(&concolic.terms().print(constraint.term))).collect();
    assert_eq!(texts, ["!((v * v) == ((v * v) + (v * v)))"]);
}

#[test]
fn what_is_not_followed_is_concrete() {
    let scratch = Scratch::new("nothing");
    let program = scratch.compile_text("triangle", TRIANGLE, "gcc", &["-O0"]);
    let mut process = load(&program, &["6", "5", "4"], b"");
    let mut checked = Checked::new(options(Naming::Stretches(Arc::new([]))));
    checked.run(&mut process, Time(10_000_000));
    assert!(checked.concolic.definitions().is_empty());
    assert!(checked.concolic.constraints().is_empty());
    assert!(checked.concolic.terms().is_empty());
}
