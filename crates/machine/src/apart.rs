//! One instruction in another world: what it would do if some registers and bytes had other values than a machine has.
//!
//! It is executed by the reference executor on registers of its own and on memory with other bytes laid over it. Nothing of it reaches the
//! machine; what it writes is kept here, to be compared with what the machine itself writes.

use std::ops::Range;

use lift::{Op, Reg};

use crate::exec::{Context, Flow, GuestMemory, Peek, View, execute_instruction};
use crate::hooks::{Hook, Readable};
use crate::memory::{AccessFault, Memory, Scalar};
use crate::trace::Pass;
use crate::{Cpu, Machine, Time, Unwatched};

/// Bytes that are others in the other world.
pub trait Patches {
    /// Puts those of `bytes` that are others, which begin at `address`, in their places.
    fn patch(&self, address: u64, bytes: &mut [u8]);
}

/// The other world is the machine's own.
pub struct Unpatched;

impl Patches for Unpatched {
    fn patch(&self, _: u64, _: &mut [u8]) {}
}

/// What an instruction did in the other world.
#[derive(Default)]
pub struct Apart {
    /// Those from before it, made to be those after it.
    pub cpu: Cpu,
    pub stores: Stores,
}

/// What an instruction stored, in order.
#[derive(Default)]
pub struct Stores {
    places: Vec<(u64, Range<usize>)>,
    bytes: Vec<u8>,
}

/// What a check of a routine looked at.
#[derive(Default)]
pub struct Looked {
    pub registers: Vec<Reg>,
    pub memory: Vec<Range<u64>>,
}

impl Machine {
    /// Executes an instruction of a pass in the other world, and says where control goes then. The machine is where the instruction begins, and
    /// `apart` has the registers. `None` if the instruction is none that could be followed so: it faults, or has to be begun again, or does more than ops say.
    pub fn execute_apart(
        &mut self,
        pass: &Pass<'_>,
        index: usize,
        patches: &impl Patches,
        apart: &mut Apart,
    ) -> Option<u64> {
        let (block, instruction) = pass.instruction(index)?;
        apart.stores.clear();
        if index == 0 {
            match block.hook {
                // What is served has been.
                None | Some(Hook::Serve | Hook::Pause) => {}
                Some(Hook::Check(check)) => {
                    let memory = Patched { below: &self.memory, patches };
                    check(&apart.cpu, &memory).ok()?;
                }
            }
        }
        let ops = block.ops_of(instruction);
        if ops.iter().any(|op| matches!(op, Op::Helper { .. })) {
            return None;
        }
        let next = block.instructions.get(index + 1).map_or(block.end, |next| next.address);
        let mut cx =
            Context { observer: &mut Unwatched, time: Time(0), address: instruction.address, force: None };
        let below = &mut self.memory;
        below.leave_loads_unchecked(block.unchecked);
        let mut memory = Overlay { below, patches, stores: &mut apart.stores };
        let mut view = View { cpu: &mut apart.cpu, memory: &mut memory };
        let done = execute_instruction(&mut view, ops, &mut cx);
        self.memory.leave_loads_unchecked(false);
        match done.ok()? {
            Flow::Next => Some(next),
            Flow::Goto(target) => Some(target),
            Flow::Syscall => {
                apart.cpu.enter_kernel(next);
                Some(next)
            }
            Flow::Again | Flow::Unsupported => None,
        }
    }

    /// What the check before the first instruction of a pass looks at, if there is one.
    pub fn looked_at(&self, pass: &Pass<'_>) -> Looked {
        let looked = std::cell::RefCell::new(Looked::default());
        if let Some((block, _)) = pass.instruction(0)
            && let Some(Hook::Check(check)) = block.hook
        {
            // What comes of it the run itself tells.
            let _ = check(&self.cpu, &Noting { below: &self.memory, looked: &looked });
        }
        looked.into_inner()
    }
}

impl Stores {
    fn clear(&mut self) {
        self.places.clear();
        self.bytes.clear();
    }

