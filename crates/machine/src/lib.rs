//! The room that executes ops: registers, paged copy-on-write memory, snapshots, interventions and guest
//! faults. It knows nothing of Linux; a system call is a reason to stop.

mod apart;
mod block;
mod cpu;
pub mod cpuid;
mod definedness;
mod exec;
mod fast;
mod fault;
mod flags;
mod hooks;
mod interruption;
mod intervention;
mod machine;
pub(crate) mod memory;
mod observer;
mod prefetch;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod trace;
mod values;
pub mod vector;
pub mod x87;

pub use apart::{Apart, Looked, Patches, Stores, Unpatched};
pub use cpu::Cpu;
pub use definedness::{Definedness, Origin, Use, UseKind};
pub use exec::{Force, Peek, effective};
pub use fault::{Fault, FaultKind, Stop, Unsupported};
pub use flags::FlagRecord;
pub use hooks::{Check, Hook, Hooks, Readable};
pub use interruption::{Copied, Interruption, InterruptionKind};
pub use intervention::{Action, Edit, Intervention};
pub use machine::{Checkpoint, Core, Machine, Time};
pub use memory::{
    Access, AccessFault, Backing, Cause, CodeChange, FRESH, Image, ImagePage, Memory, PAGE_ALLOCATION,
    PAGE_SIZE, Permissions, Region, Scalar,
};
pub use observer::{Observer, Unwatched};
pub use prefetch::prefetch;
pub use trace::{Executed, Pass, Plan, Trace, Words};
pub use values::binary;
