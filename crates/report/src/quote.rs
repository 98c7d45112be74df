//! Texts of others, made fit to be shown.

/// A text in quotation marks, with what would move a terminal's cursor written out.
pub fn quoted(text: &str) -> String {
    // What is within quotation marks may have the other kind as it is.
    let parts: Vec<String> = text.split('\'').map(|part| part.escape_debug().to_string()).collect();
    format!("\"{}\"", parts.join("'"))
}

/// A text without what would move a terminal's cursor.
pub fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// `a, b and c`
pub fn listed(parts: &[String]) -> String {
    match parts.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_and() {
        let list = |parts: &[&str]| listed(&parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(quoted("a\n\u{1b}[1m"), "\"a\\n\\u{1b}[1m\"");
        assert_eq!(plain("a\tb"), "a b");
    }

    #[test]
    fn only_the_quotation_marks_around_a_text_are_escaped_in_it() {
        assert_eq!(quoted("x='1'"), "\"x='1'\"");
        assert_eq!(quoted("\"\\'"), r#""\"\\'""#);
    }
}
