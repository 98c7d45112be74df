//! Symbol tables: from an address to the name around it, and back.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use object::elf::{STB_GLOBAL, STB_WEAK, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol};

use crate::demangle::{demangle, without_parameters};
use crate::near::edit_distance;
use crate::object_file::{ObjectFile, parse, range_within};

/// So many symbols before an address are asked whether they reach it.
const MOST_NESTED: usize = 64;

/// How many names a message suggests.
const MOST_SUGGESTED: usize = 5;

/// How many symbols of one name are told apart.
const MOST_CANDIDATES: usize = 20;

/// A symbol that was asked for by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSymbol {
    /// Demangled.
    pub name: String,
    pub object: Arc<str>,
    pub address: u64,
    /// As the table says, or up to the next symbol when it does not say.
    pub size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    #[error("no symbol is called {name}{}", suggest(.close))]
    NotFound { name: String, close: Vec<String> },
    #[error("{} symbols are called {name}; give one's address instead:{}", .candidates.len(), list(.candidates))]
    Ambiguous { name: String, candidates: Vec<FoundSymbol> },
    #[error("no symbol is called {name}: the program is stripped; give an address (0x…) instead")]
    Stripped { name: String },
}

/// A symbol at an address of its object.
pub(crate) struct NamedSymbol<'a> {
    pub name: &'a str,
    pub address: u64,
    /// As the table says, or up to the next symbol.
    pub size: u64,
    /// The table says how large it is.
    pub has_size: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Label,
    Data,
    Code,
}

struct Symbol {
    address: u64,
    /// As the table says; 0 when it does not.
    size: u64,
    /// End of the section; nothing reaches further.
    limit: u64,
    kind: Kind,
    /// Local, weak, global.
    binding: u8,
    /// Where the name is in `content` or in the debug file's.
    name: Range<usize>,
    in_debug_file: bool,
}

pub(crate) struct SymbolTable {
    /// Sorted by address; of those at one address the best comes last.
    symbols: Vec<Symbol>,
    /// There is no full table, only, perhaps, what the dynamic linker needs.
    is_stripped: bool,
}

impl SymbolTable {
    pub fn new(object: &ObjectFile) -> SymbolTable {
        let mut symbols = Vec::new();
        let content = object.content();
        let mut is_stripped = !collect(content, false, true, &mut symbols);
        if is_stripped && let Some(debug) = object.debug_content() {
            is_stripped = !collect(debug, true, true, &mut symbols);
        }
        collect(content, false, false, &mut symbols);
        symbols.sort_by(|a, b| {
            let order = a.address.cmp(&b.address);
            order.then_with(|| merit(object, a).cmp(&merit(object, b)))
        });
        SymbolTable { symbols, is_stripped }
    }

    /// The symbol that `address` belongs to.
    pub fn at<'a>(&self, object: &'a ObjectFile, address: u64) -> Option<NamedSymbol<'a>> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let before = self.symbols.get(..after)?;
        let mut nested = (0..after).rev().take(MOST_NESTED);
        let reaching = nested.find(|index| address - before[*index].address < before[*index].size);
        // Hand-written assembly has symbols without sizes.
        let nearest = || {
            let last = before.last()?;
            (last.size == 0 && address < last.limit).then_some(after - 1)
        };
        let index = reaching.or_else(nearest)?;
        let symbol = &before[index];
        Some(NamedSymbol {
            name: name(object, symbol),
            address: symbol.address,
            size: self.extent(index),
            has_size: symbol.size > 0,
        })
    }

    /// The size by the table, or the distance to the next symbol.
    fn extent(&self, index: usize) -> u64 {
        let symbol = &self.symbols[index];
        if symbol.size > 0 {
            return symbol.size;
        }
        let next = self.symbols[index..].iter().find(|next| next.address > symbol.address);
        let end = next.map_or(symbol.limit, |next| next.address.min(symbol.limit));
        end.saturating_sub(symbol.address)
    }
}

/// Which of several symbols at one address people know it by; the best is the greatest. Libraries have
/// internal names for what they export, which are local or begin with underscores.
fn merit<'a>(object: &'a ObjectFile, symbol: &Symbol) -> impl Ord + use<'a> {
    let name = name(object, symbol);
    let underscores = name.bytes().take_while(|byte| *byte == b'_').count();
    let is_exported = symbol.binding > 0;
    let by_name = (Reverse(underscores), symbol.binding, Reverse(name.len()), Reverse(name));
    (symbol.kind, symbol.size > 0, is_exported, by_name)
}

/// Finds a name in several objects, each with its bias. Exact names come before demangled ones.
pub(crate) fn find<'a>(
    objects: impl Iterator<Item = (&'a ObjectFile, u64)>,
    wanted: &str,
) -> Result<FoundSymbol, SymbolError> {
    let objects: Vec<_> = objects.collect();
    let is_exact = |name: &str| name == wanted;
    let is_demangled = |name: &str| {
        !is_moved_part(name)
            && demangle(name).is_some_and(|full| full == wanted || without_parameters(&full) == wanted)
    };
    let mut found = matching(&objects, &is_exact);
    if found.is_empty() {
        found = matching(&objects, &is_demangled);
    }
    match found.len() {
        0 if objects.iter().all(|(object, _)| object.symbols().is_stripped) => {
            Err(SymbolError::Stripped { name: wanted.to_owned() })
        }
        0 => Err(SymbolError::NotFound { name: wanted.to_owned(), close: close_names(&objects, wanted) }),
        1 => Ok(found.remove(0)),
        _ => Err(SymbolError::Ambiguous { name: wanted.to_owned(), candidates: found }),
    }
}

