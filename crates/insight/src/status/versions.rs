//! Which versions a cluster has, is to have, and is on its way to.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::object::{Object, time};

/// The versions of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// The one that is asked for.
    pub desired: Option<String>,
    /// The one that the whole cluster last reached.
    pub reached: Option<String>,
    /// The one that the control plane last reached.
    pub control_plane: Option<String>,
    /// The move that is under way.
    pub progress: Option<Progress>,
}

/// A move from one version to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Where it leads.
    pub version: String,
    /// When it began.
    pub since: Option<Timestamp>,
}

/// The versions of a cluster, as it reports them.
pub(super) fn of(cluster: &Object) -> Versions {
    let asked = cluster.text("/spec/release/image").map(of_image);
    let told = cluster.text("/status/version/desired/version").map(str::to_owned);
    let is_told = cluster.text("/status/version/desired/image") == cluster.text("/spec/release/image");
    Versions {
        desired: told.filter(|_| is_told).or(asked),
        reached: reached(cluster, "/status/version/history"),
        control_plane: reached(cluster, "/status/controlPlaneVersion/history"),
        progress: progress(cluster, "/status/version/history")
            .or_else(|| progress(cluster, "/status/controlPlaneVersion/history")),
    }
}

fn version(entry: &Value) -> Option<String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("version")
        .map(str::to_owned)
        .or_else(|| text("image").map(of_image))
}

fn is(entry: &Value, state: &str) -> bool {
    entry.get("state").and_then(Value::as_str) == Some(state)
}

fn reached(cluster: &Object, history: &str) -> Option<String> {
    cluster
        .items(history)
        .find(|entry| is(entry, "Completed"))
        .and_then(version)
}

/// The newest entry, where it is not complete.
fn progress(cluster: &Object, history: &str) -> Option<Progress> {
    let newest = cluster.items(history).next().filter(|entry| is(entry, "Partial"))?;
    Some(Progress {
        version: version(newest)?,
        since: time(newest.get("startedTime").and_then(Value::as_str)),
    })
}

/// What an image says of its version: its tag, or all of it.
fn of_image(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    match last.split_once(':') {
        Some((_, tag)) if !last.contains('@') => tag.trim_start_matches('v').to_owned(),
        _ => image.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_move_is_told_with_where_it_came_from() {
        let entry = |state: &str, version: &str| json!({"state": state, "version": version, "image": "x", "startedTime": "2027-01-15T08:00:00Z"});
        let cluster = Object::new(json!({
            "spec": {"release": {"image": "hyperplane.dev/kubernetes:v1.36.4"}},
            "status": {"version": {
                "desired": {"version": "1.36.4", "image": "hyperplane.dev/kubernetes:v1.36.4"},
                "history": [entry("Partial", "1.36.4"), entry("Completed", "1.35.8")],
            }},
        }));
        let versions = of(&cluster);
        assert_eq!(versions.desired.as_deref(), Some("1.36.4"));
        assert_eq!(versions.reached.as_deref(), Some("1.35.8"));
        let progress = versions.progress.unwrap();
        assert_eq!(progress.version, "1.36.4");
        assert!(progress.since.is_some());
    }

    #[test]
    fn images_tell_their_version_by_their_tag() {
        for (image, expected) in [
            ("hyperplane.dev/kubernetes:v1.36.4", "1.36.4"),
            ("localhost:5000/release", "localhost:5000/release"),
            ("quay.io/a/b@sha256:abc", "quay.io/a/b@sha256:abc"),
        ] {
            assert_eq!(of_image(image), expected);
        }
    }
}
