//! String instructions, element by element, and the instructions that ops cannot express.

use lift::{Bytes, Helper, Op, Reg, Repeat, StringKind};
use replay::Use;

use super::graph::{Edge, Kind, Part};
use super::tracer::Tracer;

const WHOLE: Bytes = 0xff;
const FLAGS: [Reg; 4] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];

impl Tracer<'_> {
    pub(super) fn string_instruction(&mut self, op: &Op, source: u64, target: u64, elements: i64) {
        let Op::String { kind, size, repeat, .. } = *op else { return };
        if elements == 0 {
            return;
        }
        let (count, width) = (elements.unsigned_abs(), size.bytes());
        let step = |start: u64, element: u64| {
            let distance = element * width;
            if elements < 0 { start.wrapping_sub(distance) } else { start.wrapping_add(distance) }
        };
        let pointers: &[Reg] = match kind {
            StringKind::Move | StringKind::Compare => &[Reg::RSI, Reg::RDI],
            StringKind::Load => &[Reg::RSI],
            StringKind::Store | StringKind::Scan => &[Reg::RDI],
        };
        let repeats = repeat != Repeat::Once;
        let moved: Vec<Reg> =
            pointers.iter().copied().chain([Reg::RCX].into_iter().filter(|_| repeats)).collect();
        // What all of it goes by, as it was before.
        let mut way = Vec::new();
        pointers.iter().for_each(|reg| self.uses(&mut way, WHOLE, *reg, WHOLE, Use::Address));
        if repeats && kind != StringKind::Load {
            self.uses(&mut way, WHOLE, Reg::RCX, WHOLE, Use::Control);
        }
        let mut made: Vec<(Reg, Vec<Edge>)> = Vec::new();
        match kind {
            StringKind::Scan | StringKind::Compare => {
                let starts: &[u64] = if kind == StringKind::Scan { &[target] } else { &[source, target] };
                let mut with = way;
                if kind == StringKind::Scan {
                    self.uses(&mut with, WHOLE, Reg::RAX, (0xffu16 >> (8 - width)) as Bytes, Use::Value);
                }
                let mut last = with.clone();
                for start in starts {
                    (0..width)
                        .for_each(|byte| self.uses_memory(&mut last, WHOLE, step(*start, count - 1) + byte));
                }
                let mut all = if repeats { with } else { last.clone() };
                if repeats {
                    for (start, element) in
                        starts.iter().flat_map(|start| (0..count).map(move |n| (*start, n)))
                    {
                        (0..width)
                            .for_each(|byte| self.uses_memory(&mut all, WHOLE, step(start, element) + byte));
                    }
                }
                made.extend(FLAGS.map(|reg| (reg, last.clone())));
                for reg in moved {
                    let mut edges = all.clone();
                    self.uses(&mut edges, WHOLE, reg, WHOLE, Use::Value);
                    self.uses(&mut edges, WHOLE, Reg::DIRECTION, 1, Use::Value);
                    made.push((reg, edges));
                }
            }
            StringKind::Move | StringKind::Store | StringKind::Load => {
                for reg in moved {
                    let mut edges = Vec::new();
                    self.uses(&mut edges, WHOLE, reg, WHOLE, Use::Value);
                    self.uses(&mut edges, WHOLE, Reg::DIRECTION, 1, Use::Value);
                    if repeats {
                        self.uses(&mut edges, WHOLE, Reg::RCX, WHOLE, Use::Value);
                    }
                    made.push((reg, edges));
                }
                self.elements(kind, width, (0..count).map(|n| (step(source, n), step(target, n))), &way);
            }
        }
        made.into_iter().for_each(|(reg, edges)| self.make_slot(reg, &edges));
    }

    fn elements(
        &mut self,
        kind: StringKind,
        width: u64,
        elements: impl Iterator<Item = (u64, u64)>,
        way: &[Edge],
    ) {
        for (source, target) in elements {
            let mut edges = way.to_vec();
            let bytes = 0..width;
            match kind {
                StringKind::Store => {
                    bytes.for_each(|byte| self.uses(&mut edges, 1 << byte, Reg::RAX, 1 << byte, Use::Value));
                    self.make_memory(target, width, &edges);
                }
                StringKind::Move => {
                    bytes.for_each(|byte| self.uses_memory(&mut edges, 1 << byte, source.wrapping_add(byte)));
                    self.make_memory(target, width, &edges);
                }
                _ => {
                    bytes.for_each(|byte| self.uses_memory(&mut edges, 1 << byte, source.wrapping_add(byte)));
                    let node = self.graph.add(Kind::Made, &edges);
                    (0..width as u8)
                        .for_each(|byte| self.graph.set_slot(Reg::RAX, byte, Part { node, byte }));
                    if width == 4 {
                        let zero = self.graph.add(Kind::Copy, &[]);
                        (4..8)
                            .for_each(|byte| self.graph.set_slot(Reg::RAX, byte, Part { node: zero, byte }));
                    }
                }
            }
        }
    }

    pub(super) fn helper(&mut self, helper: Helper, at: u64) {
        match helper {
            // The vector registers lie at 160 in what fxsave writes.
            Helper::Fxsave | Helper::Fxrstor => {
                for (slot, byte) in (0..32u8).flat_map(|slot| (0..8u8).map(move |byte| (slot, byte))) {
                    let reg = Reg(Reg::xmm(0).0 + slot);
                    let address = at.wrapping_add(160 + 8 * u64::from(slot) + u64::from(byte));
                    if helper == Helper::Fxsave {
                        let known = self.graph.slot(reg, byte);
                        let part =
                            known.unwrap_or_else(|| Part { node: self.graph.add(Kind::Copy, &[]), byte });
                        self.graph.set_memory(address, part);
                    } else {
                        let part = self.graph.memory(address);
                        self.graph.set_slot(reg, byte, part);
                    }
                }
            }
            // The programs of these tests have no x87 state to save.
            Helper::Fninit | Helper::Fnstenv | Helper::Fldenv | Helper::Fnsave | Helper::Frstor => {}
            Helper::Cpuid | Helper::Rdtsc | Helper::Rdtscp | Helper::Xgetbv => {
                let effects = helper.effects();
                let mut edges = Vec::new();
                effects.reads.iter().for_each(|reg| self.uses(&mut edges, WHOLE, *reg, WHOLE, Use::Value));
                effects.writes.iter().for_each(|reg| self.make_slot(*reg, &edges));
            }
        }
    }
}
