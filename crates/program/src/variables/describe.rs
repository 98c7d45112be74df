//! Where variables are, as far as it can be said without a running program.

use gimli::{AttributeValue, Expression, Operation};

use super::place::register_name;
use super::{Scope, Variable};
use crate::debug_info::Reader;
use crate::entries::{DEEPEST, Die, Entry};
use crate::types::Types;

/// Real expressions have a few dozen operations at most.
const MOST_OPERATIONS: usize = 64;

const MOST_RANGES: usize = 1024;

/// A block of a function with all that is declared in it, at whichever instruction.
#[derive(Clone, Debug)]
pub struct Block {
    /// How deep it is inside of the function; 0 is the function itself.
    pub depth: usize,
    /// The function that was inlined here.
    pub inlined: Option<String>,
    /// Start and end of each stretch of its code, in guest addresses.
    pub ranges: Vec<(u64, u64)>,
    pub variables: Vec<(Variable, Vec<Described>)>,
}

/// A location in words, and the stretch of code where it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// In guest addresses; `None` when it holds everywhere.
    pub range: Option<(u64, u64)>,
    pub text: String,
}

/// All blocks of a function, each before those inside of it.
pub(crate) fn blocks(types: &Types<'_>, function: &Entry<'_>, bias: u64) -> Vec<Block> {
    let mut found = Vec::new();
    block(types, function, function.die, bias, 0, &mut found);
    found
}

fn block(
    types: &Types<'_>,
    entry: &Entry<'_>,
    function: Die,
    bias: u64,
    depth: usize,
    found: &mut Vec<Block>,
) {
    let is_inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
    let ranges = entry.ranges();
    let mut scope = Scope::default();
    super::scopes::variables(types, entry, function, &mut scope);
    let describe = |variable: Variable| {
        let described = locations(types, &variable, bias);
        (variable, described)
    };
    found.push(Block {
        depth,
        inlined: is_inlined.then(|| entry.function_name().unwrap_or_default()),
        ranges: ranges
            .iter()
            .map(|range| (range.begin.wrapping_add(bias), range.end.wrapping_add(bias)))
            .collect(),
        variables: scope.variables.into_iter().map(describe).collect(),
    });
    if depth == DEEPEST {
        return;
    }
    for child in entry.children() {
        if matches!(child.tag(), gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine)
            && !child.ranges().is_empty()
        {
            block(types, &child, function, bias, depth + 1, found);
        }
    }
}

fn locations(types: &Types<'_>, variable: &Variable, bias: u64) -> Vec<Described> {
    let Some(entry) = types.debug.entry(variable.die) else { return Vec::new() };
    for entry in entry.chain() {
        if let Some(value) = entry.attribute(gimli::DW_AT_location) {
            return location(&entry, value, bias);
        }
        if entry.has(gimli::DW_AT_const_value) {
            return vec![Described { range: None, text: "a constant".to_owned() }];
        }
    }
    Vec::new()
}

fn location(entry: &Entry<'_>, value: AttributeValue<Reader>, bias: u64) -> Vec<Described> {
    if let AttributeValue::Exprloc(expression) = value {
        return vec![Described { range: None, text: expression_text(entry, expression, bias) }];
    }
    let mut found = Vec::new();
    let list = entry.debug.dwarf(entry.die.unit).attr_locations(entry.unit, value);
    let Ok(Some(mut list)) = list else { return found };
    while let Ok(Some(item)) = list.next() {
        let range = (item.range.begin.wrapping_add(bias), item.range.end.wrapping_add(bias));
        found.push(Described { range: Some(range), text: expression_text(entry, item.data, bias) });
        if found.len() == MOST_RANGES {
            break;
        }
    }
    found
}

fn expression_text(entry: &Entry<'_>, expression: Expression<Reader>, bias: u64) -> String {
    let mut operations = expression.operations(entry.unit.encoding());
    let mut words = Vec::new();
    while let Ok(Some(operation)) = operations.next() {
        words.push(operation_text(entry, &operation, bias));
        if words.len() == MOST_OPERATIONS {
            break;
        }
    }
    if words.is_empty() { "optimised out".to_owned() } else { words.join(", ") }
}

fn operation_text(entry: &Entry<'_>, operation: &Operation<Reader>, bias: u64) -> String {
    match operation {
        Operation::FrameOffset { offset } => format!("frame base {}", signed(*offset)),
        Operation::CallFrameCFA => "frame address".to_owned(),
        Operation::Register { register } => format!("in {}", register_name(register.0)),
        Operation::RegisterOffset { register, offset, .. } => {
            format!("{} {}", register_name(register.0), signed(*offset))
        }
        Operation::Address { address } => format!("{:#x}", address.wrapping_add(bias)),
        Operation::AddressIndex { index } => {
            let address = entry.debug.dwarf(entry.die.unit).address(entry.unit, *index);
            address.map_or_else(
                |_| "an address".to_owned(),
                |address| format!("{:#x}", address.wrapping_add(bias)),
            )
        }
        Operation::UnsignedConstant { value } => value.to_string(),
        Operation::SignedConstant { value } => value.to_string(),
        Operation::PlusConstant { value } => format!("plus {value}"),
        Operation::Deref { .. } => "dereferenced".to_owned(),
        Operation::TLS => "thread-local".to_owned(),
        Operation::StackValue => "as value".to_owned(),
        Operation::Piece { size_in_bits, .. } => format!("piece of {size_in_bits} bits"),
        Operation::ImplicitValue { data } => format!("a constant of {} bytes", gimli::Reader::len(data)),
        Operation::ImplicitPointer { .. } => "a pointer to something that was optimised out".to_owned(),
        Operation::EntryValue { expression } => {
            format!("at entry ({})", expression_text(entry, Expression(expression.clone()), bias))
        }
        Operation::Plus => "plus".to_owned(),
        Operation::Minus => "minus".to_owned(),
        Operation::And => "and".to_owned(),
        Operation::Mul => "times".to_owned(),
        Operation::Convert { .. } => "converted".to_owned(),
        _ => "computed".to_owned(),
    }
}

fn signed(offset: i64) -> String {
    if offset < 0 { format!("- {}", offset.unsigned_abs()) } else { format!("+ {offset}") }
}
