//! Which pools an edit would roll, by which field, how many nodes, and what would hold the roll: the same gathering, the same
//! templates and the same judgement of versions as in a run, on two versions of what a user writes. Pure; who reads them is
//! not known here.

use std::sync::Arc;

use hyperplane_api::{
    constants::annotations,
    hypershift::{
        hosted_cluster::{HostedCluster, InfraId},
        node_pool::{
            NodePool,
            management::{UpgradeStrategy, UpgradeType},
            status::NodesInfo,
        },
    },
};
use hyperplane_planner::{release::Release, version::Version};
use hyperplane_platforms::{MachineTemplate, PoolFacts};
use hyperplane_rollout::Change;

use crate::{
    RENDER_REVISION, build,
    documents::{self, Documents},
    inputs::{Gathered, inputs},
    names,
    reconciler::api_endpoint,
    skew::{self, NodeVersions, SkewFacts},
    validate::{boot_image, makes_machines},
};

/// A pool with everything that its nodes are made from.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The cluster.
    pub cluster: &'a HostedCluster,
    /// The pool.
    pub pool: &'a NodePool,
    /// The release of the pool.
    pub release: &'a Release,
    /// The ConfigMaps of `spec.config`: names, and what they say.
    pub config: &'a [(String, String)],
    /// What every node of the cluster is told: names of ConfigMaps, and what they say.
    pub core: &'a [(String, String)],
    /// What machines start from where neither the pool nor its release says.
    pub boot_image: Option<&'a str>,
}

/// What an edit would do to a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The pool, as namespace/name.
    pub pool: String,
    /// Whether its nodes would be replaced.
    pub rolls: bool,
    /// Who replaces them.
    pub manner: Manner,
    /// How many nodes would be.
    pub nodes: i32,
    /// Every field that differs, and whether it is one that rolls nodes.
    pub changes: Vec<Change>,
    /// What versions say to the roll; good where there is none.
    pub skew: Skew,
}

/// Who replaces the nodes of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// They are replaced one after the other.
    #[default]
    Rolling,
    /// Those that users delete come back as what they are to be, and no others.
    OnDelete,
    /// They would be changed in place, which is not done here.
    InPlace,
    /// Nobody makes machines for the pool: hosts join by themselves, and stay.
    Nobody,
}

impl Manner {
    /// How the nodes of a pool are replaced.
    fn of(pool: &NodePool, cluster: &HostedCluster) -> Self {
        let management = &pool.spec.management;
        if !makes_machines(pool, cluster) {
            Self::Nobody
        } else if management.upgrade_type == UpgradeType::InPlace {
            Self::InPlace
        } else if management.replace.strategy == Some(UpgradeStrategy::OnDelete) {
            Self::OnDelete
        } else {
            Self::Rolling
        }
    }

    /// Whether nodes are ever replaced because of an edit.
    const fn replaces(self) -> bool {
        matches!(self, Self::Rolling | Self::OnDelete)
    }
}

/// What the versions of control plane and nodes say to a roll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skew {
    /// Everything that speaks against it, by which rule, and what would help.
    pub refusals: Vec<String>,
    /// What becomes of the roll.
    pub outcome: SkewOutcome,
}

/// What becomes of a roll because of versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkewOutcome {
    /// It begins.
    #[default]
    Allowed,
    /// It is held until something else moves.
    Held,
    /// It begins although versions forbid it, because somebody insists.
    Forced,
    /// What decides is not known from what was given.
    Unknown,
}

