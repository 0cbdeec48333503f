//! From flags to a hosted cluster and everything that it needs to begin with.

use std::collections::BTreeMap;

use clap::Args;
use hyperplane_api::{
    constants::labels,
    hypershift::{
        hosted_cluster::{DEFAULT_ISSUER_URL, HostedCluster, HostedClusterSpec},
        release::{Release, ReleaseImage},
    },
};
use hyperplane_schema::names;
use serde_json::{Value, json};

use crate::{
    access::{Access, AccessFlags},
    check,
    given::{FileFlag, Given},
    judge::{Judge, Problem},
    manifest::{Manifest, Manifests},
    network::NetworkFlags,
    nodes::{NodeFlags, PoolFacts},
    pairs,
    plane::PlaneFlags,
    platform::{ClusterPlatform, Surroundings},
    publishing,
    release::{Chosen, ReleaseFlags},
};

/// The namespace of clusters if nothing else is asked for, as HyperShift's users have it.
pub(crate) const CLUSTERS: &str = "clusters";
/// The longest name of a namespace, by Kubernetes' own rule.
const LONGEST_NAMESPACE: usize = 63;

/// The command line of a cluster on one platform, with flags of whoever makes it.
#[derive(Args, Clone, Debug)]
pub struct ClusterLine<P: Args, E: Args> {
    #[command(flatten)]
    pub(crate) flags: ClusterFlags,
    #[command(flatten)]
    pub(crate) platform: P,
    #[command(flatten)]
    pub(crate) extra: E,
}

/// What is asked of a cluster on any platform.
#[derive(Args, Clone, Debug)]
pub struct ClusterFlags {
    /// The name of the cluster
    #[arg(value_name = "NAME", required_unless_present = "name", conflicts_with = "name")]
    named: Option<String>,
    /// The name of the cluster, in place of NAME
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The namespace of the cluster
    #[arg(short, long, value_name = "NAME", default_value = CLUSTERS)]
    pub namespace: String,
    /// The release that is asked for.
    #[command(flatten)]
    pub release: ReleaseFlags,
    /// An annotation of the cluster; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    annotations: Vec<String>,
    /// Labels of the cluster; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    labels: Vec<String>,
    #[command(flatten)]
    access: AccessFlags,
    #[command(flatten)]
    networks: NetworkFlags,
    #[command(flatten)]
    plane: PlaneFlags,
    /// How many nodes to begin with; below zero, no pool is made [default: 0, on platform none no pool]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true, help_heading = "Nodes")]
    node_pool_replicas: Option<i32>,
    #[command(flatten)]
    nodes: NodeFlags,
}

impl ClusterFlags {
    /// The name of the cluster.
    pub fn name(&self) -> &str {
        self.name.as_deref().or(self.named.as_deref()).unwrap_or_default()
    }

    /// Whether an SSH key has to be made.
    pub fn generates_ssh(&self) -> bool {
        self.access.generate_ssh
    }
}

/// A cluster that is asked for.
pub struct ClusterRecipe<'a> {
    /// What is asked of it on any platform.
    pub flags: &'a ClusterFlags,
    pub(crate) platform: &'a dyn ClusterPlatform,
}

/// The namespace of the control plane of a cluster.
pub fn control_plane_namespace(namespace: &str, name: &str) -> String {
    format!("{namespace}-{}", name.replace('.', "-"))
}

