//! The activations of functions, as a pass that goes forwards meets them: their open regions and their statement instances.
//!
//! A region is open from a branch to where its ways meet again. What runs is there because of the innermost open region's
//! branch, or of the call if none is open. Regions that end at the same place take each other's: the outer one will not be
//! the innermost again. So there are as many as the code nests, however often a loop goes round.

use program::{BlockId, State};

use super::super::code::{Code, FunctionId, StmtId};
use super::super::frames::{Instance, found};
use super::super::need::Need;

pub struct Activation {
    /// Address of the return slot; `None` of the outermost.
    pub slot: Option<u64>,
    pub function: FunctionId,
    in_scope: bool,
    /// Its conditions are no reasons, nor are those of the library functions that it calls.
    only_calls_matter: bool,
    /// What the call carried.
    entry: Option<Need>,
    /// Of an allocator: what the memory carries that it will hand out.
    pub result: Option<Option<Need>>,
    /// The first of its regions.
    regions: usize,
    pub current: Instance,
    /// The last instruction of it that ran.
    last: u64,
    /// Control went back since its statement was last looked at.
    went_back: bool,
    /// Code of no statement runs, which is taken for a part of `current`.
    is_unnamed: bool,
    /// The nearest activation in scope, from this one on outwards.
    in_scope_at: Option<usize>,
    /// What a signal handler returns to; below it is what the signal interrupted, perhaps on another stack.
    is_signal: bool,
}

/// What a branch decides about.
struct Region {
    /// What the branch carried.
    need: Option<Need>,
    /// Where it ends; `None` if only where the function does.
    end: Option<u64>,
}

#[derive(Default)]
pub struct Activations {
    stack: Vec<Activation>,
    regions: Vec<Region>,
    /// Statement instances so far.
    numbers: u32,
    most: usize,
    most_regions: usize,
}

impl Activations {
    /// Those of a stopped guest.
    pub fn of(code: &mut Code<'_>, state: &State<'_>) -> Activations {
        let mut activations = Activations::default();
        let program = code.program();
        for found in found(code, program, state) {
            activations.push(code, found.slot, found.function, None, None);
            if found.stmt != StmtId::NONE {
                activations.begin(found.stmt);
            }
            if found.is_signal {
                activations.mark_signal();
            }
            if let Some(top) = activations.stack.last_mut() {
                top.last = found.address.saturating_sub(1);
            }
        }
        // The innermost has not run its instruction yet.
        if let Some(top) = activations.stack.last_mut() {
            top.last = 0;
        }
        activations
    }

    pub fn push(
        &mut self,
        code: &Code<'_>,
        slot: Option<u64>,
        function: FunctionId,
        entry: Option<Need>,
        result: Option<Option<Need>>,
    ) {
        let known = code.function(function);
        let inherited = self.stack.last().is_some_and(|caller| caller.only_calls_matter);
        let around = self.stack.last().and_then(|caller| caller.in_scope_at);
        self.stack.push(Activation {
            slot,
            function,
            in_scope: known.in_scope,
            only_calls_matter: !known.in_scope && (inherited || known.is_output),
            entry,
            result,
            regions: self.regions.len(),
            current: Instance::NONE,
            last: 0,
            went_back: false,
            is_unnamed: false,
            in_scope_at: if known.in_scope { Some(self.stack.len()) } else { around },
            is_signal: false,
        });
        self.most = self.most.max(self.stack.len());
    }

    pub fn pop(&mut self) -> Option<Activation> {
        let popped = self.stack.pop()?;
        self.regions.truncate(popped.regions);
        Some(popped)
    }

    /// The innermost, if it ends when the stack shrinks to above this slot. What a signal interrupted goes on.
    pub fn pop_up_to(&mut self, slot: u64) -> Option<Activation> {
        if self.stack.last()?.is_signal { None } else { self.pop_left(slot) }
    }

    /// The innermost, if a jump to an outer one that sets the stack pointer to above this slot leaves it.
    pub fn pop_left(&mut self, slot: u64) -> Option<Activation> {
        let ends = self.stack.last()?.slot.is_some_and(|own| own <= slot);
        if ends { self.pop() } else { None }
    }

    /// The innermost activation is what a signal handler returns to.
    pub fn mark_signal(&mut self) {
        if let Some(top) = self.stack.last_mut() {
            top.is_signal = true;
        }
    }

    /// A signal handler is left, with all that it called.
    pub fn pop_signal(&mut self) {
        if let Some(place) = self.stack.iter().rposition(|activation| activation.is_signal) {
            while self.stack.len() > place {
                self.pop();
            }
        }
    }

    pub fn top(&self) -> Option<&Activation> {
        self.stack.last()
    }

    /// The statement instance that the code that runs is part of: that of the nearest activation in scope.
    pub fn instance(&mut self) -> Option<&mut Instance> {
        let at = self.stack.last()?.in_scope_at?;
        self.stack.get_mut(at).map(|activation| &mut activation.current)
    }

    /// The numbers of the statement instances that are under way, the outermost first.
    pub fn under_way(&self) -> Vec<Option<u32>> {
        let named = |instance: &Instance| (instance.stmt != StmtId::NONE).then_some(instance.number);
        self.stack.iter().map(|activation| named(&activation.current)).collect()
    }

