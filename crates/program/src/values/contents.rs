//! The bytes of a value, collected from where they are.

use crate::state::State;
use crate::unwind::{Frame, Rule};
use crate::variables::{Piece, Place, Reason};

/// Larger values are not read as a whole.
pub(crate) const LARGEST: u64 = 1 << 16;

/// The bytes of a value, as far as they are known.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub bytes: Vec<u8>,
    /// Where it is in memory as one piece.
    pub address: Option<u64>,
    /// For each byte why it is not known; empty when all are known.
    missing: Vec<Option<Missing>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    OptimizedOut,
    NotSaved,
    /// A pointer to something that is nowhere.
    Synthetic,
}

/// Why there are no bytes at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoContents {
    OptimizedOut,
    NotSaved,
    Synthetic,
    Failed(String),
}

impl NoContents {
    pub fn text(&self) -> String {
        match self {
            NoContents::OptimizedOut => "<optimized out>".to_owned(),
            NoContents::NotSaved => "<not saved>".to_owned(),
            NoContents::Synthetic => "<synthetic pointer>".to_owned(),
            NoContents::Failed(reason) => format!("<error: {reason}>"),
        }
    }
}

impl Contents {
    pub fn known(bytes: Vec<u8>, address: Option<u64>) -> Contents {
        Contents { bytes, address, missing: Vec::new() }
    }

    pub fn read(
        place: &Place,
        size: u64,
        frame: Option<&Frame>,
        state: &State<'_>,
    ) -> Result<Contents, NoContents> {
        // What is nowhere is not too large.
        let has_bytes =
            !matches!(place, Place::OptimizedOut | Place::ImplicitPointer | Place::Unavailable(_));
        if size > LARGEST && has_bytes {
            let reason = format!("value requires {size} bytes, which is more than max-value-size");
            return Err(NoContents::Failed(reason));
        }
        let size = usize::try_from(size).unwrap_or(0);
        match place {
            Place::Memory(address) => Contents::from_memory(*address, size, state),
            Place::Register(number) => match register(*number, frame, state) {
                Some(value) => Ok(Contents::known(resized(&value.to_le_bytes(), size), None)),
                None => Err(NoContents::NotSaved),
            },
            Place::Constant(bytes) => Ok(Contents::known(resized(bytes, size), None)),
            Place::Pieces(pieces) => Contents::from_pieces(pieces, size, frame, state),
            Place::ImplicitPointer => Err(NoContents::Synthetic),
            Place::OptimizedOut => Err(NoContents::OptimizedOut),
            Place::Unavailable(Reason::NotSaved(_)) => Err(NoContents::NotSaved),
            // What the caller passed and nobody kept is as good as optimised out.
            Place::Unavailable(Reason::EntryValueUnknown) => Err(NoContents::OptimizedOut),
            Place::Unavailable(reason) => Err(NoContents::Failed(reason.to_string())),
        }
    }

    pub fn from_memory(address: u64, size: usize, state: &State<'_>) -> Result<Contents, NoContents> {
        let mut bytes = vec![0; size];
        if size > 0 && !state.read(address, &mut bytes) {
            let first = first_unreadable(address, size, state);
            return Err(NoContents::Failed(format!("Cannot access memory at address {first:#x}")));
        }
        Ok(Contents::known(bytes, Some(address)))
    }

    fn from_pieces(
        pieces: &[Piece],
        size: usize,
        frame: Option<&Frame>,
        state: &State<'_>,
    ) -> Result<Contents, NoContents> {
        let mut contents = Contents { bytes: vec![0; size], address: None, missing: vec![None; size] };
        let mut bit = 0usize;
        for piece in pieces {
            let bits = usize::try_from(piece.bits).unwrap_or(usize::MAX);
            let end = bit.saturating_add(bits).min(size.saturating_mul(8));
            contents.put(piece, bit, end, frame, state)?;
            bit = end;
        }
        contents.mark(bit, size.saturating_mul(8), Missing::OptimizedOut);
        Ok(contents)
    }