    fn add(&mut self, address: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.places.push((address, start..self.bytes.len()));
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Where bytes were stored, and which.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.places.iter().map(|(address, range)| (*address, self.bytes.get(range.clone()).unwrap_or(&[])))
    }

    /// Puts those of `bytes`, which begin at `address`, that were stored in their places.
    pub fn patch(&self, address: u64, bytes: &mut [u8]) {
        for (start, stored) in self.iter() {
            overlay(address, bytes, start, stored);
        }
    }
}

/// Copies what of `stored`, which begins at `start`, lies in `bytes`, which begin at `address`.
fn overlay(address: u64, bytes: &mut [u8], start: u64, stored: &[u8]) {
    let first = address.max(start);
    let end = address.saturating_add(bytes.len() as u64).min(start.saturating_add(stored.len() as u64));
    if first >= end {
        return;
    }
    let length = (end - first) as usize;
    let (to, from) = ((first - address) as usize, (first - start) as usize);
    if let (Some(to), Some(from)) = (bytes.get_mut(to..to + length), stored.get(from..from + length)) {
        to.copy_from_slice(from);
    }
}

/// Memory with other bytes laid over it, which keeps to itself what is stored.
struct Overlay<'a, P> {
    below: &'a mut Memory,
    patches: &'a P,
    stores: &'a mut Stores,
}

impl<P: Patches> Overlay<'_, P> {
    fn lay_over(&self, address: u64, bytes: &mut [u8]) {
        self.patches.patch(address, bytes);
        if !self.stores.is_empty() {
            self.stores.patch(address, bytes);
        }
    }
}

impl<P: Patches> Peek for Overlay<'_, P> {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        let read = self.below.peek(address, buffer);
        self.lay_over(address, buffer);
        read
    }
}

impl<P: Patches> GuestMemory for Overlay<'_, P> {
    fn load<T: Scalar>(&mut self, address: u64) -> Result<T, AccessFault> {
        let below = self.below.load::<T>(address)?;
        Ok(below.with_bytes(|bytes| self.lay_over(address, bytes)))
    }

    fn store<T: Scalar>(&mut self, address: u64, value: T) -> Result<(), AccessFault> {
        let mut done = Ok(());
        value.with_bytes(|bytes| done = self.write(address, bytes));
        done
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), AccessFault> {
        self.below.read(address, buffer)?;
        self.lay_over(address, buffer);
        Ok(())
    }

    fn write(&mut self, address: u64, buffer: &[u8]) -> Result<(), AccessFault> {
        self.below.check_store(address, buffer.len())?;
        self.stores.add(address, buffer);
        Ok(())
    }

    fn store_in_page(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        self.write(address, bytes).ok()
    }
}

/// The same to look at only.
struct Patched<'a, P> {
    below: &'a Memory,
    patches: &'a P,
}

impl<P: Patches> Readable for Patched<'_, P> {
    fn is_checked(&self, address: u64) -> bool {
        self.below.is_checked(address)
    }

    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        let read = self.below.peek(address, buffer);
        self.patches.patch(address, buffer);
        read
    }

    fn check_readable(&self, address: u64, length: u64) -> Result<(), AccessFault> {
        self.below.check_readable(address, length)
    }
}

/// Memory that takes down what somebody looks at.
struct Noting<'a> {
    below: &'a Memory,
    looked: &'a std::cell::RefCell<Looked>,
}

impl Readable for Noting<'_> {
    fn is_checked(&self, address: u64) -> bool {
        self.below.is_checked(address)
    }

    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        let end = address.saturating_add(buffer.len() as u64);
        self.looked.borrow_mut().memory.push(address..end);
        self.below.peek(address, buffer)
    }

    fn argument(&self, cpu: &Cpu, reg: Reg) -> u64 {
        self.looked.borrow_mut().registers.push(reg);
        cpu.get(reg)
    }

    fn check_readable(&self, address: u64, length: u64) -> Result<(), AccessFault> {
        self.below.check_readable(address, length)
    }
}
