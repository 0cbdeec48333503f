//! Policies of distributions: every version of a control plane beside every version of a pool, and moves.
//!
//! Complete: all minors of OpenShift from 4.13 to 5.2 with patches below, at and above the cluster's, for one pool; all
//! moves of a cluster and a pool between minors for Kubernetes-like distributions. Two and three pools and moves with
//! patches are drawn from a seed, as pools do not see one another.

use std::collections::BTreeSet;

use hyperplane_planner::{
    blocker::Report,
    check::check,
    state::{self, State},
    version::{Scheme, Version},
};

use super::{
    adapter,
    distributions::{self as reading, Cluster, Finding, Numbers, Release, pool_name},
    kubernetes::When,
    states::{Dice, MINORS},
};

fn openshift(release: Release) -> Version {
    let (major, minor, patch) = release;
    Version::parse(Scheme::OpenShift, &format!("{major}.{minor}.{patch}")).expect("it is a version")
}

fn kubernetes(numbers: Numbers) -> Version {
    Version::parse(Scheme::Kubernetes, &format!("v1.{}.{}", numbers.0, numbers.1)).expect("it is a version")
}

fn state_of<V: Copy>(cluster: &Cluster<V>, scheme: Scheme, version: impl Fn(V) -> Version) -> State {
    let pools = cluster.pools.iter().enumerate().map(|(place, nodes)| state::Pool {
        name: pool_name(place),
        versions: nodes.iter().map(|node| version(*node)).collect(),
        ..state::Pool::default()
    });
    let mut state = State {
        pools: pools.collect(),
        ..State::default()
    };
    state.distribution.scheme = scheme;
    match scheme {
        Scheme::OpenShift => state.distribution.version = Some(version(cluster.version)),
        _ => state.control_plane.kube_api_servers = vec![version(cluster.version)],
    }
    state
}

fn hosted(cluster: &Cluster<Release>) -> State {
    state_of(cluster, Scheme::OpenShift, openshift)
}

fn plain(cluster: &Cluster<Numbers>) -> State {
    state_of(cluster, Scheme::Kubernetes, kubernetes)
}

fn agree(report: &Report, expected: &BTreeSet<Finding>, case: &dyn std::fmt::Debug) {
    assert_eq!(&adapter::distribution_violations(report), expected, "{case:?}");
    assert_eq!(report.ok, expected.is_empty(), "{case:?}: {:?}", report.unknown);
}

/// 4.13 to 5.2, 4.23 and 5.0 both; three patches each.
fn releases() -> Vec<Release> {
    let fourth = (13..=23).map(|minor| (4, minor));
    let fifth = (0..=2).map(|minor| (5, minor));
    let minors = fourth.chain(fifth);
    minors
        .flat_map(|(major, minor)| [0, 4, 5].map(|patch| (major, minor, patch)))
        .collect()
}

#[test]
fn hosted_clusters_and_one_pool() {
    let (hypershift, parity) = (adapter::only("hypershift"), adapter::only("openshift-parity"));
    for version in releases() {
        for node in releases() {
            let cluster = Cluster {
                version,
                pools: vec![vec![node]],
            };
            let report = check(&hosted(&cluster), None, &hypershift);
            agree(&report, &reading::hypershift(&cluster, When::Before), &cluster);
            let report = check(&hosted(&cluster), None, &parity);
            agree(&report, &reading::parity(&cluster, When::Before), &cluster);
        }
    }
}

#[test]
fn hosted_clusters_and_moves_of_three_pools() {
    const CASES: usize = 20_000;
    let hypershift = adapter::only("hypershift");
    let mut dice = Dice::new(0x5eed_0005);
    let releases = releases();
    for _ in 0..CASES {
        let pools = dice.below(4);
        let mut cluster = || Cluster {
            version: *dice.pick(&releases),
            pools: (0..pools).map(|_| vec![*dice.pick(&releases)]).collect(),
        };
        let (before, after) = (cluster(), cluster());
        let report = check(&hosted(&before), Some(&hosted(&after)), &hypershift);
        let expected = reading::hypershift_move(&before, &after);
        agree(&report, &expected, &(before, after));
    }
}

fn agree_on_move(before: &Cluster<Numbers>, after: &Cluster<Numbers>) {
    let (old, new) = (plain(before), plain(after));
    let report = check(&old, Some(&new), &adapter::only("cluster-api"));
    agree(
        &report,
        &reading::cluster_api_move(before, after),
        &("cluster-api", before, after),
    );
    let report = check(&old, Some(&new), &adapter::only("gardener"));
    agree(
        &report,
        &reading::gardener_move(before, after),
        &("gardener", before, after),
    );
}

#[test]
fn cluster_api_and_gardener_with_one_pool() {
    let cluster = |version, node| Cluster {
        version: (version, 3),
        pools: vec![vec![(node, 3)]],
    };
    for version in MINORS {
        for to in MINORS {
            for node in MINORS {
                agree_on_move(&cluster(version, node), &cluster(to, node));
                agree_on_move(&cluster(version, node), &cluster(version, to));
            }
        }
    }
}

#[test]
fn cluster_api_and_gardener_with_patches_and_three_pools() {
    const CASES: usize = 10_000;
    let mut dice = Dice::new(0x5eed_0006);
    for _ in 0..CASES {
        let pools = dice.below(4);
        let range = 22..=27;
        let mut numbers = || (dice.minor(&range), dice.minor(&(1..=2)));
        let mut cluster = || Cluster {
            version: numbers(),
            pools: (0..pools).map(|_| vec![numbers()]).collect(),
        };
        agree_on_move(&cluster(), &cluster());
    }
}
