//! Loads and stores, the bulk accesses of kernel and debugger, and the slow paths behind them.

use super::code::Code;
use super::page::{Page, zero_page};
use super::regions::{Region, Regions};
use super::tlb::Frame;
use super::tree::is_unique;
use super::{Access, AccessFault, Cause, Memory, PAGE_MASK, PAGE_SIZE, absence};
use std::ops::Range;

/// The unsigned integers, which is what the guest's instructions load and store.
pub trait Scalar: Copy + sealed::Sealed {
    /// Itself in little-endian order; its own inverse.
    fn little_endian(self) -> Self;
    /// What `change` makes of its bytes, the lowest first.
    fn with_bytes(self, change: impl FnOnce(&mut [u8])) -> Self;
}

mod sealed {
    /// Only for types for which every pattern of bits is a value and which have no padding.
    pub trait Sealed: Default {}
}

macro_rules! scalars {
    ($($name:ident)*) => {$(
        impl sealed::Sealed for $name {}
        impl Scalar for $name {
            #[inline(always)]
            fn little_endian(self) -> $name {
                self.to_le()
            }

            #[inline(always)]
            fn with_bytes(self, change: impl FnOnce(&mut [u8])) -> $name {
                let mut bytes = self.to_le_bytes();
                change(&mut bytes);
                $name::from_le_bytes(bytes)
            }
        }
    )*};
}
scalars!(u8 u16 u32 u64 u128);

/// On whose behalf bytes are written.
#[derive(Copy, Clone, PartialEq)]
enum Writer {
    /// Obeys permissions, and must not touch marked code.
    Guest,
    /// Obeys permissions.
    Kernel,
    Debugger,
}

impl Memory {
    #[inline(always)]
    pub fn load<T: Scalar>(&mut self, address: u64) -> Result<T, AccessFault> {
        match self.read_tlb.hit(address, size_of::<T>() as u64) {
            // SAFETY: all the bytes lie in a page that the TLB knows, so they are alive; nobody writes to
            // them during this exclusive borrow; every pattern of bits is a value of `T`.
            Some(host) => Ok(unsafe { host.cast::<T>().read_unaligned() }.little_endian()),
            None => self.load_slowly(address),
        }
    }

    /// Stores all of `value` or, if that faults, nothing.
    #[inline(always)]
    pub fn store<T: Scalar>(&mut self, address: u64, value: T) -> Result<(), AccessFault> {
        match self.write_tlb.hit(address, size_of::<T>() as u64) {
            Some(host) => {
                // SAFETY: all the bytes lie in a page that the write side of the TLB knows, so they are alive
                // and this memory, borrowed exclusively, is their only owner.
                unsafe { host.cast::<T>().write_unaligned(value.little_endian()) };
                Ok(())
            }
            None => self.store_slowly(address, value),
        }
    }

    /// A load from a page that the TLB knows, or `None`: the fast executor's path, without the slow one in
    /// its way.
    #[inline(always)]
    pub fn load_known<T: Scalar>(&mut self, address: u64) -> Option<T> {
        let host = self.read_tlb.hit(address, size_of::<T>() as u64)?;
        // SAFETY: as in `load`.
        Some(unsafe { host.cast::<T>().read_unaligned() }.little_endian())
    }

    /// A store to a page that the TLB knows, or `None` with nothing done.
    #[inline(always)]
    pub fn store_known<T: Scalar>(&mut self, address: u64, value: T) -> Option<()> {
        let host = self.write_tlb.hit(address, size_of::<T>() as u64)?;
        // SAFETY: as in `store`.
        unsafe { host.cast::<T>().write_unaligned(value.little_endian()) };
        Some(())
    }

    /// Stores bytes that lie in one page, as the guest may; or `None` with nothing done.
    pub fn store_in_page(&mut self, address: u64, bytes: &[u8]) -> Option<()> {
        if address % PAGE_SIZE + bytes.len() as u64 > PAGE_SIZE {
            return None;
        }
        let host = self.writable(Writer::Guest, address, bytes.len()).ok()?;
        // SAFETY: the bytes lie within one page, which was just opened for writing; `bytes` is no guest memory.
        unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Some(())
    }

    /// Replaces what stands in a page that the TLB knows, by one look-up, and tells what it was; or `None` with nothing done.
    #[inline(always)]
    pub fn change_known<T: Scalar>(&mut self, address: u64, change: impl FnOnce(T) -> T) -> Option<T> {
        let host = self.write_tlb.hit(address, size_of::<T>() as u64)?;
        // SAFETY: as in `store`; a page that is known to be writable can be read.
        Some(unsafe { replace(host.cast(), change) })
    }

