//! One row per rule at least: what breaks it, and that nothing else is broken by it.

#![allow(clippy::needless_pass_by_value, reason = "rows are written down, not passed around")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::{
    testing::{self, distribution_release},
    texts::{Content, Source},
};

/// What breaks a rule.
struct Row {
    rule: &'static str,
    change: Value,
    see: fn(&mut Seen),
    set: fn(&mut NodePoolSettings),
}

impl Row {
    fn judged(&self) -> Verdict {
        let pool = testing::pool(&self.change);
        let mut seen = testing::seen(&testing::cluster(&json!({})));
        (self.see)(&mut seen);
        let mut settings = testing::settings();
        (self.set)(&mut settings);
        testing::planned_with(&pool, &seen, &settings).verdict.unwrap()
    }
}

fn spec(rule: &'static str, spec: Value) -> Row {
    Row {
        rule,
        change: json!({"spec": spec}),
        see: |_| {},
        set: |_| {},
    }
}

fn sees(rule: &'static str, see: fn(&mut Seen)) -> Row {
    Row {
        see,
        ..spec(rule, json!({}))
    }
}

fn kubevirt(rule: &'static str, kubevirt: Value) -> Row {
    spec(rule, json!({"platform": {"kubevirt": kubevirt}}))
}

fn source(name: &str, content: Content) -> Source {
    Source {
        name: name.to_owned(),
        content,
    }
}

fn rows() -> Vec<Row> {
    let replace = |replace: Value| json!({"management": {"replace": replace}});
    let mut rows = vec![
        spec("pool-strategy", replace(json!({"strategy": null}))),
        spec("pool-strategy", replace(json!({"strategy": "Sometimes"}))),
        spec("pool-upgrade-type", json!({"management": {"upgradeType": "Somehow"}})),
        spec(
            "pool-pace",
            replace(json!({"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": "many"}})),
        ),
        spec("pool-timeout", json!({"nodeDrainTimeout": "soon"})),
        spec("pool-replicas", json!({"replicas": -1})),
        spec("pool-label-key", json!({"nodeLabels": {"a/b/c": "d"}})),
        spec(
            "pool-label-key",
            json!({"nodeLabels": {"a-key-of-more-than-two-and-thirty-letters": "d"}}),
        ),
        spec("pool-label-value", json!({"nodeLabels": {"a": "not a value"}})),
        spec(
            "pool-taint-twice",
            json!({"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}]}),
        ),
        spec(
            "pool-taint-value",
            json!({"taints": [{"key": "a", "value": "b".repeat(64), "effect": "NoSchedule"}]}),
        ),
        spec(
            "pool-release-resolves",
            json!({"release": {"image": "example.com/none:1"}}),
        ),
        spec("pool-platform", json!({"platform": {"type": "Agent"}})),
        spec("pool-architecture", json!({"arch": "arm64"})),
    ];
    rows.extend(rows_of_surroundings());
    rows.extend(rows_of_kubevirt());
    rows
}

fn rows_of_surroundings() -> Vec<Row> {
    vec![
        sees("pool-config-exists", |seen| {
            seen.sources.push(source("mine", Content::Missing));
        }),
        sees("pool-config-exists", |seen| {
            seen.sources.push(source("mine", Content::Empty));
        }),
        sees("pool-config-readable", |seen| {
            let text = "apiVersion: v1\nkind: Pod\n".to_owned();
            seen.sources.push(source("mine", Content::Text(text)));
        }),
        sees("pool-cluster-proxy", |seen| {
            let proxy = json!({"proxy": {"httpsProxy": "proxy.example.com:3128"}});
            let cluster = testing::cluster(&json!({"spec": {"configuration": proxy}}));
            seen.cluster = Some(cluster.into());
        }),
        sees("pool-config-size", |seen| {
            let document = json!({
                "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "KubeletConfig",
                "metadata": {"name": "large", "annotations": {"filling": "x".repeat(1 << 20)}},
                "spec": {"kubeletConfig": {"maxPods": 500}},
            });
            seen.sources.push(source("mine", Content::Text(document.to_string())));
        }),
        Row {
            see: |seen| {
                let spec =
                    json!({"image": "registry.example.com/acp:1", "distribution": "acp", "scheme": "kubernetes"});
                seen.releases.push(distribution_release(&json!({"spec": spec})));
            },
            ..spec(
                "pool-release-distribution",
                json!({"release": {"image": "registry.example.com/acp:1"}}),
            )
        },
        Row {
            see: |seen| {
                let image = json!({"platform": "KubeVirt", "architecture": "s390x", "name": "os"});
                let spec = json!({"image": "registry.example.com/z:1", "osImages": [image]});
                seen.releases.push(distribution_release(&json!({"spec": spec})));
            },
            ..spec(
                "pool-architecture-release",
                json!({"release": {"image": "registry.example.com/z:1"}}),
            )
        },
        Row {
            set: |settings| settings.served.kubevirt = false,
            ..spec("pool-platform-provider", json!({}))
        },
    ]
}

fn rows_of_kubevirt() -> Vec<Row> {
    vec![
        kubevirt("pool-kubevirt-networks", json!({"attachDefaultNetwork": false})),
        kubevirt(
            "pool-kubevirt-network-name",
            json!({"additionalNetworks": [{"name": "lan"}]}),
        ),
        kubevirt("pool-kubevirt-boot-image", json!({"rootVolume": {"diskImage": null}})),
        kubevirt(
            "pool-kubevirt-cache",
            json!({"rootVolume": {"cacheStrategy": {"type": "PVC"}}}),
        ),
        Row {
            change: json!({"metadata": {"annotations": {"hypershift.openshift.io/kubevirt-vm-jsonpatch": "{}"}}}),
            ..spec("pool-kubevirt-json-patch", json!({}))
        },
    ]
}

fn broken(verdict: &Verdict) -> BTreeSet<&'static str> {
    let all = verdict.problems().chain(&verdict.autoscaling);
    all.map(|problem| problem.rule).collect()
}