    /// Fills the bits from `start` to `end`.
    fn put(
        &mut self,
        piece: &Piece,
        start: usize,
        end: usize,
        frame: Option<&Frame>,
        state: &State<'_>,
    ) -> Result<(), NoContents> {
        let bits = end.saturating_sub(start);
        let first = usize::try_from(piece.first_bit).unwrap_or(usize::MAX);
        let bytes = (bits.saturating_add(first)).div_ceil(8).min(LARGEST as usize);
        match Contents::read(&piece.place, bytes as u64, frame, state) {
            Ok(from) => {
                for offset in 0..bits {
                    let source = first.saturating_add(offset);
                    let byte = from.bytes.get(source / 8).copied().unwrap_or(0);
                    if byte >> (source % 8) & 1 == 1
                        && let Some(target) = self.bytes.get_mut((start + offset) / 8)
                    {
                        *target |= 1 << ((start + offset) % 8);
                    }
                }
                Ok(())
            }
            Err(NoContents::Failed(reason)) => Err(NoContents::Failed(reason)),
            Err(NoContents::OptimizedOut) => {
                self.mark(start, end, Missing::OptimizedOut);
                Ok(())
            }
            Err(NoContents::NotSaved) => {
                self.mark(start, end, Missing::NotSaved);
                Ok(())
            }
            Err(NoContents::Synthetic) => {
                self.mark(start, end, Missing::Synthetic);
                Ok(())
            }
        }
    }

    fn mark(&mut self, start: usize, end: usize, missing: Missing) {
        if start < end
            && let Some(bytes) = self.missing.get_mut(start / 8..end.div_ceil(8))
        {
            bytes.fill(Some(missing));
        }
    }

    /// The bytes from `at` on, or why some are not known.
    pub fn get(&self, at: usize, size: usize) -> Result<&[u8], Missing> {
        let end = at.saturating_add(size);
        if let Some(missing) = self.missing.get(at..end)
            && let Some(missing) = missing.iter().flatten().next()
        {
            return Err(*missing);
        }
        self.bytes.get(at..end).ok_or(Missing::OptimizedOut)
    }

    /// Whether two stretches are the same, as far as one can see. What is not there is like nothing, or else an array would
    /// have as many equal elements as it says.
    pub fn same(&self, a: usize, b: usize, size: usize) -> bool {
        let range = |at: usize| at..at.saturating_add(size);
        let bytes = self.bytes.get(range(b)).is_some_and(|bytes| self.bytes.get(range(a)) == Some(bytes));
        bytes && self.missing.get(range(a)) == self.missing.get(range(b))
    }

    /// Why nothing of a stretch is known, if so.
    pub fn all_missing(&self, at: usize, size: usize) -> Option<Missing> {
        let range = self.missing.get(at..at.saturating_add(size))?;
        let first = *range.first()?;
        range.iter().all(Option::is_some).then_some(first?)
    }
}

fn register(number: u16, frame: Option<&Frame>, state: &State<'_>) -> Option<u128> {
    let frame = frame?;
    let vector = || state.vector(number).filter(|_| frame.rule == Rule::Innermost);
    frame.registers.get(number).map(u128::from).or_else(vector)
}

/// Cut, or filled up with zeros.
fn resized(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = bytes.iter().copied().take(size).collect();
    bytes.resize(size, 0);
    bytes
}

fn first_unreadable(address: u64, size: usize, state: &State<'_>) -> u64 {
    let readable = |offset: &u64| !state.read(address.wrapping_add(*offset), &mut [0]);
    let offset = (0..size as u64).find(readable).unwrap_or(0);
    address.wrapping_add(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unwind::Registers;

    #[test]
    fn what_is_optimised_out_is_not_too_large() {
        let state = State::new(Registers::new(0, [0; 16]), |_, _: &mut [u8]| false);
        let read = |place| Contents::read(&place, LARGEST + 1, None, &state).unwrap_err();
        assert_eq!(read(Place::OptimizedOut), NoContents::OptimizedOut);
        assert!(matches!(read(Place::Memory(0)), NoContents::Failed(_)));
    }
}
