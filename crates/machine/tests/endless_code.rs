//! A guest that always executes something new does not fill the host's memory.

use lift::Reg;
use machine::*;

fn region(start: u64, length: u64, permissions: Permissions) -> Region {
    let (backing, name) = (Backing::Zero, "".into());
    Region { start, end: start + length, permissions, backing, name, shared: false }
}

#[test]
fn lifted_code_is_bounded_however_much_is_executed() {
    let (code, data) = (1 << 40, 0x60_0000);
    let mut memory = Memory::new(1 << 24);
    // Zeros are `add [rax], al`: the region needs no page and is code to its end.
    memory.map(region(code, 1 << 40, Permissions::RX));
    memory.map(region(data, PAGE_SIZE, Permissions::RW));
    let mut machine = Machine::new(memory);
    machine.cpu.rip = code;
    machine.cpu.set(Reg::RAX, data);
    let mut most = 0;
    for step in 1..=10 {
        assert_eq!(machine.run(Time(step * 500_000), &mut Unwatched), Stop::Until);
        most = most.max(machine.block_count());
    }
    assert_eq!(machine.cpu.rip, code + 2 * 5_000_000);
    assert!((1_000..40_000).contains(&most), "{most} blocks");
}
