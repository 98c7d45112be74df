//! Functions that have left the stack: their last call was made by a jump, so the function that they called returns to
//! their caller in their place.
//!
//! The call site in the caller says which function was called. When that is not the function whose frame is there, a
//! chain of jumps must have led from the one to the other. When there are several such chains, what is common to their
//! beginnings and to their ends is still sure. A jump to a place that is not known may lead anywhere, so where one could
//! have been made, nothing is said.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use gimli::X86_64;

use crate::call_sites;
use crate::entries::Entry;
use crate::program::Program;
use crate::symbols;
use crate::unwind::{Frame, Rule};

/// Jumps that are tried to find one chain. Real programs need a few dozen; the number of chains can be exponential.
const MOST_TRIED: usize = 1000;

/// A longer chain is the work of a generator.
const LONGEST_CHAIN: usize = 64;

/// So many functions are followed to see whether one comes back to itself.
const MOST_FUNCTIONS: usize = 64;

/// A call by a jump, in guest addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jump {
    /// Where the instruction ends.
    address: u64,
    /// Inside of the instruction.
    lookup: u64,
    /// The start of the function that is jumped to, if that is known.
    target: Option<u64>,
}

type Jumps = Arc<[Jump]>;

/// What was found out before.
#[derive(Default)]
pub(crate) struct TailCalls {
    /// The jumps of functions, by their starts.
    jumps: RefCell<HashMap<u64, Option<Jumps>>>,
    /// Chains, innermost first, by where the caller goes on and where the callee is.
    chains: RefCell<HashMap<(u64, u64), Jumps>>,
}

impl Program {
    /// The frames between a frame and the one that it returns to, innermost first.
    pub(crate) fn left_frames(&self, callee: &Frame, caller: &Frame) -> Vec<Frame> {
        // A signal handler returns to where nothing was called.
        if caller.lookup == caller.address {
            return Vec::new();
        }
        let key = (caller.address, callee.lookup);
        let known = self.tail_calls.chains.borrow().get(&key).cloned();
        let chain = known.unwrap_or_else(|| {
            let found: Jumps = self.chain(callee, caller).unwrap_or_default().into();
            self.tail_calls.chains.borrow_mut().insert(key, found.clone());
            found
        });
        chain.iter().map(|jump| left_frame(*jump, caller)).collect()
    }

    /// Whether the function that starts at an address may, as its last act, call itself, perhaps by way of others.
    pub(crate) fn may_call_itself_last(&self, start: u64) -> bool {
        let mut seen = vec![start];
        let mut next = 0;
        while let Some(function) = seen.get(next).copied() {
            next += 1;
            let Some(jumps) = self.jumps_of(function) else { return true };
            for jump in jumps.iter() {
                // A call to who knows where may come back.
                let Some(target) = jump.target else { return true };
                if target == start || seen.len() > MOST_FUNCTIONS {
                    return true;
                }
                if !seen.contains(&target) {
                    seen.push(target);
                }
            }
        }
        false
    }

    fn chain(&self, callee: &Frame, caller: &Frame) -> Option<Vec<Jump>> {
        let (function, bias) = self.function_entry(caller.lookup)?;
        let site = call_sites::returning_to(&function, caller.address.wrapping_sub(bias))?;
        let called = self.called_by(&site, bias)?;
        let mut search = Search {
            program: self,
            callee: self.start_of(callee.lookup)?,
            path: Vec::new(),
            tried: 0,
            found: None,
        };
        search.follow(called)?;
        search.found.map(Found::sure)
    }

    /// Where the function at an address starts.
    fn start_of(&self, address: u64) -> Option<u64> {
        let by_entry = self.function_entry(address).and_then(|(function, bias)| start(&function, bias));
        by_entry.or_else(|| Some(self.function_at(address)?.0))
    }

    /// The jumps of the function that starts at an address; `None` when they are not known.
    fn jumps_of(&self, start_address: u64) -> Option<Jumps> {
        if let Some(known) = self.tail_calls.jumps.borrow().get(&start_address) {
            return known.clone();
        }
        let found = || {
            let (function, bias) = self.function_entry(start_address)?;
            if start(&function, bias) != Some(start_address) {
                return None;
            }
            let sites = call_sites::last_calls(&function)?;
            sites.iter().map(|site| self.jump(site, bias)).collect::<Option<Jumps>>()
        };
        let found = found();
        self.tail_calls.jumps.borrow_mut().insert(start_address, found.clone());
        found
    }

