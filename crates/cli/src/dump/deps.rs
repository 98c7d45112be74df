//! `whydunit dump deps`: the dependences near a place or an instant, one by one.

use std::fmt::Write;

use lift::Reg;
use linux::Place;
use machine::{Time, Trace};
use replay::story::{Edge, EdgeKind, Edges, Used};
use replay::{Cell, Code, Question, Recording, Source, Strength, accesses};

use super::runs;
use crate::args::{DumpDeps, GraphFormat, Instant, instant};
use crate::asking::{self, RecordedCase};
use crate::exit_code::{self, Failure};
use crate::progress::Progress;
use crate::slice::criterion;
use crate::streams::printable;
use crate::view::tell_warnings_about;

pub fn text(arguments: &DumpDeps) -> Result<String, Failure> {
    let at = instant(&arguments.at);
    let target = match at {
        Ok(_) => None,
        Err(_) => Some(asking::target(&arguments.at, arguments.hit)?),
    };
    let mut recorded = RecordedCase::open(&arguments.case, &arguments.view)?;
    let progress = Progress::of("following dependences", recorded.recording.gauge());
    let RecordedCase { recording, program, scope, .. } = &mut recorded;
    let mut code = Code::new(program, scope.clone());
    let (question, asked) = match (target, at) {
        (Some(target), _) => {
            let asked = target.ask(recording, &mut code).map_err(asking::refused)?;
            let text = criterion(&asked);
            (asked.question, text)
        }
        (None, at) => of_instant(recording, at.unwrap_or(Instant::End))?,
    };
    let edges = recording.edges(&mut code, &question, arguments.kind.follow(), arguments.depth);
    drop(progress);
    let files = edges.instances.iter().filter_map(|instance| Some(&*instance.stmt.as_ref()?.file));
    tell_warnings_about(program, &files.collect());
    let names = |place: usize| match edges.instances.get(place).and_then(|instance| instance.stmt.as_ref()) {
        _ if place == 0 => asked.clone(),
        Some(stmt) => {
            let text = program.text_of(stmt).map_or_else(String::new, |text| format!(" | {text}"));
            printable(&format!("{}{text}", runs::place(stmt)))
        }
        None => "code of no statement".to_owned(),
    };
    Ok(match arguments.format {
        GraphFormat::Text => listed(&edges, &names),
        GraphFormat::Dot => drawn(&edges, &names),
    })
}

/// What the instruction at an instant made; if that is nothing, why it was executed.
fn of_instant(recording: &mut Recording, at: Instant) -> Result<(Question, String), Failure> {
    let time = match at {
        Instant::After(instructions) => Time(instructions),
        Instant::End => Time(recording.end().0.saturating_sub(1)),
    };
    if time >= recording.end() {
        let message = format!("there is no instruction {}: the run has {}", time.0, recording.end().0);
        return Err(Failure::new(exit_code::NO_ANSWER, anyhow::anyhow!(message)));
    }
    let after = Time(time.0 + 1);
    let mut trace = Trace::new();
    recording.at(time).run_traced(after, &mut trace);
    let mut cells = Vec::new();
    for executed in trace.forward().flat_map(|pass| pass.forward().collect::<Vec<_>>()) {
        for access in accesses(&executed).into_iter().filter(|access| access.write) {
            let length = access.range.end - access.range.start;
            cells.push(Cell::Memory { address: access.range.start, length });
        }
        let mut note = |reg: Reg| {
            let is_value = reg.is_general() && reg != Reg::RSP || reg.0 >= Reg::xmm(0).0 && !reg.is_temp();
            let cell = Cell::Register(reg, 0xff);
            if is_value && !cells.contains(&cell) {
                cells.push(cell);
            }
        };
        executed.ops.iter().for_each(|op| op.writes(&mut note));
    }
    let why_here = cells.is_empty();
    let time_asked = if why_here { time } else { after };
    let text = match why_here {
        true => format!("that instruction {} was executed", time.0),
        false => format!("what instruction {} made", time.0),
    };
    Ok((Question { time: time_asked, cells, why_here }, text))
}

type Names<'a> = &'a dyn Fn(usize) -> String;

fn listed(edges: &Edges, names: Names<'_>) -> String {
    let mut text = String::new();
    for (number, instance) in edges.instances.iter().enumerate() {
        let when = if number == 0 { String::new() } else { format!(" at {}", instance.time.0) };
        let _ = writeln!(text, "#{number}{when}, distance {}: {}", instance.distance, names(number));
        for edge in &instance.edges {
            let _ = writeln!(text, "    {:<16} #{:<4} {}", kind(edge.kind), edge.to, told(edge));
        }
        for end in ends(instance.ends.iter()) {
            let _ = writeln!(text, "    from             {end}");
        }
    }
    if edges.left_out > 0 {
        let _ = writeln!(text, "{} more lead further back", edges.left_out);
    }
    text
}

