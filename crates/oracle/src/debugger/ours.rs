//! The same view by our own means.

use linux::Process;
use program::{Call, Frame, Limits, Place, Program, Rule, State};

use super::answer::{self, Form, FrameView, View, Whereabouts};

/// More than any sampled program has.
const MOST_FRAMES: usize = 10_000;

/// What we see. Of which frames variables are told, which types, and which variables at file level, is as in gdb's view.
pub fn view(process: &Process, theirs: &View) -> View {
    let program = Program::from_memory(&process.machine.memory);
    let state = State::of(&process.machine);
    let looker = Looker { program: &program, state };
    let mut view = View::default();
    let mut physical = Vec::new();
    let mut frames = program.backtrace_of(&looker.state, MOST_FRAMES).frames;
    if knows_no_jumps(theirs) {
        let all = frames.len();
        frames.retain(|frame| frame.rule != Rule::TailCall);
        view.unknown_left = all - frames.len();
    }
    for frame in &frames {
        let mut told = looker.frames(frame, &theirs.frames, view.frames.len());
        if frame.rule == Rule::TailCall && is_one_frame(frame, theirs) {
            view.unknown_around += told.len().saturating_sub(1);
            told.truncate(1);
            told.iter_mut().for_each(|innermost| innermost.form = Form::Left);
        }
        for frame_view in told {
            view.frames.push(frame_view);
            physical.push(frame.clone());
        }
    }
    for (level, their) in &theirs.globals {
        let found = physical.get(*level).and_then(|frame| looker.global(frame, their));
        view.globals.push((*level, found.unwrap_or_default()));
    }
    view
}

/// Whether gdb tells of no function that has left the stack, in a program of clang's.
fn knows_no_jumps(theirs: &View) -> bool {
    let is_clang = |frame: &FrameView| frame.producer.contains("clang");
    theirs.frames.iter().any(is_clang) && theirs.frames.iter().all(|frame| frame.form != Form::Left)
}

/// Whether gdb tells of a function that has left the stack, as one frame whatever was inlined there.
fn is_one_frame(frame: &Frame, theirs: &View) -> bool {
    let same = |other: &&FrameView| other.address == frame.address;
    theirs.frames.iter().find(same).is_some_and(|innermost| innermost.form == Form::Left)
}

struct Looker<'a> {
    program: &'a Program,
    state: State<'a>,
}

impl Looker<'_> {
    /// A frame of the stack, with the calls that were inlined there before it.
    fn frames(&self, frame: &Frame, theirs: &[FrameView], level: usize) -> Vec<FrameView> {
        let calls = self.program.calls_at(frame);
        if calls.is_empty() {
            let location = self.program.locate(frame.lookup);
            let function = location.function.map(|function| function.name).unwrap_or_default();
            return vec![FrameView { address: frame.address, function, ..FrameView::default() }];
        }
        let views = calls.iter().enumerate();
        views.map(|(depth, call)| self.frame(frame, call, theirs.get(level + depth))).collect()
    }

    fn frame(&self, frame: &Frame, call: &Call, theirs: Option<&FrameView>) -> FrameView {
        let position = call.position.as_ref();
        let mut view = FrameView {
            address: frame.address,
            function: call.function.clone().unwrap_or_default(),
            file: position.map(|position| position.file.to_string()).unwrap_or_default(),
            line: position.map_or(0, |position| position.line),
            form: form(frame, call),
            ..FrameView::default()
        };
        // gdb's script tells variables of the innermost frames of the program only.
        let Some(theirs) = theirs.filter(|theirs| !theirs.arguments.is_empty() || !theirs.locals.is_empty())
        else {
            return view;
        };
        view.arguments = call.parameters().map(|variable| self.variable(variable, Some(frame))).collect();
        for scope in &call.scopes {
            let variables = scope.variables.iter();
            let locals = variables.filter(|variable| variable.kind != program::VariableKind::Parameter);
            let mut locals: Vec<_> = locals.map(|variable| self.variable(variable, Some(frame))).collect();
            locals.sort_by(|a, b| (&a.name, a.line).cmp(&(&b.name, b.line)));
            view.locals.extend(locals);
        }
        for (name, _) in &theirs.types {
            let of = |variable| self.program.type_of_variable(variable, Some(frame), &self.state);
            let definition = call.variable(name).map(|variable| of(variable).1);
            view.types.push((name.clone(), definition.unwrap_or_default()));
        }
        view
    }

    fn global(&self, frame: &Frame, theirs: &answer::Variable) -> Option<answer::Variable> {
        let globals = self.program.unit_globals(frame);
        let found = globals.iter().find(|variable| {
            variable.name == theirs.name && variable.line.unwrap_or_default() == theirs.line
        })?;
        Some(self.variable(found, None))
    }

    fn variable(&self, variable: &program::Variable, frame: Option<&Frame>) -> answer::Variable {
        answer::Variable {
            name: variable.name.clone(),
            type_name: self.program.type_name(variable.of),
            line: variable.line.unwrap_or_default(),
            printed: self.program.print_variable(variable, frame, &self.state, Limits::default()),
            whereabouts: match self.program.place_of(variable, frame, &self.state) {
                Place::Pieces(_) => Whereabouts::InPieces,
                Place::Constant(_) => Whereabouts::Constant,
                _ => Whereabouts::Whole,
            },
        }
    }
}

fn form(frame: &Frame, call: &Call) -> Form {
    match frame.rule {
        _ if call.is_inlined => Form::Inlined,
        Rule::TailCall => Form::Left,
        _ => Form::Called,
    }
}