    /// The same by way of a frame register.
    #[inline(always)]
    pub fn change_frame<T: Scalar>(
        &mut self,
        frame: Frame,
        address: u64,
        change: impl FnOnce(T) -> T,
    ) -> Option<T> {
        let host = self.write_tlb.hit_frame(frame, address, size_of::<T>() as u64)?;
        // SAFETY: as above.
        Some(unsafe { replace(host.cast(), change) })
    }

    /// A load by way of a frame register, or `None`.
    #[inline(always)]
    pub fn load_frame<T: Scalar>(&mut self, frame: Frame, address: u64) -> Option<T> {
        let host = self.read_tlb.hit_frame(frame, address, size_of::<T>() as u64)?;
        // SAFETY: as in `load`.
        Some(unsafe { host.cast::<T>().read_unaligned() }.little_endian())
    }

    /// A store by way of a frame register, or `None` with nothing done.
    #[inline(always)]
    pub fn store_frame<T: Scalar>(&mut self, frame: Frame, address: u64, value: T) -> Option<()> {
        let host = self.write_tlb.hit_frame(frame, address, size_of::<T>() as u64)?;
        // SAFETY: as in `store`.
        unsafe { host.cast::<T>().write_unaligned(value.little_endian()) };
        Some(())
    }

    /// Makes the page of `address` known to loads by way of a frame register, if the guest may read all of it.
    pub fn know_frame_readable(&mut self, frame: Frame, address: u64) -> Result<(), AccessFault> {
        self.check_ordinary(address, Access::Read)?;
        let host = self.readable(address, 1)?;
        self.read_tlb.set_frame(frame, address, host.cast_mut());
        Ok(())
    }

    /// Makes the page of `address` known to stores by way of a frame register, if the guest may write to all of it.
    pub fn know_frame_writable(&mut self, frame: Frame, address: u64) -> Result<(), AccessFault> {
        self.check_ordinary(address, Access::Write)?;
        let host = self.writable(Writer::Guest, address, 1)?;
        self.write_tlb.set_frame(frame, address, host);
        Ok(())
    }

    fn check_ordinary(&self, address: u64, access: Access) -> Result<(), AccessFault> {
        match self.is_ordinary(address) {
            true => Ok(()),
            false => Err(AccessFault { address, access, cause: Cause::Forbidden }),
        }
    }

    /// Makes the page of `address` known to loads, as far as the guest may read there, if it may read so many bytes, which
    /// lie in one page.
    #[inline]
    pub fn know_readable(&mut self, address: u64, bytes: u64) -> Result<(), AccessFault> {
        if self.read_tlb.refit(address, bytes).is_some() {
            return Ok(());
        }
        self.readable(address, bytes as usize).map(|_| ())
    }

    /// The same for stores.
    #[inline]
    pub fn know_writable(&mut self, address: u64, bytes: u64) -> Result<(), AccessFault> {
        if self.write_tlb.refit(address, bytes).is_some() {
            return Ok(());
        }
        self.writable(Writer::Guest, address, bytes as usize).map(|_| ())
    }

