//! Looks for the functions of the checked heap in an object that has been mapped, and hangs hooks on them.

use std::ops::Range;
use std::sync::Arc;

use machine::{Backing, Check, Hook, Machine, Region};
use object::elf::{STB_LOCAL, STT_FUNC, STT_GNU_IFUNC};
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use super::CheckedHeap;
use super::names::{Function, Named, Role, meaning};

/// More symbols than that are not looked at.
const MOST_SYMBOLS: usize = 4 << 20;

type Elf<'a> = ElfFile64<'a, Endianness>;

/// A symbol that means something here.
struct Known {
    named: Named,
    address: u64,
    size: u64,
    /// The symbol is that of a function which says where the function is.
    indirect: bool,
    local: bool,
}

/// An executable mapping of an object, and by how much its addresses differ from those in its file.
struct Mapped<'a> {
    region: &'a Region,
    elf: Elf<'a>,
    bias: u64,
}

impl CheckedHeap {
    /// Looks at what is mapped and executable at an address.
    pub fn examine(&mut self, machine: &mut Machine, address: u64, program: &str) {
        let Some(region) = machine.memory.region_at(address).cloned() else { return };
        let code = region.start..region.end;
        let Some(mapped) = Mapped::new(&region) else { return };
        let known = mapped.known();
        self.knows_symbols |= mapped.elf.symbols().next().is_some();
        let is_program = *region.name == *program;
        let mut hooks: Vec<(u64, Hook)> = Vec::new();
        let mut unchecked: Vec<Range<u64>> = Vec::new();
        if known.iter().any(|known| matches!(known.named, Named::Loader)) {
            unchecked.push(code.clone());
        }
        self.note_runtime(&known, is_program);
        let has_runtime = known.iter().any(|known| matches!(known.named, Named::CppRuntime));
        let own_rust = known.iter().any(|known| matches!(known.named, Named::RustAllocator));
        for Known { named, address, size, indirect, local } in known {
            if !code.contains(&address) {
                continue;
            }
            match named {
                Named::Function(function) if !local => hooks.push(self.serve(address, function)),
                Named::Operator(function) if has_runtime && !is_program && !self.replaces_operators => {
                    hooks.push(self.serve(address, function));
                }
                Named::Rust(function) if !own_rust => hooks.push(self.serve(address, function)),
                Named::Exit if !local => {
                    self.add_role(address, Role::Exit);
                    hooks.push((address, Hook::Pause));
                }
                Named::Contract(check) if indirect => {
                    self.add_role(address, Role::Resolver(check));
                    hooks.push((address, Hook::Pause));
                }
                Named::Contract(check) if !local && size > 0 => {
                    hooks.push((address, Hook::Check(check)));
                    unchecked.push(address..address.saturating_add(size));
                }
                _ => {}
            }
        }
        machine.change_hooks(code.clone(), |all| {
            all.forget(code);
            hooks.into_iter().for_each(|(address, hook)| all.add(address, hook));
            unchecked.into_iter().for_each(|code| all.leave_unchecked(code));
        });
    }

    /// The function with this contract is at this address.
    pub fn resolved(&mut self, machine: &mut Machine, address: u64, check: Check) {
        let Some(region) = machine.memory.region_at(address).cloned() else { return };
        let Some(end) = Mapped::new(&region).and_then(|mapped| mapped.end_of_function(address)) else {
            return;
        };
        // Whose loads are left alone without a check of what it reads would not be checked at all.
        if machine.hooks().get(address).is_none() {
            machine.change_hooks(address..end, |all| {
                all.add(address, Hook::Check(check));
                all.leave_unchecked(address..end);
            });
        }
    }

    fn note_runtime(&mut self, known: &[Known], is_program: bool) {
        let find = |wanted: fn(&Named) -> bool| {
            known.iter().find(|known| wanted(&known.named) && !known.indirect).map(|known| known.address)
        };
        if let Some(address) = find(|named| matches!(named, Named::ErrnoLocation)) {
            self.errno_location = Some(address);
        }
        if let Some(address) = find(|named| matches!(named, Named::ThrowBadAlloc)) {
            self.throw = Some(address);
        }
        self.replaces_operators |= is_program && find(|named| matches!(named, Named::Operator(_))).is_some();
    }

