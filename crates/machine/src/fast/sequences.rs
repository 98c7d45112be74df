//! Codes that often follow each other, done by one handler.
//!
//! The codes stay as they are, and only the handler of the first is another one: it does the work of all, and goes on after the last without
//! having looked up what they are. Where a later one cannot be done, it is that code that is retried, done slowly or bailed out of, by
//! its own handler, as if the first had come to it in the usual way. So a sequence is exact wherever its codes are.

use super::handlers::*;
use super::parts::*;
use super::{Code, Handler};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// The sequences by the addresses of the handlers of their first two codes, those that are to be preferred first. Handlers that do the same may have
/// the same address, and so may sequences of them.
static SEQUENCES: LazyLock<FxHashMap<(usize, usize), Vec<Sequence>>> = LazyLock::new(sequences);

/// Has sequences of codes done by one handler, from the first on.
pub fn fuse(codes: &mut [Code]) {
    let mut rest = codes;
    while let [first, second, ..] = &*rest {
        let all = SEQUENCES.get(&(first.handler as usize, second.handler as usize));
        let found = all.and_then(|all| all.iter().find(|sequence| (sequence.suits)(rest)));
        if let Some(sequence) = found {
            rest[0].handler = sequence.handler;
        }
        rest = &mut rest[found.map_or(1, |sequence| sequence.length)..];
    }
}

struct Sequence {
    handler: Handler,
    length: usize,
    /// Whether codes of which the first two have the right handlers begin with this sequence.
    suits: fn(&[Code]) -> bool,
}

type Sequences = FxHashMap<(usize, usize), Vec<Sequence>>;

fn add_pair<A: Step, B: Step>(sequences: &mut Sequences) {
    unsafe fn run<A: Step, B: Step>(core: &mut crate::Core, at: *const Code, left: u64) {
        // SAFETY: the contract of `Handler`.
        unsafe { A::run::<Then<B>>(core, at, left) }
    }
    let suits = |codes: &[Code]| matches!(codes, [a, b, ..] if B::follows(a, b));
    let pair = Sequence { handler: run::<A, B>, length: 2, suits };
    sequences.entry((A::HANDLER as usize, B::HANDLER as usize)).or_default().push(pair);
}

fn add_triple<A: Step, B: Step, C: Step>(sequences: &mut Sequences) {
    unsafe fn run<A: Step, B: Step, C: Step>(core: &mut crate::Core, at: *const Code, left: u64) {
        // SAFETY: the contract of `Handler`.
        unsafe { A::run::<Then<B, Then<C>>>(core, at, left) }
    }
    let suits = |codes: &[Code]| {
        matches!(codes, [a, b, c, ..]
            if c.handler as usize == C::HANDLER as usize && B::follows(a, b) && C::follows(b, c))
    };
    let triple = Sequence { handler: run::<A, B, C>, length: 3, suits };
    sequences.entry((A::HANDLER as usize, B::HANDLER as usize)).or_default().push(triple);
}

macro_rules! triples {
    ($sequences:ident, $([$first:ty, $second:ty, $third:ty])*) => {
        $(add_triple::<$first, $second, $third>($sequences);)*
    };
}

/// Each of the first steps with each of the second. Before a second one stand those of its operands that may be what a first one has made, for which there
/// is a handler of its own; the other first ones make nothing that is worth it.
macro_rules! pairs {
    ($sequences:ident, making [$($first:ty,)*] other [$($other:ty,)*] $seconds:tt) => {
        $(pairs!(@by $sequences, $first, $seconds);)*
        $(pairs!(@ $sequences, $other, $seconds);)*
    };
    (@by $sequences:ident, $first:ty, [$($($operand:ident)* => $second:ty,)*]) => {$(
        $(add_pair::<$first, By<$operand, $second>>($sequences);)*
        add_pair::<$first, $second>($sequences);
    )*};
    (@ $sequences:ident, $first:ty, [$($($operand:ident)* => $second:ty,)*]) => {
        $(add_pair::<$first, $second>($sequences);)*
    };
}

/// The steps that come first and second most often in gzip, sort, bzip2, xz, sqlite3, lua, python3 and a program of `gcc -O0`: two fifths
/// of the codes that these run are not the first of what a handler does.
fn sequences() -> Sequences {
    let mut sequences = Sequences::default();
    add_triples(&mut sequences);
    add_pairs(&mut sequences);
    sequences
}

