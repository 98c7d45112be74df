//! Rust: blocks that are values, arms, chains, closures.

static TABLE: [i32; 3] = [1, 2, 3];

struct Pair {
    first: i32,
    second: Option<i32>,
}

#[inline(never)]
fn total(values: &[i32]) -> i32 {
    let mut sum = 0;
    for value in values {
        sum += if *value > 2 {
            *value
        } else {
            value * 2
        };
    }
    let mut count = 3;
    while count > 0 { count -= 1; sum += 1 }
    values.iter()
        .map(|value| value + 1)
        .filter(|value| *value > 1)
        .sum::<i32>() + sum
}

#[inline(never)]
fn choose(pair: &Pair) -> i32 {
    let Some(second) = pair.second else {
        return pair.first;
    };
    match second {
        0 => 1,
        1 | 2 => total(
            &TABLE,
        ),
        _ => {
            let half = second / 2;
            half
        }
    }
}

fn main() {
    let pair = Pair {
        first: 1,
        second: Some(2),
    };
    assert!(choose(&pair) > 0,
        "never");
}
