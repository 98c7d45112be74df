//! What can be seen of a stopped guest, and the reader of gdb's account of it.

/// What is seen at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Innermost first; inlined calls are frames, too.
    pub frames: Vec<FrameView>,
    /// Variables at file level, each with a frame whose unit has it.
    pub globals: Vec<(usize, Variable)>,
    /// How many frames that functions have left are not among the frames, because gdb cannot know of them.
    pub unknown_left: usize,
    /// How many calls were inlined in such functions that gdb tells of, which it does not.
    pub unknown_around: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameView {
    pub address: u64,
    /// Empty when it is not known.
    pub function: String,
    pub file: String,
    /// 0 when it is not known.
    pub line: u32,
    /// Lines that the line table has for the same address, when it has several.
    pub lines_there: Vec<u32>,
    pub form: Form,
    /// Which compiler made the function, as it calls itself; gdb's view alone has it.
    pub producer: String,
    pub arguments: Vec<Variable>,
    /// Those of inner blocks first.
    pub locals: Vec<Variable>,
    /// Definitions of types that were not told of before, each with a variable of the type.
    pub types: Vec<(String, String)>,
}

/// How a frame came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Called,
    /// Inlined into the next one.
    Inlined,
    /// It is no longer on the stack: its last call was made by a jump.
    Left,
}

impl Form {
    fn read(word: &str) -> Option<Form> {
        match word {
            "called" => Some(Form::Called),
            "inlined" => Some(Form::Inlined),
            "left" => Some(Form::Left),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub type_name: String,
    /// Where it is declared.
    pub line: u32,
    /// Its value, as `info locals` prints it.
    pub printed: String,
    /// Our view alone has it.
    pub whereabouts: Whereabouts,
}

/// How debug information places a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whereabouts {
    #[default]
    Whole,
    /// Its parts one by one.
    InPieces,
    /// It is nowhere, and its value is told.
    Constant,
}

/// Reads the records of the script that runs in gdb. `Err` holds the line that makes no sense.
pub fn read(text: &str) -> Result<Vec<View>, String> {
    let mut views = Vec::new();
    let mut view: Option<View> = None;
    for line in text.lines() {
        let fields: Vec<String> = line.split('\t').map(unescape).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let nonsense = || line.to_owned();
        match (fields.as_slice(), &mut view) {
            (["core", _], None) => view = Some(View::default()),
            (["end"], Some(_)) => views.extend(view.take()),
            (["frame", _, address, function, file, line, lines_there, form, producer], Some(view)) => {
                let lines_there = lines_there.split(',').filter_map(|line| line.parse().ok());
                view.frames.push(FrameView {
                    address: u64::from_str_radix(address, 16).map_err(|_| nonsense())?,
                    function: (*function).to_owned(),
                    file: (*file).to_owned(),
                    line: line.parse().map_err(|_| nonsense())?,
                    lines_there: lines_there.collect(),
                    form: Form::read(form).ok_or_else(nonsense)?,
                    producer: (*producer).to_owned(),
                    ..FrameView::default()
                });
            }
            (["type", _, variable, definition], Some(view)) => {
                let frame = view.frames.last_mut().ok_or_else(nonsense)?;
                frame.types.push(((*variable).to_owned(), (*definition).to_owned()));
            }
            ([role @ ("argument" | "local" | "global"), level, rest @ ..], Some(view)) => {
                let variable = variable(rest).ok_or_else(nonsense)?;
                let level: usize = level.parse().map_err(|_| nonsense())?;
                let frame = view.frames.get_mut(level).ok_or_else(nonsense)?;
                match *role {
                    "argument" => frame.arguments.push(variable),
                    "local" => frame.locals.push(variable),
                    _ => view.globals.push((level, variable)),
                }
            }
            // gdb says things of its own between the records.
            (_, None) => {}
            _ => return Err(nonsense()),
        }
    }
    Ok(views)
}

fn variable(fields: &[&str]) -> Option<Variable> {
    let [name, type_name, line, printed] = fields else { return None };
    Some(Variable {
        name: (*name).to_owned(),
        type_name: (*type_name).to_owned(),
        line: line.parse().ok()?,
        printed: (*printed).to_owned(),
        whereabouts: Whereabouts::Whole,
    })
}

fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (character, false) => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_become_frames_with_their_variables() {
        let text = "warning: whatever\ncore\t/a\nframe\t0\t1f\tf\t/s.c\t3\t3,4\tinlined\tGNU C17\n\
                    argument\t0\tx\tint\t1\t5\ntype\t0\tx\ttype = int\\n\n\
                    frame\t1\t2f\tmain\t\t0\t\tcalled\t\nlocal\t1\ts\tchar *\t2\t\"a\\tb\"\n\
                    global\t1\tg\tint\t9\t7\nend\n";
        let views = read(text).unwrap();
        assert_eq!(views.len(), 1);
        let [inner, outer] = views[0].frames.as_slice() else { panic!("{views:?}") };
        assert_eq!(
            (inner.address, inner.form, inner.arguments[0].printed.as_str()),
            (0x1f, Form::Inlined, "5")
        );
        assert_eq!((inner.line, inner.lines_there.as_slice()), (3, &[3, 4][..]));
        assert_eq!(inner.types, [("x".to_owned(), "type = int\n".to_owned())]);
        assert_eq!((outer.line, outer.locals[0].printed.as_str()), (0, "\"a\tb\""));
        assert_eq!((views[0].globals[0].0, views[0].globals[0].1.name.as_str()), (1, "g"));
    }

    #[test]
    fn a_record_that_makes_no_sense_is_an_error() {
        assert!(read("core\t/a\nframe\t0\tzz\tf\t\t0\t\tcalled\t\nend\n").is_err());
        assert!(read("core\t/a\nPython Exception\nend\n").is_err());
    }
}