    /// Regions end at this instruction.
    pub fn close(&mut self, address: u64) {
        let Some(base) = self.stack.last().map(|top| top.regions) else { return };
        let Some(open) = self.regions.get(base..).filter(|open| !open.is_empty()) else { return };
        let ends = |region: &Region| region.end == Some(address);
        let Some(last) = open.iter().rposition(ends) else { return };
        let together = open.iter().take(last).rev().take_while(|region| ends(region)).count();
        self.regions.truncate(base + last - together);
    }

    /// A branch has decided.
    pub fn open(&mut self, need: Option<Need>, end: Option<u64>) {
        let Some(top) = self.stack.last().filter(|top| !top.only_calls_matter) else { return };
        if self.regions.len() > top.regions {
            self.regions.pop_if(|innermost| innermost.end == end);
        }
        self.regions.push(Region { need, end });
        self.most_regions = self.most_regions.max(self.regions.len() - top.regions);
    }

    /// What an instruction in this block runs because of carries this.
    pub fn reason(&self, block: Option<BlockId>) -> Option<Need> {
        let top = self.stack.last()?;
        top.in_scope_at?;
        let by_branch = block.is_some() && !top.only_calls_matter && self.regions.len() > top.regions;
        if by_branch { self.regions.last()?.need } else { top.entry }
    }

    /// No branch, no call and no allocator on its way carries anything.
    pub fn carry_nothing(&self) -> bool {
        self.regions.iter().all(|region| region.need.is_none())
            && self.stack.iter().all(|top| top.entry.is_none() && top.result.flatten().is_none())
    }

    /// Code from this address on is about to run in the innermost activation.
    pub fn come_to(&mut self, address: u64) {
        if let Some(top) = self.stack.last_mut() {
            top.went_back |= address <= top.last;
        }
    }

    /// The last instruction that ran.
    pub fn passed(&mut self, address: u64) {
        if let Some(top) = self.stack.last_mut() {
            top.last = address;
        }
    }

    /// It belongs to this statement. Of code of no statement `next` says, given where the activation was, which one follows in
    /// it, if any, and whether control goes back before.
    pub fn visit(&mut self, stmt: StmtId, next: impl FnOnce(u64) -> Option<(StmtId, bool)>) {
        let Some(top) = self.stack.last_mut().filter(|top| top.in_scope) else { return };
        if stmt == StmtId::NONE {
            if top.is_unnamed {
                return;
            }
            top.is_unnamed = true;
            let Some((stmt, goes_back)) = next(top.last) else {
                return self.begin(StmtId::NONE);
            };
            if top.current.stmt != stmt || top.went_back || goes_back {
                self.begin(stmt);
            }
            return;
        }
        let went_back = std::mem::take(&mut top.went_back);
        let was_unnamed = std::mem::take(&mut top.is_unnamed);
        if top.current.stmt != stmt || went_back && !was_unnamed {
            self.begin(stmt);
        }
    }

    fn begin(&mut self, stmt: StmtId) {
        self.numbers += 1;
        if let Some(top) = self.stack.last_mut() {
            top.current = Instance { stmt, number: self.numbers, ..Instance::NONE };
        }
    }

    /// Passes over a block of several statements that does nothing; the last of them goes on.
    pub fn skip_to(&mut self, stmt: StmtId) {
        let Some(top) = self.stack.last_mut().filter(|top| top.in_scope) else { return };
        (top.went_back, top.is_unnamed) = (false, false);
        self.begin(stmt);
    }

    /// How many activations, and regions of one, there were at most at the same time.
    pub fn most(&self) -> (usize, usize) {
        (self.most, self.most_regions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_ends(activations: &Activations) -> Vec<Option<u64>> {
        activations.regions.iter().map(|region| region.end).collect()
    }

    fn one() -> Activations {
        let top = Activation {
            slot: None,
            function: FunctionId(0),
            in_scope: true,
            only_calls_matter: false,
            entry: None,
            result: None,
            regions: 0,
            current: Instance::NONE,
            last: 0,
            went_back: false,
            is_unnamed: false,
            in_scope_at: Some(0),
            is_signal: false,
        };
        Activations { stack: vec![top], ..Activations::default() }
    }

    #[test]
    fn a_loop_that_goes_round_has_one_region() {
        let mut activations = one();
        for _ in 0..1000 {
            activations.open(None, Some(90));
            activations.open(None, Some(50));
            activations.close(50);
        }
        assert_eq!(open_ends(&activations), [Some(90)]);
        activations.close(90);
        assert!(open_ends(&activations).is_empty());
    }

    #[test]
    fn what_ends_takes_along_what_lies_inside_of_it() {
        let mut activations = one();
        activations.open(None, Some(90));
        activations.open(None, Some(80));
        activations.open(None, None);
        activations.close(80);
        assert_eq!(open_ends(&activations), [Some(90)]);
    }

    #[test]
    fn a_statement_that_control_comes_back_to_is_another_instance() {
        let mut activations = one();
        let nothing = |_| None;
        let mut visit = |address, stmt| {
            activations.come_to(address);
            activations.visit(stmt, nothing);
            activations.passed(address);
            activations.instance().map(|instance| instance.number)
        };
        assert_eq!(visit(10, StmtId(1)), Some(1));
        assert_eq!(visit(11, StmtId(1)), Some(1));
        assert_eq!(visit(10, StmtId(1)), Some(2));
        assert_eq!(visit(12, StmtId(2)), Some(3));
    }
}
