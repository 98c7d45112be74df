//! Executes lifted code: the registers, the paged copy-on-write memory, snapshots and guest faults.

mod memory;

pub use memory::{
    Access, AccessFault, Backing, Cause, CodeChange, Memory, PAGE_SIZE, Permissions, Region, Scalar,
};
