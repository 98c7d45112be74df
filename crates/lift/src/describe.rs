//! Instructions as people read them.

use crate::{Decoded, decode};
use iced_x86::{Formatter, IntelFormatter};

/// An instruction in words.
pub struct Description {
    /// In bytes.
    pub length: usize,
    /// In Intel syntax.
    pub text: String,
    /// The processor features that it needs, as cpuid calls them ("AVX2").
    pub features: Vec<String>,
}

/// Describes the instruction at the start of `bytes`.
pub fn describe(bytes: &[u8], address: u64) -> Description {
    let Decoded::Instruction(instruction) = decode(bytes, address) else {
        return Description { length: bytes.len().min(1), text: "(bad)".into(), features: Vec::new() };
    };
    let mut text = String::new();
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_space_after_operand_separator(true);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    formatter.format(&instruction, &mut text);
    let features = instruction.cpuid_features().iter().map(|feature| format!("{feature:?}")).collect();
    Description { length: instruction.len(), text, features }
}
