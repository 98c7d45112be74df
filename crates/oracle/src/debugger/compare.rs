//! The two views side by side.
//!
//! Nothing may differ but for these normalisations, each with its reason:
//!
//! - [`RELATIVE`]: libraries of the distribution are built with a relative compilation directory, which gdb puts before names that
//!   have it already. Of relative names only the last part is compared.
//! - [`NO_LINE`]: code that the compiler says belongs to no line (line 0) gets from gdb the line of whatever code stands before
//!   it. We say that it is not known.
//! - [`SAME_ADDRESS`]: when a line table has several rows for one address, gdb prefers one that begins a statement, although the
//!   instruction belongs to the last. Any of the lines that gdb's own table has there will do.
//! - [`NOT_SAVED`]: a variable of a caller may be in a register that calls need not preserve, and that nobody saved. gdb shows what
//!   the register holds now, which is somebody else's. We say that it was not saved.
//! - [`CONSTANT_VOID`]: `ptype` loses the `const` of `const void`, which `whatis` has.
//! - [`CONSTANT_POINTER`]: `ptype` loses the `const` of elements whose type is another name of a pointer; `whatis` has it.
//! - [`GUESSED`]: code without call frame information, as that at the beginning and the end of each program, has a caller by gdb's
//!   guess only, and the guess is often wrong. The run itself says whether ours is right: it comes back there.
//! - [`LEFT`]: of a function that clang compiled and that has left the stack by a jump, DWARF 5 says only where the jump begins, which
//!   gdb does not use; and at a return instruction of such a function gdb does not look for jumps at all. We tell of it; what was
//!   passed by it we know, too, and gdb does not ([`PASSED`]).
//! - [`LEFT_AROUND`]: where the jump is in a call that was inlined, gdb tells of that call as the function that has left, and not of the function.
//! - [`FUNCTION_ITEM`]: a function as a value of Rust has no size. gdb shows 0x0, as if it were a pointer to nothing.
//! - [`NOT_ENTERED`]: in a function that was inlined or cloned, gdb lists the variables of blocks that are not entered, some of them a second time,
//!   all of them as optimised out, and so not in their order. We list those of the blocks around the instruction.
//! - [`NOT_LISTED`]: gdb does not list constants that are floats or wider than a word, or lists them as optimised out.
//! - [`HASH`]: in names that gdb takes from symbols of Rust, crates have their hashes.
//! - [`NO_VARIANT`]: when a Rust enum holds no variant, because it is not initialised yet, gdb gives up on the whole variable.
//! - [`TOO_LARGE`]: a slice of Rust whose length is not set yet may be said to have more elements than can be read. gdb tells how many bytes
//!   that would be, or takes it for an empty one when the number does not fit in a word. Of the length of a string it takes the low 32 bits
//!   with their sign, so that it shows nothing, a part, or whatever comes before the next zero. The place of a string is in scope before it is written.
//! - [`INCOMPLETE`]: where a long string is cut inside of a character, gdb says so, and loses the character before. We show the bytes.
//! - [`LAMBDA`]: the code of a lambda in a function gdb calls by its operator alone, gcc's symbol by the function as well.
//! - [`NO_DISCRIMINANT`]: to print a Rust enum that is nowhere gdb looks for its discriminant at address 0. We say that it is optimised out.
//! - [`LENGTH`]: `ptype` leaves the length of an array of variable length open where the array is not there yet, or no longer, although it is known. We tell it.
//! - [`PIECES`]: of a variable that is in pieces some may be nowhere. gdb calls them synthetic pointers, or shows zeroes where the pieces come to an
//!   end. We say which parts are optimised out.

use std::fmt;

use machine::Time;

use super::Report;
use super::answer::{Form, FrameView, Variable, View, Whereabouts};
use super::sample::Sample;

