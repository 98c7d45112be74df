//! Functions of other objects that the debug information declares not to return.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use gimli::{
    AttributeValue, DW_AT_linkage_name, DW_AT_name, DW_AT_noreturn, DW_TAG_subprogram, Reader as _, Unit,
};

use crate::debug_info::{DebugInfo, Reader};
use crate::object_file::ObjectFile;

/// Units have some 100 000 entries at most; a damaged one may go in circles.
const MOST_ENTRIES: usize = 1 << 21;

/// Names by the place of their unit in the debug information.
#[derive(Default)]
pub(crate) struct Declared {
    units: RefCell<HashMap<gimli::UnitSectionOffset, Rc<HashSet<String>>>>,
}

/// Whether the unit of the code at `address` declares that `name` does not return.
pub(super) fn never_returns(object: &ObjectFile, address: u64, name: &str) -> bool {
    let Some(info) = object.debug_info() else { return false };
    let Some(unit) = info.unit_at(address) else { return false };
    let known = object.declared().units.borrow().get(&unit.header.offset()).cloned();
    let names = known.unwrap_or_else(|| {
        let names = Rc::new(names(info, unit));
        object.declared().units.borrow_mut().insert(unit.header.offset(), names.clone());
        names
    });
    names.contains(name)
}

fn names(info: &DebugInfo, unit: &Unit<Reader>) -> HashSet<String> {
    // The C library declares some functions twice, once for arguments with which they do not return.
    let (mut found, mut others) = (HashSet::new(), HashSet::new());
    let mut entries = unit.entries();
    for _ in 0..MOST_ENTRIES {
        let Ok(Some((_, entry))) = entries.next_dfs() else { break };
        if entry.tag() != DW_TAG_subprogram {
            continue;
        }
        let is_final = matches!(entry.attr_value(DW_AT_noreturn), Ok(Some(AttributeValue::Flag(true))));
        for attribute in [DW_AT_linkage_name, DW_AT_name] {
            let Ok(Some(value)) = entry.attr_value(attribute) else { continue };
            let Ok(name) = info.dwarf.attr_string(unit, value) else { continue };
            let names = if is_final { &mut found } else { &mut others };
            names.extend(name.to_string().ok().map(|name| name.into_owned()));
            break;
        }
    }
    found.retain(|name| !others.contains(name));
    found
}
