//! A deletion against a world that takes its time: it always comes to an end, in order.

use std::time::Duration;

use proptest::prelude::*;

use super::order::{Deed, Facts, Presence, Step, Unanswered, is_given_up, is_without_machines, next};

/// Runs that a world may need at most: every object may linger a few runs.
const MOST_RUNS: usize = 200;

/// How many runs each kind of object lingers after its deletion.
#[derive(Clone, Debug)]
struct Patience {
    pools: usize,
    cluster: usize,
    infrastructure: usize,
    machines: usize,
    control_plane: usize,
    namespace: usize,
}

/// A world that does what it is asked to, late.
struct World {
    facts: Facts,
    patience: Patience,
    /// Machines were made without a pool: they go only if somebody deletes them.
    has_orphans: bool,
    log: Vec<Deed>,
}

impl World {
    /// What is there. Whether machines have to be deleted is known once no pool answers for them.
    fn look(&mut self) -> Facts {
        let facts = &mut self.facts;
        let is_any_left = !facts.machines.is_empty() || !facts.workers.is_empty();
        facts.has_kept_workers = self.has_orphans && is_any_left && facts.node_pools.is_empty();
        facts.clone()
    }

    fn obey(&mut self, step: &Step) {
        for deed in &step.deeds {
            // Asked for as long as there are pods that could take long.
            if *deed != Deed::EndPods {
                self.log.push(*deed);
            }
            let facts = &mut self.facts;
            match deed {
                Deed::Resume => facts.needs_resuming = false,
                Deed::DeleteNodePools => facts.has_kept_pools = false,
                Deed::HoldClusterApi => assert_eq!(facts.cluster_api, Presence::Present),
                Deed::DeleteClusterApi => facts.cluster_api = Presence::Leaving,
                Deed::DeleteWorkers => {
                    assert!(facts.node_pools.is_empty());
                    self.has_orphans = false;
                }
                Deed::DeleteInfrastructure => {
                    assert!(facts.machines.is_empty() && facts.workers.is_empty());
                    assert!(facts.cluster_api == Presence::Absent);
                    facts.infrastructure = Presence::Leaving;
                }
                Deed::ReleaseProviders => facts.providers = Presence::Absent,
                Deed::DeleteCredentials => facts.credentials.clear(),
                Deed::DeleteControlPlane => {
                    assert!(facts.machines.is_empty() && facts.node_pools.is_empty());
                    assert_eq!(facts.cluster_api, Presence::Absent);
                    assert_eq!(facts.infrastructure, Presence::Absent);
                    facts.control_plane = Presence::Leaving;
                }
                Deed::DeleteTraces => {
                    assert_eq!(facts.control_plane, Presence::Absent);
                    facts.traces = Presence::Absent;
                }
                Deed::DeleteNamespace => {
                    assert_eq!(facts.control_plane, Presence::Absent);
                    assert!(!facts.keeps_namespace);
                    facts.namespace = Presence::Leaving;
                }
                Deed::EndPods => {
                    assert_eq!(facts.control_plane, Presence::Absent, "somebody may be served");
                    assert_eq!(facts.namespace, Presence::Leaving, "or they are made again");
                }
            }
        }
    }

    /// Time passes: whatever was deleted comes closer to its end.
    fn pass(&mut self, step: &Step) {
        let facts = &mut self.facts;
        let is_over = |left: &mut usize| {
            *left = left.saturating_sub(1);
            *left == 0
        };
        if !facts.has_kept_pools && !facts.needs_resuming && is_over(&mut self.patience.pools) {
            facts.node_pools.clear();
        }
        // Those of pools go with them; others only if they were deleted.
        let are_deleted = facts.node_pools.is_empty() && !self.has_orphans && !facts.needs_resuming;
        if are_deleted && is_over(&mut self.patience.machines) {
            facts.machines.clear();
            facts.workers.clear();
        }
        // It is held until nothing is left.
        let is_without_machines = facts.machines.is_empty() && facts.workers.is_empty() && facts.node_pools.is_empty();
        if facts.cluster_api == Presence::Leaving && is_without_machines && is_over(&mut self.patience.cluster) {
            facts.cluster_api = Presence::Absent;
        }
        if facts.infrastructure == Presence::Leaving && is_over(&mut self.patience.infrastructure) {
            facts.infrastructure = Presence::Absent;
        }
        if facts.control_plane == Presence::Leaving && is_over(&mut self.patience.control_plane) {
            facts.control_plane = Presence::Absent;
        }
        if facts.namespace == Presence::Leaving && is_over(&mut self.patience.namespace) {
            facts.namespace = Presence::Absent;
        }
        if let Some(unanswered) = facts.unanswered.as_mut().filter(|_| step.unanswered.is_some()) {
            unanswered.tried_for += step.after.unwrap_or_default();
        }
        if step.is_destroyed {
            let before = facts.destroyed_for.unwrap_or_default();
            facts.destroyed_for = Some(before + step.after.unwrap_or_default());
        }
    }
}

