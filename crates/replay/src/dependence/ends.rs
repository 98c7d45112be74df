//! Where the chains of a backward pass end.

use lift::Reg;
use linux::Place;
use program::Stmt;

use super::backward::Backward;
use super::code::StmtId;
use super::contexts::Context;
use super::need::Need;
use super::slice::{Slice, Source, share_of};
use super::step::{Made, Step, Watch};

impl<W: Watch> Backward<'_, '_, W> {
    /// What lies below the return slot did not belong to anybody before the call: who used it used what nobody had written.
    pub(super) fn end_uninitialised(&mut self, slot: u64) {
        if self.lowest_on_stack >= slot || !self.stack.contains(&slot) {
            return;
        }
        let start = self.lowest_on_stack;
        if !self.pending.has_memory_within(start, slot) {
            self.lowest_on_stack = slot;
            return;
        }
        for offset in self.pending.offsets_needed(Place::Memory(start), slot - start) {
            if let Some(need) = self.pending.take_memory(start + offset) {
                self.end(need, Source::Uninitialised { address: start + offset });
            }
        }
        self.lowest_on_stack = slot;
    }

    /// A chain ends here.
    pub(super) fn end(&mut self, need: Need, source: Source) {
        if need.is_internal() || W::CHOOSES {
            return;
        }
        self.watch.end(need, &source);
        self.end_others(need, &source);
        let nearest = self.slice.sources.entry(source).or_insert(u32::MAX);
        *nearest = need.distance().min(*nearest);
    }

    /// A byte that a variable held from the beginning: its initialiser is a statement.
    fn initialised(&mut self, address: u64, need: Need) {
        if W::CHOOSES {
            return;
        }
        let Some(stmt) = self.code.statement_of_data(address) else { return };
        let stmt = self.code.intern(stmt);
        let instance = self.initialisers.entry(stmt).or_insert_with(|| self.frames.initialiser(stmt));
        let passed = need.passed_on(instance.number);
        share_of(&mut self.shares, stmt, self.begin).count(passed, instance);
        if W::WATCHES && need.user() != instance.number {
            self.watch.step(Step {
                user: need.user(),
                how: need.how(),
                maker: instance.number,
                stmt,
                context: Context::default(),
                time: self.begin,
                address: 0,
                made: Made::Memory { address, length: 1 },
                distance: passed.distance(),
                in_library: false,
            });
        }
    }

    /// The slice, when the start of the run is reached: what is still needed was there from the beginning.
    pub fn finish(mut self) -> Slice {
        for (address, need) in self.pending.memory() {
            self.initialised(address, need);
            self.end(need, Source::Initial { address });
        }
        for number in 0..=u8::MAX {
            let taken = self.pending.take_slot(Reg(number));
            if let Some(need) = taken.iter().map(|(_, need)| need).reduce(Need::joined) {
                self.end(need, Source::InitialRegister(Reg(number)));
            }
        }
        let places: Vec<(Place, Need)> = self.pending.places().collect();
        for (place, need) in places {
            self.end(need, Source::Input(place));
        }
        self.slice.tried = self.potential.as_ref().map(|potential| potential.tried);
        self.slice.stacks.activations = self.frames.most();
        for (index, share) in self.shares.iter().enumerate() {
            let stmt: Option<&Stmt> = self.code.statement(StmtId(index as u32));
            if let (Some(stmt), Some(share)) = (stmt, share) {
                self.slice.statements.insert(stmt.clone(), *share);
            }
        }
        self.slice
    }
}
