//! Variables outside of functions.

use super::scopes::line;
use super::{Variable, VariableKind};
use crate::entries::Die;
use crate::types::Types;

/// The variable of an entry that is in no function.
pub(crate) fn global(types: &Types<'_>, die: Die) -> Option<Variable> {
    let entry = types.debug.entry(die)?;
    let chain = entry.chain();
    let is_external = chain.iter().any(|entry| entry.flag(gimli::DW_AT_external));
    // Where a definition completes a declaration, its own type is the more complete one.
    Some(Variable {
        name: entry.qualified_name()?,
        kind: if is_external { VariableKind::Global } else { VariableKind::FileStatic },
        of: entry.typed().map(|die| types.id(die)),
        line: line(&chain),
        is_artificial: chain.iter().any(|entry| entry.flag(gimli::DW_AT_artificial)),
        object: types.object,
        die,
        function: None,
    })
}
