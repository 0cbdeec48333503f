//! The names and addresses by which each server of a control plane is reached.

use std::collections::BTreeSet;

use hyperplane_api::constants::objects::services;

use crate::{
    names::{Host, of_service, of_this_pod},
    table::Names,
    wanted::{Published, Wanted},
};

/// Those of a client: none.
pub(crate) fn no_names(_: &Wanted) -> Names {
    Names::default()
}

/// Those of a Service, and of the pod behind it towards itself.
pub(crate) fn at(service: &str, wanted: &Wanted) -> Names {
    Names {
        known: of_service(service, &wanted.namespace)
            .into_iter()
            .chain(of_this_pod())
            .collect(),
        awaited: None,
    }
}

fn with_published(mut names: Names, published: &Published, what: &'static str) -> Names {
    match published {
        Published::Unused => {}
        Published::Awaited => names.awaited = Some(what),
        Published::At { host, .. } => drop(names.known.insert(host.clone())),
    }
    names
}

/// Those of the API server that follow from the name and the namespace of a control plane alone.
pub fn standing_api_server_names(namespace: &str, cluster: &str) -> BTreeSet<Host> {
    let inside = [
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ];
    of_service(services::API_SERVER, namespace)
        .into_iter()
        .chain(of_this_pod())
        .chain(inside.map(|name| Host::Name(name.to_owned())))
        .chain([Host::Name(format!("api.{cluster}.hypershift.local"))])
        .collect()
}

/// Those of the API server, for nodes, for pods on either side, and from outside.
pub(crate) fn api_server_names(wanted: &Wanted) -> Names {
    let mut names = Names {
        known: standing_api_server_names(&wanted.namespace, &wanted.cluster),
        awaited: None,
    };
    names
        .known
        .extend(wanted.service_addresses.iter().copied().map(Host::Address));
    names.known.extend(wanted.api_server_addresses.iter().cloned());
    names.known.extend(wanted.api_server_name.clone());
    with_published(
        names,
        &wanted.api_server,
        "the address under which the API server is published",
    )
}

/// Those of etcd, as a whole and member by member.
pub(crate) fn etcd_names(wanted: &Wanted) -> Names {
    let mut names = at(services::ETCD_CLIENT, wanted);
    let members = format!("*.{}.{}.svc", services::ETCD_DISCOVERY, wanted.namespace);
    names.known.insert(Host::Name(format!("{members}.cluster.local")));
    names.known.insert(Host::Name(members));
    names
}

/// Those of konnectivity towards agents.
pub(crate) fn konnectivity_names(wanted: &Wanted) -> Names {
    let names = at(services::KONNECTIVITY, wanted);
    with_published(
        names,
        &wanted.konnectivity,
        "the address under which konnectivity is published",
    )
}

/// Those of the ignition server.
pub(crate) fn ignition_names(wanted: &Wanted) -> Names {
    let names = at(services::IGNITION, wanted);
    with_published(
        names,
        &wanted.ignition,
        "the address under which the ignition server is published",
    )
}
