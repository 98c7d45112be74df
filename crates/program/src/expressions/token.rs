//! The words of an expression.

use std::ops::Range;

use super::SyntaxError;
use super::numbers::{Basic, Number};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Name(String),
    Constant { value: Number, of: Basic },
    Text(Vec<u8>),
    Sign(&'static str),
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub at: Range<usize>,
    pub word: Word,
}

/// The longest first, so that `<<` is not `<` twice.
const SIGNS: [&str; 35] = [
    "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "(", ")", "[",
    "]", ".", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "?", ":", "=",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        at += rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            tokens.push(Token { at: at..at, word: Word::End });
            return Ok(tokens);
        };
        let fail = |length: usize, message: String| SyntaxError {
            text: text.to_owned(),
            at: at..at + length,
            message,
        };
        let is_number = first.is_ascii_digit()
            || first == '.' && rest.chars().nth(1).is_some_and(|next| next.is_ascii_digit());
        let (word, length) = if first.is_alphabetic() || first == '_' {
            name(rest)
        } else if is_number {
            number(rest).map_err(|(length, message)| fail(length, message))?
        } else if first == '\'' || first == '"' {
            quoted(rest, first).map_err(|message| fail(1, message))?
        } else {
            match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Word::Sign(sign), sign.len()),
                None => {
                    let message = format!("`{}` is no part of an expression", first.escape_debug());
                    return Err(fail(first.len_utf8(), message));
                }
            }
        };
        tokens.push(Token { at: at..at + length, word });
        at += length;
    }
}

/// A name, with its namespaces.
fn name(rest: &str) -> (Word, usize) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut length = 0;
    loop {
        let part = rest.get(length..).unwrap_or_default();
        length += part.find(|c: char| !is_part(c)).unwrap_or(part.len());
        let after = rest.get(length..).unwrap_or_default();
        match after.strip_prefix("::") {
            Some(next) if next.starts_with(|c: char| c.is_alphabetic() || c == '_') => length += 2,
            _ => return (Word::Name(rest.get(..length).unwrap_or_default().to_owned()), length),
        }
    }
}

type Wrong = (usize, String);

fn number(rest: &str) -> Result<(Word, usize), Wrong> {
    let is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    let mut length = 0;
    let mut before = ' ';
    for character in rest.chars() {
        let is_sign = matches!(character, '+' | '-') && matches!(before, 'e' | 'E') && !is_hexadecimal;
        if !character.is_ascii_alphanumeric() && character != '.' && !is_sign {
            break;
        }
        before = character;
        length += character.len_utf8();
    }
    let text = rest.get(..length).unwrap_or_default();
    let is_float = !is_hexadecimal && text.contains(['.', 'e', 'E']);
    let word = if is_float { float(text) } else { integer(text) };
    word.map(|word| (word, length)).ok_or_else(|| (length, format!("`{text}` is no number")))
}

fn float(text: &str) -> Option<Word> {
    let digits = text.trim_end_matches(['f', 'F', 'l', 'L']);
    let of = match text.strip_prefix(digits)?.to_ascii_lowercase().as_str() {
        "" => Basic::Double,
        "f" => Basic::Float,
        "l" => Basic::LongDouble,
        _ => return None,
    };
    Some(Word::Constant { value: Number::Float(digits.parse().ok()?).converted(of), of })
}

/// Of the first type that it fits in, as C says: decimal ones without a suffix are signed.
fn integer(text: &str) -> Option<Word> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = text.strip_prefix(digits)?.to_ascii_lowercase();
    let (value, is_decimal) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (u64::from_str_radix(digits.get(2..)?, 16).ok()?, false),
        [b'0', b'b' | b'B', ..] => (u64::from_str_radix(digits.get(2..)?, 2).ok()?, false),
        [b'0', _, ..] => (u64::from_str_radix(digits, 8).ok()?, false),
        _ => (digits.parse().ok()?, true),
    };
    let is_unsigned = match suffix.as_str() {
        "" | "l" | "ll" => false,
        "u" | "ul" | "lu" | "ull" | "llu" => true,
        _ => return None,
    };
    let is_long = suffix.contains('l');
    let candidates = [(4, true), (4, false), (8, true), (8, false)];
    let fits = |size: u8, signed: bool| {
        let bits = u32::from(size) * 8 - u32::from(signed);
        bits >= 64 || value >> bits == 0
    };
    let found = candidates.into_iter().find(|(size, signed)| {
        (!is_long || *size == 8)
            && (!is_unsigned || !signed)
            && (*signed || is_unsigned || !is_decimal || *size == 8)
            && fits(*size, *signed)
    });
    let (size, signed) = found?;
    Some(Word::Constant { value: Number::Integer(i128::from(value)), of: Basic::Integer { size, signed } })
}

fn quoted(rest: &str, quote: char) -> Result<(Word, usize), String> {
    let mut bytes = Vec::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            _ if character == quote => {
                let length = at + quote.len_utf8();
                if quote == '"' {
                    return Ok((Word::Text(bytes), length));
                }
                // A character has type int, and the sign of a char.
                let [byte] = bytes.as_slice() else { return Err("a character is one byte".to_owned()) };
                let value = Number::Integer(i128::from(*byte as i8));
                return Ok((Word::Constant { value, of: Basic::INT }, length));
            }
            '\\' => {
                let (byte, used) = escape(rest.get(at + 1..).unwrap_or_default())
                    .ok_or_else(|| "an escape that is not known".to_owned())?;
                bytes.push(byte);
                for _ in 0..used {
                    characters.next();
                }
            }
            character => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err(format!("the closing {quote} is missing"))
}

/// The byte that an escape stands for, and how many characters follow the backslash.
fn escape(rest: &str) -> Option<(u8, usize)> {
    let first = rest.chars().next()?;
    let simple = match first {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'v' => 11,
        'e' => 27,
        '\\' | '\'' | '"' | '?' => first as u8,
        'x' => {
            let digits: String = rest.chars().skip(1).take_while(char::is_ascii_hexdigit).take(2).collect();
            return Some((u8::from_str_radix(&digits, 16).ok()?, 1 + digits.len()));
        }
        '0'..='7' => {
            let digits: String = rest.chars().take_while(|c| ('0'..='7').contains(c)).take(3).collect();
            return Some((u8::from_str_radix(&digits, 8).ok()?, digits.len()));
        }
        _ => return None,
    };
    Some((simple, 1))
}
