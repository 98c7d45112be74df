//! The guest's memory as system calls see it.
//!
//! Every byte that the kernel reads or writes on behalf of the guest goes through here, so that two things
//! hold everywhere without each call taking care of them: a bad address is EFAULT, and the access is logged
//! for those who follow data through the kernel.

use machine::{AccessFault, Cause, Memory};

use crate::errno::Errno;

/// One stretch of guest memory that a system call read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelAccess {
    pub address: u64,
    pub length: u64,
    pub write: bool,
}

/// One element of the array that readv, writev and their kin take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoVec {
    pub base: u64,
    pub length: u64,
}

/// The longest path that a system call accepts, with its terminating zero.
pub const PATH_MAX: usize = 4096;
/// The most elements that an array of [`IoVec`] may have.
pub const IOV_MAX: u64 = 1024;
/// The most bytes that one reading or writing call moves; more is silently cut, as on Linux.
pub const MAX_TRANSFER: u64 = 0x7fff_f000;
/// The most bytes that one access here may copy to the host's side.
const MAX_COPY: u64 = 1 << 30;

/// The guest's memory during one system call.
pub struct Guest<'a> {
    pub memory: &'a mut Memory,
    accesses: &'a mut Vec<KernelAccess>,
    out_of_memory: bool,
    forbidden: Option<AccessFault>,
}

