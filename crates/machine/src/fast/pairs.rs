//! Codes that often follow each other, done by one handler.
//!
//! The codes stay as they are, and only the handler of the first is another one: it does the work of both, and goes on after the second without
//! having looked up what that is. Where the second cannot be done, it is the second code that is retried, done slowly or bailed out of, by
//! its own handler, as if the first had come to it in the usual way. So a pair is exact wherever two codes are.

use super::handlers::*;
use super::parts::*;
use super::{Code, Handler};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Handlers of pairs, by the addresses of the handlers of both codes. Handlers that do the same may have the same address, and so may pairs of them.
static PAIRS: LazyLock<FxHashMap<(usize, usize), Handler>> = LazyLock::new(pairs);

/// Has pairs of codes done by one handler, from the first on.
pub fn fuse(codes: &mut [Code]) {
    let mut rest = codes;
    while let [first, second, ..] = rest {
        let pair = PAIRS.get(&(first.handler as usize, second.handler as usize));
        if let Some(&pair) = pair {
            first.handler = pair;
        }
        rest = &mut rest[if pair.is_some() { 2 } else { 1 }..];
    }
}

unsafe fn both<A: Step, B: Step>(core: &mut crate::Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    unsafe { A::run::<Then<B>>(core, at, left) }
}

/// Each of the first steps with each of the second.
macro_rules! products {
    ($pairs:ident, [$($first:ty,)*] $seconds:tt) => {
        $(products!(@ $pairs, $first, $seconds);)*
    };
    (@ $pairs:ident, $first:ty, [$($second:ty,)*]) => {
        $($pairs.insert(
            (<$first>::HANDLER as usize, <$second>::HANDLER as usize),
            both::<$first, $second> as Handler,
        );)*
    };
}

/// The steps that come first and second most often in gzip, sort, bzip2, xz, sqlite3, lua, python3 and a program of `gcc -O0`: a quarter to two fifths of
/// the codes that these run are second ones.
fn pairs() -> FxHashMap<(usize, usize), Handler> {
    let mut pairs = FxHashMap::default();
    products!(pairs, [
        move_reg,
        move_const,
        zero_extend<W4>,
        sign_extend_reg<W4, W8>,
        load<W1, Based>,
        load<W1, Paired>,
        load<W2, Indexed>,
        load<W4, Based>,
        load<W4, OnStack>,
        load<W8, Based>,
        load<W8, OnStack>,
        load<W8, InFrame>,
        store<W4, Based>,
        store<W8, Based>,
        store<W8, OnStack>,
        store<W8, InFrame>,
        lea<W4, Based>,
        lea<W4, Paired>,
        lea<W8, Based>,
        lea<W8, Indexed>,
        binary<Add, W4>,
        binary<Add, W8>,
        binary<Sub, W4>,
        binary_const<Add, W4>,
        binary_const<Add, W8>,
        binary_const<Sub, W4>,
        binary_const<Sub, W8>,
        binary_const<And, W4>,
        binary_const<Shr, W4>,
        push,
        pop,
    ] [
        move_reg,
        move_const,
        clear,
        zero_extend<W1>,
        zero_extend<W4>,
        sign_extend_reg<W4, W8>,
        load<W1, Based>,
        load<W1, Paired>,
        load<W2, Based>,
        load<W2, Indexed>,
        load<W4, Based>,
        load<W4, OnStack>,
        load<W4, Indexed>,
        load<W8, Based>,
        load<W8, OnStack>,
        load<W8, InFrame>,
        load<W8, Paired>,
        store<W4, Based>,
        store<W8, Based>,
        store<W8, OnStack>,
        store<W8, InFrame>,
        lea<W4, Based>,
        lea<W4, Paired>,
        lea<W8, Based>,
        lea<W8, Indexed>,
        lea<W8, Paired>,
        binary<Add, W4>,
        binary<Add, W8>,
        binary<Sub, W4>,
        binary<Sub, W8>,
        binary<And, W4>,
        binary<Xor, W4>,
        binary_const<Add, W4>,
        binary_const<Add, W8>,
        binary_const<Sub, W4>,
        binary_const<Sub, W8>,
        binary_const<And, W4>,
        binary_const<Shl, W4>,
        binary_const<Shl, W8>,
        binary_const<Shr, W4>,
        select<W4, BelowOrEqual>,
        push,
        pop,
        jump,
        jump_reg,
        call,
        ret,
        compare_branch<NotEqual, W1>,
        compare_branch<NotEqual, W8>,
        compare_branch<AboveOrEqual, W4>,
        compare_const_branch<BelowOrEqual, W4>,
        compare_memory_branch<NotEqual, W1, Paired>,
        test_branch<Equal, W4>,
        test_branch<Equal, W8>,
        test_branch<NotEqual, W8>,
    ]);
    // These come after what their flags are known from.
    products!(
        pairs,
        [binary<Sub, W4>, binary_const<Sub, W4>,]
        [branch_after<Equal, Sub, W4>, branch_after<NotEqual, Sub, W4>,]
    );
    pairs
}

#[cfg(test)]
mod tests;
