//! Variables that have an address of their own: those outside of functions, and static ones inside.

use std::sync::Arc;

use gimli::{AttributeValue, Operation};

use super::scopes::line;
use crate::entries::Entry;
use crate::types::{TypeId, Types};

/// A variable whose address, type and declaration are known.
pub(crate) struct FixedVariable {
    /// Without namespaces.
    pub name: Arc<str>,
    /// The function that it is static in.
    pub function: Option<Arc<str>>,
    /// In the object.
    pub address: u64,
    /// Where it is declared.
    pub file: Arc<str>,
    pub line: u32,
    pub of: TypeId,
    /// The unit that defines it.
    pub unit: u32,
}

/// Those of all units, by address.
pub(crate) fn fixed_variables(types: &Types<'_>) -> Vec<FixedVariable> {
    let mut found = Vec::new();
    for unit in types.debug.units() {
        add_unit(types, unit, &mut found);
    }
    found.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    found
}

fn add_unit(types: &Types<'_>, unit: u32, found: &mut Vec<FixedVariable>) {
    let Some(root) = types.debug.root(unit) else { return };
    // Those around the current entry, with their depths.
    let mut functions: Vec<(isize, Entry<'_>)> = Vec::new();
    for (depth, entry) in root.inside(&[gimli::DW_TAG_subprogram, gimli::DW_TAG_variable]) {
        while functions.pop_if(|(around, _)| *around >= depth).is_some() {}
        if entry.tag() == gimli::DW_TAG_subprogram {
            functions.push((depth, entry));
        } else {
            found.extend(variable(types, &entry, functions.last().map(|(_, function)| function)));
        }
    }
}

fn variable(types: &Types<'_>, entry: &Entry<'_>, function: Option<&Entry<'_>>) -> Option<FixedVariable> {
    // Linkers put at address 0 what they dropped.
    let address = fixed_address(entry).filter(|address| *address != 0)?;
    let chain = entry.chain();
    Some(FixedVariable {
        name: Arc::from(chain.iter().find_map(Entry::own_name)?),
        function: function.and_then(Entry::name).map(Arc::from),
        address,
        file: Arc::from(chain.iter().find_map(file)?),
        line: line(&chain)?,
        of: types.id(entry.typed()?),
        unit: entry.die.unit,
    })
}

/// The path of the file that an entry says it is declared in. Files are numbered by units.
fn file(entry: &Entry<'_>) -> Option<String> {
    entry.debug.file(entry.die.unit, entry.unit, entry.unsigned(gimli::DW_AT_decl_file)?)
}

/// The address in the object that a location says without a running program.
pub(super) fn fixed_address(entry: &Entry<'_>) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = entry.attribute(gimli::DW_AT_location)? else { return None };
    let mut operations = expression.operations(entry.unit.encoding());
    let mut address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => {
            entry.debug.dwarf(entry.die.unit).address(entry.unit, index).ok()?
        }
        _ => return None,
    };
    while let Some(operation) = operations.next().ok()? {
        match operation {
            Operation::PlusConstant { value } => address = address.wrapping_add(value),
            // Anything else makes a value of the address.
            _ => return None,
        }
    }
    Some(address)
}
