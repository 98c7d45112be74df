//! What functions returned that a condition asked.
//!
//! Nothing of it is left in variables, so the code right before the decision is run once more: where a call of the same statement
//! comes back, its result is in a register.

use lift::{Op, Reg, Value};
use machine::{Pass, Time, Trace};
use program::{Encoding, Place, Program, State, Stmt, Trust, TrustReason, TypeId, TypeKind};

use super::Known;
use super::describe::{plain_name, printed};
use super::mentions::call_texts;
use super::truth;
use crate::Recording;
use crate::dependence::Code;
use crate::events::{Ending, Shapes};

/// Calls are looked for so many instructions back.
const FURTHEST: u64 = 1 << 14;
/// Types within types that are looked through.
const DEEPEST: usize = 16;
/// By DWARF's numbers.
const RAX: u16 = 0;
const XMM0: u16 = 17;

/// A call that came back.
struct Call {
    /// The functions that it led through: what links objects, then the function itself.
    entries: Vec<u64>,
    /// When the caller went on.
    back: Time,
    /// How many bytes of the result it looked at, if that is known.
    taken: Option<u64>,
}

/// The calls in a condition that was decided at `time`, with what they returned.
pub(super) fn returned(
    recording: &mut Recording,
    code: &mut Code<'_>,
    time: Time,
    condition: &str,
) -> Vec<Known> {
    let mut texts = call_texts(condition);
    let unordered = unordered(condition);
    texts.retain(|(name, _)| !unordered.contains(name));
    if texts.is_empty() {
        return Vec::new();
    }
    let program = code.program();
    let calls = calls(recording, program, time);
    let mut found = Vec::new();
    for call in &calls {
        let names: Vec<String> = call.entries.iter().filter_map(|entry| name_of(program, *entry)).collect();
        // Functions of libraries may have other names than the source knows, or none.
        let only = (texts.len() == 1 && calls.len() == 1 && unordered.is_empty()).then_some(0);
        let is_named = |(name, _): &(&str, &str)| names.iter().any(|known| last_part(known) == *name);
        let Some(place) = texts.iter().position(is_named).or(only) else { continue };
        let (_, text) = texts.remove(place);
        let process = recording.at(call.back);
        let state = State::of(&process.machine);
        if let Some(value) = value(program, call, declared(code, call), &state) {
            found.push(Known { name: text.to_owned(), value: Some(value) });
        }
    }
    found
}

/// The functions that a condition calls several times without saying in which order: compilers choose the order of arguments and of
/// operands, and only `&&` and `||` keep that of the text.
fn unordered(condition: &str) -> Vec<&str> {
    for sign in ["||", "&&"] {
        if let Some((left, right)) = truth::split(condition, sign) {
            return [unordered(left), unordered(right)].concat();
        }
    }
    let calls = call_texts(condition);
    let names = calls.iter().map(|(name, _)| *name);
    names.filter(|name| calls.iter().filter(|(other, _)| other == name).count() > 1).collect()
}

/// The calls that the statement at `time` has made in this activation and that have come back, in order.
fn calls(recording: &mut Recording, program: &Program, time: Time) -> Vec<Call> {
    let start = Time(time.0.saturating_sub(FURTHEST)).max(recording.start());
    let own = program.statement_at(recording.at(time).machine.cpu.rip);
    let mut trace = Trace::new();
    // With the decision itself: what looks at a result may be in its block.
    recording.at(start).run_traced(Time(time.0.saturating_add(1)), &mut trace);
    let mut shapes = Shapes::default();
    let mut calls: Vec<Call> = Vec::new();
    let mut depth = 0usize;
    let mut later: Option<Pass<'_>> = None;
    // Where the statement's own code went on.
    let mut own_later = u64::MAX;
    let is_own = |address: &u64| is_line_of(program, *address, own.as_ref());
    for pass in trace.backward() {
        let shape = shapes.of(&pass);
        match shape.ending {
            Ending::Return { .. } => {
                if depth == 0 {
                    let back = later.as_ref().map_or(time, |later| later.time);
                    let taken = later.as_ref().and_then(taken);
                    calls.push(Call { entries: Vec::new(), back, taken });
                }
                depth += 1;
            }
            Ending::Call { .. } if depth == 1 && !is_own(&shape.last()) => {
                // The statement before made it, and comes back to code that has a part of this one.
                calls.pop();
                depth = 0;
                break;
            }
            Ending::Call { .. } => match depth.checked_sub(1) {
                Some(around) => depth = around,
                None => break,
            },
            _ => {}
        }
        match (depth, calls.last_mut()) {
            (0, _) if !shape.addresses().iter().any(is_own) => break,
            // A round of a loop that is all in one line was before.
            (0, _) if own_later < shape.start() => break,
            (0, _) => own_later = shape.start(),
            (1, Some(call)) => call.entries.push(shape.start()),
            _ => {}
        }
        later = Some(pass);
    }
    // One that was under way already at the start of what was looked at has not been seen to be called.
    if depth > 0 {
        calls.pop();
    }
    calls.reverse();
    calls
}

