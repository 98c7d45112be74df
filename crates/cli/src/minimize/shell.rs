//! Words as a shell reads them.

/// A word that a shell takes as these bytes.
pub fn quote(word: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./=:,+@%".contains(byte);
    match std::str::from_utf8(word) {
        Ok(text) if !word.is_empty() && word.iter().all(is_plain) => text.to_owned(),
        Ok(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        // Escapes by number have a fixed length, so that digits behind them are digits.
        _ => {
            let escaped = word.iter().map(|byte| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
                b' '..=b'~' => char::from(*byte).to_string(),
                _ => format!("\\x{byte:02x}"),
            });
            format!("$'{}'", escaped.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let words: [&[u8]; 9] = [
            b"plain-1.txt",
            b"",
            b"two words",
            b"it's",
            b"$HOME `x` \"y\" \\n *",
            b"a\nb\t1",
            b"\xff\x01" as &[u8],
            "größe".as_bytes(),
            b"\n'\\5",
        ];
        for word in words {
            let script = format!("printf %s {}", quote(word));
            let output = Command::new("bash")
                .arg("-c")
                .arg(std::ffi::OsStr::from_bytes(script.as_bytes()))
                .output()
                .unwrap();
            assert_eq!(output.stdout, word, "{script}");
        }
        assert_eq!(quote(b"a-b.c"), "a-b.c");
    }
}
