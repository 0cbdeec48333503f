//! What rules do together: everything is said at once, what is let through, and what is never shown.

use super::*;

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let mut change = json!({"spec": {
        "networking": {"machineNetwork": [{"cidr": "10.133.0.0/16"}]},
        "labels": {"app": "mine"},
        "release": {"image": "registry.example.com/unknown:1"},
    }});
    change["metadata"] = json!({"annotations": {"hyperplane.dev/tenant-operators": "elsewhere"}});
    let cluster = cluster(&change);
    let mut seen = seen(&cluster);
    seen.sources[0].state = State::Missing;
    let verdict = judge(&cluster, &seen, &settings());
    let broken: BTreeSet<&str> = verdict.blockers().map(|problem| problem.rule).collect();
    let expected = [
        "labels-reserved",
        "network-overlap",
        "release-resolves",
        "source-exists",
        "tenant-operators",
    ];
    assert_eq!(broken, BTreeSet::from(expected));
}

#[test]
fn declared_ways_back_and_forced_ways_forward_are_let_through() {
    let annotated = |mut row: Row, key: &str, value: &str| {
        row.change["metadata"] = json!({"annotations": {key: value}});
        row
    };
    let kubernetes = |version: &str| format!("hyperplane.dev/kubernetes:{version}");
    let back = moved("", &kubernetes("v1.36.2"), IMAGE, "1.36.4");
    let forward = Row {
        see: objecting,
        ..moved("", IMAGE, &kubernetes("v1.35.4"), "1.35.4")
    };
    let rows = [
        annotated(back, "hyperplane.dev/allow-downgrade-to", "1.36.2"),
        annotated(forward, "hypershift.openshift.io/force-upgrade-to", IMAGE),
        moved("", IMAGE, &kubernetes("v1.35.4"), "1.35.4"),
        moved("", &kubernetes("v1.35.4"), &kubernetes("v1.35.4"), "1.35.4"),
    ];
    for (number, row) in rows.into_iter().enumerate() {
        let cluster = cluster(&row.change);
        let mut seen = seen(&cluster);
        (row.see)(&cluster, &mut seen);
        let verdict = judge(&cluster, &seen, &settings());
        assert!(
            verdict.allows(),
            "row {number}: {:#?}",
            verdict.blockers().collect::<Vec<_>>()
        );
    }
}

#[test]
fn whoever_skips_a_check_is_let_through_and_only_there() {
    let kubernetes = |version: &str| format!("hyperplane.dev/kubernetes:{version}");
    let skip_release = "hypershift.openshift.io/skip-release-image-validation";
    let skip_names = "hypershift.openshift.io/skip-kas-conflict-san-validation";
    let unknown = || {
        spec(
            "release-resolves",
            json!({"release": {"image": "registry.example.com/unknown:1"}}),
        )
    };
    let conflict = || {
        spec(
            "services-certificates",
            json!({"configuration": certificate("kubernetes")}),
        )
    };
    for (row, key, expected) in [
        (
            moved("release-downgrade", &kubernetes("v1.35.4"), IMAGE, "1.36.4"),
            skip_release,
            None,
        ),
        (
            moved("release-skip", IMAGE, &kubernetes("v1.34.4"), "1.34.4"),
            skip_release,
            None,
        ),
        (unknown(), skip_release, Some("release-resolves")),
        (conflict(), skip_names, None),
        (conflict(), skip_release, Some("services-certificates")),
    ] {
        let broken = |change: &Value| {
            let cluster = cluster(change);
            let verdict = judge(&cluster, &seen(&cluster), &settings());
            verdict.blockers().map(|problem| problem.rule).collect::<BTreeSet<_>>()
        };
        let mut change = row.change;
        assert_eq!(broken(&change), BTreeSet::from([row.rule]));
        change["metadata"] = json!({"annotations": {key: "true"}});
        assert_eq!(
            broken(&change),
            expected.into_iter().collect(),
            "{} with {key}",
            row.rule
        );
    }
}

#[test]
fn an_unknown_platform_hides_nothing_else() {
    let change = json!({"spec": {
        "platform": {"type": "IBMCloud", "ibmcloud": {}},
        "release": {"image": "registry.example.com/unknown:1"},
        "labels": {"app": "mine"},
    }});
    let cluster = cluster(&change);
    let mut seen = seen(&cluster);
    seen.sources[0].state = State::Missing;
    let verdict = judge(&cluster, &seen, &settings());
    let broken: BTreeSet<&str> = verdict.blockers().map(|problem| problem.rule).collect();
    let expected = [
        "labels-reserved",
        "platform-supported",
        "release-resolves",
        "source-exists",
    ];
    assert_eq!(broken, BTreeSet::from(expected));
    assert!(verdict.lacks_platform);
}

#[test]
fn a_name_that_is_there_for_a_certificate_of_the_user_may_have_one() {
    for name in ["further.example.com", "*.example.com", "192.0.2.99"] {
        let change = json!({"spec": {"kubeAPIServerDNSName": "further.example.com",
            "configuration": certificate(name)}});
        let cluster = cluster(&change);
        let verdict = judge(&cluster, &seen(&cluster), &settings());
        assert!(
            verdict.allows(),
            "{name}: {:#?}",
            verdict.blockers().collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_secret_is_never_shown() {
    let cluster = cluster(&json!({"spec": {"auditWebhook": {"name": "audit"}, "sshKey": {"name": "keys"}}}));
    let mut seen = seen(&cluster);
    set_source(&mut seen, "spec.pullSecret", ".dockerconfigjson", b"hunter2");
    set_source(
        &mut seen,
        "spec.auditWebhook",
        "webhook-kubeconfig",
        b"hunter2: [hunter2",
    );
    let text = format!("{:?}", judge(&cluster, &seen, &settings()));
    assert!(!text.contains("hunter2"), "{text}");
}