/// Says what would become of a pool, or everything that is wrong with what was given. `resolve` finds the release of an image,
/// for the versions that the control plane has.
pub fn explain(
    before: &Subject<'_>,
    after: &Subject<'_>,
    resolve: impl Fn(&str) -> Option<Arc<Release>>,
) -> Result<Explanation, Vec<String>> {
    let (old_documents, new_documents) = (read(before)?, read(after)?);
    let gathered = |subject: &Subject<'_>, documents: &Documents| {
        let endpoint = api_endpoint(subject.cluster).unwrap_or_default();
        inputs(
            &Gathered {
                cluster: subject.cluster,
                pool: subject.pool,
                release: subject.release,
                documents,
                api_endpoint: &endpoint,
                // Secrets are in no file. Another name is taken for other keys.
                ssh_keys: subject
                    .cluster
                    .spec
                    .ssh_key
                    .as_ref()
                    .map_or("", |key| key.name.as_str()),
            },
            RENDER_REVISION,
        )
    };
    let mut changes = hyperplane_rollout::explain(&gathered(before, &old_documents), &gathered(after, &new_documents));
    let manner = Manner::of(after.pool, after.cluster);
    if manner != Manner::Nobody && template(before)? != template(after)? {
        changes.extend(of_template(before, after));
    }
    for change in changes.iter_mut().filter(|_| !manner.replaces()) {
        change.rolls = false;
    }
    changes.extend(staying(before.pool, after.pool));
    let rolls = changes.iter().any(|change| change.rolls);
    Ok(Explanation {
        pool: names::title(after.pool),
        rolls,
        manner,
        nodes: if rolls { nodes(before.pool) } else { 0 },
        changes,
        skew: if rolls { skew(after, resolve) } else { Skew::default() },
    })
}

/// What the versions of control plane and nodes, as they were last reported, say to nodes that become what a pool asks for.
pub fn skew(subject: &Subject<'_>, resolve: impl Fn(&str) -> Option<Arc<Release>>) -> Skew {
    let scheme = subject.release.scheme();
    let status = subject.pool.status.as_ref();
    let verdict = skew::judge(&SkewFacts {
        pool: subject.pool.metadata.name.as_deref().unwrap_or_default(),
        plane: &skew::plane_versions(subject.cluster, scheme, resolve),
        nodes: &reported(status.and_then(|status| status.nodes_info.as_ref()), subject.release),
        reached: status.and_then(|status| status.version.as_deref()),
        target: subject.release,
    });
    let insists = annotations::SKIP_RELEASE_IMAGE_VALIDATION.of(subject.cluster).is_some();
    let outcome = match verdict.refusals.as_slice() {
        [] => SkewOutcome::Allowed,
        _ if insists => SkewOutcome::Forced,
        refusals if refusals.iter().all(|finding| finding.is_unknown) => SkewOutcome::Unknown,
        _ => SkewOutcome::Held,
    };
    Skew {
        refusals: verdict.refusals.iter().map(ToString::to_string).collect(),
        outcome,
    }
}

/// What nodes have by the status of their pool, once for all that have the same.
fn reported(info: Option<&NodesInfo>, release: &Release) -> NodeVersions {
    let mut found = NodeVersions::default();
    for one in info.iter().flat_map(|info| &info.node_versions) {
        found
            .kubelets
            .extend(skew::kubelet(one.kubelet_version.as_str(), release));
        let version = Version::parse(release.scheme(), one.ocp_version.as_str());
        found.versions.extend(version.ok());
    }
    found
}

fn read(subject: &Subject<'_>) -> Result<Documents, Vec<String>> {
    documents::read(subject.core, subject.cluster, subject.config)
}