fn add_triples(sequences: &mut Sequences) {
    type Pointer = By<Base, load<W8, Based>>;
    triples!(sequences,
        [pop, pop, pop]
        [pop, pop, ret]
        [push, push, push]
        [push, move_reg, push]
        [push, move_reg, binary_const<Sub, W8>]
        [load<W8, InFrame>, Pointer, Pointer]
        [load<W8, InFrame>, Pointer, By<Base, load<W4, Based>>]
        [load<W8, InFrame>, Pointer, By<Base, load<W1, Based>>]
        [load<W8, InFrame>, Pointer, By<Target, binary_const<Add, W8>>]
        [load<W8, InFrame>, Pointer, By<Target, store<W8, InFrame>>]
        [load<W8, InFrame>, Pointer, By<Target, test_branch<NotEqual, W8>>]
        [load<W8, InFrame>, By<Base, lea<W8, Based>>, By<Target, store<W8, InFrame>>]
        [load<W1, Paired>, load<W1, Paired>, By<Source, compare_branch<NotEqual, W1>>]
        [load<W1, Paired>, load<W1, Paired>, By<Target, compare_branch<NotEqual, W1>>]
        [load<W1, Paired>, load<W1, Paired>, By<Source, compare_branch<Equal, W1>>]
        [load<W1, Paired>, load<W1, Paired>, By<Target, compare_branch<Equal, W1>>]
        [binary_const<And, W4>, By<Index, load<W2, Indexed>>, By<Source, compare_branch<AboveOrEqual, W4>>]
        [
            zero_extend<W4>,
            By<Target, binary<Add, W8>>,
            By<Base, compare_memory_branch<NotEqual, W1, Paired>>
        ]
    );
}

fn add_pairs(sequences: &mut Sequences) {
    pairs!(sequences, making [
        move_reg,
        zero_extend<W1>,
        zero_extend<W4>,
        sign_extend_reg<W4, W8>,
        load<W1, Based>,
        load<W1, Paired>,
        load<W2, Indexed>,
        load<W4, Based>,
        load<W4, OnStack>,
        load<W4, InFrame>,
        load<W4, Indexed>,
        load<W8, Based>,
        load<W8, OnStack>,
        load<W8, InFrame>,
        lea<W4, Based>,
        lea<W4, Paired>,
        lea<W8, Based>,
        lea<W8, Indexed>,
        lea<W8, Paired>,
        binary<Add, W4>,
        binary<Add, W8>,
        binary<Sub, W4>,
        binary<Sub, W8>,
        binary_const<Add, W4>,
        binary_const<Add, W8>,
        binary_const<Sub, W4>,
        binary_const<Sub, W8>,
        binary_const<And, W4>,
        binary_const<Shl, W8>,
        binary_const<Shr, W4>,
        pop,
    ] other [
        move_const,
        clear,
        store<W4, Based>,
        store<W4, OnStack>,
        store<W8, Based>,
        store<W8, OnStack>,
        store<W8, InFrame>,
        push,
    ] [
        Source => move_reg,
        => move_const,
        => clear,
        Source => zero_extend<W1>,
        Source => zero_extend<W4>,
        Source => sign_extend_reg<W4, W8>,
        Base => load<W1, Based>,
        Base Index => load<W1, Paired>,
        Base => load<W2, Based>,
        Index => load<W2, Indexed>,
        Base => load<W4, Based>,
        => load<W4, OnStack>,
        => load<W4, InFrame>,
        Index => load<W4, Indexed>,
        Base => load<W8, Based>,
        => load<W8, OnStack>,
        => load<W8, InFrame>,
        Base => load<W8, Paired>,
        Target Base => store<W4, Based>,
        Target => store<W4, OnStack>,
        Target => store<W4, InFrame>,
        Target Base => store<W8, Based>,
        Target => store<W8, OnStack>,
        Target => store<W8, InFrame>,
        Base => lea<W4, Based>,
        Base => lea<W4, Paired>,
        Base => lea<W8, Based>,
        Index => lea<W8, Indexed>,
        Base => lea<W8, Paired>,
        Target Source => binary<Add, W4>,
        Target Source => binary<Add, W8>,
        Target => binary<Sub, W4>,
        Target => binary<Sub, W8>,
        Target => binary<And, W4>,
        Target Source => binary<Xor, W4>,
        Target => binary_const<Add, W4>,
        Target => binary_const<Add, W8>,
        Target => binary_const<Sub, W4>,
        Target => binary_const<Sub, W8>,
        Target => binary_const<And, W4>,
        Target => binary_const<Shl, W4>,
        Target => binary_const<Shl, W8>,
        Target => binary_const<Shr, W4>,
        => select<W4, BelowOrEqual>,
        => push,
        => pop,
        => jump,
        Source => jump_reg,
        => call,
        => ret,
        Target Source => compare_branch<Equal, W1>,
        Target Source => compare_branch<NotEqual, W1>,
        Target Source => compare_branch<NotEqual, W4>,
        Target Source => compare_branch<NotEqual, W8>,
        Target Source => compare_branch<AboveOrEqual, W4>,
        Target => compare_const_branch<BelowOrEqual, W4>,
        Base => compare_memory_branch<NotEqual, W1, Paired>,
        Target => test_branch<Equal, W4>,
        Target => test_branch<Equal, W8>,
        Target => test_branch<NotEqual, W4>,
        Target => test_branch<NotEqual, W8>,
    ]);
    // These come after what their flags are known from.
    pairs!(
        sequences,
        making [] other [binary<Sub, W4>, binary_const<Sub, W4>,]
        [=> branch_after<Equal, Sub, W4>, => branch_after<NotEqual, Sub, W4>,]
    );
}

#[cfg(test)]
mod tests;
