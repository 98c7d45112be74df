//! The functions and blocks around an instruction, with the variables that each declares.

use super::fixed::fixed_address;
use super::{Call, Scope, Variable, VariableKind};
use crate::debug_info::DebugInfo;
use crate::entries::{DEEPEST, Die, Entry};
use crate::lines;
use crate::types::Types;

/// Functions with more variables are the work of generators; a person does not look at them all.
const MOST_VARIABLES: usize = 1 << 16;

/// The functions at an address of the object, innermost first; empty without debug information.
pub(crate) fn calls(info: &DebugInfo, types: &Types<'_>, address: u64) -> Vec<Call> {
    let debug = types.debug;
    let Some(function) = info.function_at(address) else { return Vec::new() };
    let mut walk = Walk { types, address, function: function.die, calls: Vec::new(), count: 0 };
    walk.calls.push(call(&function, false));
    walk.enter(&function, 0);
    let mut calls = walk.calls;
    calls.reverse();
    let frames = lines::frames(info, address);
    for (call, frame) in calls.iter_mut().zip(frames) {
        call.position = frame.position;
    }
    if let Some(innermost) = calls.first_mut() {
        innermost.position = debug.position(function.die.unit, address);
    }
    calls
}

fn call(entry: &Entry<'_>, is_inlined: bool) -> Call {
    Call { function: entry.function_name(), position: None, is_inlined, scopes: Vec::new() }
}

/// The variables of one block, without those of the blocks inside of it.
pub(super) fn variables(types: &Types<'_>, entry: &Entry<'_>, function: Die, scope: &mut Scope) {
    let mut walk = Walk { types, address: 0, function, calls: Vec::new(), count: 0 };
    walk.collect(entry, scope, &mut Vec::new(), 0);
}

struct Walk<'a> {
    types: &'a Types<'a>,
    address: u64,
    function: Die,
    /// Outermost first.
    calls: Vec<Call>,
    count: usize,
}

impl<'a> Walk<'a> {
    /// Adds the scope of `entry`, then the scopes inside of it that hold the address.
    fn enter(&mut self, entry: &Entry<'a>, depth: usize) {
        let mut scope = Scope::default();
        let mut inner = Vec::new();
        self.collect(entry, &mut scope, &mut inner, depth);
        if let Some(call) = self.calls.last_mut() {
            call.scopes.insert(0, scope);
        }
        if depth == DEEPEST {
            return;
        }
        if let Some(next) = inner.into_iter().next() {
            if next.tag() == gimli::DW_TAG_inlined_subroutine {
                self.calls.push(call(&next, true));
            }
            self.enter(&next, depth + 1);
        }
    }

    /// The variables of one scope, and the entries inside of it that hold the address.
    fn collect(&mut self, entry: &Entry<'a>, scope: &mut Scope, inner: &mut Vec<Entry<'a>>, depth: usize) {
        let mut instances: Vec<Die> = Vec::new();
        origins(entry, &mut instances, depth);
        for child in entry.children() {
            match child.tag() {
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable => self.add(&child, scope),
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                    if child.covers(self.address) {
                        inner.push(child);
                    } else if is_without_code(&child) && depth < DEEPEST {
                        // Its variables are those of the scope around it.
                        self.collect(&child, scope, inner, depth + 1);
                    }
                }
                _ => {}
            }
        }
        if let Some(origin) =
            entry.refers(gimli::DW_AT_abstract_origin).and_then(|die| entry.debug.entry(die))
        {
            self.inherit(&origin, &instances, scope, depth);
        }
    }

    /// What the function that was inlined or cloned has, and its instance has not: variables that
    /// optimisation removed, and static ones.
    fn inherit(&mut self, origin: &Entry<'a>, instances: &[Die], scope: &mut Scope, depth: usize) {
        if depth >= DEEPEST {
            return;
        }
        for child in origin.children() {
            if instances.contains(&child.die) {
                continue;
            }
            match child.tag() {
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable => self.add(&child, scope),
                gimli::DW_TAG_lexical_block if !has_instance(&child, instances, depth) => {
                    self.inherit(&child, instances, scope, depth + 1);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, entry: &Entry<'a>, scope: &mut Scope) {
        let chain = entry.chain();
        // Declared here, defined elsewhere.
        let is_elsewhere = entry.flag(gimli::DW_AT_declaration);
        let Some(name) = chain.iter().find_map(Entry::own_name).filter(|_| !is_elsewhere) else { return };
        if self.count == MOST_VARIABLES {
            return;
        }
        self.count += 1;
        let kind = match entry.tag() {
            gimli::DW_TAG_formal_parameter => VariableKind::Parameter,
            _ if chain.iter().any(|entry| fixed_address(entry).is_some()) => VariableKind::FunctionStatic,
            _ => VariableKind::Local,
        };
        scope.variables.push(Variable {
            name,
            kind,
            of: entry.typed().map(|die| self.types.id(die)),
            line: line(&chain),
            is_artificial: chain.iter().any(|entry| entry.flag(gimli::DW_AT_artificial)),
            object: self.types.object,
            die: entry.die,
            function: Some(self.function),
        });
    }
}

/// What the entries inside of a scope are instances of. Blocks are looked into, because clang does not say what a
/// block is an instance of, only what its variables are.
fn origins(entry: &Entry<'_>, into: &mut Vec<Die>, depth: usize) {
    if depth >= DEEPEST || into.len() >= MOST_VARIABLES {
        return;
    }
    for child in entry.children() {
        into.extend(child.chain().iter().skip(1).map(|origin| origin.die));
        if child.tag() == gimli::DW_TAG_lexical_block {
            origins(&child, into, depth + 1);
        }
    }
}

/// Whether something in a block has an instance; then the block has, too.
fn has_instance(block: &Entry<'_>, instances: &[Die], depth: usize) -> bool {
    depth < DEEPEST
        && block.children().iter().any(|child| {
            instances.contains(&child.die)
                || child.tag() == gimli::DW_TAG_lexical_block && has_instance(child, instances, depth + 1)
        })
}

fn is_without_code(entry: &Entry<'_>) -> bool {
    entry.tag() == gimli::DW_TAG_lexical_block
        && !entry.has(gimli::DW_AT_low_pc)
        && !entry.has(gimli::DW_AT_ranges)
}

pub(super) fn line(chain: &[Entry<'_>]) -> Option<u32> {
    let line = chain.iter().find_map(|entry| entry.unsigned(gimli::DW_AT_decl_line))?;
    u32::try_from(line).ok().filter(|line| *line != 0)
}
