//! What a fix changes: the lines that a description names are typed by hand, and are held against it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tree_sitter::Parser;

use super::{Case, Lines};

/// A named line may be this far from what is changed: a statement is longer than what is wrong with it.
const SLACK: usize = 1;

/// What is wrong with the lines that a description names, a sentence each. `buggy` and `fixed` are the source directories.
pub fn complaints(case: &Case, buggy: &Path, fixed: &Path) -> Result<Vec<String>> {
    let changes = changes(case, buggy, fixed)?;
    let named: Vec<&Lines> =
        case.lines.iter().chain(case.besides.iter().map(|besides| &besides.lines)).collect();
    let untouched = named
        .iter()
        .filter(|lines| !changes.iter().any(|change| meet(lines, change)))
        .map(|lines| format!("the fix does not touch {}", told(lines)));
    let unnamed = changes
        .iter()
        .filter(|change| !named.iter().any(|lines| meet(lines, change)))
        .map(|change| format!("the fix changes {}, and nothing is said of it", told(change)));
    Ok(untouched.chain(unnamed).collect())
}

fn meet(lines: &Lines, change: &Lines) -> bool {
    lines.file == change.file && lines.first <= change.last + SLACK && change.first <= lines.last + SLACK
}

fn told(lines: &Lines) -> String {
    format!("{}:{}-{}", lines.file.display(), lines.first, lines.last)
}

/// The lines of C before the fix that it changes, or that it inserts something between. Comments do not count, nor
/// layout, nor declarations that are only added.
fn changes(case: &Case, buggy: &Path, fixed: &Path) -> Result<Vec<Lines>> {
    let patch = buggy.join("debian/patches").join(&case.fix);
    let patch = fs::read(&patch).with_context(|| format!("{} cannot be read", patch.display()))?;
    let mut changes = Vec::new();
    for file in patched(&String::from_utf8_lossy(&patch)) {
        let read = |directory: &Path| {
            let path = directory.join(&file);
            let text = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            Ok::<_, anyhow::Error>(without_comments(&String::from_utf8_lossy(&text)))
        };
        let (old, new) = (read(buggy)?, read(fixed)?);
        for hunk in hunks(&difference(&old, &new)?)?.iter().filter(|hunk| hunk.matters()) {
            let (first, last) = hunk.lines(&old);
            changes.push(Lines { file: file.clone(), first, last });
        }
    }
    Ok(changes)
}

/// The C files of a patch, without the first part of their paths.
fn patched(patch: &str) -> BTreeSet<PathBuf> {
    let names = patch.lines().filter_map(|line| line.strip_prefix("+++ ")?.split_whitespace().next());
    let files = names.map(|name| Path::new(name).components().skip(1).collect::<PathBuf>());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "c" || extension == "h"))
        .collect()
}

/// Spaces in place of comments, so that lines keep their numbers.
fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut code = String::with_capacity(text.len());
    while let Some(next) = rest.chars().next() {
        let (length, is_comment) = match next {
            '/' if rest.starts_with("/*") => (rest[2..].find("*/").map_or(rest.len(), |end| end + 4), true),
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), true),
            '"' | '\'' => (literal(rest, next), false),
            _ => (next.len_utf8(), false),
        };
        let (part, behind) = rest.split_at(length);
        if is_comment {
            code.extend(part.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        } else {
            code.push_str(part);
        }
        rest = behind;
    }
    code
}

/// The length of a string or character, which ends with its line at the latest unless a backslash is before the end.
fn literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (index, letter) in text.char_indices().skip(1) {
        if !is_escaped && (letter == quote || letter == '\n') {
            return index + 1;
        }
        is_escaped = !is_escaped && letter == '\\';
    }
    text.len()
}

/// As `diff` tells it, without context, blank lines and changes of spaces.
fn difference(old: &str, new: &str) -> Result<String> {
    let place = tempfile::tempdir().context("no directory can be made for a comparison")?;
    for (name, text) in [("old", old), ("new", new)] {
        fs::write(place.path().join(name), text).context("a comparison cannot be written")?;
    }
    let output = Command::new("diff")
        .args(["-U0", "-w", "-B", "old", "new"])
        .current_dir(&place)
        .output()
        .context("diff cannot be run")?;
    ensure!(matches!(output.status.code(), Some(0 | 1)), "diff fails");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What stands in place of some lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// Where it begins; if nothing is removed, the line before.
    start: usize,
    removed: Vec<String>,
    added: Vec<String>,
}

