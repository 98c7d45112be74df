//! Graphs in a stable text form, and as input for Graphviz.

use std::fmt::Write as _;

use super::analysis::{Analysis, Controller};
use super::graph::{BasicBlock, BlockId, Cfg, HoleKind, JumpTable, TableBound, Terminator};
use crate::program::Program;

/// A block of more instructions shows the lines of its first ones.
const MOST_INSTRUCTIONS: usize = 10_000;

impl Program {
    /// A graph with its analyses: a paragraph a block, then loops, tables and holes.
    pub fn cfg_text(&self, cfg: &Cfg) -> String {
        let analysis = cfg.analyse();
        let mut text = String::new();
        let name = self.locate(cfg.start).function.map_or_else(|| "?".to_owned(), |function| function.name);
        let _ = writeln!(text, "function {name} at {:#x}, entry block {}", cfg.start, cfg.entry.0);
        for (id, block) in (0..).map(BlockId).zip(&cfg.blocks) {
            let _ = writeln!(text, "{}", self.title(&analysis, id, block));
            let _ = writeln!(text, "  ends     {}", ending(block));
            let after = analysis.post_dominators.immediate(id).map_or("exit".to_owned(), name_of);
            let _ = writeln!(text, "  ipdom    {after}");
            let on: Vec<String> =
                analysis.control_dependence.controllers(id).iter().map(|on| decision(cfg, on)).collect();
            if !on.is_empty() {
                let _ = writeln!(text, "  depends  {}", on.join(", "));
            }
        }
        shape(&mut text, &analysis);
        if !cfg.landing_pads.is_empty() {
            let _ = writeln!(text, "landing pads: blocks {}", names(&cfg.landing_pads));
        }
        cfg.tables.iter().for_each(|table| table_text(&mut text, table));
        for hole in &cfg.holes {
            let what = match hole.kind {
                HoleKind::IndirectJump => "an indirect jump whose targets are not all known",
                HoleKind::Undecodable => "no instruction that fits the others",
                HoleKind::TooLarge => "the function is too large, and is cut here",
            };
            let _ = writeln!(text, "hole at {:#x}: {what}", hole.address);
        }
        text
    }

    /// The graph in the language of Graphviz.
    pub fn cfg_dot(&self, cfg: &Cfg) -> String {
        let mut text = String::from("digraph cfg {\n  node [shape=box, fontname=monospace];\n");
        for (id, block) in (0..).map(BlockId).zip(&cfg.blocks) {
            let lines = self.lines(block).replace('\\', "\\\\").replace('"', "\\\"");
            let ends = match block.terminator.successors().next() {
                Some(_) => String::new(),
                None => format!("\\n{}", ending(block)),
            };
            let _ = writeln!(
                text,
                "  b{} [label=\"block {}  {:#x}..{:#x}\\n{lines}{ends}\"];",
                id.0, id.0, block.start, block.end
            );
            for (place, to) in block.terminator.successors().enumerate() {
                let label = match block.terminator {
                    Terminator::Branch { .. } if place == 0 => " [label=\"taken\"]",
                    _ => "",
                };
                let _ = writeln!(text, "  b{} -> b{}{label};", id.0, to.0);
            }
        }
        text.push_str("}\n");
        text
    }

    fn title(&self, analysis: &Analysis, id: BlockId, block: &BasicBlock) -> String {
        let mut title = format!("block {}  {:#x}..{:#x}", id.0, block.start, block.end);
        for part in [
            self.lines(block),
            analysis.loops.innermost(id).map_or(String::new(), |index| format!("loop {index}")),
        ] {
            if !part.is_empty() {
                title.push_str("  ");
                title.push_str(&part);
            }
        }
        title
    }

    /// The source lines of a block, in the order in which they come.
    fn lines(&self, block: &BasicBlock) -> String {
        let mut found: Vec<(String, u32)> = Vec::new();
        let mut at = block.start;
        let code = self.file_bytes(block.start).unwrap_or_default();
        for _ in 0..MOST_INSTRUCTIONS {
            if at >= block.end {
                break;
            }
            if let Some(position) = self.locate(at).position() {
                let file = position.file.rsplit('/').next().unwrap_or(&position.file).to_owned();
                let line = (file, position.line);
                if found.last() != Some(&line) {
                    found.push(line);
                }
            }
            let rest = code.get((at - block.start) as usize..).unwrap_or_default();
            let lift::Decoded::Instruction(instruction) = lift::decode(rest, at) else { break };
            at = at.wrapping_add(instruction.len().max(1) as u64);
        }
        let mut text = String::new();
        for (index, (file, line)) in found.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| found.get(before));
            let _ = match before {
                Some((same, _)) if same == file => write!(text, ",{line}"),
                Some(_) => write!(text, " {file}:{line}"),
                None => write!(text, "{file}:{line}"),
            };
        }
        text
    }
}

fn name_of(id: BlockId) -> String {
    format!("block {}", id.0)
}

fn names(ids: &[BlockId]) -> String {
    ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(", ")
}

fn ending(block: &BasicBlock) -> String {
    let last = block.last;
    match &block.terminator {
        Terminator::Next(next) => format!("goes on to block {}", next.0),
        Terminator::Branch { taken, not_taken } => {
            format!("branch at {last:#x}: block {} if taken, else block {}", taken.0, not_taken.0)
        }
        Terminator::Switch { targets } => format!("switch at {last:#x}: blocks {}", names(targets)),
        Terminator::Return => format!("return at {last:#x}"),
        Terminator::TailCall { target: Some(target) } => format!("tail call at {last:#x}: {target:#x}"),
        Terminator::TailCall { target: None } => format!("tail call at {last:#x}"),
        Terminator::Stop => format!("stops at {last:#x}"),
        Terminator::Unknown => format!("unknown jump at {last:#x}"),
    }
}

fn decision(cfg: &Cfg, on: &Controller) -> String {
    let side = match cfg.block(on.block).map(|block| &block.terminator) {
        Some(Terminator::Branch { .. }) if on.successor == 0 => "taken".to_owned(),
        Some(Terminator::Branch { .. }) => "not taken".to_owned(),
        Some(Terminator::Switch { targets }) => {
            targets.get(on.successor as usize).map_or(String::new(), |to| format!("to {}", to.0))
        }
        _ => "goes on".to_owned(),
    };
    format!("block {} {side}", on.block.0)
}

fn shape(text: &mut String, analysis: &Analysis) {
    for (index, found) in analysis.loops.all().iter().enumerate() {
        let parent = found.parent.map_or(String::new(), |parent| format!(", in loop {parent}"));
        let _ = writeln!(
            text,
            "loop {index}: header block {}, back from {}, depth {}{parent}",
            found.header.0,
            names(&found.latches),
            found.depth
        );
    }
    for (from, to) in analysis.loops.irreducible() {
        let _ = writeln!(text, "irreducible: back from block {} to block {}", from.0, to.0);
    }
    for node in analysis.post_dominators.endless() {
        let _ = writeln!(text, "endless: taken to end after block {}", node.0);
    }
}

fn table_text(text: &mut String, table: &JumpTable) {
    let bound = match table.bound {
        TableBound::Checked => "checked",
        TableBound::Extent => "unchecked",
    };
    let _ = write!(text, "table at {:#x}, {bound}", table.jump);
    if let Some(default) = table.default {
        let _ = write!(text, ", default block {}", default.0);
    }
    let cases: Vec<String> = table.cases.iter().map(|(value, to)| format!("{value} to {}", to.0)).collect();
    let _ = writeln!(text, ": {}", cases.join(", "));
}
