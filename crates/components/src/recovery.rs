//! The Job that brings back a member of etcd which keeps failing. It is rendered like a component and is none: it is
//! there only while it is needed, and nothing is reported of it. Who decides that is not known here.

use std::collections::BTreeSet;

use k8s_openapi::api::batch::v1::Job;

use crate::{
    catalogue::{self, etcd},
    component::{Asset, Component, Traits, WorkloadKind, asset},
    decide::{Decision, Observed, Rendered, decide},
    flags,
    inputs::Inputs,
    manifest::{Manifest, Workload},
    render::{all_names, render},
    replicas,
};

/// The name of the Job, and of the account that it has.
pub const ETCD_RECOVERY: &str = "etcd-recovery";

/// What the claim of a member's data is called before the name of the member.
const CLAIM_PREFIX: &str = "data";

const ASSETS: &[Asset] = &[
    asset!("etcd-recovery/service-account.yaml"),
    asset!("etcd-recovery/role.yaml"),
    asset!("etcd-recovery/role-binding.yaml"),
    asset!("etcd-recovery/job.yaml"),
];

pub(crate) const COMPONENT: Component = Component {
    traits: Traits {
        needs_management_api: true,
        // Without etcd there is no API server, and etcd may be what is lacking.
        precedes_api_server: true,
        ..Traits::ORDINARY
    },
    predicate: is_possible,
    adapt: adapt_replicas,
    ..Component::new(ETCD_RECOVERY, WorkloadKind::Job, ASSETS)
};

/// A member of etcd that keeps failing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingMember {
    /// The name of its pod, which is its own.
    pub name: String,
    /// The uid of its pod: one that has its place later is another.
    pub uid: String,
}

/// What to write so that a member is brought back.
pub fn etcd_recovery(inputs: &Inputs<'_>, member: &FailingMember) -> Decision {
    let mut decision = decide(&COMPONENT, inputs, &Observed::default());
    if let Decision::Apply(rendered) = &mut decision {
        point_at(rendered, member);
    }
    decision
}

/// What to remove once all members are there again. The Job goes last: as long as it is there, what remains is known.
pub fn etcd_recovery_over() -> Decision {
    let mut names = all_names(&COMPONENT);
    names.rotate_left(1);
    Decision::Absent(names)
}

/// The member that a Job is for.
pub fn recovered_member(job: &Job) -> Option<&str> {
    let pod = job.spec.as_ref()?.template.spec.as_ref()?;
    let mut arguments = pod
        .containers
        .iter()
        .flat_map(|container| container.args.iter().flatten());
    arguments.find_map(|argument| argument.strip_prefix("--name="))
}

/// The arguments of its container for some member, where a control plane can have it.
pub(crate) fn subcommands(inputs: &Inputs<'_>) -> BTreeSet<Vec<String>> {
    if !is_possible(inputs) {
        return BTreeSet::new();
    }
    let (mut rendered, ..) = render(&COMPONENT, inputs, None);
    let member = FailingMember {
        name: "etcd-0".to_owned(),
        uid: "00000000-0000-0000-0000-000000000000".to_owned(),
    };
    point_at(&mut rendered, &member);
    catalogue::arguments_of(&rendered.workload).collect()
}

/// Whether the others have what a member has lost.
fn is_possible(inputs: &Inputs<'_>) -> bool {
    etcd::is_managed(inputs) && replicas::of(&etcd::COMPONENT, inputs) > 1
}

fn adapt_replicas(inputs: &Inputs<'_>, workload: &mut Workload) {
    let replicas = replicas::of(&etcd::COMPONENT, inputs);
    if let Some(container) = workload.container_mut(ETCD_RECOVERY) {
        flags::set(container, "replicas", replicas.to_string());
    }
}

/// Says which member is meant, to the program and in what it may do.
fn point_at(rendered: &mut Rendered, member: &FailingMember) {
    if let Some(container) = rendered.workload.container_mut(ETCD_RECOVERY) {
        flags::set(container, "name", &member.name);
        flags::set(container, "uid", &member.uid);
    }
    let roles = rendered.manifests.iter_mut().filter_map(|manifest| match manifest {
        Manifest::Role(role) => Some(role),
        _ => None,
    });
    for rule in roles.flat_map(|role| role.rules.iter_mut().flatten()) {
        let is_of_claims = rule.resources.iter().flatten().any(|one| one != "pods");
        rule.resource_names = Some(vec![if is_of_claims {
            format!("{CLAIM_PREFIX}-{}", member.name)
        } else {
            member.name.clone()
        }]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::support::{World, flag};

    fn member() -> FailingMember {
        FailingMember {
            name: "etcd-1".to_owned(),
            uid: "1-2-3".to_owned(),
        }
    }

    #[test]
    fn the_job_is_for_one_pod_and_may_touch_nothing_else() {
        let world = World::with(&json!({}));
        let Decision::Apply(rendered) = etcd_recovery(&world.inputs(), &member()) else {
            panic!("everything that it mounts is there");
        };
        let workload = &rendered.workload;
        let Workload::Job(job) = workload else {
            panic!("it comes to an end");
        };
        assert_eq!(recovered_member(job), Some("etcd-1"));
        for (name, expected) in [("name", "etcd-1"), ("uid", "1-2-3"), ("replicas", "3")] {
            assert_eq!(flag(workload, ETCD_RECOVERY, name).as_deref(), Some(expected));
        }
        let labels = workload
            .template()
            .and_then(|pods| pods.metadata.as_ref()?.labels.clone());
        let key = "hypershift.openshift.io/need-management-kas-access";
        assert_eq!(labels.unwrap_or_default().get(key).map(String::as_str), Some("true"));
        let roles = rendered.manifests.iter().filter_map(|manifest| match manifest {
            Manifest::Role(role) => role.rules.clone(),
            _ => None,
        });
        let rules: Vec<_> = roles
            .flatten()
            .map(|rule| {
                (
                    rule.resources.unwrap_or_default(),
                    rule.resource_names.unwrap_or_default(),
                )
            })
            .collect();
        let words = |word: &str| vec![word.to_owned()];
        assert_eq!(
            rules,
            [
                (words("pods"), words("etcd-1")),
                (words("persistentvolumeclaims"), words("data-etcd-1"))
            ]
        );
    }

    #[test]
    fn what_was_made_for_it_goes_and_the_job_last() {
        let Decision::Absent(names) = etcd_recovery_over() else {
            panic!("something has to go");
        };
        let kinds: Vec<&str> = names.iter().map(|name| name.kind.as_str()).collect();
        assert_eq!(kinds, ["ServiceAccount", "Role", "RoleBinding", "Job"]);
        assert!(names.iter().all(|name| name.name == ETCD_RECOVERY));
    }

    #[test]
    fn only_members_that_others_can_replace_are_brought_back() {
        for change in [
            json!({"spec": {"controllerAvailabilityPolicy": "SingleReplica"}}),
            json!({"spec": {"etcd": {"managementType": "Unmanaged"}}}),
        ] {
            let world = World::with(&change);
            let decision = etcd_recovery(&world.inputs(), &member());
            assert!(matches!(decision, Decision::Absent(_)), "{change}");
            assert!(subcommands(&world.inputs()).is_empty(), "{change}");
        }
        assert_eq!(subcommands(&World::with(&json!({})).inputs()).len(), 1);
    }
}
