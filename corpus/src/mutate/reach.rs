//! Whether control can go from one statement of a function to another, by the shape of the text.
//!
//! Conditions are not looked at, and a `goto` is taken to lead anywhere.

use tree_sitter::Node;

use super::source::{ancestors, is_field};

/// Can a later statement be executed after this one, without going around a loop?
pub fn reaches(from: Node<'_>, to: Node<'_>) -> bool {
    let mut below = from;
    while !contains(below, to) {
        if last_jump(below).is_some_and(|jump| skips(jump, to)) {
            return false;
        }
        let Some(above) = below.parent() else { return false };
        if is_other_arm(below, above, to) || is_other_case(below, to) {
            return false;
        }
        below = above;
    }
    true
}

/// Can the loop around a statement be gone around after it?
pub fn goes_around(from: Node<'_>, around: Node<'_>) -> bool {
    for below in ancestors(from).take_while(|above| above.id() != around.id()) {
        let Some(jump) = last_jump(below) else { continue };
        let is_of_loop = left_by(jump).is_some_and(|left| left.id() == around.id());
        match jump.kind() {
            "return_statement" => return false,
            "break_statement" if is_of_loop => return false,
            "continue_statement" if is_of_loop => return true,
            _ => {}
        }
    }
    true
}

pub fn is_loop(node: &Node<'_>) -> bool {
    matches!(node.kind(), "while_statement" | "for_statement" | "do_statement")
}

pub fn contains(node: Node<'_>, other: Node<'_>) -> bool {
    node.start_byte() <= other.start_byte() && other.end_byte() <= node.end_byte()
}

/// The jump that a block ends in.
fn last_jump(block: Node<'_>) -> Option<Node<'_>> {
    if !matches!(block.kind(), "compound_statement" | "case_statement") {
        return None;
    }
    let mut cursor = block.walk();
    let last = block.named_children(&mut cursor).filter(|child| child.kind() != "comment").last()?;
    match last.kind() {
        "return_statement" | "break_statement" | "continue_statement" | "goto_statement" => Some(last),
        _ => last_jump(last),
    }
}

/// The loop or `switch` that a jump ends or begins again.
fn left_by(jump: Node<'_>) -> Option<Node<'_>> {
    let may_be_switch = jump.kind() == "break_statement";
    ancestors(jump).find(|above| is_loop(above) || may_be_switch && above.kind() == "switch_statement")
}

fn skips(jump: Node<'_>, to: Node<'_>) -> bool {
    match jump.kind() {
        "return_statement" => true,
        "goto_statement" => false,
        _ => left_by(jump).is_some_and(|left| contains(left, to)),
    }
}

fn is_other_arm(below: Node<'_>, above: Node<'_>, to: Node<'_>) -> bool {
    let other = above.child_by_field_name("alternative").filter(|_| above.kind() == "if_statement");
    is_field(below, above, "consequence") && other.is_some_and(|other| contains(other, to))
}

/// Does a group of statements before a `case` keep control from going on into it?
fn is_other_case(case: Node<'_>, to: Node<'_>) -> bool {
    let is_before = |next: &Node<'_>| !contains(*next, to);
    case.kind() == "case_statement"
        && case.parent().is_some_and(|body| contains(body, to))
        && std::iter::successors(case.next_named_sibling(), Node::next_named_sibling)
            .take_while(is_before)
            .any(|next| last_jump(next).is_some_and(|jump| skips(jump, to)))
}
