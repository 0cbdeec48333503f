//! What recipes need to know of a management cluster, and of files. What cannot be read is left out: recipes then ask for
//! it, or do without.

use std::collections::BTreeMap;

use hyperplane_api::hyperplane::distribution_release::DistributionRelease;
use hyperplane_recipes::{FileFlag, Given, node_address};
use hyperplane_runtime::Api;
use k8s_openapi::api::core::v1::Node;
use kube::{Client, api::ListParams};

use super::making::Making;
use crate::{failing::wrong_use, hosted, input};

/// The most nodes that are asked for their address: one is enough.
const NODES: u32 = 50;

/// What files hold, by the flag that names them.
pub(super) fn files(flags: &[FileFlag]) -> anyhow::Result<BTreeMap<&'static str, String>> {
    input::once(flags.iter().map(AsRef::as_ref))?;
    let read = flags.iter().map(|file| {
        let text = input::text(&file.path);
        let text = text.map_err(|error| wrong_use(file.flag, format!("{error:#}"), "give a file that can be read"));
        Ok((file.flag, text?))
    });
    read.collect()
}

/// What a management cluster says.
pub(super) async fn ask(client: &Client, making: &Making, needs_address: bool) -> anyhow::Result<Given> {
    let told = hosted::told(client).await?;
    if making.version_check {
        judge_version(told.as_ref())?;
    }
    let releases: Api<DistributionRelease> = Api::all(client.clone());
    let releases = releases.list(&ListParams::default()).await;
    let address = if needs_address { address(client).await } else { None };
    Ok(Given {
        releases: releases.map(|list| list.items).unwrap_or_default(),
        hosted: told.map(|told| told.supported),
        node_address: address,
        ..Given::default()
    })
}

async fn address(client: &Client) -> Option<String> {
    let nodes: Api<Node> = Api::all(client.clone());
    let nodes = nodes.list(&ListParams::default().limit(NODES)).await;
    node_address(&nodes.ok()?.items)
}

fn judge_version(told: Option<&hosted::Told>) -> anyhow::Result<()> {
    let ours = env!("CARGO_PKG_VERSION");
    match told {
        Some(told) if told.server == ours => Ok(()),
        Some(told) => Err(wrong_use(
            "--version-check",
            format!("the operators have version {}, this program has {ours}", told.server),
            "use the program of that version, or leave the flag out",
        )),
        None => Err(wrong_use(
            "--version-check",
            "the management cluster does not say which version its operators have",
            "install them, or leave the flag out",
        )),
    }
}
