//! What the ops of one instruction used to make what is needed.

use lift::{Address, Bytes, Helper, Op, Reg, Repeat, Size, StringKind};
use linux::{Place, SERVED, SystemCall};
use machine::{Pass, Time};

use super::backward::Backward;
use super::code::{BlockCode, Position};
use super::forward::operand_of;
use super::helpers::Doing;
use super::need::{Need, Use};
use super::pending::Alike;
use super::slice::Source;
use super::slot_set::{first_slot, has_x87, slot_bit, slots_of};
use super::step::{Made, Watch};
use super::stretch::Stretch;
use super::transfer::{Output, Read, Transfer, Wish};

const WHOLE: Bytes = 0xff;

/// Something needed that an instruction made.
pub(super) struct Served {
    wish: Wish,
    need: Need,
    /// Where it was stored, and how many bytes were.
    at: u64,
    length: u8,
}

/// The block that a stretch is of, as it ran.
pub(super) struct Around<'a, 't> {
    pub pass: &'a Pass<'t>,
    pub code: &'a BlockCode,
    /// All of the block ran.
    pub is_whole: bool,
    /// The first and the last instruction that ran.
    pub begin: &'a Position,
    pub end: &'a Position,
    /// Words of the instructions before.
    skipped: u16,
    /// When the block's first instruction ran, or would have.
    start: u64,
}

impl<'a, 't> Around<'a, 't> {
    // Nothing is changed once it is made: what is stored in parts and moved as a whole at once makes the host wait.
    #[inline(always)]
    pub fn new(pass: &'a Pass<'t>, code: &'a BlockCode) -> Around<'a, 't> {
        if pass.length() != code.instructions.len() as u64 {
            return Around::of_part(pass, code);
        }
        let (begin, end) = (&code.begin, &code.end);
        Around { pass, code, is_whole: true, begin, end, skipped: 0, start: pass.time.0 }
    }

    /// Only some of the instructions ran.
    #[cold]
    fn of_part(pass: &'a Pass<'t>, code: &'a BlockCode) -> Around<'a, 't> {
        let ran = code.instructions.get(pass.instructions()).unwrap_or_default();
        let first = ran.first();
        Around {
            pass,
            code,
            is_whole: false,
            begin: first.map_or(&code.begin, |first| &first.at),
            end: ran.last().map_or(&code.end, |last| &last.at),
            skipped: first.map_or(0, |first| first.first_word),
            start: pass.time.0.saturating_sub(pass.instructions().start as u64),
        }
    }

    /// The words of a stretch, and those after it.
    #[inline]
    pub fn words(&self, stretch: &Stretch) -> &'t [u64] {
        self.pass
            .words()
            .get(usize::from(stretch.first_word.wrapping_sub(self.skipped))..)
            .unwrap_or_default()
    }

    /// When an instruction of a stretch ran.
    #[inline]
    fn time(&self, stretch: &Stretch, number: u8) -> Time {
        Time(self.start + stretch.instructions.start as u64 + u64::from(number))
    }
}

impl<W: Watch> Backward<'_, '_, W> {
    /// A stretch that may have made something needed, and that is to be taken as a whole. `operand` says why it is needed what
    /// its last instruction decides by, or calls.
    #[inline]
    pub(super) fn stretch(
        &mut self,
        stretch: &Stretch,
        around: &Around<'_, '_>,
        words: &[u64],
        operand: Option<Need>,
    ) {
        let slots = stretch.writes & self.pending.wanted_slots();
        match *stretch.stored {
            [] if slots == 0 => {}
            [] if !W::WATCHES && !has_x87(slots) => match self.pending.take_alike(slots) {
                Some((bytes, need)) => {
                    let wish = Wish::new(Output::Slots(slots), bytes);
                    self.serve(&Served { wish, need, at: 0, length: 0 }, stretch, around, words);
                }
                None => self.several(stretch, around, words),
            },
            [stored] if slots == 0 => {
                let (at, length) = (stored.at(words), stored.length);
                match self.pending.take_alike_bytes(at, u64::from(length)) {
                    Alike::Nothing => {}
                    Alike::One(bytes, need) => {
                        let wish = Wish::new(stored.output(), bytes);
                        self.serve(&Served { wish, need, at, length }, stretch, around, words);
                    }
                    Alike::Different => self.several(stretch, around, words),
                }
            }
            _ => self.several(stretch, around, words),
        }
        // After what it made: it may have overwritten what it decided by.
        if let Some(need) = operand {
            self.need_operand(stretch, around, words, need);
        }
    }

