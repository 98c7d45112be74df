//! What an instruction that faulted had its fault from.

use std::ops::Range;

use lift::{Address, Decoded, Op, Reg};
use machine::{FaultKind, Machine};

/// The registers and the memory that decided about a fault of the instruction at rip.
#[derive(Default)]
pub struct Operands {
    pub slots: Vec<Reg>,
    pub memory: Vec<Range<u64>>,
}

pub fn operands(machine: &Machine, kind: FaultKind) -> Operands {
    let mut bytes = [0; lift::MAX_INSTRUCTION];
    let length = machine.memory.fetch(machine.cpu.rip, &mut bytes);
    let mut found = Operands::default();
    let Decoded::Instruction(instruction) =
        lift::decode(bytes.get(..length).unwrap_or_default(), machine.cpu.rip)
    else {
        return found;
    };
    let mut ops = Vec::new();
    lift::lift(&instruction, &mut ops);
    for op in &ops {
        match kind {
            FaultKind::Memory(_) | FaultKind::GeneralProtection => found.add_address_of(op),
            FaultKind::DivideError | FaultKind::FloatException => found.add_inputs_of(op, machine),
            FaultKind::InvalidOpcode | FaultKind::Breakpoint | FaultKind::Privileged | FaultKind::Misuse => {}
        }
    }
    found.slots.sort_unstable();
    found.slots.dedup();
    found
}

impl Operands {
    fn add(&mut self, reg: Reg) {
        if !reg.is_temp() && reg != Reg::ZERO {
            self.slots.push(reg);
        }
    }

    fn add_address_of(&mut self, op: &Op) {
        if let Some((address, _)) = access(op) {
            [address.base, address.index].into_iter().for_each(|reg| self.add(reg));
        } else if matches!(op, Op::String { .. }) {
            [Reg::RSI, Reg::RDI].into_iter().for_each(|reg| self.add(reg));
        }
    }

    fn add_inputs_of(&mut self, op: &Op, machine: &Machine) {
        op.reads(|reg| self.add(reg));
        // An address that the instruction computes itself is not known yet.
        if let Some((address, length)) = access(op)
            && !address.base.is_temp()
            && !address.index.is_temp()
        {
            let get = |reg| machine.cpu.get(reg);
            let at = get(address.base).wrapping_add(get(address.index) << address.shift);
            let at = at.wrapping_add(address.displacement as u64);
            let at = if address.narrow { at & 0xffff_ffff } else { at };
            let at = at.wrapping_add(get(address.segment));
            self.memory.push(at..at.saturating_add(length));
        }
    }
}

/// Where an op accesses memory, and how many bytes.
fn access(op: &Op) -> Option<(Address, u64)> {
    match *op {
        Op::Load { address, size, .. } | Op::Store { address, size, .. } => Some((address, size.bytes())),
        Op::LoadVector { address, .. } | Op::StoreVector { address, .. } => Some((address, 16)),
        Op::LoadExtended { address, .. } | Op::StoreExtended { address, .. } => Some((address, 10)),
        _ => None,
    }
}