const RELATIVE: &str = "the source file's name is relative";
const NO_LINE: &str = "the code belongs to no line, and gdb shows the one before";
const SAME_ADDRESS: &str = "several lines have the same address, and gdb shows another";
const NOT_SAVED: &str = "the variable's register was not saved, and gdb shows what is in it now";
const NOT_SAVED_TEXT: &str = "<not saved>";
const CONSTANT_VOID: &str = "gdb leaves out the const of const void";
const CONSTANT_POINTER: &str = "gdb leaves out the const of a pointer by another name";
const GUESSED: &str = "gdb guesses who called code without call frame information";
const LEFT: &str = "gdb does not know of a function of clang's that has left the stack";
const LEFT_AROUND: &str =
    "gdb tells of a call that was inlined in a function that has left the stack, but not of the function";
const PASSED: &str = "gdb does not know what was passed by such a function";
const FUNCTION_ITEM: &str = "gdb shows a function without a size as 0x0";
const NOT_ENTERED: &str = "gdb lists a variable of a block that is not entered";
const NOT_LISTED: &str = "gdb does not list a constant";
const LENGTH: &str = "gdb does not tell the length of an array that is not there";
const LENGTH_TEXT: &str = "variable length]";
const OPTIMISED_OUT: &str = "<optimized out>";
const HASH: &str = "gdb shows the hash of a crate";
const NO_VARIANT: &str = "an enum holds none of its variants";
const NO_VARIANT_TEXT: &str = "<error reading variable: Could not find active enum variant>";
const TOO_LARGE: &str = "gdb words differently what is too large";
const TOO_LARGE_TEXT: &str = "<too large to be shown>";
const INCOMPLETE: &str = "gdb loses the character before one that is cut";
const LAMBDA: &str = "gdb does not tell whose lambda it is";
const NO_DISCRIMINANT: &str = "gdb looks for the discriminant of an enum that is nowhere";
const PIECES: &str = "a part of a variable is nowhere, and gdb shows something there";

/// One thing that the two do not agree on.
#[derive(Clone, Debug)]
pub struct Difference {
    pub time: Time,
    /// Which frame and what of it.
    pub what: String,
    pub ours: String,
    pub theirs: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "at {} {}:", self.time.0, self.what)?;
        writeln!(f, "    ours: {}", self.ours)?;
        writeln!(f, "    gdb:  {}", self.theirs)
    }
}

pub fn compare(sample: &Sample, ours: &View, theirs: &View, report: &mut Report) {
    let has_left = ours.unknown_left > 0;
    if has_left {
        report.normalised(LEFT);
    }
    for _ in 0..ours.unknown_around {
        report.normalised(LEFT_AROUND);
    }
    let mut comparison = Comparison { time: sample.time, has_left, report };
    let most = comparison.comparable(sample.comes_back, ours, theirs);
    for level in 0..ours.frames.len().max(theirs.frames.len()).min(most) {
        match (ours.frames.get(level), theirs.frames.get(level)) {
            (Some(ours), Some(theirs)) => comparison.frame(level, ours, theirs),
            (ours, theirs) => {
                let text = |frame: Option<&FrameView>| frame.map_or("no frame".to_owned(), describe);
                comparison.equal(&format!("frame {level}"), &text(ours), &text(theirs));
            }
        }
    }
    let globals = ours.globals.iter().zip(&theirs.globals).filter(|((level, _), _)| *level < most);
    for ((level, ours), (_, theirs)) in globals {
        comparison.variable(&format!("the unit of frame {level}"), ours, theirs);
    }
}

impl Report {
    fn normalised(&mut self, reason: &'static str) {
        match self.normalised.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, times)) => *times += 1,
            None => self.normalised.push((reason, 1)),
        }
    }
}

struct Comparison<'a> {
    time: Time,
    /// See [`LEFT`].
    has_left: bool,
    report: &'a mut Report,
}

