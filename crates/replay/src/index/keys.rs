//! What is the same point in two runs: the same statement, of one program or of two builds of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use program::{Program, Stmt};

/// A statement, by its function and its place in the order of the source. Points of two runs correspond when they have the
/// same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointKey {
    pub function: u32,
    pub order: u32,
}

/// A condition: the statement, and which of its conditions it is.
pub type ConditionKey = (PointKey, u32);

/// From an address to its key; `None` for code that belongs to no statement.
pub type Keys<'p> = Rc<dyn Fn(u64) -> Option<PointKey> + 'p>;

/// The lists of two functions are compared as a whole up to this product of their lengths, which is the time that it
/// takes. Beyond it only what they begin and end with in common corresponds.
const MOST_COMPARISONS: usize = 1 << 24;

/// For runs of one program. Code without debug information is told apart by instruction.
pub fn keys_of_one<'p>(program: &'p Program) -> Keys<'p> {
    let table = Table::new(program);
    let numbers: RefCell<HashMap<u64, u32>> = RefCell::default();
    let known: RefCell<HashMap<u64, Option<PointKey>>> = RefCell::default();
    Rc::new(move |address| {
        if let Some(known) = known.borrow().get(&address) {
            return *known;
        }
        let key = table.function(address).and_then(|function| {
            let mut numbers = numbers.borrow_mut();
            let next = numbers.len() as u32;
            let number = *numbers.entry(function.entry).or_insert(next);
            let order = match function.statements.is_empty() {
                true => address.wrapping_sub(function.entry) as u32,
                false => function.place(program, address)?,
            };
            Some(PointKey { function: number, order })
        });
        known.borrow_mut().insert(address, key);
        key
    })
}

/// For runs of two builds. Functions correspond by name; their statements by text and order, and where some were replaced
/// by as many others, by order alone.
pub fn keys_of_two<'p>(left: &'p Program, right: &'p Program) -> (Keys<'p>, Keys<'p>) {
    let builds = Rc::new(Builds { sides: [Table::new(left), Table::new(right)], merged: RefCell::default() });
    let side = |index: usize| -> Keys<'p> {
        let builds = Rc::clone(&builds);
        let known: RefCell<HashMap<u64, Option<PointKey>>> = RefCell::default();
        Rc::new(move |address| {
            if let Some(known) = known.borrow().get(&address) {
                return *known;
            }
            let key = builds.key(index, address);
            known.borrow_mut().insert(address, key);
            key
        })
    };
    (side(0), side(1))
}

/// The statements of one program's functions, as they are asked for.
struct Table<'p> {
    program: &'p Program,
    /// By the address of a function's first instruction.
    functions: RefCell<HashMap<u64, Rc<Statements>>>,
}

struct Statements {
    entry: u64,
    /// In the order of the source.
    statements: Vec<Stmt>,
    places: HashMap<Stmt, u32>,
}

impl<'p> Table<'p> {
    fn new(program: &'p Program) -> Table<'p> {
        Table { program, functions: RefCell::default() }
    }

    fn function(&self, address: u64) -> Option<Rc<Statements>> {
        let (entry, _) = self.program.function_at(address)?;
        if let Some(known) = self.functions.borrow().get(&entry) {
            return Some(known.clone());
        }
        let placed = self.program.statements_of(entry);
        let statements: Vec<Stmt> = placed.into_iter().map(|placed| placed.stmt).collect();
        let places = statements.iter().cloned().zip(0..).collect();
        let function = Rc::new(Statements { entry, statements, places });
        self.functions.borrow_mut().insert(entry, function.clone());
        Some(function)
    }
}

impl Statements {
    fn place(&self, program: &Program, address: u64) -> Option<u32> {
        self.places.get(&program.statement_at(address)?).copied()
    }
}

struct Builds<'p> {
    sides: [Table<'p>; 2],
    /// By the name of a function.
    merged: RefCell<HashMap<Arc<str>, Rc<Merged>>>,
}

/// The statements of a function in both builds, in one order.
struct Merged {
    number: u32,
    /// For each side, for each statement of it, its place.
    orders: [Vec<u32>; 2],
}

impl Builds<'_> {
    fn key(&self, side: usize, address: u64) -> Option<PointKey> {
        let table = self.sides.get(side)?;
        let function = table.function(address)?;
        let name: Arc<str> = table.program.locate(function.entry).function?.name.into();
        let merged = self.merged(&name);
        let place = function.place(table.program, address)?;
        let order = *merged.orders.get(side)?.get(place as usize)?;
        Some(PointKey { function: merged.number, order })
    }

