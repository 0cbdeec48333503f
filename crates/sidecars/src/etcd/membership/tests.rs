//! The decision as a table, and what must hold of every row that nobody wrote down.

use proptest::prelude::*;

use super::*;

fn url(name: &str) -> String {
    format!("https://{name}.etcd-discovery.a.svc:2380")
}

fn own() -> Seat {
    Seat {
        name: "etcd-2".to_owned(),
        peer_url: url("etcd-2"),
        client_url: "https://etcd-2.etcd-discovery.a.svc:2379".to_owned(),
    }
}

/// Reads members like `etcd-0 etcd-1 2?`: a question mark is one that has never started, a tilde one without a vote.
fn members(text: &str) -> Vec<Member> {
    let member = |(number, word): (usize, &str)| {
        let name = word.trim_end_matches(['?', '~', '!']);
        Member {
            id: u64::try_from(number).unwrap() + 1,
            // One that was added to a cluster has no name before it starts.
            name: if word.contains('!') {
                String::new()
            } else {
                name.to_owned()
            },
            peer_urls: vec![url(name)],
            client_urls: if word.contains(['?', '!']) {
                vec![]
            } else {
                vec![format!("https://{name}:2379")]
            },
            is_learner: word.contains('~'),
        }
    };
    text.split_whitespace().enumerate().map(member).collect()
}

fn established(text: &str) -> Cluster {
    Cluster::Established(members(text))
}

fn step(has_data: bool, cluster: Cluster) -> Step {
    let own = own();
    decide(&Facts {
        own: &own,
        has_data,
        may_begin: true,
        is_alone: false,
        cluster,
    })
}

#[test]
fn without_data() {
    let silent = || Cluster::Silent("no leader".to_owned());
    let add = |as_learner| Step::Add { as_learner };
    let cases = [
        ("first boot", Cluster::Nobody, Step::Start(Start::New)),
        (
            "first boot, others wait",
            Cluster::Forming(members("etcd-0? etcd-1? etcd-2?")),
            Step::Start(Start::New),
        ),
        (
            "others have a majority, we never started",
            established("etcd-0 etcd-1 etcd-2?"),
            Step::Start(Start::Join(members("etcd-0 etcd-1 etcd-2?"))),
        ),
        (
            "a majority that nobody has published itself in yet",
            established("etcd-0? etcd-1? etcd-2?"),
            Step::Start(Start::New),
        ),
        ("lost data", established("etcd-0 etcd-1 etcd-2"), Step::Remove(3)),
        ("removed, not added yet", established("etcd-0 etcd-1"), add(false)),
        (
            "added, not started yet",
            established("etcd-0 etcd-1 etcd-2!"),
            Step::Start(Start::Join(members("etcd-0 etcd-1 etcd-2!"))),
        ),
        (
            "added without a vote, not started yet",
            established("etcd-0 etcd-2!~"),
            Step::Start(Start::Join(members("etcd-0 etcd-2!~"))),
        ),
        (
            "lost data before it got a vote",
            established("etcd-0 etcd-1 etcd-2~"),
            Step::Remove(3),
        ),
        ("from one member to more", established("etcd-0"), add(true)),
        ("from two members to three", established("etcd-0 etcd-1"), add(false)),
        (
            "one of the others has not started",
            established("etcd-0 etcd-1?"),
            add(true),
        ),
        ("others cannot answer", silent(), Step::Wait("no leader".to_owned())),
    ];
    for (name, cluster, expected) in cases {
        assert_eq!(step(false, cluster), expected, "{name}");
    }
}

#[test]
fn with_data() {
    for (name, cluster) in [
        ("alone", Cluster::Nobody),
        ("all restart", Cluster::Silent("no leader".to_owned())),
        (
            "first boot, restarted",
            Cluster::Forming(members("etcd-0? etcd-1? etcd-2?")),
        ),
        ("restart", established("etcd-0 etcd-1 etcd-2")),
        ("restart before it took part", established("etcd-0 etcd-1 etcd-2!")),
    ] {
        assert_eq!(step(true, cluster), Step::Start(Start::WithData), "{name}");
    }
    let Step::Refuse(reason) = step(true, established("etcd-0 etcd-1")) else {
        panic!("data of a removed member must not be started with, nor be lost");
    };
    assert!(
        reason.contains("delete its pod and its PersistentVolumeClaim"),
        "{reason}"
    );
}

#[test]
fn a_member_that_moved_is_removed_under_its_old_address() {
    let mut list = members("etcd-0 etcd-1 etcd-2");
    list[2].peer_urls = vec!["https://elsewhere:2380".to_owned()];
    assert_eq!(step(false, Cluster::Established(list)), Step::Remove(3));
}

