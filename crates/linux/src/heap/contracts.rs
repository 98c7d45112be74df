//! What the string and memory routines of the C library read, by their contracts.
//!
//! Their code loads whole vectors, beyond the ends of what they are given, as far as the page goes. So their loads are not checked one
//! by one; what they may read is, when they are called. Only what lies in the heap is looked at, or all memory if somebody cares about all of it. A check never asks for more than the
//! routine must read: up to where its answer is decided.

use lift::Reg;
use machine::{AccessFault, Check, Cpu, Readable};

type Checked = Result<(), AccessFault>;

/// The contract of a function, by its name.
pub fn of(name: &str) -> Option<Check> {
    // Internal names of glibc are the same with underscores.
    let name = name.strip_prefix("__").unwrap_or(name);
    let check: Check = match name {
        "strlen" | "strrchr" | "rindex" => |cpu, memory| string(memory, first(cpu, memory)),
        "strnlen" => |cpu, memory| bounded(memory, first(cpu, memory), second(cpu, memory)),
        "strchr" | "index" | "strchrnul" => {
            |cpu, memory| up_to(memory, first(cpu, memory), second(cpu, memory) as u8)
        }
        "rawmemchr" => {
            |cpu, memory| memory_up_to(memory, first(cpu, memory), second(cpu, memory) as u8, u64::MAX)
        }
        "memchr" => |cpu, memory| {
            memory_up_to(memory, first(cpu, memory), second(cpu, memory) as u8, third(cpu, memory))
        },
        "memrchr" => |cpu, memory| {
            memory_down_to(memory, first(cpu, memory), second(cpu, memory) as u8, third(cpu, memory))
        },
        "strcmp" | "strcoll" => {
            |cpu, memory| strings(memory, first(cpu, memory), second(cpu, memory), u64::MAX, u8::eq)
        }
        "strncmp" => {
            |cpu, memory| strings(memory, first(cpu, memory), second(cpu, memory), third(cpu, memory), u8::eq)
        }
        "strcasecmp" | "strcasecmp_l" => |cpu, memory| {
            strings(memory, first(cpu, memory), second(cpu, memory), u64::MAX, u8::eq_ignore_ascii_case)
        },
        "strncasecmp" | "strncasecmp_l" => |cpu, memory| {
            strings(
                memory,
                first(cpu, memory),
                second(cpu, memory),
                third(cpu, memory),
                u8::eq_ignore_ascii_case,
            )
        },
        "memcmp" | "bcmp" | "memcmpeq" => {
            |cpu, memory| same(memory, first(cpu, memory), second(cpu, memory), third(cpu, memory))
        }
        "strcpy" | "stpcpy" => |cpu, memory| string(memory, second(cpu, memory)),
        "strncpy" | "stpncpy" => |cpu, memory| bounded(memory, second(cpu, memory), third(cpu, memory)),
        "strcat" => |cpu, memory| {
            string(memory, first(cpu, memory)).and_then(|()| string(memory, second(cpu, memory)))
        },
        "strncat" => |cpu, memory| {
            string(memory, first(cpu, memory))
                .and_then(|()| bounded(memory, second(cpu, memory), third(cpu, memory)))
        },
        "strstr" => |cpu, memory| contained(memory, first(cpu, memory), second(cpu, memory)),
        "strspn" => |cpu, memory| span(memory, first(cpu, memory), second(cpu, memory), true),
        "strcspn" | "strpbrk" => |cpu, memory| span(memory, first(cpu, memory), second(cpu, memory), false),
        "wcslen" | "wcsrchr" => |cpu, memory| wide(memory, first(cpu, memory), u64::MAX, 0),
        "wcsnlen" => |cpu, memory| wide(memory, first(cpu, memory), second(cpu, memory), 0),
        "wcschr" => |cpu, memory| wide(memory, first(cpu, memory), u64::MAX, second(cpu, memory) as u32),
        "wmemchr" => |cpu, memory| {
            wide_memory(memory, first(cpu, memory), third(cpu, memory), second(cpu, memory) as u32)
        },
        "wcscpy" => |cpu, memory| wide(memory, second(cpu, memory), u64::MAX, 0),
        "wcscmp" => {
            |cpu, memory| wide_strings(memory, first(cpu, memory), second(cpu, memory), u64::MAX, true)
        }
        "wcsncmp" => |cpu, memory| {
            wide_strings(memory, first(cpu, memory), second(cpu, memory), third(cpu, memory), true)
        },
        "wmemcmp" => |cpu, memory| {
            wide_strings(memory, first(cpu, memory), second(cpu, memory), third(cpu, memory), false)
        },
        _ => return None,
    };
    Some(check)
}

