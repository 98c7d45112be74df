//! What a statement's text speaks of: the variables, fields and elements that it names. No more than words are looked
//! at, so that it works for what no parser understands, and for languages that look like C; whether a word means
//! something at that place is for the debug information to say.

/// Something that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// `list->count`, `a[i]`, `*p`
    pub text: String,
    /// It is given a value.
    pub is_assigned: bool,
    /// Its value is used: all but what a plain `=` assigns to.
    pub is_read: bool,
    /// It leads to something else that is named: an index, or a pointer that is followed.
    pub is_address: bool,
}

/// Deeper brackets are not looked into.
const DEEPEST: usize = 8;

/// In the order of the text, each once.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    scan(text, false, 0, &mut found);
    let mut all: Vec<Mention> = Vec::new();
    for mention in found {
        match all.iter_mut().find(|known| known.text == mention.text) {
            Some(known) => {
                known.is_assigned |= mention.is_assigned;
                known.is_read |= mention.is_read;
                known.is_address &= mention.is_address;
            }
            None => all.push(mention),
        }
    }
    all
}

/// The functions that the text of a statement calls, without their namespaces. `own` is the function that the statement is in,
/// whose head may be a part of the text.
pub(super) fn called<'a>(text: &'a str, own: Option<&str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let words = ["if", "while", "for", "switch", "return", "sizeof", "match"];
    let mut at = 0;
    while at < bytes.len() {
        if is_start(bytes[at]) {
            let end = word_end(bytes, at);
            let word = text.get(at..end).unwrap_or_default();
            let is_call = bytes.get(skip_space(bytes, end)) == Some(&b'(') && !words.contains(&word);
            if is_call && !(Some(word) == own && is_head(text, at)) {
                found.push(word);
            }
            at = end;
        } else {
            at = after_literal(bytes, at).unwrap_or(at + 1);
        }
    }
    found
}

/// The calls in a text, in its order: the name of each function without its namespaces, and all of the call.
pub(super) fn call_texts(text: &str) -> Vec<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut calls = Vec::new();
    let mut from = 0;
    for name in called(text, None) {
        // A name may stand in the text before as something else.
        let found = (from..bytes.len()).find(|at| {
            let rest = text.get(*at..).unwrap_or_default();
            let is_begin =
                at.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|one| !is_word(*one));
            let end = *at + name.len();
            is_begin && rest.starts_with(name) && bytes.get(skip_space(bytes, end)) == Some(&b'(')
        });
        let Some(at) = found else { continue };
        from = at + name.len();
        let close = closing(bytes, skip_space(bytes, from));
        let whole = close.and_then(|close| text.get(chain_start(bytes, at)..=close));
        calls.extend(whole.map(|whole| (name, whole)));
    }
    calls
}

/// Where that begins whose last part is the name at `at`: `list.items[2].name`, `ns::name`, `f(x).name`.
fn chain_start(bytes: &[u8], at: usize) -> usize {
    let mut start = at;
    loop {
        let before = bytes.get(..start).unwrap_or_default();
        let joint = [&b"."[..], b"->", b"::"].into_iter().find(|joint| before.ends_with(joint));
        let Some(joint) = joint else { return start };
        let mut begin = start - joint.len();
        let mut depth = 0usize;
        while let Some(byte) = begin.checked_sub(1).and_then(|at| bytes.get(at)) {
            match byte {
                b')' | b']' => depth += 1,
                b'(' | b'[' if depth == 0 => break,
                b'(' | b'[' => depth -= 1,
                byte if depth == 0 && !is_word(*byte) => break,
                _ => {}
            }
            begin -= 1;
        }
        if begin + joint.len() == start {
            return start;
        }
        start = begin;
    }
}

/// Whether a function's name stands in its head: a type comes before it, or nothing does and no statement follows.
fn is_head(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end().trim_end_matches(['*', '&']).trim_end();
    match before.bytes().last() {
        None => !text.trim_end().ends_with(';'),
        Some(byte) => is_word(byte) && !before.ends_with("return") && !before.ends_with("else"),
    }
}

/// Where what is no variable ends that begins with a word: a type's name after `struct`, all that `sizeof` is about.
fn after_other(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = word_end(bytes, at);
    let next = skip_space(bytes, end);
    match text.get(at..end)? {
        "struct" | "union" | "enum" | "class" => Some(word_end(bytes, next)),
        "sizeof" if bytes.get(next) == Some(&b'(') => {
            let rest = bytes.get(next..)?;
            Some(next + rest.iter().position(|byte| *byte == b')').map_or(rest.len(), |at| at + 1))
        }
        "sizeof" => {
            let stars = bytes.get(next..)?.iter().take_while(|byte| **byte == b'*').count();
            Some(word_end(bytes, next + stars))
        }
        _ => None,
    }
}

