//! Takes a fuzzer's bytes apart. Whatever they are, they mean something: a length that is too large means the rest.

pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// As many bytes as a length of two bytes before them says.
    pub fn part(&mut self) -> &'a [u8] {
        let Some((length, rest)) = self.0.split_first_chunk() else {
            return std::mem::take(&mut self.0);
        };
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (part, rest) = rest.split_at(length);
        self.0 = rest;
        part
    }
}
