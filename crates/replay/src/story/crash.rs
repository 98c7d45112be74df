//! What to ask about a run that ended badly: the address that was wrong, or the way that led there.

use lift::{Address, Decoded, Op, Reg, Value};
use linux::Exit;
use machine::{Access, Core, FaultKind, Time};
use program::{Program, State, Stmt, SymbolError};

use super::arrivals::last_execution;
use super::ask::{AskError, Asked, Subject};
use crate::Recording;
use crate::dependence::{Cell, Code, Question, StmtId};

/// So many frames are looked at for one that is in scope.
const MOST_FRAMES: usize = 256;

pub(super) fn ask(recording: &mut Recording, code: &mut Code<'_>) -> Result<Asked, AskError> {
    let end = recording.end();
    let (signal, fault) = match recording.exit() {
        Exit::Exited(status) => {
            let status = *status;
            return ask_panic(recording, code).ok_or(AskError::NoCrash { status });
        }
        Exit::Killed { signal, fault } => (Some(*signal), *fault),
        _ => (None, None),
    };
    let mut time = end;
    let mut cells = Vec::new();
    if let Some(fault) = fault {
        let is_fetch = matches!(fault.kind, FaultKind::Memory(memory) if memory.access == Access::Execute);
        // Nobody can execute what is not there: the jump before is what matters.
        time = if is_fetch { Time(end.0.saturating_sub(1)) } else { fault.time };
        let process = recording.at(time);
        let ops = ops_at(&process.machine);
        let is_call = process.machine.hooks().get(process.machine.cpu.rip).is_some();
        cells = match fault.kind {
            FaultKind::Misuse => vec![Cell::Register(Reg::RDI, 0xff)],
            FaultKind::Memory(_) if is_call => pointers(&process.machine, &[]),
            FaultKind::Memory(_) if ops.last() == Some(&Op::Syscall) => {
                pointers(&process.machine, &[Reg::RDX])
            }
            FaultKind::Memory(_) if !is_fetch => address_cells(&ops),
            _ => decided_by(&ops, &process.machine),
        };
    }
    let stmt = recording.statement_under_way(code, time);
    let question = Question { time, cells, why_here: true };
    Ok(Asked { question, subject: Subject::Crash { signal }, stmt, hit: None })
}

impl Recording {
    /// The innermost statement in scope at an instant.
    pub fn statement_under_way(&mut self, code: &mut Code<'_>, time: Time) -> Option<Stmt> {
        let process = self.at(time);
        let state = State::of(&process.machine);
        let frames = code.program().backtrace_of(&state, MOST_FRAMES).frames;
        let found =
            frames.iter().map(|frame| code.statement_of_frame(frame)).find(|stmt| *stmt != StmtId::NONE);
        found.and_then(|stmt| code.statement(stmt).cloned())
    }
}

/// Where every panic of Rust comes through, as newer compilers name it and as older ones do.
const PANICS: [&str; 2] = ["__rustc::rust_begin_unwind", "rust_begin_unwind"];

/// The address of a symbol of the program itself. Who prints a backtrace may have mapped its file once more, to read it.
fn own_symbol(program: &Program, name: &str) -> Option<u64> {
    match program.find_symbol(name) {
        Ok(found) => Some(found.address),
        Err(SymbolError::Ambiguous { candidates, .. }) => {
            let own = candidates.iter().find(|found| Some(&found.object) == program.main_object());
            own.map(|found| found.address)
        }
        Err(_) => None,
    }
}

/// The instruction with which every panic of a program of Rust begins.
pub fn panic_entry(program: &Program) -> Option<u64> {
    PANICS.iter().find_map(|name| own_symbol(program, name))
}

/// A program of Rust that panicked exits like any other: what led to the panic is what matters.
fn ask_panic(recording: &mut Recording, code: &mut Code<'_>) -> Option<Asked> {
    let time = last_execution(recording, panic_entry(code.program())?)?;
    let stmt = recording.statement_under_way(code, time);
    let question = Question { time, cells: Vec::new(), why_here: true };
    Some(Asked { question, subject: Subject::Crash { signal: None }, stmt, hit: None })
}

