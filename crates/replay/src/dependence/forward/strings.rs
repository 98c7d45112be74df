//! Instructions that go over many places at once, and those that ops cannot express.

use lift::{Bytes, Helper, Op, Reg, Repeat, StringKind};

use super::super::helpers::Doing;
use super::super::need::{Need, Use};
use super::super::ops::Span;
use super::super::step::{Made, Watch};
use super::Forward;

const WHOLE: Bytes = 0xff;
const FLAGS: [Reg; 4] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];

/// What slots carry after the instruction.
type Slots = Vec<(Reg, Option<Need>)>;

impl<W: Watch> Forward<'_, '_, W> {
    pub(super) fn special(&mut self, ops: &[Op], words: &[u64], places: &[u8]) {
        for (op, place) in ops.iter().zip(places) {
            let words = words.get(usize::from(*place)..).unwrap_or_default();
            self.used.clear();
            match *op {
                Op::String { kind, size, repeat, .. } => {
                    if let [source, target, elements, ..] = *words
                        && elements != 0
                    {
                        let (count, backwards) = ((elements as i64).unsigned_abs(), (elements as i64) < 0);
                        let span = Span { count, width: size.bytes(), backwards };
                        self.string(kind, repeat, &span, source, target);
                    }
                }
                Op::Helper { helper, .. } => self.helper(helper, words.first().copied().unwrap_or(0)),
                _ => {}
            }
        }
    }

    fn string(&mut self, kind: StringKind, repeat: Repeat, span: &Span, source: u64, target: u64) {
        let pointers: &[Reg] = match kind {
            StringKind::Move | StringKind::Compare => &[Reg::RSI, Reg::RDI],
            StringKind::Load => &[Reg::RSI],
            StringKind::Store | StringKind::Scan => &[Reg::RDI],
        };
        let repeats = repeat != Repeat::Once;
        let moved: Vec<Reg> = pointers.iter().copied().chain(repeats.then_some(Reg::RCX)).collect();
        let is_comparison = matches!(kind, StringKind::Scan | StringKind::Compare);
        // What all of it goes by, as it was before.
        let mut way = self.now.anyway;
        pointers.iter().for_each(|reg| self.use_slot(&mut way, *reg, WHOLE, Use::Address));
        if repeats && kind != StringKind::Load {
            self.use_slot(&mut way, Reg::RCX, WHOLE, Use::Control);
        }
        let slots = if is_comparison {
            let starts: &[u64] = if kind == StringKind::Scan { &[target] } else { &[source, target] };
            self.compared(span, starts, way, &moved, repeats)
        } else {
            moved.iter().map(|reg| (*reg, self.moved_on(*reg, self.now.anyway, repeats))).collect()
        };
        match kind {
            StringKind::Move => self.string_move(span, source, target, way),
            StringKind::Store => self.string_store(span, target, way),
            StringKind::Load => self.string_load(span, source, way),
            StringKind::Scan | StringKind::Compare => {}
        }
        for (reg, need) in slots {
            self.carried.take_slot(reg);
            self.make_slot(reg, WHOLE, need);
        }
    }

    /// Flags come from the last elements that were compared; where it ended, from all of them.
    fn compared(
        &mut self,
        span: &Span,
        starts: &[u64],
        way: Option<Need>,
        moved: &[Reg],
        repeats: bool,
    ) -> Slots {
        let mut with = way;
        if starts.len() == 1 {
            self.use_slot(&mut with, Reg::RAX, (0xffu16 >> (8 - span.width)) as Bytes, Use::Value);
        }
        let (mut last, mut all) = (with, with);
        for start in starts {
            self.use_range(&mut last, span.last(*start), span.width);
            if repeats {
                self.use_range(&mut all, span.lowest(*start), span.length());
            }
        }
        let all = if repeats { all } else { last };
        let flags = FLAGS.into_iter().map(|reg| (reg, last));
        let mut slots: Slots = flags.collect();
        slots.extend(moved.iter().map(|reg| (*reg, self.moved_on(*reg, all, false))));
        slots
    }

    /// A pointer moves on by how much was done.
    fn moved_on(&mut self, reg: Reg, mut need: Option<Need>, by_count: bool) -> Option<Need> {
        self.use_slot(&mut need, reg, WHOLE, Use::Value);
        self.use_slot(&mut need, Reg::DIRECTION, 1, Use::Value);
        if by_count {
            self.use_slot(&mut need, Reg::RCX, WHOLE, Use::Value);
        }
        need
    }

