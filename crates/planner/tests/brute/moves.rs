//! Moves of Kubernetes: two states and the way between them.
//!
//! With one API server every move of it is walked together with every move of a kubelet or of a controller over all
//! minors. With two and three the walk stays within three minors, once around 1.25 and once far above it, as the policy
//! speaks of distances and of nothing else. Mixed pools and local controllers are drawn from a seed.

use hyperplane_planner::check::{Choice, check};

use super::{
    adapter,
    kubernetes::{self, Cluster, Minor, Node, Pool},
    states::{Dice, MINORS, pool},
};

fn agree(before: &Cluster, after: &Cluster, choice: &Choice) {
    let report = check(&adapter::state(before), Some(&adapter::state(after)), choice);
    let expected = kubernetes::violations(before, after);
    assert_eq!(adapter::violations(&report), expected, "{before:?}\nto {after:?}");
    assert_eq!(report.ok, expected.is_empty(), "{:?}", report.unknown);
}

#[test]
fn one_server_and_a_kubelet() {
    let choice = adapter::only("kubernetes");
    let cluster = |server: Minor, kubelet: Minor| Cluster {
        servers: vec![server],
        pools: vec![pool("only", kubelet, None)],
        ..Cluster::default()
    };
    for server in MINORS {
        for to in MINORS {
            for kubelet in MINORS {
                for kubelet_to in MINORS {
                    agree(&cluster(server, kubelet), &cluster(to, kubelet_to), &choice);
                }
            }
        }
    }
}

#[test]
fn one_server_and_a_controller() {
    let choice = adapter::only("kubernetes");
    let cluster = |server: Minor, controller: Minor, other: Minor| Cluster {
        servers: vec![server],
        controllers: [vec![controller], vec![other], Vec::new()],
        ..Cluster::default()
    };
    for server in MINORS {
        for to in MINORS {
            for controller in MINORS {
                for controller_to in MINORS {
                    let before = cluster(server, controller, server);
                    agree(&before, &cluster(to, controller_to, server), &choice);
                }
            }
        }
    }
}

/// Every list of a length with minors from a range.
fn lists(length: usize, from: Minor, to: Minor) -> Vec<Vec<Minor>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..length {
        let longer = |list: &Vec<Minor>| {
            let list = list.clone();
            (from..=to).map(move |minor| [list.clone(), vec![minor]].concat())
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

#[test]
fn several_servers() {
    let choice = adapter::only("kubernetes");
    for base in [24, 33] {
        for length in [2, 3] {
            for before in lists(length, base, base + 2) {
                for after in lists(length, base, base + 2) {
                    for behind in -1..=3 {
                        let cluster = |servers: &[Minor], moved: Minor| Cluster {
                            servers: servers.to_vec(),
                            controllers: [vec![base + 1 - behind / 2], Vec::new(), vec![base + moved]],
                            pools: vec![pool("still", base - behind, None), pool("moves", base + moved, None)],
                            ..Cluster::default()
                        };
                        agree(&cluster(&before, 0), &cluster(&after, 1), &choice);
                    }
                }
            }
        }
    }
}

#[test]
fn local_controllers() {
    const CASES: usize = 8_000;
    let choice = adapter::only("kubernetes");
    let mut dice = Dice::new(0x5eed_0003);
    for _ in 0..CASES {
        let range = 33..=36;
        let mut list = || vec![dice.minor(&range), dice.minor(&range), dice.minor(&range)];
        let mut cluster = || Cluster {
            servers: list(),
            controllers: [list(), Vec::new(), list()],
            is_local: true,
            ..Cluster::default()
        };
        agree(&cluster(), &cluster(), &choice);
    }
}

#[test]
fn pools_of_several_nodes() {
    const CASES: usize = 12_000;
    let choice = adapter::only("kubernetes");
    let mut dice = Dice::new(0x5eed_0004);
    for _ in 0..CASES {
        let range = if dice.below(2) == 0 { 22..=26 } else { 32..=36 };
        let servers = 1 + dice.below(3);
        let nodes = [1 + dice.below(3), 1 + dice.below(3)];
        let drains = dice.below(2) == 0;
        let mut cluster = || Cluster {
            servers: (0..servers).map(|_| dice.minor(&range)).collect(),
            pools: [("first", nodes[0]), ("second", nodes[1])]
                .into_iter()
                .map(|(name, nodes)| nodes_of(name, nodes, drains, &range, &mut dice))
                .collect(),
            ..Cluster::default()
        };
        agree(&cluster(), &cluster(), &choice);
    }
}

/// A pool whose nodes stand in the order of their kubelets, as nodes have no places of their own.
fn nodes_of(name: &str, nodes: usize, drains: bool, range: &std::ops::RangeInclusive<Minor>, dice: &mut Dice) -> Pool {
    let mut kubelets: Vec<Minor> = (0..nodes).map(|_| dice.minor(range)).collect();
    kubelets.sort_unstable();
    let nodes = kubelets.into_iter().map(|kubelet| Node { kubelet, proxy: None });
    Pool {
        nodes: nodes.collect(),
        drains,
        ..pool(name, 0, None)
    }
}