fn template(subject: &Subject<'_>) -> Result<MachineTemplate, Vec<String>> {
    let platform = hyperplane_platforms::of(&subject.cluster.spec).map_err(|error| vec![error.to_string()])?;
    let made = platform.machine_template(&PoolFacts {
        cluster: subject.cluster,
        pool: subject.pool,
        pool_label: &names::label(subject.pool),
        infra_id: subject.cluster.spec.infra_id.as_ref().map_or("", InfraId::as_str),
        namespace: &names::control_plane_namespace(subject.pool),
        boot_image: boot_image(subject.pool, subject.release).or(subject.boot_image),
        spreads_by_topology: true,
    });
    made.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// What makes two templates differ, in the words of users.
fn of_template(before: &Subject<'_>, after: &Subject<'_>) -> Vec<Change> {
    let patch = annotations::KUBEVIRT_VM_JSON_PATCH;
    let mut changes = Vec::new();
    let mut add = |field: &'static str, is_changed: bool, to: &str| {
        if is_changed {
            changes.push(Change {
                field,
                from: String::new(),
                to: to.to_owned(),
                rolls: true,
            });
        }
    };
    let (old, new) = (&before.pool.spec.platform, &after.pool.spec.platform);
    add("spec.platform", old != new, "another machine template");
    add(
        "JSON patch of the pool",
        patch.of(before.pool) != patch.of(after.pool),
        "another machine template",
    );
    add(
        "JSON patch of the cluster",
        patch.of(before.cluster) != patch.of(after.cluster),
        "another machine template",
    );
    let image = |subject: &Subject<'_>| {
        boot_image(subject.pool, subject.release)
            .or(subject.boot_image)
            .map(str::to_owned)
    };
    add(
        "boot image of the release",
        image(before) != image(after),
        "another machine template",
    );
    if changes.is_empty() {
        changes.push(Change {
            field: "spec.platform of the cluster",
            from: String::new(),
            to: "another machine template".to_owned(),
            rolls: true,
        });
    }
    changes
}

/// Fields that a user may fear for, and that roll nothing.
fn staying(before: &NodePool, after: &NodePool) -> Vec<Change> {
    let (old, new) = (&before.spec, &after.spec);
    let rows = [
        (
            "spec.replicas",
            old.replicas != new.replicas,
            "machines are added or removed",
        ),
        (
            "spec.autoScaling",
            old.auto_scaling != new.auto_scaling,
            "machines are added or removed",
        ),
        (
            "spec.nodeLabels",
            old.node_labels != new.node_labels,
            "only nodes that come later have them",
        ),
        (
            "spec.taints",
            old.taints != new.taints,
            "only nodes that come later have them",
        ),
        (
            "spec.nodeDrainTimeout",
            old.node_drain_timeout != new.node_drain_timeout,
            "counts for every machine that goes from now on",
        ),
        (
            "spec.nodeVolumeDetachTimeout",
            old.node_volume_detach_timeout != new.node_volume_detach_timeout,
            "counts for every machine that goes from now on",
        ),
        (
            "spec.management",
            old.management != new.management,
            "counts from the next replacement on",
        ),
    ];
    rows.into_iter()
        .filter(|(_, is_changed, _)| *is_changed)
        .map(|(field, _, effect)| Change {
            field,
            from: String::new(),
            to: effect.to_owned(),
            rolls: false,
        })
        .collect()
}