    fn use_range(&mut self, result: &mut Option<Need>, start: u64, length: u64) {
        for offset in self.carried.offsets_needed(linux::Place::Memory(start), length) {
            self.use_bytes(result, start.wrapping_add(offset), 1, Use::Value);
        }
    }

    fn string_move(&mut self, span: &Span, source: u64, target: u64, way: Option<Need>) {
        let (from, to) = (span.lowest(source), span.lowest(target));
        if from.abs_diff(to) >= span.length() && way.is_none() {
            let found = self.carried.offsets_needed(linux::Place::Memory(from), span.length());
            self.carried.forget(linux::Place::Memory(to), span.length());
            for offset in found {
                let mut need = None;
                self.use_bytes(&mut need, from.wrapping_add(offset), 1, Use::Value);
                self.make_byte(to.wrapping_add(offset), need);
            }
            return;
        }
        // Later elements may copy what earlier ones have written.
        for number in 0..span.count {
            let number = if span.backwards { span.count - 1 - number } else { number };
            let offsets = number * span.width..(number + 1) * span.width;
            let mut needs = [way; 8];
            for (offset, need) in offsets.clone().zip(&mut needs) {
                self.use_bytes(need, from.wrapping_add(offset), 1, Use::Value);
            }
            for (offset, need) in offsets.zip(needs) {
                self.carried.take_memory(to.wrapping_add(offset));
                self.make_byte(to.wrapping_add(offset), need);
            }
        }
    }

    fn string_store(&mut self, span: &Span, target: u64, way: Option<Need>) {
        let to = span.lowest(target);
        self.carried.forget(linux::Place::Memory(to), span.length());
        let mut needs = [way; 8];
        for (byte, need) in (0..span.width).zip(&mut needs) {
            self.use_slot(need, Reg::RAX, 1 << byte, Use::Value);
        }
        if needs.iter().all(Option::is_none) {
            return;
        }
        for offset in 0..span.length() {
            self.make_byte(to.wrapping_add(offset), needs[(offset % span.width) as usize]);
        }
    }

    fn string_load(&mut self, span: &Span, source: u64, way: Option<Need>) {
        let at = span.last(source);
        let mut needs = [way; 8];
        for (byte, need) in (0..span.width).zip(&mut needs) {
            self.use_bytes(need, at.wrapping_add(byte), 1, Use::Value);
        }
        let read = (0xffu16 >> (8 - span.width)) as Bytes;
        let before = self.carried.take_slot(Reg::RAX);
        // Loads of one and two bytes keep the rest.
        for (bytes, need) in before.iter().filter(|_| span.width < 4) {
            self.carried.need_slot(Reg::RAX, bytes & !read, need);
        }
        for (byte, need) in (0..span.width).zip(needs) {
            self.make_slot(Reg::RAX, 1 << byte, need);
        }
    }

    fn make_byte(&mut self, address: u64, need: Option<Need>) {
        let Some(need) = need else { return };
        self.count(need, Made::Memory { address, length: 1 });
        self.carry(address, self.kept(need, address));
    }

    fn make_slot(&mut self, reg: Reg, bytes: Bytes, need: Option<Need>) {
        let Some(need) = need else { return };
        self.count(need, Made::Register(reg));
        self.carried.need_slot(reg, bytes, need);
    }

    fn helper(&mut self, helper: Helper, at: u64) {
        match Doing::of(helper) {
            Doing::Saves(bytes) => {
                for (offset, slot, byte) in bytes {
                    let (address, mut need) = (at.wrapping_add(offset), None);
                    self.carried.take_memory(address);
                    self.carried.look_at_slot(slot, 1 << byte, |found| need = Some(found));
                    if let Some(need) = need {
                        self.watch.carried(self.now.time);
                        self.carry(address, need);
                    }
                }
            }
            Doing::Restores(bytes) => {
                for (offset, slot, byte) in bytes {
                    let taken = self.carried.take_slot(slot);
                    for (bytes, need) in taken.iter() {
                        self.carried.need_slot(slot, bytes & !(1 << byte), need);
                    }
                    if let Some(need) = self.carried.need_of_memory(at.wrapping_add(offset)) {
                        self.watch.carried(self.now.time);
                        self.carried.need_slot(slot, 1 << byte, need);
                    }
                }
            }
            Doing::Computes(effects) => {
                let mut need = self.now.anyway;
                effects.reads.iter().for_each(|reg| self.use_slot(&mut need, *reg, WHOLE, Use::Value));
                for reg in effects.writes {
                    self.carried.take_slot(reg);
                    self.make_slot(reg, WHOLE, need);
                }
            }
            Doing::Nothing => {}
        }
    }
}
