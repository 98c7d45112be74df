//! The measuring instrument: programs with known faults, and how soon `whydunit explain`, and what one would use instead, names them.

pub mod answer;
pub mod cases;
pub mod compare;
mod contrast;

mod fingerprint;
pub mod journal;
mod limited;
pub mod measure;
pub mod mutate;
pub mod native;
mod pairs;
pub mod papers;
pub mod plots;
pub mod programs;
pub mod question;
pub mod random;
pub mod real;
pub mod report;
pub mod row;
pub mod run;
mod sieve;
pub mod spectrum;
mod started;
pub mod statements;
pub mod suites;
pub mod table;
pub mod tool;
pub mod workbench;