fn presences() -> impl Strategy<Value = Presence> {
    prop_oneof![Just(Presence::Absent), Just(Presence::Present), Just(Presence::Leaving)]
}

fn names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-z]{1,5}", 0..8)
}

prop_compose! {
    fn states()(
        flags in proptest::collection::vec(any::<bool>(), 7),
        (node_pools, machines, workers, credentials) in (names(), names(), names(), names()),
        (cluster_api, infrastructure) in (presences(), presences()),
        (control_plane, namespace) in (presences(), presences()),
        grace in 0_u64..100,
        tried_for in proptest::option::of(0_u64..700),
    ) -> Facts {
        Facts {
            needs_resuming: flags[0],
            has_kept_pools: flags[1] && !node_pools.is_empty(),
            node_pools,
            cluster_api,
            runs_machines: flags[5],
            cluster_api_holders: Vec::new(),
            infrastructure,
            has_kept_workers: flags[6] && !(machines.is_empty() && workers.is_empty()),
            machines,
            workers,
            unanswered: tried_for.map(|seconds| Unanswered {
                why: "refused".to_owned(),
                tried_for: Duration::from_secs(seconds),
            }),
            providers: if flags[2] { Presence::Present } else { Presence::Absent },
            credentials,
            control_plane,
            control_plane_says: None,
            traces: if flags[3] { Presence::Present } else { Presence::Absent },
            namespace,
            keeps_namespace: flags[4],
            grace: Duration::from_secs(grace),
            destroyed_for: None,
        }
    }
}

prop_compose! {
    fn patience()(left in proptest::collection::vec(1_usize..6, 6)) -> Patience {
        Patience {
            pools: left[0],
            cluster: left[1],
            machines: left[2],
            control_plane: left[3],
            namespace: left[4],
            infrastructure: left[5],
        }
    }
}

proptest! {
    #[test]
    fn every_deletion_comes_to_its_end_in_order(facts in states(), patience in patience(), has_orphans: bool) {
        let keeps_namespace = facts.keeps_namespace;
        let mut world = World { facts, patience, has_orphans, log: Vec::new() };
        let mut runs = 0;
        loop {
            let seen = world.look();
            let step = next(&seen);
            prop_assert_eq!(&step, &next(&seen));
            world.obey(&step);
            if step.is_last() {
                break;
            }
            prop_assert!(step.waits_for.as_ref().is_some_and(|what| !what.is_empty()));
            world.pass(&step);
            runs += 1;
            prop_assert!(runs < MOST_RUNS, "{:?}", world.facts);
        }
        let facts = &world.facts;
        prop_assert!(facts.machines.is_empty() && facts.workers.is_empty() && facts.node_pools.is_empty());
        prop_assert_eq!(facts.traces, Presence::Absent);
        prop_assert_eq!(facts.control_plane, Presence::Absent);
        prop_assert!(keeps_namespace || facts.namespace == Presence::Absent);
        prop_assert!(facts.destroyed_for.unwrap_or_default() >= facts.grace);
        prop_assert!(facts.unanswered.as_ref().is_none_or(is_given_up));
        let mut sorted = world.log.clone();
        sorted.sort();
        sorted.dedup();
        prop_assert_eq!(sorted, world.log, "every deed once, in order");
    }

    #[test]
    fn the_control_plane_outlives_machines(facts in states()) {
        let step = next(&facts);
        let has_machines = !facts.machines.is_empty() || !facts.workers.is_empty() || !facts.node_pools.is_empty()
            || facts.cluster_api != Presence::Absent || facts.infrastructure != Presence::Absent;
        let ends_control_plane = step.deeds.iter().any(|deed| *deed >= Deed::ReleaseProviders);
        prop_assert!(!(has_machines && ends_control_plane), "{:?}", step);
        prop_assert_eq!(is_without_machines(&facts), !has_machines && !facts.needs_resuming);
        let waits_elsewhere = facts.unanswered.as_ref().is_some_and(|found| !is_given_up(found));
        prop_assert!(!(waits_elsewhere && ends_control_plane), "credentials are needed: {:?}", step);
        let ends_namespace = step.deeds.contains(&Deed::DeleteNamespace);
        prop_assert!(!(ends_namespace && facts.control_plane != Presence::Absent));
    }
}

