//! Values that were passed to a function, where the caller's debug information says how it made them.

use gimli::{Expression, Operation};

use super::evaluate::Failure;
use super::{Evaluator, Reason};
use crate::debug_info::Reader;
use crate::entries::{DEEPEST, Die, Entry};

/// So many functions are followed through their tail calls.
const MOST_FUNCTIONS: usize = 64;

/// How a call site says which parameter it means.
enum Wanted {
    Register(u16),
    Parameter(Die),
}

impl Evaluator<'_> {
    /// What a register held when the function was entered.
    pub(super) fn entry_value(
        &self,
        entry: &Entry<'_>,
        expression: &Expression<Reader>,
    ) -> Result<u64, Failure> {
        let register = single_register(entry, expression);
        let register = register.ok_or(Reason::EntryValueUnknown)?;
        self.passed(&Wanted::Register(register))
    }

    /// What was passed for a parameter that is not there any more.
    pub(super) fn parameter_value(&self, parameter: Die) -> Result<u64, Failure> {
        self.passed(&Wanted::Parameter(parameter))
    }

    fn passed(&self, wanted: &Wanted) -> Result<u64, Failure> {
        let unknown = || Reason::EntryValueUnknown;
        let frame = self.frame.ok_or_else(unknown)?;
        let caller = self.program.caller(frame, self.state).ok_or_else(unknown)?;
        let (index, bias) = self.program.object_at(caller.lookup).ok_or_else(unknown)?;
        let (info, types) = self.program.debug(index).ok_or_else(unknown)?;
        let address = caller.lookup.wrapping_sub(bias);
        let function = info.function_at(address).ok_or_else(unknown)?;
        let returns_to = caller.address.wrapping_sub(bias);
        let site = call_site(&function, returns_to, 0).ok_or_else(unknown)?;
        let evaluator = Evaluator {
            program: self.program,
            state: self.state,
            frame: Some(&caller),
            object: index,
            debug: types.debug,
            bias,
            address: Some(address),
            function: Some(function.die),
            depth: self.depth + 1,
        };
        if !evaluator.calls(&site, self) || self.may_call_itself_last() {
            return Err(unknown());
        }
        let parameter =
            site.children().into_iter().find(|child| is_wanted(child, wanted)).ok_or_else(unknown)?;
        let value = parameter
            .attribute(gimli::DW_AT_call_value)
            .or_else(|| parameter.attribute(gimli::DW_AT_GNU_call_site_value))
            .ok_or_else(unknown)?;
        let place = evaluator.location(&parameter, value).map_err(|_| unknown())?;
        evaluator.word(&place).map_err(|_| unknown())
    }

    /// Whether the function, as its last act, may call itself, perhaps by way of others. Then the values that were
    /// passed are not those of the call that made the frame.
    fn may_call_itself_last(&self) -> bool {
        let Some(function) = self.function else { return true };
        let mut seen = vec![function];
        let mut next = 0;
        while let Some(die) = seen.get(next).copied() {
            next += 1;
            let Some(entry) = self.debug.entry(die) else { return true };
            let mut targets = Vec::new();
            last_calls(&entry, &mut targets, 0);
            for target in targets {
                // A call to who knows where may come back.
                let Some(target) = target.and_then(|target| self.definition(target)) else { return true };
                if target == function || seen.len() > MOST_FUNCTIONS {
                    return true;
                }
                if !seen.contains(&target) {
                    seen.push(target);
                }
            }
        }
        false
    }

    /// The function with code that an abstract function or a declaration stands for.
    fn definition(&self, die: Die) -> Option<Die> {
        let entry = self.debug.entry(die)?;
        if !entry.ranges().is_empty() {
            return Some(die);
        }
        let functions = self.debug.outline(die.unit)?.functions();
        functions.filter_map(|function| self.debug.entry(function)).find_map(|function| {
            function.chain().iter().any(|entry| entry.die == die).then_some(function.die)
        })
    }

    /// Whether a call site calls the function that `callee` is in. A frame may have been made by another
    /// function that the called one jumped to.
    fn calls(&self, site: &Entry<'_>, callee: &Evaluator<'_>) -> bool {
        let Some(function) = callee.function.and_then(|die| callee.debug.entry(die)) else { return false };
        let start = function.ranges().first().map(|range| range.begin.wrapping_add(callee.bias));
        let origin = [gimli::DW_AT_call_origin, gimli::DW_AT_abstract_origin];
        if let Some(target) = origin.into_iter().find_map(|name| site.refers(name)) {
            let chain = function.chain();
            if chain.iter().any(|entry| entry.die == target) {
                return true;
            }
            // The caller may only know a declaration.
            let target = self.debug.entry(target);
            return target.and_then(|entry| linkage_name(&entry)) == linkage_name(&function);
        }
        let targets = [gimli::DW_AT_call_target, gimli::DW_AT_GNU_call_site_target];
        let Some(value) = targets.into_iter().find_map(|name| site.attribute(name)) else { return false };
        let place = self.location(site, value);
        place.and_then(|place| self.word(&place)).ok() == start && start.is_some()
    }
}

fn linkage_name(entry: &Entry<'_>) -> Option<String> {
    let chain = entry.chain();
    chain.iter().find_map(|entry| entry.text(gimli::DW_AT_linkage_name)).or_else(|| entry.name())
}

fn single_register(entry: &Entry<'_>, expression: &Expression<Reader>) -> Option<u16> {
    let mut operations = expression.clone().operations(entry.unit.encoding());
    match (operations.next(), operations.next()) {
        (Ok(Some(Operation::Register { register })), Ok(None)) => Some(register.0),
        _ => None,
    }
}

/// The call site that returns to an address, in a function or anything inside of it.
fn call_site<'a>(scope: &Entry<'a>, returns_to: u64, depth: usize) -> Option<Entry<'a>> {
    for child in scope.children() {
        match child.tag() {
            gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site => {
                let address =
                    child.address(gimli::DW_AT_call_return_pc).or_else(|| child.address(gimli::DW_AT_low_pc));
                if address == Some(returns_to) {
                    return Some(child);
                }
            }
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine if depth < DEEPEST => {
                if let Some(found) = call_site(&child, returns_to, depth + 1) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// The functions that the tail calls of a scope lead to; `None` for one that is not known.
fn last_calls(scope: &Entry<'_>, found: &mut Vec<Option<Die>>, depth: usize) {
    for child in scope.children() {
        match child.tag() {
            gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site
                if child.flag(gimli::DW_AT_call_tail_call) || child.flag(gimli::DW_AT_GNU_tail_call) =>
            {
                let origin = child.refers(gimli::DW_AT_call_origin);
                found.push(origin.or_else(|| child.refers(gimli::DW_AT_abstract_origin)));
            }
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine if depth < DEEPEST => {
                last_calls(&child, found, depth + 1);
            }
            _ => {}
        }
    }
}

fn is_wanted(parameter: &Entry<'_>, wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Register(register) => match parameter.attribute(gimli::DW_AT_location) {
            Some(gimli::AttributeValue::Exprloc(expression)) => {
                single_register(parameter, &expression) == Some(*register)
            }
            _ => false,
        },
        Wanted::Parameter(die) => {
            let refers = [gimli::DW_AT_call_parameter, gimli::DW_AT_abstract_origin];
            refers.into_iter().any(|name| parameter.refers(name) == Some(*die))
        }
    }
}
