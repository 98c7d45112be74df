//! Values that were passed to a function, where the caller's debug information says how it made them.

use gimli::{Expression, Operation, UnitOffset};

use super::evaluate::Failure;
use super::{Evaluator, Reason};
use crate::call_sites::{self, linkage_name};
use crate::debug_info::Reader;
use crate::entries::{Die, Entry};

/// How a call site says which parameter it means.
enum Wanted {
    Register(u16),
    Parameter(Die),
}

impl Evaluator<'_> {
    /// What a register held when the function was entered, and the type that it is to be taken as.
    pub(super) fn entry_value(
        &self,
        entry: &Entry<'_>,
        expression: &Expression<Reader>,
    ) -> Result<(u64, UnitOffset<usize>), Failure> {
        let register = single_register(entry, expression);
        let (register, base_type) = register.ok_or(Reason::EntryValueUnknown)?;
        Ok((self.passed(&Wanted::Register(register))?, base_type))
    }

    /// What was passed for a parameter that is not there any more.
    pub(super) fn parameter_value(&self, parameter: Die) -> Result<u64, Failure> {
        self.passed(&Wanted::Parameter(parameter))
    }

    fn passed(&self, wanted: &Wanted) -> Result<u64, Failure> {
        let unknown = || Reason::EntryValueUnknown;
        let frame = self.frame.ok_or_else(unknown)?;
        let caller = self.program.caller(frame, self.state).ok_or_else(unknown)?;
        let (index, _) = self.program.object_at(caller.lookup).ok_or_else(unknown)?;
        let (function, bias) = self.program.function_entry(caller.lookup).ok_or_else(unknown)?;
        let site =
            call_sites::returning_to(&function, caller.address.wrapping_sub(bias)).ok_or_else(unknown)?;
        let evaluator = Evaluator {
            program: self.program,
            state: self.state,
            frame: Some(&caller),
            object: index,
            debug: function.debug,
            bias,
            address: Some(caller.lookup.wrapping_sub(bias)),
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
        evaluator.result(&parameter, value).map_err(|_| unknown())
    }

    /// Whether the function, as its last act, may call itself. Then the values that were passed are not those of the call
    /// that made the frame.
    fn may_call_itself_last(&self) -> bool {
        self.start().is_none_or(|start| self.program.may_call_itself_last(start))
    }

    /// Where the function starts.
    fn start(&self) -> Option<u64> {
        let function = self.debug.entry(self.function?)?;
        function.ranges().first().map(|range| range.begin.wrapping_add(self.bias))
    }

    /// Whether a call site calls the function that `callee` is in. A frame may have been made by another
    /// function that the called one jumped to.
    fn calls(&self, site: &Entry<'_>, callee: &Evaluator<'_>) -> bool {
        let Some(function) = callee.function.and_then(|die| callee.debug.entry(die)) else { return false };
        if let Some(target) = call_sites::callee(site) {
            let is_same = function.chain().iter().any(|entry| entry.die == target.die);
            // The caller may only know a declaration.
            return is_same || linkage_name(&target) == linkage_name(&function);
        }
        let targets = [gimli::DW_AT_call_target, gimli::DW_AT_GNU_call_site_target];
        let Some(value) = targets.into_iter().find_map(|name| site.attribute(name)) else { return false };
        let place = self.location(site, value);
        let start = callee.start();
        start.is_some() && place.and_then(|place| self.word(&place)).ok() == start
    }
}

/// The register that an expression consists of, and the type that it gives it; 0 is none.
fn single_register(entry: &Entry<'_>, expression: &Expression<Reader>) -> Option<(u16, UnitOffset<usize>)> {
    let mut operations = expression.clone().operations(entry.unit.encoding());
    match (operations.next(), operations.next()) {
        (Ok(Some(Operation::Register { register })), Ok(None)) => Some((register.0, UnitOffset(0))),
        (Ok(Some(Operation::RegisterOffset { register, offset: 0, base_type })), Ok(None))
            if base_type.0 != 0 =>
        {
            Some((register.0, base_type))
        }
        _ => None,
    }
}

fn is_wanted(parameter: &Entry<'_>, wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Register(register) => match parameter.attribute(gimli::DW_AT_location) {
            Some(gimli::AttributeValue::Exprloc(expression)) => {
                single_register(parameter, &expression).is_some_and(|(found, _)| found == *register)
            }
            _ => false,
        },
        Wanted::Parameter(die) => {
            let refers = [gimli::DW_AT_call_parameter, gimli::DW_AT_abstract_origin];
            refers.into_iter().any(|name| parameter.refers(name) == Some(*die))
        }
    }
}