fn hunks(difference: &str) -> Result<Vec<Hunk>> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in difference.lines().skip_while(|line| !line.starts_with("@@")) {
        if let Some(place) = line.strip_prefix("@@ -") {
            let start = place.split([',', ' ']).next().unwrap_or_default();
            let start = start.parse().with_context(|| format!("diff says {line}"))?;
            hunks.push(Hunk { start, ..Hunk::default() });
        } else if let Some(hunk) = hunks.last_mut() {
            let (lines, text) = match line.strip_prefix('-') {
                Some(text) => (&mut hunk.removed, text),
                None => (&mut hunk.added, line.strip_prefix('+').unwrap_or_default()),
            };
            lines.push(text.to_owned());
        }
    }
    Ok(hunks)
}

impl Hunk {
    /// Of an insertion the line before and the next one that is not empty.
    fn lines(&self, old: &str) -> (usize, usize) {
        if !self.removed.is_empty() {
            return (self.start, self.start + self.removed.len() - 1);
        }
        let empty = old.lines().skip(self.start).take_while(|line| line.trim().is_empty()).count();
        (self.start.max(1), self.start + empty + 1)
    }

    /// False of other braces and line breaks, and of new declarations.
    fn matters(&self) -> bool {
        let code = |lines: &[String]| -> String {
            lines
                .concat()
                .chars()
                .filter(|letter| !letter.is_whitespace() && !"{}".contains(*letter))
                .collect()
        };
        let (removed, added) = (code(&self.removed), code(&self.added));
        removed != added && !(removed.is_empty() && are_declarations(&self.added.join("\n")))
    }
}

fn are_declarations(text: &str) -> bool {
    let mut parser = Parser::new();
    let is_ready = parser.set_language(&tree_sitter_c::LANGUAGE.into()).is_ok();
    let Some(tree) = parser.parse(format!("{text}\n"), None).filter(|_| is_ready) else { return false };
    let root = tree.root_node();
    let declares = |kind: &str| kind == "declaration" || kind.starts_with("preproc_");
    !root.has_error() && root.children(&mut root.walk()).all(|node| declares(node.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_lines_stay() {
        let text = "a /* b\n\"c */ \"/* d\\\" */\" // e\n'\"' /* f */ g\n";
        let code = without_comments(text);
        assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "\"/*", "d\\\"", "*/\"", "'\"'", "g"]);
        assert_eq!(code.lines().count(), text.lines().count());
    }

    fn changed(old: &str, new: &str) -> Vec<(usize, usize)> {
        let (old, new) = (without_comments(old), without_comments(new));
        let hunks = hunks(&difference(&old, &new).unwrap()).unwrap();
        hunks.iter().filter(|hunk| hunk.matters()).map(|hunk| hunk.lines(&old)).collect()
    }

    #[test]
    fn a_change_is_where_something_was_and_an_insertion_between_two_lines() {
        let old = "int f(int a)\n{\n    g();\n\n    /* why */\n    return a;\n}\n";
        assert_eq!(changed(old, &old.replace("return a", "return b")), [(6, 6)]);
        assert_eq!(changed(old, &old.replace("g();", "g();\n    h();")), [(3, 6)]);
        assert_eq!(changed(old, &old.replace("    g();\n", "")), [(3, 3)]);
    }

    #[test]
    fn comments_layout_and_new_declarations_are_no_changes() {
        let old = "/* one\n   1990 */\nint f(int a)\n{\n    return a;\n}\n";
        for (from, to) in [
            ("1990", "1991"),
            ("    return", "\treturn"),
            ("    return a;\n", "    {\n        return\n            a;\n    }\n"),
            ("{\n", "{\n    long b;\n"),
            ("int f", "#include <stdio.h>\n#define B(c) ((c) + 1)\n\nint f"),
        ] {
            assert_eq!(changed(old, &old.replace(from, to)), [], "{to}");
        }
        assert_eq!(changed(old, &old.replace("    return", "    g(a);\n    return")), [(4, 5)]);
    }

    #[test]
    fn the_c_files_of_a_patch_are_found() {
        let patch = "--- a/x/one.c\t2001\n+++ b/x/one.c\t2002\n@@ -1 +1 @@\n+++ b/two.h\n+++ b/check.t\n";
        assert_eq!(patched(patch), ["two.h", "x/one.c"].map(PathBuf::from).into());
    }
}
