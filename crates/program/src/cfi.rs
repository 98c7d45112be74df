//! Call frame information: how to get from a function's registers to its caller's.
//!
//! .eh_frame and .debug_frame are indexed once by a walk over the section, so that the binary
//! search table in .eh_frame_hdr, which may be missing or wrong, is not needed.

use std::ops::Range;
use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EndianSlice, EvaluationResult, LittleEndian,
    Location, Pointer, Register, RegisterRule, UnwindContext, UnwindExpression, UnwindOffset, UnwindSection,
    Value, X86_64,
};

use crate::object_file::{ObjectFile, section};
use crate::unwind::{Memory, Registers};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// Expressions can jump backwards; real ones have a dozen operations.
const MOST_OPERATIONS: u32 = 1000;

/// Functions do not overlap in sound tables; so far back an enclosing entry is looked for.
const MOST_OVERLAPPING: usize = 8;

/// What the row of an address says about the caller.
pub(crate) struct Caller {
    /// The caller's registers; those that nobody can know any more are absent.
    pub registers: Registers,
    /// The frame was made by the kernel: the return address is the very instruction that was
    /// interrupted, and the stack may have been switched.
    pub is_signal_frame: bool,
}

pub(crate) struct CallFrames {
    tables: Vec<Table>,
}

impl CallFrames {
    pub fn new(object: &ObjectFile) -> CallFrames {
        let in_object = [(Kind::EhFrame, object.content()), (Kind::DebugFrame, object.content())];
        let separate = object.debug_content().map(|content| (Kind::DebugFrame, content));
        let found = in_object.into_iter().chain(separate);
        CallFrames { tables: found.filter_map(|(kind, content)| Table::new(kind, content)).collect() }
    }

    /// The entry that covers this address of the object: as a rule, the function that it is in.
    pub fn range(&self, address: u64) -> Option<Range<u64>> {
        self.tables.iter().find_map(|table| table.entry(address)).map(|entry| entry.start..entry.end)
    }

    /// What lies between the entries before and after an address that none of them covers.
    pub fn gap(&self, address: u64) -> Range<u64> {
        let mut gap = 0..u64::MAX;
        for table in &self.tables {
            let after = table.entries.partition_point(|entry| entry.start <= address);
            let before = table.entries.get(..after).unwrap_or_default().iter().rev().take(MOST_OVERLAPPING);
            let start = before.map(|entry| entry.end).filter(|end| *end <= address).max();
            gap.start = gap.start.max(start.unwrap_or(0));
            gap.end = gap.end.min(table.entries.get(after).map_or(u64::MAX, |entry| entry.start));
        }
        gap
    }

    /// Where the entry that covers this address has what its language needs to handle exceptions, and where the
    /// entry itself begins.
    pub fn language_data(&self, address: u64) -> Option<(u64, u64)> {
        self.tables.iter().find_map(|table| {
            let entry = table.entry(address)?;
            let Kind::EhFrame = table.kind else { return None };
            let mut section = EhFrame::new(&table.data, LittleEndian);
            section.set_address_size(8);
            let found =
                section.fde_from_offset(&table.bases, entry.offset.into(), EhFrame::cie_from_offset).ok()?;
            match found.lsda()? {
                Pointer::Direct(data) => Some((data, entry.start)),
                Pointer::Indirect(_) => None,
            }
        })
    }

    /// Whether nothing but the return address is on the stack before the instruction at `address`, as at the
    /// start of a function; `None` when no entry says.
    pub fn is_entry_height(&self, address: u64) -> Option<bool> {
        self.tables
            .iter()
            .find_map(|table| {
                let offset = table.entry(address)?.offset;
                match table.kind {
                    Kind::EhFrame => {
                        let mut section = EhFrame::new(&table.data, LittleEndian);
                        section.set_address_size(8);
                        frame_rule(&section, &table.bases, offset.into(), address)
                    }
                    Kind::DebugFrame => {
                        let mut section = DebugFrame::new(&table.data, LittleEndian);
                        section.set_address_size(8);
                        frame_rule(&section, &table.bases, offset.into(), address)
                    }
                }
            })
            .map(|rule| matches!(rule, CfaRule::RegisterAndOffset { register: X86_64::RSP, offset: 8 }))
    }

    /// The caller's registers, when those of a function at `address` are `registers`. `bias` is
    /// the load address of the object; `None` when no entry is there or it makes no sense.
    pub fn caller(
        &self,
        address: u64,
        bias: u64,
        registers: &Registers,
        memory: &mut Memory,
    ) -> Option<Caller> {
        self.tables.iter().find_map(|table| {
            let offset = table.entry(address)?.offset;
            match table.kind {
                Kind::EhFrame => {
                    let mut section = EhFrame::new(&table.data, LittleEndian);
                    section.set_address_size(8);
                    apply(&section, &table.bases, offset.into(), address, bias, registers, memory)
                }
                Kind::DebugFrame => {
                    let mut section = DebugFrame::new(&table.data, LittleEndian);
                    section.set_address_size(8);
                    apply(&section, &table.bases, offset.into(), address, bias, registers, memory)
                }
            }
        })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    EhFrame,
    DebugFrame,
}

struct Entry {
    start: u64,
    end: u64,
    offset: usize,
}

struct Table {
    kind: Kind,
    data: Arc<[u8]>,
    bases: BaseAddresses,
    /// Sorted by start.
    entries: Vec<Entry>,
}

impl Table {
    fn new(kind: Kind, content: &[u8]) -> Option<Table> {
        let name = match kind {
            Kind::EhFrame => ".eh_frame",
            Kind::DebugFrame => ".debug_frame",
        };
        let (data, address) = section(content, name)?;
        let mut bases = BaseAddresses::default().set_eh_frame(address);
        if let Some((_, text)) = section(content, ".text") {
            bases = bases.set_text(text);
        }
        let mut entries = match kind {
            Kind::EhFrame => {
                let mut section = EhFrame::new(&data, LittleEndian);
                section.set_address_size(8);
                index(&section, &bases)
            }
            Kind::DebugFrame => {
                let mut section = DebugFrame::new(&data, LittleEndian);
                section.set_address_size(8);
                index(&section, &bases)
            }
        };
        entries.sort_by_key(|entry| entry.start);
        Some(Table { kind, data, bases, entries })
    }