fn scan(text: &str, is_address: bool, depth: usize, found: &mut Vec<Mention>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = after_literal(bytes, at) {
            at = end;
        } else if !is_start(bytes[at]) {
            at += 1;
        } else if let Some(end) = after_other(text, at) {
            at = end.max(at + 1);
        } else {
            at = chain(text, at, is_address, depth, found);
        }
    }
}

/// A name with what follows it: fields and elements. Returns where it ends.
fn chain(text: &str, start: usize, is_address: bool, depth: usize, found: &mut Vec<Mention>) -> usize {
    let bytes = text.as_bytes();
    let mut end = word_end(bytes, start);
    let mut inner: Vec<&str> = Vec::new();
    let mut pointers: Vec<&str> = Vec::new();
    // Where the last part begins, in case it is a method.
    let mut before_last = start;
    loop {
        let next = skip_space(bytes, end);
        let rest = bytes.get(next..).unwrap_or_default();
        let (length, is_arrow) = match rest {
            [b'-', b'>', ..] => (2, true),
            [b':', b':', ..] => (2, false),
            [b'.', b'.', ..] => break,
            [b'.', ..] => (1, false),
            [b'[', ..] => {
                let Some(close) = closing(bytes, next) else { break };
                inner.extend(text.get(next + 1..close));
                pointers.extend(text.get(start..end));
                (before_last, end) = (end, close + 1);
                continue;
            }
            _ => break,
        };
        let name = skip_space(bytes, next + length);
        if !bytes.get(name).is_some_and(|byte| is_start(*byte)) {
            break;
        }
        if is_arrow {
            pointers.extend(text.get(start..end));
        }
        (before_last, end) = (end, word_end(bytes, name));
    }
    let after = skip_space(bytes, end);
    let is_call = matches!(bytes.get(after), Some(b'(' | b'!')) && bytes.get(after + 1) != Some(&b'=');
    let named_end = if is_call { before_last } else { end };
    let named = text.get(start..named_end).unwrap_or_default();
    if !named.is_empty() {
        let assigned = assignment(bytes, start, end).filter(|_| !is_call);
        let is_assigned = assigned.is_some();
        let is_declarator = is_declarator(text, start);
        let ends = matches!(bytes.get(after), None | Some(b',' | b';'));
        let is_declared = !is_assigned && is_declarator && ends;
        // There the brackets say how many elements there are.
        let mut named = named;
        if is_declarator && (is_declared || assigned == Some(Assignment::Plain)) {
            named = named.split('[').next().unwrap_or_default().trim_end();
            pointers.clear();
        }
        let stars = if is_declared { 0 } else { stars(bytes, start) };
        let is_read = assigned != Some(Assignment::Plain) && !is_declared;
        let mut add = |text: String, is_assigned, is_read, is_address| {
            found.push(Mention { text, is_assigned, is_read, is_address });
        };
        match stars {
            0 => add(named.to_owned(), is_assigned, is_read, is_address),
            stars => {
                // `*to++ = x` gives both a value.
                let is_step = assigned == Some(Assignment::Step);
                let of_target = if is_step { assignment(bytes, 0, after + 2) } else { assigned };
                let target = format!("{}{named}", "*".repeat(stars));
                add(target, of_target.is_some(), of_target != Some(Assignment::Plain), is_address);
                add(named.to_owned(), is_step, true, true);
            }
        }
        pointers.iter().for_each(|pointer| add((*pointer).to_owned(), false, true, true));
    }
    if depth < DEEPEST {
        inner.into_iter().for_each(|text| scan(text, true, depth + 1, found));
    }
    end.max(start + 1)
}

/// Words that statements begin with which are no declarations.
const VERBS: [&str; 8] = ["return", "else", "goto", "case", "delete", "throw", "new", "in"];

