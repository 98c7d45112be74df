//! What ops cannot express.

use super::environment;
use super::reference::{Context, fault_kind};
use super::view::{GuestMemory, View};
use crate::cpuid;
use crate::fault::FaultKind;
use crate::observer::Observer;
use lift::{FXSAVE_BYTES, Helper, Reg};

const FXSAVE_WRITTEN: usize = lift::FXSAVE_WRITTEN as usize;

pub fn execute<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    helper: Helper,
    at: u64,
    cx: &mut Context<O>,
) -> Result<(), FaultKind> {
    match helper {
        Helper::Cpuid => {
            let leaf = core.cpu.get(Reg::RAX) as u32;
            let answer = cpuid::query(leaf, core.cpu.get(Reg::RCX) as u32);
            core.cpu.set(Reg::RAX, answer.eax as u64);
            core.cpu.set(Reg::RBX, answer.ebx as u64);
            core.cpu.set(Reg::RCX, answer.ecx as u64);
            core.cpu.set(Reg::RDX, answer.edx as u64);
        }
        Helper::Rdtsc => read_counter(core, cx),
        Helper::Rdtscp => {
            read_counter(core, cx);
            core.cpu.set(Reg::RCX, 0);
        }
        // There is no XSAVE, so cpuid does not announce it and the processor would refuse.
        Helper::Xgetbv => return Err(FaultKind::InvalidOpcode),
        Helper::Fxsave => fxsave(core, at, cx)?,
        Helper::Fxrstor => fxrstor(core, at, cx)?,
        Helper::Fninit => environment::reset(core.cpu),
        Helper::Fnstenv => {
            let area = environment::saved(core.cpu);
            store(core, at, &area, cx)?;
            environment::mask_all(core.cpu);
        }
        Helper::Fldenv => {
            let mut area = [0; lift::ENVIRONMENT_BYTES as usize];
            load(core, at, &mut area, cx)?;
            environment::restore(core.cpu, &area);
        }
        Helper::Fnsave => {
            let area = environment::saved_with_registers(core.cpu);
            store(core, at, &area, cx)?;
            environment::reset(core.cpu);
        }
        Helper::Frstor => {
            let mut area = [0; lift::FNSAVE_BYTES as usize];
            load(core, at, &mut area, cx)?;
            environment::restore_with_registers(core.cpu, &area);
        }
    }
    Ok(())
}

fn store<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    at: u64,
    area: &[u8],
    cx: &mut Context<O>,
) -> Result<(), FaultKind> {
    core.memory.write(at, area).map_err(fault_kind)?;
    if O::WATCHES {
        cx.observer.store(at, area.len() as u64);
    }
    Ok(())
}

fn load<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    at: u64,
    area: &mut [u8],
    cx: &mut Context<O>,
) -> Result<(), FaultKind> {
    core.memory.read(at, area).map_err(fault_kind)?;
    if O::WATCHES {
        cx.observer.load_from(&*core.memory, at, area.len() as u64);
    }
    Ok(())
}

/// The time-stamp counter counts instructions: time is a number, and the only one there is.
fn read_counter<O: Observer>(core: &mut View<'_, impl GuestMemory>, cx: &Context<O>) {
    core.cpu.set(Reg::RAX, cx.time.0 as u32 as u64);
    core.cpu.set(Reg::RDX, cx.time.0 >> 32);
}

fn fxsave<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    at: u64,
    cx: &mut Context<O>,
) -> Result<(), FaultKind> {
    check_area(at)?;
    let mut area = core.cpu.float_state();
    // The rest stays as it is, but must be writable.
    core.memory.peek(at.wrapping_add(FXSAVE_WRITTEN as u64), &mut area[FXSAVE_WRITTEN..]);
    core.memory.write(at, &area).map_err(fault_kind)?;
    if O::WATCHES {
        cx.observer.store(at, FXSAVE_WRITTEN as u64);
    }
    Ok(())
}

fn fxrstor<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    at: u64,
    cx: &mut Context<O>,
) -> Result<(), FaultKind> {
    check_area(at)?;
    let mut area = [0u8; FXSAVE_BYTES as usize];
    core.memory.read(at, &mut area).map_err(fault_kind)?;
    if O::WATCHES {
        cx.observer.load_from(&*core.memory, at, FXSAVE_BYTES);
    }
    if core.cpu.set_float_state(&area) { Ok(()) } else { Err(FaultKind::GeneralProtection) }
}

fn check_area(at: u64) -> Result<(), FaultKind> {
    let last = at.wrapping_add(FXSAVE_BYTES - 1);
    let canonical = last < 1 << 47 || last >= (1u64 << 47).wrapping_neg();
    if at.is_multiple_of(16) && canonical { Ok(()) } else { Err(FaultKind::GeneralProtection) }
}