    /// Fills `buffer` from `address` on, as the guest or the kernel may. After a fault, the bytes before the
    /// one at fault have been filled.
    pub fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), AccessFault> {
        for (address, range) in pieces(address, buffer.len()) {
            let host = self.readable(address, range.len())?;
            if let Some(part) = buffer.get_mut(range) {
                // SAFETY: a piece lies within one page, which is alive; `buffer` is no guest memory.
                unsafe { part.as_mut_ptr().copy_from_nonoverlapping(host, part.len()) };
            }
        }
        Ok(())
    }

    /// Writes all of `buffer` as the guest or the kernel may or, if that faults, nothing. Marks on code pages
    /// are taken off.
    pub fn write(&mut self, address: u64, buffer: &[u8]) -> Result<(), AccessFault> {
        self.write_as(Writer::Kernel, address, buffer)
    }

    /// Writes all of `buffer` whatever the permissions are or, if not all of it is mapped, nothing.
    pub fn poke(&mut self, address: u64, buffer: &[u8]) -> Result<(), AccessFault> {
        self.write_as(Writer::Debugger, address, buffer)
    }

    /// The bytes from `address` up to a zero byte, without it. If there is none in `max` bytes, these.
    pub fn read_cstr(&mut self, address: u64, max: usize) -> Result<Vec<u8>, AccessFault> {
        let mut text = Vec::new();
        for (address, range) in pieces(address, max) {
            let host = self.readable(address, range.len())?;
            // SAFETY: a piece lies within one page, which is alive and not written while this is borrowed.
            let part = unsafe { std::slice::from_raw_parts(host, range.len()) };
            match part.iter().position(|&byte| byte == 0) {
                Some(length) => {
                    text.extend_from_slice(&part[..length]);
                    break;
                }
                None => text.extend_from_slice(part),
            }
        }
        Ok(text)
    }

    /// Fills `buffer` with what is mapped from `address` on, whatever the permissions are, and says how many
    /// bytes that is. Changes nothing.
    pub fn peek(&self, address: u64, buffer: &mut [u8]) -> usize {
        self.copy_out(address, buffer, |_| true)
    }

    /// Fills `buffer` with the executable bytes from `address` on, and says how many there are.
    pub fn fetch(&self, address: u64, buffer: &mut [u8]) -> usize {
        self.copy_out(address, buffer, |region| region.permissions.execute)
    }

    #[cold]
    #[inline(never)]
    fn load_slowly<T: Scalar>(&mut self, address: u64) -> Result<T, AccessFault> {
        let mut value = T::default();
        // SAFETY: a scalar may hold any bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut((&raw mut value).cast::<u8>(), size_of::<T>()) };
        self.read(address, bytes).map_err(|fault| fault.of_whole_access(address, size_of::<T>()))?;
        Ok(value.little_endian())
    }

    #[cold]
    #[inline(never)]
    fn store_slowly<T: Scalar>(&mut self, address: u64, value: T) -> Result<(), AccessFault> {
        let value = value.little_endian();
        // SAFETY: a scalar has no padding.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
        let written = self.write_as(Writer::Guest, address, bytes);
        written.map_err(|fault| fault.of_whole_access(address, size_of::<T>()))
    }

    fn write_as(&mut self, writer: Writer, address: u64, buffer: &[u8]) -> Result<(), AccessFault> {
        // One page is prepared and written in one go. For more, all are checked before any is touched.
        if pieces(address, buffer.len()).nth(1).is_some() {
            self.check_write(writer, address, buffer.len())?;
        }
        for (address, range) in pieces(address, buffer.len()) {
            let host = self.writable(writer, address, range.len())?;
            if let Some(part) = buffer.get(range) {
                // SAFETY: a piece lies within one page, which was just opened for writing.
                unsafe { host.copy_from_nonoverlapping(part.as_ptr(), part.len()) };
            }
        }
        Ok(())
    }

    /// Where the bytes at `address`, which lie in one page, can be read.
    fn readable(&mut self, address: u64, length: usize) -> Result<*const u8, AccessFault> {
        let (tlb, size) = (&mut self.read_tlb, length as u64);
        if let Some(host) = tlb.hit(address, size).or_else(|| tlb.refit(address, size)) {
            return Ok(host);
        }
        if self.unchecked
            && let Some(host) = self.read_tlb.find(address, size)
        {
            return Ok(host);
        }
        let fault = |cause| AccessFault { address, access: Access::Read, cause };
        let region = self.regions.at(address).ok_or_else(|| fault(absence(address)))?;
        if !region.permissions.readable() {
            return Err(fault(Cause::Protected));
        }
        let extent = self.extent(address, length as u64, Access::Read)?;
        let page = address & PAGE_MASK;
        let host = match self.tree.get(page / PAGE_SIZE) {
            Some(present) => present.host(),
            None if region.backing_at(page).is_empty() => zero_page(),
            None if self.resident >= self.limit => return Err(fault(Cause::OutOfMemory)),
            None => {
                let fresh = fresh_page(region, page);
                let host = fresh.host();
                *self.tree.slot_for_unwritten(page / PAGE_SIZE) = Some(fresh);
                self.resident += 1;
                host
            }
        };
        if let Some(extent) = extent {
            self.read_tlb.set(page, host, extent.range, extent.shadow);
        }
        Ok(host.wrapping_add((address - page) as usize))
    }

    /// Opens the page of `address` for writing so many bytes, which lie in it, and says where they are.
    fn writable(&mut self, writer: Writer, address: u64, length: usize) -> Result<*mut u8, AccessFault> {
        let (tlb, size) = (&mut self.write_tlb, length as u64);
        let known = match writer {
            // Whatever is forbidden; but what stands there may have to be noticed.
            Writer::Debugger => None,
            Writer::Guest | Writer::Kernel => tlb.hit(address, size).or_else(|| tlb.refit(address, size)),
        };
        if let Some(host) = known {
            return Ok(host);
        }
        let region = permitted(&self.regions, &self.code, writer, address)?;
        let extent = match writer {
            Writer::Debugger => None,
            Writer::Guest | Writer::Kernel => self.extent(address, length as u64, Access::Write)?,
        };
        let page = address & PAGE_MASK;
        if self.resident >= self.limit && self.tree.get(page / PAGE_SIZE).is_none() {
            return Err(fault(address, Cause::OutOfMemory));
        }
        if self.code.unmark(page) || (writer == Writer::Debugger && region.permissions.execute) {
            self.code.changed();
        }
        let slot = self.tree.slot_for_written(page / PAGE_SIZE);
        let present = match slot {
            Some(shared) => {
                if !is_unique(shared) {
                    *shared = shared.copy();
                }
                shared
            }
            None => {
                self.resident += 1;
                slot.insert(fresh_page(region, page))
            }
        };
        let host = present.open();
        // Reads went to the page of zeros or to the page that was shared until now.
        self.read_tlb.replace(page, host);
        if let Some(extent) = extent {
            self.write_tlb.set(page, host, extent.range, extent.shadow);
        }
        Ok(host.wrapping_add((address - page) as usize))
    }

    /// Whether the guest could store so many bytes, and none of them is code.
    pub fn check_store(&self, address: u64, length: usize) -> Result<(), AccessFault> {
        self.check_write(Writer::Guest, address, length)?;
        let last = address.saturating_add(length.saturating_sub(1) as u64);
        let is_code = |address| self.regions.at(address).is_some_and(|region| region.permissions.execute);
        if is_code(address) || is_code(last) { Err(fault(address, Cause::CodePage)) } else { Ok(()) }
    }

    /// Whether a write would succeed, over several pages.
    fn check_write(&self, writer: Writer, address: u64, length: usize) -> Result<(), AccessFault> {
        let mut room = self.limit.saturating_sub(self.resident);
        for (address, range) in pieces(address, length) {
            permitted(&self.regions, &self.code, writer, address)?;
            if writer != Writer::Debugger {
                self.extent(address, range.len() as u64, Access::Write)?;
            }
            if self.tree.get(address / PAGE_SIZE).is_none() {
                room = room.checked_sub(1).ok_or_else(|| fault(address, Cause::OutOfMemory))?;
            }
        }
        Ok(())
    }

    fn copy_out(&self, address: u64, buffer: &mut [u8], allowed: impl Fn(&Region) -> bool) -> usize {
        let mut copied = 0;
        for (address, range) in pieces(address, buffer.len()) {
            let Some(region) = self.regions.at(address).filter(|region| allowed(region)) else { break };
            let Some(part) = buffer.get_mut(range) else { break };
            let content = match self.tree.get(address / PAGE_SIZE) {
                Some(page) => &page.bytes()[(address % PAGE_SIZE) as usize..],
                None => region.backing_at(address),
            };
            let (head, tail) = part.split_at_mut(part.len().min(content.len()));
            head.copy_from_slice(&content[..head.len()]);
            tail.fill(0);
            copied += part.len();
        }
        copied
    }
}

