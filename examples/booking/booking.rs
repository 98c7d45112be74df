//! Assigns bookings of a meeting room, lines "name start end" in hours, and prints the free time between them.

use std::fmt;
use std::io::{self, BufRead};

#[derive(Clone, Debug)]
struct Booking {
    name: String,
    start: u32,
    end: u32,
}

#[derive(Debug)]
enum Rejected {
    Malformed(usize),
    Backwards(String),
    Overlaps { new: String, old: String },
}

impl fmt::Display for Rejected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejected::Malformed(line) => write!(out, "line {line}: expected \"name start end\""),
            Rejected::Backwards(name) => write!(out, "{name} ends before it starts"),
            Rejected::Overlaps { new, old } => write!(out, "{new} overlaps {old}"),
        }
    }
}

impl Booking {
    fn parse(number: usize, line: &str) -> Result<Booking, Rejected> {
        let mut words = line.split_whitespace();
        let mut next = || words.next().ok_or(Rejected::Malformed(number));
        let name = next()?.to_owned();
        let start = next()?.parse().map_err(|_| Rejected::Malformed(number))?;
        let end = next()?.parse().map_err(|_| Rejected::Malformed(number))?;
        if end <= start {
            return Err(Rejected::Backwards(name));
        }
        Ok(Booking { name, start, end })
    }

    fn overlaps(&self, other: &Booking) -> bool {
        self.start < other.start && other.start < self.end
    }
}

#[derive(Default)]
struct Room {
    bookings: Vec<Booking>,
}

impl Room {
    fn book(&mut self, new: Booking) -> Result<(), Rejected> {
        for old in &self.bookings {
            if new.overlaps(old) || old.overlaps(&new) {
                return Err(Rejected::Overlaps { new: new.name, old: old.name.clone() });
            }
        }
        let place = self.bookings.partition_point(|old| old.start < new.start);
        self.bookings.insert(place, new);
        Ok(())
    }

    /// The hours between bookings.
    fn gaps(&self) -> Vec<(u32, u32)> {
        let pairs = self.bookings.windows(2);
        pairs.map(|pair| (pair[0].end, pair[1].start - pair[0].end)).filter(|gap| gap.1 > 0).collect()
    }
}

fn main() {
    let mut room = Room::default();
    for (number, line) in io::stdin().lock().lines().enumerate() {
        let line = line.expect("input is text");
        let booked = Booking::parse(number + 1, &line).and_then(|booking| room.book(booking));
        if let Err(reason) = booked {
            println!("rejected: {reason}");
        }
    }
    for booking in &room.bookings {
        println!("{}-{} {}", booking.start, booking.end, booking.name);
    }
    for (start, hours) in room.gaps() {
        println!("free for {hours} h from {start}");
    }
}
