//! The room where a run's past can be asked for: recordings, any instant of which can be had again, and what each
//! value came from. Nothing of the past is stored but a few checkpoints; the rest is run again when a question
//! leads there.

mod case;
mod dependence;
mod diversion;
mod events;
mod failure;
mod flow;
mod oracle;
mod recording;

pub use case::{Bytes, Case, Channel, Comparison, Expectation, Files, Heap, Limits, Oracle, Stdin, User};
pub use dependence::{
    Backward, Cell, Code, Follow, Made, Need, Question, Share, Slice, Source, Stacks, Step, StmtId, Unseen,
    Use, Watch,
};
pub use diversion::{Arrival, Diversion, Instance, Outcome as ArrivalOutcome, RunId, Scanner, Writes};
pub use events::{Ending, MemoryAccess, RegisterSet, Shape, Shapes, accesses};
pub use failure::{
    Abort, AbortKind, Criterion, Difference, Failure, FailureKind, Outcome, StatedPosition, Subject, Verdict,
    Violation, WrongOutput,
};
pub use flow::{Flow, FunctionFlow};
pub use oracle::{
    AssertionError, Assertions, Checked, CommandError, ExamineError, Examined, ReferenceError,
    check_assertions, examine, expect_like_reference, judge, status,
};
pub use recording::{Options, Recording, Segment};
