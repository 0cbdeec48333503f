//! The policies of distributions for pools beside a control plane, read again over plain numbers.

use std::collections::BTreeSet;

use super::kubernetes::{Fault, When};

/// A release of OpenShift as it is written: 4.18.5 is `(4, 18, 5)`.
pub type Release = (i32, i32, i32);

/// The minor of 4 that 5.0 is.
const FIFTH_MAJOR: i32 = 23;

/// The minors that HyperShift creates and updates: 4.14 to 5.1.
const OLDEST_HOSTED: i32 = 14;
const NEWEST_HOSTED: i32 = FIFTH_MAJOR + 1;

/// Who a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The cluster's own version.
    Cluster,
    /// A pool.
    Pool(String),
}

/// What is wrong; what Kubernetes knows, and what only distributions refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// As in Kubernetes.
    Skew(Fault),
    /// A minor that the manager does not know.
    OutOfRange,
    /// An older version is asked for.
    Downgrade,
    /// A pool is not where it was asked to be when something else is asked for.
    Unsettled,
}

/// One finding.
pub type Finding = (When, Who, Wrong);

/// A cluster and its pools; each pool with the versions of its nodes.
#[derive(Clone, Debug)]
pub struct Cluster<V> {
    /// The version of the control plane.
    pub version: V,
    /// Pools in the order of their names.
    pub pools: Vec<Vec<V>>,
}

/// The name of the pool in a place.
pub fn pool_name(place: usize) -> String {
    format!("pool-{place}")
}

/// The minor of a release as if there were no fifth major.
pub fn minor(release: Release) -> i32 {
    if release.0 == 5 {
        FIFTH_MAJOR + release.1
    } else {
        release.1
    }
}

/// HyperShift: hosts a range of minors; a pool is not newer, patch included, and at most three minors older.
pub fn hypershift(cluster: &Cluster<Release>, when: When) -> BTreeSet<Finding> {
    let mut found = BTreeSet::new();
    if minor(cluster.version) < OLDEST_HOSTED || minor(cluster.version) > NEWEST_HOSTED {
        found.insert((when, Who::Cluster, Wrong::OutOfRange));
    }
    found.extend(hypershift_pools(cluster, when, |_| 3));
    found
}

/// OpenShift's documentation of hosted control planes: an even minor takes pools two minors older, an odd one only one.
pub fn parity(cluster: &Cluster<Release>, when: When) -> BTreeSet<Finding> {
    hypershift_pools(cluster, when, |hosted| if hosted % 2 == 0 { 2 } else { 1 })
}

fn hypershift_pools(cluster: &Cluster<Release>, when: When, behind: impl Fn(i32) -> i32) -> BTreeSet<Finding> {
    let hosted = (minor(cluster.version), cluster.version.2);
    let mut found = BTreeSet::new();
    for (place, nodes) in cluster.pools.iter().enumerate() {
        for node in nodes {
            let own = (minor(*node), node.2);
            if own > hosted {
                found.insert((when, Who::Pool(pool_name(place)), Wrong::Skew(Fault::Newer)));
            }
            if hosted.0 - own.0 > behind(hosted.0) {
                found.insert((when, Who::Pool(pool_name(place)), Wrong::Skew(Fault::Older)));
            }
        }
    }
    found
}

/// Both states and the way: no minor down, neither for the cluster nor for a pool, and no minor left out by the
/// cluster. HyperShift itself lets a minor be left out; Kubernetes below it does not, so it counts.
pub fn hypershift_move(before: &Cluster<Release>, after: &Cluster<Release>) -> BTreeSet<Finding> {
    let mut found = hypershift(before, When::Before);
    found.extend(hypershift(after, When::After));
    let (from, to) = (minor(before.version), minor(after.version));
    if to < from {
        found.insert((When::Between, Who::Cluster, Wrong::Downgrade));
    }
    if to - from > 1 {
        found.insert((When::Between, Who::Cluster, Wrong::Skew(Fault::Skip)));
    }
    for (place, (old, new)) in before.pools.iter().zip(&after.pools).enumerate() {
        for (from, to) in old.iter().zip(new) {
            if minor(*to) < minor(*from) {
                found.insert((When::Between, Who::Pool(pool_name(place)), Wrong::Downgrade));
            }
        }
    }
    found
}

/// A version of Kubernetes: 1.36.4 is `(36, 4)`.
pub type Numbers = (i32, i32);

/// Cluster API: a pool is not of a newer minor than the control plane and at most three minors older, old kubelets
/// included.
pub fn cluster_api(cluster: &Cluster<Numbers>, when: When) -> BTreeSet<Finding> {
    three_behind(cluster, when, |node, cluster| node.0 > cluster.0)
}

/// Gardener: the same distance, and a pool is not newer by a patch either.
pub fn gardener(cluster: &Cluster<Numbers>, when: When) -> BTreeSet<Finding> {
    three_behind(cluster, when, |node, cluster| node > cluster)
}

fn three_behind(
    cluster: &Cluster<Numbers>,
    when: When,
    is_newer: impl Fn(Numbers, Numbers) -> bool,
) -> BTreeSet<Finding> {
    let mut found = BTreeSet::new();
    for (place, nodes) in cluster.pools.iter().enumerate() {
        for node in nodes {
            if is_newer(*node, cluster.version) {
                found.insert((when, Who::Pool(pool_name(place)), Wrong::Skew(Fault::Newer)));
            }
            if cluster.version.0 - node.0 > 3 {
                found.insert((when, Who::Pool(pool_name(place)), Wrong::Skew(Fault::Older)));
            }
        }
    }
    found
}

/// The way of a control plane that goes neither down, be it by a patch, nor two minors up.
fn control_plane_move(from: Numbers, to: Numbers) -> BTreeSet<Finding> {
    let mut found = BTreeSet::new();
    if to < from {
        found.insert((When::Between, Who::Cluster, Wrong::Downgrade));
    }
    if to.0 - from.0 > 1 {
        found.insert((When::Between, Who::Cluster, Wrong::Skew(Fault::Skip)));
    }
    found
}

/// Cluster API: the version changes when every pool has the old one.
pub fn cluster_api_move(before: &Cluster<Numbers>, after: &Cluster<Numbers>) -> BTreeSet<Finding> {
    let mut found = cluster_api(before, When::Before);
    found.extend(cluster_api(after, When::After));
    found.extend(control_plane_move(before.version, after.version));
    for (place, nodes) in before.pools.iter().enumerate() {
        let is_settled = nodes.iter().all(|node| *node == before.version);
        if before.version != after.version && !is_settled {
            found.insert((When::Between, Who::Pool(pool_name(place)), Wrong::Unsettled));
        }
    }
    found
}

/// Gardener: pools may leave minors out and never go down.
pub fn gardener_move(before: &Cluster<Numbers>, after: &Cluster<Numbers>) -> BTreeSet<Finding> {
    let mut found = gardener(before, When::Before);
    found.extend(gardener(after, When::After));
    found.extend(control_plane_move(before.version, after.version));
    for (place, (old, new)) in before.pools.iter().zip(&after.pools).enumerate() {
        if old.iter().zip(new).any(|(from, to)| to < from) {
            found.insert((When::Between, Who::Pool(pool_name(place)), Wrong::Downgrade));
        }
    }
    found
}
