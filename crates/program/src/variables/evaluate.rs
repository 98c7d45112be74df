//! Locations, evaluated in a stopped guest.

use gimli::{AttributeValue, EvaluationResult, Expression, Location, ValueType, X86_64};

use super::typed::{as_value, base_type, bytes, typed, untyped, without_types};
use super::{Piece, Place, Reason, Variable};
use crate::debug_info::Reader;
use crate::entries::{Debug, Die, Entry};
use crate::program::Program;
use crate::state::State;
use crate::unwind::{Frame, Rule};

/// Expressions can jump backwards; real ones have a few dozen operations.
const MOST_OPERATIONS: u32 = 10_000;

/// An expression can ask for the value of another; real ones do so twice.
const DEEPEST: usize = 8;

/// More pieces than a value has bytes in registers are nonsense.
const MOST_PIECES: usize = 256;

/// Lists of a long function have hundreds of entries.
const MOST_RANGES: usize = 1 << 16;

/// Why there is no answer.
pub(super) type Failure = Reason;

/// Whether the types of integers count in an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Types {
    Kept,
    Dropped,
}

/// Why an evaluation stopped.
enum Stop {
    /// Two operands are of different types.
    Mismatch,
    Failed(Failure),
}

impl Stop {
    fn reason(self) -> Failure {
        match self {
            Stop::Mismatch => Reason::Damaged,
            Stop::Failed(reason) => reason,
        }
    }
}

impl From<gimli::Error> for Stop {
    fn from(error: gimli::Error) -> Stop {
        match error {
            gimli::Error::TypeMismatch => Stop::Mismatch,
            _ => Stop::Failed(Reason::Damaged),
        }
    }
}

impl From<Failure> for Stop {
    fn from(reason: Failure) -> Stop {
        Stop::Failed(reason)
    }
}

/// Evaluates expressions of one object in one frame of a state.
pub(crate) struct Evaluator<'a> {
    pub program: &'a Program,
    pub state: &'a State<'a>,
    /// `None` when there is no frame, as for globals.
    pub frame: Option<&'a Frame>,
    pub object: u32,
    pub debug: Debug<'a>,
    pub bias: u64,
    /// The address in the object that decides which entry of a location list counts.
    pub address: Option<u64>,
    /// The function whose frame base counts.
    pub function: Option<Die>,
    pub depth: usize,
}

impl<'a> Evaluator<'a> {
    pub fn place(&self, variable: &Variable) -> Place {
        let Some(entry) = self.debug.entry(variable.die) else { return Place::OptimizedOut };
        let chain = entry.chain();
        for entry in &chain {
            if let Some(value) = entry.attribute(gimli::DW_AT_location) {
                return self.location(entry, value).unwrap_or_else(Place::Unavailable);
            }
            if let Some(value) = entry.attribute(gimli::DW_AT_const_value) {
                return constant(entry, value);
            }
        }
        Place::OptimizedOut
    }

    /// An expression, or a list of which the entry for this address counts.
    pub fn location(&self, entry: &Entry<'_>, value: AttributeValue<Reader>) -> Result<Place, Failure> {
        match self.expression(entry, value)? {
            Some(expression) => self.evaluate(entry, expression),
            None => Ok(Place::OptimizedOut),
        }
    }

    /// What an expression computes, as a machine word: what would be the address, if it were a location.
    pub fn result(&self, entry: &Entry<'_>, value: AttributeValue<Reader>) -> Result<u64, Failure> {
        let expression = self.expression(entry, value)?.ok_or(Reason::Damaged)?;
        // A float is no address; as a value it is welcome.
        let place = self.evaluate(entry, expression.clone());
        let place =
            place.or_else(|reason| self.evaluate(entry, as_value(&expression)).map_err(|_| reason))?;
        self.word(&place)
    }

