//! A slice, as it is reported.

use std::collections::BTreeMap;

use program::{Program, Stmt};
use replay::{Share, Slice};
use serde::Serialize;

use crate::Shorten;
use crate::why::PlaceReport;

/// The answer of `whydunit slice`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SliceReport {
    /// What kind of finding it is.
    pub kind: &'static str,
    /// Which dependences were followed.
    pub slice: &'static str,
    /// What it is a slice of, in words.
    pub criteria: Vec<String>,
    /// Of a chop: where it begins, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// In the order of the source.
    pub statements: Vec<StatementReport>,
    pub counts: SliceCounts,
    /// The files that statements are in, for the annotated view.
    #[serde(skip)]
    pub files: Vec<SourceFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatementReport {
    pub place: PlaceReport,
    pub text: Option<String>,
    /// How many of its instances are in the slice, in its data part and in its select part.
    pub instances: u64,
    pub data_instances: u64,
    pub select_instances: u64,
    /// How often a branch of it decided something in the slice.
    pub decisions: u64,
    /// How often the other side of a branch of it would have changed something, and how often it only could have, had
    /// conditions on that side gone another way, too.
    pub omissions: u64,
    pub weak_omissions: u64,
    pub distance: u32,
    pub first_time: u64,
    pub last_time: u64,
}

/// The figures that papers about slices give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SliceCounts {
    pub statements: usize,
    pub data_statements: usize,
    pub select_statements: usize,
    pub instances: u64,
    pub data_instances: u64,
    pub select_instances: u64,
    /// Statements with a branch that decided something, and how often one did.
    pub predicates: usize,
    pub predicate_instances: u64,
    /// Instructions that the pass looked at.
    pub instructions: u64,
    /// Of a relevant slice: what was tried to find conditions that left something out.
    #[serde(flatten)]
    pub tried: Option<TriedCounts>,
}

/// Conditions that were made to go the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TriedCounts {
    pub tried: u64,
    /// Those whose other side would have written something that was used.
    pub telling: u64,
    /// Those that did not come to where both sides meet, so that they may have told too little.
    pub cut_short: u64,
    /// Those that were not tried, because there were too many.
    pub not_tried: u64,
    /// Those that needed no run, since an earlier one had told all.
    pub known: u64,
    /// Of those that would change nothing by themselves, those with conditions on their other side, which were forced.
    pub forced: u64,
    /// Those in which that could have changed something.
    pub forced_telling: u64,
    /// Ways that were run for that; those that ended early by a fault, a system call or the end of the function; those
    /// that were too long.
    pub forced_ways: u64,
    pub forced_ended: u64,
    pub forced_cut_short: u64,
    /// Sides of conditions that were not forced.
    pub forced_not_tried: u64,
}

/// A file, with the lines that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
    pub lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub number: u32,
    pub text: Option<String>,
    /// What statements of the line have to do with the slice; `None` for lines that are shown for context.
    pub share: Option<LineShare>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineShare {
    pub instances: u64,
    pub distance: u32,
    pub is_data: bool,
    pub is_select: bool,
    pub decides: bool,
    /// Its other side would have changed something, or only could have.
    pub omits: bool,
    pub omits_weakly: bool,
}

/// What a report about a slice is made from.
pub struct Gathering<'a> {
    pub slice: &'a Slice,
    pub kind: &'static str,
    pub criteria: Vec<String>,
    pub from: Vec<String>,
    pub program: &'a Program,
    pub shorten: Shorten<'a>,
}

/// Lines of context around each line of the slice.
const CONTEXT: u32 = 1;

impl SliceReport {
    pub fn new(gathering: Gathering<'_>) -> SliceReport {
        let Gathering { slice, kind, criteria, from, program, shorten } = gathering;
        let statements = slice.statements.iter().map(|(stmt, share)| StatementReport {
            place: PlaceReport::new(stmt, shorten),
            text: program.text_of(stmt),
            instances: share.instances,
            data_instances: share.data_instances,
            select_instances: share.select_instances,
            decisions: share.decisions,
            omissions: share.omissions,
            weak_omissions: share.weak_omissions,
            distance: share.distance,
            first_time: share.first.0,
            last_time: share.last.0,
        });
        SliceReport {
            kind: "slice",
            slice: kind,
            criteria,
            from,
            statements: statements.collect(),
            counts: counts(slice),
            files: files(slice, program, shorten),
        }
    }
}

fn counts(slice: &Slice) -> SliceCounts {
    let tried = slice.tried.map(|tried| TriedCounts {
        tried: tried.experiments,
        telling: tried.telling,
        cut_short: tried.cut,
        not_tried: tried.left_out,
        known: tried.known,
        forced: tried.forced.conditions,
        forced_telling: tried.forced.telling,
        forced_ways: tried.forced.ways,
        forced_ended: tried.forced.ended,
        forced_cut_short: tried.forced.cut,
        forced_not_tried: tried.forced.left_out,
    });
    let mut counts = SliceCounts { instructions: slice.instructions, tried, ..SliceCounts::default() };
    for share in slice.statements.values() {
        counts.statements += 1;
        counts.data_statements += usize::from(share.data_instances > 0);
        counts.select_statements += usize::from(share.select_instances > 0);
        counts.instances += share.instances;
        counts.data_instances += share.data_instances;
        counts.select_instances += share.select_instances;
        counts.predicates += usize::from(share.decisions > 0);
        counts.predicate_instances += share.decisions;
    }
    counts
}

fn files(slice: &Slice, program: &Program, shorten: Shorten<'_>) -> Vec<SourceFile> {
    let mut by_file: BTreeMap<&str, (&Stmt, BTreeMap<u32, LineShare>)> = BTreeMap::new();
    for (stmt, share) in &slice.statements {
        let (_, lines) = by_file.entry(&stmt.file).or_insert_with(|| (stmt, BTreeMap::new()));
        lines.entry(stmt.line).or_insert(LineShare { distance: u32::MAX, ..LineShare::default() }).add(share);
    }
    let files = by_file.into_iter().map(|(path, (stmt, marked))| {
        let mut shown: BTreeMap<u32, Option<LineShare>> = BTreeMap::new();
        for line in marked.keys() {
            for near in line.saturating_sub(CONTEXT)..=line.saturating_add(CONTEXT) {
                shown.entry(near).or_insert(None);
            }
        }
        shown.extend(marked.into_iter().map(|(line, share)| (line, Some(share))));
        let lines = shown.into_iter().map(|(number, share)| {
            let text = program.source_line(stmt, number);
            Line { number, text, share }
        });
        let lines = lines.filter(|line| line.share.is_some() || line.text.is_some()).collect();
        SourceFile { path: shorten(path), lines }
    });
    files.collect()
}

impl LineShare {
    fn add(&mut self, share: &Share) {
        self.instances += share.instances;
        self.distance = self.distance.min(share.distance);
        self.is_data |= share.data_instances > 0;
        self.is_select |= share.select_instances > 0;
        self.decides |= share.decisions > 0;
        self.omits |= share.omissions > 0;
        self.omits_weakly |= share.weak_omissions > 0;
    }
}