    fn jump(&self, site: &Entry<'_>, bias: u64) -> Option<Jump> {
        let end = call_sites::return_address(site).map(|end| (end, end.wrapping_sub(1)));
        // Some compilers say only where the instruction begins.
        let place = end.or_else(|| site.address(gimli::DW_AT_call_pc).map(|begin| (begin, begin)));
        let (address, lookup) = place?;
        Some(Jump {
            address: address.wrapping_add(bias),
            lookup: lookup.wrapping_add(bias),
            target: self.called_by(site, bias),
        })
    }

    /// The start of the function that a call site calls, if that is known beforehand.
    fn called_by(&self, site: &Entry<'_>, bias: u64) -> Option<u64> {
        let callee = call_sites::callee(site)?;
        if let Some(start) = start(&callee, bias) {
            return Some(start);
        }
        let outline = callee.debug.outline(callee.die.unit)?;
        if let Some(instance) = outline.instance_of(callee.debug, callee.die) {
            return start(&callee.debug.entry(instance)?, bias);
        }
        // It is in another unit, perhaps in another object.
        let name = call_sites::linkage_name(&callee).filter(|_| callee.flag(gimli::DW_AT_declaration))?;
        symbols::single(self.placed_objects(), &name)
    }
}

fn start(function: &Entry<'_>, bias: u64) -> Option<u64> {
    function.ranges().first().map(|range| range.begin.wrapping_add(bias))
}

/// The frame of a function at the moment of its jump: the stack is as it was when it was entered, and the registers that
/// it had to preserve are the caller's again.
fn left_frame(jump: Jump, caller: &Frame) -> Frame {
    let mut registers = caller.registers;
    registers.set(X86_64::RA.0, Some(jump.address));
    registers.set(X86_64::RSP.0, registers.rsp().map(|stack| stack.wrapping_sub(8)));
    Frame { address: jump.address, lookup: jump.lookup, registers, rule: Rule::TailCall }
}

/// The chains that were found, as far as they agree.
enum Found {
    One(Vec<Jump>),
    Several { beginning: Vec<Jump>, end: Vec<Jump> },
}

impl Found {
    /// The jumps that were made for sure, the last one first.
    fn sure(self) -> Vec<Jump> {
        match self {
            Found::One(mut chain) => {
                chain.reverse();
                chain
            }
            Found::Several { beginning, mut end } => {
                end.reverse();
                end.extend(beginning.into_iter().rev());
                end
            }
        }
    }

    /// `None` when nothing is common to all.
    fn and(self, chain: &[Jump]) -> Option<Found> {
        let (mut beginning, mut end) = match self {
            Found::One(other) => (other.clone(), other),
            Found::Several { beginning, end } => (beginning, end),
        };
        beginning.truncate(beginning.iter().zip(chain).take_while(|(a, b)| a == b).count());
        let same = end.iter().rev().zip(chain.iter().rev()).take_while(|(a, b)| a == b).count();
        end.drain(..end.len().saturating_sub(same));
        (!beginning.is_empty() || !end.is_empty()).then_some(Found::Several { beginning, end })
    }
}

struct Search<'a> {
    program: &'a Program,
    /// Where the function starts that all chains must lead to.
    callee: u64,
    path: Vec<Jump>,
    tried: usize,
    found: Option<Found>,
}

impl Search<'_> {
    /// Tries all chains that go on with the function that starts at `target`. `None` when it turns out that nothing can
    /// be said.
    fn follow(&mut self, target: u64) -> Option<()> {
        if target == self.callee {
            self.found = Some(match self.found.take() {
                None => Found::One(self.path.clone()),
                Some(found) => found.and(&self.path)?,
            });
            return Some(());
        }
        for jump in self.program.jumps_of(target)?.iter() {
            self.tried += 1;
            if self.tried > MOST_TRIED || self.path.len() == LONGEST_CHAIN {
                return None;
            }
            // Going round in circles makes no other functions appear.
            if self.path.contains(jump) {
                continue;
            }
            self.path.push(*jump);
            self.follow(jump.target?)?;
            self.path.pop();
        }
        Some(())
    }
}
