//! The platform of a pool: that it is the cluster's, that it has machines of the architecture, and that a template can be
//! made.

use hyperplane_api::{
    constants::annotations,
    hypershift::{
        hosted_cluster::{HostedCluster, InfraId},
        hosted_cluster_status::PayloadArchitecture,
        node_pool::{Architecture, NodePool},
        platform_type::PlatformType,
    },
    infrastructure::kubevirt_machine::KubevirtMachineTemplate,
};
use hyperplane_planner::release::Release;
use hyperplane_platforms::{MachineTemplate, Platform, PoolFacts, Problem, Rule};
use kube::ResourceExt as _;

use super::{Case, Verdict};
use crate::{dereference::Seen, names};

const SAME: Rule = Rule {
    name: "pool-platform",
    asks: "a pool is on the platform of its cluster",
};
const PROVIDER: Rule = Rule {
    name: "pool-platform-provider",
    asks: "the management cluster must have the kinds of the platform's provider",
};
const ARCHITECTURE: Rule = Rule {
    name: "pool-architecture",
    asks: "the platform must have machines of the architecture",
};
const PAYLOAD: Rule = Rule {
    name: "pool-architecture-release",
    asks: "the release must be for the architecture",
};

pub(super) const RULES: &[Rule] = &[SAME, PROVIDER, ARCHITECTURE, PAYLOAD];

const FIELD: &str = "spec.platform.type";
/// What machines of a release that was not found start from, for the sake of judging the rest.
const UNKNOWN_IMAGE: &str = "unknown";

pub(super) fn judge(case: &Case<'_>, verdict: &mut Verdict) {
    let (of_pool, of_cluster) = (&case.pool.spec.platform.type_, &case.cluster.spec.platform.type_);
    if of_pool != of_cluster {
        let what = format!("it is {of_pool}, and the cluster is on {of_cluster}");
        let remedy = "make a new pool on the platform of the cluster";
        verdict.platform.push(Problem::new(&SAME, FIELD, what, remedy));
        return;
    }
    let platform = match hyperplane_platforms::of(&case.cluster.spec) {
        Ok(platform) => platform,
        Err(error) => {
            let problem = Problem::new(&SAME, FIELD, error.to_string(), "choose another platform");
            verdict.platform.push(problem);
            return;
        }
    };
    verdict.platform.extend(provider(case));
    verdict.architecture.extend(architecture(case, platform));
    let release = verdict.found.clone();
    if let Some(release) = &release {
        verdict.architecture.extend(payload(case, release));
    }
    match template(case, platform, release.as_deref()) {
        Ok(template) if release.is_some() => verdict.machines = Some(template),
        Ok(_) => {}
        Err(problems) => verdict.template.extend(problems),
    }
}

/// Whether machines are made for a pool at all; where not, hosts join by themselves.
pub(crate) fn makes_machines(pool: &NodePool, cluster: &HostedCluster) -> bool {
    let is_none = pool.spec.platform.type_ == PlatformType::None;
    !is_none && !annotations::DISABLE_MACHINE_MANAGEMENT.is_true(cluster)
}

fn provider(case: &Case<'_>) -> Option<Problem> {
    let served = case.settings.served;
    let (is_served, kind) = match case.pool.spec.platform.type_ {
        PlatformType::KubeVirt => (served.kubevirt, "KubevirtMachineTemplate"),
        PlatformType::Agent => (served.agent, "AgentMachineTemplate"),
        _ => (true, ""),
    };
    (makes_machines(case.pool, case.cluster) && !is_served).then(|| {
        Problem::new(
            &PROVIDER,
            FIELD,
            format!("the management cluster does not serve the kind {kind}"),
            "install the Cluster API provider of the platform, then restart the manager",
        )
    })
}