/// Whether a function of that name reads more than its contract says that it does.
pub fn has_contract(name: &str) -> bool {
    of(name).is_some()
}

fn first(cpu: &Cpu, memory: &dyn Readable) -> u64 {
    memory.argument(cpu, Reg::RDI)
}

fn second(cpu: &Cpu, memory: &dyn Readable) -> u64 {
    memory.argument(cpu, Reg::RSI)
}

fn third(cpu: &Cpu, memory: &dyn Readable) -> u64 {
    memory.argument(cpu, Reg::RDX)
}

/// Bytes that are looked at in one go.
const STEP: u64 = 256;
/// Bytes that are looked at in one call; what is longer is left to the loads themselves, of which none is checked then.
const MOST: u64 = 1 << 30;

/// Reads stretch by stretch until `ends` says how many bytes of one still count, or `length` bytes are read. All of them must be
/// readable; what is not mapped is left to the load that will fault.
fn scan(
    memory: &dyn Readable,
    start: u64,
    length: u64,
    mut ends: impl FnMut(&[u8]) -> Option<u64>,
) -> Checked {
    if !memory.is_checked(start) {
        return Ok(());
    }
    let mut buffer = [0; STEP as usize];
    let mut done = 0;
    while done < length.min(MOST) {
        let at = start.wrapping_add(done);
        let step = (length - done).min(STEP - at % STEP) as usize;
        let Some(piece) = buffer.get_mut(..step) else { break };
        let there = memory.peek(at, piece);
        let piece = piece.get(..there).unwrap_or_default();
        let Some(end) = ends(piece) else {
            memory.check_readable(at, there as u64)?;
            if there < step {
                break;
            }
            done += step as u64;
            continue;
        };
        return memory.check_readable(at, end);
    }
    Ok(())
}

/// How many bytes there are up to the first that is one of these, with it.
fn through(piece: &[u8], is_end: impl Fn(u8) -> bool) -> Option<u64> {
    piece.iter().position(|&byte| is_end(byte)).map(|end| end as u64 + 1)
}

fn string(memory: &dyn Readable, start: u64) -> Checked {
    up_to(memory, start, 0)
}

fn bounded(memory: &dyn Readable, start: u64, most: u64) -> Checked {
    scan(memory, start, most, |piece| through(piece, |byte| byte == 0))
}

fn up_to(memory: &dyn Readable, start: u64, wanted: u8) -> Checked {
    scan(memory, start, u64::MAX, |piece| through(piece, |byte| byte == 0 || byte == wanted))
}

fn memory_up_to(memory: &dyn Readable, start: u64, wanted: u8, length: u64) -> Checked {
    scan(memory, start, length, |piece| through(piece, |byte| byte == wanted))
}

fn memory_down_to(memory: &dyn Readable, start: u64, wanted: u8, length: u64) -> Checked {
    if !memory.is_checked(start) || length > MOST {
        return Ok(());
    }
    let mut done = 0;
    let mut buffer = [0; STEP as usize];
    while done < length {
        let step = (length - done).min(STEP);
        let at = start.wrapping_add(length - done - step);
        let Some(piece) = buffer.get_mut(..step as usize) else { break };
        if memory.peek(at, piece) < piece.len() {
            break;
        }
        if let Some(found) = piece.iter().rposition(|&byte| byte == wanted) {
            return memory.check_readable(at.wrapping_add(found as u64), step - found as u64);
        }
        memory.check_readable(at, step)?;
        done += step;
    }
    Ok(())
}

