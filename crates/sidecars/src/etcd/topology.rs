//! Where the members of a cluster are, before any of them runs. Pure.

use hyperplane_api::constants::objects::services;

/// The name of the StatefulSet: its pods are the members.
const MEMBER_PREFIX: &str = "etcd";

/// Where members find each other.
const PEER_PORT: u16 = 2380;

/// Where clients find a member.
const CLIENT_PORT: u16 = 2379;

/// One member that there is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Its name, which is that of its pod.
    pub name: String,
    /// Where other members find it.
    pub peer_url: String,
    /// Where clients find it.
    pub client_url: String,
}

/// All members that there are to be, seen from one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The one that starts here.
    pub own: Seat,
    /// All others.
    pub others: Vec<Seat>,
}

impl Topology {
    /// The members in a namespace. A pod beyond the number of replicas is none of them, and gets no topology.
    pub fn in_namespace(name: &str, namespace: &str, replicas: u32) -> Option<Self> {
        let seats = (0..replicas).map(|number| Seat::in_namespace(&format!("{MEMBER_PREFIX}-{number}"), namespace));
        let (own, others): (Vec<_>, Vec<_>) = seats.partition(|seat| seat.name == name);
        let own = own.into_iter().next()?;
        Some(Self { own, others })
    }

    /// All members, as `initial-cluster` spells them, for a cluster that nobody has started yet.
    pub fn initial_cluster(&self) -> String {
        let mut pairs: Vec<_> = std::iter::once(&self.own)
            .chain(&self.others)
            .map(|seat| format!("{}={}", seat.name, seat.peer_url))
            .collect();
        // Whoever writes it, it reads the same.
        pairs.sort();
        pairs.join(",")
    }
}

impl Seat {
    fn in_namespace(name: &str, namespace: &str) -> Self {
        let url = |port: u16| format!("https://{name}.{}.{namespace}.svc:{port}", services::ETCD_DISCOVERY);
        Self {
            name: name.to_owned(),
            peer_url: url(PEER_PORT),
            client_url: url(CLIENT_PORT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_knows_itself_and_the_others() {
        let topology = Topology::in_namespace("etcd-1", "clusters-a", 3).unwrap();
        assert_eq!(
            topology.own.peer_url,
            "https://etcd-1.etcd-discovery.clusters-a.svc:2380"
        );
        assert_eq!(
            topology.own.client_url,
            "https://etcd-1.etcd-discovery.clusters-a.svc:2379"
        );
        let others: Vec<_> = topology.others.iter().map(|seat| seat.name.as_str()).collect();
        assert_eq!(others, ["etcd-0", "etcd-2"]);
        assert_eq!(
            topology.initial_cluster(),
            Topology::in_namespace("etcd-2", "clusters-a", 3)
                .unwrap()
                .initial_cluster()
        );
        assert_eq!(Topology::in_namespace("etcd-3", "clusters-a", 3), None);
        assert_eq!(Topology::in_namespace("etcd", "clusters-a", 3), None);
    }
}
