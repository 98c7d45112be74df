//! The start: a machine made from the native child before its first instruction.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use lift::Reg;
use linux::{Config, Process};
use machine::{Backing, Cpu, Machine, Memory, PAGE_SIZE, Permissions, Region};

use super::maps::Mapping;
use super::native::Native;
use super::report::Failure;
use super::{Command, state::State};

/// A process of the machine's in the state of the child.
pub fn copy(command: &Command, native: &Native) -> Result<Process, Failure> {
    let memory = copy_memory(native)?;
    let mut machine = Machine::new(memory);
    copy_registers(&native.state()?, &mut machine.cpu);
    let bytes = |words: &[OsString]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let Some(program) = command.argv.first() else {
        return Err(Failure::Setup("the command is empty".to_owned()));
    };
    let config = Config {
        argv: bytes(&command.argv),
        env: bytes(&command.env),
        cwd: command.cwd.clone(),
        stdin: Arc::new(command.stdin.clone()),
        ..Config::new(program)
    };
    Process::adopt(&config, machine, native.heap_start()?).map_err(|error| Failure::Setup(error.to_string()))
}

fn copy_memory(native: &Native) -> io::Result<Memory> {
    let mut memory = Memory::new(Config::DEFAULT_MAX_MEMORY);
    for mapping in native.mappings()? {
        let Mapping { start, end, read, write, execute, .. } = mapping;
        // The kernel's own pages only hold their place, so that nothing is mapped over them.
        let (permissions, backing) = if mapping.is_kernel_page() {
            (Permissions::NONE, Backing::Zero)
        } else {
            let content = Arc::new(content(native, &mapping));
            (Permissions { read, write, execute }, Backing::Bytes { content, offset: 0 })
        };
        memory.map(Region {
            start,
            end,
            permissions,
            backing,
            name: mapping.name.as_str().into(),
            shared: mapping.shared,
        });
    }
    Ok(memory)
}

/// Page by page: a page of a mapping that lies past the end of its file cannot be read.
fn content(native: &Native, mapping: &Mapping) -> Vec<u8> {
    let mut content = vec![0; mapping.length() as usize];
    if native.read(mapping.start, &mut content).is_err() {
        for (index, page) in content.chunks_mut(PAGE_SIZE as usize).enumerate() {
            if native.read(mapping.start + index as u64 * PAGE_SIZE, page).is_err() {
                page.fill(0);
            }
        }
    }
    content
}

fn copy_registers(state: &State, cpu: &mut Cpu) {
    for (number, &value) in state.general.iter().enumerate() {
        cpu.set(Reg::general(number as u8), value);
    }
    for (number, &value) in state.xmm.iter().enumerate() {
        cpu.set_xmm(number as u8, value);
    }
    cpu.rip = state.rip;
    cpu.set_rflags(cpu.rflags() & !super::state::PROGRAM_FLAGS | state.flags);
    cpu.set(Reg::FS_BASE, state.fs_base);
    cpu.set(Reg::GS_BASE, state.gs_base);
    cpu.set(Reg::MXCSR, state.mxcsr.into());
    cpu.set(Reg::X87_CONTROL, state.x87.control.into());
    cpu.set_x87_status(state.x87.status);
    for (number, &value) in (0u8..).zip(&state.x87.stack) {
        let physical = (cpu.get(Reg::X87_TOP) + u64::from(number)) % 8;
        cpu.set_extended(number, value, state.x87.tags >> physical & 1 != 0);
    }
}
