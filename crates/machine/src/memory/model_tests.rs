//! Random operations on memory against a model that is too simple to be wrong: a map from page to bytes.

use super::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGES: u64 = 24;
/// The second page of each pair shares its TLB entry with the first of the pair before.
const PAIR_DISTANCE: u64 = 1023;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }
}

#[derive(Clone)]
struct ModelPage {
    permissions: Permissions,
    bytes: Vec<u8>,
    written: bool,
    marked: bool,
}

/// What each mapped page holds, by its address.
type Model = BTreeMap<u64, ModelPage>;

fn model_read(model: &Model, address: u64, length: u64) -> Result<Vec<u8>, AccessFault> {
    let mut bytes = Vec::new();
    for address in address..address + length {
        let cause = match model.get(&(address & PAGE_MASK)) {
            None => Cause::Unmapped,
            Some(page) if page.permissions == Permissions::NONE => Cause::Protected,
            Some(page) => {
                bytes.push(page.bytes[(address % PAGE_SIZE) as usize]);
                continue;
            }
        };
        return Err(AccessFault { address, access: Access::Read, cause });
    }
    Ok(bytes)
}

fn model_write(
    model: &mut Model,
    address: u64,
    bytes: &[u8],
    guest: bool,
    force: bool,
) -> Result<(), AccessFault> {
    let addresses = address..address + bytes.len() as u64;
    for address in addresses.clone() {
        let cause = match model.get(&(address & PAGE_MASK)) {
            None => Cause::Unmapped,
            Some(page) if !force && !page.permissions.write => Cause::Protected,
            Some(page) if guest && page.marked => Cause::CodePage,
            Some(_) => continue,
        };
        return Err(AccessFault { address, access: Access::Write, cause });
    }
    for (address, byte) in addresses.zip(bytes) {
        let page = model.get_mut(&(address & PAGE_MASK)).unwrap();
        page.bytes[(address % PAGE_SIZE) as usize] = *byte;
        page.written = true;
        page.marked = false;
    }
    Ok(())
}

/// The pages in use come in pairs of neighbours, so that accesses can cross, far apart from each other.
fn page_address(number: u64) -> u64 {
    0x40_0000 + (number / 2 * PAIR_DISTANCE + number % 2) * PAGE_SIZE
}

fn step(random: &mut Random, memory: &mut Memory, model: &mut Model) {
    const PERMISSIONS: [Permissions; 5] =
        [Permissions::NONE, Permissions::R, Permissions::RW, Permissions::RX, Permissions::RWX];
    let start = page_address(random.below(PAGES));
    // Mostly a page or two; now and then a range over many.
    let length = if random.below(8) == 0 { random.below(PAIR_DISTANCE * PAGES) } else { 1 + random.below(2) };
    let end = start + length * PAGE_SIZE;
    let permissions = PERMISSIONS[random.below(5) as usize];
    let address = match random.below(4) {
        0 => (start + PAGE_SIZE).wrapping_sub(random.below(16)),
        _ => start + random.below(PAGE_SIZE),
    };
    let value = u128::from(random.next()) << 64 | u128::from(random.next());
    let bulk: Vec<u8> = (0..random.below(6000)).map(|place| (value >> (place % 13)) as u8).collect();
    match random.below(40) {
        0..4 => {
            let end = start + (1 + length % 2) * PAGE_SIZE;
            let offset = random.below(3000);
            let (whole, backing) = match random.below(2) {
                0 => (&[][..], Backing::Zero),
                _ => (&bulk[..], Backing::Bytes { content: Arc::new(bulk.clone()), offset }),
            };
            memory.map(Region { start, end, permissions, backing, name: "".into(), shared: false });
            for page in (start..end).step_by(PAGE_SIZE as usize) {
                let at = |place| whole.get((offset + page - start + place) as usize).copied().unwrap_or(0);
                let bytes = (0..PAGE_SIZE).map(at).collect();
                model.insert(page, ModelPage { permissions, bytes, written: false, marked: false });
            }
        }
        4 => {
            memory.unmap(start, end);
            model.retain(|page, _| !(start..end).contains(page));
        }
        5..8 => {
            let all = (start..end).step_by(PAGE_SIZE as usize).all(|page| model.contains_key(&page));
            assert_eq!(memory.protect(start, end, permissions).is_ok(), all);
            for (_, page) in model.range_mut(start..end).filter(|_| all) {
                page.marked &= !page.permissions.execute || permissions == page.permissions;
                page.permissions = permissions;
            }
        }
        8 => {
            let to = page_address(random.below(PAGES));
            memory.relocate(start, end, to);
            if to != start {
                let moved: Vec<(u64, ModelPage)> =
                    model.range(start..end).map(|(page, content)| (*page, content.clone())).collect();
                model.retain(|page, _| {
                    !(start..end).contains(page) && !(to..to + (end - start)).contains(page)
                });
                for (page, content) in moved {
                    model.insert(page - start + to, ModelPage { marked: false, ..content });
                }
            }
        }
        9 => {
            // Only mapped pages that can be written and executed are ever marked.
            if let Some(page) = model.get_mut(&start).filter(|page| page.permissions == Permissions::RWX) {
                page.marked = true;
                memory.mark_code(address & !PAGE_MASK | start);
            }
        }
        10 => {
            let expected = model_write(model, address, &value.to_le_bytes(), false, false);
            memory.open_marked_code(true);
            assert_eq!(memory.store(address, value), expected);
            memory.open_marked_code(false);
        }
        11..14 => {
            let expected = model_write(model, address, &bulk, false, false);
            assert_eq!(memory.write(address, &bulk), expected);
        }
        14 => {
            let expected = model_write(model, address, &bulk, false, true);
            assert_eq!(memory.poke(address, &bulk), expected);
        }
        15..17 => {
            let mut buffer = vec![0; bulk.len()];
            let result = memory.read(address, &mut buffer).map(|()| buffer);
            assert_eq!(result, model_read(model, address, bulk.len() as u64));
        }
        17 => {
            let mut buffer = vec![0; 32];
            let count = memory.fetch(address, &mut buffer);
            let executable = |address: &u64| {
                model.get(&(address & PAGE_MASK)).is_some_and(|page| page.permissions.execute)
            };
            assert_eq!(count, (address..address + 32).take_while(executable).count());
            assert_eq!(buffer[..count], model_read(model, address, count as u64).unwrap());
        }
        18 => {
            memory.hash();
        }
        19..29 => match random.below(5) {
            0 => check_load::<u8>(memory, model, address),
            1 => check_load::<u16>(memory, model, address),
            2 => check_load::<u32>(memory, model, address),
            3 => check_load::<u64>(memory, model, address),
            _ => check_load::<u128>(memory, model, address),
        },
        _ => match random.below(5) {
            0 => check_store(memory, model, address, value as u8, value),
            1 => check_store(memory, model, address, value as u16, value),
            2 => check_store(memory, model, address, value as u32, value),
            3 => check_store(memory, model, address, value as u64, value),
            _ => check_store(memory, model, address, value, value),
        },
    }
}

