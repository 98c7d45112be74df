//! Who made the processor under us. Where the makers differ the machine does as Intel's processors do, on every host; what
//! AMD's do otherwise is exempt on those, and nowhere else.

use std::arch::x86_64::__cpuid;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    Intel,
    Amd,
}

impl Maker {
    pub fn of_host() -> Maker {
        static HOST: LazyLock<Maker> = LazyLock::new(|| {
            let leaf = __cpuid(0);
            Maker::by_name([leaf.ebx, leaf.edx, leaf.ecx])
        });
        *HOST
    }

    /// By the twelve letters that cpuid gives. A processor by anybody else is held to what Intel's do: where it differs, that
    /// is for a person to look at.
    fn by_name(words: [u32; 3]) -> Maker {
        match words.map(u32::to_le_bytes).as_flattened() {
            b"AuthenticAMD" | b"HygonGenuine" => Maker::Amd,
            _ => Maker::Intel,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_are_known_by_name() {
        let by_name = |name: &[u8; 12]| {
            let word = |at: usize| u32::from_le_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]]);
            Maker::by_name([word(0), word(4), word(8)])
        };
        assert_eq!(by_name(b"AuthenticAMD"), Maker::Amd);
        assert_eq!(by_name(b"GenuineIntel"), Maker::Intel);
        assert_eq!(by_name(b"  Shanghai  "), Maker::Intel);
    }
}