    /// An instruction of a stretch is the one at hand.
    #[inline]
    pub(super) fn put(&mut self, stretch: &Stretch, around: &Around<'_, '_>, number: u8) {
        self.now.time = around.time(stretch, number);
        self.now.block = stretch.block;
        self.now.is_transit = stretch.is_transit;
        if W::WATCHES {
            let index = stretch.instructions.start + usize::from(number);
            self.now.address = around.code.instructions.get(index).map_or(0, |known| known.at.address);
        }
    }

    /// Somebody may want to know which instructions have a part in it.
    #[inline]
    pub(super) fn tell_stretch(&mut self, stretch: &Stretch, around: &Around<'_, '_>) {
        if W::WATCHES {
            let start = around.time(stretch, 0);
            self.watch.stretch(start..Time(start.0 + stretch.instructions.len() as u64));
        }
    }

    /// What the last instruction decides by, or calls, is needed.
    fn need_operand(&mut self, stretch: &Stretch, around: &Around<'_, '_>, words: &[u64], need: Need) {
        let ops = around.pass.ops(stretch.instructions.end.saturating_sub(1));
        let Some((operand, bytes)) = operand_of(ops) else { return };
        self.tell_stretch(stretch, around);
        let transfer = self.transferred(stretch, around, words, Wish::new(Output::Slot(operand), bytes));
        if let Some((first, _)) = transfer.makers {
            self.worked_since(around.time(stretch, first));
        }
        self.apply(transfer, words, need);
    }

    /// A stretch that made several things, or one for several reasons.
    fn several(&mut self, stretch: &Stretch, around: &Around<'_, '_>, words: &[u64]) {
        // All results first: an instruction may use what it overwrites.
        let mut served = std::mem::take(&mut self.served);
        served.clear();
        for slot in slots_of(stretch.writes & self.pending.wanted_slots()) {
            let output = if slot.is_st() { Output::Slot(slot) } else { Output::Slots(slot_bit(slot)) };
            self.pending.take_slot_to(slot, |bytes, need| {
                served.push(Served { wish: Wish::new(output, bytes), need, at: 0, length: 0 });
            });
        }
        for stored in &stretch.stored {
            let (output, at, length) = (stored.output(), stored.at(words), stored.length);
            self.pending.take_bytes_to(at, u64::from(length), |bytes, need| {
                served.push(Served { wish: Wish::new(output, bytes), need, at, length });
            });
        }
        served.iter().for_each(|served| self.serve(served, stretch, around, words));
        self.served = served;
    }

    /// Something needed was made by a stretch.
    #[inline]
    fn serve(
        &mut self,
        &Served { wish, need, at, length }: &Served,
        stretch: &Stretch,
        around: &Around<'_, '_>,
        words: &[u64],
    ) {
        let made = match wish.output() {
            Output::Slots(slots) => Made::Register(first_slot(slots)),
            Output::Slot(slot) => Made::Register(slot),
            Output::Store { .. } if self.is_kept_for_itself(need, at) => return,
            Output::Store { .. } => Made::Memory { address: at, length: length.into() },
        };
        self.tell_stretch(stretch, around);
        let transfer = self.transferred(stretch, around, words, wish);
        let passed = match transfer.makers {
            // What was only moved is no step of the program.
            None => {
                self.hand_users_on(made);
                need
            }
            Some((first, last)) => {
                self.put(stretch, around, last);
                let since = around.time(stretch, first);
                let passed = self.contribute_since(need, made, since);
                if transfer.chooses {
                    self.contribute_since(self.used_as(passed, Use::Control), made, since);
                }
                passed
            }
        };
        self.apply(transfer, words, passed);
        self.moved_on();
    }