#[test]
fn nodes_of_a_cluster_that_goes_are_not_waited_for() {
    let whole = Facts {
        node_pools: vec!["pool".to_owned()],
        has_kept_pools: true,
        cluster_api: Presence::Present,
        runs_machines: true,
        ..Facts::default()
    };
    let all = [Deed::DeleteNodePools, Deed::HoldClusterApi, Deed::DeleteClusterApi];
    assert_eq!(next(&whole).deeds, all, "the Cluster tells machines that it goes");
    let empty = Facts {
        node_pools: Vec::new(),
        has_kept_pools: false,
        ..whole
    };
    assert_eq!(next(&empty).deeds, [Deed::DeleteClusterApi], "nothing is held");
    let of_others = Facts {
        machines: vec!["by-hand".to_owned()],
        has_kept_workers: true,
        runs_machines: false,
        ..empty
    };
    assert_eq!(next(&of_others).deeds, [Deed::DeleteClusterApi, Deed::DeleteWorkers]);
}

#[test]
fn what_is_waited_for_is_named() {
    let whole = Facts {
        node_pools: (0..7).map(|number| format!("pool-{number}")).collect(),
        has_kept_pools: true,
        cluster_api: Presence::Present,
        control_plane: Presence::Present,
        control_plane_says: Some("RemainingCloudResources: 2 volumes".to_owned()),
        namespace: Presence::Present,
        grace: Duration::from_mins(2),
        ..Facts::default()
    };
    let said = |facts: &Facts| next(facts).waits_for.unwrap();
    assert_eq!(
        said(&whole),
        "NodePools to be gone: pool-0, pool-1, pool-2, pool-3, pool-4 and 2 more"
    );
    let no_pools = Facts {
        node_pools: Vec::new(),
        ..whole
    };
    assert_eq!(said(&no_pools), "the Cluster of Cluster API to be gone");
    let held = Facts {
        cluster_api_holders: vec!["example.com/backup".to_owned()],
        ..no_pools.clone()
    };
    assert_eq!(
        said(&held),
        "the Cluster of Cluster API to be gone (held by example.com/backup)"
    );
    let no_machines = Facts {
        cluster_api: Presence::Absent,
        ..no_pools
    };
    assert_eq!(
        said(&no_machines),
        "the HostedControlPlane to be gone (RemainingCloudResources: 2 volumes)"
    );
    let no_control_plane = Facts {
        control_plane: Presence::Absent,
        ..no_machines
    };
    assert_eq!(said(&no_control_plane), "the namespace of the control plane to be gone");
    let nothing = Facts {
        namespace: Presence::Absent,
        destroyed_for: Some(Duration::from_secs(50)),
        ..no_control_plane
    };
    let step = next(&nothing);
    assert_eq!(step.after, Some(Duration::from_secs(70)));
    assert!(step.is_destroyed && !step.is_last());
}

#[test]
fn a_cluster_with_machines_that_does_not_answer_is_given_up() {
    let asked_for = |tried_for: Duration| Facts {
        control_plane: Presence::Present,
        credentials: vec!["kubevirt-infra-credentials".to_owned()],
        unanswered: Some(Unanswered {
            why: "connection refused".to_owned(),
            tried_for,
        }),
        ..Facts::default()
    };
    let first = next(&asked_for(Duration::ZERO));
    assert!(first.deeds.is_empty());
    assert_eq!(first.after, Some(Duration::from_secs(30)));
    assert_eq!(
        first.waits_for.as_deref(),
        Some(
            "the cluster with the machines to let go of its network policy, for 10 minutes at most (connection refused)"
        )
    );
    let late = next(&asked_for(Duration::from_secs(595)));
    assert_eq!(late.after, Some(Duration::from_secs(5)));
    let over = next(&asked_for(Duration::from_mins(10)));
    assert_eq!(over.deeds, [Deed::DeleteCredentials, Deed::DeleteControlPlane]);
    assert_eq!(over.unanswered, None);
}
