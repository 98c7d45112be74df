//! What programs print when they give up.

use crate::failure::{Abort, AbortKind, StatedPosition};

/// Messages are looked for in so much of the end of standard error.
const LONGEST_END: usize = 1 << 16;

/// What the end of standard error says about why the program gave up.
pub(super) fn abort_message(stderr: &[u8]) -> Option<Abort> {
    let end = stderr.get(stderr.len().saturating_sub(LONGEST_END)..).unwrap_or_default();
    let text = String::from_utf8_lossy(end);
    let lines: Vec<&str> = text.lines().collect();
    // The last one counts: a program may survive others.
    (0..lines.len()).rev().find_map(|index| {
        let (line, after) = lines.get(index..)?.split_first()?;
        assertion(line)
            .or_else(|| panic(line, after))
            .or_else(|| exception(line, after))
            .or_else(|| check(line))
    })
}

/// The status with which a panic of Rust ends a program.
pub(super) const PANIC_STATUS: i32 = 101;

/// ``prog: file.c:12: function: Assertion `x > 0' failed.``
fn assertion(line: &str) -> Option<Abort> {
    let (before, message) = line.split_once(": Assertion `")?;
    let message = message.strip_suffix("' failed.")?;
    let position = stated_position(before);
    Some(Abort { by: AbortKind::Assertion, message: Some(message.to_owned()), position })
}

/// `prog: file.c:12: function`, where the function can have colons of its own.
fn stated_position(text: &str) -> Option<StatedPosition> {
    let mut parts = text.split(": ");
    let position = parts.find_map(|part| {
        let (file, line) = part.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    });
    let (file, line) = position?;
    let function = parts.collect::<Vec<_>>().join(": ");
    let function = Some(function).filter(|function| !function.is_empty());
    Some(StatedPosition { file, line, column: None, function })
}

/// `thread 'main' panicked at src/x.rs:3:5:` and the message in the lines after it, or, until Rust 1.72,
/// `thread 'main' panicked at 'message', src/x.rs:3:5`.
fn panic(line: &str, after: &[&str]) -> Option<Abort> {
    let rest = line.strip_prefix("thread '")?.split_once(" panicked at ")?.1;
    let (message, position) = match rest.rsplit_once("', ") {
        Some((message, position)) if rest.starts_with('\'') => {
            (message.trim_start_matches('\'').to_owned(), position)
        }
        _ => {
            let is_note = |line: &&&str| !line.starts_with("note: ") && !line.starts_with("stack backtrace:");
            let lines: Vec<&str> = after.iter().take_while(is_note).copied().collect();
            (lines.join("\n").trim_end().to_owned(), rest.strip_suffix(':').unwrap_or(rest))
        }
    };
    let mut parts = position.rsplitn(3, ':');
    let (column, line, file) = (parts.next(), parts.next(), parts.next());
    let position = file.zip(line.and_then(|line| line.parse().ok())).map(|(file, line)| StatedPosition {
        file: file.to_owned(),
        line,
        column: column.and_then(|column| column.parse().ok()),
        function: None,
    });
    Some(Abort { by: AbortKind::Panic, message: Some(message), position })
}

/// `terminate called after throwing an instance of 'std::out_of_range'`, and what it says in the next line.
fn exception(line: &str, after: &[&str]) -> Option<Abort> {
    let rest = line.strip_prefix("terminate called ")?;
    let mut message = match rest.strip_prefix("after throwing an instance of '") {
        Some(kind) => kind.trim_end_matches('\'').to_owned(),
        None => rest.to_owned(),
    };
    if let Some(what) = after.first().and_then(|line| line.trim_start().strip_prefix("what():")) {
        message = format!("{message}: {}", what.trim());
    }
    Some(Abort { by: AbortKind::Exception, message: Some(message), position: None })
}

/// What glibc says before it aborts: `*** stack smashing detected ***: terminated`, `free(): invalid pointer`.
fn check(line: &str) -> Option<Abort> {
    const HEAP: [&str; 6] = [
        "free(): ",
        "malloc(): ",
        "realloc(): ",
        "double free or corruption",
        "munmap_chunk(): ",
        "corrupted ",
    ];
    let message = match line.strip_prefix("*** ") {
        Some(message) => message.strip_suffix(" ***: terminated")?,
        None if HEAP.iter().any(|start| line.starts_with(start)) => line,
        None => return None,
    };
    Some(Abort { by: AbortKind::LibraryCheck, message: Some(message.to_owned()), position: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(stderr: &str, by: AbortKind, message: &str, position: Option<&str>) -> Abort {
        let found = abort_message(stderr.as_bytes()).unwrap();
        assert_eq!((found.by, found.message.as_deref()), (by, Some(message)));
        assert_eq!(found.position.as_ref().map(ToString::to_string).as_deref(), position);
        found
    }

    #[test]
    fn assertions_of_c_and_cpp_are_read() {
        let text = "noise\nprog: src/list.c:12: push: Assertion `n > 0 && \"a: b\"' failed.\n";
        let found = check_text(text, AbortKind::Assertion, "n > 0 && \"a: b\"", Some("src/list.c:12"));
        assert_eq!(found.position.unwrap().function.as_deref(), Some("push"));
        let text = "x: a.cc:3: int A::f(int): Assertion `false' failed.\nmore\n";
        let found = check_text(text, AbortKind::Assertion, "false", Some("a.cc:3"));
        assert_eq!(found.position.unwrap().function.as_deref(), Some("int A::f(int)"));
    }

    #[test]
    fn panics_of_rust_are_read_in_both_forms() {
        let new = "\nthread 'main' (77) panicked at src/x.rs:3:5:\nindex out of\nbounds\nnote: run with\n";
        check_text(new, AbortKind::Panic, "index out of\nbounds", Some("src/x.rs:3:5"));
        let old = "thread 'main' panicked at 'it's bad, really', src/x.rs:3:5\nnote: run with\n";
        check_text(old, AbortKind::Panic, "it's bad, really", Some("src/x.rs:3:5"));
    }

    #[test]
    fn exceptions_and_checks_of_the_library_are_read() {
        let text = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  far out\n";
        check_text(text, AbortKind::Exception, "std::out_of_range: far out", None);
        check_text(
            "terminate called without an active exception\n",
            AbortKind::Exception,
            "without an active exception",
            None,
        );
        check_text(
            "*** stack smashing detected ***: terminated\n",
            AbortKind::LibraryCheck,
            "stack smashing detected",
            None,
        );
        check_text("free(): invalid pointer\n", AbortKind::LibraryCheck, "free(): invalid pointer", None);
        assert_eq!(abort_message(b"all is well\n"), None);
        assert_eq!(abort_message(b""), None);
    }

    #[test]
    fn the_last_message_counts() {
        let text = "p: a.c:1: f: Assertion `a' failed.\np: a.c:2: f: Assertion `b' failed.\n";
        check_text(text, AbortKind::Assertion, "b", Some("a.c:2"));
    }
}