fn check_load<T: Scalar + Into<u128>>(memory: &mut Memory, model: &Model, address: u64) {
    let expected = model_read(model, address, size_of::<T>() as u64)
        .map(|bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte)));
    assert_eq!(memory.load::<T>(address).map(Into::into), expected, "{address:#x}");
}

fn check_store<T: Scalar>(memory: &mut Memory, model: &mut Model, address: u64, value: T, wide: u128) {
    let bytes = &wide.to_le_bytes()[..size_of::<T>()];
    let expected = model_write(model, address, bytes, true, false);
    assert_eq!(memory.store(address, value), expected, "{address:#x}");
}

/// Everything that can be asked, page by page.
fn check_whole(memory: &Memory, model: &Model) {
    let mut bytes = vec![0; PAGE_SIZE as usize];
    for number in 0..PAGES {
        for page in (page_address(number)..).step_by(PAGE_SIZE as usize).take(3) {
            let expected = model.get(&page);
            assert_eq!(
                memory.region_at(page).map(|region| region.permissions),
                expected.map(|page| page.permissions)
            );
            assert_eq!(memory.peek(page, &mut bytes), expected.map_or(0, |page| page.bytes.len()));
            assert!(expected.is_none_or(|page| page.bytes == bytes));
        }
    }
    let written: Vec<u64> =
        model.iter().filter(|(_, page)| page.written).map(|(address, _)| *address).collect();
    assert_eq!(memory.written_pages().collect::<Vec<_>>(), written);
    let mapped: u64 = memory.regions().iter().map(|region| region.end - region.start).sum();
    assert_eq!(mapped, model.len() as u64 * PAGE_SIZE);
    assert!(memory.regions().windows(2).all(|pair| pair[0].end <= pair[1].start));
    let mut resident = 0;
    memory.tree.for_each(0, u64::MAX, &mut |_, _| resident += 1);
    assert_eq!(memory.resident_pages(), resident);
}

/// The hash depends on nothing but what the model knows, so a memory built from the model has the same.
fn rebuilt(model: &Model) -> Memory {
    let mut memory = Memory::new(1 << 30);
    for (&start, page) in model {
        let end = start + PAGE_SIZE;
        let (permissions, backing) = (page.permissions, Backing::Zero);
        memory.map(Region { start, end, permissions, backing, name: "".into(), shared: false });
        if page.written {
            memory.poke(start, &page.bytes).unwrap();
        }
    }
    memory
}

#[test]
fn memory_and_its_forks_behave_like_the_model() {
    for seed in 1..=8 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed << 32);
        let mut pairs = vec![(Memory::new(1 << 30), Model::new())];
        for count in 0..4000 {
            let chosen = random.below(pairs.len() as u64) as usize;
            match random.below(50) {
                0 if pairs.len() < 4 => {
                    let fork = (pairs[chosen].0.fork(), pairs[chosen].1.clone());
                    pairs.push(fork);
                }
                1 if pairs.len() > 1 => drop(pairs.swap_remove(chosen)),
                _ => {
                    let (memory, model) = &mut pairs[chosen];
                    step(&mut random, memory, model);
                }
            }
            if count % 100 == 0 {
                pairs.iter().for_each(|(memory, model)| check_whole(memory, model));
            }
        }
        for (memory, model) in &pairs {
            check_whole(memory, model);
            assert_eq!(memory.tree.digest(&mut 0), rebuilt(model).tree.digest(&mut 0));
        }
    }
}
