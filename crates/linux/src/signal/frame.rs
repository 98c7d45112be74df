//! What Linux puts on the stack when it enters a signal handler, and reads back when the handler returns.
//!
//! From the stack pointer upwards: the return address, a ucontext, a siginfo; above them, aligned to 64, the float state as
//! fxsave lays it out. The processor that the guest sees has no XSAVE, so nothing follows.

use lift::Reg;
use machine::{Copied, Cpu};

use super::{AlternateStack, Information, Trap};

const CONTEXT: u64 = 8;
const CONTEXT_SIZE: u64 = 304;
const INFORMATION: u64 = CONTEXT + CONTEXT_SIZE;
const FRAME_SIZE: u64 = INFORMATION + super::information::INFORMATION_SIZE as u64;
const FLOAT_SIZE: u64 = lift::FXSAVE_BYTES;

/// Places in a ucontext.
const FLAGS_OF_CONTEXT: usize = 0;
const STACK: usize = 16;
const REGISTERS: usize = 40;
const RIP: usize = REGISTERS + 16 * 8;
const RFLAGS: usize = RIP + 8;
const SELECTORS: usize = RFLAGS + 8;
const ERROR: usize = SELECTORS + 8;
const TRAP: usize = ERROR + 8;
const OLD_MASK: usize = TRAP + 8;
const FAULT_ADDRESS: usize = OLD_MASK + 8;
const FLOAT_POINTER: usize = FAULT_ADDRESS + 8;
const MASK: usize = 296;

/// In the order of the kernel's struct sigcontext.
const ORDER: [Reg; 16] = [
    Reg::R8,
    Reg::R9,
    Reg::R10,
    Reg::R11,
    Reg::R12,
    Reg::R13,
    Reg::R14,
    Reg::R15,
    Reg::RDI,
    Reg::RSI,
    Reg::RBP,
    Reg::RBX,
    Reg::RDX,
    Reg::RAX,
    Reg::RCX,
    Reg::RSP,
];

/// Selectors as a 64-bit Linux process has them: cs, gs, fs, ss.
const USER_CODE: u16 = 0x33;
const USER_DATA: u16 = 0x2b;
/// The stack selector is in the frame, and is to be restored as it is.
const HAS_STACK_SELECTOR: u64 = 2;
const STRICT_STACK_SELECTOR: u64 = 4;

/// What lies below the stack pointer and belongs to the function that was interrupted.
const RED_ZONE: u64 = 128;

/// The flags that a handler may change for the program.
const RESTORED_FLAGS: u64 = 0x4_0000 | lift::flags::ARITHMETIC | lift::flags::DF;

/// Where the parts of a frame are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The handler's stack pointer: where its return address is.
    pub start: u64,
    pub float: u64,
}

impl Layout {
    /// Below a stack pointer, or at the top of another stack.
    pub fn below(top: u64, is_interrupted: bool) -> Layout {
        let top = if is_interrupted { top.wrapping_sub(RED_ZONE) } else { top };
        let float = top.wrapping_sub(FLOAT_SIZE) & !63;
        let start = (float.wrapping_sub(FRAME_SIZE) & !15).wrapping_sub(8);
        Layout { start, float }
    }

    /// Of the frame that a handler left when it returned.
    pub fn left_at(stack_pointer: u64, float: u64) -> Layout {
        Layout { start: stack_pointer.wrapping_sub(8), float }
    }

    pub fn context(&self) -> u64 {
        self.start.wrapping_add(CONTEXT)
    }

    pub fn information(&self) -> u64 {
        self.start.wrapping_add(INFORMATION)
    }

    pub fn flags(&self) -> u64 {
        self.context().wrapping_add(RFLAGS as u64)
    }

    pub fn rip(&self) -> u64 {
        self.context().wrapping_add(RIP as u64)
    }