    #[inline]
    fn transferred<'s>(
        &self,
        stretch: &'s Stretch,
        around: &Around<'_, '_>,
        words: &[u64],
        wish: Wish,
    ) -> &'s Transfer {
        let wish = wish.with_conditions(self.follows_control());
        stretch.transfer(around.pass, &around.code.instructions, wish, stretch.outcome(words))
    }

    /// What an instruction used for something is needed.
    #[inline(always)]
    pub(super) fn apply(&mut self, transfer: &Transfer, words: &[u64], need: Need) {
        if W::CHOOSES && need.is_none() {
            return;
        }
        for &Read { word, offset, bytes, how } in &transfer.memory {
            let word = words.get(usize::from(word)).copied().unwrap_or(0);
            self.need_bytes(word.wrapping_add(u64::from(offset)), bytes, self.used_for(need, how));
        }
        for &(reg, bytes, how) in &transfer.slots {
            let need = self.used_for(need, how);
            self.note_slot(reg, need);
            self.pending.add_slot(reg, bytes, need);
        }
    }

    fn used_for(&self, need: Need, how: Use) -> Need {
        match how {
            Use::Value => need,
            Use::Address | Use::Control => self.used_as(need, how),
        }
    }

    /// Instructions that go over many places at once.
    pub(super) fn special(&mut self, ops: &[Op], words: &[u64], places: &[u8]) {
        for (op, place) in ops.iter().zip(places).rev() {
            let words = words.get(usize::from(*place)..).unwrap_or_default();
            match *op {
                Op::String { kind, size, repeat, .. } => {
                    if let [source, target, elements, ..] = *words {
                        self.string(kind, size, repeat, source, target, elements as i64);
                    }
                }
                Op::Helper { helper, address } => {
                    self.helper(helper, &address, words.first().copied().unwrap_or(0));
                }
                _ => {}
            }
        }
    }

    /// What trusted code keeps between its calls is followed for values, not for how it finds its way: a stream's position in
    /// its buffer is no reason for what is printed.
    fn is_kept_for_itself(&self, need: Need, address: u64) -> bool {
        need.is_internal() && !self.now.in_scope && !self.is_on_stack(address)
    }

    fn need_address(&mut self, address: &Address, need: Need) {
        if self.now.is_transit {
            return;
        }
        let need = self.used_as(need, Use::Address);
        self.need_slot(address.base, WHOLE, need);
        self.need_slot(address.index, WHOLE, need);
    }

    fn string(
        &mut self,
        kind: StringKind,
        size: Size,
        repeat: Repeat,
        source: u64,
        target: u64,
        elements: i64,
    ) {
        if elements == 0 {
            return;
        }
        let (count, width) = (elements.unsigned_abs(), size.bytes());
        let span = Span { count, width, backwards: elements < 0 };
        // Before anything is needed of the pointers as they were.
        self.string_pointers(kind, repeat);
        match kind {
            StringKind::Move => self.string_move(&span, source, target, repeat),
            StringKind::Store => self.string_store(&span, target, repeat),
            StringKind::Load => self.string_load(&span, source),
            StringKind::Scan => self.string_compare(&span, &[target], &[Reg::RAX], repeat),
            StringKind::Compare => self.string_compare(&span, &[source, target], &[], repeat),
        }
    }

    /// The pointers move on by how much was done.
    fn string_pointers(&mut self, kind: StringKind, repeat: Repeat) {
        // Where a comparison ends depends on what was compared, which `string_compare` has asked for.
        if matches!(kind, StringKind::Scan | StringKind::Compare) {
            return;
        }
        let pointers =
            [Reg::RSI, Reg::RDI, Reg::RCX].map(|reg| (reg, self.is_string_pointer(kind, repeat, reg)));
        let moved = pointers.into_iter().filter(|(_, moves)| *moves).map(|(reg, _)| reg);
        let needs: Vec<_> = moved.map(|reg| (reg, self.pending.take_slot(reg))).collect();
        for (reg, needs) in needs {
            for (_, need) in needs.iter() {
                let passed = self.contribute(need, made(reg));
                self.need_slot(reg, WHOLE, passed);
                self.need_slot(Reg::DIRECTION, 1, passed);
                if repeat != Repeat::Once {
                    self.need_slot(Reg::RCX, WHOLE, passed);
                }
            }
        }
    }

    fn is_string_pointer(&self, kind: StringKind, repeat: Repeat, reg: Reg) -> bool {
        match reg {
            Reg::RCX => repeat != Repeat::Once,
            Reg::RSI => matches!(kind, StringKind::Move | StringKind::Load | StringKind::Compare),
            _ => kind != StringKind::Load,
        }
    }

    fn string_move(&mut self, span: &Span, source: u64, target: u64, repeat: Repeat) {
        let (from, to) = (span.lowest(source), span.lowest(target));
        let overlaps = from.abs_diff(to) < span.length();
        let mut offsets = self.pending.offsets_needed(Place::Memory(to), span.length());
        if overlaps && !offsets.is_empty() {
            // Later elements may have copied what earlier ones had written.
            offsets = (0..span.length()).collect();
        }
        // In the order in which they were written, backwards: towards lower addresses unless the string goes there itself.
        if !span.backwards {
            offsets.reverse();
        }
        for offset in offsets {
            let Some(need) = self.pending.take_memory(to.wrapping_add(offset)) else { continue };
            if self.is_kept_for_itself(need, to.wrapping_add(offset)) {
                continue;
            }
            let passed = self.contribute(need, Made::Memory { address: to.wrapping_add(offset), length: 1 });
            self.need_memory(from.wrapping_add(offset), passed);
            self.need_string_address(&[Reg::RSI, Reg::RDI], repeat, passed);
        }
    }

    fn string_store(&mut self, span: &Span, target: u64, repeat: Repeat) {
        let to = span.lowest(target);
        for offset in self.pending.offsets_needed(Place::Memory(to), span.length()) {
            let Some(need) = self.pending.take_memory(to.wrapping_add(offset)) else { continue };
            if self.is_kept_for_itself(need, to.wrapping_add(offset)) {
                continue;
            }
            let passed = self.contribute(need, Made::Memory { address: to.wrapping_add(offset), length: 1 });
            self.need_slot(Reg::RAX, 1 << (offset % span.width), passed);
            self.need_string_address(&[Reg::RDI], repeat, passed);
        }
    }

    fn string_load(&mut self, span: &Span, source: u64) {
        let at = span.last(source);
        for (bytes, need) in self.pending.take_slot(Reg::RAX).iter() {
            let read = bytes & (0xffu16 >> (8 - span.width)) as Bytes;
            // Loads of one and two bytes keep the rest.
            let kept = if span.width < 4 { bytes & !read } else { 0 };
            self.need_slot(Reg::RAX, kept, need);
            if read == 0 {
                continue;
            }
            let passed = self.contribute(need, made(Reg::RAX));
            for byte in (0..span.width).filter(|byte| read & 1 << byte != 0) {
                self.need_memory(at.wrapping_add(byte), passed);
            }
            self.need_string_address(&[Reg::RSI], Repeat::Once, passed);
        }
    }

    /// Flags come from the last elements that were compared; where it ended, from all of them.
    fn string_compare(&mut self, span: &Span, starts: &[u64], with: &[Reg], repeat: Repeat) {
        let flags = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];
        let repeats = repeat != Repeat::Once;
        let ended = [Reg::RSI, Reg::RDI, Reg::RCX].into_iter().filter(|reg| match *reg {
            Reg::RCX => repeats,
            Reg::RSI => starts.len() > 1,
            _ => true,
        });
        let makes = flags.into_iter().map(|reg| (reg, false)).chain(ended.map(|reg| (reg, true)));
        // All of it, before anything is needed of the pointers as they were.
        let needs: Vec<_> = makes.map(|(reg, is_end)| (reg, is_end, self.pending.take_slot(reg))).collect();
        for (reg, is_end, needs) in needs {
            for (_, need) in needs.iter() {
                let passed = self.contribute(need, made(reg));
                for start in starts {
                    let (at, length) = match is_end && repeats {
                        true => (span.lowest(*start), span.length()),
                        false => (span.last(*start), span.width),
                    };
                    (0..length).for_each(|byte| self.need_memory(at.wrapping_add(byte), passed));
                }
                for reg in with {
                    self.need_slot(*reg, (0xffu16 >> (8 - span.width)) as Bytes, passed);
                }
                if is_end {
                    self.need_slot(reg, WHOLE, passed);
                    self.need_slot(Reg::DIRECTION, 1, passed);
                }
                let pointers: &[Reg] = if starts.len() > 1 { &[Reg::RSI, Reg::RDI] } else { &[Reg::RDI] };
                self.need_string_address(pointers, repeat, passed);
            }
        }
    }

    fn need_string_address(&mut self, pointers: &[Reg], repeat: Repeat, need: Need) {
        for reg in pointers {
            self.need_slot(*reg, WHOLE, self.used_as(need, Use::Address));
        }
        if repeat != Repeat::Once && self.follows_control() {
            self.need_slot(Reg::RCX, WHOLE, self.used_as(need, Use::Control));
        }
    }

    fn helper(&mut self, helper: Helper, address: &Address, at: u64) {
        match Doing::of(helper) {
            Doing::Saves(bytes) => {
                for (offset, slot, byte) in bytes {
                    if let Some(need) = self.pending.take_memory(at.wrapping_add(offset)) {
                        self.need_slot(slot, 1 << byte, need);
                    }
                }
            }
            Doing::Restores(bytes) => {
                for (offset, slot, byte) in bytes {
                    let taken = self.pending.take_slot(slot);
                    for (bytes, need) in taken.iter() {
                        let (here, rest) = (bytes & 1 << byte, bytes & !(1 << byte));
                        self.need_slot(slot, rest, need);
                        if here != 0 {
                            self.need_memory(at.wrapping_add(offset), need);
                        }
                    }
                }
            }
            Doing::Computes(effects) => {
                for slot in effects.writes {
                    for (_, need) in self.pending.take_slot(slot).iter() {
                        let passed = self.contribute(need, made(slot));
                        effects.reads.iter().for_each(|reg| self.need_slot(*reg, WHOLE, passed));
                        self.need_address(address, passed);
                    }
                }
            }
            Doing::Nothing => {}
        }
    }

    /// The kernel's part of a system call.
    pub(super) fn system_call(&mut self, call: &SystemCall) {
        for (_, need) in self.pending.take_slot(Reg::RAX).iter() {
            let passed = self.contribute(need, made(Reg::RAX));
            self.end(passed, Source::Kernel { call: call.number });
        }
        // The processor's own: where to return to, and the flags.
        for reg in [Reg::RCX, Reg::R11] {
            self.pending.take_slot(reg);
        }
        self.moved(call);
    }

    /// What a system call, or a function of the heap that was served, moved from place to place.
    pub(super) fn moved(&mut self, call: &SystemCall) {
        for moved in call.moved.iter().rev() {
            for offset in self.pending.offsets_needed(moved.to, moved.length) {
                let to = moved.to.plus(offset);
                let Some(need) = self.pending.take_place(to) else { continue };
                let made = match to {
                    Place::Memory(address) => Made::Memory { address, length: 1 },
                    place => Made::Kernel(place),
                };
                match moved.from {
                    Place::Fresh => self.end_fresh(need, to),
                    // Zeros, or where a block is: that is all there is to it.
                    Place::Kernel if call.number == SERVED => {
                        self.contribute(need, made);
                    }
                    Place::Kernel => {
                        let passed = self.contribute(need, made);
                        self.end(passed, Source::Kernel { call: call.number });
                    }
                    Place::Memory(from) => {
                        let passed = self.contribute(need, made);
                        self.need_memory(from.wrapping_add(offset), passed);
                    }
                    from => {
                        let passed = self.contribute(need, made);
                        if !(W::CHOOSES && passed.is_none()) {
                            self.pending.need_place(from.plus(offset), passed);
                        }
                    }
                }
            }
        }
    }

    fn end_fresh(&mut self, need: Need, place: Place) {
        if let Place::Memory(address) = place {
            self.end(need, Source::Uninitialised { address });
        }
    }
}

fn made(slot: Reg) -> Made {
    Made::Register(slot)
}

/// What a string instruction went over.
pub(super) struct Span {
    pub count: u64,
    pub width: u64,
    pub backwards: bool,
}

impl Span {
    pub fn length(&self) -> u64 {
        self.count.saturating_mul(self.width)
    }

    /// The lowest address, when the first element is at `start`.
    pub fn lowest(&self, start: u64) -> u64 {
        if self.backwards { start.wrapping_sub(self.length() - self.width) } else { start }
    }

    /// The address of the last element.
    pub fn last(&self, start: u64) -> u64 {
        let distance = self.length() - self.width;
        if self.backwards { start.wrapping_sub(distance) } else { start.wrapping_add(distance) }
    }
}
