//! What `replay` found, in the forms that people and programs read: text for terminals, JSON, and a page for browsers. Each answer has a type of
//! its own here, a mirror of the data that it comes from, so that data can change without the forms, and text and JSON
//! say the same.

mod envelope;
mod evidence_text;
mod explain;
mod explain_text;
mod html;
mod minimize;
mod page;
mod paper;
mod quote;
mod slice;
mod slice_text;
mod why;
mod why_text;

pub use envelope::envelope;
pub use explain::{CauseReport, ConditionReport, ExplainReport, Explained, LineReport};
pub use minimize::{ArgumentsReport, DifferenceReport, MinimizeReport, PartReport, RunsReport, SpanReport};
pub use page::{ComparisonReport, Page, PrintedReport, Row, RowKind, SourceLine, SourceReport, Texts};
pub use paper::{Colour, Paper};
pub use quote::quoted;
pub use slice::{Gathering, Line, SliceCounts, SliceReport, SourceFile, StatementReport, TriedCounts};
pub use why::{
    AskedReport, KnownReport, LinkReport, OperandReport, OriginReport, OverflowReport, PassedReport,
    PlaceReport, RepeatsReport, StepReport, WhyReport,
};

/// How a path is told, as people here would type it.
pub type Shorten<'a> = &'a dyn Fn(&str) -> String;
