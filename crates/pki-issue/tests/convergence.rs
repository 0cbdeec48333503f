//! Whatever happens, one round is enough: after it there is nothing to do, and everything that can be valid is.

use hyperplane_api::constants::objects::{keys, signers};
use hyperplane_pki_issue::{Lifetime, Published, Wanted};
use jiff::SignedDuration;
use proptest::prelude::*;

use crate::support::{World, host, published, wanted};

#[derive(Clone, Debug)]
enum Event {
    Days(i64),
    Delete(usize),
    Damage(usize, usize),
    Swap(usize, usize),
    Strip(usize),
    Publish(Option<u8>),
    Name(bool),
    Validity(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (1i64..400).prop_map(Event::Days),
        any::<usize>().prop_map(Event::Delete),
        (any::<usize>(), 0usize..200).prop_map(|(which, at)| Event::Damage(which, at)),
        (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Event::Swap(from, to)),
        any::<usize>().prop_map(Event::Strip),
        proptest::option::of(1u8..20).prop_map(Event::Publish),
        any::<bool>().prop_map(Event::Name),
        (24i64..20_000).prop_map(Event::Validity),
    ]
}

fn happen(event: &Event, world: &mut World, wanted: &mut Wanted) {
    let names: Vec<String> = world.existing.secrets.keys().cloned().collect();
    let name = |number: usize| names[number % names.len()].as_str();
    match event {
        Event::Days(days) => world.now += SignedDuration::from_hours(24 * days),
        Event::Delete(number) => world.delete(name(*number)),
        Event::Damage(number, at) => {
            for bytes in world.secret(name(*number)).data.as_mut().unwrap().values_mut() {
                let length = bytes.0.len().max(1);
                if let Some(byte) = bytes.0.get_mut(at % length) {
                    *byte = b'!';
                }
            }
        }
        Event::Swap(from, to) => {
            let data = world.existing.secrets[name(*from)].data.clone();
            world.secret(name(*to)).data = data;
        }
        Event::Strip(number) => world.secret(name(*number)).metadata = kube_meta(name(*number)),
        Event::Publish(None) => wanted.api_server = Published::Awaited,
        Event::Publish(Some(number)) => wanted.api_server = published(&format!("192.0.2.{number}"), 6443),
        Event::Name(has) => wanted.api_server_name = has.then(|| host("other.example.org")),
        Event::Validity(hours) => wanted.lifetime = Lifetime::parse(Some(&format!("{hours}h")), None).unwrap(),
    }
}

fn kube_meta(name: &str) -> k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
    k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
        name: Some(name.to_owned()),
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn one_round_is_enough(events in proptest::collection::vec(event(), 1..8)) {
        let mut wanted = wanted();
        let mut world = World::settled(&wanted);
        let authorities: Vec<String> = [signers::ROOT, signers::ETCD]
            .map(|signer| world.text(signer, keys::CA_CERTIFICATE)).to_vec();
        let mut deleted = false;
        for event in &events {
            deleted |= matches!(event, Event::Delete(_) | Event::Swap(..) | Event::Damage(..));
            happen(event, &mut world, &mut wanted);
            world.round(&wanted);
            let again = world.plan(&wanted);
            let steps: Vec<_> = again.issue.iter().map(|step| (step.name.clone(), step.reason)).collect();
            prop_assert!(steps.is_empty(), "after {:?}: {:?}", event, steps);
            prop_assert!(again.unwanted.is_empty());
            prop_assert!(again.next_look > world.now);
        }
        if !deleted {
            for (signer, before) in [signers::ROOT, signers::ETCD].into_iter().zip(authorities) {
                prop_assert_eq!(world.text(signer, keys::CA_CERTIFICATE), before);
            }
        }
    }
}
