//! One state of Kubernetes after the other.
//!
//! What is complete, over all minors from 1.25 to 1.37 and every set of one to three API servers (559 of them): one
//! pool with every kubelet and every kube-proxy beside it; two pools with every pair of kubelets; every controller;
//! kubectl.
//!
//! Three pools have every set of three kubelets beside the 75 sets of API servers that may stand beside each other,
//! and are drawn from a seed beside the others. Pools do not see one another: all that a third one could add is a
//! finding that gets lost or that lands under a wrong name, so which pool has which of the three kubelets changes from
//! case to case.
//!
//! 1.22 to 1.28 are walked again for kubelets that may only be two minors old.

use hyperplane_planner::check::{Choice, check};

use super::{
    adapter,
    kubernetes::{Cluster, Minor, Node, Pool, When},
};

/// The minors that are walked.
pub const MINORS: std::ops::RangeInclusive<Minor> = 25..=37;
/// The minors around the one at which kubelets may be three minors old.
pub const OLD_MINORS: std::ops::RangeInclusive<Minor> = 22..=28;

/// A generator that needs nothing from anybody; a failure repeats with the same seed.
pub struct Dice(u64);

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below a limit (xorshift64*, whose low bits are dropped).
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(drawn).expect("31 bits fit") % limit
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A minor of a range.
    pub fn minor(&mut self, range: &std::ops::RangeInclusive<Minor>) -> Minor {
        let minors: Vec<Minor> = range.clone().collect();
        *self.pick(&minors)
    }
}

/// Every set of one to three API servers; which of them comes first does not matter.
pub fn server_sets(minors: &std::ops::RangeInclusive<Minor>) -> Vec<Vec<Minor>> {
    let mut sets = Vec::new();
    for one in minors.clone() {
        sets.push(vec![one]);
        for two in minors.clone().filter(|two| *two >= one) {
            sets.push(vec![one, two]);
            for three in minors.clone().filter(|three| *three >= two) {
                sets.push(vec![one, two, three]);
            }
        }
    }
    sets
}

/// A pool of one node.
pub fn pool(name: &str, kubelet: Minor, proxy: Option<Minor>) -> Pool {
    Pool {
        name: name.to_owned(),
        nodes: vec![Node { kubelet, proxy }],
        drains: true,
    }
}

fn agree(cluster: &Cluster, choice: &Choice) {
    let report = check(&adapter::state(cluster), None, choice);
    let expected = cluster.violations(When::Before);
    assert_eq!(adapter::violations(&report), expected, "{cluster:?}");
    assert_eq!(
        report.ok,
        expected.is_empty(),
        "{cluster:?} has unknowns: {:?}",
        report.unknown
    );
    assert_eq!(
        adapter::warns_of_kubectl(&report),
        cluster.warns_of_kubectl(),
        "{cluster:?}"
    );
}

fn every_node(minors: &std::ops::RangeInclusive<Minor>) {
    let choice = adapter::only("kubernetes");
    for servers in server_sets(minors) {
        for kubelet in minors.clone() {
            for proxy in std::iter::once(None).chain(minors.clone().map(Some)) {
                let cluster = Cluster {
                    servers: servers.clone(),
                    pools: vec![pool("only", kubelet, proxy)],
                    ..Cluster::default()
                };
                agree(&cluster, &choice);
            }
        }
    }
}

#[test]
fn one_pool_with_every_kubelet_and_every_proxy() {
    every_node(&MINORS);
}

#[test]
fn old_kubelets_and_old_proxies() {
    every_node(&OLD_MINORS);
}

#[test]
fn two_pools_with_every_pair_of_kubelets() {
    let choice = adapter::only("kubernetes");
    for servers in server_sets(&MINORS) {
        for first in MINORS {
            for second in MINORS {
                let cluster = Cluster {
                    servers: servers.clone(),
                    pools: vec![pool("first", first, None), pool("second", second, None)],
                    ..Cluster::default()
                };
                agree(&cluster, &choice);
            }
        }
    }
}

