//! HTML that cannot be broken by what it shows. Markup is written by [`Html::raw`], which takes nothing that was made at run time; all
//! else is text of others: programs choose their output, and whoever wrote a program its source and the names of its files.

/// A longer text is cut, so that a page can be opened whatever a program printed.
const LONGEST_TEXT: usize = 2000;

#[derive(Default)]
pub(crate) struct Html {
    page: String,
}

impl Html {
    pub fn finish(self) -> String {
        self.page
    }

    pub fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.page.push_str(markup);
        self
    }

    pub fn number(&mut self, number: impl Into<u64>) -> &mut Html {
        self.page.push_str(&number.into().to_string());
        self
    }

    /// A text, with what cannot be seen written out.
    pub fn text(&mut self, text: &str) -> &mut Html {
        self.text_within(text, LONGEST_TEXT)
    }

    pub fn text_within(&mut self, text: &str, most: usize) -> &mut Html {
        self.characters(text, most);
        self
    }

    /// A text that may be none: what is not UTF-8 is written out byte by byte.
    pub fn bytes_within(&mut self, bytes: &[u8], most: usize) -> &mut Html {
        let mut left = most;
        for chunk in bytes.utf8_chunks() {
            left = self.characters(chunk.valid(), left);
            for byte in chunk.invalid() {
                if left == 0 {
                    self.page.push('…');
                    return self;
                }
                self.written_out(&format!("\\x{byte:02x}"));
                left -= 1;
            }
        }
        self
    }

    /// The value of an attribute, between quotation marks that the caller writes.
    pub fn attribute(&mut self, text: &str) -> &mut Html {
        for character in text.chars().take(LONGEST_TEXT) {
            match is_unseen(character) {
                true => self.page.extend(character.escape_default()),
                false => self.character(character),
            }
        }
        self
    }

    /// Writes so many characters at the most, and says how many more would have been allowed.
    fn characters(&mut self, text: &str, most: usize) -> usize {
        let mut left = most;
        for character in text.chars() {
            if left == 0 {
                self.page.push('…');
                return 0;
            }
            left -= 1;
            match is_unseen(character) {
                true => self.written_out(&character.escape_default().to_string()),
                false => self.character(character),
            }
        }
        left
    }

    fn written_out(&mut self, text: &str) {
        self.raw("<span class=\"unseen\">");
        self.page.push_str(text);
        self.raw("</span>");
    }

    fn character(&mut self, character: char) {
        match character {
            '&' => self.page.push_str("&amp;"),
            '<' => self.page.push_str("&lt;"),
            '>' => self.page.push_str("&gt;"),
            '"' => self.page.push_str("&quot;"),
            '\'' => self.page.push_str("&#39;"),
            _ => self.page.push(character),
        }
    }
}

/// Whether a character has no look of its own, or changes how others look: control characters, what turns the direction of writing,
/// what has no width, and what browsers take for line breaks. A tab is white space.
fn is_unseen(character: char) -> bool {
    match character {
        '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        let mut html = Html::default();
        html.text(text);
        html.finish()
    }

    fn bytes(bytes: &[u8], most: usize) -> String {
        let mut html = Html::default();
        html.bytes_within(bytes, most);
        html.finish().replace("<span class=\"unseen\">", "[").replace("</span>", "]")
    }

    #[test]
    fn markup_in_a_text_is_text() {
        assert_eq!(
            text("</script><b a=\"1\" c='2'>&amp;"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(
            text("a\u{202e}b\u{0}\u{1b}\n"),
            "a<span class=\"unseen\">\\u{202e}</span>b<span class=\"unseen\">\\u{0}</span>\
             <span class=\"unseen\">\\u{1b}</span><span class=\"unseen\">\\n</span>"
        );
        for unseen in ['\u{200b}', '\u{2066}', '\u{2069}', '\u{2028}', '\u{feff}', '\u{85}', '\u{e0041}'] {
            assert!(!text(&unseen.to_string()).contains(unseen), "{unseen:?}");
        }
        assert_eq!(text("naïve\tשלום 𝛼"), "naïve\tשלום 𝛼");
    }

    #[test]
    fn an_attribute_holds_no_markup_at_all() {
        let mut html = Html::default();
        html.attribute("\"><script>\u{202e}\n");
        assert_eq!(html.finish(), "&quot;&gt;&lt;script&gt;\\u{202e}\\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_written_out() {
        assert_eq!(bytes(b"caf\xe9\xff<", 99), "caf[\\xe9][\\xff]&lt;");
        assert_eq!(bytes("é\u{fffd}".as_bytes(), 99), "é\u{fffd}");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(bytes(b"abcdef", 4), "abcd…");
        assert_eq!(bytes(b"ab\xff\xff\xffcd", 4), "ab[\\xff][\\xff]…");
        assert_eq!(bytes(b"abcd", 4), "abcd");
        assert_eq!(text(&"x".repeat(1 << 20)).chars().count(), LONGEST_TEXT + 1);
    }
}
