//! Signal handlers that are entered and left. What the kernel makes then belongs to the instruction that faulted, or else to the one
//! that ran before.

use lift::Reg;
use machine::{Interruption, InterruptionKind};
use replay::{Source, Use};

use super::activations::Function;
use super::graph::{Edge, Kind, Part};
use super::tracer::{Came, SIGNAL, Tracer, WHOLE};

const FLAGS: [Reg; 5] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C, Reg::DIRECTION];

impl Tracer<'_> {
    pub(super) fn interrupted(&mut self, interruption: &Interruption) {
        match interruption.kind {
            InterruptionKind::Entered { signal, slot, .. } => {
                self.handler_entered(interruption, signal, slot)
            }
            InterruptionKind::Left { stack } => self.handler_left(interruption, stack),
        }
    }

    fn operands(&mut self, interruption: &Interruption, how: Use) -> Vec<Edge> {
        let mut edges = Vec::new();
        interruption.operands.iter().for_each(|reg| self.uses(&mut edges, WHOLE, *reg, WHOLE, how));
        for address in interruption.read.iter().cloned().flatten() {
            let to = self.graph.memory(address);
            edges.push(Edge { bytes: WHOLE, how, to });
        }
        edges
    }

    fn handler_entered(&mut self, interruption: &Interruption, signal: i32, slot: u64) {
        let call = self.operands(interruption, Use::Control);
        let entry = self.graph.add(Kind::Call, &call);
        let mut told = self.operands(interruption, Use::Value);
        let to = self.graph.end(Source::Signal { signal });
        told.push(Edge { bytes: WHOLE, how: Use::Value, to });
        let nothing = self.graph.add(Kind::Copy, &[]);
        let mut memory: Vec<(u64, Part)> = Vec::new();
        for address in interruption.written.iter().cloned().flatten() {
            let node = self.graph.add(Kind::Made, &told);
            memory.push((address, Part { node, byte: 0 }));
        }
        memory.extend((0..8).map(|byte| (interruption.rip + byte, Part { node: nothing, byte: 0 })));
        let mut flags = Vec::new();
        for reg in FLAGS {
            let parts = (0..8).filter_map(|byte| self.graph.slot(reg, byte)).collect::<Vec<_>>();
            flags.extend(parts.into_iter().map(|to| Edge { bytes: WHOLE, how: Use::Value, to }));
        }
        let flags = self.graph.add(Kind::Copy, &flags);
        memory.extend((0..8).map(|byte| (interruption.flags + byte, Part { node: flags, byte: 0 })));
        for copied in &interruption.copies {
            for byte in 0..copied.length {
                let part = self.graph.slot(copied.reg, copied.first + byte);
                let part = part.unwrap_or(Part { node: nothing, byte: 0 });
                memory.push((copied.address + u64::from(byte), part));
            }
        }
        memory.into_iter().for_each(|(address, part)| self.graph.set_memory(address, part));
        interruption.set.iter().for_each(|reg| self.graph.set_slot_to_nothing(*reg));
        for reg in &interruption.told {
            let node = self.graph.add(Kind::Made, &told);
            (0..8).for_each(|byte| self.graph.set_slot(*reg, byte, Part { node, byte: 0 }));
        }
        let function = Function {
            flow: None,
            in_scope: false,
            has_frame_pointer: false,
            is_output: false,
            pads: false,
            allocator: None,
        };
        self.activations.push(Some(slot + 8), SIGNAL, &function, None);
        self.came_by = Came::ByCall { slot, entry };
    }

    fn handler_left(&mut self, interruption: &Interruption, stack: u64) {
        let mut slots = Vec::new();
        for copied in &interruption.copies {
            for byte in 0..copied.length {
                let part = self.graph.memory(copied.address + u64::from(byte));
                slots.push((copied.reg, copied.first + byte, part));
            }
        }
        let flags = [0, 1].map(|byte| self.graph.memory(interruption.flags + byte));
        let edges = flags.map(|to| Edge { bytes: WHOLE, how: Use::Value, to });
        let flags = self.graph.add(Kind::Copy, &edges);
        for reg in FLAGS {
            slots.extend((0..8).map(|byte| (reg, byte, Part { node: flags, byte: 0 })));
        }
        slots.into_iter().for_each(|(reg, byte, part)| self.graph.set_slot(reg, byte, part));
        while self.activations.stack.last().is_some_and(|top| top.slot.is_some_and(|own| own <= stack)) {
            self.activations.pop();
        }
        self.activations.returned(self.graph.instructions.last().unwrap().time);
        self.came_by = Came::Otherwise;
    }
}
