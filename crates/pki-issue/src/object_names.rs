//! The names of everything that is written for a control plane, whatever it asks for: whoever writes other objects into the
//! same namespace must not take them. Names that follow from a control plane end in `-kubeconfig`.

use std::collections::BTreeSet;

use hyperplane_api::constants::objects::certificates;

use crate::{
    kubeconfigs,
    table::{BUNDLES, LEAVES, SIGNERS},
};

/// Every Secret and ConfigMap with a name that is the same in all control planes, by kind and name.
pub fn object_names() -> BTreeSet<(&'static str, &'static str)> {
    let secrets = authority_names()
        .chain(LEAVES.iter().map(|row| row.secret))
        .chain(kubeconfigs::fixed_names())
        .chain([certificates::SERVICE_ACCOUNT_KEYS])
        .map(|name| ("Secret", name));
    let config_maps = BUNDLES.iter().map(|row| ("ConfigMap", row.config_map));
    secrets.chain(config_maps).collect()
}

/// The Secrets of all authorities.
pub fn authority_names() -> impl Iterator<Item = &'static str> {
    SIGNERS.iter().map(|row| row.secret)
}
