//! `--source-map OLD=NEW`: where sources are now that were compiled elsewhere.

/// Rules that replace the beginning of a path; of several that fit, the one with the longest beginning
/// counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// Longest first; of two alike, the one that was given last.
    rules: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a source map has the form OLD=NEW, as in /build/sed=/home/me/sed")]
pub struct SourceMapError;

impl SourceMap {
    /// Adds a rule of the form `OLD=NEW`.
    pub fn add(&mut self, rule: &str) -> Result<(), SourceMapError> {
        let (old, new) = rule.split_once('=').ok_or(SourceMapError)?;
        let old = without_last_slash(old);
        if old.is_empty() {
            return Err(SourceMapError);
        }
        let at = self.rules.partition_point(|(other, _)| other.len() > old.len());
        self.rules.insert(at, (old.to_owned(), new.to_owned()));
        Ok(())
    }

    /// Where the file at `path` of the debug information is on this machine.
    pub fn apply(&self, path: &str) -> String {
        let replaced = self.rules.iter().find_map(|(old, new)| {
            let rest = path.strip_prefix(old.as_str())?;
            // Whole components only: /build/a says nothing about /build/abc.
            (rest.is_empty() || rest.starts_with('/') || old == "/").then(|| match rest {
                "" => new.clone(),
                _ => format!("{}/{}", without_last_slash(new), rest.trim_start_matches('/')),
            })
        });
        replaced.unwrap_or_else(|| path.to_owned())
    }
}

fn without_last_slash(path: &str) -> &str {
    path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rules: &[&str]) -> SourceMap {
        let mut map = SourceMap::default();
        for rule in rules {
            map.add(rule).unwrap();
        }
        map
    }

    #[test]
    fn the_longest_beginning_counts_whatever_the_order() {
        for rules in [["/b=/x", "/b/sed=/y"], ["/b/sed=/y", "/b=/x"]] {
            let map = map(&rules);
            assert_eq!(map.apply("/b/sed/a.c"), "/y/a.c");
            assert_eq!(map.apply("/b/grep/a.c"), "/x/grep/a.c");
            assert_eq!(map.apply("/c/a.c"), "/c/a.c");
        }
    }

    #[test]
    fn of_two_rules_for_one_beginning_the_last_counts() {
        assert_eq!(map(&["/b=/x", "/b=/y"]).apply("/b/a.c"), "/y/a.c");
    }

    #[test]
    fn only_whole_components_are_replaced() {
        let map = map(&["/b/sed/=/y/", "/w/a.c=b.c", ".=/here"]);
        assert_eq!(map.apply("/b/sed-2/a.c"), "/b/sed-2/a.c");
        assert_eq!(map.apply("/b/sed/a.c"), "/y/a.c");
        assert_eq!(map.apply("/w/a.c"), "b.c");
        assert_eq!(map.apply("./a.c"), "/here/a.c");
        assert_eq!(map.apply(".hidden"), ".hidden");
    }

    #[test]
    fn the_root_and_an_empty_new_place_can_be_given() {
        assert_eq!(map(&["/=/chroot"]).apply("/b/a.c"), "/chroot/b/a.c");
        assert_eq!(map(&["/b="]).apply("/b/a.c"), "/a.c");
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for wrong in ["", "a", "=b"] {
            assert_eq!(SourceMap::default().add(wrong), Err(SourceMapError), "{wrong}");
        }
    }
}
