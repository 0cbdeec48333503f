//! The release that a hosted cluster or a node pool runs: an image that the releases of this product resolve.

use serde::{Deserialize, Serialize};

use crate::{schema::JsonSchema, text::string_type};

string_type! {
    /// Reference of a release image.
    pub struct ReleaseImage {
        length: 1..=253,
        matches: r"^[0-9A-Za-z_][^\t\n\f\r ]+$"
            => "must begin with a letter, a digit or an underscore, go on for at least one more character, and have no blanks",
    }
}

/// A release, by its image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Release {
    /// The release image, by tag or by digest.
    pub image: ReleaseImage,
}
