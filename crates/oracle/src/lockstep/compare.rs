//! Comparing the machine with the child: registers, bytes just written, whole pages.

use std::io;

use lift::Reg;
use machine::{Cpu, Machine, Memory, Observer, PAGE_SIZE, Permissions};

use super::instruction::{self, Step};
use super::native::Native;
use super::state::{Difference, PROGRAM_FLAGS, State, X87};
use crate::fuzz::units_apart;

/// Observes where the machine writes during one instruction.
#[derive(Default)]
pub struct Writes {
    list: Vec<(u64, u64)>,
}

impl Writes {
    pub fn clear(&mut self) {
        self.list.clear();
    }
}

impl Observer for Writes {
    fn store(&mut self, address: u64, bytes: u64) {
        self.list.push((address, bytes));
    }
}

/// The machine's registers.
pub fn state(cpu: &Cpu) -> State {
    State {
        general: std::array::from_fn(|number| cpu.get(Reg::general(number as u8))),
        rip: cpu.rip,
        flags: cpu.rflags() & PROGRAM_FLAGS,
        fs_base: cpu.get(Reg::FS_BASE),
        gs_base: cpu.get(Reg::GS_BASE),
        xmm: std::array::from_fn(|number| cpu.xmm(number as u8)),
        mxcsr: cpu.get(Reg::MXCSR) as u32,
        x87: X87 {
            control: cpu.get(Reg::X87_CONTROL) as u16,
            status: cpu.x87_status(),
            tags: cpu.x87_tags(),
            stack: std::array::from_fn(|number| cpu.extended(number as u8)),
        },
    }
}

/// What was taken over from the native side.
pub struct TakenOver {
    /// Bits of RFLAGS.
    pub flags: u64,
    /// More than flags.
    pub values: bool,
}

/// Takes over from the native side what the architecture leaves open after this instruction.
pub fn settle(machine: &mut Machine, native: &State, step: &Step) -> TakenOver {
    let cpu = &mut machine.cpu;
    let flags = (cpu.rflags() ^ native.flags) & step.undefined_flags;
    if flags != 0 {
        cpu.set_rflags(cpu.rflags() ^ flags);
    }
    let mut changed = false;
    // bsf and bsr of zero leave their destination undefined.
    const ZERO_FLAG: u64 = 1 << 6;
    if step.is_bit_scan()
        && native.flags & ZERO_FLAG != 0
        && let Some(number) = instruction::register_number(step.instruction.op0_register())
    {
        let register = Reg::general(number as u8);
        changed = cpu.get(register) != native.general[number];
        cpu.set(register, native.general[number]);
    }
    if step.is_approximate() {
        let number = step.instruction.op0_register().number();
        let value = native.xmm[number];
        if approximately_equal(cpu.xmm(number as u8), value) {
            changed |= cpu.xmm(number as u8) != value;
            cpu.set_xmm(number as u8, value);
        }
    }
    let transcendental = step.transcendental_results();
    if transcendental > 0 {
        for number in 0..transcendental {
            let (ours, theirs) = (cpu.extended(number), native.x87.stack[usize::from(number)]);
            if units_apart(ours, theirs).is_some_and(|units| units <= UNITS) {
                changed |= ours != theirs;
                cpu.set_extended(number, theirs, cpu.is_in_use(number));
            }
        }
        const C1: u16 = 1 << 9;
        cpu.set_x87_status(cpu.x87_status() & !C1 | native.x87.status & C1);
    }
    TakenOver { flags, values: changed }
}

/// In the last place, between two results of a transcendental function.
const UNITS: u128 = 1;

/// Two results of rcp or rsqrt, each with a relative error of at most 1.5·2⁻¹².
fn approximately_equal(a: u128, b: u128) -> bool {
    (0..4).all(|lane| {
        let a = f32::from_bits((a >> (32 * lane)) as u32);
        let b = f32::from_bits((b >> (32 * lane)) as u32);
        a.to_bits() == b.to_bits() || ((a - b) / b).abs() <= 3.0 / 4096.0
    })
}

/// The bytes that the machine wrote in this instruction.
pub fn writes(memory: &Memory, native: &Native, writes: &Writes, step: &Step) -> io::Result<Vec<Difference>> {
    let mut found = Vec::new();
    for &(address, length) in &writes.list {
        if step.is_fxsave() {
            copy_range(memory, native, address + MASK_OFFSET, 4)?;
            copy_range(memory, native, address + 6, 18)?;
        }
        if step.is_environment() {
            copy_range(memory, native, address + 12, 16)?;
        }
        let mut ours = vec![0; length as usize];
        let mut theirs = ours.clone();
        memory.peek(address, &mut ours);
        native.read(address, &mut theirs)?;
        if ours != theirs {
            found.push(bytes_difference(address, &ours, &theirs));
        }
    }
    Ok(found)
}

/// Which bits of MXCSR exist is, in an FXSAVE area, the host's own affair.
const MASK_OFFSET: u64 = 28;

/// Where the last x87 instruction and its operand were, and which one it was, the machine does not know.
fn copy_range(memory: &Memory, native: &Native, start: u64, length: usize) -> io::Result<()> {
    let mut bytes = vec![0; length];
    memory.peek(start, &mut bytes);
    native.write(start, &bytes)
}

/// Every page that the machine ever wrote.
pub fn written_pages(memory: &Memory, native: &Native, compared: &mut u64) -> io::Result<Vec<Difference>> {
    let mut found = Vec::new();
    for address in memory.written_pages() {
        page(memory, native, address, &mut found)?;
        *compared += 1;
    }
    Ok(found)
}

/// Every mapped page.
pub fn all_pages(memory: &Memory, native: &Native, compared: &mut u64) -> io::Result<Vec<Difference>> {
    let mut found = Vec::new();
    // Without any permission: what only holds a place (see `adopt`), or what neither side can reach.
    for region in memory.regions().iter().filter(|region| region.permissions != Permissions::NONE) {
        let mut address = region.start;
        while address < region.end {
            page(memory, native, address, &mut found)?;
            *compared += 1;
            address += PAGE_SIZE;
        }
    }
    Ok(found)
}

fn page(memory: &Memory, native: &Native, address: u64, found: &mut Vec<Difference>) -> io::Result<()> {
    let mut ours = [0; PAGE_SIZE as usize];
    let mut theirs = [0; PAGE_SIZE as usize];
    let mapped = memory.peek(address, &mut ours);
    if mapped == 0 {
        return Ok(());
    }
    if let Err(error) = native.read(address, &mut theirs) {
        // The end of a file mapping, where both sides would fault.
        if ours.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        found.push(Difference {
            what: format!("page {address:#x}"),
            machine: "mapped".to_owned(),
            native: error.to_string(),
        });
        return Ok(());
    }
    if ours != theirs {
        found.push(bytes_difference(address, &ours, &theirs));
    }
    Ok(())
}

/// The first differing bytes of two equally long stretches.
fn bytes_difference(address: u64, machine: &[u8], native: &[u8]) -> Difference {
    const SHOWN: usize = 16;
    let first = machine.iter().zip(native).position(|(a, b)| a != b).unwrap_or(0);
    let hex = |bytes: &[u8]| {
        let shown: Vec<String> =
            bytes.iter().skip(first).take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
        shown.join(" ")
    };
    Difference {
        what: format!("memory at {:#x}", address + first as u64),
        machine: hex(machine),
        native: hex(native),
    }
}
