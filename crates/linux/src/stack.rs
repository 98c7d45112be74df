//! The stack as a new program finds it: argument and environment strings, their pointers, and the auxiliary
//! vector that tells the C library about the machine.

use machine::Memory;

use crate::fs::Credentials;

/// One past the highest address of the stack.
pub const STACK_TOP: u64 = 0x7fff_ffff_f000;
/// How large the stack may grow. All of it is mapped from the start and costs nothing until it is touched;
/// below it nothing is ever placed, so an overflow meets unmapped memory.
pub const STACK_SIZE: u64 = 8 << 20;
/// Strings may take up a quarter of the stack, as on Linux.
pub const MAX_STRINGS: u64 = STACK_SIZE / 4;

/// How far below its stack a program that overflows it may reach in one step.
const REACH: u64 = 1 << 20;

/// The size of the stack, if an address is just below it: who accesses that has used it up.
pub fn overflowed_stack(memory: &Memory, address: u64) -> Option<u64> {
    let stack = memory.regions().iter().find(|region| &*region.name == "[stack]")?;
    let reach = stack.start.checked_sub(REACH)?;
    (reach <= address && address < stack.start).then(|| stack.end - stack.start)
}

/// What the auxiliary vector tells about the loaded program.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// Where the program headers lie in memory, and how many there are.
    pub headers: u64,
    pub header_count: u64,
    pub entry: u64,
    /// Where the interpreter was loaded, or 0.
    pub interpreter_base: u64,
}

/// The initial contents of the stack: `bytes` end at [`STACK_TOP`], and the stack pointer is at their start.
pub struct InitialStack {
    pub pointer: u64,
    pub bytes: Vec<u8>,
    /// A copy of the auxiliary vector, as the kernel keeps one.
    pub auxiliary_vector: Vec<u8>,
}

const AT_NULL: u64 = 0;
const AT_PHDR: u64 = 3;
const AT_PHENT: u64 = 4;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_BASE: u64 = 7;
const AT_FLAGS: u64 = 8;
const AT_ENTRY: u64 = 9;
const AT_UID: u64 = 11;
const AT_EUID: u64 = 12;
const AT_GID: u64 = 13;
const AT_EGID: u64 = 14;
const AT_PLATFORM: u64 = 15;
const AT_HWCAP: u64 = 16;
const AT_CLKTCK: u64 = 17;
const AT_SECURE: u64 = 23;
const AT_RANDOM: u64 = 25;
const AT_HWCAP2: u64 = 26;
const AT_EXECFN: u64 = 31;

/// What stack protectors and pointer guards are made from. The lowest byte of the canary is cleared by the C
/// library itself.
const RANDOM_BYTES: [u8; 16] = *b"\x8a\x1f\x62\xd3\x49\xbe\x07\x95\xec\x30\x7b\xa4\x56\xc8\x11\xfd";

/// Lays out the stack. The caller has checked that the strings fit.
pub fn initial_stack(
    argv: &[Vec<u8>],
    env: &[Vec<u8>],
    execfn: &[u8],
    loaded: &Loaded,
    credentials: &Credentials,
    hwcap: u64,
) -> InitialStack {
    // The strings lie at the very top, in the order of Linux: platform, random bytes, argv, env, path, zero.
    let mut strings = Vec::new();
    let mut offset_of = |string: &[u8]| {
        let offset = strings.len() as u64;
        strings.extend_from_slice(string);
        strings.push(0);
        offset
    };
    let platform = offset_of(b"x86_64");
    let random = offset_of(&RANDOM_BYTES);
    let arguments: Vec<u64> = argv.iter().map(|string| offset_of(string)).collect();
    let environment: Vec<u64> = env.iter().map(|string| offset_of(string)).collect();
    let path = offset_of(execfn);
    strings.extend_from_slice(&[0; 8]);
    let strings_start = STACK_TOP - strings.len() as u64;

    let at = |offset: u64| strings_start + offset;
    let mut words = vec![argv.len() as u64];
    words.extend(arguments.iter().map(|&offset| at(offset)));
    words.push(0);
    words.extend(environment.iter().map(|&offset| at(offset)));
    words.push(0);
    let auxiliary_start = words.len();
    let (user, group) = (u64::from(credentials.user), u64::from(credentials.group));
    for (key, value) in [
        (AT_HWCAP, hwcap),
        (AT_PAGESZ, machine::PAGE_SIZE),
        (AT_CLKTCK, 100),
        (AT_PHDR, loaded.headers),
        (AT_PHENT, crate::elf::PROGRAM_HEADER_SIZE),
        (AT_PHNUM, loaded.header_count),
        (AT_BASE, loaded.interpreter_base),
        (AT_FLAGS, 0),
        (AT_ENTRY, loaded.entry),
        (AT_UID, user),
        (AT_EUID, user),
        (AT_GID, group),
        (AT_EGID, group),
        (AT_SECURE, 0),
        (AT_RANDOM, at(random)),
        (AT_HWCAP2, 0),
        (AT_EXECFN, at(path)),
        (AT_PLATFORM, at(platform)),
        (AT_NULL, 0),
    ] {
        words.extend([key, value]);
    }

    let pointer = (strings_start - 8 * words.len() as u64) & !15;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let auxiliary_vector = bytes.get(8 * auxiliary_start..).unwrap_or_default().to_vec();
    bytes.resize((strings_start - pointer) as usize, 0);
    bytes.extend_from_slice(&strings);
    InitialStack { pointer, bytes, auxiliary_vector }
}

