//! The kubeconfigs that a control plane has: where each stands, who it is for, and from where it is used. Data, as in the
//! table of certificates; how one is written stands elsewhere.

use std::collections::BTreeSet;

use hyperplane_api::constants::objects::{
    certificates, copies, keys, kubeconfigs, ports::API_SERVER, services, signers,
};

use crate::{
    table::{LEAVES, Leaf, LeafRow, Names, SIGNERS, Usage, row},
    wanted::{Published, SecretKey, ServiceAccount, Wanted},
};

/// A kubeconfig.
#[derive(Clone, Debug)]
pub(crate) struct Kubeconfig {
    pub(crate) place: SecretKey,
    /// Where the API server is; none while nobody knows.
    pub(crate) server: Option<String>,
    pub(crate) user: User,
    /// It is read by Cluster API, which finds it by type and label.
    pub(crate) is_cluster_api: bool,
}

/// Whose certificate a kubeconfig has.
#[derive(Clone, Debug)]
pub(crate) enum User {
    /// That of a row of the table.
    Row(&'static LeafRow),
    /// One that stands nowhere else.
    Own(Leaf),
}

/// From where a kubeconfig is used.
#[derive(Clone, Copy, Debug)]
enum Server {
    Outside,
    FurtherName,
    ThisPod,
    Service,
}

/// Every kubeconfig of a leaf that has a Secret of its own, too.
const KUBECONFIGS: &[(&str, &str, Server)] = &[
    (kubeconfigs::ADMIN, certificates::SYSTEM_ADMIN, Server::Outside),
    (
        kubeconfigs::CUSTOM_ADMIN,
        certificates::SYSTEM_ADMIN,
        Server::FurtherName,
    ),
    (kubeconfigs::LOCALHOST, certificates::SYSTEM_ADMIN, Server::ThisPod),
    (
        kubeconfigs::SERVICE_NETWORK_ADMIN,
        certificates::SYSTEM_ADMIN,
        Server::Service,
    ),
    (kubeconfigs::BOOTSTRAP, certificates::BOOTSTRAP, Server::Outside),
    (
        kubeconfigs::CONFIG_OPERATOR,
        certificates::CONFIG_OPERATOR,
        Server::Service,
    ),
    (
        kubeconfigs::CONTROLLER_MANAGER,
        certificates::CONTROLLER_MANAGER_CLIENT,
        Server::Service,
    ),
    (kubeconfigs::SCHEDULER, certificates::SCHEDULER_CLIENT, Server::Service),
];

/// The kubeconfigs that a control plane has, and the Secrets of those that it cannot have. Users have a say in the names
/// of two; where something else stands under such a name, writing both would never end.
pub(crate) fn kubeconfigs(wanted: &Wanted) -> (Vec<Kubeconfig>, Vec<String>) {
    let accounts = wanted.service_accounts.iter();
    let accounts: Vec<Kubeconfig> = accounts.map(|account| of_account(account, wanted)).collect();
    let mut taken: BTreeSet<String> = accounts.iter().map(|account| account.place.name.clone()).collect();
    let tables = SIGNERS.iter().map(|row| row.secret);
    let tables = tables.chain(LEAVES.iter().map(|row| row.secret));
    let tables = tables.chain(KUBECONFIGS.iter().map(|(name, ..)| *name));
    let tables = tables
        .chain([certificates::SERVICE_ACCOUNT_KEYS])
        .chain(copies::ALL.iter().map(|(_, name)| *name));
    taken.extend(tables.filter(|name| *name != kubeconfigs::ADMIN).map(str::to_owned));
    let mut all = Vec::new();
    let mut clashes = Vec::new();
    for kubeconfig in [admin(wanted), of_cluster_api(wanted)] {
        if taken.insert(kubeconfig.place.name.clone()) {
            all.push(kubeconfig);
        } else {
            clashes.push(kubeconfig.place.name);
        }
    }
    let rows = KUBECONFIGS.iter().filter(|(name, ..)| *name != kubeconfigs::ADMIN);
    let rows = rows.filter(|(_, _, server)| !matches!(server, Server::FurtherName) || wanted.api_server_name.is_some());
    all.extend(rows.map(|(name, leaf, server)| of_row(usual(name), leaf, *server, wanted)));
    all.extend(accounts);
    (all, clashes)
}

/// The Secrets of the kubeconfigs whose names are the same in every control plane.
pub(crate) fn fixed_names() -> impl Iterator<Item = &'static str> {
    KUBECONFIGS.iter().map(|(name, ..)| *name)
}