fn drawn(edges: &Edges, names: Names<'_>) -> String {
    let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = "digraph dependences {\n  node [shape=box, fontname=monospace];\n".to_owned();
    for (number, instance) in edges.instances.iter().enumerate() {
        let _ = writeln!(text, "  n{number} [label=\"{}\"];", escape(&names(number)));
        for edge in &instance.edges {
            let style = match edge.kind {
                EdgeKind::Value => "solid",
                EdgeKind::Address | EdgeKind::Call => "dashed",
                EdgeKind::Control => "bold",
                EdgeKind::Potential(_) => "dotted",
            };
            let used = match &edge.used {
                Used::Memory { name: Some(name), .. } => format!(" {name}"),
                Used::Register(reg) => format!(" {reg}"),
                Used::Memory { name: None, .. } | Used::Kernel(_) | Used::Nothing => String::new(),
            };
            let label = escape(&format!("{}{used}", kind(edge.kind)));
            let _ = writeln!(text, "  n{number} -> n{} [label=\"{label}\", style={style}];", edge.to);
        }
    }
    text.push_str("}\n");
    text
}

fn kind(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Value => "value",
        EdgeKind::Address => "address",
        EdgeKind::Control => "control",
        EdgeKind::Call => "control (call)",
        EdgeKind::Potential(Strength::Strong) => "potential",
        EdgeKind::Potential(Strength::Weak) => "potential (weak)",
    }
}

fn told(edge: &Edge) -> String {
    let used = match &edge.used {
        Used::Register(reg) => format!("{reg}, "),
        Used::Memory { address, length, name } => {
            let name = name.as_deref().map_or_else(String::new, |name| format!("{} ", printable(name)));
            format!("{name}({length} at {address:#x}), ")
        }
        Used::Kernel(place) => format!("{}, ", kernel_place(*place)),
        Used::Nothing => String::new(),
    };
    let library = if edge.in_library { " in a library" } else { "" };
    format!("{used}made at {}{library}", edge.time.0)
}

fn kernel_place(place: Place) -> String {
    match place {
        Place::Memory(address) => format!("memory at {address:#x}"),
        Place::File { offset, .. } => format!("a file from byte {offset}"),
        Place::Pipe { offset, .. } => format!("a pipe from byte {offset}"),
        Place::Input { offset } => format!("standard input from byte {offset}"),
        Place::Output { offset, .. } => format!("output from byte {offset}"),
        Place::Fresh => "fresh memory".to_owned(),
        Place::Kernel => "the kernel".to_owned(),
    }
}

/// Where chains end; bytes that follow each other are told together.
fn ends<'a>(sources: impl Iterator<Item = &'a Source>) -> Vec<String> {
    let mut found: Vec<(String, Option<u64>, u64)> = Vec::new();
    for source in sources {
        let (text, start) = match source {
            Source::Input(Place::Input { offset }) => ("standard input, byte".to_owned(), Some(*offset)),
            Source::Input(Place::File { inode, offset }) => (format!("file {inode:?}, byte"), Some(*offset)),
            Source::Input(place) => (kernel_place(*place), None),
            Source::Initial { address } => ("memory as it was at the start,".to_owned(), Some(*address)),
            Source::InitialRegister(reg) => (format!("{reg} as it was at the start"), None),
            Source::Uninitialised { address } => {
                ("memory that nobody had written,".to_owned(), Some(*address))
            }
            Source::Kernel { call } => {
                let name = linux::syscall_name(*call).map_or_else(|| call.to_string(), str::to_owned);
                (format!("the kernel's answer to {name}"), None)
            }
            Source::Signal { signal } => {
                (format!("what the kernel told of {}", linux::signal::name(*signal)), None)
            }
            Source::Constant(_) => ("a constant".to_owned(), None),
        };
        match (found.last_mut(), start) {
            (Some((last, Some(first), length)), Some(start))
                if *last == text && first.checked_add(*length) == Some(start) =>
            {
                *length += 1;
            }
            _ => found.push((text, start, 1)),
        }
    }
    let mut texts: Vec<String> = Vec::new();
    for (text, start, length) in found {
        let text = match start {
            Some(start) => format!("{text} {length} at {start:#x}"),
            None => text,
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}