impl Comparison<'_> {
    /// How many frames gdb knows better than by guessing.
    fn comparable(&mut self, comes_back: Option<bool>, ours: &View, theirs: &View) -> usize {
        let addresses = |view: &View| view.frames.iter().map(|frame| frame.address).collect::<Vec<u64>>();
        match comes_back {
            Some(true) if addresses(ours) != addresses(theirs) => {
                self.report.normalised(GUESSED);
                1
            }
            Some(false) => {
                let ours = ours.frames.get(1).map(describe).unwrap_or_default();
                self.equal("the caller", &ours, "the run does not come back there");
                1
            }
            _ => usize::MAX,
        }
    }

    fn frame(&mut self, level: usize, ours: &FrameView, theirs: &FrameView) {
        self.report.frames += 1;
        let normalised = self.normalise(ours, theirs);
        let shown = FrameView { function: self.without_hashes(&theirs.function), ..theirs.clone() };
        self.equal(&format!("frame {level}"), &describe(&normalised), &describe(&shown));
        let place = format!("frame {level} ({})", theirs.function);
        let theirs_arguments = &theirs.arguments;
        self.variables(&format!("{place} arguments"), &ours.arguments, &theirs.arguments);
        let locals = self.entered(&ours.locals, &theirs.locals);
        let listed = self.listed(&ours.locals, &locals);
        self.variables(&format!("{place} locals"), &listed, &locals);
        for ((name, ours), (_, theirs)) in ours.types.iter().zip(&theirs.types) {
            let is_variable = |variable: &Variable| variable.name == *name;
            if !locals.iter().any(is_variable) && !theirs_arguments.iter().any(is_variable) {
                continue;
            }
            self.report.types += 1;
            let theirs = theirs.strip_prefix("type = ").unwrap_or(theirs).trim_end();
            let ours = self.without_length(ours.trim_end(), theirs);
            let ours = self.without_constant(&ours, theirs);
            self.equal(&format!("{place} type of {name}"), &ours, theirs);
        }
    }

    /// Our frame as gdb would show it, by the rules above.
    fn normalise(&mut self, ours: &FrameView, theirs: &FrameView) -> FrameView {
        let mut frame = FrameView { file: ours.file.clone(), line: ours.line, ..ours.clone() };
        let is_relative = |file: &str| !file.is_empty() && !file.starts_with('/');
        if is_relative(&ours.file) && is_relative(&theirs.file) && last(&ours.file) == last(&theirs.file) {
            frame.file.clone_from(&theirs.file);
            self.report.normalised(RELATIVE);
        }
        if ours.line == 0 && theirs.line != 0 {
            frame.file.clone_from(&theirs.file);
            frame.line = theirs.line;
            self.report.normalised(NO_LINE);
        } else if ours.line != theirs.line && theirs.lines_there.contains(&ours.line) {
            frame.line = theirs.line;
            self.report.normalised(SAME_ADDRESS);
        }
        frame
    }

    /// gdb's name of a function without the hashes of crates.
    fn without_hashes(&mut self, name: &str) -> String {
        let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut shown = String::new();
        let mut rest = name;
        while let Some((before, after)) = rest.split_once('[') {
            shown.push_str(before);
            match after.split_once(']') {
                Some((hash, behind)) if is_hash(hash) => {
                    self.report.normalised(HASH);
                    rest = behind;
                }
                _ => {
                    shown.push('[');
                    rest = after;
                }
            }
        }
        shown + rest
    }

    /// gdb's variables without those that are optimised out and that we do not have.
    fn entered(&mut self, ours: &[Variable], theirs: &[Variable]) -> Vec<Variable> {
        let mut missing: Vec<(usize, &Variable)> = ours.iter().enumerate().collect();
        let mut kept = Vec::new();
        for variable in theirs {
            let same = |(_, other): &(usize, &Variable)| is_same(other, variable);
            match missing.iter().position(same) {
                Some(index) => kept.push((missing.remove(index).0, variable.clone())),
                None if variable.printed == OPTIMISED_OUT => self.report.normalised(NOT_ENTERED),
                None => kept.push((usize::MAX, variable.clone())),
            }
        }
        if kept.len() < theirs.len() {
            kept.sort_by_key(|(index, _)| *index);
        }
        kept.into_iter().map(|(_, variable)| variable).collect()
    }

    /// Our variables without the constants that gdb does not have.
    fn listed(&mut self, ours: &[Variable], theirs: &[Variable]) -> Vec<Variable> {
        let is_left_out = |variable: &Variable| {
            variable.whereabouts == Whereabouts::Constant
                && !theirs.iter().any(|other| is_same(other, variable))
        };
        let (left_out, listed): (Vec<_>, Vec<_>) = ours.iter().cloned().partition(is_left_out);
        left_out.iter().for_each(|_| self.report.normalised(NOT_LISTED));
        listed
    }

    /// Our definition of a type without the length of an array, if that is how the two differ.
    fn without_length(&mut self, ours: &str, theirs: &str) -> String {
        let stem = theirs.strip_suffix(LENGTH_TEXT);
        let length = stem.and_then(|stem| ours.strip_prefix(stem)?.strip_suffix(']'));
        if length.is_some_and(|length| length.bytes().all(|byte| byte.is_ascii_digit())) {
            self.report.normalised(LENGTH);
            return theirs.to_owned();
        }
        ours.to_owned()
    }

    /// Our definition of a type without the constants that gdb loses, if that is how the two differ.
    fn without_constant(&mut self, ours: &str, theirs: &str) -> String {
        let plain = ours.replace("const void", "void");
        if plain == theirs && ours != theirs {
            self.report.normalised(CONSTANT_VOID);
            return plain;
        }
        let plain = ours.replace("* const *", "**").replace("* const", "*");
        if plain == theirs && ours != theirs {
            self.report.normalised(CONSTANT_POINTER);
            return plain;
        }
        ours.to_owned()
    }

    fn variables(&mut self, place: &str, ours: &[Variable], theirs: &[Variable]) {
        let names = |variables: &[Variable]| {
            let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
            names.join(" ")
        };
        if names(ours) != names(theirs) {
            self.equal(place, &names(ours), &names(theirs));
            return;
        }
        for (ours, theirs) in ours.iter().zip(theirs) {
            self.variable(place, ours, theirs);
        }
    }

    fn variable(&mut self, place: &str, ours: &Variable, theirs: &Variable) {
        self.report.variables += 1;
        let text = |variable: &Variable| {
            let Variable { name, type_name, line, printed, .. } = variable;
            format!("{name} = {printed} of type {type_name} from line {line}")
        };
        if theirs.printed == NO_VARIANT_TEXT && ours.printed.ends_with(" {<unknown variant>}") {
            self.report.normalised(NO_VARIANT);
            return;
        }
        if is_too_large(&ours.printed, &theirs.printed) {
            self.report.normalised(TOO_LARGE);
            return;
        }
        if is_incomplete(&ours.printed, &theirs.printed) {
            self.report.normalised(INCOMPLETE);
            return;
        }
        if ours.printed != theirs.printed && without_lambda(&ours.printed) == theirs.printed {
            self.report.normalised(LAMBDA);
            return;
        }
        let not_at_zero =
            format!("<error reading variable {} (Cannot access memory at address 0x0)>", theirs.name);
        if ours.printed == OPTIMISED_OUT && theirs.printed == not_at_zero {
            self.report.normalised(NO_DISCRIMINANT);
            return;
        }
        if self.has_left && theirs.printed == OPTIMISED_OUT && ours.printed != OPTIMISED_OUT {
            self.report.normalised(PASSED);
            return;
        }
        let as_nothing = |printed: &str| printed.replace(OPTIMISED_OUT, "0x0");
        if ours.printed != theirs.printed
            && ours.type_name.contains("fn(")
            && as_nothing(&ours.printed) == theirs.printed
        {
            self.report.normalised(FUNCTION_ITEM);
            return;
        }
        let guessed = match ours.printed.as_str() {
            printed if printed == theirs.printed => None,
            _ if ours.whereabouts == Whereabouts::Constant && theirs.printed == OPTIMISED_OUT => {
                Some(NOT_LISTED)
            }
            NOT_SAVED_TEXT => Some(NOT_SAVED),
            printed if ours.whereabouts == Whereabouts::InPieces && printed.contains(OPTIMISED_OUT) => {
                Some(PIECES)
            }
            _ => None,
        };
        if let Some(reason) = guessed {
            self.report.normalised(reason);
            let ours = Variable { printed: theirs.printed.clone(), ..ours.clone() };
            self.equal(place, &text(&ours), &text(theirs));
            return;
        }
        self.equal(place, &text(ours), &text(theirs));
    }

    fn equal(&mut self, what: &str, ours: &str, theirs: &str) {
        if ours != theirs {
            let what = what.to_owned();
            let (ours, theirs) = (ours.to_owned(), theirs.to_owned());
            self.report.differences.push(Difference { time: self.time, what, ours, theirs });
        }
    }
}