fn three_pools(servers: &[Minor], kubelets: [Minor; 3], choice: &Choice) {
    let [first, second, third] = kubelets;
    let cluster = Cluster {
        servers: servers.to_vec(),
        pools: vec![
            pool("first", first, None),
            pool("second", second, None),
            pool("third", third, None),
        ],
        ..Cluster::default()
    };
    agree(&cluster, choice);
}

#[test]
fn three_pools_beside_every_legal_set_of_servers() {
    let choice = adapter::only("kubernetes");
    let is_legal = |set: &Vec<Minor>| set[set.len() - 1] - set[0] <= 1;
    let legal: Vec<Vec<Minor>> = server_sets(&MINORS).into_iter().filter(is_legal).collect();
    assert_eq!(legal.len(), 75);
    for servers in &legal {
        for first in MINORS {
            for second in first..=*MINORS.end() {
                for third in second..=*MINORS.end() {
                    // Which pool is the old one changes from case to case.
                    let kubelets = match (first + second + third) % 3 {
                        0 => [first, second, third],
                        1 => [second, third, first],
                        _ => [third, first, second],
                    };
                    three_pools(servers, kubelets, &choice);
                }
            }
        }
    }
}

#[test]
fn three_pools_with_proxies_beside_any_servers() {
    const CASES: usize = 20_000;
    let choice = adapter::only("kubernetes");
    let mut dice = Dice::new(0x5eed_0001);
    let sets = [server_sets(&MINORS), server_sets(&OLD_MINORS)];
    let ranges = [MINORS, OLD_MINORS];
    for _ in 0..CASES {
        let which = dice.below(2);
        let names = ["first", "second", "third"];
        let pools = names.map(|name| {
            let nodes = 1 + dice.below(3);
            let nodes = (0..nodes).map(|_| Node {
                kubelet: dice.minor(&ranges[which]),
                proxy: Some(dice.minor(&ranges[which])),
            });
            Pool {
                nodes: nodes.collect(),
                ..pool(name, 0, None)
            }
        });
        let cluster = Cluster {
            servers: dice.pick(&sets[which]).clone(),
            pools: pools.into_iter().collect(),
            ..Cluster::default()
        };
        agree(&cluster, &choice);
    }
}

/// Three controllers of three minors, so that one is never taken for another.
#[test]
fn controllers_behind_a_load_balancer() {
    let choice = adapter::only("kubernetes");
    for servers in server_sets(&MINORS) {
        for first in MINORS {
            let around = |minor: Minor| MINORS.start() + (minor - MINORS.start()) % 13;
            let cluster = Cluster {
                servers: servers.clone(),
                controllers: [vec![first], vec![around(first + 1)], vec![around(first + 2)]],
                kubectl: vec![first],
                ..Cluster::default()
            };
            agree(&cluster, &choice);
        }
    }
}

#[test]
fn controllers_that_speak_with_the_server_beside_them() {
    let choice = adapter::only("kubernetes");
    for one in MINORS {
        for two in MINORS {
            for first in MINORS {
                for second in MINORS {
                    let cluster = Cluster {
                        servers: vec![one, two],
                        controllers: [vec![first, second], Vec::new(), vec![second, first]],
                        is_local: true,
                        ..Cluster::default()
                    };
                    agree(&cluster, &choice);
                }
            }
        }
    }
}

#[test]
fn three_local_controllers_around_their_servers() {
    const CASES: usize = 20_000;
    let choice = adapter::only("kubernetes");
    let mut dice = Dice::new(0x5eed_0002);
    for _ in 0..CASES {
        let mut three = || vec![dice.minor(&MINORS), dice.minor(&MINORS), dice.minor(&MINORS)];
        let cluster = Cluster {
            servers: three(),
            controllers: [three(), three(), three()],
            is_local: true,
            kubectl: three(),
            ..Cluster::default()
        };
        agree(&cluster, &choice);
    }
}