    fn expression(
        &self,
        entry: &Entry<'_>,
        value: AttributeValue<Reader>,
    ) -> Result<Option<Expression<Reader>>, Failure> {
        if let AttributeValue::Exprloc(expression) = value {
            return Ok(Some(expression));
        }
        if let AttributeValue::Block(block) = value {
            return Ok(Some(Expression(block)));
        }
        let dwarf = self.debug.dwarf(entry.die.unit);
        let list = dwarf.attr_locations(entry.unit, value).map_err(|_| Reason::Damaged)?;
        let mut list = list.ok_or(Reason::Damaged)?;
        let Some(address) = self.address else { return Ok(None) };
        for _ in 0..MOST_RANGES {
            match list.next() {
                Ok(Some(item)) if item.range.begin <= address && address < item.range.end => {
                    return Ok(Some(item.data));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(_) => return Err(Reason::Damaged),
            }
        }
        Ok(None)
    }

    pub fn evaluate(&self, entry: &Entry<'_>, expression: Expression<Reader>) -> Result<Place, Failure> {
        if self.depth == DEEPEST {
            return Err(Reason::Damaged);
        }
        if gimli::Reader::is_empty(&expression.0) {
            return Ok(Place::OptimizedOut);
        }
        match self.attempt(entry, expression.clone(), Types::Kept) {
            Ok(place) => Ok(place),
            Err(Stop::Failed(reason)) => Err(reason),
            Err(Stop::Mismatch) => {
                let is_integer = |offset| {
                    let of = base_type(entry, offset);
                    of.is_ok_and(|of| !matches!(of, ValueType::F32 | ValueType::F64 | ValueType::Generic))
                };
                let plain = without_types(&expression, entry.unit.encoding(), &is_integer);
                self.attempt(entry, plain.ok_or(Reason::Damaged)?, Types::Dropped).map_err(Stop::reason)
            }
        }
    }

    fn attempt(
        &self,
        entry: &Entry<'_>,
        expression: Expression<Reader>,
        types: Types,
    ) -> Result<Place, Stop> {
        let read = |base_type, value: u128| {
            let value = typed(entry, base_type, value)?;
            Ok::<_, Reason>(if types == Types::Kept { value } else { untyped(value) })
        };
        let mut evaluation = expression.evaluation(entry.unit.encoding());
        evaluation.set_max_iterations(MOST_OPERATIONS);
        let mut result = evaluation.evaluate()?;
        // Each round executes at least one operation, of which there is a most.
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size, base_type, .. } => {
                    let value = self.state.read_uint(address, usize::from(size));
                    let value = value.ok_or(Reason::Unreadable(address))?;
                    evaluation.resume_with_memory(read(base_type, u128::from(value))?)
                }
                EvaluationResult::RequiresRegister { register, base_type } => {
                    let value = self.register(register.0)?;
                    evaluation.resume_with_register(read(base_type, value)?)
                }
                EvaluationResult::RequiresFrameBase => {
                    let base = self.frame_base()?;
                    evaluation.resume_with_frame_base(base)
                }
                EvaluationResult::RequiresCallFrameCfa => {
                    let address = self.frame_address()?;
                    evaluation.resume_with_call_frame_cfa(address)
                }
                EvaluationResult::RequiresTls(offset) => {
                    let address = self.thread_local(offset)?;
                    evaluation.resume_with_tls(address)
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(self.bias))
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let dwarf = self.debug.dwarf(entry.die.unit);
                    let address = dwarf.address(entry.unit, index)?;
                    let bias = if relocate { self.bias } else { 0 };
                    evaluation.resume_with_indexed_address(address.wrapping_add(bias))
                }
                EvaluationResult::RequiresBaseType(offset) => {
                    evaluation.resume_with_base_type(base_type(entry, offset)?)
                }
                EvaluationResult::RequiresEntryValue(expression) => {
                    let (value, base_type) = self.entry_value(entry, &expression)?;
                    evaluation.resume_with_entry_value(read(base_type, u128::from(value))?)
                }
                EvaluationResult::RequiresParameterRef(offset) => {
                    let die = Die { unit: entry.die.unit, offset: offset.0 };
                    let value = self.parameter_value(die)?;
                    evaluation.resume_with_parameter_ref(value)
                }
                EvaluationResult::RequiresAtLocation(reference) => {
                    let bytes = self.other_location(entry, reference);
                    evaluation.resume_with_at_location(bytes.ok_or(Reason::Damaged)?)
                }
            }?;
        }
        Ok(places(&evaluation.result()))
    }

    /// In this frame, by DWARF number.
    pub fn register(&self, number: u16) -> Result<u128, Failure> {
        let frame = self.frame.ok_or(Reason::NoFrame)?;
        let vector = || self.state.vector(number).filter(|_| frame.rule == Rule::Innermost);
        let value = frame.registers.get(number).map(u128::from).or_else(vector);
        value.ok_or(Reason::NotSaved(number))
    }

    fn frame_base(&self) -> Result<u64, Failure> {
        let function = self.function.and_then(|die| self.debug.entry(die)).ok_or(Reason::NoFrame)?;
        let value = function.chain().iter().find_map(|entry| {
            Some((self.debug.entry(entry.die)?, entry.attribute(gimli::DW_AT_frame_base)?))
        });
        let (entry, value) = value.ok_or(Reason::NoFrame)?;
        match self.inner().location(&entry, value)? {
            Place::Memory(address) => Ok(address),
            Place::Register(number) => Ok(self.register(number)? as u64),
            Place::Constant(bytes) => Ok(first_word(&bytes)),
            _ => Err(Reason::NoFrame),
        }
    }

    /// The canonical frame address: what the stack pointer was before the call.
    fn frame_address(&self) -> Result<u64, Failure> {
        let frame = self.frame.ok_or(Reason::NoFrame)?;
        let address = self.program.frame_address(frame, self.state);
        address.ok_or(Reason::NoFrame)
    }

    /// Where a thread-local variable of the object is.
    fn thread_local(&self, offset: u64) -> Result<u64, Failure> {
        Ok(self.program.thread_locals(self.object, self.state)?.wrapping_add(offset))
    }

    fn other_location(&self, entry: &Entry<'_>, reference: gimli::DieReference<usize>) -> Option<Reader> {
        let die = match reference {
            gimli::DieReference::UnitRef(offset) => Die { unit: entry.die.unit, offset: offset.0 },
            gimli::DieReference::DebugInfoRef(offset) => self.debug.at_offset(entry.die.unit, offset)?,
        };
        let other = self.debug.entry(die)?;
        let value = other.attribute(gimli::DW_AT_location)?;
        Some(self.expression(&other, value).ok()??.0)
    }

    /// The number of elements of an array whose length is computed.
    pub fn count(&self, subrange: Die) -> Option<u64> {
        let entry = self.debug.entry(subrange)?;
        let bound = |name| {
            let value = entry.attribute(name)?;
            // Either an expression, or the variable that holds it.
            if let Some(die) = self.debug.target(subrange.unit, &value) {
                return self.integer(die);
            }
            self.word(&self.location(&entry, value).ok()?).ok()
        };
        if let Some(count) = bound(gimli::DW_AT_count) {
            return Some(count);
        }
        let lower = entry.unsigned(gimli::DW_AT_lower_bound).unwrap_or(0);
        bound(gimli::DW_AT_upper_bound)?.checked_sub(lower)?.checked_add(1)
    }

    /// The value of an integer variable.
    fn integer(&self, die: Die) -> Option<u64> {
        let entry = self.debug.entry(die)?;
        let of = entry.typed().and_then(|die| self.debug.entry(die));
        let size = of.and_then(|of| of.unsigned(gimli::DW_AT_byte_size)).unwrap_or(8);
        let value = entry.chain().iter().find_map(|entry| entry.attribute(gimli::DW_AT_location))?;
        match self.inner().location(&entry, value).ok()? {
            Place::Memory(address) => self.state.read_uint(address, usize::try_from(size).ok()?),
            place => self.word(&place).ok(),
        }
    }

    /// For an expression that this one asks for.
    pub(super) fn inner(&self) -> Evaluator<'a> {
        Evaluator { depth: self.depth + 1, ..*self }
    }

    /// The value at a place, as a machine word.
    pub fn word(&self, place: &Place) -> Result<u64, Failure> {
        match place {
            Place::Memory(address) => Ok(*address),
            Place::Register(number) => Ok(self.register(*number)? as u64),
            Place::Constant(bytes) => Ok(first_word(bytes)),
            _ => Err(Reason::Damaged),
        }
    }
}

