// Divides a sum by a number that an argument says.
struct Share {
    total: u32,
    people: u32,
}

fn parse(text: &str) -> u32 {
    text.trim().parse().unwrap_or(0)
}

fn per_head(share: &Share) -> u32 {
    share.total / share.people
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let people = parse(&words[1]);
    let share = Share { total: 120, people };
    println!("{}", per_head(&share));
}