    fn merged(&self, name: &Arc<str>) -> Rc<Merged> {
        if let Some(known) = self.merged.borrow().get(name) {
            return known.clone();
        }
        let number = self.merged.borrow().len() as u32;
        let texts = [0, 1].map(|side: usize| self.texts(side, name));
        let orders = merge(&texts[0], &texts[1]);
        let merged = Rc::new(Merged { number, orders });
        self.merged.borrow_mut().insert(name.clone(), merged.clone());
        merged
    }

    /// The texts of the statements of a function; those without a source have their lines instead.
    fn texts(&self, side: usize, name: &str) -> Vec<String> {
        let Some(Table { program, .. }) = self.sides.get(side) else { return Vec::new() };
        let Ok(symbol) = program.find_symbol(name) else { return Vec::new() };
        let function = self.sides.get(side).and_then(|table| table.function(symbol.address));
        let text = |stmt: &Stmt| program.text_of(stmt).unwrap_or_else(|| stmt.line.to_string());
        function.map(|function| function.statements.iter().map(text).collect()).unwrap_or_default()
    }
}

/// Puts two lists into one order: for each element of each, its place. Elements that correspond have the same place.
fn merge(left: &[String], right: &[String]) -> [Vec<u32>; 2] {
    let mut orders = [Vec::new(), Vec::new()];
    let mut next = 0;
    let mut gap = |orders: &mut [Vec<u32>; 2], left: usize, right: usize| {
        let count = left.max(right) as u32;
        orders[0].extend((next..).take(left));
        orders[1].extend((next..).take(right));
        next += count;
    };
    let (mut a, mut b) = (0, 0);
    for (x, y) in common(left, right) {
        gap(&mut orders, x - a, y - b);
        gap(&mut orders, 1, 1);
        (a, b) = (x + 1, y + 1);
    }
    gap(&mut orders, left.len() - a, right.len() - b);
    orders
}

/// A longest common subsequence: pairs of places, in order.
fn common(left: &[String], right: &[String]) -> Vec<(usize, usize)> {
    let prefix = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left_rest, right_rest) = (&left[prefix..], &right[prefix..]);
    let suffix = left_rest.iter().rev().zip(right_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (left_middle, right_middle) =
        (&left_rest[..left_rest.len() - suffix], &right_rest[..right_rest.len() - suffix]);
    let mut pairs: Vec<(usize, usize)> = (0..prefix).map(|place| (place, place)).collect();
    pairs.extend(middle(left_middle, right_middle).iter().map(|(a, b)| (a + prefix, b + prefix)));
    pairs.extend((0..suffix).map(|place| (left.len() - suffix + place, right.len() - suffix + place)));
    pairs
}

fn middle(left: &[String], right: &[String]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    if (left.len() + 1).saturating_mul(width) > MOST_COMPARISONS {
        return Vec::new();
    }
    // How long the common subsequence of the rests is, from each pair of places on.
    let mut lengths = vec![0u32; (left.len() + 1) * width];
    for a in (0..left.len()).rev() {
        for b in (0..right.len()).rev() {
            lengths[a * width + b] = match left[a] == right[b] {
                true => lengths[(a + 1) * width + b + 1] + 1,
                false => lengths[(a + 1) * width + b].max(lengths[a * width + b + 1]),
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < left.len() && b < right.len() {
        if left[a] == right[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if lengths[(a + 1) * width + b] >= lengths[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(left: &str, right: &str) -> [Vec<u32>; 2] {
        let list = |text: &str| text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let (left, right): (Vec<String>, Vec<String>) = (list(left), list(right));
        merge(&left, &right)
    }

    #[test]
    fn equal_texts_correspond_in_order_and_replaced_ones_by_place() {
        assert_eq!(merged("a b c", "a b c"), [[0, 1, 2], [0, 1, 2]]);
        assert_eq!(merged("a x c", "a y c"), [[0, 1, 2], [0, 1, 2]], "one for one");
        assert_eq!(merged("a c", "a b c"), [vec![0, 2], vec![0, 1, 2]], "one is new");
        assert_eq!(merged("a a b", "a b"), [vec![0, 1, 2], vec![0, 2]], "equal texts keep their order");
        assert_eq!(merged("a b c d", "b d"), [vec![0, 1, 2, 3], vec![1, 3]]);
        assert_eq!(merged("", "a"), [vec![], vec![0]]);
    }
}