impl<'a> Guest<'a> {
    pub fn new(memory: &'a mut Memory, accesses: &'a mut Vec<KernelAccess>) -> Guest<'a> {
        Guest { memory, accesses, out_of_memory: false, forbidden: None }
    }

    /// The first access to bytes that nobody may access: the program has given the kernel what is in no block of the heap.
    pub fn forbidden(&self) -> Option<AccessFault> {
        self.forbidden
    }

    /// Whether an access failed because the guest's memory limit is reached. The call that met it returns an
    /// error as for any other bad address; the run loop then ends the guest.
    pub fn out_of_memory(&self) -> bool {
        self.out_of_memory
    }

    pub fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Errno> {
        if buffer.is_empty() {
            return Ok(());
        }
        match self.memory.read(address, buffer) {
            Ok(()) => {
                self.log(address, buffer.len() as u64, false);
                Ok(())
            }
            Err(fault) => Err(self.refuse(fault)),
        }
    }

    /// All of the bytes are written, or none.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.is_empty() {
            return Ok(());
        }
        match self.memory.write(address, bytes) {
            Ok(()) => {
                self.log(address, bytes.len() as u64, true);
                Ok(())
            }
            Err(fault) => Err(self.refuse(fault)),
        }
    }

    pub fn read_vec(&mut self, address: u64, length: u64) -> Result<Vec<u8>, Errno> {
        // The length is checked against the map before anything is allocated for it.
        if length > MAX_COPY || self.mapped_length(address, length) < length {
            return Err(Errno::EFAULT);
        }
        let mut bytes = vec![0; length as usize];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// The bytes from `address` on, up to `length` or the first that cannot be read: what a write call
    /// transfers. EFAULT when not even the first can be read.
    pub fn read_available(&mut self, address: u64, length: u64) -> Result<Vec<u8>, Errno> {
        let available = self.mapped_length(address, length.min(MAX_COPY));
        if available == 0 && length > 0 {
            return Err(Errno::EFAULT);
        }
        match self.read_vec(address, available) {
            Ok(bytes) => Ok(bytes),
            // A part of the range is mapped but unreadable: go page by page up to it.
            Err(_) => self.read_pages(address, available),
        }
    }

    pub fn read_array<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Errno> {
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    pub fn read_u8(&mut self, address: u64) -> Result<u8, Errno> {
        Ok(u8::from_le_bytes(self.read_array(address)?))
    }

    pub fn read_u32(&mut self, address: u64) -> Result<u32, Errno> {
        Ok(u32::from_le_bytes(self.read_array(address)?))
    }

    pub fn read_i32(&mut self, address: u64) -> Result<i32, Errno> {
        Ok(i32::from_le_bytes(self.read_array(address)?))
    }

    pub fn read_u64(&mut self, address: u64) -> Result<u64, Errno> {
        Ok(u64::from_le_bytes(self.read_array(address)?))
    }

    pub fn read_i64(&mut self, address: u64) -> Result<i64, Errno> {
        Ok(i64::from_le_bytes(self.read_array(address)?))
    }

    pub fn write_u32(&mut self, address: u64, value: u32) -> Result<(), Errno> {
        self.write(address, &value.to_le_bytes())
    }

    pub fn write_i32(&mut self, address: u64, value: i32) -> Result<(), Errno> {
        self.write(address, &value.to_le_bytes())
    }

    pub fn write_u64(&mut self, address: u64, value: u64) -> Result<(), Errno> {
        self.write(address, &value.to_le_bytes())
    }

    /// A path argument, without its terminating zero.
    pub fn read_path(&mut self, address: u64) -> Result<Vec<u8>, Errno> {
        self.read_string(address, PATH_MAX)?.ok_or(Errno::ENAMETOOLONG)
    }

    /// The bytes up to a terminating zero; `None` if there is no zero among the first `max` bytes.
    pub fn read_string(&mut self, address: u64, max: usize) -> Result<Option<Vec<u8>>, Errno> {
        let mut string = Vec::new();
        let mut chunk = [0u8; 64];
        let mut at = address;
        while string.len() < max {
            // Chunks end at multiples of their size, so they never reach into a page that the string does not.
            let step = (64 - (at % 64)) as usize;
            let step = step.min(max - string.len());
            let Some(piece) = chunk.get_mut(..step) else { break };
            // A chunk may reach beyond the string's block in the heap.
            self.memory.leave_loads_unchecked(true);
            let read = self.memory.read(at, piece);
            self.memory.leave_loads_unchecked(false);
            let end = piece.iter().position(|&byte| byte == 0);
            let used = end.map_or(piece.len(), |end| end + 1);
            if let Err(fault) = read.and_then(|()| self.memory.check_readable(at, used as u64)) {
                return Err(self.refuse(fault));
            }
            match end {
                Some(end) => {
                    string.extend_from_slice(piece.get(..end).unwrap_or_default());
                    self.log(address, string.len() as u64 + 1, false);
                    return Ok(Some(string));
                }
                None => string.extend_from_slice(piece),
            }
            at = at.wrapping_add(step as u64);
        }
        Ok(None)
    }

    /// The array of buffers that readv, writev and their kin take. EINVAL if it is too long or the sum of the
    /// lengths overflows; the sum is cut to [`MAX_TRANSFER`].
    pub fn read_iovecs(&mut self, address: u64, count: u64) -> Result<Vec<IoVec>, Errno> {
        // The count is an int in some of these calls and a long in others; no valid one differs.
        if count > IOV_MAX {
            return Err(Errno::EINVAL);
        }
        let bytes = self.read_vec(address, count * 16)?;
        let mut vectors = Vec::with_capacity(count as usize);
        let mut total: u64 = 0;
        for element in bytes.chunks_exact(16) {
            let (base, length) = element.split_at(8);
            let base = u64::from_le_bytes(base.try_into().unwrap_or_default());
            let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
            if length > i64::MAX as u64 {
                return Err(Errno::EINVAL);
            }
            let length = length.min(MAX_TRANSFER - total);
            total += length;
            vectors.push(IoVec { base, length });
        }
        Ok(vectors)
    }

    /// How many of the `length` bytes from `address` on lie in mapped regions, without a gap.
    fn mapped_length(&self, address: u64, length: u64) -> u64 {
        let Some(end) = address.checked_add(length) else { return 0 };
        let mut at = address;
        while at < end {
            match self.memory.region_at(at) {
                Some(region) => at = region.end,
                None => break,
            }
        }
        at.min(end) - address
    }

    fn read_pages(&mut self, address: u64, length: u64) -> Result<Vec<u8>, Errno> {
        let mut bytes = Vec::new();
        let mut page = [0u8; machine::PAGE_SIZE as usize];
        while (bytes.len() as u64) < length {
            let at = address.wrapping_add(bytes.len() as u64);
            let step = (machine::PAGE_SIZE - at % machine::PAGE_SIZE).min(length - bytes.len() as u64);
            let Some(piece) = page.get_mut(..step as usize) else { break };
            if self.read(at, piece).is_err() {
                break;
            }
            bytes.extend_from_slice(piece);
        }
        if bytes.is_empty() { Err(Errno::EFAULT) } else { Ok(bytes) }
    }

    /// Neighbouring accesses become one entry, so that the log of a call stays short.
    fn log(&mut self, address: u64, length: u64, write: bool) {
        if let Some(last) = self.accesses.last_mut()
            && last.write == write
            && last.address.wrapping_add(last.length) == address
        {
            last.length += length;
            return;
        }
        self.accesses.push(KernelAccess { address, length, write });
    }

    #[cold]
    fn refuse(&mut self, fault: AccessFault) -> Errno {
        if fault.cause == Cause::OutOfMemory {
            self.out_of_memory = true;
        }
        if fault.cause == Cause::Forbidden {
            self.forbidden.get_or_insert(fault);
        }
        Errno::EFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::{Backing, PAGE_SIZE, Permissions, Region};

    const START: u64 = 0x10_0000;

    /// Three pages: two that can be read and written, one that cannot be accessed.
    fn memory() -> Memory {
        let mut memory = Memory::new(1 << 20);
        let region = |start, pages, permissions| Region {
            start,
            end: start + pages * PAGE_SIZE,
            permissions,
            backing: Backing::Zero,
            name: "".into(),
            shared: false,
        };
        memory.map(region(START, 2, Permissions::RW));
        memory.map(region(START + 2 * PAGE_SIZE, 1, Permissions::NONE));
        memory
    }

    const END: u64 = START + 2 * PAGE_SIZE;

    fn with<R>(test: impl FnOnce(&mut Guest<'_>) -> R) -> (R, Vec<KernelAccess>) {
        let mut memory = memory();
        let mut accesses = Vec::new();
        let result = test(&mut Guest::new(&mut memory, &mut accesses));
        (result, accesses)
    }

    #[test]
    fn a_string_may_end_at_the_end_of_what_can_be_read() {
        let ((), accesses) = with(|guest| {
            guest.memory.write(END - 6, b"/path\0").unwrap();
            assert_eq!(guest.read_path(END - 6), Ok(b"/path".to_vec()));
            guest.memory.write(END - 1, b"x").unwrap();
            assert_eq!(guest.read_path(END - 6), Err(Errno::EFAULT));
            assert_eq!(guest.read_path(0), Err(Errno::EFAULT));
            assert_eq!(guest.read_path(u64::MAX), Err(Errno::EFAULT));
        });
        assert_eq!(accesses, [KernelAccess { address: END - 6, length: 6, write: false }]);
    }

    #[test]
    fn a_path_without_end_is_too_long() {
        with(|guest| {
            guest.memory.write(START, &[b'a'; PATH_MAX]).unwrap();
            assert_eq!(guest.read_path(START), Err(Errno::ENAMETOOLONG));
            guest.memory.write(START + PATH_MAX as u64 - 1, b"\0").unwrap();
            assert_eq!(guest.read_path(START).map(|path| path.len()), Ok(PATH_MAX - 1));
        });
    }

    #[test]
    fn what_cannot_be_read_in_whole_is_read_as_far_as_possible() {
        with(|guest| {
            guest.memory.write(END - 3, b"abc").unwrap();
            assert_eq!(guest.read_available(END - 3, 100), Ok(b"abc".to_vec()));
            assert_eq!(guest.read_available(END - 3, 2), Ok(b"ab".to_vec()));
            assert_eq!(guest.read_available(END - 3, 1 << 60), Ok(b"abc".to_vec()));
            assert_eq!(guest.read_available(END, 1), Err(Errno::EFAULT));
            assert_eq!(guest.read_available(8, 0), Ok(Vec::new()));
            assert_eq!(guest.read_available(u64::MAX, 10), Err(Errno::EFAULT));
        });
    }

    #[test]
    fn a_claimed_length_is_not_allocated() {
        with(|guest| {
            assert_eq!(guest.read_vec(START, 1 << 50), Err(Errno::EFAULT));
            assert_eq!(guest.read_vec(START, u64::MAX), Err(Errno::EFAULT));
        });
    }

    #[test]
    fn buffer_arrays_are_checked_and_cut_to_the_most_that_a_call_moves() {
        with(|guest| {
            let fields = [START, MAX_TRANSFER - 5, START + 8, 100];
            guest.memory.write(START, &fields.map(u64::to_le_bytes).concat()).unwrap();
            let vectors = guest.read_iovecs(START, 2).unwrap();
            assert_eq!(vectors[0], IoVec { base: START, length: MAX_TRANSFER - 5 });
            assert_eq!(vectors[1], IoVec { base: START + 8, length: 5 });
            guest.memory.write(START + 24, &u64::MAX.to_le_bytes()).unwrap();
            assert_eq!(guest.read_iovecs(START, 2), Err(Errno::EINVAL));
            assert_eq!(guest.read_iovecs(START, IOV_MAX + 1), Err(Errno::EINVAL));
            assert_eq!(guest.read_iovecs(START, u64::MAX), Err(Errno::EINVAL));
            assert_eq!(guest.read_iovecs(0, 1), Err(Errno::EFAULT));
            assert_eq!(guest.read_iovecs(0, 0), Ok(Vec::new()));
        });
    }

    #[test]
    fn neighbouring_accesses_are_logged_as_one() {
        let (_, accesses) = with(|guest| {
            guest.write_u64(START, 1).unwrap();
            guest.write_u32(START + 8, 2).unwrap();
            guest.read_u8(START + 12).unwrap();
            guest.write(START, &[]).unwrap();
            guest.write_u64(END - 4, 1).unwrap_err();
        });
        let first = KernelAccess { address: START, length: 12, write: true };
        let second = KernelAccess { address: START + 12, length: 1, write: false };
        assert_eq!(accesses, [first, second]);
    }
}
