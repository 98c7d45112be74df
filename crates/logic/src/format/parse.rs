//! Reading formats.

use super::{Amount, Conversion, Flags, FloatStyle, Format, FormatError, Kind, Length, Piece};

/// More than anybody prints, and little enough to print it.
const MOST_AMOUNT: u32 = 4096;

impl Format {
    pub fn parse(format: &[u8]) -> Result<Format, FormatError> {
        Parser { rest: format, arguments: 0 }.format()
    }

    /// The format with its `*` filled in; `amount` tells the value of an argument.
    pub fn with_amounts(mut self, amount: impl Fn(usize) -> Option<i32>) -> Result<Format, FormatError> {
        for piece in &mut self.pieces {
            let Piece::Conversion(conversion) = piece else { continue };
            if let Some(Amount::Argument(argument)) = conversion.width {
                let width = amount(argument).ok_or(FormatError::AmountNotKnown)?;
                conversion.flags.left |= width < 0;
                conversion.width = Some(given(width.unsigned_abs())?);
            }
            if let Some(Amount::Argument(argument)) = conversion.precision {
                let precision = amount(argument).ok_or(FormatError::AmountNotKnown)?;
                // A negative one is as if there were none.
                conversion.precision = u32::try_from(precision).ok().map(given).transpose()?;
            }
        }
        Ok(self)
    }
}

fn given(amount: u32) -> Result<Amount, FormatError> {
    if amount > MOST_AMOUNT { Err(FormatError::TooLarge) } else { Ok(Amount::Given(amount)) }
}

struct Parser<'a> {
    rest: &'a [u8],
    arguments: usize,
}

impl Parser<'_> {
    fn format(mut self) -> Result<Format, FormatError> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        while let Some(byte) = self.next() {
            if byte != b'%' || self.peek() == Some(b'%') {
                literal.push(byte);
                if byte == b'%' {
                    self.next();
                }
                continue;
            }
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Conversion(self.conversion()?));
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Format { pieces })
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn eats(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.next();
        }
        found
    }

    fn conversion(&mut self) -> Result<Conversion, FormatError> {
        let flags = self.flags();
        let width = self.amount()?;
        if self.peek() == Some(b'$') {
            return Err(FormatError::Positional);
        }
        let precision = match self.eats(b'.') {
            true => Some(self.amount()?.unwrap_or(Amount::Given(0))),
            false => None,
        };
        let length = self.length();
        let kind = self.kind(length)?;
        let argument = self.argument();
        Ok(Conversion { flags, width, precision, length, kind, argument })
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                Some(b'-') => flags.left = true,
                Some(b'+') => flags.plus = true,
                Some(b' ') => flags.blank = true,
                Some(b'#') => flags.alternate = true,
                Some(b'0') => flags.zeroes = true,
                // Groups of digits, which the C locale has none of.
                Some(b'\'') => {}
                _ => return flags,
            }
            self.next();
        }
    }

    fn argument(&mut self) -> usize {
        self.arguments += 1;
        self.arguments - 1
    }

    fn amount(&mut self) -> Result<Option<Amount>, FormatError> {
        if self.eats(b'*') {
            return Ok(Some(Amount::Argument(self.argument())));
        }
        let mut number: Option<u32> = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.next();
            let next = number.unwrap_or(0).saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            number = Some(next);
        }
        number.map(given).transpose()
    }

    fn length(&mut self) -> Length {
        match self.peek() {
            Some(b'h') => {
                self.next();
                if self.eats(b'h') { Length::Byte } else { Length::Short }
            }
            Some(b'l') => {
                self.next();
                self.eats(b'l');
                Length::Long
            }
            Some(b'q' | b'j' | b'z' | b't') => {
                self.next();
                Length::Long
            }
            Some(b'L') => {
                self.next();
                Length::LongDouble
            }
            _ => Length::None,
        }
    }

    fn kind(&mut self, length: Length) -> Result<Kind, FormatError> {
        let letter = self.next().ok_or(FormatError::Unfinished)?;
        let float = |style| Ok(Kind::Float { style, upper: letter.is_ascii_uppercase() });
        match letter {
            // Wide characters depend on the locale; integers have no L.
            b'c' | b's' if matches!(length, Length::Long) => Err(FormatError::Unsupported(letter)),
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' if matches!(length, Length::LongDouble) => {
                Err(FormatError::Unsupported(letter))
            }
            b'd' | b'i' => Ok(Kind::Signed),
            b'u' => Ok(Kind::Unsigned),
            b'o' => Ok(Kind::Octal),
            b'x' => Ok(Kind::Hexadecimal { upper: false }),
            b'X' => Ok(Kind::Hexadecimal { upper: true }),
            b'c' => Ok(Kind::Character),
            b's' => Ok(Kind::Text),
            b'p' => Ok(Kind::Pointer),
            b'f' | b'F' => float(FloatStyle::Fixed),
            b'e' | b'E' => float(FloatStyle::Exponent),
            b'g' | b'G' => float(FloatStyle::General),
            b'a' | b'A' => float(FloatStyle::Hexadecimal),
            _ => Err(FormatError::Unsupported(letter)),
        }
    }
}