fn architecture(case: &Case<'_>, platform: &dyn Platform) -> Option<Problem> {
    let wanted = match case.pool.spec.arch {
        Architecture::Amd64 => Some(PayloadArchitecture::Amd64),
        Architecture::Arm64 => Some(PayloadArchitecture::Arm64),
        Architecture::Ppc64le => Some(PayloadArchitecture::Ppc64le),
        Architecture::S390x => Some(PayloadArchitecture::S390x),
        Architecture::Unrecognised(_) => None,
    };
    let has = wanted.is_some_and(|wanted| platform.architectures().contains(&wanted));
    (!has).then(|| {
        let offered: Vec<String> = platform
            .architectures()
            .iter()
            .map(|one| one.as_str().to_lowercase())
            .collect();
        Problem::new(
            &ARCHITECTURE,
            "spec.arch",
            format!(
                "{} has no machines of {}",
                platform.platform_type(),
                case.pool.spec.arch
            ),
            format!("make a new pool of {}", offered.join(" or ")),
        )
    })
}

/// A release that brings images of operating systems is for their architectures; one that brings none is for all.
fn payload(case: &Case<'_>, release: &Release) -> Option<Problem> {
    let architecture = case.pool.spec.arch.as_str();
    let mut images = release.os_images.iter();
    let is_for_others = !release.os_images.is_empty() && !images.any(|image| image.architecture == architecture);
    is_for_others.then(|| {
        Problem::new(
            &PAYLOAD,
            "spec.release.image",
            format!("{} is not for {architecture}", release.version),
            "choose a release for several architectures",
        )
    })
}

/// What machines are made from. Without a release it is judged as if that had something to start from, and goes nowhere.
fn template(
    case: &Case<'_>,
    platform: &dyn Platform,
    release: Option<&Release>,
) -> Result<MachineTemplate, Vec<Problem>> {
    if !makes_machines(case.pool, case.cluster) {
        return Ok(MachineTemplate::None);
    }
    let of_release = release.map_or(Some(UNKNOWN_IMAGE), |release| boot_image(case.pool, release));
    platform.machine_template(&PoolFacts {
        cluster: case.cluster,
        pool: case.pool,
        pool_label: &names::label(case.pool),
        infra_id: case.cluster.spec.infra_id.as_ref().map_or("", InfraId::as_str),
        namespace: &case.seen.namespace,
        boot_image: of_release.or(case.settings.boot_image.as_deref()),
        spreads_by_topology: spreads_by_topology(case.pool, case.seen),
    })
}

/// What machines of a pool start from by its release.
pub(crate) fn boot_image<'a>(pool: &NodePool, release: &'a Release) -> Option<&'a str> {
    let (platform, architecture) = (pool.spec.platform.type_.as_str(), pool.spec.arch.as_str());
    let mut images = release.os_images.iter();
    let image = images.find(|image| image.platform == platform && image.architecture == architecture);
    image.map(|image| image.name.as_str())
}

/// Whether machines are spread by topology: all but those of pools from before, whose way stays, lest they roll.
pub(crate) fn spreads_by_topology(pool: &NodePool, seen: &Seen) -> bool {
    let says = annotations::SUPPORTS_KUBEVIRT_TOPOLOGY_SPREAD_CONSTRAINTS.is_true(pool);
    says || !keeps_old_way(seen)
}

/// Whether machines are made in the way from before. What they are made from tells it: what is written on the pool may
/// reach the cache later than what was made for it, and no pool rolls for that.
fn keeps_old_way(seen: &Seen) -> bool {
    let Some(deployment) = &seen.machines.deployment else {
        return false;
    };
    let used = &deployment.spec.template.spec.infrastructure_ref.name;
    let is_old = |template: &KubevirtMachineTemplate| {
        let machine = &template.spec.template.spec.virtual_machine_template.0;
        let instance = machine.get("spec").and_then(|spec| spec.pointer("/template/spec"));
        instance.is_some_and(|instance| instance.get("topologySpreadConstraints").is_none())
    };
    let mut templates = seen.machines.kubevirt.iter();
    templates.any(|template| template.name_any() == used.as_str() && is_old(template))
}
