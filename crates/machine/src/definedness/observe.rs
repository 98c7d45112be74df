//! How a run is followed: each op's rule is applied before it runs; what it does to memory is followed when that has happened.

use super::registers::OriginCode;
use super::uses;
use super::{Definedness, UseKind};
use crate::{Check, Cpu, Interruption, Memory, Observer, Time};
use lift::{
    Address, ENVIRONMENT_BYTES, FNSAVE_BYTES, FXSAVE_BYTES, Helper, Op, Reg, Repeat, Size, StringKind, Value,
};

/// What the op at hand does to memory, for when that has happened.
#[derive(Clone, Copy, Debug)]
pub enum Pending {
    None,
    Load { dst: Reg },
    LoadPair { dst: Reg },
    Store { undefined: u128, origin: OriginCode },
    Helper { helper: Helper },
    String(Element),
}

/// A string instruction on its way through its elements.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    kind: StringKind,
    size: Size,
    /// Whether the elements decide how many there are.
    decides: bool,
    /// What the first of two loads found.
    first: Option<(u64, OriginCode)>,
}

/// Where the registers are in the areas that fxsave and fnsave write.
const FXSAVE_X87: u64 = 32;
const FXSAVE_XMM: u64 = 160;
const FNSAVE_X87: u64 = ENVIRONMENT_BYTES;

impl Observer for Definedness {
    fn instruction(&mut self, time: Time, address: u64, _ops: &[Op], cpu: &Cpu) {
        self.time = time;
        self.address = address;
        let stack_pointer = cpu.get(Reg::RSP);
        if stack_pointer != self.stack_pointer || self.crossed {
            self.stack_moved(stack_pointer);
        }
    }

    fn routine(&mut self, check: Check, cpu: &Cpu, memory: &Memory) {
        self.enter_routine(check, cpu, memory);
    }

    fn op(&mut self, op: &Op, cpu: &Cpu) {
        self.pending = Pending::None;
        match *op {
            Op::Load { dst, address, .. } => {
                self.use_address(&address, cpu);
                self.pending = Pending::Load { dst };
            }
            Op::LoadVector { dst, address, .. } | Op::LoadExtended { dst, address } => {
                self.use_address(&address, cpu);
                self.pending = Pending::LoadPair { dst };
            }
            Op::Store { size, src, address } => {
                self.use_address(&address, cpu);
                let undefined = u128::from(self.registers.value(src) & size.mask());
                self.pending = Pending::Store { undefined, origin: self.registers.value_origin(src) };
            }
            Op::StoreVector { src, address, .. } | Op::StoreExtended { src, address } => {
                self.use_address(&address, cpu);
                let undefined = self.registers.pair(src);
                self.pending = Pending::Store { undefined, origin: self.registers.pair_origin(src) };
            }
            Op::Helper { helper, address } => {
                self.use_address(&address, cpu);
                self.registers.apply(op, cpu);
                self.pending = Pending::Helper { helper };
            }
            Op::String { kind, size, repeat, .. } => self.begin_string(kind, size, repeat, cpu),
            Op::Branch { condition, .. } => {
                if self.registers.get(condition) & 1 != 0 {
                    self.report(UseKind::Condition, self.registers.origin(condition));
                    self.registers.forget_flags();
                }
            }
            Op::Jump { target } => self.use_target(target),
            Op::Call { target, return_address } => {
                self.use_target(target);
                self.uses.call(cpu.get(Reg::RSP), return_address);
                self.crossed = true;
            }
            Op::Return { target } => {
                self.use_target(Value::Reg(target));
                self.uses.leave(cpu.get(Reg::RSP).wrapping_sub(8));
                self.crossed = true;
            }
            Op::Syscall => [Reg::RCX, Reg::R11].into_iter().for_each(|reg| self.registers.define(reg)),
            _ => self.registers.apply(op, cpu),
        }
    }

    fn load(&mut self, address: u64, bytes: u64) {
        match self.pending {
            Pending::Load { dst } => {
                let (undefined, origin) = self.loaded(address, bytes);
                self.registers.set(dst, undefined as u64, origin);
            }
            Pending::LoadPair { dst } => {
                let (undefined, origin) = self.loaded(address, bytes);
                self.registers.set_pair(dst, undefined, origin);
            }
            Pending::Helper { helper } => self.restore(helper, address),
            Pending::String(element) => self.load_element(element, address),
            Pending::None | Pending::Store { .. } => {}
        }
    }

    fn store(&mut self, address: u64, bytes: u64) {
        match self.pending {
            Pending::Store { undefined, origin } => {
                let undefined = undefined & (u128::MAX >> (128 - 8 * bytes.clamp(1, 16)));
                self.memory.store(address, bytes, undefined, origin);
            }
            Pending::Helper { helper } => self.save(helper, address, bytes),
            Pending::String(element) => {
                let (undefined, origin) = match element.kind {
                    StringKind::Store => (self.registers.get(Reg::RAX), self.registers.origin(Reg::RAX)),
                    _ => element.first.unwrap_or_default(),
                };
                self.memory.store(address, bytes, u128::from(undefined & element.size.mask()), origin);
            }
            Pending::None | Pending::Load { .. } | Pending::LoadPair { .. } => {}
        }
    }

    fn interruption(&mut self, interruption: &Interruption) {
        self.interrupted(interruption);
    }
}

