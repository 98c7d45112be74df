//! What one instruction makes its results from, worked out once for each result and set of bytes.
//!
//! A pass meets the same instructions again and again, and nearly always the same bytes of the same results are needed. So
//! the ops are followed once, through the temporaries, and what is left is a list of slots and of bytes of memory.

use std::cell::RefCell;
use std::rc::Rc;

use lift::{Address, Bytes, Op, Reg, SLOTS, Value, low};

use super::need::Use;

const WHOLE: Bytes = 0xff;
/// The bytes of sign and exponent in the upper slot of an x87 register.
const EXPONENT: Bytes = 0b11;

/// A result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Slot(Reg),
    /// What the op of this number stores: eight bytes of it, from this byte on.
    Store {
        op: u8,
        first: u8,
    },
}

/// Some bytes of a result, as one word, for the same reason as [`Need`](super::need::Need).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish(u32);

impl Wish {
    pub fn new(output: Output, bytes: Bytes) -> Wish {
        let (is_store, what, first) = match output {
            Output::Slot(reg) => (0, reg.0, 0),
            Output::Store { op, first } => (1, op, first),
        };
        Wish(is_store << 24 | u32::from(first) << 16 | u32::from(what) << 8 | u32::from(bytes))
    }

    pub fn output(self) -> Output {
        let [_, what, first, is_store] = self.0.to_le_bytes();
        if is_store == 0 { Output::Slot(Reg(what)) } else { Output::Store { op: what, first } }
    }

    pub fn bytes(self) -> Bytes {
        self.0 as Bytes
    }
}

/// What some bytes of a result come from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    pub slots: Vec<(Reg, Bytes, Use)>,
    pub memory: Vec<Read>,
    /// It sets up the frame pointer, which is no dependence.
    pub is_frame_setup: bool,
    /// An x87 register that was only moved: a copy that is no step of the program.
    pub is_moved: bool,
}

/// Bytes of memory that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The word with the address, and the distance from there.
    pub word: u8,
    pub offset: u8,
    pub bytes: Bytes,
    pub how: Use,
}

/// What was asked before of one instruction.
#[derive(Default)]
pub struct Transfers {
    known: RefCell<Vec<(Asked, Rc<Transfer>)>>,
}

/// Some bytes of a result, with the sides that conditional moves chose.
type Asked = (Wish, u8);

impl Transfers {
    /// `outcome` says which sides conditional moves chose, a bit each.
    pub fn get(&self, ops: &[Op], places: &[u8], wish: Wish, outcome: u8) -> Rc<Transfer> {
        let asked = (wish, outcome);
        if let Some((_, known)) = self.known.borrow().iter().find(|(known, _)| *known == asked) {
            return known.clone();
        }
        let made = Rc::new(trace(ops, places, wish.output(), wish.bytes(), outcome));
        self.known.borrow_mut().push((asked, made.clone()));
        made
    }
}

/// The slots that an op gives a value. Float instructions add to the exception flags, which next to nobody reads, x87 ones tell how
/// they rounded; the rounding mode, which all of them read, is not theirs.
pub fn made_slots(op: &Op, mut each: impl FnMut(Reg)) {
    op.writes(|slot| {
        let is_by_the_way = match op {
            Op::Vector { .. } => slot == Reg::MXCSR,
            Op::X87 { op, .. } => slot == Reg::X87_FLAGS || slot == Reg::X87_CODES && !op.defines_codes(),
            Op::Rotate { .. } => slot == Reg::X87_TOP,
            _ => false,
        };
        if !is_by_the_way {
            each(slot);
        }
    });
}

/// What is wanted of slots, by use.
struct Wanted {
    slots: [[Bytes; 3]; SLOTS],
    transfer: Transfer,
}

fn trace(ops: &[Op], places: &[u8], output: Output, bytes: Bytes, outcome: u8) -> Transfer {
    let mut wanted = Wanted { slots: [[0; 3]; SLOTS], transfer: Transfer::default() };
    wanted.transfer.is_moved = matches!(output, Output::Slot(reg) if reg.is_st());
    let mut end = ops.len();
    match output {
        Output::Slot(reg) => wanted.slots[reg.index()][Use::Value as usize] = bytes,
        Output::Store { op, first } => {
            end = usize::from(op);
            match ops.get(end) {
                Some(Op::Store { src, address, .. }) => {
                    wanted.value(*src, bytes, Use::Value);
                    wanted.address(address);
                }
                Some(Op::StoreVector { src, address, .. } | Op::StoreExtended { src, address }) => {
                    let half = if first == 0 { *src } else { src.high_half() };
                    wanted.slot(half, bytes, Use::Value);
                    wanted.address(address);
                }
                _ => {}
            }
        }
    }
    let mut selects = ops.iter().take(end).filter(|op| matches!(op, Op::Select { .. })).count();
    for (op, place) in ops.iter().zip(places).take(end).rev() {
        if matches!(op, Op::Select { .. }) {
            selects -= 1;
        }
        wanted.through(op, *place, outcome >> selects & 1 != 0);
    }
    for number in (0..SLOTS).filter(|number| !Reg(*number as u8).is_temp()) {
        for how in [Use::Value, Use::Address, Use::Control] {
            let bytes = wanted.slots[number][how as usize];
            if bytes != 0 {
                wanted.transfer.slots.push((Reg(number as u8), bytes, how));
            }
        }
    }
    wanted.transfer
}

