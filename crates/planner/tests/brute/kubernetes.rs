//! Kubernetes' version skew policy, read again from its text over plain minors. Every rule asks every pair of instances
//! that it names, one after the other, and knows nothing of oldest and newest: slow, and hard to get wrong.

use std::collections::BTreeSet;

/// The minor of a Kubernetes version: 36 in 1.36.
pub type Minor = i32;

/// The first minor of a kubelet or kube-proxy that may stay three behind; an earlier one may stay two behind.
const FIRST_WITH_THREE: Minor = 25;

/// The controllers, in the order of [`Cluster::controllers`].
pub const CONTROLLERS: [&str; 3] = ["kube-controller-manager", "kube-scheduler", "cloud-controller-manager"];

/// Who a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// All kube-apiservers together.
    ApiServers,
    /// One kind of controller.
    Controller(&'static str),
    /// The kubelets of a pool.
    Kubelets(String),
    /// The kube-proxies of a pool.
    Proxies(String),
}

/// When it is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// In the state that is.
    Before,
    /// In the state that is asked for.
    After,
    /// On the way.
    Between,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Two of a kind are too far from each other, or two neighbours are.
    Apart,
    /// Newer than something that it must not be newer than.
    Newer,
    /// Too old for something.
    Older,
    /// A minor is left out.
    Skip,
    /// What must follow closely had not followed when the API servers move on.
    Behind,
    /// What must wait for the API servers does not.
    Early,
    /// Nodes change their minor without being emptied.
    NotDrained,
}

/// One finding.
pub type Finding = (When, Who, Fault);

/// A node.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its kubelet.
    pub kubelet: Minor,
    /// The kube-proxy beside it, if it has one.
    pub proxy: Option<Minor>,
}

/// A pool of nodes.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Whether nodes are emptied before they change.
    pub drains: bool,
}

/// A cluster of minors.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// kube-apiserver.
    pub servers: Vec<Minor>,
    /// The instances of each controller; behind a load balancer any number, else one per API server or none.
    pub controllers: [Vec<Minor>; 3],
    /// Whether each controller speaks only with the API server in its own place.
    pub is_local: bool,
    /// Nodes.
    pub pools: Vec<Pool>,
    /// kubectl.
    pub kubectl: Vec<Minor>,
}

/// How far a kubelet or kube-proxy may be behind.
fn reach(minor: Minor) -> Minor {
    if minor < FIRST_WITH_THREE { 2 } else { 3 }
}

impl Cluster {
    /// The API servers that the controller in a place speaks with.
    fn servers_of_controller(&self, place: usize) -> &[Minor] {
        if self.is_local {
            &self.servers[place..=place]
        } else {
            &self.servers
        }
    }

    /// What the state breaks.
    pub fn violations(&self, when: When) -> BTreeSet<Finding> {
        let mut found = BTreeSet::new();
        for one in &self.servers {
            for other in &self.servers {
                if one - other > 1 {
                    found.insert((when, Who::ApiServers, Fault::Apart));
                }
            }
        }
        for (name, instances) in CONTROLLERS.iter().zip(&self.controllers) {
            for (place, controller) in instances.iter().enumerate() {
                for server in self.servers_of_controller(place) {
                    if controller > server {
                        found.insert((when, Who::Controller(name), Fault::Newer));
                    }
                    if server - controller > 1 {
                        found.insert((when, Who::Controller(name), Fault::Older));
                    }
                }
            }
        }
        for pool in &self.pools {
            for node in &pool.nodes {
                self.judge_node(pool, *node, when, &mut found);
            }
        }
        found
    }

    fn judge_node(&self, pool: &Pool, node: Node, when: When, found: &mut BTreeSet<Finding>) {
        let kubelets = || Who::Kubelets(pool.name.clone());
        let proxies = || Who::Proxies(pool.name.clone());
        for server in &self.servers {
            if node.kubelet > *server {
                found.insert((when, kubelets(), Fault::Newer));
            }
            if server - node.kubelet > reach(node.kubelet) {
                found.insert((when, kubelets(), Fault::Older));
            }
            let Some(proxy) = node.proxy else { continue };
            if proxy > *server {
                found.insert((when, proxies(), Fault::Newer));
            }
            if server - proxy > reach(proxy) {
                found.insert((when, proxies(), Fault::Older));
            }
        }
        if let Some(proxy) = node.proxy
            && (proxy - node.kubelet).abs() > reach(proxy)
        {
            found.insert((when, proxies(), Fault::Apart));
        }
    }

