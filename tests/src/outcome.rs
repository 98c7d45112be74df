//! What a program did as far as anybody outside can tell, and how two outcomes differ, said so that a person can act on it.

/// Output and exit status; a status of 128+n stands for death by signal n.
#[derive(Clone, PartialEq, Eq)]
pub struct Outcome {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: i32,
}

impl Outcome {
    /// Says how `guest`, run under whydunit, differs from this native outcome; None when it does not.
    pub fn difference(&self, guest: &Outcome) -> Option<String> {
        let mut found = Vec::new();
        let guests_stderr = without_own_lines(&guest.stderr);
        if self.status != guest.status {
            found.push(format!("status: native {}, whydunit {}", self.status, guest.status));
        }
        if let Some(text) = difference_of_bytes(&self.stdout, &guest.stdout) {
            found.push(format!("stdout: {text}"));
        }
        if let Some(text) = difference_of_bytes(&self.stderr, &guests_stderr) {
            found.push(format!("stderr: {text}"));
        }
        if found.is_empty() {
            return None;
        }
        let own = String::from_utf8_lossy(&guest.stderr);
        found.push(format!("whydunit's stderr in full:\n{}", excerpt(&own, 2000)));
        Some(found.join("\n"))
    }

    /// The lines in order of their text: for output whose order is the file system's business.
    pub fn with_sorted_lines(mut self) -> Outcome {
        let mut lines: Vec<&[u8]> = self.stdout.split_inclusive(|&b| b == b'\n').collect();
        lines.sort_unstable();
        self.stdout = lines.concat();
        self
    }

    /// The value of a `--stats` line such as `instructions: 1234`.
    pub fn statistic(&self, name: &str) -> Option<&str> {
        let stderr = std::str::from_utf8(&self.stderr).ok()?;
        stderr.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':').map(str::trim))
    }

    /// Whether whydunit itself fell over, whatever the guest did.
    pub fn panicked(&self) -> bool {
        self.stderr.windows(8).any(|window| window == b"panicked")
    }
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "status {}", self.status)?;
        writeln!(f, "stdout: {}", excerpt(&String::from_utf8_lossy(&self.stdout), 1000))?;
        write!(f, "stderr: {}", excerpt(&String::from_utf8_lossy(&self.stderr), 2000))
    }
}

/// The guest's own stderr: whydunit's messages are whole lines that start with its name, and the indented lines below them.
fn without_own_lines(stderr: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(stderr.len());
    let mut ours = false;
    for line in stderr.split_inclusive(|&b| b == b'\n') {
        ours = line.starts_with(b"whydunit: ") || ours && line.starts_with(b"  ");
        if !ours {
            kept.extend_from_slice(line);
        }
    }
    kept
}

fn difference_of_bytes(native: &[u8], guest: &[u8]) -> Option<String> {
    if native == guest {
        return None;
    }
    let at = native.iter().zip(guest).take_while(|(a, b)| a == b).count();
    let line = 1 + native.get(..at).unwrap_or_default().iter().filter(|&&b| b == b'\n').count();
    let from = native
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |n| n + 1)
        .max(at.saturating_sub(100));
    let show = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes.get(from..(at + 100).min(bytes.len())).unwrap_or_default()).into_owned()
    };
    Some(format!(
        "differs at byte {at} (line {line}); native has {} bytes, whydunit {}\n  native:   {:?}\n  whydunit: {:?}",
        native.len(),
        guest.len(),
        show(native),
        show(guest)
    ))
}

fn excerpt(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}… ({} bytes in all)", text.get(..cut).unwrap_or_default(), text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stdout: &str, stderr: &str, status: i32) -> Outcome {
        Outcome { stdout: stdout.into(), stderr: stderr.into(), status }
    }

    #[test]
    fn equal_outcomes_do_not_differ() {
        assert_eq!(outcome("a\n", "b\n", 1).difference(&outcome("a\n", "b\n", 1)), None);
    }

    #[test]
    fn status_stdout_and_stderr_each_make_a_difference() {
        let native = outcome("a\n", "b\n", 1);
        assert!(native.difference(&outcome("a\n", "b\n", 2)).is_some_and(|text| text.contains("status")));
        assert!(native.difference(&outcome("a", "b\n", 1)).is_some_and(|text| text.contains("stdout")));
        assert!(native.difference(&outcome("a\n", "c\n", 1)).is_some_and(|text| text.contains("stderr")));
    }

    #[test]
    fn whydunits_own_messages_are_not_the_guests() {
        let guest = outcome("", "before\nwhydunit: killed\n  at main\n  at start\nafter\n", 139);
        assert_eq!(outcome("", "before\nafter\n", 139).difference(&guest), None);
    }

    #[test]
    fn a_statistic_is_found_by_its_name() {
        let guest = outcome("", "noise\ninstructions: 123\nstate: 00ff\n", 0);
        assert_eq!(guest.statistic("instructions"), Some("123"));
        assert_eq!(guest.statistic("state"), Some("00ff"));
        assert_eq!(guest.statistic("blocks"), None);
    }
}
