//! Machines of a node pool on Azure.
//!
//! Resource ids are judged as leniently as the wire has it: a name must hold some permitted characters, and the dot
//! in a provider's name is any character.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, immutable, matches_expression, pattern, properties, rule},
    text::{string_enum, string_type},
};

string_type! {
    /// Resource id of a subnet.
    pub struct AzureSubnetId {
        length: 1..=355,
        matches: r"^/subscriptions/[^/\n]*/resourceGroups/[^/\n]*/providers/Microsoft[^/\n]Network/virtualNetworks/[^/\n]*/subnets/[^/\n]*$"
            => "must be /subscriptions/A/resourceGroups/B/providers/Microsoft.Network/virtualNetworks/C/subnets/D",
        matches: r"^/subscriptions/[^/]*/resourceGroups/[^/]*[a-zA-Z0-9_().-]"
            => "the name of the resource group must have letters, digits or _ ( ) . -",
        matches: r"^/subscriptions/[^/]*/resourceGroups/([^/]*[^/.])?(/|$)"
            => "the name of the resource group must not end with a dot",
        matches: r"/virtualNetworks/[^/]*[a-zA-Z0-9_.-]{2}[^/]*/subnets/"
            => "the name of the virtual network must have at least two letters, digits or _ . -",
        matches: r"/virtualNetworks/([^/]*[^/.-])?/subnets/"
            => "the name of the virtual network must not end with a dot or a dash",
        matches: r"/virtualNetworks/[^/]*/subnets/[^/]*[a-zA-Z0-9]"
            => "the name of the subnet must have a letter or a digit",
        matches: r"[^.-]$"
            => "the name of the subnet must not end with a dot or a dash",
    }
}

string_type! {
    /// Resource id of a disk encryption set.
    pub struct DiskEncryptionSetId {
        length: 1..=285,
        matches: r"^/subscriptions/[^/\n]*/resourceGroups/[^/\n]*/providers/Microsoft[^/\n]Compute/diskEncryptionSets/[^/\n]*$"
            => "must be /subscriptions/A/resourceGroups/B/providers/Microsoft.Compute/diskEncryptionSets/C",
        matches: r"^/subscriptions/[{]?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}[}]?(/|$)"
            => "the subscription must be a UUID",
        matches: r"^/subscriptions/[^/]*/resourceGroups/[^/]*[a-zA-Z0-9_().-]"
            => "the name of the resource group must have letters, digits or _ ( ) . -",
        matches: r"^/subscriptions/[^/]*/resourceGroups/([^/]*[^/.])?(/|$)"
            => "the name of the resource group must not end with a dot",
        matches: r"/diskEncryptionSets/[^/]*[a-zA-Z0-9_-][^/]*$"
            => "the name of the disk encryption set must have letters, digits or _ -",
    }
}

string_type! {
    /// An availability zone: 1, 2 or 3.
    pub struct AzureZone {
        length: 0..=255,
        matches: "^[123]$" => "must be 1, 2 or 3",
    }
}

string_type! {
    /// URL of a storage account. What a URL is, the API server says; a URL that we make has a host.
    pub struct StorageAccountUri {
        length: 0..=1024,
        rule: "isURL(self) && url(self).getScheme() == 'https'" => "must be a URL that begins with https://",
        check: is_https_url,
    }
}

fn is_https_url(text: &str) -> bool {
    let printable = text.chars().all(|character| character.is_ascii_graphic());
    let host = text
        .strip_prefix("https://")
        .and_then(|rest| rest.split(['/', '?', '#']).next());
    printable && host.is_some_and(|host| !host.is_empty())
}

string_enum! {
    /// Whether data on the host of a machine is encrypted.
    #[derive(Default)]
    pub enum EncryptionAtHost {
        /// It is.
        #[default]
        Enabled,
        /// It is not.
        Disabled,
    }
}

string_enum! {
    /// Where a boot image is found.
    pub enum AzureImageType {
        /// In a resource of the user's.
        ImageId = "ImageID",
        /// In the Azure Marketplace.
        AzureMarketplace,
    }
}

string_enum! {
    /// The generation of virtual hardware that a boot image is made for.
    #[derive(Default)]
    pub enum AzureImageGeneration {
        /// The first, which boots by BIOS.
        Gen1,
        /// The second, which boots by UEFI.
        #[default]
        Gen2,
    }
}

string_enum! {
    /// The kind of storage that a disk is on.
    pub enum AzureDiskStorageAccountType {
        /// Fast solid-state disks.
        PremiumLrs = "Premium_LRS",
        /// The second generation of fast solid-state disks.
        PremiumV2Lrs = "PremiumV2_LRS",
        /// Spinning disks.
        StandardLrs = "Standard_LRS",
        /// Plain solid-state disks.
        StandardSsdLrs = "StandardSSD_LRS",
    }
}

string_enum! {
    /// Whether a disk is kept apart from the host of its machine.
    pub enum AzureDiskPersistence {
        /// It is kept in storage.
        Persistent,
        /// It lives on the host and is lost with it.
        Ephemeral,
    }
}

