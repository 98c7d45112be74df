//! What ops are executed on: registers, and memory of some kind.

use crate::memory::{AccessFault, Memory, Scalar};
use crate::{Core, Cpu};

/// A machine's state as the reference executor sees it.
pub struct View<'a, M> {
    pub cpu: &'a mut Cpu,
    pub memory: &'a mut M,
}

/// Memory that instructions access; what each function does says the one of the same name of [`Memory`].
pub trait GuestMemory: Peek {
    fn load<T: Scalar>(&mut self, address: u64) -> Result<T, AccessFault>;
    fn store<T: Scalar>(&mut self, address: u64, value: T) -> Result<(), AccessFault>;
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), AccessFault>;
    fn write(&mut self, address: u64, buffer: &[u8]) -> Result<(), AccessFault>;
    fn store_in_page(&mut self, address: u64, bytes: &[u8]) -> Option<()>;
}

/// Memory that can be looked at, whatever its permissions.
pub trait Peek {
    /// Reads as far as there is memory, and says how far that was.
    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize;
}

impl Peek for Memory {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        Memory::peek(self, address, buffer)
    }
}

impl GuestMemory for Memory {
    #[inline(always)]
    fn load<T: Scalar>(&mut self, address: u64) -> Result<T, AccessFault> {
        Memory::load(self, address)
    }

    #[inline(always)]
    fn store<T: Scalar>(&mut self, address: u64, value: T) -> Result<(), AccessFault> {
        Memory::store(self, address, value)
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), AccessFault> {
        Memory::read(self, address, buffer)
    }

    fn write(&mut self, address: u64, buffer: &[u8]) -> Result<(), AccessFault> {
        Memory::write(self, address, buffer)
    }

    fn store_in_page(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        Memory::store_in_page(self, address, bytes)
    }
}

impl Core {
    #[inline(always)]
    pub(crate) fn view(&mut self) -> View<'_, Memory> {
        View { cpu: &mut self.cpu, memory: &mut self.memory }
    }
}
