//! Where a call of `printf` and its like has its arguments, by the convention of x86-64, and what they are.

use lift::Reg;
use linux::Process;
use logic::format::{Amount, Conversion, FloatValue, Format, Kind, Length, Piece, Value};
use logic::term::Format as FloatFormat;
use replay::Cell;
use std::ops::Range;

/// A longer format or text is not read.
const LONGEST: usize = 1 << 16;
/// The registers for integers and pointers, in their order.
const GENERAL: [Reg; 6] = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX, Reg::R8, Reg::R9];
/// For floats there are so many.
const VECTOR: u8 = 8;

/// How a function takes what it prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convention {
    /// Which argument the format is.
    format: usize,
    /// The arguments after it are a `va_list`.
    is_list: bool,
}

impl Convention {
    /// Of a function of the C library that prints to a stream.
    pub fn of(name: &str) -> Option<Convention> {
        let name =
            name.strip_prefix("__GI_").unwrap_or(name).trim_start_matches('_').trim_start_matches("IO_");
        // The fortified ones have a flag before the format.
        let (name, flags) = name.strip_suffix("_chk").map_or((name, 0), |name| (name, 1));
        let (format, is_list) = match name {
            "printf" => (0, false),
            "fprintf" | "dprintf" => (1, false),
            "vprintf" => (0, true),
            "vfprintf" | "vdprintf" => (1, true),
            _ => return None,
        };
        Some(Convention { format: format + flags, is_list })
    }
}

/// What is passed in which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    General,
    Float,
    LongDouble,
}

/// The arguments of a call, at the entry of the function.
pub struct Arguments<'a> {
    process: &'a Process,
    /// With widths and precisions filled in.
    pub format: Format,
    /// As it is written.
    written: Format,
    /// Those after the format, in their order.
    cells: Vec<Cell>,
}

impl<'a> Arguments<'a> {
    pub fn of(process: &'a Process, convention: Convention) -> Option<Arguments<'a>> {
        let format = process.machine.cpu.get(*GENERAL.get(convention.format)?);
        let written = Format::parse(&text_at(process, format, LONGEST)?).ok()?;
        let cells = places(process, convention, &classes(&written))?;
        let mut arguments = Arguments { process, format: written.clone(), written, cells };
        let format = arguments.written.clone().with_amounts(|number| Some(arguments.integer(number)? as i32));
        arguments.format = format.ok()?;
        Some(arguments)
    }

    fn integer(&self, number: usize) -> Option<u64> {
        match *self.cells.get(number)? {
            Cell::Register(reg, _) => Some(self.process.machine.cpu.get(reg)),
            Cell::Memory { address, .. } => Some(u64::from_le_bytes(bytes_at(self.process, address)?)),
            Cell::Kernel { .. } => None,
        }
    }

    fn value(&self, conversion: &Conversion) -> Option<Value> {
        Some(match (conversion.kind, conversion.length) {
            (Kind::Float { .. }, Length::LongDouble) => {
                let Cell::Memory { address, .. } = *self.cells.get(conversion.argument)? else { return None };
                let mut bits = u128::from_le_bytes(bytes_at(self.process, address)?);
                bits &= (1 << FloatFormat::Extended.bits()) - 1;
                Value::Float(FloatValue { format: FloatFormat::Extended, bits })
            }
            (Kind::Float { .. }, _) => {
                let bits = self.integer(conversion.argument)?.into();
                Value::Float(FloatValue { format: FloatFormat::Double, bits })
            }
            (Kind::Text, _) => {
                let most = match conversion.precision {
                    Some(Amount::Given(precision)) => precision as usize,
                    Some(Amount::Argument(_)) | None => LONGEST,
                };
                Value::Text(text_at(self.process, self.integer(conversion.argument)?, most)?)
            }
            _ => Value::Integer(self.integer(conversion.argument)?),
        })
    }

    /// What the call prints, and which part of it is of which piece of the format.
    pub fn printed(&self) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
        let (mut text, mut parts) = (Vec::new(), Vec::new());
        for piece in &self.format.pieces {
            let start = text.len();
            match piece {
                Piece::Literal(literal) => text.extend_from_slice(literal),
                Piece::Conversion(conversion) => text.extend(conversion.print(&self.value(conversion)?)?),
            }
            parts.push(start..text.len());
        }
        Some((text, parts))
    }

    fn conversion(format: &Format, piece: usize) -> Option<Conversion> {
        match format.pieces.get(piece)? {
            Piece::Conversion(conversion) => Some(*conversion),
            Piece::Literal(_) => None,
        }
    }

    /// The width and precision of a conversion, where they are arguments.
    pub fn amounts_of(&self, piece: usize) -> Vec<Cell> {
        let Some(conversion) = Self::conversion(&self.written, piece) else { return Vec::new() };
        let amounts = [conversion.width, conversion.precision].into_iter().flatten();
        let numbers = amounts.filter_map(|amount| match amount {
            Amount::Argument(number) => Some(number),
            Amount::Given(_) => None,
        });
        numbers.filter_map(|number| self.cells.get(number)).copied().collect()
    }

