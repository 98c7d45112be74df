//! What people type: places, assertions and expressions, which are evaluated in a stopped guest as well.

#![no_main]

use std::sync::OnceLock;

use fuzz::ask;
use libfuzzer_sys::fuzz_target;
use program::{Expression, Frame, Program, Rule};
use replay::oracle::Assertions;
use replay::story::{Hit, Target};
use replay::{Case, Expectation};

/// Names a program with debug information, in which expressions are evaluated.
const PROGRAM: &str = "WHYDUNIT_FUZZ_PROGRAM";

fn with_program<T>(use_it: impl FnOnce(&Program, u64) -> T) -> T {
    static CONTENT: OnceLock<Vec<u8>> = OnceLock::new();
    thread_local!(static PROGRAM_VIEW: Program = {
        let content = CONTENT.get_or_init(|| {
            let path = std::env::var_os(PROGRAM).unwrap_or_else(|| panic!("{PROGRAM} is not set"));
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        });
        ask::open(content.clone()).expect("the program is an executable")
    });
    PROGRAM_VIEW.with(|program| {
        let symbol = program.find_symbol("walk").expect("the program has the seed's functions");
        use_it(program, symbol.address + symbol.size / 2)
    })
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = Target::parse(text, Hit::Last);
    let mut case = Case::new("/p");
    case.oracle.expectations = vec![Expectation::Holds(text.to_owned())];
    let _ = Assertions::of(&case);
    let Ok(expression) = Expression::parse(text) else { return };
    for operand in expression.operands() {
        assert!(text.contains(operand.text()));
    }
    with_program(|program, address| {
        let code = [address];
        let state = ask::state_at(address, &code);
        let registers = *state.registers();
        let frame = Frame { address, lookup: address, registers, rule: Rule::Innermost };
        let _ = expression.evaluate(program, &state, &frame);
    });
});
