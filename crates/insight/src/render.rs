//! Pictures and explanations as text for people: in eighty columns, or in twice as many. Colour is a parameter; words never
//! depend on it.

mod clusters;
mod explanation;
mod page;
mod status;
mod summary;
mod table;

pub use self::{clusters::clusters, explanation::explanation, status::status, summary::summary};

/// Columns of a usual screen.
pub const NARROW: usize = 80;
/// Columns of a wide one.
pub const WIDE: usize = 160;

/// Whether words are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// They are not.
    Plain,
    /// They are, by the codes of terminals.
    Colour,
}

/// How text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether it is coloured.
    pub style: Style,
    /// Whether it may be as wide as [`WIDE`], with more columns.
    pub is_wide: bool,
}

impl Look {
    /// Without colour, for a usual screen.
    pub const PLAIN: Self = Self {
        style: Style::Plain,
        is_wide: false,
    };

    pub(crate) const fn width(self) -> usize {
        if self.is_wide { WIDE } else { NARROW }
    }
}
