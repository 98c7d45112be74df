// Maps, formatting, panics that unwind and are caught, and one that is not.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};

struct Guard(&'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        println!("dropped {}", self.0);
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Circle { radius: f64 },
    Rectangle(f64, f64),
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Circle { radius } => write!(f, "circle of {radius:.2}"),
            Shape::Rectangle(a, b) => write!(f, "{a}x{b}"),
        }
    }
}

trait Area {
    fn area(&self) -> f64;
}

impl Area for Shape {
    fn area(&self) -> f64 {
        match *self {
            Shape::Circle { radius } => radius * radius * std::f64::consts::PI,
            Shape::Rectangle(a, b) => a * b,
        }
    }
}

fn element(values: &[u32], index: usize) -> u32 {
    let _guard = Guard("element");
    values[index]
}

fn through_library(values: &mut [i32]) {
    let _guard = Guard("through_library");
    values.sort_by(|a, b| if *a == 13 { panic!("thirteen") } else { a.cmp(b) });
}

fn main() {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in "the cat and the dog and the bird".split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let sorted: BTreeMap<_, _> = counts.iter().collect();
    println!("{sorted:?} {}", counts.values().sum::<usize>());
    let shapes: Vec<Box<Shape>> = vec![Box::new(Shape::Circle { radius: 1.5 }), Box::new(Shape::Rectangle(2.0, 3.5))];
    for shape in &shapes {
        println!("{shape} {shape:?} {:>10.3} {:e}", shape.area(), shape.area());
    }
    println!("{:#x} {:08b} {:?} {:?}", 255, 10, "a\tb", Some(1.5f32));
    println!("{:?}", "12 x 7".split(' ').map(str::parse::<i32>).collect::<Vec<_>>());
    let set: HashSet<u32> = (0..100).map(|n| n * n % 17).collect();
    println!("{}", set.len());
    panic::set_hook(Box::new(|info| println!("panic: {}", info.to_string().lines().last().unwrap_or(""))));
    for index in [1, 5] {
        let result = panic::catch_unwind(|| element(&[10, 20, 30], index));
        println!("{:?}", result.map_err(|_| "caught"));
    }
    let mut values = [4, 2, 13, 1];
    let caught = panic::catch_unwind(AssertUnwindSafe(|| through_library(&mut values)));
    println!("{}", caught.unwrap_err().downcast_ref::<&str>().unwrap());
    let zero = std::env::args().count() as i32 - 1;
    println!("{}", panic::catch_unwind(|| 1 / zero).is_err());
    let _guard = Guard("main");
    let none: Option<u32> = None;
    println!("{}", none.expect("a number"));
}
