//! Encryption of Secrets by AWS KMS.

use serde::{Deserialize, Serialize};

use crate::{schema::JsonSchema, text::string_type};

string_type! {
    /// The ARN of the key that encrypts Secrets.
    pub struct KmsKeyArn {
        length: 1..=2048,
        matches: r"^arn:" => "must be an ARN, which begins with arn:",
    }
}

/// Keys of AWS KMS, and the role that may use them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsKms {
    /// The region that holds the keys.
    #[schemars(length(max = 255))]
    pub region: String,
    /// What new data is encrypted with.
    pub active_key: AwsKmsKey,
    /// The key before it, still needed to read older data. Ignored once the status names an active key, because
    /// rotation then keeps track of the older one by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_key: Option<AwsKmsKey>,
    /// How the control plane gets access to the keys.
    pub auth: AwsKmsAuthentication,
}

/// One key of AWS KMS.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsKmsKey {
    /// Which key it is.
    pub arn: KmsKeyArn,
}

/// Access to keys of AWS KMS.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsKmsAuthentication {
    /// The ARN of the role to take on. It must be allowed to encrypt, decrypt, re-encrypt, describe and generate
    /// data keys with the keys above.
    #[schemars(length(max = 2048))]
    pub aws_kms: String,
}
