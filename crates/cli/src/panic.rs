//! A panic is a bug in whydunit, and says so: nobody should look for it in their own program.

use std::io::Write;

use crate::exit_code;

pub fn install_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let text = format!(
            "whydunit: this is a bug in whydunit, not in your program\n  {panic}\n\
             Please report it with the lines above, the command, and the program if you can share it:\n  \
             whydunit {}: {}\n",
            env!("CARGO_PKG_VERSION"),
            words.join(" "),
        );
        // Standard error may be closed; then there is nobody to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
        std::process::exit(exit_code::FAILED.into());
    }));
}