/// Secrets of ours that this control plane must not have: they were asked for before.
pub(crate) fn unwanted(wanted: &Wanted) -> Vec<&'static str> {
    let has_further_name = wanted.api_server_name.is_some();
    (!has_further_name)
        .then_some(kubeconfigs::CUSTOM_ADMIN)
        .into_iter()
        .collect()
}

impl Kubeconfig {
    /// Whose certificate it has.
    pub(crate) fn leaf(&self, wanted: &Wanted) -> Leaf {
        match &self.user {
            User::Row(row) => row.leaf(wanted),
            User::Own(leaf) => leaf.clone(),
        }
    }
}

impl Server {
    fn url(self, wanted: &Wanted) -> Option<String> {
        match self {
            Self::Outside => match &wanted.api_server {
                Published::At { host, port } => Some(host.url(*port)),
                Published::Awaited => None,
                // Nobody comes from outside; who has the file can be at the Service only.
                Published::Unused => Self::Service.url(wanted),
            },
            Self::FurtherName => match (&wanted.api_server_name, &wanted.api_server) {
                (Some(name), Published::At { port, .. }) => Some(name.url(*port)),
                (Some(name), Published::Unused) => Some(name.url(API_SERVER)),
                _ => None,
            },
            Self::ThisPod => Some(format!("https://localhost:{API_SERVER}")),
            Self::Service => {
                let (service, namespace) = (services::API_SERVER, &wanted.namespace);
                Some(format!("https://{service}.{namespace}.svc:{API_SERVER}"))
            }
        }
    }
}

/// That of the administrator, which a user may want elsewhere.
fn admin(wanted: &Wanted) -> Kubeconfig {
    let place = wanted.admin_kubeconfig.clone();
    of_row(place, certificates::SYSTEM_ADMIN, Server::Outside, wanted)
}

/// That of the administrator, where Cluster API looks for it.
fn of_cluster_api(wanted: &Wanted) -> Kubeconfig {
    let place = SecretKey {
        name: kubeconfigs::of_cluster_api(&wanted.infra_id),
        key: keys::CLUSTER_API_KUBECONFIG.to_owned(),
    };
    Kubeconfig {
        is_cluster_api: true,
        ..of_row(place, certificates::SYSTEM_ADMIN, Server::Service, wanted)
    }
}

fn of_row(place: SecretKey, leaf: &str, server: Server, wanted: &Wanted) -> Kubeconfig {
    Kubeconfig {
        place,
        server: server.url(wanted),
        user: User::Row(row(leaf)),
        is_cluster_api: false,
    }
}

fn of_account(account: &ServiceAccount, wanted: &Wanted) -> Kubeconfig {
    Kubeconfig {
        place: usual(&kubeconfigs::of_service_account(&account.component)),
        server: Server::Service.url(wanted),
        user: User::Own(service_account(account)),
        is_cluster_api: false,
    }
}

fn service_account(account: &ServiceAccount) -> Leaf {
    let ServiceAccount { namespace, name, .. } = account;
    Leaf {
        signer: signers::CONTROL_PLANE,
        common_name: format!("system:serviceaccount:{namespace}:{name}"),
        groups: vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{namespace}"),
        ],
        usage: Usage::Client,
        names: Names::default(),
    }
}

fn usual(name: &str) -> SecretKey {
    SecretKey {
        name: name.to_owned(),
        key: keys::KUBECONFIG.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hyperplane_api::constants::objects::bundles;

    use super::*;
    use crate::table::BUNDLES;

    #[test]
    fn kubeconfigs_are_of_leaves_that_exist() {
        let leaves: BTreeSet<&str> = LEAVES.iter().map(|row| row.secret).collect();
        assert!(KUBECONFIGS.iter().all(|(_, leaf, _)| leaves.contains(leaf)));
    }

    #[test]
    fn the_api_server_trusts_whoever_signs_for_its_clients_and_nobody_else() {
        let trusted = BUNDLES.iter().find(|row| row.config_map == bundles::CLIENT).unwrap();
        let mut signing: BTreeSet<&str> = KUBECONFIGS.iter().map(|(_, leaf, _)| row(leaf).signer).collect();
        // Kubelets get theirs inside of the hosted cluster.
        signing.insert(signers::CLUSTER);
        assert_eq!(trusted.signers.iter().copied().collect::<BTreeSet<_>>(), signing);
    }
}