/// The ops of the instruction that is next.
fn ops_at(core: &Core) -> Vec<Op> {
    let mut bytes = [0; lift::MAX_INSTRUCTION];
    let available = core.memory.fetch(core.cpu.rip, &mut bytes);
    let mut ops = Vec::new();
    if let Some(Decoded::Instruction(instruction)) =
        bytes.get(..available).map(|code| lift::decode(code, core.cpu.rip))
    {
        lift::lift(&instruction, &mut ops);
    }
    ops
}

/// The arguments of a call that lead into the heap, and others that matter.
fn pointers(core: &Core, others: &[Reg]) -> Vec<Cell> {
    let leads_there = |reg: &&Reg| linux::HEAP.contains(&core.cpu.get(**reg));
    let arguments = [Reg::RDI, Reg::RSI, Reg::RDX];
    let mut registers: Vec<Reg> = arguments.iter().filter(leads_there).chain(others).copied().collect();
    registers.dedup();
    registers.into_iter().map(|reg| Cell::Register(reg, 0xff)).collect()
}

/// The registers that addresses are made of.
fn address_cells(ops: &[Op]) -> Vec<Cell> {
    let mut registers: Vec<Reg> = Vec::new();
    for op in ops {
        match op {
            Op::Load { address, .. }
            | Op::LoadVector { address, .. }
            | Op::Store { address, .. }
            | Op::StoreVector { address, .. }
            | Op::LoadExtended { address, .. }
            | Op::StoreExtended { address, .. }
            | Op::Helper { address, .. } => registers.extend([address.base, address.index]),
            Op::String { .. } => registers.extend([Reg::RSI, Reg::RDI]),
            _ => {}
        }
    }
    registers.retain(|reg| reg.is_general());
    registers.sort_by_key(|reg| reg.0);
    registers.dedup();
    registers.into_iter().map(|reg| Cell::Register(reg, 0xff)).collect()
}

/// What a division divides by, a jump goes to, or else all that the instruction reads.
fn decided_by(ops: &[Op], core: &Core) -> Vec<Cell> {
    let deciding = ops.iter().find_map(|op| match op {
        Op::Divide { divisor, .. } => Some(source(*divisor, ops, core)),
        Op::Call { target: Value::Reg(target), .. } | Op::Jump { target: Value::Reg(target) } => {
            Some(source(*target, ops, core))
        }
        Op::Return { .. } => Some(Some(Cell::Memory { address: core.cpu.get(Reg::RSP), length: 8 })),
        _ => None,
    });
    match deciding {
        Some(cell) => cell.into_iter().collect(),
        None => {
            let mut cells = Vec::new();
            for op in ops {
                op.reads(|reg| cells.extend(source(reg, ops, core)));
            }
            cells
        }
    }
}

/// Where the value of a slot is before the instruction: a temporary's in what it was loaded from.
fn source(reg: Reg, ops: &[Op], core: &Core) -> Option<Cell> {
    if !reg.is_temp() {
        return Some(Cell::Register(reg, 0xff));
    }
    ops.iter().find_map(|op| match op {
        Op::Load { dst, size, address } if *dst == reg => {
            Some(Cell::Memory { address: effective(address, core), length: size.bytes() })
        }
        Op::SignExtend { dst, src, .. } | Op::ZeroExtend { dst, src, .. } if *dst == reg && *src != reg => {
            (!src.is_temp()).then_some(Cell::Register(*src, 0xff))
        }
        Op::Move { dst, src: Value::Reg(src) } if *dst == reg && !src.is_temp() => {
            Some(Cell::Register(*src, 0xff))
        }
        _ => None,
    })
}

fn effective(address: &Address, core: &Core) -> u64 {
    let index = core.cpu.get(address.index).wrapping_shl(u32::from(address.shift));
    let sum = core.cpu.get(address.base).wrapping_add(index).wrapping_add_signed(address.displacement);
    let sum = if address.narrow { sum & u64::from(u32::MAX) } else { sum };
    sum.wrapping_add(core.cpu.get(address.segment))
}