    fn serve(&mut self, address: u64, function: Function) -> (u64, Hook) {
        self.add_role(address, Role::Serve(function));
        (address, Hook::Serve)
    }

    fn add_role(&mut self, address: u64, role: Role) {
        Arc::make_mut(&mut self.roles).insert(address, role);
    }
}

impl<'a> Mapped<'a> {
    fn new(region: &'a Region) -> Option<Mapped<'a>> {
        let Backing::Bytes { content, offset } = &region.backing else { return None };
        let elf = Elf::parse(&***content).ok()?;
        let endian = elf.endian();
        let segments = elf
            .elf_program_headers()
            .iter()
            .filter(|header| header.p_type.get(endian) == object::elf::PT_LOAD);
        let mut found = None;
        for segment in segments {
            let (start, size) = (segment.p_offset.get(endian), segment.p_filesz.get(endian));
            let first = start & !(machine::PAGE_SIZE - 1);
            if *offset >= first && *offset < start.saturating_add(size) {
                let at = segment.p_vaddr.get(endian) & !(machine::PAGE_SIZE - 1);
                found = Some(region.start.wrapping_sub(at.wrapping_add(offset - first)));
            }
        }
        Some(Mapped { region, elf, bias: found? })
    }

    /// The symbols that mean something, each address of a meaning once.
    fn known(&self) -> Vec<Known> {
        let endian = self.elf.endian();
        let all = self.elf.dynamic_symbols().chain(self.elf.symbols()).take(MOST_SYMBOLS);
        let mut known: Vec<Known> = Vec::new();
        for symbol in all {
            let raw = symbol.elf_symbol();
            let (value, section) = (raw.st_value(endian), raw.st_shndx(endian));
            if value == 0 || section == object::elf::SHN_UNDEF {
                continue;
            }
            let Some(named) = symbol.name_bytes().ok().and_then(meaning) else { continue };
            let kind = raw.st_type();
            if kind != STT_FUNC && kind != STT_GNU_IFUNC && !matches!(named, Named::Loader) {
                continue;
            }
            let address = value.wrapping_add(self.bias);
            if known.iter().any(|known| known.address == address && known.local) {
                known.retain(|known| known.address != address);
            }
            if known.iter().all(|known| known.address != address || matches!(known.named, Named::CppRuntime))
            {
                known.push(Known {
                    named,
                    address,
                    size: raw.st_size(endian),
                    indirect: kind == STT_GNU_IFUNC,
                    local: raw.st_bind() == STB_LOCAL,
                });
            }
        }
        known
    }

    /// Where the function that begins at an address ends.
    fn end_of_function(&self, address: u64) -> Option<u64> {
        let endian = self.elf.endian();
        let value = address.wrapping_sub(self.bias);
        let symbols = self.elf.symbols().chain(self.elf.dynamic_symbols()).take(MOST_SYMBOLS);
        let sizes = symbols.filter_map(|symbol| {
            let raw = symbol.elf_symbol();
            let is_it = raw.st_value(endian) == value && raw.st_type() == STT_FUNC;
            is_it.then(|| raw.st_size(endian))
        });
        let end = match sizes.max().filter(|&size| size > 0) {
            Some(size) => address.checked_add(size)?,
            None => self.next_function(value)?.wrapping_add(self.bias),
        };
        (end > address && end <= self.region.end).then_some(end)
    }

    /// Where the next function begins, by the table that exceptions are unwound by: sorted pairs of 32-bit distances from the table's
    /// own section, as all linkers write it.
    fn next_function(&self, value: u64) -> Option<u64> {
        const HEADER: usize = 12;
        const SORTED_BY_DISTANCE: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
        let section = self.elf.section_by_name(".eh_frame_hdr")?;
        let data = section.data().ok()?;
        if data.get(..4)? != SORTED_BY_DISTANCE {
            return None;
        }
        let rows = data.get(HEADER..)?.as_chunks::<8>().0;
        let begin = |row: &[u8; 8]| {
            let distance = i32::from_le_bytes([row[0], row[1], row[2], row[3]]);
            section.address().wrapping_add_signed(distance.into())
        };
        let after = rows.partition_point(|row| begin(row) <= value);
        let known = after.checked_sub(1).and_then(|last| rows.get(last)).map(begin);
        (known == Some(value)).then(|| rows.get(after).map(begin))?
    }
}