#[test]
fn every_row_breaks_its_rule_and_no_other() {
    for row in rows() {
        assert_eq!(broken(&row.judged()), BTreeSet::from([row.rule]), "{}", row.change);
    }
}

#[test]
fn every_rule_has_a_row_and_a_name_of_its_own() {
    let all: Vec<&str> = rules().iter().map(|rule| rule.name).collect();
    let names: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(names.len(), all.len());
    let mut tested: BTreeSet<&str> = rows().iter().map(|row| row.rule).collect();
    tested.insert("pool-scale-from-zero");
    assert_eq!(names, tested);
}

#[test]
fn a_good_pool_breaks_nothing() {
    let verdict = spec("", json!({})).judged();
    assert!(broken(&verdict).is_empty() && verdict.is_sound(), "{verdict:?}");
    assert!(verdict.found.is_some() && verdict.documents.is_some() && verdict.machines.is_some());
}

#[test]
fn bounds_that_cannot_be_kept_stop_nothing() {
    let row = spec(
        "pool-scale-from-zero",
        json!({"replicas": null, "autoScaling": {"min": 0, "max": 3}}),
    );
    let verdict = row.judged();
    assert_eq!(broken(&verdict), BTreeSet::from(["pool-scale-from-zero"]));
    assert!(verdict.is_sound() && verdict.holds().next().is_none());
}

#[test]
fn a_pace_or_a_timeout_that_makes_no_sense_holds_rolls_and_nothing_else() {
    let replace = |replace: Value| json!({"management": {"replace": replace}});
    for change in [
        json!({"nodeDrainTimeout": "soon"}),
        json!({"replicas": -1}),
        replace(json!({"strategy": "Sometimes"})),
        replace(json!({"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": "many"}})),
    ] {
        let verdict = spec("", change.clone()).judged();
        assert!(verdict.is_sound() && verdict.holds().next().is_some(), "{change}");
    }
    let usual = spec("", replace(json!({"strategy": "RollingUpdate"}))).judged();
    assert!(broken(&usual).is_empty(), "a pace that is not given is the usual one");
}

#[test]
fn pools_that_change_in_place_are_left_alone() {
    let verdict = spec("", json!({"management": {"upgradeType": "InPlace"}})).judged();
    assert!(verdict.is_in_place && !verdict.is_sound());
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let row = Row {
        see: |seen| seen.sources.push(source("mine", Content::Missing)),
        ..spec(
            "",
            json!({
                "arch": "arm64", "nodeDrainTimeout": "soon", "nodeLabels": {"a": "not a value"},
                "platform": {"kubevirt": {"attachDefaultNetwork": false}},
            }),
        )
    };
    let expected = [
        "pool-timeout",
        "pool-label-value",
        "pool-config-exists",
        "pool-architecture",
        "pool-kubevirt-networks",
    ];
    assert_eq!(broken(&row.judged()), BTreeSet::from(expected));
}

#[test]
fn what_needs_no_release_is_judged_without_one() {
    let release = json!({"image": "example.com/none:1"});
    let verdict = spec(
        "",
        json!({"release": release, "platform": {"kubevirt": {"attachDefaultNetwork": false}}}),
    )
    .judged();
    let expected = ["pool-release-resolves", "pool-kubevirt-networks"];
    assert_eq!(broken(&verdict), BTreeSet::from(expected));
    // What machines start from is not known, and no mistake.
    let verdict = spec(
        "",
        json!({"release": release, "platform": {"kubevirt": {"rootVolume": {"diskImage": null}}}}),
    )
    .judged();
    assert_eq!(broken(&verdict), BTreeSet::from(["pool-release-resolves"]));
    assert!(verdict.machines.is_none());
}

#[test]
fn platforms_without_machines_need_no_template() {
    let seen = testing::seen(&testing::cluster(
        &json!({"spec": {"platform": {"type": "None", "kubevirt": null}}}),
    ));
    let pool = testing::pool(&json!({"spec": {"platform": {"type": "None", "kubevirt": null}}}));
    let verdict = testing::planned(&pool, &seen).verdict.unwrap();
    assert_eq!(verdict.machines, Some(MachineTemplate::None));
}