impl Wanted {
    fn slot(&mut self, reg: Reg, bytes: Bytes, how: Use) {
        if reg != Reg::ZERO {
            self.slots[reg.index()][how as usize] |= bytes;
        }
    }

    fn value(&mut self, value: Value, bytes: Bytes, how: Use) {
        if let Value::Reg(reg) = value {
            self.slot(reg, bytes, how);
        }
    }

    fn address(&mut self, address: &Address) {
        self.address_used(address, Use::Address);
    }

    fn address_used(&mut self, address: &Address, how: Use) {
        self.slot(address.base, WHOLE, how);
        self.slot(address.index, WHOLE, how);
    }

    /// What is wanted after the op is replaced by what is wanted before it.
    fn through(&mut self, op: &Op, place: u8, chose: bool) {
        // All of it is taken before anything is added: an op may read what it overwrites.
        let mut taken = Vec::new();
        made_slots(op, |slot| taken.push((slot, std::mem::take(&mut self.slots[slot.index()]))));
        for (slot, by_use) in taken {
            for (how, bytes) in [Use::Value, Use::Address, Use::Control].into_iter().zip(by_use) {
                if bytes != 0 {
                    self.made_by(op, slot, bytes, how, place, chose);
                }
            }
        }
    }

    fn made_by(&mut self, op: &Op, slot: Reg, bytes: Bytes, how: Use, place: u8, chose: bool) {
        self.transfer.is_moved &= op.moves_x87();
        match op {
            Op::Load { size, address, .. } => self.load(bytes & low(*size), 0, address, how, place),
            Op::LoadVector { dst, address, .. } => {
                self.load(bytes, if slot == *dst { 0 } else { 8 }, address, how, place);
            }
            Op::LoadExtended { dst, address } => {
                let (bytes, offset) = if slot == *dst { (bytes, 0) } else { (bytes & EXPONENT, 8) };
                self.load(bytes, offset, address, how, place);
            }
            Op::Select { size, condition, yes, no, .. } => {
                let bytes = bytes & low(*size);
                self.slot(if chose { *yes } else { *no }, bytes, how);
                if bytes != 0 {
                    self.slot(*condition, 1, Use::Control);
                }
            }
            _ => {
                let sources = op.sources(slot, bytes);
                let mut slots = sources.slots();
                if slot == Reg::RBP
                    && slots.next().is_some_and(|(reg, _)| reg == Reg::RSP)
                    && slots.next().is_none()
                {
                    self.transfer.is_frame_setup = true;
                    return;
                }
                for (reg, bytes) in sources.slots() {
                    self.slot(reg, bytes, how);
                }
            }
        }
    }

    fn load(&mut self, bytes: Bytes, offset: u8, address: &Address, how: Use, place: u8) {
        if bytes == 0 {
            return;
        }
        self.transfer.memory.push(Read { word: place, offset, bytes, how });
        self.address_used(address, how.max(Use::Address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lift::{Binary, Size};

    #[test]
    fn a_register_that_is_loaded_through_itself_is_an_address_before() {
        let address = Address::register(Reg::RAX);
        let ops = [Op::Load { size: Size::B8, dst: Reg::RAX, address }];
        let transfer = Transfers::default().get(&ops, &[0], Wish::new(Output::Slot(Reg::RAX), 1), 0);
        assert_eq!(transfer.slots, [(Reg::RAX, WHOLE, Use::Address)]);
        assert_eq!(transfer.memory, [Read { word: 0, offset: 0, bytes: 1, how: Use::Value }]);
    }

    #[test]
    fn temporaries_are_gone_and_memory_that_is_added_to_is_read_as_well() {
        let (address, temp) = (Address::offset(Reg::RBX, 8), Reg::temp(0));
        let ops = [
            Op::Load { size: Size::B4, dst: temp, address },
            Op::Binary { function: Binary::Add, size: Size::B4, dst: temp, a: temp, b: Reg::RCX.into() },
            Op::Store { size: Size::B4, src: temp.into(), address },
        ];
        let output = Output::Store { op: 2, first: 0 };
        let transfer = Transfers::default().get(&ops, &[0, 1, 0], Wish::new(output, 0b10), 0);
        assert_eq!(transfer.slots, [(Reg::RCX, 0b11, Use::Value), (Reg::RBX, WHOLE, Use::Address)]);
        assert_eq!(transfer.memory, [Read { word: 0, offset: 0, bytes: 0b11, how: Use::Value }]);
    }

    #[test]
    fn a_conditional_move_takes_one_side_and_the_condition() {
        let (condition, size) = (Reg::temp(0), Size::B8);
        let ops = [Op::Select { size, dst: Reg::RAX, condition, yes: Reg::RBX, no: Reg::RCX }];
        for (outcome, side) in [(0, Reg::RCX), (1, Reg::RBX)] {
            let transfer =
                Transfers::default().get(&ops, &[0], Wish::new(Output::Slot(Reg::RAX), WHOLE), outcome);
            assert_eq!(transfer.slots, [(side, WHOLE, Use::Value)]);
        }
    }
}
