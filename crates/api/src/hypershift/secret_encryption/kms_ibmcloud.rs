//! Encryption of Secrets by IBM Cloud Key Protect.

use serde::{Deserialize, Serialize};

use crate::{
    common::LocalObjectReference,
    schema::JsonSchema,
    text::{string_enum, string_type},
};

string_type! {
    /// The address of a Key Protect service.
    pub struct KeyProtectUrl {
        length: 1..=2048,
        matches: r"^https://" => "must begin with https://",
    }
}

/// Keys of IBM Cloud, and the account that may use them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IbmCloudKms {
    /// The region that holds the keys.
    #[schemars(length(max = 255))]
    pub region: String,
    /// How the control plane gets access to the keys.
    pub auth: IbmCloudKmsAuthentication,
    /// Every key that some data may still be encrypted with; keyVersion tells them apart.
    #[schemars(length(max = 100))]
    pub key_list: Vec<IbmCloudKmsKey>,
}

string_enum! {
    /// Whose credentials are used.
    pub enum IbmCloudKmsAuthenticationType {
        /// The provider's, from service to service.
        Managed,
        /// The customer's, from a Secret.
        Unmanaged,
    }
}

/// Access to keys of IBM Cloud.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IbmCloudKmsAuthentication {
    /// Whose credentials are used.
    #[serde(rename = "type")]
    pub authentication_type: IbmCloudKmsAuthenticationType,
    /// Marks that the provider authorises the control plane; has no fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed: Option<IbmCloudKmsManaged>,
    /// The credentials of the customer, for type Unmanaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmanaged: Option<IbmCloudKmsUnmanaged>,
}

/// Access that the provider looks after; there is nothing to say about it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct IbmCloudKmsManaged {}

/// Access with credentials of the customer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IbmCloudKmsUnmanaged {
    /// The Secret whose field iam_apikey holds an API key.
    pub credentials: LocalObjectReference,
}

/// One key of IBM Cloud.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IbmCloudKmsKey {
    /// The id of the customer's root key.
    #[serde(rename = "crkID")]
    #[schemars(length(min = 1, max = 255))]
    pub root_key_id: String,
    /// The id of the service instance that holds the key.
    #[serde(rename = "instanceID")]
    #[schemars(length(min = 1, max = 255))]
    pub instance_id: String,
    /// A mark that calls to the service carry, so that they can be found in its logs.
    #[serde(rename = "correlationID")]
    #[schemars(length(min = 1, max = 255))]
    pub correlation_id: String,
    /// The address of the service.
    pub url: KeyProtectUrl,
    /// The number of this key; each new key gets a higher one.
    // Unsigned, so that the schema has no format, as published.
    #[schemars(range(max = 2_147_483_647))]
    pub key_version: u32,
}
