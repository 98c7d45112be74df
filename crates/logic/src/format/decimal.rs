//! The exact decimal digits of a binary number, and their rounding.

use std::cmp::Ordering;

/// Zero point these digits, times ten to the exponent. The first digit is not 0, unless there are none: then it is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// `mantissa * 2^power`, which always has finitely many digits: dividing by two is to multiply by five and to shift by a digit.
    pub fn of_binary(mantissa: u64, power: i32) -> Decimal {
        let mut number = Natural(vec![mantissa]);
        match u32::try_from(power) {
            Ok(power) => number.shift_left(power),
            Err(_) => number.multiply_by_power_of_five(power.unsigned_abs()),
        }
        let digits = number.digits();
        let exponent = digits.len() as i32 + power.min(0);
        let mut decimal = Decimal { digits, exponent };
        if decimal.digits.is_empty() {
            decimal.exponent = 0;
        }
        decimal
    }

    /// These digits, of which so many are before the point, times that power of ten.
    pub fn of_digits(digits: &[u8], point: usize, power: i32) -> Decimal {
        let zeroes = digits.iter().take_while(|digit| **digit == 0).count();
        let mut digits = digits[zeroes..].to_vec();
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let exponent = if digits.is_empty() { 0 } else { point as i32 - zeroes as i32 + power };
        Decimal { digits, exponent }
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The digits without zeroes after them.
    fn significant(&self) -> &[u8] {
        let zeroes = self.digits.iter().rev().take_while(|digit| **digit == 0).count();
        &self.digits[..self.digits.len() - zeroes]
    }

    /// Rounded to so many digits; to the nearest, of two the even one.
    fn rounded(mut self, keep: i64) -> Decimal {
        let Ok(keep) = usize::try_from(keep) else { return Decimal { digits: Vec::new(), exponent: 0 } };
        if keep >= self.digits.len() {
            return self;
        }
        let dropped = self.digits.split_off(keep);
        let is_odd = self.digits.last().is_some_and(|digit| digit % 2 == 1);
        let is_more = dropped[1..].iter().any(|digit| *digit != 0);
        let rounds_up = dropped[0] > 5 || dropped[0] == 5 && (is_more || is_odd);
        if rounds_up {
            self.increment();
        }
        if self.digits.iter().all(|digit| *digit == 0) {
            self = Decimal { digits: Vec::new(), exponent: 0 };
        }
        self
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            *digit += 1;
            if *digit < 10 {
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.exponent += 1;
    }

    /// As many digits after the point as wanted, as `%f` prints it. The point is there if digits follow, or if it is wanted anyway.
    pub fn fixed(self, precision: usize, always_point: bool) -> String {
        let keep = i64::from(self.exponent) + precision as i64;
        let decimal = self.rounded(keep);
        let digit = |place: i64| {
            usize::try_from(place)
                .ok()
                .and_then(|place| decimal.digits.get(place))
                .map_or('0', |digit| char::from(b'0' + digit))
        };
        let point = i64::from(decimal.exponent);
        let mut text: String = (0..point).map(digit).collect();
        if text.is_empty() {
            text.push('0');
        }
        if precision > 0 || always_point {
            text.push('.');
        }
        text.extend((point..point + precision as i64).map(digit));
        text
    }

    /// One digit, a point, so many others, and the power of ten, as `%e` prints it; and that power.
    pub fn scientific(self, precision: usize, always_point: bool) -> (String, String, i32) {
        let decimal = self.rounded(precision as i64 + 1);
        let power = if decimal.is_zero() { 0 } else { decimal.exponent - 1 };
        let digit = |place: usize| decimal.digits.get(place).map_or('0', |digit| char::from(b'0' + digit));
        let mut mantissa = String::from(digit(0));
        if precision > 0 || always_point {
            mantissa.push('.');
        }
        mantissa.extend((1..=precision).map(digit));
        let sign = if power < 0 { '-' } else { '+' };
        (mantissa, format!("e{sign}{:02}", power.unsigned_abs()), power)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let size = |of: &Decimal| (!of.is_zero()).then_some(of.exponent);
        size(self).cmp(&size(other)).then_with(|| self.significant().cmp(other.significant()))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A natural number, its lowest 64 bits first.
struct Natural(Vec<u64>);

impl Natural {
    fn multiply(&mut self, factor: u64) {
        let mut carry = 0;
        for word in &mut self.0 {
            let product = u128::from(*word) * u128::from(factor) + carry;
            *word = product as u64;
            carry = product >> 64;
        }
        if carry != 0 {
            self.0.push(carry as u64);
        }
    }

    fn multiply_by_power_of_five(&mut self, mut power: u32) {
        /// The largest power that fits a word.
        const STEP: u32 = 27;
        while power > 0 {
            let step = power.min(STEP);
            self.multiply(5u64.pow(step));
            power -= step;
        }
    }

    fn shift_left(&mut self, by: u32) {
        self.multiply(1 << (by % 64));
        self.0.splice(0..0, std::iter::repeat_n(0, by as usize / 64));
    }

    /// The highest first, without zeroes before it.
    fn digits(mut self) -> Vec<u8> {
        /// The largest power of ten that fits a word, and its zeroes.
        const STEP: (u64, usize) = (10_000_000_000_000_000_000, 19);
        let mut digits = Vec::new();
        while self.0.iter().any(|word| *word != 0) {
            let mut rest = 0;
            for word in self.0.iter_mut().rev() {
                let whole = u128::from(rest) << 64 | u128::from(*word);
                *word = (whole / u128::from(STEP.0)) as u64;
                rest = (whole % u128::from(STEP.0)) as u64;
            }
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
            for _ in 0..STEP.1 {
                digits.push((rest % 10) as u8);
                rest /= 10;
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        digits
    }
}