impl Definedness {
    /// What memory holds, with an origin if any of it is undefined.
    #[inline]
    fn loaded(&mut self, address: u64, bytes: u64) -> (u128, OriginCode) {
        let loaded = self.memory.load(address, bytes);
        if loaded.undefined == 0 {
            return (0, 0);
        }
        let origin = match loaded.origin {
            0 => uses::encode(self.time, loaded.first),
            origin => origin,
        };
        (loaded.undefined, origin)
    }

    fn use_address(&mut self, address: &Address, cpu: &Cpu) {
        if self.registers.any_in(address) && self.registers.address(cpu, address) != 0 {
            self.report(UseKind::Address, self.registers.address_origin(address));
            self.registers.define_address(address);
        }
    }

    fn use_target(&mut self, target: Value) {
        if let Value::Reg(reg) = target {
            self.check_register(reg, u64::MAX, UseKind::Target);
        }
    }

    fn begin_string(&mut self, kind: StringKind, size: Size, repeat: Repeat, cpu: &Cpu) {
        if repeat != Repeat::Once {
            self.check_register(Reg::RCX, u64::MAX, UseKind::Condition);
        }
        if repeat == Repeat::Once || cpu.get(Reg::RCX) != 0 {
            let (source, target) = match kind {
                StringKind::Load => (true, false),
                StringKind::Store | StringKind::Scan => (false, true),
                StringKind::Move | StringKind::Compare => (true, true),
            };
            let used = [(Reg::RSI, source), (Reg::RDI, target)].into_iter().filter(|(_, is_used)| *is_used);
            used.for_each(|(reg, _)| self.check_register(reg, u64::MAX, UseKind::Address));
        }
        let decides = matches!(repeat, Repeat::WhileEqual | Repeat::WhileNotEqual);
        self.pending = Pending::String(Element { kind, size, decides, first: None });
    }

    fn load_element(&mut self, element: Element, address: u64) {
        let (undefined, origin) = self.loaded(address, element.size.bytes());
        let undefined = undefined as u64;
        match element.kind {
            StringKind::Load => {
                let size = element.size;
                let kept = if size >= Size::B4 { 0 } else { self.registers.get(Reg::RAX) & !size.mask() };
                self.registers.set(Reg::RAX, kept | undefined, origin);
            }
            StringKind::Compare if element.first.is_some() => {
                self.compared(element, element.first.unwrap_or_default(), (undefined, origin));
            }
            StringKind::Scan => {
                let wanted = (self.registers.get(Reg::RAX), self.registers.origin(Reg::RAX));
                self.compared(element, wanted, (undefined, origin));
            }
            StringKind::Move | StringKind::Compare | StringKind::Store => {
                self.pending = Pending::String(Element { first: Some((undefined, origin)), ..element });
            }
        }
    }

    /// Two elements were compared, which sets the flags, and may end the instruction.
    fn compared(&mut self, element: Element, a: (u64, OriginCode), b: (u64, OriginCode)) {
        self.pending = Pending::String(Element { first: None, ..element });
        let undefined = (a.0 | b.0) & element.size.mask();
        let origin = if a.0 & element.size.mask() != 0 { a.1 } else { b.1 };
        self.registers.forget_flags();
        if undefined != 0 && element.decides {
            self.report(UseKind::Condition, origin);
        } else {
            self.registers.set(Reg::FLAG_A, a.0, origin);
            self.registers.set(Reg::FLAG_B, b.0, origin);
        }
    }

    /// A helper has written registers to memory.
    fn save(&mut self, helper: Helper, address: u64, bytes: u64) {
        self.memory.define(address, bytes);
        let (x87, step) = match helper {
            Helper::Fxsave => (FXSAVE_X87, 16),
            Helper::Fnsave => (FNSAVE_X87, 10),
            _ => return,
        };
        for n in 0..8 {
            let at = address.wrapping_add(x87 + step * u64::from(n));
            let (undefined, origin) =
                (self.registers.pair(Reg::st(n)), self.registers.pair_origin(Reg::st(n)));
            self.memory.store(at, 10, undefined & (u128::MAX >> 48), origin);
        }
        if helper == Helper::Fxsave {
            for n in 0..16 {
                let at = address.wrapping_add(FXSAVE_XMM + 16 * u64::from(n));
                let origin = self.registers.pair_origin(Reg::xmm(n));
                self.memory.store(at, 16, self.registers.pair(Reg::xmm(n)), origin);
            }
        }
    }

    /// A helper has read registers from memory.
    fn restore(&mut self, helper: Helper, address: u64) {
        let (x87, step) = match helper {
            Helper::Fxrstor => (FXSAVE_X87, 16),
            Helper::Frstor => (FNSAVE_X87, 10),
            _ => return,
        };
        debug_assert!(x87 + 7 * step + 10 <= FXSAVE_BYTES.max(FNSAVE_BYTES));
        for n in 0..8 {
            let (undefined, origin) = self.loaded(address.wrapping_add(x87 + step * u64::from(n)), 10);
            self.registers.set_pair(Reg::st(n), undefined, origin);
        }
        if helper == Helper::Fxrstor {
            for n in 0..16 {
                let (undefined, origin) =
                    self.loaded(address.wrapping_add(FXSAVE_XMM + 16 * u64::from(n)), 16);
                self.registers.set_pair(Reg::xmm(n), undefined, origin);
            }
        }
        self.registers.define(Reg::X87_CODES);
    }
}
