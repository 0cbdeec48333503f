//! Tags on AWS resources.

use serde::{Deserialize, Serialize};

use crate::{schema::JsonSchema, text::string_type};

string_type! {
    /// The key of an AWS tag.
    pub struct AwsTagKey {
        length: 1..=128,
        matches: "^[0-9A-Za-z_.:/=+@-]+$" => "can hold only letters, digits and _ . : / = + @ -",
    }
}

string_type! {
    /// The value of an AWS tag.
    pub struct AwsTagValue {
        length: 1..=256,
        matches: "^[0-9A-Za-z_.:/=+@-]+$" => "can hold only letters, digits and _ . : / = + @ -",
    }
}

/// A tag on an AWS resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsResourceTag {
    /// Name of the tag: letters, digits and any of _ . : / = + - @, at most 128 of them.
    pub key: AwsTagKey,
    /// Content of the tag, from the same characters, at most 256 of them. Never empty, because some AWS services
    /// refuse empty values.
    pub value: AwsTagValue,
}
