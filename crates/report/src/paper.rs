//! What text is written on: how wide it is, and whether it has colours.

/// How wide lines are where nobody knows better, and how narrow they get at the most.
const USUAL_WIDTH: usize = 100;
const LEAST_WIDTH: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    width: usize,
    has_colour: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Headline,
    Number,
    Place,
    Warning,
    Faint,
}

impl Paper {
    pub fn new(width: Option<usize>, has_colour: bool) -> Paper {
        Paper { width: width.unwrap_or(USUAL_WIDTH).max(LEAST_WIDTH), has_colour }
    }

    pub fn width(self) -> usize {
        self.width
    }

    pub fn paint(self, colour: Colour, text: &str) -> String {
        if !self.has_colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Headline => "1",
            Colour::Number => "36",
            Colour::Place => "34",
            Colour::Warning => "1;31",
            Colour::Faint => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A text in lines of at most `width` characters, broken at spaces where there are some.
    pub fn wrap(text: &str, width: usize) -> Vec<String> {
        let mut lines: Vec<String> = vec![String::new()];
        for word in text.split(' ') {
            let length = |text: &str| text.chars().count();
            let Some(line) = lines.last_mut() else { continue };
            if line.is_empty() {
                line.push_str(word);
            } else if length(line) + 1 + length(word) <= width {
                line.push(' ');
                line.push_str(word);
            } else {
                lines.push(word.to_owned());
            }
        }
        // What is not to be broken has spaces of its own.
        lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
    }

    /// A text that is cut if it is wider.
    pub fn cut(text: &str, width: usize) -> String {
        if text.chars().count() <= width {
            return text.to_owned();
        }
        let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
        cut.push('…');
        cut
    }

    /// A path that is cut if it is wider: its end says more than its beginning.
    pub fn end_of(path: &str, width: usize) -> String {
        let length = path.chars().count();
        if length <= width {
            return path.to_owned();
        }
        let end: String = path.chars().skip(length - width.saturating_sub(1)).collect();
        format!("…{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(Paper::wrap("a bc def", 4), ["a bc", "def"]);
        assert_eq!(Paper::wrap("abcdefgh i", 4), ["abcdefgh", "i"]);
        assert_eq!(Paper::wrap("a b\u{a0}= 1", 5), ["a b =", "1"]);
        assert_eq!(Paper::cut("abcdef", 4), "abc…");
        assert_eq!(Paper::cut("ab", 4), "ab");
        assert_eq!(Paper::end_of("dir/a.c:3", 6), "…a.c:3");
        assert_eq!(Paper::end_of("a.c:3", 5), "a.c:3");
    }

    #[test]
    fn without_colour_nothing_is_added() {
        assert_eq!(Paper::new(None, false).paint(Colour::Number, "1"), "1");
        assert_eq!(Paper::new(None, true).paint(Colour::Number, "1"), "\x1b[36m1\x1b[0m");
    }
}
