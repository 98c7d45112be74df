//! Which part of a text was printed by which piece of a format.

use super::{Conversion, Format, Kind, Piece, Wanted};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// How many parts are tried, at most.
const MOST_TRIED: usize = 200_000;

/// A text laid beside a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// One a conversion, in the order of the format.
    pub parts: Vec<Part>,
}

/// What a conversion printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub conversion: Conversion,
    /// Which bytes of the text.
    pub at: Range<usize>,
    pub wanted: Wanted,
}

/// Why a text cannot be laid beside a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    #[error("no arguments print this text by this format")]
    Impossible,
    #[error("the text can be divided among the conversions in more than one way")]
    Ambiguous,
    #[error("the text is too long to be laid beside the format")]
    TooLong,
}

impl Format {
    /// The one way in which this format can have printed the whole text.
    pub fn align(&self, text: &[u8]) -> Result<Aligned, Misfit> {
        let mut search = Search { pieces: &self.pieces, text, tried: 0, ways: FxHashMap::default() };
        search.run()?;
        search.collect()
    }
}

/// From the start of a piece, how the rest of the text can be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    None,
    /// The piece ends there, and there is no other way.
    One(usize),
    Many,
}

struct Search<'a> {
    pieces: &'a [Piece],
    text: &'a [u8],
    tried: usize,
    /// By the piece and where it starts.
    ways: FxHashMap<(usize, usize), Way>,
}

impl Search<'_> {
    /// Finds the ways from the last piece to the first, so that nothing recurses.
    fn run(&mut self) -> Result<(), Misfit> {
        for (piece, starts) in self.starts().into_iter().enumerate().rev() {
            for start in starts {
                let way = self.way(piece, start)?;
                if way != Way::None {
                    self.ways.insert((piece, start), way);
                }
            }
        }
        Ok(())
    }

    /// Where each piece may start, by the lengths that those before it may have.
    fn starts(&self) -> Vec<BTreeSet<usize>> {
        let mut starts = vec![BTreeSet::from([0])];
        for piece in self.pieces {
            let mut ends = BTreeSet::new();
            for start in starts.last().into_iter().flatten() {
                let rest = &self.text[*start..];
                match piece {
                    Piece::Literal(literal) if rest.starts_with(literal) => {
                        ends.insert(start + literal.len());
                    }
                    Piece::Literal(_) => {}
                    Piece::Conversion(conversion) => ends.extend(*start..=start + reach(conversion, rest)),
                }
            }
            starts.push(ends);
        }
        starts.pop();
        starts
    }

    /// What the pieces from this one on can do with the text from `start` on.
    fn rest(&self, piece: usize, start: usize) -> Way {
        if piece == self.pieces.len() {
            return if start == self.text.len() { Way::One(start) } else { Way::None };
        }
        self.ways.get(&(piece, start)).copied().unwrap_or(Way::None)
    }

    fn way(&mut self, piece: usize, start: usize) -> Result<Way, Misfit> {
        match &self.pieces[piece] {
            Piece::Literal(literal) => {
                let fits = self.text[start..].starts_with(literal);
                let end = start + literal.len();
                Ok(match fits.then(|| self.rest(piece + 1, end)) {
                    None | Some(Way::None) => Way::None,
                    Some(Way::One(_)) => Way::One(end),
                    Some(Way::Many) => Way::Many,
                })
            }
            Piece::Conversion(conversion) => {
                let conversion = *conversion;
                let mut found = Way::None;
                for end in start..=start + reach(&conversion, &self.text[start..]) {
                    let rest = self.rest(piece + 1, end);
                    if rest == Way::None {
                        continue;
                    }
                    self.tried += 1;
                    if self.tried > MOST_TRIED {
                        return Err(Misfit::TooLong);
                    }
                    if !conversion.can_print(&self.text[start..end]) {
                        continue;
                    }
                    if found != Way::None || rest == Way::Many {
                        return Ok(Way::Many);
                    }
                    found = Way::One(end);
                }
                Ok(found)
            }
        }
    }

    fn collect(&self) -> Result<Aligned, Misfit> {
        let mut parts = Vec::new();
        let mut start = 0;
        for (place, piece) in self.pieces.iter().enumerate() {
            let end = match self.rest(place, start) {
                Way::None => return Err(Misfit::Impossible),
                Way::Many => return Err(Misfit::Ambiguous),
                Way::One(end) => end,
            };
            if let Piece::Conversion(conversion) = piece {
                let wanted = conversion.invert(&self.text[start..end]).map_err(|_| Misfit::Impossible)?;
                parts.push(Part { conversion: *conversion, at: start..end, wanted });
            }
            start = end;
        }
        if start == self.text.len() { Ok(Aligned { parts }) } else { Err(Misfit::Impossible) }
    }
}

/// How many bytes the conversion can have printed, at most.
fn reach(conversion: &Conversion, text: &[u8]) -> usize {
    let is_possible = |byte: &u8| match conversion.kind {
        Kind::Text | Kind::Character => true,
        Kind::Signed | Kind::Unsigned | Kind::Octal => byte.is_ascii_digit() || b" +-".contains(byte),
        Kind::Hexadecimal { .. } => byte.is_ascii_hexdigit() || b" xX".contains(byte),
        Kind::Pointer => byte.is_ascii_hexdigit() || b" +x(nil)".contains(byte),
        Kind::Float { .. } => byte.is_ascii_alphanumeric() || b" +-.".contains(byte),
    };
    let longest = match conversion.kind {
        Kind::Character => conversion.known_width().max(1),
        Kind::Text => conversion
            .known_precision()
            .map_or(text.len(), |precision| precision.max(conversion.known_width())),
        Kind::Signed
        | Kind::Unsigned
        | Kind::Octal
        | Kind::Hexadecimal { .. }
        | Kind::Pointer
        | Kind::Float { .. } => text.len(),
    };
    text.iter().take(longest).take_while(|byte| is_possible(byte)).count()
}
