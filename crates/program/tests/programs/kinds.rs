//! One of each kind of type of Rust. gdb stops where it says so.
#![allow(dead_code, static_mut_refs)]
use std::collections::HashMap;
#[derive(Debug, Clone, Copy)]
enum Color {
    Red,
    Green = 5,
    Blue,
}
#[derive(Debug)]
enum Shape {
    Circle(f64),
    Rect { w: f32, h: f32 },
    Unit,
    Pair(i32, u8),
}
struct Point {
    x: i32,
    y: i32,
}
struct Wrapper(u64, &'static str);
struct Unit;
union Bits {
    a: u32,
    b: f32,
}
/// A string whose length is not set yet holds anything.
union Unset {
    text: &'static str,
    length: (*const u8, usize),
}
fn twice_as_much(amount: i32) -> i32 {
    amount * 2
}
mod inner {
    pub struct Deep<T> {
        pub value: T,
    }
    pub fn twice<T: Clone>(v: &T) -> (T, T) {
        let c = v.clone();
        (c.clone(), c) // STOP
    }
}
static GLOBAL: i32 = 7;
static mut COUNTER: u64 = 3;
trait Speak {
    fn speak(&self) -> i32;
}
impl Speak for Point {
    fn speak(&self) -> i32 {
        self.x + self.y // STOP
    }
}
#[inline(never)]
fn show(p: &Point, s: &str, v: &[i32], name: String, d: &dyn Speak) -> i32 {
    let opt: Option<i32> = Some(5);
    let none: Option<i32> = None;
    let boxed: Box<i32> = Box::new(9);
    let optbox: Option<Box<i32>> = Some(Box::new(4));
    let nonebox: Option<Box<i32>> = None;
    let res: Result<u8, String> = Ok(3);
    let err: Result<u8, String> = Err("bad".to_string());
    let circle = Shape::Circle(1.5);
    let rect = Shape::Rect { w: 1.0, h: 2.0 };
    let unit_shape = Shape::Unit;
    let pair_shape = Shape::Pair(1, 2);
    let color = Color::Blue;
    let tuple = (1i32, 'c', true, 2.5f32);
    let arr = [1u8, 2, 3];
    let arr2 = [[0i16; 3]; 2];
    let w = Wrapper(1, "static");
    let unit = ();
    let u = Unit;
    let bits = Bits { a: 5 };
    let deep = inner::Deep { value: 3u16 };
    let vec = vec![1i64, 2, 3];
    let f: fn(i32) -> i32 = |x| x + 1;
    let big: u128 = 1 << 100;
    let neg: i128 = -5;
    let is: isize = -1;
    let ch = 'é';
    let raw: *const i32 = &GLOBAL;
    let mr = &mut 5i32;
    let bytes = b"bytes";
    let slice2 = &vec[1..];
    let zeros = [0i32; 20];
    let pair = inner::twice(&tuple.0);
    let clo = |a: i32| a + p.x;
    let never: Option<&str> = None;
    let some_str: Option<&str> = Some("hi");
    let nested: Option<Option<bool>> = Some(None);
    let beyond = Unset { length: (s.as_ptr(), 1 << 40) };
    let code = twice_as_much as fn(i32) -> i32 as *const [u8; 4];
    let nowhere = 16 as *const [u8; 4];
    let res2 = clo(3) + d.speak();
    let sum = p.x + s.len() as i32 + v.len() as i32 + name.len() as i32 + res2; // STOP
    std::hint::black_box((&opt, &none, &boxed, &optbox, &nonebox, &res, &err));
    std::hint::black_box((&circle, &rect, &unit_shape, &pair_shape, &color, &tuple, &arr, &arr2));
    std::hint::black_box((
        &w,
        &unit,
        &u,
        unsafe { bits.a },
        &deep.value,
        &vec,
        &f,
        &big,
        &neg,
        &is,
        &ch,
        &raw,
    ));
    std::hint::black_box((&mr, &bytes, &slice2, &zeros, &pair, &never, &some_str, &nested));
    std::hint::black_box((unsafe { beyond.length }, &code, &nowhere, twice_as_much(sum)));
    sum
}
fn main() {
    let p = Point { x: 1, y: -2 };
    let v = vec![1, 2, 3];
    let mut m: HashMap<i32, i32> = HashMap::new();
    m.insert(1, 2);
    unsafe {
        COUNTER += 1;
    }
    let r = show(
        // STOP
        &p,
        "hello\n",
        &v,
        "name".to_string(),
        &p,
    );
    std::process::exit(r - r);
}
