pub mod lockstep;
