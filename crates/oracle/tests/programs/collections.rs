//! A program of Rust's usual kinds of values: enums with and without data, options, slices, strings, boxes, vectors, maps,
//! tuples, references, generics, traits, closures, formatting.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Nothing,
    Circle { radius: f64 },
    Rectangle(u32, u32),
    Group(Vec<Shape>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Level {
    Low = 1,
    Middle,
    High = 9,
}

struct Account<'a> {
    owner: &'a str,
    balance: i64,
    level: Level,
    history: Vec<(u16, i64)>,
    nickname: Option<String>,
    parent: Option<Box<Account<'a>>>,
    letter: char,
    is_open: bool,
}

trait Area {
    fn area(&self) -> f64;
}

impl Area for Shape {
    fn area(&self) -> f64 {
        match self {
            Shape::Nothing => 0.0,
            Shape::Circle { radius } => radius * radius * 3.0,
            Shape::Rectangle(width, height) => f64::from(*width) * f64::from(*height),
            Shape::Group(parts) => parts.iter().map(Area::area).sum(),
        }
    }
}

impl fmt::Display for Account<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.nickname.as_deref().unwrap_or(self.owner);
        write!(formatter, "{name}:{}:{:?}", self.balance, self.level)
    }
}

static GREETING: &str = "hello";
static TABLE: [u16; 4] = [1, 10, 100, 1000];
static mut COUNTER: u32 = 0;

fn shape(seed: u32) -> Shape {
    let kind = seed % 4;
    match kind {
        0 => Shape::Nothing,
        1 => Shape::Circle { radius: f64::from(seed) / 2.0 },
        2 => Shape::Rectangle(seed, seed + 1),
        _ => {
            let parts: Vec<Shape> = (0..3).map(|part| shape((seed + part) / 2)).collect();
            Shape::Group(parts)
        }
    }
}

fn largest<T: PartialOrd + Copy>(values: &[T]) -> Option<T> {
    let mut best: Option<T> = None;
    for value in values {
        best = match best {
            Some(known) if known >= *value => Some(known),
            _ => Some(*value),
        };
    }
    best
}

fn count() -> u32 {
    // The only thread there is.
    unsafe {
        COUNTER += 1;
        COUNTER
    }
}

fn words(text: &str) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    for word in text.split_whitespace() {
        let length = word.len();
        *found.entry(word).or_insert(0) += length;
    }
    found
}

fn main() {
    let mut total = 0.0;
    let mut lines = Vec::new();
    for round in 0..12u32 {
        let made = shape(round * 7);
        let level = [Level::Low, Level::Middle, Level::High][round as usize % 3];
        let mut account = Account {
            owner: GREETING,
            balance: i64::from(round) * -1000,
            level,
            history: vec![(round as u16, 5), (7, -1)],
            nickname: (round % 2 == 0).then(|| format!("number {round}")),
            parent: None,
            letter: char::from(b'a' + round as u8),
            is_open: round % 3 == 0,
        };
        account.history.push((count() as u16, i64::from(TABLE[round as usize % 4])));
        let parent = Account { parent: None, nickname: None, history: Vec::new(), ..account };
        let account = Account { parent: Some(Box::new(parent)), owner: "other", balance: 1, level, history: vec![], nickname: None, letter: 'é', is_open: true };
        let amounts: Vec<i64> = account.parent.iter().flat_map(|parent| parent.history.iter().map(|(_, amount)| *amount)).collect();
        let best = largest(&amounts);
        let area = made.area();
        total += area;
        lines.push(format!("{account} {best:?} {area:.1} {} {}", account.letter, account.is_open));
    }
    let text = lines.join(" ");
    let counted = words(&text);
    println!("{total} {} {}", counted.len(), text.len());
}