/// Whether a name stands where names are declared, as `x` in `int sum = 0, x;`.
fn is_declarator(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes();
    let begin = skip_space(bytes, 0);
    let first = word_end(bytes, begin);
    let second = skip_space(bytes, first);
    let is_declaration = first > begin
        && bytes.get(second).is_some_and(|byte| is_start(*byte) || *byte == b'*')
        && !VERBS.contains(&text.get(..first).unwrap_or_default().trim());
    let before = bytes.get(..start).unwrap_or_default();
    let count = |wanted: u8| before.iter().filter(|byte| **byte == wanted).count();
    let is_inside = count(b'(') > count(b')') || count(b'{') > count(b'}');
    // Nothing but a type and stars stands between it and the name before.
    let comma = before.iter().rposition(|byte| *byte == b',').map_or(0, |at| at + 1);
    let between = before.get(comma..).unwrap_or_default();
    let follows = between.iter().all(|byte| is_word(*byte) || byte.is_ascii_whitespace() || *byte == b'*');
    is_declaration && !is_inside && follows && start > 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assignment {
    /// `=`
    Plain,
    /// `+=` and the like
    Compound,
    /// `++` and `--`
    Step,
}

/// How what stands between two places is assigned to.
fn assignment(bytes: &[u8], start: usize, end: usize) -> Option<Assignment> {
    let mut after = skip_space(bytes, end);
    // A type may follow the name, as in Rust.
    if bytes.get(after) == Some(&b':') && bytes.get(after + 1) != Some(&b':') {
        // What a loop over a range names is given its values.
        if bytes.trim_ascii_start().starts_with(b"for") {
            return Some(Assignment::Plain);
        }
        let rest = bytes.get(after..).unwrap_or_default();
        let until = rest.iter().position(|byte| matches!(byte, b'=' | b';' | b',' | b')' | b'{' | b'?'));
        after += until.unwrap_or(0);
    }
    let rest = bytes.get(after..).unwrap_or_default();
    match rest {
        [b'=', b'=' | b'>', ..] => None,
        [b'=', ..] => Some(Assignment::Plain),
        [b'+', b'+', ..] | [b'-', b'-', ..] => Some(Assignment::Step),
        [b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^', b'=', ..] => Some(Assignment::Compound),
        [b'<', b'<', b'=', ..] | [b'>', b'>', b'=', ..] => Some(Assignment::Compound),
        _ => {
            let before = bytes.get(..start).unwrap_or_default().trim_ascii_end();
            let is_step = before.ends_with(b"++") || before.ends_with(b"--");
            is_step.then_some(Assignment::Step)
        }
    }
}

/// How many stars before a name follow it as a pointer; a declaration's and a multiplication's do not.
fn stars(bytes: &[u8], start: usize) -> usize {
    let before = bytes.get(..start).unwrap_or_default().trim_ascii_end();
    let count = before.iter().rev().take_while(|byte| **byte == b'*').count();
    let rest = before.get(..before.len() - count).unwrap_or_default();
    let is_return = rest.trim_ascii_end().ends_with(b"return");
    match rest.trim_ascii_end().last() {
        Some(byte) if is_word(*byte) || matches!(byte, b')' | b']' | b'*') => {
            if is_return {
                count
            } else {
                0
            }
        }
        _ => count,
    }
}

fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_start(byte) || byte.is_ascii_digit()
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| is_word(**byte)).count()
}

fn skip_space(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Where a text, a character or a number ends that begins here.
fn after_literal(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = *bytes.get(at)?;
    if quote.is_ascii_digit() {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
        return Some(at + length);
    }
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        end += match byte {
            b'\\' => 2,
            byte if *byte == quote => return Some(end + 1),
            _ => 1,
        };
    }
    // A lifetime of Rust, or a text that was cut.
    Some(if quote == b'\'' { at + 1 } else { bytes.len() })
}