impl ClusterRecipe<'_> {
    /// Every file that has to be read.
    pub fn files(&self) -> Vec<FileFlag> {
        let mut files = self.flags.access.files();
        files.extend(self.platform.files());
        files
    }

    /// Whether an address of a node of the management cluster is needed.
    pub fn needs_node_address(&self) -> bool {
        self.flags.plane.external_dns_domain.is_none() && self.platform.needs_node_address()
    }

    /// The objects, or every reason why there are none.
    pub fn build(&self, given: &Given) -> Result<Manifests, Vec<Problem>> {
        let mut judge = Judge::default();
        let flags = self.flags;
        judge_names(&flags.namespace, flags.name(), &mut judge);
        let chosen = flags.release.choose(given, &mut judge);
        let owned = owned(flags.name(), flags.plane.infra_id.as_deref());
        let access = flags
            .access
            .build(&flags.namespace, flags.name(), &owned, given, &mut judge);
        let mut objects = vec![Manifest::open(&json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": flags.namespace},
        }))];
        objects.extend(access.objects.iter().cloned());
        let (cluster, more) = self.cluster(&chosen, access, given, &mut judge);
        objects.extend(more.into_iter().map(|object| object.labelled(&owned)));
        objects.push(Manifest::open(&cluster));
        objects.extend(self.pool(&chosen, &mut judge));
        finish(objects, judge)
    }

    fn cluster(
        &self,
        chosen: &Chosen,
        access: Access,
        given: &Given,
        judge: &mut Judge,
    ) -> (HostedCluster, Vec<Manifest>) {
        let flags = self.flags;
        let surroundings = Surroundings {
            name: flags.name(),
            namespace: &flags.namespace,
            has_base_domain: flags.plane.base_domain.is_some(),
            has_external_dns: flags.plane.external_dns_domain.is_some(),
            release: chosen.release.as_deref(),
            given,
        };
        let (platform, objects) = self.platform.platform(&surroundings, judge);
        let publishing = self.platform.publishing(&surroundings, judge);
        let domain = flags.plane.external_dns_domain.as_deref();
        let services = publishing::services(flags.name(), domain, &publishing, judge);
        let release = Release {
            image: judge.text(chosen.flag, &chosen.image, ReleaseImage::stored),
        };
        let fields = json!({
            "release": release, "platform": platform, "services": services, "pullSecret": access.pull_secret,
            "issuerURL": DEFAULT_ISSUER_URL,
        });
        let mut spec: HostedClusterSpec = hyperplane_objects::read(&fields).expect("what a spec needs is there");
        spec.networking = flags.networks.build(judge);
        spec.ssh_key = access.ssh_key;
        spec.additional_trust_bundle = access.trust_bundle;
        spec.image_content_sources = access.mirrors;
        flags.plane.set(&mut spec, judge);
        let mut cluster = HostedCluster::new(flags.name(), spec);
        cluster.metadata.namespace = Some(flags.namespace.clone());
        let mut annotations = pairs::annotations("--annotations", &flags.annotations, judge);
        annotations.extend(flags.plane.annotations());
        cluster.metadata.annotations = some(annotations);
        cluster.metadata.labels = some(pairs::labels("--labels", &flags.labels, judge));
        (cluster, objects)
    }

    fn pool(&self, chosen: &Chosen, judge: &mut Judge) -> Option<Manifest> {
        let flags = self.flags;
        let replicas = flags
            .node_pool_replicas
            .unwrap_or_else(|| self.platform.default_replicas());
        let facts = PoolFacts {
            name: flags.name(),
            namespace: &flags.namespace,
            cluster: flags.name(),
            image: &chosen.image,
            replicas,
            platform: self.platform.machines(judge),
        };
        // Wrong flags for machines are told even where none are made.
        let pool = flags.nodes.pool(facts, judge);
        (replicas >= 0).then(|| Manifest::open(&pool))
    }
}

/// What may go with the cluster: it was made for it alone.
fn owned(name: &str, infra_id: Option<&str>) -> Value {
    let mut found = json!({
        labels::CLUSTER_NAME.as_str(): name,
        labels::SAFE_TO_DELETE_WITH_CLUSTER.as_str(): "true",
    });
    if let Some(infra_id) = infra_id {
        found[labels::AUTO_CREATED_FOR_INFRA.as_str()] = infra_id.into();
    }
    found
}

fn some(map: BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
    Some(map).filter(|map| !map.is_empty())
}

/// Names must fit, the one that is made of both of them too.
fn judge_names(namespace: &str, name: &str, judge: &mut Judge) {
    judge.complaints("--name", name, &names::dns_1123_label(name));
    judge.complaints("--namespace", namespace, &names::dns_1123_label(namespace));
    let both = control_plane_namespace(namespace, name);
    if both.len() > LONGEST_NAMESPACE {
        judge.wrong(
            "--name",
            format!(
                "{both:?}, the namespace of its control plane, is longer than {LONGEST_NAMESPACE}: use a shorter one"
            ),
        );
    }
}

/// All objects if nothing is wrong with them.
pub(crate) fn finish(objects: Vec<Manifest>, mut judge: Judge) -> Result<Manifests, Vec<Problem>> {
    if judge.problems.is_empty() {
        check::judge_objects(&objects, &mut judge);
    }
    if judge.problems.is_empty() {
        Ok(Manifests {
            objects,
            notes: judge.notes,
        })
    } else {
        Err(judge.problems)
    }
}
