//! The room of the judges: the processor under us decides whether the machine is true, and gdb whether what we say about a
//! stopped program is.

pub mod debugger;
pub mod fuzz;
pub mod lockstep;

/// Why the processor under us is no judge of single instructions; `None` if it is one. Where the processors of different makers
/// differ (which NaN a sum of products is, which bits of MXCSR there are, how a fault beyond the canonical addresses is told, flags after
/// a repetition that faults), the machine does as Intel's do.
pub fn other_maker() -> Option<String> {
    const REFERENCE: &str = "GenuineIntel";
    let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = described.lines().find(|line| line.starts_with("vendor_id"))?;
    let maker = line.split_once(':').map_or("", |(_, maker)| maker.trim());
    (maker != REFERENCE).then(|| format!("the processor is by {maker}, the machine follows {REFERENCE}"))
}