/// Where the bracket or parenthesis ends that begins at `open`.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let (begin, end) = match bytes.get(open)? {
        b'(' => (b'(', b')'),
        _ => (b'[', b']'),
    };
    let (mut depth, mut at) = (0usize, open);
    while let Some(byte) = bytes.get(at) {
        if let Some(end) = after_literal(bytes, at) {
            at = end;
            continue;
        }
        match byte {
            byte if *byte == begin => depth += 1,
            byte if *byte == end && depth == 1 => return Some(at),
            byte if *byte == end => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `=` for what is assigned, `?` for what is read, `@` for addresses.
    fn marked(text: &str) -> Vec<String> {
        let mark = |mention: Mention| {
            let marks = [(mention.is_assigned, "="), (mention.is_read, "?"), (mention.is_address, "@")];
            let marks: String = marks.iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| *mark).collect();
            format!("{}{marks}", mention.text)
        };
        mentions(text).into_iter().map(mark).collect()
    }

    #[test]
    fn assignments_are_told_from_uses() {
        assert_eq!(marked("area = b * c / 2.0;"), ["area=", "b?", "c?"]);
        assert_eq!(marked("sum += a[i];"), ["sum=?", "a[i]?", "a?@", "i?@"]);
        assert_eq!(marked("if (x == y && !done)"), ["x?", "y?", "done?"]);
        assert_eq!(marked("i++"), ["i=?"]);
        assert_eq!(marked("--n;"), ["n=?"]);
        assert_eq!(marked("let x: u32 = y"), ["let?", "x=", "u32=", "y?"]);
    }

    #[test]
    fn the_brackets_of_a_declaration_are_no_index() {
        assert_eq!(marked("int sum[N], seen[N + 1] = {0};"), ["int?", "sum", "N?@", "seen="]);
        assert_eq!(marked("names[2] = \"two\";")[0], "names[2]=");
        assert_eq!(marked("int x = a[i];")[..3], ["int?", "x=", "a[i]?"]);
    }

    #[test]
    fn fields_elements_and_pointers_are_followed() {
        assert_eq!(
            marked("p->next = list->head[2].x;"),
            ["p->next=", "p?@", "list->head[2].x?", "list?@", "list->head?@"]
        );
        assert_eq!(marked("*to++ = *from;"), ["*to=", "to=?@", "*from?", "from?@"]);
        assert_eq!(marked("int *p = q * r;"), ["int?", "p=", "q?", "r?"]);
        assert_eq!(marked("return *p;"), ["return?", "*p?", "p?@"]);
        assert_eq!(marked("*p"), ["*p?", "p?@"]);
    }

    #[test]
    fn what_is_only_declared_is_not_read() {
        assert_eq!(marked("int sum = 0, x, *p;"), ["int?", "sum=", "x", "p"]);
        assert_eq!(marked("int area = width * height;"), ["int?", "area=", "width?", "height?"]);
        assert_eq!(marked("return x;"), ["return?", "x?"]);
        assert_eq!(marked("int y = f(a, b), c;"), ["int?", "y=", "a?", "b?", "c"]);
        assert_eq!(marked("for (int one : all)"), ["int?", "one=", "all?"]);
    }

    #[test]
    fn calls_and_texts_are_no_variables() {
        assert_eq!(marked("x = f(a, \"b c\", 'd', &e)"), ["x=", "a?", "e?"]);
        assert_eq!(marked("v.items.push(x)"), ["v.items?", "x?"]);
        assert_eq!(called("x = ns::f (g(1))", None), ["f", "g"]);
        assert!(called("if (a) return (b);", None).is_empty() && called("\"f(\"", None).is_empty());
    }

    #[test]
    fn calls_are_told_from_their_first_part_to_their_last() {
        let texts = |text| call_texts(text).into_iter().map(|(_, whole)| whole).collect::<Vec<_>>();
        assert_eq!(texts("strcmp(line, \"a)\") == 0"), ["strcmp(line, \"a)\")"]);
        assert_eq!(texts("!f(g(x), y[2])"), ["f(g(x), y[2])", "g(x)"]);
        assert_eq!(texts("p->list[i].size() > ns::least (2)"), ["p->list[i].size()", "ns::least (2)"]);
        assert_eq!(texts("line.trim().is_empty()"), ["line.trim()", "line.trim().is_empty()"]);
        assert_eq!(texts("size < size(a)"), ["size(a)"]);
        assert!(texts("f(").is_empty() && texts("a < b").is_empty());
    }

    #[test]
    fn the_head_of_a_function_is_no_call_of_it() {
        assert_eq!(called("static int f(int a) { return g(a); }", Some("f")), ["g"]);
        assert_eq!(called("explicit A(int b) : b_(b)", Some("A")), ["b_"]);
        assert_eq!(called("return f(a - 1);", Some("f")), ["f"]);
        assert_eq!(called("f(a);", Some("f")), ["f"]);
    }

    #[test]
    fn types_and_sizes_are_no_variables() {
        assert_eq!(marked("struct node *node = list"), ["node=", "list?"]);
        assert_eq!(marked("p = malloc(sizeof *p + sizeof(q) + n)"), ["p=", "n?"]);
    }

    #[test]
    fn any_text_is_taken() {
        for text in ["", "a[", "a[b[c]", "a->", "'", "\"", "****", "é[0].ß", "a..b", "x:", "a[[[[[[[[[[[[b"]
        {
            mentions(text);
            called(text, Some("a"));
            call_texts(text);
        }
    }
}