/// Goes over two stretches side by side until `ends` says how many bytes of a pair of pieces still count.
fn both(
    memory: &dyn Readable,
    one: u64,
    other: u64,
    length: u64,
    ends: impl Fn(&[u8], &[u8]) -> Option<u64>,
) -> Checked {
    if !memory.is_checked(one) && !memory.is_checked(other) {
        return Ok(());
    }
    let (mut a, mut b) = ([0; STEP as usize], [0; STEP as usize]);
    let mut done = 0;
    while done < length.min(MOST) {
        let (at, beside) = (one.wrapping_add(done), other.wrapping_add(done));
        let step = (length - done).min(STEP - at % STEP).min(STEP - beside % STEP) as usize;
        let (Some(piece), Some(pair)) = (a.get_mut(..step), b.get_mut(..step)) else { break };
        let there = memory.peek(at, piece).min(memory.peek(beside, pair));
        let (piece, pair) = (piece.get(..there).unwrap_or_default(), pair.get(..there).unwrap_or_default());
        let end = ends(piece, pair);
        let length = end.unwrap_or(there as u64);
        memory.check_readable(at, length)?;
        memory.check_readable(beside, length)?;
        if end.is_some() || there < step {
            break;
        }
        done += step as u64;
    }
    Ok(())
}

fn strings(memory: &dyn Readable, one: u64, other: u64, most: u64, alike: fn(&u8, &u8) -> bool) -> Checked {
    both(memory, one, other, most, |piece, pair| {
        let ends = |(a, b): (&u8, &u8)| *a == 0 || *b == 0 || !alike(a, b);
        piece.iter().zip(pair).position(ends).map(|end| end as u64 + 1)
    })
}

fn same(memory: &dyn Readable, one: u64, other: u64, length: u64) -> Checked {
    both(memory, one, other, length, |piece, pair| {
        piece.iter().zip(pair).position(|(a, b)| a != b).map(|end| end as u64 + 1)
    })
}

/// The bytes of a string that can be read, up to its end, and whether it has one.
fn text(memory: &dyn Readable, start: u64) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let mut buffer = [0; STEP as usize];
    while (text.len() as u64) < MOST {
        let there = memory.peek(start.wrapping_add(text.len() as u64), &mut buffer);
        let piece = buffer.get(..there).unwrap_or_default();
        if let Some(end) = piece.iter().position(|&byte| byte == 0) {
            text.extend_from_slice(piece.get(..end).unwrap_or_default());
            return (text, true);
        }
        text.extend_from_slice(piece);
        if there < buffer.len() {
            break;
        }
    }
    (text, false)
}

/// A string is looked for in another: that is read up to the end of what is found.
fn contained(memory: &dyn Readable, text_start: u64, wanted_start: u64) -> Checked {
    string(memory, wanted_start)?;
    if !memory.is_checked(text_start) {
        return Ok(());
    }
    let (wanted, _) = text(memory, wanted_start);
    let (text, _) = text(memory, text_start);
    if wanted.is_empty() {
        return Ok(());
    }
    match text.windows(wanted.len()).position(|window| window == wanted) {
        Some(found) => memory.check_readable(text_start, (found + wanted.len()) as u64),
        None => string(memory, text_start),
    }
}

/// A string is read up to the first character that is not, or is, in a set.
fn span(memory: &dyn Readable, start: u64, set_start: u64, while_in: bool) -> Checked {
    string(memory, set_start)?;
    if !memory.is_checked(start) {
        return Ok(());
    }
    let (set, _) = text(memory, set_start);
    let ends = |byte: u8| byte == 0 || set.contains(&byte) != while_in;
    scan(memory, start, u64::MAX, |piece| through(piece, ends))
}

/// The wide characters of a piece, of which the last may be cut off: where a wide character crosses a stretch, so is its address not
/// aligned, which no compiler makes.
fn wide_characters(piece: &[u8]) -> impl Iterator<Item = u32> {
    piece.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
}

fn wide_length(most: u64) -> u64 {
    most.saturating_mul(4)
}

fn wide(memory: &dyn Readable, start: u64, most: u64, wanted: u32) -> Checked {
    scan(memory, start, wide_length(most), |piece| {
        let end = wide_characters(piece).position(|character| character == 0 || character == wanted)?;
        Some(end as u64 * 4 + 4)
    })
}

fn wide_memory(memory: &dyn Readable, start: u64, length: u64, wanted: u32) -> Checked {
    scan(memory, start, wide_length(length), |piece| {
        let end = wide_characters(piece).position(|character| character == wanted)?;
        Some(end as u64 * 4 + 4)
    })
}

fn wide_strings(memory: &dyn Readable, one: u64, other: u64, most: u64, ends_at_zero: bool) -> Checked {
    both(memory, one, other, wide_length(most), |piece, pair| {
        let mut pairs = wide_characters(piece).zip(wide_characters(pair));
        let end = pairs.position(|(a, b)| a != b || ends_at_zero && a == 0)?;
        Some(end as u64 * 4 + 4)
    })
}
