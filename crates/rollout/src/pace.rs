//! How far the number of machines may stray from the wanted one while they are replaced, out of numbers and
//! percentages.

use hyperplane_api::common::IntOrString;
use k8s_openapi::apimachinery::pkg::util::intstr;
use thiserror::Error;

/// How many machines there may be beyond the wanted number where nothing is said.
const DEFAULT_SURGE: u32 = 1;

/// The bounds of a rolling update, in machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many there may be beyond the wanted number.
    pub surge: u32,
    /// How many of the wanted number may be missing.
    pub unavailable: u32,
}

/// To which side a share of machines is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the next whole machine.
    Up,
    /// To the last whole machine.
    Down,
}

/// Why a text is no number of machines.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0} is neither a number of machines nor a percentage such as 25%")]
pub struct InvalidAmount(String);

impl Pace {
    /// The bounds for a number of wanted machines. Unset means one beyond it and none missing. Where rounding leaves no
    /// room to either side, one may be missing, as with Deployments: a surge may be against a quota, so that nothing
    /// would ever move.
    pub fn new(
        max_surge: Option<&IntOrString>,
        max_unavailable: Option<&IntOrString>,
        desired: u32,
    ) -> Result<Self, InvalidAmount> {
        let surge = max_surge.map_or(Ok(DEFAULT_SURGE), |given| amount(given, desired, Rounding::Up))?;
        let unavailable = max_unavailable.map_or(Ok(0), |given| amount(given, desired, Rounding::Down))?;
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        Ok(Self {
            surge,
            unavailable: unavailable.min(desired),
        })
    }
}

/// A number of machines, or a share of `total`.
pub fn amount(given: &IntOrString, total: u32, rounding: Rounding) -> Result<u32, InvalidAmount> {
    match &given.0 {
        intstr::IntOrString::Int(number) => u32::try_from(*number).map_err(|_| InvalidAmount(number.to_string())),
        intstr::IntOrString::String(text) => share(text, total, rounding).ok_or_else(|| InvalidAmount(quoted(text))),
    }
}

fn share(text: &str, total: u32, rounding: Rounding) -> Option<u32> {
    let percent: u32 = text.strip_suffix('%')?.parse().ok()?;
    let hundredths = u64::from(percent) * u64::from(total);
    let share = match rounding {
        Rounding::Up => hundredths.div_ceil(100),
        Rounding::Down => hundredths / 100,
    };
    Some(u32::try_from(share).unwrap_or(u32::MAX))
}

/// The text as an error repeats it: errors end up in statuses.
fn quoted(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    format!("\"{start}\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pace(surge: &str, unavailable: &str, desired: u32) -> (u32, u32) {
        let parse = |text: &str| match text.parse::<i32>() {
            Ok(number) => Some(IntOrString::from(number)),
            Err(_) if text.is_empty() => None,
            Err(_) => Some(IntOrString::from(text)),
        };
        let pace = Pace::new(parse(surge).as_ref(), parse(unavailable).as_ref(), desired).unwrap();
        (pace.surge, pace.unavailable)
    }

    #[test]
    fn bounds_in_machines() {
        for (surge, unavailable, desired, expected) in [
            ("", "", 5, (1, 0)),
            ("0", "", 5, (0, 1)),
            ("0", "0", 5, (0, 1)),
            ("2", "1", 5, (2, 1)),
            ("10%", "10%", 5, (1, 0)),
            ("0%", "10%", 5, (0, 1)),
            ("25%", "50%", 7, (2, 3)),
            ("100%", "100%", 7, (7, 7)),
            ("0", "9", 7, (0, 7)),
            ("0%", "1%", 0, (0, 0)),
            ("400%", "0", 3, (12, 0)),
        ] {
            assert_eq!(
                pace(surge, unavailable, desired),
                expected,
                "{surge} {unavailable} of {desired}"
            );
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "%", "-1%", "1.5%", "ten", "5", " 5%", "99999999999%"] {
            assert!(amount(&IntOrString::from(text), 10, Rounding::Up).is_err(), "{text}");
        }
        assert!(amount(&IntOrString::from(-1), 10, Rounding::Up).is_err());
        let long = "x".repeat(10_000);
        let error = amount(&IntOrString::from(&*long), 10, Rounding::Up).unwrap_err();
        assert!(error.to_string().len() < 150);
    }

    proptest! {
        #[test]
        fn there_is_always_room_to_move(
            surge in 0_i32..200, unavailable in 0_i32..200, desired in 1_u32..500, shape in 0..4,
        ) {
            let give = |number: i32, percent: bool| {
                if percent { IntOrString::from(&*format!("{number}%")) } else { IntOrString::from(number) }
            };
            let (surge, unavailable) = (give(surge, shape % 2 == 0), give(unavailable, shape / 2 == 0));
            let pace = Pace::new(Some(&surge), Some(&unavailable), desired).unwrap();
            prop_assert!(pace.surge > 0 || pace.unavailable > 0);
            prop_assert!(pace.unavailable <= desired);
        }
    }
}
