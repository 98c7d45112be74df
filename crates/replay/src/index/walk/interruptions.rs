//! Signal handlers: activations that nobody in the program called. Each lies within the activation that it interrupts, and is
//! numbered there.

use std::iter::Peekable;

use lift::Reg;
use linux::Process;
use machine::{Interruption, InterruptionKind, Time, Unwatched};

use super::super::plan::PassPlan;
use super::{Entry, Event, Frame, Indexer, Key, OUTERMOST, State};
use crate::events::Ending;

impl Indexer<'_> {
    /// Signal handlers are entered and left before the instruction of this time.
    pub(super) fn interrupt_until<'i>(
        &mut self,
        interruptions: &mut Peekable<impl Iterator<Item = &'i Interruption>>,
        time: Time,
        before: &mut Process,
        event: &mut impl FnMut(Event),
    ) {
        while let Some(interruption) = interruptions.next_if(|interruption| interruption.time <= time) {
            match interruption.kind {
                InterruptionKind::Entered { slot, .. } => {
                    self.leave_previous(interruption, before, event);
                    self.state.enter_signal(slot, event);
                }
                InterruptionKind::Left { .. } => {
                    self.state.previous = None;
                    self.state.leave_signal(event);
                }
            }
        }
    }

    /// Control goes on from the pass before to an instruction that a signal interrupts.
    fn leave_previous(
        &mut self,
        interruption: &Interruption,
        before: &mut Process,
        event: &mut impl FnMut(Event),
    ) {
        let Some((previous, slot)) = self.state.previous.take() else { return };
        let above = slot.saturating_add(8);
        match previous.ending {
            // Not an instruction of the called function has run.
            Ending::Call { .. } | Ending::Return { .. } => self.state.forget_below(above, event),
            Ending::Indirect { stack: true } => {
                let mut there = before.fork();
                there.run(interruption.time, &mut Unwatched);
                self.state.unwind_to(there.machine.cpu.get(Reg::RSP), event);
            }
            Ending::Next
            | Ending::Jump
            | Ending::Branch { .. }
            | Ending::Indirect { stack: false }
            | Ending::System => {
                if self.state.is_in(&previous) {
                    self.state.decide(&previous, interruption.from, self.plans.keys(), event);
                }
            }
        }
    }
}

impl State {
    /// A signal interrupts what runs.
    fn enter_signal(&mut self, slot: u64, event: &mut impl FnMut(Event)) {
        let outer = self.frame;
        let Some(frame) = self.frame_mut() else { return };
        frame.callbacks += 1;
        let key = Key::Trusted { site: None };
        // The handler gets its number from the activation that it interrupts.
        let number = frame.callbacks;
        let callbacks = number.saturating_sub(1);
        let plain = Frame::new(slot.saturating_add(8), 0, key, None, outer, number);
        let signal = Frame { callbacks, is_signal: true, ..plain };
        self.frame = self.entries.len();
        self.push(Entry::Frame(signal), key, event);
        self.entered = Some(slot);
    }

    /// Its handler begins.
    pub(super) fn enter_handler(&mut self, to: &PassPlan, slot: u64, event: &mut impl FnMut(Event)) {
        let Some(function) = &to.function else { return };
        let outer = self.frame;
        let Some(frame) = self.frame_mut() else { return };
        frame.callbacks += 1;
        let number = frame.callbacks;
        let key = Key::Call { site: None, function: function.key, number, jumps: 0 };
        let function = Some(function.clone());
        let handler = Frame::new(slot, 0, key, function, outer, number);
        self.frame = self.entries.len();
        self.push(Entry::Frame(handler), key, event);
    }

    /// The innermost handler has returned, and what was interrupted goes on.
    fn leave_signal(&mut self, event: &mut impl FnMut(Event)) {
        self.entered = None;
        let is_inside = |entry: &Entry| matches!(entry, Entry::Frame(frame) if frame.is_signal);
        if self.entries.iter().any(is_inside) {
            while self.frame().is_some_and(|frame| !frame.is_signal && frame.slot != OUTERMOST) {
                self.pop(event);
            }
            self.pop(event);
        }
    }
}