    fn entry(&self, address: u64) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.start <= address);
        let before = self.entries.get(..after)?.iter().rev().take(MOST_OVERLAPPING);
        before.into_iter().find(|entry| address < entry.end)
    }
}

/// All entries that can be read; a damaged one is left out, a damaged length ends the walk.
fn index<'a, S>(section: &S, bases: &BaseAddresses) -> Vec<Entry>
where
    S: UnwindSection<Bytes<'a>>,
{
    let mut found = Vec::new();
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry
            && let Ok(entry) = partial.parse(S::cie_from_offset)
        {
            let (start, end) = (entry.initial_address(), entry.end_address());
            if start < end {
                found.push(Entry { start, end, offset: entry.offset() });
            }
        }
    }
    found
}

/// How the frame address is found at an address.
fn frame_rule<'a, S>(
    section: &S,
    bases: &BaseAddresses,
    offset: S::Offset,
    address: u64,
) -> Option<CfaRule<usize>>
where
    S: UnwindSection<Bytes<'a>>,
    S::Offset: UnwindOffset<usize>,
{
    let entry = section.fde_from_offset(bases, offset, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(section, bases, &mut context, address).ok()?;
    Some(row.cfa().clone())
}

fn apply<'a, S>(
    section: &S,
    bases: &BaseAddresses,
    offset: S::Offset,
    address: u64,
    bias: u64,
    registers: &Registers,
    memory: &mut Memory,
) -> Option<Caller>
where
    S: UnwindSection<Bytes<'a>>,
    S::Offset: UnwindOffset<usize>,
{
    let entry = section.fde_from_offset(bases, offset, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(section, bases, &mut context, address).ok()?;
    let encoding = entry.cie().encoding();
    let evaluate = |expression: &UnwindExpression<usize>, initial: Option<u64>, memory: &mut Memory| {
        evaluate(expression.get(section).ok()?, encoding, initial, bias, registers, memory)
    };

    let frame = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            registers.get(register.0)?.wrapping_add_signed(*offset)
        }
        CfaRule::Expression(expression) => evaluate(expression, None, memory)?,
    };
    let mut caller = Registers::unknown();
    for number in 0..Registers::COUNT {
        let value = match row.register(Register(number)) {
            // Tables leave out what a function does not touch. The stack pointer is the frame
            // address by definition.
            RegisterRule::Undefined => match Register(number) {
                X86_64::RSP => Some(frame),
                X86_64::RBX | X86_64::RBP | X86_64::R12 | X86_64::R13 | X86_64::R14 | X86_64::R15 => {
                    registers.get(number)
                }
                _ => None,
            },
            RegisterRule::SameValue => registers.get(number),
            RegisterRule::Offset(offset) => memory.read_u64(frame.wrapping_add_signed(offset)),
            RegisterRule::ValOffset(offset) => Some(frame.wrapping_add_signed(offset)),
            RegisterRule::Register(other) => registers.get(other.0),
            RegisterRule::Expression(expression) => {
                evaluate(&expression, Some(frame), memory).and_then(|address| memory.read_u64(address))
            }
            RegisterRule::ValExpression(expression) => evaluate(&expression, Some(frame), memory),
            RegisterRule::Constant(value) => Some(value),
            _ => None,
        };
        caller.set(number, value);
    }
    let return_address = entry.cie().return_address_register().0;
    caller.set(X86_64::RA.0, caller.get(return_address));
    Some(Caller { registers: caller, is_signal_frame: entry.is_signal_trampoline() })
}

fn evaluate(
    expression: gimli::Expression<Bytes<'_>>,
    encoding: gimli::Encoding,
    initial: Option<u64>,
    bias: u64,
    registers: &Registers,
    memory: &mut Memory,
) -> Option<u64> {
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(MOST_OPERATIONS);
    if let Some(initial) = initial {
        evaluation.set_initial_value(initial);
    }
    let mut result = evaluation.evaluate().ok()?;
    // Each round executes at least one operation, of which there is a most.
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let value = memory.read_uint(address, size)?;
                evaluation.resume_with_memory(Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers.get(register.0)?;
                evaluation.resume_with_register(Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address.wrapping_add(bias)).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result() {
        [piece] => match piece.location {
            Location::Address { address } => Some(address),
            Location::Value { value: Value::Generic(value) } => Some(value),
            _ => None,
        },
        _ => None,
    }
}
