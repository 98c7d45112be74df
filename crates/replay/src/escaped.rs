//! Bytes that are most likely a text, made fit to be shown.

/// As a programmer writes it between quotation marks: what is no character and what cannot be seen is written out.
pub fn escaped(bytes: &[u8]) -> String {
    chunks(bytes, |text| {
        text.split('\'').map(|part| part.escape_debug().to_string()).collect::<Vec<_>>().join("'")
    })
}

/// The same for a text that is shown as it is; only what is no character is written out.
pub fn without_wrong_bytes(bytes: &[u8]) -> String {
    chunks(bytes, str::to_owned)
}

fn chunks(bytes: &[u8], shown: impl Fn(&str) -> String) -> String {
    let chunk = |chunk: std::str::Utf8Chunk<'_>| {
        let wrong: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("{}{wrong}", shown(chunk.valid()))
    };
    bytes.utf8_chunks().map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_as_they_are_written() {
        assert_eq!(escaped(b"a\t\"b\"\n"), r#"a\t\"b\"\n"#);
        assert_eq!(escaped(b"it's"), "it's");
        assert_eq!(escaped("é".as_bytes()), "é");
        assert_eq!(escaped(b"a\xffb"), r"a\xffb");
        assert_eq!(without_wrong_bytes(b"\"a\"\xff"), "\"a\"\\xff");
    }
}
