//! The hash function behind [`Memory::hash`](super::Memory::hash): fixed for ever, fast on whole pages.
//!
//! It tells states apart, it does not withstand an attacker. Two values are kept free as marks.

use super::page::Bytes;

/// The mark of a digest that was not computed yet.
pub(super) const UNKNOWN: u64 = 0;
/// The digest of a page that was never written, and of a node with only such pages below. Like an absent one.
pub(super) const NOTHING: u64 = 1;

const ODD: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f];

/// Four independent lanes, so that the multiplications of one overlap with those of the others. Every step is
/// a bijection of the lane for a given word and of the word for a given lane.
pub(super) fn of_page(bytes: &Bytes) -> u64 {
    let mut lanes = ODD;
    let (words, _) = bytes.as_chunks::<8>();
    let (rows, _) = words.as_chunks::<4>();
    for row in rows {
        for lane in 0..4 {
            let word = u64::from_le_bytes(row[lane]).wrapping_mul(ODD[1]);
            lanes[lane] = lanes[lane].wrapping_add(word).rotate_left(31).wrapping_mul(ODD[0]);
        }
    }
    unmarked(lanes.into_iter().fold(0, combine))
}

/// What `digest` becomes when `value` is appended to what it stands for.
pub(super) fn combine(digest: u64, value: u64) -> u64 {
    mix(digest.rotate_left(23) ^ mix(value.wrapping_add(ODD[2])))
}

/// Keeps a digest off the two marks.
pub(super) fn unmarked(digest: u64) -> u64 {
    if digest <= NOTHING { digest + 2 } else { digest }
}

/// A bijection in which every bit of the input sways every bit of the result.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 32)).wrapping_mul(ODD[2]);
    value = (value ^ (value >> 32)).wrapping_mul(ODD[3]);
    value ^ (value >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_byte_of_a_page_counts() {
        let mut seen = std::collections::HashSet::from([of_page(&[0; 4096])]);
        for place in 0..4096 {
            let mut bytes = [0; 4096];
            bytes[place] = 1;
            assert!(seen.insert(of_page(&bytes)), "byte {place}");
        }
    }

    #[test]
    fn order_counts() {
        assert_ne!(combine(combine(0, 1), 2), combine(combine(0, 2), 1));
    }
}
