//! Sets of numbers of one width, for what reaches each case of a switch.

use lift::Size;

use super::comparison::{Numbers, Relation, signed};

/// Each comparison of a chain cuts the set in two; work grows with the square of this.
const MOST_RANGES: usize = 4096;

/// Inclusive ranges of unsigned numbers, sorted and apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NumberSet {
    ranges: Vec<(u64, u64)>,
    size: Size,
}

impl NumberSet {
    pub fn all(size: Size) -> NumberSet {
        NumberSet { ranges: vec![(0, size.mask())], size }
    }

    pub fn none(size: Size) -> NumberSet {
        NumberSet { ranges: Vec::new(), size }
    }

    /// The numbers `n` for which `n + offset relation constant` holds; `None` for a relation of floats.
    pub fn related(
        relation: Relation,
        numbers: Numbers,
        constant: u64,
        offset: u64,
        size: Size,
    ) -> Option<NumberSet> {
        let (mask, constant) = (size.mask(), constant & size.mask());
        let (lowest, highest) = match numbers {
            Numbers::Signed => (size.sign(), size.sign() - 1),
            Numbers::Unsigned | Numbers::Integer => (0, mask),
            Numbers::Float => return None,
        };
        let down = constant.wrapping_sub(1) & mask;
        let up = constant.wrapping_add(1) & mask;
        // From the first number round to the second.
        let round = match relation {
            Relation::Equal => Some((constant, constant)),
            Relation::NotEqual => Some((up, down)),
            Relation::Less => (constant != lowest).then_some((lowest, down)),
            Relation::LessOrEqual => Some((lowest, constant)),
            Relation::Greater => (constant != highest).then_some((up, highest)),
            Relation::GreaterOrEqual => Some((constant, highest)),
            _ => return None,
        };
        let Some((from, to)) = round else { return Some(NumberSet::none(size)) };
        let (from, to) = (from.wrapping_sub(offset) & mask, to.wrapping_sub(offset) & mask);
        let full = to.wrapping_add(1) & mask == from;
        let ranges = match () {
            () if full => vec![(0, mask)],
            () if from <= to => vec![(from, to)],
            () => vec![(0, to), (from, mask)],
        };
        Some(NumberSet { ranges, size })
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// Whether the set has become too many pieces to go on with.
    pub fn is_scattered(&self) -> bool {
        self.ranges.len() > MOST_RANGES
    }

    /// Adds a number; [`Self::normalise`] puts the set in order again.
    pub fn push(&mut self, value: u64) {
        let value = value & self.size.mask();
        self.ranges.push((value, value));
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub fn intersection(&self, other: &NumberSet) -> NumberSet {
        let mut ranges = Vec::new();
        let (mut a, mut b) = (0, 0);
        while let (Some(x), Some(y)) = (self.ranges.get(a), other.ranges.get(b)) {
            let (low, high) = (x.0.max(y.0), x.1.min(y.1));
            if low <= high {
                ranges.push((low, high));
            }
            if x.1 <= y.1 { a += 1 } else { b += 1 }
        }
        NumberSet { ranges, size: self.size }
    }

    pub fn complement(&self) -> NumberSet {
        let mut ranges = Vec::new();
        let mut from = Some(0);
        for (low, high) in &self.ranges {
            if let Some(from) = from.filter(|from| from < low) {
                ranges.push((from, low - 1));
            }
            from = high.checked_add(1).filter(|next| *next <= self.size.mask());
        }
        ranges.extend(from.map(|from| (from, self.size.mask())));
        NumberSet { ranges, size: self.size }
    }

    /// Adds numbers; [`Self::normalise`] puts the set in order again.
    pub fn extend(&mut self, other: &NumberSet) {
        self.ranges.extend(&other.ranges);
    }

    pub fn normalise(&mut self) {
        self.ranges.sort();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(self.ranges.len());
        for (low, high) in self.ranges.drain(..) {
            match joined.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        self.ranges = joined;
    }

    /// One by one, from the least.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges.iter().flat_map(|&(low, high)| low..=high)
    }

    /// How many numbers there are.
    pub fn count(&self) -> u128 {
        self.ranges.iter().map(|(low, high)| u128::from(high - low) + 1).sum()
    }

    /// Read as signed numbers, sorted.
    pub fn signed(&self) -> Vec<(i64, i64)> {
        let sign = self.size.sign();
        let halves = self.ranges.iter().flat_map(|&(low, high)| {
            if low < sign && high >= sign { vec![(low, sign - 1), (sign, high)] } else { vec![(low, high)] }
        });
        let mut ranges: Vec<(i64, i64)> =
            halves.map(|(low, high)| (signed(low, self.size), signed(high, self.size))).collect();
        ranges.sort();
        let mut joined: Vec<(i64, i64)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match joined.last_mut() {
                Some(last) if last.1.checked_add(1) == Some(low) => last.1 = high,
                _ => joined.push((low, high)),
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every relation, offset and pair of byte constants, against arithmetic.
    #[test]
    fn sets_hold_exactly_the_numbers_that_satisfy_a_comparison() {
        use Relation::*;
        let relations = [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual];
        for relation in relations {
            for (numbers, constant) in [Numbers::Signed, Numbers::Unsigned]
                .into_iter()
                .flat_map(|n| (0..=255u8).map(move |c| (n, c)))
            {
                for offset in [0u8, 1, 100, 128, 255] {
                    let set = NumberSet::related(relation, numbers, constant.into(), offset.into(), Size::B1)
                        .unwrap();
                    let inverse = set.complement();
                    for n in 0..=255u8 {
                        let left = n.wrapping_add(offset);
                        let ordering = match numbers {
                            Numbers::Signed => (left as i8).cmp(&(constant as i8)),
                            _ => left.cmp(&constant),
                        };
                        let holds = match relation {
                            Equal => ordering.is_eq(),
                            NotEqual => ordering.is_ne(),
                            Less => ordering.is_lt(),
                            LessOrEqual => ordering.is_le(),
                            Greater => ordering.is_gt(),
                            _ => ordering.is_ge(),
                        };
                        let mut one = NumberSet::none(Size::B1);
                        one.push(n.into());
                        let has = |set: &NumberSet| !set.intersection(&one).is_empty();
                        assert_eq!(has(&set), holds, "{n} + {offset} {relation} {constant} {numbers:?}");
                        assert_eq!(has(&inverse), !holds);
                    }
                    let mut both = set.clone();
                    both.extend(&inverse);
                    both.normalise();
                    assert_eq!(both, NumberSet::all(Size::B1));
                    assert_eq!(set.count() + inverse.count(), 256);
                }
            }
        }
    }
}
