//! The program that brings a member of etcd back, in a world without etcd: what members would say of themselves follows
//! from their pods. Everything else is the program as it is.

use hyperplane_runtime::Api;
use hyperplane_sidecars::etcd::{
    client::Status,
    recover::{self, Others, Settings},
    topology::{Seat, Topology},
    wire::Member,
};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;

use crate::arguments::flag;

/// What a command line of this program asks for, if it is this program's.
pub(crate) fn settings(arguments: &[String]) -> Option<Settings> {
    let (subcommand, flags) = arguments.split_first()?;
    let flag = |name: &str| flag(flags, name).map(str::to_owned);
    if subcommand != "etcd-recover-member" {
        return None;
    }
    let namespace = flag("--namespace")?;
    let replicas = flag("--replicas")?.parse().ok()?;
    Some(Settings {
        topology: Topology::in_namespace(&flag("--name")?, &namespace, replicas)?,
        namespace,
        uid: flag("--uid")?,
    })
}

/// Runs it with the rights that it has; its members are looked at with all of them.
pub(crate) async fn run(settings: Settings, client: Client, all: Client) -> Result<(), String> {
    let pods: Api<Pod> = Api::namespaced(all, &settings.namespace);
    let ask = || {
        let (pods, topology) = (pods.clone(), settings.topology.clone());
        async move { Ok(others(&pods, &topology).await) }
    };
    let done = recover::run(&settings, &client, ask).await;
    done.map_err(|error| error.to_string())
}

/// Members whose pods are ready are well, and follow the first of them.
async fn others(pods: &Api<Pod>, topology: &Topology) -> Others {
    let mut statuses: Vec<Status> = Vec::new();
    for (id, seat) in (1..).zip(&topology.others) {
        let pod = pods.get_opt(&seat.name).await.ok().flatten();
        if pod.is_some_and(|pod| is_ready(&pod)) {
            statuses.push(Status {
                member: id,
                leader: statuses.first().map_or(id, |first| first.member),
                database_bytes: 0,
                used_bytes: 0,
            });
        }
    }
    let member = |(id, seat): (u64, &Seat)| Member {
        id,
        name: seat.name.clone(),
        ..Member::default()
    };
    let seats = topology.others.iter().chain([&topology.own]);
    Others {
        members: (1..).zip(seats).map(member).collect(),
        statuses,
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
    ready.any(|condition| condition.status == "True")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_known_by_its_arguments() {
        let words = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        let line = "etcd-recover-member --namespace=clusters-one --ca-file=/a --replicas=3 --name=etcd-1 --uid=1-2-3";
        let found = settings(&words(line)).unwrap();
        assert_eq!(
            (found.namespace.as_str(), found.uid.as_str()),
            ("clusters-one", "1-2-3")
        );
        assert_eq!(found.topology.own.name, "etcd-1");
        assert_eq!(found.topology.others.len(), 2);
        for line in [
            "",
            "etcd-recover-member --namespace=clusters-one",
            "pki-operator --namespace=clusters-one --replicas=3 --name=etcd-1 --uid=1-2-3",
            "etcd-recover-member --namespace=clusters-one --replicas=3 --name=etcd-3 --uid=1-2-3",
        ] {
            assert_eq!(settings(&words(line)), None, "{line}");
        }
    }
}
