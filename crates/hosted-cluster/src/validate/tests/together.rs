//! What rules do together: everything is said at once, what is let through, and what is never shown.

use super::*;

fn assert_allowed(row: &Row, what: &str) {
    let verdict = row.judged();
    let blockers: Vec<_> = verdict.blockers().collect();
    assert!(verdict.allows(), "{what}: {blockers:#?}");
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let row = Row {
        see: |_, seen| seen.sources[0].state = State::Missing,
        ..spec(
            "",
            json!({
                "networking": {"machineNetwork": [{"cidr": "10.133.0.0/16"}]},
                "labels": {"app": "mine"},
                "release": {"image": "registry.example.com/unknown:1"},
            }),
        )
    };
    let verdict = row.annotated("hyperplane.dev/tenant-operators", "elsewhere").judged();
    let expected = [
        "labels-reserved",
        "network-overlap",
        "release-resolves",
        "source-exists",
        "tenant-operators",
    ];
    assert_eq!(broken(&verdict), expected.into());
}

#[test]
fn declared_ways_back_and_forced_ways_forward_are_let_through() {
    let kubernetes = |version: &str| format!("hyperplane.dev/kubernetes:{version}");
    let back = moved("", &kubernetes("v1.36.2"), IMAGE, "1.36.4");
    let forward = Row {
        see: objecting,
        ..moved("", IMAGE, &kubernetes("v1.35.4"), "1.35.4")
    };
    let rows = [
        back.annotated("hyperplane.dev/allow-downgrade-to", "1.36.2"),
        forward.annotated("hypershift.openshift.io/force-upgrade-to", IMAGE),
        moved("", IMAGE, &kubernetes("v1.35.4"), "1.35.4"),
        moved("", &kubernetes("v1.35.4"), &kubernetes("v1.35.4"), "1.35.4"),
    ];
    for (number, row) in rows.iter().enumerate() {
        assert_allowed(row, &format!("row {number}"));
    }
}

#[test]
fn whoever_skips_a_check_is_let_through_and_only_there() {
    let kubernetes = |version: &str| format!("hyperplane.dev/kubernetes:{version}");
    let skip_release = "hypershift.openshift.io/skip-release-image-validation";
    let skip_names = "hypershift.openshift.io/skip-kas-conflict-san-validation";
    let unknown = json!({"release": {"image": "registry.example.com/unknown:1"}});
    let conflict = json!({"configuration": certificate("kubernetes")});
    let downgrade = moved("release-downgrade", &kubernetes("v1.35.4"), IMAGE, "1.36.4");
    let skip = moved("release-skip", IMAGE, &kubernetes("v1.34.4"), "1.34.4");
    for (row, key, is_skipped) in [
        (downgrade, skip_release, true),
        (skip, skip_release, true),
        (spec("release-resolves", unknown), skip_release, false),
        (spec("services-certificates", conflict.clone()), skip_names, true),
        (spec("services-certificates", conflict), skip_release, false),
    ] {
        let rule = row.rule;
        assert_eq!(broken(&row.judged()), [rule].into());
        let left = (!is_skipped).then_some(rule);
        assert_eq!(
            broken(&row.annotated(key, "true").judged()),
            left.into_iter().collect(),
            "{rule} with {key}"
        );
    }
}

#[test]
fn an_unknown_platform_hides_nothing_else() {
    let row = Row {
        see: |_, seen| seen.sources[0].state = State::Missing,
        ..spec(
            "",
            json!({
                "platform": {"type": "IBMCloud", "ibmcloud": {}},
                "release": {"image": "registry.example.com/unknown:1"},
                "labels": {"app": "mine"},
            }),
        )
    };
    let verdict = row.judged();
    let expected = [
        "labels-reserved",
        "platform-supported",
        "release-resolves",
        "source-exists",
    ];
    assert_eq!(broken(&verdict), expected.into());
    assert!(verdict.lacks_platform);
}

#[test]
fn a_name_that_is_there_for_a_certificate_of_the_user_may_have_one() {
    for name in ["further.example.com", "*.example.com", "192.0.2.99"] {
        let fields = json!({"kubeAPIServerDNSName": "further.example.com", "configuration": certificate(name)});
        assert_allowed(&spec("", fields), name);
    }
}

#[test]
fn a_secret_is_never_shown() {
    let row = Row {
        see: |_, seen| {
            set_source(seen, "spec.pullSecret", ".dockerconfigjson", b"hunter2");
            set_source(seen, "spec.auditWebhook", "webhook-kubeconfig", b"hunter2: [hunter2");
        },
        ..spec(
            "",
            json!({"auditWebhook": {"name": "audit"}, "sshKey": {"name": "keys"}}),
        )
    };
    let text = format!("{:?}", row.judged());
    assert!(!text.contains("hunter2"), "{text}");
}
