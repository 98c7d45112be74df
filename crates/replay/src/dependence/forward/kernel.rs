//! The kernel's part of a system call: what it moves from place to place carries what it carried.

use lift::Reg;
use linux::{Moved, Place, SERVED, SystemCall};

use super::super::need::{Need, Use};
use super::super::step::{Made, Watch};
use super::Forward;

impl<W: Watch> Forward<'_, '_, W> {
    pub(super) fn system_call(&mut self, call: &SystemCall) {
        if call.number == SERVED {
            return call.moved.iter().for_each(|moved| self.moved(moved));
        }
        // The processor's own: where to return to, and the flags.
        for reg in [Reg::RAX, Reg::RCX, Reg::R11] {
            self.carried.take_slot(reg);
        }
        if let Some(need) = self.now.anyway {
            self.used.clear();
            self.count(need, Made::Register(Reg::RAX));
            self.carried.need_slot(Reg::RAX, 0xff, need);
        }
        call.moved.iter().for_each(|moved| self.moved(moved));
    }

    fn moved(&mut self, moved: &Moved) {
        let &Moved { from, to, length } = moved;
        let found: Vec<(u64, Need)> = match from {
            Place::Fresh | Place::Kernel => Vec::new(),
            _ => {
                let offsets = self.carried.offsets_needed(from, length);
                let look = |offset| Some((offset, self.carried.look_at_place(from.plus(offset))?));
                offsets.into_iter().filter_map(look).collect()
            }
        };
        self.carried.forget(to, length);
        if from == Place::Fresh {
            return;
        }
        let mut found = found.into_iter().peekable();
        let offsets = if self.now.anyway.is_some() { 0..length } else { 0..0 };
        for offset in offsets {
            let own = found.next_if(|(at, _)| *at == offset).map(|(_, need)| need);
            self.moved_byte(to.plus(offset), own);
        }
        found.for_each(|(offset, need)| self.moved_byte(to.plus(offset), Some(need)));
    }

    fn moved_byte(&mut self, to: Place, from: Option<Need>) {
        self.used.clear();
        let mut need = self.now.anyway;
        if let Some(from) = from {
            self.now.add::<W>(&mut need, &mut self.used, from, Use::Value);
        }
        let Some(need) = need else { return };
        match to {
            Place::Memory(address) => {
                self.count(need, Made::Memory { address, length: 1 });
                self.carry(address, need);
            }
            _ => {
                self.count(need, Made::Kernel(to));
                self.carried.need_place(to, need);
            }
        }
    }
}
