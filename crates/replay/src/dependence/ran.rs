//! Instructions of a block that ran, one by one.

use std::rc::Rc;

use lift::Op;
use machine::{Pass, Time};

use super::code::{BlockCode, InstructionCode};
use super::stretch::{Stored, Stretch};
use super::transfer::{Makes, Transfer, Wish};

/// One instruction that ran, with what is known about it.
pub struct Ran<'a, 't> {
    pub time: Time,
    pub ops: &'t [Op],
    pub words: &'t [u64],
    pub known: &'a InstructionCode,
    stretch: &'a Stretch,
    pass: &'a Pass<'t>,
    code: &'a BlockCode,
}

impl<'a, 't> Ran<'a, 't> {
    fn new(pass: &'a Pass<'t>, code: &'a BlockCode, index: usize) -> Option<Ran<'a, 't>> {
        let (first, known) =
            (code.instructions.get(pass.instructions().start)?, code.instructions.get(index)?);
        let start = usize::from(known.first_word.checked_sub(first.first_word)?);
        Some(Ran {
            time: Time(pass.time.0 + index.checked_sub(pass.instructions().start)? as u64),
            ops: pass.ops(index),
            words: pass.words().get(start..start + usize::from(known.words)).unwrap_or_default(),
            known,
            stretch: code.singly(pass).get(index)?,
            pass,
            code,
        })
    }

    /// What some bytes of a result come from.
    pub fn transfer(&self, wish: Wish) -> &'a Transfer {
        let wish = wish.with_conditions(true);
        self.stretch.transfer(self.pass, &self.code.instructions, wish, self.stretch.outcome(self.words))
    }

    /// What each byte of all results comes from.
    pub fn makes(&self) -> Rc<[Makes]> {
        self.stretch.makes(self.pass, &self.code.instructions, self.stretch.outcome(self.words))
    }

    /// What it stores, in pieces.
    pub fn stored(&self) -> &'a [Stored] {
        &self.stretch.stored
    }
}

/// The instructions that ran, the first first.
pub fn forwards<'a, 't>(pass: &'a Pass<'t>, code: &'a BlockCode) -> impl Iterator<Item = Ran<'a, 't>> {
    pass.instructions().filter_map(|index| Ran::new(pass, code, index))
}

/// The last instruction that ran.
pub fn last<'a, 't>(pass: &'a Pass<'t>, code: &'a BlockCode) -> Option<Ran<'a, 't>> {
    Ran::new(pass, code, pass.instructions().end.checked_sub(1)?)
}
