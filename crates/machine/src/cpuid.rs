//! The processor that the guest sees: it says exactly what is implemented, so that libraries
//! pick routines that we have.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub eax: u32,
    pub ebx: u32,
    pub ecx: u32,
    pub edx: u32,
}

/// FPU, TSC, CX8, CMOV, MMX, FXSR, SSE, SSE2. MMX is claimed although it is not implemented: the C library
/// refuses to start on a processor without all of the x86-64 baseline, and uses no MMX itself.
pub const FEATURES_EDX: u32 = 1 << 0 | 1 << 4 | 1 << 8 | 1 << 15 | 1 << 23 | 1 << 24 | 1 << 25 | 1 << 26;
/// SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT.
const FEATURES_ECX: u32 = 1 << 0 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23;
/// LAHF and SAHF in 64-bit mode.
const EXTENDED_ECX: u32 = 1 << 0;
/// SYSCALL, NX, RDTSCP, 64-bit mode.
const EXTENDED_EDX: u32 = 1 << 11 | 1 << 20 | 1 << 27 | 1 << 29;
const HIGHEST_LEAF: u32 = 7;
const HIGHEST_EXTENDED_LEAF: u32 = 0x8000_0008;
/// Family 6, model 26: the first processor with all of these features. Libraries know that it copies well from addresses that are
/// not aligned, and choose their simplest routines.
const SIGNATURE: u32 = 0x0001_06a0;
/// Lines of 64 bytes for clflush, one logical processor.
const BRAND_AND_LINES: u32 = 8 << 8 | 1 << 16;
const NAME: &[u8; 48] = b"whydunit virtual processor\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

pub fn query(leaf: u32, subleaf: u32) -> Answer {
    match leaf {
        0 => vendor(HIGHEST_LEAF),
        1 => Answer { eax: SIGNATURE, ebx: BRAND_AND_LINES, ecx: FEATURES_ECX, edx: FEATURES_EDX },
        4 => cache(subleaf),
        0x8000_0000 => vendor(HIGHEST_EXTENDED_LEAF),
        0x8000_0001 => Answer { ecx: EXTENDED_ECX, edx: EXTENDED_EDX, ..Answer::default() },
        0x8000_0002..=0x8000_0004 => name(leaf - 0x8000_0002),
        // 48 virtual and 48 physical address bits.
        0x8000_0008 => Answer { eax: 48 << 8 | 48, ..Answer::default() },
        _ => Answer::default(),
    }
}

/// "GenuineIntel", so that libraries take the well-trodden path.
fn vendor(highest: u32) -> Answer {
    Answer {
        eax: highest,
        ebx: u32::from_le_bytes(*b"Genu"),
        edx: u32::from_le_bytes(*b"ineI"),
        ecx: u32::from_le_bytes(*b"ntel"),
    }
}

/// 32 KiB of data, 32 KiB of code, 1 MiB unified: what libraries size their copy loops by.
fn cache(subleaf: u32) -> Answer {
    let (kind, level, ways, sets) = match subleaf {
        0 => (1, 1, 8, 64),
        1 => (2, 1, 8, 64),
        2 => (3, 2, 16, 1024),
        _ => return Answer::default(),
    };
    let self_initialising = 1 << 8;
    Answer { eax: kind | level << 5 | self_initialising, ebx: (ways - 1) << 22 | 63, ecx: sets - 1, edx: 0 }
}

fn name(part: u32) -> Answer {
    let word = |n: u32| {
        let start = (16 * part + 4 * n) as usize;
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&NAME[start..start + 4]);
        u32::from_le_bytes(bytes)
    };
    Answer { eax: word(0), ebx: word(1), ecx: word(2), edx: word(3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A feature that is announced works, or the C library would choose routines that do not run.
    #[test]
    fn instructions_of_announced_features_are_lifted_and_others_are_not_announced() {
        let examples: [(u32, &[u8]); 8] = [
            (0, &[0xf2, 0x0f, 0xd0, 0xc1]),              // SSE3: addsubps
            (9, &[0x66, 0x0f, 0x38, 0x00, 0xc1]),        // SSSE3: pshufb
            (12, &[0xc4, 0xe2, 0x71, 0x98, 0xc2]),       // FMA: vfmadd132ps
            (19, &[0x66, 0x0f, 0x3a, 0x0e, 0xc1, 0x01]), // SSE4.1: pblendw
            (20, &[0x66, 0x0f, 0x3a, 0x63, 0xc1, 0x01]), // SSE4.2: pcmpistri
            (23, &[0xf3, 0x0f, 0xb8, 0xc1]),             // POPCNT
            (25, &[0x66, 0x0f, 0x38, 0xdc, 0xc1]),       // AES: aesenc
            (28, &[0xc5, 0xe8, 0x58, 0xcb]),             // AVX: vaddps
        ];
        for (bit, bytes) in examples {
            let lift::Decoded::Instruction(instruction) = lift::decode(bytes, 0) else { panic!("{bit}") };
            let mut ops = Vec::new();
            lift::lift(&instruction, &mut ops);
            let works = !ops.contains(&lift::Op::Unsupported);
            assert_eq!(query(1, 0).ecx >> bit & 1 == 1, works, "{instruction:?}");
        }
    }
}
