//! The order of keys: letters behind everything else, and numbers inside of keys by their value.

use std::cmp::Ordering;

/// Compares two keys.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let Some(at) = left.iter().zip(&right).position(|(left, right)| left != right) else {
        return left.len().cmp(&right.len());
    };
    match (left[at].is_alphabetic(), right[at].is_alphabetic()) {
        (true, true) => left[at].cmp(&right[at]),
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => numbers(&left, &right, at),
    }
}

/// Compares the digits from a place on; a zero inside of a number counts as a digit of it.
fn numbers(left: &[char], right: &[char], at: usize) -> Ordering {
    let is_inside = (left[at] == '0' || right[at] == '0')
        && left[..at]
            .iter()
            .rev()
            .take_while(|character| character.is_numeric())
            .any(|character| *character != '0');
    let start = u64::from(is_inside);
    let (left_number, left_digits) = number(&left[at..], start);
    let (right_number, right_digits) = number(&right[at..], start);
    left_number
        .cmp(&right_number)
        .then(left_digits.cmp(&right_digits))
        .then(left[at].cmp(&right[at]))
}

/// The number at the beginning of a text, with digits in front of it, and how many digits it has.
fn number(text: &[char], start: u64) -> (u64, usize) {
    let digits = text.iter().map_while(|character| character.to_digit(10));
    digits.fold((start, 0), |(value, count), digit| {
        (value.wrapping_mul(10).wrapping_add(u64::from(digit)), count + 1)
    })
}