impl AccessFault {
    /// That an address is canonical is checked for all bytes of an access before any is looked for.
    fn of_whole_access(self, address: u64, size: usize) -> AccessFault {
        let last = address.wrapping_add(size as u64 - 1);
        match absence(last) {
            Cause::NonCanonical if self.cause == Cause::Unmapped => {
                AccessFault { cause: Cause::NonCanonical, ..self }
            }
            _ => self,
        }
    }
}

/// Replaces a value in guest memory, and returns it.
///
/// # Safety
/// The bytes must be alive, and whoever borrows them exclusively their only owner.
#[inline(always)]
unsafe fn replace<T: Scalar>(host: *mut T, change: impl FnOnce(T) -> T) -> T {
    // SAFETY: as above.
    unsafe {
        let old = host.read_unaligned().little_endian();
        host.write_unaligned(change(old).little_endian());
        old
    }
}

/// The region of `address`, if `writer` may write there.
fn permitted<'a>(
    regions: &'a Regions,
    code: &Code,
    writer: Writer,
    address: u64,
) -> Result<&'a Region, AccessFault> {
    let region = regions.at(address).ok_or_else(|| fault(address, absence(address)))?;
    if writer != Writer::Debugger && !region.permissions.write {
        return Err(fault(address, Cause::Protected));
    }
    if writer == Writer::Guest && code.refuses(address & PAGE_MASK) {
        return Err(fault(address, Cause::CodePage));
    }
    Ok(region)
}

/// A page as the region's backing has it.
fn fresh_page(region: &Region, page: u64) -> std::sync::Arc<Page> {
    let content = region.backing_at(page);
    Page::filled(|bytes| bytes[..content.len()].copy_from_slice(content))
}

#[cold]
fn fault(address: u64, cause: Cause) -> AccessFault {
    AccessFault { address, access: Access::Write, cause }
}

/// Splits an access at page boundaries: the address of each piece, and which of the bytes it covers. At the
/// very top of the address space it goes on at zero, but nothing is ever mapped at the top.
fn pieces(address: u64, length: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let here = address.wrapping_add(done as u64);
        let size = ((PAGE_SIZE - here % PAGE_SIZE) as usize).min(length - done);
        let range = done..done + size;
        done += size;
        (size > 0).then_some((here, range))
    })
}