/// See [`TOO_LARGE`].
fn is_too_large(ours: &str, theirs: &str) -> bool {
    let Some((start, end)) = ours.split_once(TOO_LARGE_TEXT) else { return false };
    let between = theirs.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    theirs.ends_with("which is more than max-value-size>")
        || between.is_some_and(|shown| {
            ["0x", "\"", "<error: Cannot access memory at ", "<error reading variable: value requires "]
                .iter()
                .any(|start| shown.starts_with(start))
        })
}

/// See [`LAMBDA`].
fn without_lambda(ours: &str) -> String {
    let parts = ours.split_once('<').zip(ours.split_once("}::operator()"));
    match parts {
        Some(((start, _), (symbol, rest))) if symbol.contains("::{lambda(") => {
            format!("{start}<operator(){rest}")
        }
        _ => ours.to_owned(),
    }
}

/// See [`INCOMPLETE`].
fn is_incomplete(ours: &str, theirs: &str) -> bool {
    let shown = theirs.split_once("\", <incomplete sequence ");
    let Some((start, (cut, end))) = shown.and_then(|(start, rest)| Some((start, rest.split_once('>')?)))
    else {
        return false;
    };
    let lost = ours.strip_prefix(start).and_then(|rest| rest.strip_suffix(&format!("{cut}\"{end}")));
    lost.is_some_and(|lost| lost.chars().count() == 1 || lost.starts_with('\\'))
}

