//! Names that somebody may have meant.

/// How many names a message suggests.
const MOST_SUGGESTED: usize = 3;

/// Of some names those that are close to `wanted`, the closest first.
pub(crate) fn nearest<'a>(names: impl IntoIterator<Item = &'a str>, wanted: &str) -> Vec<String> {
    let most = wanted.chars().count() / 3 + 1;
    let mut close: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| {
            let same = name.eq_ignore_ascii_case(wanted);
            (if same { 0 } else { edit_distance(name, wanted, most) }, name)
        })
        .filter(|(distance, _)| *distance <= most)
        .collect();
    close.sort();
    close.dedup();
    close.into_iter().take(MOST_SUGGESTED).map(|(_, name)| name.to_owned()).collect()
}

/// `; did you mean …?`, or nothing.
pub(crate) fn suggestion(close: &[String]) -> String {
    match close.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; did you mean `{last}`?"),
        Some((last, others)) => format!("; did you mean `{}` or `{last}`?", others.join("`, `")),
    }
}

/// Levenshtein's distance; anything above `most` may be returned as `most + 1`.
pub(crate) fn edit_distance(a: &str, b: &str, most: usize) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    let b: Vec<u8> = b.bytes().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
