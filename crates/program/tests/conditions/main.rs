//! Conditions: groups of branches against what the source says and what the machine does.

#[path = "../common/mod.rs"]
mod common;
mod generated;
mod generator;
mod guest;
mod written;