fn is_same(one: &Variable, other: &Variable) -> bool {
    (&one.name, one.line) == (&other.name, other.line)
}

fn describe(frame: &FrameView) -> String {
    let FrameView { address, function, file, line, form, .. } = frame;
    let form = match form {
        Form::Called => "",
        Form::Inlined => " (inlined)",
        Form::Left => " (left)",
    };
    format!("{address:#x} in {function} at {}:{line}{form}", tidy(file))
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Without `.` and `..`, which the two put together in different ways.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| *part != ".") {
        match (part, parts.last()) {
            ("..", Some(last)) if !last.is_empty() && *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_of_no_possible_length_is_compared_without_its_text() {
        let ours = format!("Some({TOO_LARGE_TEXT}) of {{n: 1}}");
        assert!(is_too_large(&ours, r#"Some("") of {n: 1}"#));
        assert!(!is_too_large(&ours, r#"Some("") of {n: 2}"#));
        assert!(!is_too_large(r#"Some("a")"#, r#"Some("")"#));
    }

    #[test]
    fn a_cut_character_hides_one_before_it_and_no_more() {
        let theirs = r#""12", <incomplete sequence \303>..."#;
        assert!(is_incomplete(r#""123\303"..."#, theirs));
        assert!(!is_incomplete(r#""1234\303"..."#, theirs));
        assert!(!is_incomplete(r#""123\304"..."#, theirs));
    }

    #[test]
    fn a_lambda_is_known_by_its_operator() {
        let ours = "0x74 <use(A<int, 3>&)::{lambda(int)#1}::operator()(int) const+42>";
        assert_eq!(without_lambda(ours), "0x74 <operator()(int) const+42>");
        assert_eq!(without_lambda("0x74 <Sum::operator()(int) const>"), "0x74 <Sum::operator()(int) const>");
    }
}
