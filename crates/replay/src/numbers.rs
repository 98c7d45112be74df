//! Numbers as people read them.

/// Digits in groups of three: `5,120`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 run`, `5,120 runs`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (5120, "5,120"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn what_is_counted_goes_with_the_number() {
        assert_eq!(counted(1, "run", "runs"), "1 run");
        assert_eq!(counted(0, "run", "runs"), "0 runs");
        assert_eq!(counted(1000, "run", "runs"), "1,000 runs");
    }
}