#[test]
fn where_a_cluster_was_none_begins() {
    let own = own();
    let step = |is_alone, cluster| {
        decide(&Facts {
            own: &own,
            has_data: false,
            may_begin: false,
            is_alone,
            cluster,
        })
    };
    let waits = |step: Step, what: &str| matches!(step, Step::Wait(reason) if reason.contains(what));
    assert!(waits(step(false, Cluster::Nobody), "majority of the others"));
    let forming = Cluster::Forming(members("etcd-0? etcd-1? etcd-2?"));
    assert!(waits(step(false, forming), "majority of those with data"));
    // The only one that had the data says so, and does not wait for somebody who never comes.
    let refused = step(true, Cluster::Nobody);
    assert!(
        matches!(&refused, Step::Refuse(reason) if reason.contains("bring the volume back")),
        "{refused:?}"
    );
    // A member that comes late to a cluster that has a majority is a part of it.
    let late = step(false, established("etcd-0 etcd-1 etcd-2?"));
    assert!(matches!(late, Step::Start(Start::Join(_))), "{late:?}");
}

fn any_cluster() -> impl Strategy<Value = Cluster> {
    let member =
        (0_u64..4, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(number, named, started, learner)| Member {
            id: number + 1,
            name: if named || started {
                format!("etcd-{number}")
            } else {
                String::new()
            },
            peer_urls: vec![url(&format!("etcd-{number}"))],
            client_urls: if started {
                vec!["https://somewhere:2379".to_owned()]
            } else {
                vec![]
            },
            is_learner: learner,
        });
    let list = prop::collection::btree_map(0_u64..4, member, 0..4).prop_map(|map| {
        let with_own_number = |(number, member): (u64, Member)| Member {
            id: number + 1,
            peer_urls: vec![url(&format!("etcd-{number}"))],
            name: if member.name.is_empty() {
                member.name
            } else {
                format!("etcd-{number}")
            },
            ..member
        };
        map.into_iter().map(with_own_number).collect::<Vec<_>>()
    });
    prop_oneof![
        Just(Cluster::Nobody),
        Just(Cluster::Silent("why".to_owned())),
        list.clone().prop_map(|mut list| {
            for member in &mut list {
                member.client_urls.clear();
            }
            Cluster::Forming(list)
        }),
        list.prop_map(Cluster::Established),
    ]
}

proptest! {
    #[test]
    fn data_is_never_given_up_and_no_second_cluster_begins(
        has_data: bool, may_begin: bool, is_alone: bool, cluster in any_cluster(),
    ) {
        let own = own();
        let facts = Facts { own: &own, has_data, may_begin, is_alone, cluster: cluster.clone() };
        match decide(&facts) {
            Step::Start(Start::WithData) => prop_assert!(has_data),
            Step::Refuse(_) => prop_assert!(has_data || is_alone && !may_begin),
            Step::Start(Start::New) => {
                prop_assert!(!has_data);
                // Where there was a cluster, only one with a majority is joined.
                prop_assert!(may_begin || matches!(cluster, Cluster::Established(_)));
                // Nobody who takes part in a cluster is left out of it.
                if let Cluster::Established(members) | Cluster::Forming(members) = &cluster {
                    prop_assert!(!members.iter().any(Member::has_started));
                    prop_assert!(members.iter().any(|member| member.peer_urls.contains(&own.peer_url)));
                }
            }
            Step::Remove(id) => {
                prop_assert!(!has_data);
                let Cluster::Established(members) = &cluster else { panic!("removed without a majority") };
                prop_assert_eq!(members.iter().find(|member| member.id == id).map(|member| member.name.as_str()), Some("etcd-2"));
            }
            Step::Add { .. } | Step::Start(Start::Join(_)) => {
                prop_assert!(!has_data);
                prop_assert!(matches!(cluster, Cluster::Established(_)));
            }
            Step::Wait(_) => prop_assert!(!has_data),
        }
    }

    /// Carried out against a model of a cluster with a majority, the steps come to a start, whatever it knows before.
    #[test]
    fn steps_come_to_an_end(cluster in any_cluster()) {
        let own = own();
        let Cluster::Established(mut members) = cluster else { return Ok(()) };
        for _ in 0..4 {
            let facts = Facts { own: &own, has_data: false, may_begin: true, is_alone: false, cluster: Cluster::Established(members.clone()) };
            match decide(&facts) {
                Step::Remove(id) => members.retain(|member| member.id != id),
                Step::Add { as_learner } => members.push(Member {
                    id: 99,
                    peer_urls: vec![own.peer_url.clone()],
                    is_learner: as_learner,
                    ..Member::default()
                }),
                Step::Start(Start::New | Start::Join(_)) => return Ok(()),
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        prop_assert!(false, "no start after four steps");
    }
}
