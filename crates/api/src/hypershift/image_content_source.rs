//! Mirrors from which nodes pull images.

use serde::{Deserialize, Serialize};

use crate::schema::{JsonSchema, list_set, text_items};

/// A repository and where else its images may be found.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageContentSource {
    /// The repository as image references name it.
    #[schemars(length(max = 255))]
    pub source: String,
    /// Repositories with the same images, tried in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 255), transform = list_set(), transform = text_items(None, Some(255), vec![]))]
    pub mirrors: Vec<String>,
}
