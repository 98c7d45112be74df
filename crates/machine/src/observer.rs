//! Observers: what a run can be watched by. An observer is a type parameter of the run, so a run
//! that nobody watches pays nothing.

use crate::{Check, Cpu, Interruption, Memory, Peek, Time};
use lift::Op;

/// Called during a watched run. Addresses and times are those of the instruction at hand.
pub trait Observer {
    /// Whether anything is called at all. A run with an observer that doesn't watch uses the
    /// fast executor.
    const WATCHES: bool = true;
    /// Whether `load` and `store` are called for each element of a string instruction. If not, only `string`
    /// tells of them, and long ones take less time.
    const EACH_ELEMENT: bool = true;

    /// Before an instruction; `cpu` is the state before it.
    fn instruction(&mut self, _time: Time, _address: u64, _ops: &[Op], _cpu: &Cpu) {}
    /// The instruction is the first of a routine whose loads are not checked one by one, since it reads more than it needs; what it needs
    /// the check tells.
    fn routine(&mut self, _check: Check, _cpu: &Cpu, _memory: &Memory) {}
    /// Before an op; `cpu` holds its inputs.
    fn op(&mut self, _op: &Op, _cpu: &Cpu) {}
    /// Memory was read, which still is as it was then. For those who need to know what was there.
    fn load_from(&mut self, _memory: &impl Peek, address: u64, bytes: u64) {
        self.load(address, bytes);
    }
    /// Memory was read.
    fn load(&mut self, _address: u64, _bytes: u64) {}
    /// Memory was written.
    fn store(&mut self, _address: u64, _bytes: u64) {}
    /// A string instruction did so many elements from these addresses on; if negative, towards lower ones.
    /// Which of the two addresses it used depends on its kind.
    fn string(&mut self, _source: u64, _target: u64, _elements: i64) {}
    /// A condition was used, by a jump, a set or a move.
    fn condition(&mut self, _time: Time, _address: u64, _holds: bool) {}
    fn call(&mut self, _time: Time, _target: u64, _return_address: u64) {}
    fn ret(&mut self, _time: Time, _target: u64) {}
    /// The system call instruction retired; the kernel acts next.
    fn syscall(&mut self, _time: Time, _cpu: &Cpu) {}
    /// Something else than an instruction changed the state. The instruction before may have been told of without
    /// having retired.
    fn interruption(&mut self, _interruption: &Interruption) {}
}

/// Nobody watches.
#[derive(Default)]
pub struct Unwatched;

impl Observer for Unwatched {
    const WATCHES: bool = false;
}