/// How many nodes a pool has, or is to have where that is not known.
fn nodes(pool: &NodePool) -> i32 {
    let info = pool.status.as_ref().and_then(|status| status.nodes_info.as_ref());
    let counted = info.map(|info| {
        let each = info.node_versions.iter();
        each.map(|one| one.ready_node_count.saturating_add(one.unready_node_count))
            .fold(0, i32::saturating_add)
    });
    counted.unwrap_or_else(|| build::replicas(pool, None))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing;

    const KUBELET: &str = "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata:\n  name: \
                           big-pods\nspec:\n  kubeletConfig:\n    maxPods: 500\n";

    fn explained(cluster: &Value, pool: &Value, config: &[(String, String)]) -> Explanation {
        let release = testing::release();
        let (old_cluster, old_pool) = (testing::cluster(&json!({})), testing::pool(&json!({})));
        let (new_cluster, new_pool) = (testing::cluster(cluster), testing::pool(pool));
        let before = Subject {
            cluster: &old_cluster,
            pool: &old_pool,
            release: &release,
            config: &[],
            core: &[],
            boot_image: None,
        };
        let after = Subject {
            cluster: &new_cluster,
            pool: &new_pool,
            config,
            ..before
        };
        explain(&before, &after, |_| None).unwrap()
    }

    #[test]
    fn a_roll_that_versions_forbid_is_said_to_be_held() {
        let release = testing::release();
        let pool = testing::pool(&json!({"status": {"nodesInfo": {"nodeVersions": [
            {"ocpVersion": "1.35.1", "kubeletVersion": "v1.35.1", "readyNodeCount": 3, "unreadyNodeCount": 0}]}}}));
        let skewed = |cluster: &Value| {
            let cluster = testing::cluster(cluster);
            skew(
                &Subject {
                    cluster: &cluster,
                    pool: &pool,
                    release: &release,
                    config: &[],
                    core: &[],
                    boot_image: None,
                },
                |_| None,
            )
        };
        let plane = |version: &str, annotations: Value| {
            json!({"metadata": {"annotations": annotations}, "status": {"controlPlaneVersion": {"history": [
                {"state": "Completed", "version": version, "image": "example.com/gone:1",
                    "startedTime": "2027-01-01T00:00:00Z"}]}}})
        };
        assert_eq!(skewed(&json!({})), Skew::default());
        let held = skewed(&plane("1.35.1", json!({})));
        assert_eq!(held.outcome, SkewOutcome::Held, "{held:?}");
        assert!(held.refusals[0].contains("1.36.4"), "{held:?}");
        let insisting = json!({annotations::SKIP_RELEASE_IMAGE_VALIDATION.as_str(): "true"});
        let forced = skewed(&plane("1.35.1", insisting));
        assert_eq!(forced.outcome, SkewOutcome::Forced);
        assert_eq!(forced.refusals, held.refusals);
        let unknown = skewed(&json!({"status": {"controlPlaneVersion": null}}));
        assert_eq!(unknown.outcome, SkewOutcome::Unknown);
    }

    #[test]
    fn an_edit_is_explained_by_the_fields_that_roll() {
        let rows = [
            (json!({}), json!({}), None),
            (json!({}), json!({"spec": {"replicas": 9}}), None),
            (
                json!({}),
                json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
                None,
            ),
            (
                json!({"spec": {"pullSecret": {"name": "other"}}}),
                json!({}),
                Some("spec.pullSecret"),
            ),
            (
                json!({"spec": {"sshKey": {"name": "other"}}}),
                json!({}),
                Some("spec.sshKey"),
            ),
            (
                json!({}),
                json!({"spec": {"platform": {"kubevirt": {"compute": {"cores": 8}}}}}),
                Some("spec.platform"),
            ),
            (
                json!({"metadata": {"annotations": {annotations::KUBEVIRT_VM_JSON_PATCH.as_str():
                    r#"[{"op": "add", "path": "/spec/template/spec/hostname", "value": "x"}]"#}}}),
                json!({}),
                Some("JSON patch of the cluster"),
            ),
        ];
        for (cluster, pool, field) in rows {
            let told = explained(&cluster, &pool, &[]);
            let rolling: Vec<&str> = told
                .changes
                .iter()
                .filter(|one| one.rolls)
                .map(|one| one.field)
                .collect();
            assert_eq!(rolling, field.into_iter().collect::<Vec<_>>(), "{cluster} {pool}");
            assert_eq!(told.rolls, field.is_some());
            assert_eq!(told.nodes, if told.rolls { 3 } else { 0 });
        }
    }

    #[test]
    fn documents_roll_and_what_stays_is_told() {
        let config = [("mine".to_owned(), KUBELET.to_owned())];
        let told = explained(&json!({}), &json!({"spec": {"nodeLabels": {"a": "b"}}}), &config);
        let fields: Vec<(&str, bool)> = told.changes.iter().map(|one| (one.field, one.rolls)).collect();
        assert_eq!(fields, [("spec.config", true), ("spec.nodeLabels", false)]);
    }
}