    /// Which bytes of which registers are where.
    pub fn copies(&self) -> Box<[Copied]> {
        let registers = self.context().wrapping_add(REGISTERS as u64);
        let general =
            ORDER.iter().zip(0u64..).map(move |(reg, n)| whole(*reg, registers.wrapping_add(8 * n)));
        let float = self.float;
        let control = [
            Copied { reg: Reg::X87_CONTROL, first: 0, length: 2, address: float },
            Copied { reg: Reg::X87_FLAGS, first: 0, length: 1, address: float.wrapping_add(2) },
            Copied { reg: Reg::X87_CODES, first: 1, length: 1, address: float.wrapping_add(3) },
            Copied { reg: Reg::MXCSR, first: 0, length: 4, address: float.wrapping_add(24) },
        ];
        let extended = (0..8u8).flat_map(move |n| {
            let at = float.wrapping_add(32 + 16 * u64::from(n));
            let high = Reg::st(n).high_half();
            [whole(Reg::st(n), at), Copied { reg: high, first: 0, length: 2, address: at.wrapping_add(8) }]
        });
        let vector = (0..16u8).flat_map(move |n| {
            let at = float.wrapping_add(160 + 16 * u64::from(n));
            [whole(Reg::xmm(n), at), whole(Reg::xmm(n).high_half(), at.wrapping_add(8))]
        });
        let float = control.into_iter().chain(extended).chain(vector).filter(|_| float != 0);
        general.chain(float).collect()
    }
}

fn whole(reg: Reg, address: u64) -> Copied {
    Copied { reg, first: 0, length: 8, address }
}

/// What a frame is made of.
pub struct Contents<'a> {
    pub cpu: &'a Cpu,
    /// RFLAGS as the handler is shown them.
    pub flags: u64,
    pub restorer: u64,
    pub mask: u64,
    pub stack: AlternateStack,
    pub trap: Trap,
}

impl Contents<'_> {
    /// The return address and the ucontext.
    pub fn bytes(&self, layout: Layout) -> [u8; INFORMATION as usize] {
        let mut bytes = [0; INFORMATION as usize];
        let mut put = |at: usize, field: &[u8]| {
            bytes.iter_mut().skip(at).zip(field).for_each(|(to, from)| *to = *from);
        };
        put(0, &self.restorer.to_le_bytes());
        let context = CONTEXT as usize;
        put(context + FLAGS_OF_CONTEXT, &(HAS_STACK_SELECTOR | STRICT_STACK_SELECTOR).to_le_bytes());
        put(context + STACK, &self.stack.bytes());
        for (number, reg) in ORDER.iter().enumerate() {
            put(context + REGISTERS + 8 * number, &self.cpu.get(*reg).to_le_bytes());
        }
        put(context + RIP, &self.cpu.rip.to_le_bytes());
        put(context + RFLAGS, &self.flags.to_le_bytes());
        put(context + SELECTORS, &USER_CODE.to_le_bytes());
        put(context + SELECTORS + 6, &USER_DATA.to_le_bytes());
        put(context + ERROR, &self.trap.error.to_le_bytes());
        put(context + TRAP, &self.trap.number.to_le_bytes());
        put(context + OLD_MASK, &self.mask.to_le_bytes());
        put(context + FAULT_ADDRESS, &self.trap.address.to_le_bytes());
        put(context + FLOAT_POINTER, &layout.float.to_le_bytes());
        put(context + MASK, &self.mask.to_le_bytes());
        bytes
    }
}

/// What a frame says that a handler left behind.
pub struct Restored {
    pub mask: u64,
    pub stack: AlternateStack,
    /// Where the float state is; 0 stands for a fresh one.
    pub float: u64,
    /// The processor can go on with the selectors.
    pub is_valid: bool,
}

pub const CONTEXT_BYTES: usize = CONTEXT_SIZE as usize;

