//! Constants that a C file names: debug information leaves out enumerations that are no variable's type,
//! though tables are indexed by them.

use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

/// The enumerators of a file whose values can be read off. A name with two values has none.
pub(super) fn enumerators(tree: &Tree, content: &[u8]) -> BTreeMap<String, u64> {
    let mut found: BTreeMap<String, Option<u64>> = BTreeMap::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let is_list = node.kind() == "enumerator_list";
        if is_list {
            read_list(node, content, &mut found);
        }
        if !is_list && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            }
        }
    }
}

/// Each is one more than the one before, unless it says otherwise.
fn read_list(list: Node<'_>, content: &[u8], found: &mut BTreeMap<String, Option<u64>>) {
    let mut next = Some(0u64);
    let mut cursor = list.walk();
    for child in list.named_children(&mut cursor) {
        match child.kind() {
            "comment" => continue,
            "enumerator" => {}
            // Conditional text: what follows depends on which branch was compiled.
            _ => {
                next = None;
                continue;
            }
        }
        let Some(name) = child.child_by_field_name("name").and_then(|name| text(name, content)) else {
            continue;
        };
        let value = match child.child_by_field_name("value") {
            Some(value) => {
                literal(value, content).or_else(|| found.get(text(value, content)?).copied().flatten())
            }
            None => next,
        };
        next = value.and_then(|value| value.checked_add(1));
        found
            .entry(name.to_owned())
            .and_modify(|known| *known = known.filter(|known| Some(*known) == value))
            .or_insert(value);
    }
}

/// The value of a number or a character.
pub(crate) fn literal(node: Node<'_>, content: &[u8]) -> Option<u64> {
    let text = text(node, content)?;
    match node.kind() {
        "number_literal" => {
            let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
            match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
                None => digits.parse().ok(),
            }
        }
        "char_literal" => match text.as_bytes() {
            [b'\'', byte, b'\''] if *byte != b'\\' && byte.is_ascii() => Some(u64::from(*byte)),
            _ => None,
        },
        _ => None,
    }
}

fn text<'a>(node: Node<'_>, content: &'a [u8]) -> Option<&'a str> {
    std::str::from_utf8(content.get(node.byte_range())?).ok()
}

#[cfg(test)]
mod tests {
    use crate::source::syntax::{Language, Syntax};

    #[test]
    fn enumerators_count_on_and_names_with_two_values_have_none() {
        let text = "enum { A, B = 'b', C, /* - */ D = 0x10, E = A, F, G = -1, H, I = 010u };\n\
                    void f(void) { enum { B = 5, A = 0, J = 7 }; }\nenum late { K = sizeof(int), L };";
        let syntax = Syntax::new(Language::C, text.as_bytes()).unwrap();
        let found = syntax.enumerators(text.as_bytes());
        let names: Vec<(&str, u64)> = found.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(names, [("A", 0), ("C", 99), ("D", 16), ("E", 0), ("F", 1), ("I", 8), ("J", 7)]);
    }
}
