//! Which functions never return.
//!
//! Those of other objects are known by name. Those of the same object are looked into: a function returns when
//! some way through it ends in a return, and all calls on that way return. Where that cannot be told, it is
//! taken to return.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use lift::Op;

use super::declared;
use super::extent::Extent;
use super::flow::{self, Callee, Flow};
use super::memory;
use crate::demangle::demangle;
use crate::object_file::ObjectFile;

/// One question looks at no more instructions than this.
const MOST_INSTRUCTIONS: usize = 50_000;

/// One question looks no deeper into calls than this.
const MOST_DEPTH: usize = 64;

/// Names that the C standard or the implementation reserves, so that they mean the same wherever they are
/// defined.
const RESERVED: [&str; 25] = [
    "_Exit",
    "_Unwind_Resume",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_unexpected",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "__fortify_fail",
    "__libc_fatal",
    "__longjmp_chk",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "_dl_fatal_printf",
    "_exit",
    "_longjmp",
    "abort",
    "exit",
    "longjmp",
    "quick_exit",
    "siglongjmp",
];

/// Names that a program may use for something else, so they count only when another object defines them.
const IMPORTED: [&str; 6] = ["err", "errx", "pthread_exit", "thrd_exit", "verr", "verrx"];

/// Functions of the C library that print a message and end the program if their first argument is not 0.
pub(super) const EXITS_UNLESS_ZERO: [&str; 2] = ["error", "error_at_line"];

/// Names of the C++ and Rust libraries, as they are demangled, begin like this.
const DEMANGLED: [&str; 17] = [
    "std::__throw_",
    "std::terminate()",
    "std::unexpected()",
    "core::panicking::",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
    "core::slice::index::slice_",
    "core::str::slice_error_fail",
    "core::cell::panic_already_",
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::raw_vec::handle_error",
    "std::panicking::begin_panic",
    "std::process::abort",
    "std::process::exit",
    "rust_begin_unwind",
];

/// What is known about the functions of one object, by their start.
#[derive(Default)]
pub(crate) struct Returning {
    known: RefCell<HashMap<u64, bool>>,
}

/// Whether the call at `from` can return.
pub(super) fn call_returns(object: &ObjectFile, callee: Callee, from: u64) -> bool {
    match callee {
        Callee::Address(target) => {
            Question { object, stack: Vec::new(), instructions: 0, ops: Vec::new() }.ask(target, from)
        }
        Callee::Slot(slot) => match object.relocations().linked(slot) {
            Some(target) => call_returns(object, Callee::Address(target), from),
            None => slot_returns(object, slot, from),
        },
        Callee::Unknown => true,
    }
}

/// The name of what another object defines and a call goes to.
pub(super) fn imported(object: &ObjectFile, callee: Callee) -> Option<&str> {
    let slot = match callee {
        Callee::Address(target) => memory::stub_slot(object, target)?,
        Callee::Slot(slot) => slot,
        Callee::Unknown => return None,
    };
    object.relocations().import(object, slot)
}

/// Whether what the slot leads to can return, as far as its name tells.
fn slot_returns(object: &ObjectFile, slot: u64, from: u64) -> bool {
    let name = object.relocations().import(object, slot);
    name.is_none_or(|name| {
        EXITS_UNLESS_ZERO.contains(&name)
            || !is_reserved(name)
                && !IMPORTED.contains(&name)
                && (is_of_implementation(name) || !declared::never_returns(object, from, name))
    })
}

/// Whether no program may call a function of its own so; mangled names are another matter. The debug information of the C
/// library would have to be opened to learn how it declares them.
fn is_of_implementation(name: &str) -> bool {
    matches!(name.as_bytes(), [b'_', b'_' | b'a'..=b'z', ..])
}

fn is_reserved(name: &str) -> bool {
    let is_known = |name: &str| DEMANGLED.iter().any(|prefix| name.starts_with(prefix));
    RESERVED.binary_search(&name).is_ok()
        || is_known(name)
        || demangle(name).is_some_and(|full| is_known(&full))
}

/// A function that is being looked into.
struct Frame<'a> {
    start: u64,
    extent: Extent<'a>,
    seen: HashSet<u64>,
    pending: Vec<u64>,
    /// Calls on which it depends whether there is a way on: the callee, and where that way begins. `None` is
    /// the end of the function itself.
    calls: Vec<(u64, Option<u64>)>,
    /// It was taken for granted that a function further up does not return.
    assumes: bool,
}

/// What following a way led to.
enum Way {
    Returns,
    Ends,
}

struct Question<'a> {
    object: &'a ObjectFile,
    stack: Vec<Frame<'a>>,
    instructions: usize,
    ops: Vec<Op>,
}

