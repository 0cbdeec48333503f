//! A size or a cost that is known only between bounds. Nothing overflows: what is too large is the largest number.

/// From `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cel) struct Range {
    pub(in crate::cel) min: u64,
    pub(in crate::cel) max: u64,
}

impl Range {
    /// Nothing is known.
    pub(in crate::cel) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(in crate::cel) const fn fixed(size: u64) -> Self {
        Self { min: size, max: size }
    }

    pub(in crate::cel) const fn add(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(in crate::cel) const fn multiply(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    pub(in crate::cel) fn scale(self, factor: f64) -> Self {
        Self {
            min: scale(self.min, factor),
            max: scale(self.max, factor),
        }
    }

    pub(in crate::cel) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// The product, rounded up.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "upstream computes in floats, too, and a cast saturates"
)]
pub(in crate::cel) fn scale(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}
