
pub mod lockstep;
