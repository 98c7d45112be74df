//! A look ahead in the run: code of no statement goes with the statement that follows it.

use machine::{Pass, Trace};

use super::super::code::{Code, Ending, StmtId};

/// So many passes are looked at: mostly it is the next.
const FURTHEST: usize = 1 << 14;

pub struct Ahead<'t> {
    trace: &'t Trace,
    /// All of the trace, once somebody has asked.
    passes: Option<Vec<Pass<'t>>>,
}

impl<'t> Ahead<'t> {
    pub fn new(trace: &'t Trace) -> Ahead<'t> {
        Ahead { trace, passes: None }
    }

    /// The statement that follows in the activation of a pass, and whether control goes back before it; `last` is
    /// where the activation was. `None` if none does that can be seen.
    pub fn statement(
        &mut self,
        code: &mut Code<'_>,
        pass: &Pass<'_>,
        mut last: u64,
    ) -> Option<(StmtId, bool)> {
        let trace = self.trace;
        let passes = self.passes.get_or_insert_with(|| trace.forward().collect());
        let from = passes.partition_point(|known| known.time < pass.time);
        let function = code.block(pass).function;
        let (mut depth, mut goes_back) = (0u64, false);
        for pass in passes.get(from..)?.iter().take(FURTHEST) {
            let block = code.block(pass);
            let range = pass.instructions();
            if depth == 0 {
                if block.function != function {
                    return None;
                }
                let first = block.instructions.get(range.start)?;
                goes_back |= first.at.address <= last;
                if first.at.stmt != StmtId::NONE {
                    return Some((first.at.stmt, goes_back));
                }
                last = block.instructions.get(range.end.checked_sub(1)?)?.at.address;
            }
            match block.ending {
                _ if range.end != block.instructions.len() => {}
                Ending::Call => depth += 1,
                Ending::Return => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }
}
