//! Whether two outcomes agree in what the architecture defines.
//!
//! Everything is compared, except what is written down in [`super::exempt`].

use super::exempt::{Exemptions, went_another_way};
use super::layout::address_of;
use super::state::{CHUNK, Case, Fault, FaultKind, FloatState, Outcome};
use crate::maker::Maker;
use std::fmt::Write;

/// Flags that user code sees: the arithmetic ones, DF, IF (always set), and NT, AC, ID, which popf
/// can change.
const VISIBLE_FLAGS: u64 = 0x24_4ed5;

pub const GENERAL_NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

/// A line a difference; empty if there is none.
pub fn differences(case: &Case, native: &Outcome, machine: &Outcome) -> String {
    let mut text = String::new();
    let maker = Maker::of_host();
    if went_another_way(maker, case, native, machine) {
        return text;
    }
    let exempt = Exemptions::of(maker, case, native);
    if !exempt.same_fault(native.fault, machine.fault) {
        fault_line(&mut text, "fault", native.fault, machine.fault);
    }
    // The machine runs on into the landing with one of its executors only.
    if machine.landing.is_some() && machine.landing != native.landing {
        fault_line(&mut text, "landing", native.landing, machine.landing);
    }
    for (number, (native, machine)) in native.state.general.iter().zip(&machine.state.general).enumerate() {
        if (native ^ machine) & !exempt.general[number] != 0 {
            line(&mut text, GENERAL_NAMES[number], *native, *machine);
        }
    }
    if native.state.rip != machine.state.rip {
        line(&mut text, "rip", native.state.rip, machine.state.rip);
    }
    let flags = VISIBLE_FLAGS & !exempt.flags;
    if (native.state.rflags ^ machine.state.rflags) & flags != 0 {
        let (native, machine) = (native.state.rflags & flags, machine.state.rflags & flags);
        let _ = writeln!(
            text,
            "  flags     processor {:<28} machine {}",
            flag_names(native),
            flag_names(machine)
        );
    }
    compare_floats(&exempt, &native.state.float, &machine.state.float, &mut text);
    compare_memory(&exempt, native, machine, &mut text);
    text
}

/// The names of the flags that are set.
pub fn flag_names(rflags: u64) -> String {
    const NAMES: [(u32, &str); 11] = [
        (0, "CF"),
        (2, "PF"),
        (4, "AF"),
        (6, "ZF"),
        (7, "SF"),
        (10, "DF"),
        (11, "OF"),
        (14, "NT"),
        (18, "AC"),
        (21, "ID"),
        (9, "IF"),
    ];
    let set: Vec<&str> =
        NAMES.iter().filter(|(bit, _)| rflags & (1 << bit) != 0).map(|(_, name)| *name).collect();
    set.join(" ")
}

fn compare_floats(exempt: &Exemptions, native: &FloatState, machine: &FloatState, text: &mut String) {
    for number in 0..16 {
        let (native, machine) = (native.xmm[number], machine.xmm[number]);
        if native != machine && !exempt.vector_is_good(number, native, machine) {
            let _ = writeln!(text, "  xmm{number:<6} processor {native:#034x}  machine {machine:#034x}");
        }
    }
    for number in 0..8 {
        let [native, machine] = [native, machine].map(|float| float.stack[number] & (u128::MAX >> 48));
        if native != machine && !exempt.x87_is_good(number, native, machine) {
            let _ = writeln!(text, "  st{number:<7} processor {native:#022x}  machine {machine:#022x}");
        }
    }
    let words = [
        ("control", native.control, machine.control, 0),
        ("status", native.status, machine.status, exempt.x87_status),
        ("tags", native.tags, machine.tags, 0),
    ];
    for (name, native, machine, exempt) in words {
        if (native ^ machine) & !exempt != 0 {
            line(text, name, native.into(), machine.into());
        }
    }
    if native.mxcsr != machine.mxcsr {
        line(text, "mxcsr", u64::from(native.mxcsr), u64::from(machine.mxcsr));
    }
}