fn is_line_of(program: &Program, address: u64, own: Option<&Stmt>) -> bool {
    let found = program.statement_at(address);
    found.zip(own).is_some_and(|(found, own)| found.line == own.line && found.function == own.function)
}

/// How much of a result is looked at by what comes right after the call.
fn taken(after: &Pass<'_>) -> Option<u64> {
    for op in after.forward().flat_map(|executed| executed.ops) {
        let (mut reads, mut writes) = (false, false);
        op.reads(|reg| reads |= reg == Reg::RAX);
        op.writes(|reg| writes |= reg == Reg::RAX);
        if reads {
            return size_of(op);
        }
        if writes {
            return None;
        }
    }
    None
}

fn size_of(op: &Op) -> Option<u64> {
    match op {
        Op::Binary { size, .. }
        | Op::Unary { size, .. }
        | Op::ZeroExtend { size, .. }
        | Op::SignExtend { from: size, .. }
        | Op::Flags { size, .. }
        | Op::Store { size, src: Value::Reg(Reg::RAX), .. } => Some(size.bytes()),
        Op::Move { .. } => Some(8),
        _ => None,
    }
}

fn name_of(program: &Program, entry: u64) -> Option<String> {
    program.locate(entry).function_name().map(plain_name)
}

fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// What a call returned, by the type that the function declares or else by how it was used. Of a pointer to something only that
/// it is one is known, which tells nothing.
fn value(
    program: &Program,
    call: &Call,
    declared: Option<(TypeId, bool)>,
    state: &State<'_>,
) -> Option<String> {
    if let Some((of, is_float)) = declared {
        let place = Place::Register(if is_float { XMM0 } else { RAX });
        return Some(printed(program, of, &place, state))
            .filter(|text| !text.starts_with("0x") && !text.starts_with('<'));
    }
    let rax = state.registers().get(RAX)?;
    let is_pointer = state.read(rax, &mut [0]);
    match call.taken? {
        1 => Some(rax.to_le_bytes()[0].to_string()),
        4 => Some((rax as u32 as i32).to_string()),
        8 if !is_pointer => Some((rax as i64).to_string()),
        _ => None,
    }
}

/// The type that a function returns, and whether that is in a vector register. What the system's libraries are described to return is not
/// asked for: on most machines they are not described.
fn declared(code: &Code<'_>, call: &Call) -> Option<(TypeId, bool)> {
    let is_foreign = |entry: &u64| code.trust(*entry) == Trust::Trusted(TrustReason::SystemLibrary);
    call.entries.iter().filter(|entry| !is_foreign(entry)).find_map(|entry| {
        let of = code.program().returned_at(*entry)?;
        Some((of, is_float(code.program(), of)?))
    })
}

/// Whether a value is returned in a vector register; `None` if it is not in one register.
fn is_float(program: &Program, of: TypeId) -> Option<bool> {
    let mut of = Some(of);
    for _ in 0..DEEPEST {
        let found = of.and_then(|id| program.type_of(id))?;
        of = match &found.kind {
            TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } => *of,
            TypeKind::Base(Encoding::Float) => return (found.size? <= 8).then_some(true),
            TypeKind::Base(Encoding::ComplexFloat | Encoding::Other) => return None,
            TypeKind::Base(_) => return (found.size? <= 8).then_some(false),
            TypeKind::Pointer { .. } | TypeKind::Enum { .. } => return Some(false),
            _ => return None,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unordered;

    #[test]
    fn calls_of_one_function_are_in_order_only_where_the_language_says_so() {
        for (condition, expected) in [
            ("f(g(a), g(b)) > 20", &["g", "g"][..]),
            ("f(a) == f(b)", &["f", "f"]),
            ("x || f(a) < f(b)", &["f", "f"]),
            ("f(a) == 0 || f(b) == 0", &[]),
            ("f(a) && g(b) && f(c)", &[]),
            ("f(a) == g(b)", &[]),
        ] {
            assert_eq!(unordered(condition), expected, "{condition}");
        }
    }
}