/// Sets registers, flags and rip to what a ucontext says.
pub fn restore(cpu: &mut Cpu, context: &[u8; CONTEXT_BYTES]) -> Restored {
    let word = |at: usize| {
        let bytes = context.get(at..).and_then(|rest| rest.first_chunk::<8>());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    for (number, reg) in ORDER.iter().enumerate() {
        cpu.set(*reg, word(REGISTERS + 8 * number));
    }
    cpu.rip = word(RIP);
    cpu.set_rflags(cpu.rflags() & !RESTORED_FLAGS | word(RFLAGS) & RESTORED_FLAGS);
    // The processor insists on the privilege level of user mode, whatever the frame says.
    let selectors = word(SELECTORS);
    let (code, stack) = (selectors as u16 | 3, (selectors >> 48) as u16 | 3);
    let is_strict = word(FLAGS_OF_CONTEXT) & STRICT_STACK_SELECTOR != 0;
    Restored {
        mask: word(MASK),
        stack: AlternateStack { start: word(STACK), flags: word(STACK + 8) as u32, size: word(STACK + 16) },
        float: word(FLOAT_POINTER),
        is_valid: code == USER_CODE && (stack == USER_DATA || !is_strict),
    }
}

/// The registers that an entered handler finds with values of the kernel's own, but for the number of the signal.
pub fn set_on_entry() -> Box<[Reg]> {
    let arguments = [Reg::RAX, Reg::RSI, Reg::RDX, Reg::RSP, Reg::DIRECTION];
    let control = [Reg::X87_CONTROL, Reg::X87_FLAGS, Reg::X87_CODES, Reg::X87_TOP, Reg::MXCSR];
    let halves = |reg: Reg| [reg, reg.high_half()];
    let extended = (0..8).map(Reg::st).flat_map(halves);
    let vector = (0..16).map(Reg::xmm).flat_map(halves);
    arguments.into_iter().chain(control).chain(extended).chain(vector).collect()
}

/// What a handler gets in its registers.
pub fn enter(cpu: &mut Cpu, layout: Layout, information: &Information, handler: u64) {
    cpu.set(Reg::RAX, 0);
    cpu.set(Reg::RDI, information.signal() as u64);
    cpu.set(Reg::RSI, layout.information());
    cpu.set(Reg::RDX, layout.context());
    cpu.set(Reg::RSP, layout.start);
    cpu.set(Reg::DIRECTION, 0);
    cpu.reset_float_state();
    cpu.rip = handler;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_aligned_as_after_a_call_and_spares_the_red_zone() {
        for pointer in [0x7fff_0000u64, 0x7fff_0008, 0x7fff_1234, 0x7fff_003f] {
            let layout = Layout::below(pointer, true);
            assert_eq!(layout.start % 16, 8);
            assert_eq!(layout.float % 64, 0);
            assert!(layout.float + FLOAT_SIZE <= pointer - RED_ZONE);
            assert!(layout.information() + 128 <= layout.float);
        }
    }

    #[test]
    fn what_a_frame_saves_is_what_it_restores() {
        let mut cpu = Cpu::default();
        (0..16).for_each(|n| cpu.set(Reg::general(n), 0x1111 * u64::from(n)));
        cpu.rip = 0x40_1000;
        cpu.set_rflags(0x246 | lift::flags::DF);
        let layout = Layout::below(0x7fff_0000, true);
        let stack = AlternateStack { start: 0x1000, flags: 0, size: 0x2000 };
        let contents =
            Contents { cpu: &cpu, flags: cpu.rflags(), restorer: 5, mask: 7, stack, trap: Trap::default() };
        let bytes = contents.bytes(layout);
        let context: &[u8; CONTEXT_BYTES] = bytes[8..].try_into().unwrap();
        let mut other = Cpu::default();
        let restored = restore(&mut other, context);
        assert!(restored.is_valid);
        assert_eq!((restored.mask, restored.stack, restored.float), (7, stack, layout.float));
        assert_eq!(other.visible().collect::<Vec<_>>(), cpu.visible().collect::<Vec<_>>());
        for copied in layout.copies().iter().filter(|copied| copied.reg.is_general()) {
            let at = (copied.address - layout.start) as usize;
            assert_eq!(bytes[at..at + 8], cpu.get(copied.reg).to_le_bytes());
        }
    }

    #[test]
    fn a_frame_cannot_set_the_flags_that_belong_to_the_system() {
        let mut cpu = Cpu::default();
        let mut context = [0; CONTEXT_BYTES];
        context[RFLAGS..RFLAGS + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(!restore(&mut cpu, &context).is_valid);
        assert_eq!(cpu.rflags() & 0x3_7100, 0);
    }
}
