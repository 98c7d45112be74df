//! What debug information says about the calls that a function makes.

use crate::entries::{DEEPEST, Entry};

/// Real functions jump to a handful of others; who has more is generated, and nothing is said about it.
const MOST_LAST_CALLS: usize = 64;

/// The call site that returns to an address of the object, in a function or anything inside of it.
pub(crate) fn returning_to<'a>(function: &Entry<'a>, address: u64) -> Option<Entry<'a>> {
    let mut found = None;
    visit(function, 0, &mut |site| {
        if found.is_none() && return_address(&site) == Some(address) {
            found = Some(site);
        }
    });
    found
}

/// The calls that a function makes by jumps, as its last acts; `None` when there are too many. A function of which
/// debug information does not say that it tells all of them counts as having none, as compilers that know nothing of
/// such calls do not make them either.
pub(crate) fn last_calls<'a>(function: &Entry<'a>) -> Option<Vec<Entry<'a>>> {
    let all = [
        gimli::DW_AT_call_all_calls,
        gimli::DW_AT_call_all_tail_calls,
        gimli::DW_AT_GNU_all_call_sites,
        gimli::DW_AT_GNU_all_tail_call_sites,
    ];
    let mut found = Vec::new();
    if all.into_iter().any(|name| function.flag(name)) {
        visit(function, 0, &mut |site| {
            let is_last = site.flag(gimli::DW_AT_call_tail_call) || site.flag(gimli::DW_AT_GNU_tail_call);
            if is_last && found.len() <= MOST_LAST_CALLS {
                found.push(site);
            }
        });
    }
    (found.len() <= MOST_LAST_CALLS).then_some(found)
}

/// Where a call returns to; of a jump, where the instruction ends.
pub(crate) fn return_address(site: &Entry<'_>) -> Option<u64> {
    site.address(gimli::DW_AT_call_return_pc).or_else(|| site.address(gimli::DW_AT_low_pc))
}

/// The function that is called, unless it is decided when the program runs.
pub(crate) fn callee<'a>(site: &Entry<'a>) -> Option<Entry<'a>> {
    let names = [gimli::DW_AT_call_origin, gimli::DW_AT_abstract_origin];
    site.debug.entry(names.into_iter().find_map(|name| site.refers(name))?)
}

/// The name that a linker knows a function by.
pub(crate) fn linkage_name(function: &Entry<'_>) -> Option<String> {
    let chain = function.chain();
    chain.iter().find_map(|entry| entry.text(gimli::DW_AT_linkage_name)).or_else(|| function.name())
}

fn visit<'a>(scope: &Entry<'a>, depth: usize, each: &mut dyn FnMut(Entry<'a>)) {
    for child in scope.children() {
        match child.tag() {
            gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site => each(child),
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine if depth < DEEPEST => {
                visit(&child, depth + 1, each);
            }
            _ => {}
        }
    }
}
