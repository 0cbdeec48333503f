//! Every rule that needs more than a schema, one family per file. All that is wrong is said at once. Pure: everything that
//! is judged was read before.

mod authentication;
mod encryption;
mod immutable;
mod labels;
mod namespace;
mod networks;
mod release;
mod reserved;
mod services;
mod sources;
mod support;
mod upgrade;

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_platforms::{Platform, Problem, Rule, Surroundings};
use jiff::Timestamp;

pub(crate) use self::{
    release::{ReleasePair, control_plane_image},
    support::payload_architecture,
};
use crate::{dereference::Seen, references, settings::HostedClusterSettings};

/// What is judged.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) cluster: &'a HostedCluster,
    pub(crate) seen: &'a Seen,
    pub(crate) settings: &'a HostedClusterSettings,
    pub(crate) now: Timestamp,
}

/// What came of it, by the aspect that each problem concerns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// The spec contradicts itself, or what it refers to.
    pub(crate) configuration: Vec<Problem>,
    /// This manager cannot host such a cluster.
    pub(crate) support: Vec<Problem>,
    /// The release cannot be used, or not from here.
    pub(crate) release: Vec<Problem>,
    /// The release could be used, but the cluster does not want to move now.
    pub(crate) upgrade: Vec<Problem>,
    /// The platform cannot be reached.
    pub(crate) credentials: Vec<Problem>,
    /// The proxy cannot be trusted.
    pub(crate) proxy: Vec<Problem>,
    /// The releases, where they can be found.
    pub(crate) releases: Option<ReleasePair>,
    /// The pull secret is missing, without which a release cannot be pulled either.
    pub(crate) lacks_pull_secret: bool,
    /// The certificates of the proxy are missing, so that nothing can be said of them.
    pub(crate) lacks_proxy_bundle: bool,
    /// Nobody here knows the platform, so that nothing can be said of what concerns it.
    pub(crate) lacks_platform: bool,
}

impl Verdict {
    /// Everything that stands in the way.
    pub(crate) fn blockers(&self) -> impl Iterator<Item = &Problem> {
        self.support
            .iter()
            .chain(&self.configuration)
            .chain(&self.credentials)
            .chain(&self.release)
            .chain(&self.upgrade)
    }

    /// Whether the cluster may be carried out.
    pub(crate) fn allows(&self) -> bool {
        self.blockers().next().is_none() && self.releases.is_some()
    }
}

/// Judges a cluster. What can be judged without the platform is, even where nobody here knows the platform.
pub(crate) fn validate(case: &Case<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let configuration = &mut verdict.configuration;
    namespace::judge(case, configuration);
    services::judge(case, configuration);
    networks::judge(case, configuration);
    labels::judge(case, configuration);
    immutable::judge(case, configuration);
    encryption::judge(case, configuration);
    authentication::judge(case, configuration);
    configuration.extend(references::orders(case.cluster).1);
    let platform = support::platform(case);
    match &platform {
        Ok(platform) => {
            configuration.extend(platform.validate(case.cluster, &surroundings(case)));
            verdict.support.extend(support::provider(case, *platform));
        }
        Err(problem) => verdict.support.push(problem.clone()),
    }
    verdict.support.extend(support::operator(case));
    verdict.lacks_platform = platform.is_err();
    judge_releases(case, platform.ok(), &mut verdict);
    sources::judge(case, &mut verdict);
    verdict
}

fn judge_releases(case: &Case<'_>, platform: Option<&dyn Platform>, verdict: &mut Verdict) {
    match release::resolve(case) {
        Ok(pair) => {
            release::judge(case, &pair, &mut verdict.release);
            if let Some(platform) = platform {
                support::architecture(&pair, platform, &mut verdict.support);
            }
            upgrade::judge(case, &pair, &mut verdict.upgrade);
            verdict.releases = Some(pair);
        }
        Err(problems) => verdict.release.extend(problems),
    }
}

fn surroundings<'a>(case: &Case<'a>) -> Surroundings<'a> {
    Surroundings {
        ingress_domain: case.settings.facts.ingress_domain.as_deref(),
        namespaces: &case.seen.namespaces,
    }
}

/// Every rule, those of platforms included.
pub fn rules() -> Vec<&'static Rule> {
    let ours = [
        namespace::RULES,
        services::RULES,
        networks::RULES,
        labels::RULES,
        immutable::RULES,
        encryption::RULES,
        authentication::RULES,
        support::RULES,
        release::RULES,
        upgrade::RULES,
        sources::RULES,
        reserved::RULES,
    ];
    ours.into_iter()
        .flatten()
        .chain(hyperplane_platforms::rules())
        .collect()
}

#[cfg(test)]
mod tests;