    /// What a conversion prints: its argument, and the text that this points to.
    pub fn cells_of(&self, piece: usize) -> Vec<Cell> {
        let Some(conversion) = Self::conversion(&self.format, piece) else { return Vec::new() };
        let mut cells: Vec<Cell> = self.cells.get(conversion.argument).copied().into_iter().collect();
        if let (Some(Value::Text(text)), Some(address)) =
            (self.value(&conversion), self.integer(conversion.argument))
        {
            cells.push(Cell::Memory { address, length: text.len() as u64 + 1 });
        }
        cells
    }
}

/// How each argument after the format is passed.
fn classes(format: &Format) -> Vec<Class> {
    let mut classes = Vec::new();
    let mut set = |number: usize, class| {
        if classes.len() <= number {
            classes.resize(number + 1, Class::General);
        }
        classes[number] = class;
    };
    for piece in &format.pieces {
        let Piece::Conversion(conversion) = piece else { continue };
        for amount in [conversion.width, conversion.precision].into_iter().flatten() {
            if let Amount::Argument(number) = amount {
                set(number, Class::General);
            }
        }
        let class = match (conversion.kind, conversion.length) {
            (Kind::Float { .. }, Length::LongDouble) => Class::LongDouble,
            (Kind::Float { .. }, _) => Class::Float,
            _ => Class::General,
        };
        set(conversion.argument, class);
    }
    classes
}

/// Where arguments of these classes are.
fn places(process: &Process, convention: Convention, classes: &[Class]) -> Option<Vec<Cell>> {
    let mut next = match convention.is_list {
        true => Next::of_list(process, process.machine.cpu.get(*GENERAL.get(convention.format + 1)?))?,
        false => Next {
            general: convention.format + 1,
            vector: 0,
            // Above the return address.
            stack: process.machine.cpu.get(Reg::RSP).wrapping_add(8),
            saved: None,
        },
    };
    Some(classes.iter().map(|class| next.take(*class)).collect())
}

/// Which registers are used up, and where the next argument on the stack is.
struct Next {
    general: usize,
    vector: u8,
    stack: u64,
    /// Where a `va_list` has the registers: the general ones, then the others with 16 bytes each.
    saved: Option<u64>,
}

impl Next {
    /// `struct { unsigned gp_offset, fp_offset; void *overflow_arg_area, *reg_save_area; }`
    fn of_list(process: &Process, list: u64) -> Option<Next> {
        let offsets = u64::from_le_bytes(bytes_at(process, list)?);
        let (general, vector) = (offsets as u32 as usize, (offsets >> 32) as usize);
        let area = |at: u64| Some(u64::from_le_bytes(bytes_at(process, list.wrapping_add(at))?));
        Some(Next {
            general: general / 8,
            vector: u8::try_from(vector.saturating_sub(8 * GENERAL.len()) / 16).ok()?,
            stack: area(8)?,
            saved: Some(area(16)?),
        })
    }

    fn take(&mut self, class: Class) -> Cell {
        match class {
            Class::General if self.general < GENERAL.len() => {
                let number = self.general;
                self.general += 1;
                match self.saved {
                    Some(saved) => word(saved.wrapping_add(8 * number as u64)),
                    None => Cell::Register(GENERAL[number], lift::WHOLE),
                }
            }
            Class::Float if self.vector < VECTOR => {
                let number = self.vector;
                self.vector += 1;
                match self.saved {
                    Some(saved) => {
                        word(saved.wrapping_add(8 * GENERAL.len() as u64 + 16 * u64::from(number)))
                    }
                    None => Cell::Register(Reg::xmm(number), lift::WHOLE),
                }
            }
            Class::General | Class::Float => {
                self.stack = self.stack.wrapping_add(8);
                word(self.stack.wrapping_sub(8))
            }
            Class::LongDouble => {
                let address = self.stack.wrapping_add(15) & !15;
                self.stack = address.wrapping_add(16);
                Cell::Memory { address, length: 10 }
            }
        }
    }
}

fn word(address: u64) -> Cell {
    Cell::Memory { address, length: 8 }
}

fn bytes_at<const N: usize>(process: &Process, address: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    (process.machine.memory.peek(address, &mut bytes) == N).then_some(bytes)
}

/// The bytes before the NUL, or as many as are wanted.
fn text_at(process: &Process, address: u64, most: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < most {
        let [byte] = bytes_at(process, address.wrapping_add(text.len() as u64))?;
        if byte == 0 {
            return Some(text);
        }
        text.push(byte);
    }
    (most < LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::Convention;

    #[test]
    fn functions_that_print_are_known_by_all_their_names() {
        let convention = |format, is_list| Some(Convention { format, is_list });
        assert_eq!(Convention::of("printf"), convention(0, false));
        assert_eq!(Convention::of("_IO_printf"), convention(0, false));
        assert_eq!(Convention::of("__GI___vfprintf_chk"), convention(2, true));
        assert_eq!(Convention::of("__fprintf_chk"), convention(2, false));
        assert_eq!(Convention::of("vfprintf"), convention(1, true));
        assert_eq!(Convention::of("__vprintf_chk"), convention(1, true));
        // It prints to memory; a byte of output is made by somebody else.
        assert_eq!(Convention::of("sprintf"), None);
        assert_eq!(Convention::of("puts"), None);
    }
}