fn first_word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn places(pieces: &[gimli::Piece<Reader>]) -> Place {
    if let [piece] = pieces
        && piece.size_in_bits.is_none()
    {
        return place(&piece.location);
    }
    let pieces = pieces.iter().take(MOST_PIECES);
    Place::Pieces(
        pieces
            .map(|piece| Piece {
                place: place(&piece.location),
                bits: piece.size_in_bits.unwrap_or(0),
                first_bit: piece.bit_offset.unwrap_or(0),
            })
            .collect(),
    )
}

fn place(location: &Location<Reader>) -> Place {
    match location {
        Location::Empty => Place::OptimizedOut,
        Location::Register { register: X86_64::RA } => Place::Unavailable(Reason::Damaged),
        Location::Register { register } => Place::Register(register.0),
        Location::Address { address } => Place::Memory(*address),
        Location::Value { value } => Place::Constant(bytes(*value)),
        Location::Bytes { value } => Place::Constant(value.bytes().to_vec()),
        Location::ImplicitPointer { .. } => Place::ImplicitPointer,
    }
}

/// DW_AT_const_value of a variable. Only one form has a sign.
fn constant(entry: &Entry<'_>, value: AttributeValue<Reader>) -> Place {
    match value {
        AttributeValue::Block(block) => Place::Constant(block.bytes().to_vec()),
        AttributeValue::Sdata(value) => Place::Constant(value.to_le_bytes().to_vec()),
        AttributeValue::Addr(address) => Place::Constant(address.to_le_bytes().to_vec()),
        AttributeValue::String(_)
        | AttributeValue::DebugStrRef(_)
        | AttributeValue::DebugStrOffsetsIndex(_) => {
            let text = entry.text(gimli::DW_AT_const_value).unwrap_or_default();
            Place::Constant(text.into_bytes().into_iter().chain([0]).collect())
        }
        value => match value.udata_value() {
            Some(value) => Place::Constant(value.to_le_bytes().to_vec()),
            None => Place::OptimizedOut,
        },
    }
}