string_enum! {
    /// Where boot diagnostics are kept.
    #[derive(Default)]
    pub enum AzureDiagnosticsStorage {
        /// In a storage account of Azure's.
        Managed,
        /// In a storage account of the user's.
        UserManaged,
        /// Nowhere.
        #[default]
        Disabled,
    }
}

/// Machines on Azure.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureNodePoolPlatform {
    /// The size of the machines, such as Standard_D4s_v5.
    #[schemars(
        length(max = 255),
        transform = pattern(
            "^(Standard_|Basic_)?[A-Z]+[0-9]+(-[0-9]+)?[abdilmptsCNP]*(_[A-Z]*[0-9]+[A-Z]*)?(_v[0-9]+)?$",
        ),
    )]
    pub vm_size: String,
    /// The boot image.
    pub image: AzureVmImage,
    /// The disk of the operating system.
    pub os_disk: AzureOsDisk,
    /// The subnet that the machines are in, which must be in the virtual network of the hosted cluster.
    #[serde(rename = "subnetID")]
    #[schemars(
        transform = rule(
            matches_expression(r"^/subscriptions/[{]?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}[}]?(/|$)"),
            "the subscription must be a UUID",
        ),
        transform = immutable("subnetID"),
    )]
    pub subnet_id: AzureSubnetId,
    /// The availability zone of the machines; unset where the region has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability_zone: Option<AzureZone>,
    /// Whether data on the hosts of the machines is encrypted.
    #[serde(default)]
    pub encryption_at_host: EncryptionAtHost,
    /// Where boot diagnostics are kept; unset means nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<AzureDiagnostics>,
}

/// A boot image.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "(self.type == 'ImageID') == has(self.imageID)",
        "type ImageID needs imageID, and no other type takes it",
    ),
    transform = rule(
        "self.type == 'AzureMarketplace' || !has(self.azureMarketplace)",
        "azureMarketplace is for type AzureMarketplace only",
    ),
)]
pub struct AzureVmImage {
    /// Where the image is found.
    #[serde(rename = "type")]
    pub type_: AzureImageType,
    /// Resource id of the image, for type ImageID.
    #[serde(rename = "imageID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub image_id: Option<String>,
    /// Name of the image in the Azure Marketplace, for type AzureMarketplace; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_marketplace: Option<AzureMarketplaceImage>,
}

/// An image of the Azure Marketplace: one that is named in full, or that of the release for a generation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = properties(Some(1), None),
    transform = rule(
        "has(self.imageGeneration) || (has(self.publisher) && has(self.offer) && has(self.sku) && has(self.version))",
        "give imageGeneration, or name the image by publisher, offer, sku and version",
    ),
    transform = rule(
        "has(self.publisher) == has(self.offer) && has(self.offer) == has(self.sku) && \
         has(self.sku) == has(self.version)",
        "an image is named by publisher, offer, sku and version together, or by none of them",
    ),
)]
pub struct AzureMarketplaceImage {
    /// Which image of the release is taken where none is named in full.
    #[serde(default)]
    pub image_generation: AzureImageGeneration,
    /// Who made the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 50), transform = pattern("^[a-z0-9][a-z0-9-_]{2,49}$"))]
    pub publisher: Option<String>,
    /// The publisher's name for a family of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub offer: Option<String>,
    /// The member of the family.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), transform = pattern("^[a-z0-9-_]+$"))]
    pub sku: Option<String>,
    /// Three numbers with dots between them, or latest, which is looked up once when a machine is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), transform = pattern(r"^[0-9]+\.[0-9]+\.[0-9]+$|^latest$"))]
    pub version: Option<String>,
}

/// The disk of the operating system.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureOsDisk {
    /// How many GiB it holds; unset means what the platform gives.
    #[serde(rename = "sizeGiB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 32_767))]
    pub size_gib: Option<i32>,
    /// The kind of storage that it is on; unset means what the platform gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_storage_account_type: Option<AzureDiskStorageAccountType>,
    /// Whether it is kept in storage; Ephemeral is faster and not possible with every vmSize.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<AzureDiskPersistence>,
    /// The disk encryption set, which must be in the region and subscription of the machines.
    #[serde(rename = "encryptionSetID", skip_serializing_if = "Option::is_none")]
    pub encryption_set_id: Option<DiskEncryptionSetId>,
}

/// Where boot diagnostics are kept.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rule(
    "(self.storageAccountType == 'UserManaged') == has(self.userManaged)",
    "storageAccountType UserManaged needs userManaged, and no other one takes it",
))]
pub struct AzureDiagnostics {
    /// Whose storage account it is, or Disabled for none.
    #[serde(default)]
    pub storage_account_type: AzureDiagnosticsStorage,
    /// The user's storage account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_managed: Option<AzureUserManagedDiagnostics>,
}

/// A storage account of the user's.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AzureUserManagedDiagnostics {
    /// URL of its blob endpoint.
    #[serde(rename = "storageAccountURI")]
    pub storage_account_uri: StorageAccountUri,
}
