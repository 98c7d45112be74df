//! The measuring instrument: programs of our own, mistakes made in them, and how soon `whydunit explain` names the mistake.

pub mod cases;
pub mod measure;
pub mod mutate;
pub mod native;
pub mod programs;
pub mod random;
pub mod table;
pub mod tool;
