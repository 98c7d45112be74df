//! Backtraces that programs print when they panic: made inside of the machine, they take a thousand times as long as the run that is
//! looked at, and tell less than what is found out here.

use std::os::unix::ffi::OsStrExt;

use replay::Case;

use crate::args::GuestArguments;
use crate::streams::tell;

/// What asks a program in Rust for backtraces.
const VARIABLES: [&str; 2] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// Keeps from a program in Rust that its panics are to be told with backtraces, and says so; unless that was asked for here.
pub fn keep_from(case: &mut Case, guest: &GuestArguments) {
    for name in VARIABLES {
        let is_it = |entry: &[u8]| {
            entry.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"=") && rest != b"=0")
        };
        let is_asked_for = guest.environment.iter().any(|entry| entry.name.as_bytes() == name.as_bytes());
        if !case.env.iter().any(|entry| is_it(entry)) || is_asked_for || !knows(case, name) {
            continue;
        }
        case.env.retain(|entry| !is_it(entry));
        tell(&format!(
            "whydunit: the program does not get {name}, since backtraces take long and are not needed here; --env {name}=1 gives it\n"
        ));
    }
}

/// Whether the program asks for the variable at all: its name is in the file then.
fn knows(case: &Case, name: &str) -> bool {
    let content = std::fs::read(case.program.as_path()).unwrap_or_default();
    content.windows(name.len()).any(|window| window == name.as_bytes())
}