/// How many bytes of the stack the strings and their pointers take.
pub fn strings_size(argv: &[Vec<u8>], env: &[Vec<u8>]) -> u64 {
    argv.iter().chain(env).map(|string| string.len() as u64 + 1 + 8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Reader(InitialStack);

    impl Reader {
        fn word(&self, address: u64) -> u64 {
            let start = (address - self.0.pointer) as usize;
            u64::from_le_bytes(self.0.bytes[start..start + 8].try_into().unwrap())
        }

        fn string(&self, address: u64) -> Vec<u8> {
            let start = (address - self.0.pointer) as usize;
            self.0.bytes[start..].iter().copied().take_while(|&byte| byte != 0).collect()
        }
    }

    fn sample(arguments: usize) -> Reader {
        let argv: Vec<Vec<u8>> = (0..arguments).map(|n| format!("argument{n}").into_bytes()).collect();
        let env = vec![b"HOME=/root".to_vec(), b"EMPTY=".to_vec()];
        let loaded = Loaded { headers: 0x40, header_count: 9, entry: 0x1234, interpreter_base: 0x7000 };
        let credentials = Credentials { user: 7, group: 8, groups: [].into() };
        Reader(initial_stack(&argv, &env, b"/bin/prog", &loaded, &credentials, 0xabc))
    }

    #[test]
    fn the_stack_pointer_is_aligned_whatever_the_arguments() {
        for arguments in 0..20 {
            let Reader(stack) = sample(arguments);
            assert_eq!(stack.pointer % 16, 0);
            assert_eq!(stack.pointer + stack.bytes.len() as u64, STACK_TOP);
        }
    }

    #[test]
    fn arguments_environment_and_auxiliary_vector_are_found_as_a_c_library_looks_for_them() {
        let stack = sample(2);
        let mut at = stack.0.pointer;
        let mut next = || {
            at += 8;
            stack.word(at - 8)
        };
        assert_eq!(next(), 2);
        assert_eq!(stack.string(next()), b"argument0");
        assert_eq!(stack.string(next()), b"argument1");
        assert_eq!(next(), 0);
        assert_eq!(stack.string(next()), b"HOME=/root");
        assert_eq!(stack.string(next()), b"EMPTY=");
        assert_eq!(next(), 0);
        let mut vector = std::collections::HashMap::new();
        loop {
            let (key, value) = (next(), next());
            if key == AT_NULL {
                break;
            }
            assert_eq!(vector.insert(key, value), None);
        }
        assert_eq!(vector[&AT_PHDR], 0x40);
        assert_eq!(vector[&AT_PHNUM], 9);
        assert_eq!(vector[&AT_BASE], 0x7000);
        assert_eq!(vector[&AT_ENTRY], 0x1234);
        assert_eq!((vector[&AT_UID], vector[&AT_EGID]), (7, 8));
        assert_eq!(vector[&AT_HWCAP], 0xabc);
        assert_eq!(stack.string(vector[&AT_EXECFN]), b"/bin/prog");
        assert_eq!(stack.string(vector[&AT_PLATFORM]), b"x86_64");
        assert_eq!(stack.string(vector[&AT_RANDOM])[..16], RANDOM_BYTES);
        assert_eq!(vector.get(&33), None, "a vdso would read the host's clock");
    }
}