/// The address of the only function of this name, as the linker knows it.
pub(crate) fn single<'a>(objects: impl Iterator<Item = (&'a ObjectFile, u64)>, wanted: &str) -> Option<u64> {
    let objects: Vec<_> = objects.collect();
    match matching(&objects, &|name| name == wanted).as_slice() {
        [only] => Some(only.address),
        _ => None,
    }
}

fn matching(objects: &[(&ObjectFile, u64)], wanted: &dyn Fn(&str) -> bool) -> Vec<FoundSymbol> {
    let mut found: Vec<FoundSymbol> = Vec::new();
    for (object, bias) in objects {
        let table = object.symbols();
        for (index, symbol) in table.symbols.iter().enumerate() {
            let raw = name(object, symbol);
            let address = symbol.address.wrapping_add(*bias);
            // Both tables of an object name the same function.
            if found.len() < MOST_CANDIDATES
                && wanted(raw)
                && found.iter().all(|other| other.address != address)
            {
                let name = demangle(raw).unwrap_or_else(|| raw.to_owned());
                found.push(FoundSymbol {
                    name,
                    object: object.path.clone(),
                    address,
                    size: table.extent(index),
                });
            }
        }
    }
    found
}

fn close_names(objects: &[(&ObjectFile, u64)], wanted: &str) -> Vec<String> {
    let most = wanted.chars().count() / 3 + 1;
    let folded = wanted.to_lowercase();
    let mut close: Vec<(usize, String)> = Vec::new();
    for (object, _) in objects {
        for symbol in object.symbols().symbols.iter().filter(|symbol| symbol.kind == Kind::Code) {
            let raw = name(object, symbol);
            let full = demangle(raw);
            let plain = full.as_deref().map_or(raw, without_parameters);
            let last = plain.rsplit("::").next().unwrap_or(plain);
            let distance = if last == wanted || plain.to_lowercase().contains(&folded) {
                1
            } else {
                edit_distance(last, wanted, most)
            };
            if distance <= most {
                close.push((distance, plain.to_owned()));
            }
        }
    }
    close.sort();
    close.dedup();
    close.into_iter().take(MOST_SUGGESTED).map(|(_, name)| name).collect()
}

/// Adds the symbols of .symtab or .dynsym; returns whether there were any.
fn collect(content: &Arc<Vec<u8>>, in_debug_file: bool, full: bool, found: &mut Vec<Symbol>) -> bool {
    let Some(elf) = parse(content) else { return false };
    let before = found.len();
    let symbols = if full { elf.symbols() } else { elf.dynamic_symbols() };
    for symbol in symbols {
        let raw = symbol.elf_symbol();
        let kind = match raw.st_type() {
            STT_FUNC | STT_GNU_IFUNC => Kind::Code,
            STT_OBJECT => Kind::Data,
            STT_NOTYPE => Kind::Label,
            _ => continue,
        };
        let binding = match raw.st_bind() {
            STB_GLOBAL => 2,
            STB_WEAK => 1,
            _ => 0,
        };
        // Symbols without a section are undefined or absolute.
        let Some(section) = symbol.section_index().and_then(|index| elf.section_by_index(index).ok()) else {
            continue;
        };
        let Some(name) = symbol.name().ok().map(without_version).filter(|name| !name.is_empty()) else {
            continue;
        };
        let Some(name) = range_within(content, name.as_bytes()) else { continue };
        let limit = section.address().saturating_add(section.size());
        let (address, size) = (raw.st_value.get(LittleEndian), raw.st_size.get(LittleEndian));
        found.push(Symbol { address, size, limit, kind, binding, name, in_debug_file });
    }
    found.len() > before
}

/// Whether this is the name of the part of a function that a compiler moved away because it is rarely executed.
pub(crate) fn is_moved_part(name: &str) -> bool {
    name.ends_with(".cold") || name.contains(".cold.")
}

/// `memcpy@@GLIBC_2.14` is memcpy.
fn without_version(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}

fn name<'a>(object: &'a ObjectFile, symbol: &Symbol) -> &'a str {
    let content = if symbol.in_debug_file { object.debug_content() } else { Some(object.content()) };
    let bytes = content.and_then(|content| content.get(symbol.name.clone())).unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn suggest(close: &[String]) -> String {
    match close {
        [] => String::new(),
        names => format!("; close to it: {}", names.join(", ")),
    }
}

fn list(candidates: &[FoundSymbol]) -> String {
    let line = |symbol: &FoundSymbol| format!("\n  {:#x}  {}", symbol.address, symbol.name);
    candidates.iter().map(line).collect()
}
