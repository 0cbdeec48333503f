//! What a user writes on pods of the control plane, and in annotations that we read: it must be what Kubernetes takes, and
//! must not pretend to be ours.

use hyperplane_api::constants::{annotations, ours};
use hyperplane_components::request_override;
use hyperplane_platforms::{Problem, Rule};
use hyperplane_schema::names;

use super::Case;
use crate::duration;

const FORM: Rule = Rule {
    name: "labels-form",
    asks: "keys and values in labels and nodeSelector must be what Kubernetes takes",
};
const RESERVED: Rule = Rule {
    name: "labels-reserved",
    asks: "labels must not use keys by which control planes are run",
};
const GRACE: Rule = Rule {
    name: "destroy-grace-period",
    asks: "the grace period must be a duration",
};
const POD_SECURITY: Rule = Rule {
    name: "pod-security",
    asks: "the level of pod security must be one that Kubernetes has",
};
const TENANT_OPERATORS: Rule = Rule {
    name: "tenant-operators",
    asks: "operators are shared or dedicated",
};
const RESOURCE_OVERRIDE: Rule = Rule {
    name: "resource-request-override",
    asks: "an override of resource requests names a workload, a container and amounts",
};

pub(super) const RULES: &[Rule] = &[FORM, RESERVED, GRACE, POD_SECURITY, TENANT_OPERATORS, RESOURCE_OVERRIDE];

/// Keys by which pods of control planes are selected, so that no user may set them.
const OURS: &[&str] = &[
    "hypershift.openshift.io/",
    "hyperplane.dev/",
    "app.kubernetes.io/managed-by",
    "kubevirt.io",
];

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    let spec = &case.cluster.spec;
    for (field, labels) in [
        ("spec.labels", &spec.labels),
        ("spec.nodeSelector", &spec.node_selector),
    ] {
        for (key, value) in labels {
            let mut complaints = names::qualified_name(key);
            complaints.extend(names::label_value(value));
            if !complaints.is_empty() {
                problems.push(Problem::new(
                    &FORM,
                    format!("{field}[{key}]"),
                    format!("{key}={value} is no label"),
                    "use letters, digits, dashes, dots and underscores, at most 63 of them",
                ));
            }
        }
    }
    for key in spec.labels.keys() {
        let is_reserved = key == "app" || OURS.iter().any(|ours| key.starts_with(ours));
        problems.extend(is_reserved.then(|| {
            Problem::new(
                &RESERVED,
                format!("spec.labels[{key}]"),
                "pods of control planes are selected by it",
                "use a key of your own",
            )
        }));
    }
    annotations_of(case, problems);
}

fn annotations_of(case: &Case<'_>, problems: &mut Vec<Problem>) {
    let field = |key: &str| format!("metadata.annotations[{key}]");
    let grace = annotations::DESTROY_GRACE_PERIOD.of(case.cluster);
    problems.extend(grace.and_then(|text| duration::parse(text).err()).map(|error| {
        let key = annotations::DESTROY_GRACE_PERIOD.as_str();
        Problem::new(
            &GRACE,
            field(key),
            error.to_string(),
            "write a duration such as 90s or 1h30m",
        )
    }));
    let level = annotations::POD_SECURITY_ADMISSION_LABEL_OVERRIDE.of(case.cluster);
    let is_level = |text: &str| ["restricted", "baseline", "privileged"].contains(&text.to_lowercase().as_str());
    problems.extend(level.filter(|level| !is_level(level)).map(|level| {
        let key = annotations::POD_SECURITY_ADMISSION_LABEL_OVERRIDE.as_str();
        let what = format!("{level:?} is no level of pod security");
        Problem::new(
            &POD_SECURITY,
            field(key),
            what,
            "use Restricted, Baseline or Privileged",
        )
    }));
    let operators = ours::TENANT_OPERATORS.of(case.cluster);
    problems.extend(
        operators
            .filter(|mode| !["shared", "dedicated"].contains(mode))
            .map(|mode| {
                let key = ours::TENANT_OPERATORS.as_str();
                let what = format!("{mode:?} is no way to run operators");
                Problem::new(&TENANT_OPERATORS, field(key), what, "use shared or dedicated")
            }),
    );
    for (key, value) in case.cluster.metadata.annotations.iter().flatten() {
        let Some(rest) = annotations::RESOURCE_REQUEST_OVERRIDE.rest_of(key) else {
            continue;
        };
        // Upstream indexes past the end where a dot or an equals sign is missing; here it is told to the user.
        problems.extend(request_override(rest, value).err().map(|error| {
            Problem::new(
                &RESOURCE_OVERRIDE,
                field(key),
                error,
                "write the key as workload.container and the value as cpu=500m,memory=1Gi",
            )
        }));
    }
}
