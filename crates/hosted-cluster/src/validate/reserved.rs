//! Names that a control plane gives to Secrets and ConfigMaps itself. A copy under one of them would overwrite what the
//! control plane needs, or be overwritten. The names come from those who write the objects, so that a new one counts.

use std::{collections::BTreeSet, sync::LazyLock};

use hyperplane_api::constants::{objects::copies, ours};
use hyperplane_platforms::{Problem, Rule};

use super::Case;
use crate::{
    dereference::Source,
    references::{Order, Purpose, SourceKind},
};

const RESERVED: Rule = Rule {
    name: "source-reserved-name",
    asks: "what the configuration refers to must not have a name that the control plane uses itself",
};

pub(super) const RULES: &[Rule] = &[RESERVED];

/// ConfigMaps that the management cluster itself puts into every namespace.
const OF_MANAGEMENT: &[&str] = &["kube-root-ca.crt", "openshift-service-ca.crt"];

/// How the names of kubeconfigs end, some of which follow from names of components and clusters.
const KUBECONFIG: &str = "-kubeconfig";

/// Every name that is the same in all control planes, by kind.
static NAMES: LazyLock<BTreeSet<(&'static str, String)>> = LazyLock::new(|| {
    let owned = |(kind, name): (&'static str, &str)| (kind, name.to_owned());
    let mut names = hyperplane_components::object_names();
    names.extend(hyperplane_pki_issue::object_names().into_iter().map(owned));
    names.extend(copies::ALL.iter().copied().map(owned));
    names.extend(OF_MANAGEMENT.iter().map(|name| ("ConfigMap", (*name).to_owned())));
    names
});

pub(super) fn judge(case: &Case<'_>, source: &Source) -> Option<Problem> {
    let order = &source.order;
    let is_reserved = order.purpose == Purpose::Configuration && (is_meant(order) || is_taken(case, order));
    is_reserved.then(|| {
        Problem::new(
            &RESERVED,
            order.field.clone(),
            format!(
                "{} is the name of an object that control planes have themselves",
                order.target
            ),
            "give the object another name",
        )
    })
}

fn is_meant(order: &Order) -> bool {
    let is_kubeconfig = order.kind == SourceKind::Secret && order.target.ends_with(KUBECONFIG);
    is_kubeconfig || NAMES.contains(&(order.kind.name(), order.target.clone()))
}

/// Whether something stands there that is no copy.
fn is_taken(case: &Case<'_>, order: &Order) -> bool {
    let objects = &case.seen.objects;
    match order.kind {
        SourceKind::Secret => objects
            .secrets
            .get(&order.target)
            .is_some_and(|found| ours::COPIED_FROM.of(found.as_ref()).is_none()),
        SourceKind::ConfigMap => objects
            .config_maps
            .get(&order.target)
            .is_some_and(|found| ours::COPIED_FROM.of(found.as_ref()).is_none()),
    }
}

#[cfg(test)]
mod tests {
    use hyperplane_api::constants::objects::{bundles, certificates};
    use serde_json::json;

    use super::*;
    use crate::{
        references,
        testing::{cluster, judge, seen, settings},
    };

    /// The rules that a reference to this name breaks.
    fn broken_by(kind: &str, name: &str) -> BTreeSet<&'static str> {
        let configuration = match kind {
            "Secret" => json!({"oauth": {"templates": {"login": {"name": name}}}}),
            _ => json!({"image": {"additionalTrustedCA": {"name": name}}}),
        };
        let cluster = cluster(&json!({"spec": {"configuration": configuration}}));
        let verdict = judge(&cluster, &seen(&cluster), &settings());
        verdict.blockers().map(|problem| problem.rule).collect()
    }

    #[test]
    fn every_name_that_somebody_writes_is_refused() {
        assert!(NAMES.len() > 50, "{NAMES:?}");
        for (kind, name) in NAMES.iter() {
            assert_eq!(broken_by(kind, name), BTreeSet::from([RESERVED.name]), "{kind} {name}");
        }
        let some = [
            ("ConfigMap", "kas-config"),
            ("ConfigMap", "auth-config"),
            ("ConfigMap", "kas-audit-config"),
            ("ConfigMap", "etcd-template"),
            ("ConfigMap", "router"),
            ("ConfigMap", "kube-root-ca.crt"),
            ("ConfigMap", "openshift-apiserver"),
            ("ConfigMap", "kubevirt-cloud-config"),
            ("ConfigMap", bundles::IGNITION),
            ("Secret", copies::KUBEVIRT_CREDENTIALS),
            ("Secret", certificates::SERVICE_ACCOUNT_KEYS),
            ("Secret", "kas-secret-encryption-config"),
            ("Secret", "anything-kubeconfig"),
        ];
        for (kind, name) in some {
            assert_eq!(broken_by(kind, name), BTreeSet::from([RESERVED.name]), "{kind} {name}");
        }
    }

    #[test]
    fn a_name_of_another_kind_and_any_other_name_are_let_through() {
        for (kind, name) in [
            ("Secret", "kas-config"),
            ("ConfigMap", "pull-secret"),
            ("Secret", "mine"),
        ] {
            assert_eq!(broken_by(kind, name), BTreeSet::new(), "{kind} {name}");
        }
    }

    #[test]
    fn every_copy_with_a_name_of_its_own_is_reserved() {
        let key = |name: &str| json!({"name": name});
        let spec = json!({
            "sshKey": key("a"), "additionalTrustBundle": key("b"), "auditWebhook": key("c"),
            "serviceAccountSigningKey": key("d"),
            "secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": key("e"), "backupKey": key("f")}},
            "etcd": {"managementType": "Unmanaged", "unmanaged": {"endpoint": "https://etcd.example.com:2379",
                "tls": {"clientSecret": key("g")}}},
            "platform": {"type": "KubeVirt", "kubevirt": {"credentials": {
                "infraKubeConfigSecret": {"name": "h", "key": "config"}, "infraNamespace": "machines"}}},
        });
        let cluster = cluster(&json!({"spec": spec}));
        let (orders, _) = references::orders(&cluster);
        assert_eq!(orders.len(), 9, "{orders:#?}");
        for order in &orders {
            assert!(is_meant(order), "{order:?}");
        }
    }
}