impl<'a> Question<'a> {
    /// Whether the function that begins at `target`, called at `from`, can return.
    fn ask(mut self, target: u64, from: u64) -> bool {
        if let Some(answer) = self.answer_at_once(target, from) {
            return answer;
        }
        if !self.enter(target) {
            return true;
        }
        // Each round leaves a function, enters one, or goes on in one.
        while let Some(frame) = self.stack.last_mut() {
            if let Some(address) = frame.pending.pop() {
                match self.follow(address) {
                    Some(Way::Returns) => _ = self.leave(true),
                    Some(Way::Ends) => {}
                    None => return true,
                }
            } else if let Some((callee, next)) = frame.calls.pop() {
                let from = next.map_or(frame.start, |next| next.wrapping_sub(1));
                if self.stack.iter().any(|frame| frame.start == callee) {
                    self.assume(callee);
                } else if let Some(answer) = self.answer_at_once(callee, from) {
                    self.learn(answer, next);
                } else {
                    self.stack.last_mut().into_iter().for_each(|frame| frame.calls.push((callee, next)));
                    if self.stack.len() >= MOST_DEPTH || !self.enter(callee) {
                        return true;
                    }
                }
            } else if let Some(answer) = self.leave(false) {
                return answer;
            }
            if self.stack.is_empty() {
                return true;
            }
        }
        true
    }

    /// A call to a function that is being looked into: its shortest way to a return does not lead through
    /// itself, so for the question whether it returns, this call does not.
    fn assume(&mut self, callee: u64) {
        let from = self.stack.iter().position(|frame| frame.start == callee).unwrap_or(0);
        self.stack.iter_mut().skip(from + 1).for_each(|frame| frame.assumes = true);
    }

    fn learn(&mut self, returns: bool, next: Option<u64>) {
        match (returns, next, self.stack.last_mut()) {
            (true, Some(next), Some(frame)) => frame.pending.push(next),
            (true, None, Some(_)) => _ = self.leave(true),
            _ => {}
        }
    }

    /// Finishes the innermost function. An answer for the function that was asked about first is returned.
    fn leave(&mut self, returns: bool) -> Option<bool> {
        let frame = self.stack.pop()?;
        if returns || !frame.assumes {
            self.object.returning().known.borrow_mut().insert(frame.start, returns);
        }
        let Some(caller) = self.stack.last_mut() else { return Some(returns) };
        let (_, next) = caller.calls.pop()?;
        self.learn(returns, next);
        None
    }

    fn enter(&mut self, start: u64) -> bool {
        let Some(extent) = Extent::from(self.object, start) else { return false };
        let (seen, pending, calls) = (HashSet::new(), vec![start], Vec::new());
        self.stack.push(Frame { start, extent, seen, pending, calls, assumes: false });
        true
    }

    fn answer_at_once(&self, target: u64, from: u64) -> Option<bool> {
        if let Some(known) = self.object.returning().known.borrow().get(&target) {
            return Some(*known);
        }
        if let Some(slot) = memory::stub_slot(self.object, target) {
            // A slot for a function of this very object is not followed, to stay within this loop.
            return Some(slot_returns(self.object, slot, from));
        }
        let symbols = self.object.symbols();
        let symbol = symbols.at(self.object, target).filter(|symbol| symbol.address == target);
        (symbol.is_some_and(|symbol| is_reserved(symbol.name))).then_some(false)
    }

    /// Follows the innermost function from `address` on; `None` when it has gone on for too long.
    fn follow(&mut self, mut address: u64) -> Option<Way> {
        let frame = self.stack.last_mut()?;
        while frame.seen.insert(address) {
            self.instructions += 1;
            if self.instructions > MOST_INSTRUCTIONS {
                return None;
            }
            let Some(step) =
                self.object.bytes_at(address).and_then(|bytes| flow::step(bytes, address, &mut self.ops))
            else {
                return Some(Way::Ends);
            };
            let next = address.wrapping_add(u64::from(step.length));
            match step.flow {
                Flow::On => {}
                Flow::Jump(target) | Flow::Branch(target) => {
                    if frame.extent.takes(target) {
                        frame.pending.push(target);
                    } else {
                        frame.calls.push((target, None));
                    }
                    if matches!(step.flow, Flow::Jump(_)) {
                        return Some(Way::Ends);
                    }
                }
                Flow::Call(Callee::Address(target)) if target != next => {
                    if frame.extent.contains(next) {
                        frame.calls.push((target, Some(next)));
                    }
                    return Some(Way::Ends);
                }
                Flow::Call(Callee::Slot(slot)) if !slot_returns(self.object, slot, address) => {
                    return Some(Way::Ends);
                }
                Flow::Call(_) => {}
                Flow::Return | Flow::IndirectJump => return Some(Way::Returns),
                Flow::Stop => return Some(Way::Ends),
            }
            if !frame.extent.contains(next) {
                // It runs into what follows it; a call there would not have returned.
                if matches!(step.flow, Flow::On | Flow::Branch(_)) {
                    frame.calls.push((next, None));
                }
                return Some(Way::Ends);
            }
            address = next;
        }
        Some(Way::Ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_for_the_search() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn names_of_all_languages_are_known() {
        for name in ["exit", "_ZSt17__throw_bad_allocv", "_ZN4core9panicking5panic17h0123456789abcdefE"] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["exit_early", "printf", "_ZN4core3fmt5write17h0123456789abcdefE"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
