//! The same view by our own means.

use lift::Reg;
use linux::Process;
use program::{Program, Registers};

use super::answer::{FrameView, View};

/// More than any sampled program has.
const MOST_FRAMES: usize = 10_000;

pub fn view(process: &Process, _theirs: &View) -> View {
    let program = Program::from_memory(&process.machine.memory);
    View { frames: frames(process, &program), globals: Vec::new() }
}

fn frames(process: &Process, program: &Program) -> Vec<FrameView> {
    let cpu = &process.machine.cpu;
    let general = std::array::from_fn(|n| cpu.get(Reg::general(n as u8)));
    let memory = &process.machine.memory;
    let mut read = |address, buffer: &mut [u8]| memory.peek(address, buffer) == buffer.len();
    let backtrace = program.backtrace(&Registers::new(cpu.rip, general), MOST_FRAMES, &mut read);
    let mut frames = Vec::new();
    for frame in &backtrace.frames {
        let location = program.locate(frame.lookup);
        let by_symbol = location.function.as_ref().map(|function| function.name.clone());
        let outermost = location.frames.len().saturating_sub(1);
        for (depth, inner) in location.frames.iter().enumerate() {
            let position = inner.position.as_ref();
            frames.push(FrameView {
                address: frame.address,
                function: inner.function.clone().or(by_symbol.clone()).unwrap_or_default(),
                file: position.map(|position| position.file.to_string()).unwrap_or_default(),
                line: position.map_or(0, |position| position.line),
                is_inlined: depth < outermost,
                ..FrameView::default()
            });
        }
        if location.frames.is_empty() {
            let function = by_symbol.unwrap_or_default();
            frames.push(FrameView { address: frame.address, function, ..FrameView::default() });
        }
    }
    frames
}
