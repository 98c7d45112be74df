//! Which calls led to an activation, as far as a story tells them apart: two activations that the same calls led to have the
//! same context, and a call that is on the way already is not added again, so that recursion has few of them.

use std::collections::HashMap;

use super::code::StmtId;

/// So many contexts are told apart; beyond, an activation has the context of its caller.
const MOST_CONTEXTS: usize = 1 << 16;
/// So many calls are looked at for one that is on the way already.
const DEEPEST: usize = 64;

/// The calls that led to an activation, by number in [`Contexts`]; 0 is none that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context(pub u32);

#[derive(Default)]
pub struct Contexts {
    /// The statement of the innermost call, and the context of that.
    calls: Vec<(Context, StmtId)>,
    known: HashMap<(Context, StmtId), Context>,
}

impl Contexts {
    /// Of what a statement calls.
    pub fn within(&mut self, outer: Context, stmt: StmtId) -> Context {
        if stmt == StmtId::NONE {
            return outer;
        }
        let mut at = outer;
        for _ in 0..DEEPEST {
            let Some((around, call)) = at.0.checked_sub(1).and_then(|index| self.calls.get(index as usize))
            else {
                break;
            };
            if *call == stmt {
                return at;
            }
            at = *around;
        }
        if let Some(known) = self.known.get(&(outer, stmt)) {
            return *known;
        }
        if self.calls.len() >= MOST_CONTEXTS {
            return outer;
        }
        self.calls.push((outer, stmt));
        let made = Context(self.calls.len() as u32);
        self.known.insert((outer, stmt), made);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_comes_back_to_the_context_of_its_first_call() {
        let mut contexts = Contexts::default();
        let [main, call, other] = [StmtId(0), StmtId(1), StmtId(2)];
        let first = contexts.within(Context::default(), main);
        let second = contexts.within(first, call);
        assert_eq!(contexts.within(second, call), second);
        let third = contexts.within(second, other);
        assert_eq!(contexts.within(third, call), second);
        assert_ne!(contexts.within(first, other), third);
        assert_eq!(contexts.within(third, StmtId::NONE), third);
    }
}