    /// How many minors the API servers could still go ahead of who is closest to being too old; none where nobody is.
    pub fn tightest(&self) -> Option<Minor> {
        let mut all = Vec::new();
        for instances in &self.controllers {
            for (place, controller) in instances.iter().enumerate() {
                let servers = self.servers_of_controller(place).iter();
                all.extend(servers.map(|server| 1 - (server - controller)));
            }
        }
        for node in self.pools.iter().flat_map(|pool| &pool.nodes) {
            for minor in std::iter::once(node.kubelet).chain(node.proxy) {
                all.extend(self.servers.iter().map(|server| reach(minor) - (server - minor)));
            }
            all.extend(node.proxy.map(|proxy| reach(proxy) - (proxy - node.kubelet).abs()));
        }
        all.into_iter().min()
    }

    /// What the state makes unsupported without breaking it: kubectl further than one minor from an API server.
    pub fn warns_of_kubectl(&self) -> bool {
        let pairs = self
            .kubectl
            .iter()
            .flat_map(|kubectl| self.servers.iter().map(move |server| kubectl - server));
        pairs.into_iter().any(|distance| distance.abs() > 1)
    }
}

/// What a move breaks, both states included. Both states have as many of everything.
pub fn violations(before: &Cluster, after: &Cluster) -> BTreeSet<Finding> {
    let mut found = before.violations(When::Before);
    found.extend(after.violations(When::After));
    found.extend(transition(before, after));
    found
}

/// What the way breaks, whatever its ends are.
pub fn transition(before: &Cluster, after: &Cluster) -> BTreeSet<Finding> {
    let mut found = BTreeSet::new();
    for (place, (from, to)) in moves_of_servers(before, after).into_iter().enumerate() {
        if to > from {
            // Before one instance takes a minor, all of them have it or the one below it.
            if before.servers.iter().any(|server| to - server > 1) {
                found.insert((When::Between, Who::ApiServers, Fault::Skip));
            }
            left_behind(before, place, to, &mut found);
        }
    }
    for (kind, name) in CONTROLLERS.iter().enumerate() {
        let moves = before.controllers[kind].iter().zip(&after.controllers[kind]);
        for (place, (from, to)) in moves.enumerate() {
            let waits = after.servers_of_controller(place).iter().any(|server| server < to);
            if to > from && waits {
                found.insert((When::Between, Who::Controller(name), Fault::Early));
            }
        }
    }
    for (old, new) in before.pools.iter().zip(&after.pools) {
        for (from, to) in old.nodes.iter().zip(&new.nodes) {
            let waits = after.servers.iter().any(|server| *server < to.kubelet);
            if to.kubelet > from.kubelet && waits {
                found.insert((When::Between, Who::Kubelets(new.name.clone()), Fault::Early));
            }
            if to.kubelet != from.kubelet && !new.drains {
                found.insert((When::Between, Who::Kubelets(new.name.clone()), Fault::NotDrained));
            }
        }
    }
    found
}

/// What each API server was and is. Where controllers have a server of their own, servers have places; behind a load
/// balancer nobody can tell them apart, and the oldest becomes the oldest.
fn moves_of_servers(before: &Cluster, after: &Cluster) -> Vec<(Minor, Minor)> {
    let (mut old, mut new) = (before.servers.clone(), after.servers.clone());
    if !before.is_local {
        old.sort_unstable();
        new.sort_unstable();
    }
    old.into_iter().zip(new).collect()
}

/// Who is too old for the API server in a place at the moment at which it becomes newer: it moves first, so everyone
/// else is still what it was.
fn left_behind(before: &Cluster, place: usize, to: Minor, found: &mut BTreeSet<Finding>) {
    for (name, instances) in CONTROLLERS.iter().zip(&before.controllers) {
        for (index, controller) in instances.iter().enumerate() {
            let speaks = !before.is_local || index == place;
            if speaks && to - controller > 1 {
                found.insert((When::Between, Who::Controller(name), Fault::Behind));
            }
        }
    }
    for pool in &before.pools {
        for node in &pool.nodes {
            if to - node.kubelet > reach(node.kubelet) {
                found.insert((When::Between, Who::Kubelets(pool.name.clone()), Fault::Behind));
            }
        }
    }
}
