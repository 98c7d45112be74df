//! Characters and strings, with escapes and repeats.

use std::fmt::Write as _;

use super::Limits;

/// A character in single quotes.
pub(super) fn character(code: u64) -> String {
    let mut text = String::from("'");
    Escaper { quote: '\'', after_number: false }.push(code, &mut text);
    text.push('\'');
    text
}

/// Characters in double quotes, long repeats apart: `"abc", 'x' <repeats 20 times>, "d"`.
pub(super) fn string(codes: &[u64], prefix: &str, is_cut: bool, limits: &Limits) -> String {
    if codes.is_empty() {
        return format!("{prefix}\"\"{}", if is_cut { "..." } else { "" });
    }
    let mut text = String::new();
    let mut is_open = false;
    let mut shown = 0;
    let mut at = 0;
    let mut escaper = Escaper { quote: '"', after_number: false };
    while let Some(code) = codes.get(at)
        && shown < limits.elements
    {
        let count = codes.iter().skip(at).take_while(|other| *other == code).count();
        if count > limits.repeats {
            if is_open {
                text.push('"');
                is_open = false;
            }
            if at > 0 {
                text.push_str(", ");
            }
            let _ = write!(text, "{prefix}{} <repeats {count} times>", character(*code));
            escaper.after_number = false;
        } else {
            if !is_open {
                if at > 0 {
                    text.push_str(", ");
                }
                text.push_str(prefix);
                text.push('"');
                is_open = true;
                escaper.after_number = false;
            }
            for _ in 0..count {
                escaper.push(*code, &mut text);
            }
        }
        shown += count;
        at += count;
    }
    if is_open {
        text.push('"');
    }
    if is_cut || at < codes.len() {
        text.push_str("...");
    }
    text
}

struct Escaper {
    quote: char,
    /// The last one was written as a number of no fixed length, which a digit would continue.
    after_number: bool,
}

impl Escaper {
    fn push(&mut self, code: u64, text: &mut String) {
        let after_number = std::mem::replace(&mut self.after_number, false);
        let letter = match code {
            7 => Some('a'),
            8 => Some('b'),
            9 => Some('t'),
            10 => Some('n'),
            11 => Some('v'),
            12 => Some('f'),
            13 => Some('r'),
            _ => None,
        };
        if let Some(letter) = letter {
            text.push('\\');
            text.push(letter);
            return;
        }
        let printable = u32::try_from(code)
            .ok()
            .and_then(char::from_u32)
            .filter(|c| (' '..='~').contains(c) && !(after_number && c.is_ascii_digit()));
        match printable {
            Some(c) => {
                if c == self.quote || c == '\\' {
                    text.push('\\');
                }
                text.push(c);
            }
            None => {
                self.after_number = code > 0o777;
                let _ =
                    if code <= 0o777 { write!(text, "\\{code:03o}") } else { write!(text, "\\x{code:x}") };
            }
        }
    }
}

/// Cuts bytes into characters of `width` bytes.
pub(super) fn codes(bytes: &[u8], width: usize) -> Vec<u64> {
    let word = |part: &[u8]| part.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks_exact(width.max(1)).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &[u8]) -> String {
        string(&codes(text, 1), "", false, &Limits::default())
    }

    #[test]
    fn escapes_and_repeats_are_written_apart() {
        assert_eq!(show(b""), "\"\"");
        assert_eq!(show(b"a\"b\\\n\x01\x1b"), r#""a\"b\\\n\001\033""#);
        assert_eq!(show(b"\x011"), r#""\0011""#, "an octal number has three digits, and no more");
        assert_eq!(show(&[b'x'; 10]), "\"xxxxxxxxxx\"");
        assert_eq!(show(&[b'x'; 11]), "'x' <repeats 11 times>");
        let mixed = [b"ab".to_vec(), vec![0; 20], b"c".to_vec()].concat();
        assert_eq!(show(&mixed), r#""ab", '\000' <repeats 20 times>, "c""#);
        assert_eq!(character(u64::from(b'\'')), r"'\''");
    }

    #[test]
    fn long_strings_are_cut_after_the_most_elements() {
        let text: Vec<u8> = (0..300).map(|n| b'a' + (n % 20) as u8).collect();
        let shown = show(&text);
        assert!(shown.ends_with("\"...") && shown.len() == 205, "{shown}");
    }
}
