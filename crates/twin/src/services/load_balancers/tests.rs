use super::*;

fn first(name: &str, taken: &BTreeSet<Ipv4Addr>) -> Ipv4Addr {
    candidates(name, taken).next().unwrap()
}

#[test]
fn addresses_are_the_same_every_time_and_never_shared() {
    let name = "clusters-a/kube-apiserver";
    let address = first(name, &BTreeSet::new());
    assert_eq!(address, first(name, &BTreeSet::new()));
    assert!(address.is_loopback());
    assert_ne!(address, first(name, &BTreeSet::from([address])));
}

#[test]
fn an_address_that_is_taken_comes_with_advice() {
    let key = ObjectKey::namespaced("clusters-a", "kube-apiserver");
    let words = taken_words(Ipv4Addr::new(127, 64, 0, 9), &key);
    assert!(words.contains("has 127.64.0.9"), "{words}");
    assert!(
        words.contains("kubectl patch service kube-apiserver --namespace clusters-a --subresource status"),
        "{words}"
    );
    assert!(words.ends_with(r#"'{"status":{"loadBalancer":null}}'"#), "{words}");
}