fn compare_memory(exempt: &Exemptions, native: &Outcome, machine: &Outcome, text: &mut String) {
    if native.changes == machine.changes || exempt.is_exempt(0) {
        return;
    }
    let chunks = native.changes.chunks().iter().chain(machine.changes.chunks());
    let mut offsets: Vec<u32> = chunks.map(|chunk| chunk.offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let find = |outcome: &Outcome, offset| {
        let chunks = outcome.changes.chunks();
        chunks.iter().find(|chunk| chunk.offset == offset).map(|chunk| chunk.bytes)
    };
    for offset in offsets {
        let address = address_of(offset as usize);
        let (native, machine) = (find(native, offset), find(machine, offset));
        if !chunks_agree(exempt, address, native, machine) {
            let _ = writeln!(
                text,
                "  [{address:#x}]\n    processor {}\n    machine   {}",
                hex(native),
                hex(machine)
            );
        }
    }
    if native.changes.overflowed() || machine.changes.overflowed() {
        let _ = writeln!(text, "  and further memory");
    }
}

fn chunks_agree(
    exempt: &Exemptions,
    address: u64,
    native: Option<[u8; CHUNK]>,
    machine: Option<[u8; CHUNK]>,
) -> bool {
    let (Some(native), Some(machine)) = (native, machine) else { return native == machine };
    (address..).zip(native.iter().zip(&machine)).all(|(at, (a, b))| a == b || exempt.is_exempt(at))
}

fn fault_line(text: &mut String, name: &str, native: Option<Fault>, machine: Option<Fault>) {
    let _ = writeln!(text, "  {name:<9} processor {:<28} machine {}", describe(native), describe(machine));
}

fn describe(fault: Option<Fault>) -> String {
    match fault {
        None => "none".to_string(),
        Some(Fault { kind: FaultKind::PageFault, address, write }) => {
            format!("PageFault {} {address:#x}", if write { "writing" } else { "at" })
        }
        Some(Fault { kind, .. }) => format!("{kind:?}"),
    }
}

fn hex(bytes: Option<[u8; CHUNK]>) -> String {
    let Some(bytes) = bytes else { return "unchanged".to_string() };
    let word = |word: &[u8]| word.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(8).map(word).collect::<Vec<_>>().join(" ")
}

fn line(text: &mut String, name: &str, native: u64, machine: u64) {
    let _ = writeln!(text, "  {name:<9} processor {native:#018x}           machine {machine:#018x}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::generate::Generator;
    use crate::fuzz::layout::{IMAGE_BYTES, LOW_BYTES};
    use crate::fuzz::native::Native;
    use crate::fuzz::state::Changes;

    /// A case of the group that does not fault, and its outcome.
    fn example(group: &'static str, wanted: impl Fn(&Case, &Outcome) -> bool) -> (Case, Outcome) {
        let image = Generator::image(1);
        let mut generator = Generator::new(group, 1);
        let cases: Vec<Case> = (0..1000).map(|index| generator.case(index)).collect();
        let outcomes = Native::start(&image).and_then(|mut native| native.run(&cases)).expect("runs");
        let mut found = cases.into_iter().zip(outcomes);
        found.find(|(case, outcome)| outcome.fault.is_none() && wanted(case, outcome)).expect("one is good")
    }

    fn differs(case: &Case, native: &Outcome, change: impl Fn(&mut Outcome)) -> bool {
        let mut machine = *native;
        change(&mut machine);
        !differences(case, native, &machine).is_empty()
    }

    #[test]
    fn every_wrong_register_is_seen() {
        let (case, outcome) = example("data-movement", |_, _| true);
        assert_eq!(differences(&case, &outcome, &outcome), "");
        for number in 0..16 {
            assert!(differs(&case, &outcome, |machine| machine.state.general[number] ^= 1 << 63));
            assert!(differs(&case, &outcome, |machine| machine.state.float.xmm[number] ^= 1 << 127));
        }
        assert!(differs(&case, &outcome, |machine| machine.state.rip += 1));
        assert!(differs(&case, &outcome, |machine| machine.state.float.mxcsr ^= 0x20));
        for flag in [0, 2, 4, 6, 7, 10, 11] {
            assert!(differs(&case, &outcome, |machine| machine.state.rflags ^= 1 << flag));
        }
    }

    #[test]
    fn a_wrong_fault_is_seen() {
        let (case, outcome) = example("alu", |_, _| true);
        let fault = Fault { kind: FaultKind::PageFault, address: 0x1234, write: false };
        assert!(differs(&case, &outcome, |machine| machine.fault = Some(fault)));
        let native = Outcome { fault: Some(fault), ..outcome };
        assert!(differs(&case, &native, |machine| machine.fault = None));
        assert!(differs(&case, &native, |machine| machine.fault = Some(Fault { address: 0x1235, ..fault })));
        assert!(differs(&case, &native, |machine| {
            machine.fault = Some(Fault::without_address(FaultKind::Protection));
        }));
    }

    #[test]
    fn a_wrong_byte_in_memory_is_seen() {
        let (case, outcome) = example("alu", |_, outcome| !outcome.changes.chunks().is_empty());
        assert!(differs(&case, &outcome, |machine| machine.changes = Changes::none()));
        let image = [0; IMAGE_BYTES];
        let mut scratch = image;
        scratch[77] = 1;
        assert!(differs(&case, &outcome, |machine| {
            machine.changes.collect(0, &mut { scratch }[..LOW_BYTES], &image[..LOW_BYTES], |_| ());
        }));
    }

    #[test]
    fn only_undefined_flags_are_exempt() {
        use iced_x86::Mnemonic;
        let and = |case: &Case, _: &Outcome| case.steps[0].instruction.mnemonic() == Mnemonic::And;
        let (case, outcome) = example("alu", and);
        for (flag, undefined) in [(0, false), (2, false), (4, true), (6, false), (7, false), (11, false)] {
            assert_eq!(differs(&case, &outcome, |machine| machine.state.rflags ^= 1 << flag), !undefined);
        }
    }
}
