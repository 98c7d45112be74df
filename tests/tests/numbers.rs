//! Numbers at random, as the native run has them: printed, parsed, put through the maths library, computed with in 80 bits. Some thousands of
//! each, a million in the long mode.

use std::time::Duration;

use tests::command::Program;
use tests::compile::{self, Linkage, Variant};
use tests::outcome::Outcome;
use tests::place;

const VARIANTS: [Variant; 2] = [
    Variant { compiler: "gcc", optimisation: "-O2", linkage: Linkage::Dynamic },
    Variant { compiler: "clang", optimisation: "-O0", linkage: Linkage::Static },
];

/// What the program does natively and under whydunit.
fn both(variant: Variant, what: &str, count: u64) -> (Outcome, Outcome) {
    let guest = compile::compile(&place::guest("numbers.c"), variant, &[]).expect("the guest compiles");
    let words = [guest.into_os_string(), what.into(), count.to_string().into()];
    let native = Program::new(words).timeout(Duration::from_secs(if place::long() { 900 } else { 20 }));
    let machine = native.under_whydunit::<&str>(&[]);
    (native.run().expect("the native run ends"), machine.run().expect("whydunit ends"))
}

fn agrees(what: &str, usual: u64, long: u64) {
    for variant in VARIANTS {
        let (native, machine) = both(variant, what, if place::long() { long } else { usual });
        assert_eq!(native.status, 0, "{what}");
        if let Some(difference) = native.difference(&machine) {
            panic!("{what}, {variant}: {difference}");
        }
    }
}

#[test]
fn doubles_and_long_doubles_are_printed_as_natively() {
    agrees("print", 3000, 1_000_000);
}

#[test]
fn doubles_and_long_doubles_are_parsed_as_natively() {
    agrees("parse", 3000, 1_000_000);
}

/// So many arguments for each of 44 functions, of three kinds.
#[test]
fn the_maths_library_computes_as_natively() {
    agrees("mathematics", 300, 10_000);
}

#[test]
fn long_doubles_are_computed_as_natively() {
    agrees("exact", 3000, 1_000_000);
}

/// The C library computes these with transcendental instructions, which the machine rounds correctly and a processor within
/// about one unit in the last place; what is made of several of them may differ by a few.
#[test]
fn transcendental_functions_of_long_doubles_are_within_four_units_of_the_native_ones() {
    const UNITS: u128 = 4;
    let (native, machine) = both(VARIANTS[0], "approximate", if place::long() { 100_000 } else { 1000 });
    assert_eq!((native.status, machine.status), (0, 0), "{machine:?}");
    let (native, machine) = (text(&native), text(&machine));
    assert_eq!(native.lines().count(), machine.lines().count());
    assert!(native.lines().count() > 10_000);
    for (native, machine) in native.lines().zip(machine.lines()) {
        let near = match (result(native), result(machine)) {
            (Some(native), Some(machine)) => native.abs_diff(machine) <= UNITS,
            _ => native == machine,
        };
        assert!(near, "native {native}, whydunit {machine}");
    }
}

fn text(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stdout).into_owned()
}

/// A result such that neighbouring numbers are one apart: sign, exponent, and the significand without the bit that it always has.
fn result(line: &str) -> Option<u128> {
    let mut words = line.split(' ').skip(1);
    let (exponent, significand) = (words.next()?, words.next()?);
    if exponent.len() != 4 {
        return None;
    }
    let exponent = u128::from_str_radix(exponent, 16).ok()?;
    let significand = u128::from_str_radix(significand, 16).ok()?;
    Some(exponent << 63 | significand & (u128::MAX >> 65))
}
