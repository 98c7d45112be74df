//! The stable text form of conditions.

use std::fmt::Write as _;

use crate::cfg::{BlockId, Cfg};
use crate::lines::Position;

use super::comparison::Operand;
use super::condition::{Condition, ConditionKind, Exit, Member, MemberKind, Step};

impl Condition {
    /// The condition and its members, a line each; blocks are named by their first instruction.
    pub fn text(&self, cfg: &Cfg) -> String {
        let mut text = String::new();
        print(&mut text, cfg, self);
        text
    }
}

fn print(text: &mut String, cfg: &Cfg, condition: &Condition) {
    let position = condition.position.as_ref().map(position).unwrap_or_else(|| "?".to_owned());
    let block = |id: &BlockId| block(cfg, *id);
    let _ = match &condition.kind {
        ConditionKind::Branch { exits: [first, second], true_exit } => {
            let names = match true_exit {
                Some(Exit::First) => ["true", "false"],
                Some(Exit::Second) => ["false", "true"],
                None => ["first", "second"],
            };
            let [a, b] = names;
            writeln!(text, "{position}  branch  {a} -> {}, {b} -> {}", block(first), block(second))
        }
        ConditionKind::Value { join, inverted, place } => {
            let join = join.as_ref().map_or("-".to_owned(), block);
            let turned = if *inverted { ", turned round" } else { "" };
            writeln!(text, "{position}  value  in {}, joins at {join}{turned}", operand(place.as_ref()))
        }
        ConditionKind::Select => writeln!(text, "{position}  select"),
        ConditionKind::Switch { value, cases, default } => {
            let _ = writeln!(text, "{position}  switch  on {}", operand(value.as_ref()));
            for case in cases {
                let values: Vec<String> = case.values.iter().map(range).collect();
                let values = if values.is_empty() { "?".to_owned() } else { values.join(", ") };
                let _ = writeln!(text, "    case {values} -> {}", block(&case.target));
            }
            let default = default.as_ref().map_or("?".to_owned(), block);
            writeln!(text, "    default -> {default}")
        }
    };
    for (number, member) in condition.members.iter().enumerate() {
        print_member(text, cfg, condition, number, member);
    }
}

fn print_member(text: &mut String, cfg: &Cfg, condition: &Condition, number: usize, member: &Member) {
    let kind = match member.kind {
        MemberKind::Jump => "jump",
        MemberKind::Set => "set",
        MemberKind::Move => "move",
        MemberKind::Table => "table",
    };
    let comparison = member.comparison.as_ref().map_or("?".to_owned(), ToString::to_string);
    let step = |step: Step| match (step, &condition.kind) {
        (Step::Exit(exit), ConditionKind::Branch { true_exit: Some(yes), .. }) => (exit == *yes).to_string(),
        (Step::Exit(exit), ConditionKind::Branch { true_exit: None, .. } | ConditionKind::Select) => {
            if exit == Exit::First { "first" } else { "second" }.to_owned()
        }
        (Step::Exit(exit), _) => u8::from(exit == Exit::First).to_string(),
        (Step::Member(next), _) => format!("#{next}"),
        (Step::Block(id), _) => block(cfg, id),
        (Step::Unknown, _) => "?".to_owned(),
    };
    let (holds, fails) = (step(member.holds), step(member.fails));
    let _ = writeln!(text, "    #{number} {:#x} {kind}  {comparison}  ? {holds} : {fails}", member.address);
}

fn block(cfg: &Cfg, id: BlockId) -> String {
    cfg.block(id).map_or("?".to_owned(), |block| format!("{:#x}", block.start))
}

fn operand(operand: Option<&Operand>) -> String {
    operand.map_or("?".to_owned(), ToString::to_string)
}

fn range((low, high): &(i64, i64)) -> String {
    if low == high { low.to_string() } else { format!("{low}..{high}") }
}

fn position(position: &Position) -> String {
    let file = position.file.rsplit('/').next().unwrap_or(&position.file);
    match position.column {
        Some(column) => format!("{file}:{}:{column}", position.line),
        None => format!("{file}:{}", position.line),
    }
}
