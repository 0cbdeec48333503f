//! Every request that is approved, and every forged one that is not, by tables.

use std::{cell::RefCell, sync::Arc};

use hyperplane_api::cluster_api::machine::Machine;
use k8s_openapi::{ByteString, api::certificates::v1::CertificateSigningRequest};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use serde_json::{Value, json};

use crate::{
    judge::{Refusal, Surroundings, Verdict, judge},
    machine::node_names,
    request::{Purpose, approved_node, pending_node},
};

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";

/// What is known, as lists.
#[derive(Default)]
struct Table {
    machines: Vec<Arc<Machine>>,
    nodes: Vec<&'static str>,
    requests: RefCell<Vec<Arc<CertificateSigningRequest>>>,
}

impl Surroundings for Table {
    fn machines(&self, node: &str) -> Vec<Arc<Machine>> {
        let is_called = |machine: &&Arc<Machine>| node_names(machine).contains(node);
        self.machines.iter().filter(is_called).cloned().collect()
    }

    fn has_node(&self, node: &str) -> bool {
        self.nodes.contains(&node)
    }

    fn approved(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>> {
        let requests = self.requests.borrow();
        let is_meant = |request: &&Arc<CertificateSigningRequest>| approved_node(request).as_deref() == Some(node);
        requests.iter().filter(is_meant).cloned().collect()
    }

    fn pending(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>> {
        let requests = self.requests.borrow();
        let is_meant = |request: &&Arc<CertificateSigningRequest>| pending_node(request).as_deref() == Some(node);
        requests.iter().filter(is_meant).cloned().collect()
    }
}

/// A machine with two names and two addresses; the fields of its status are put over that.
fn machine(name: &str, host: &str, status: &Value) -> Machine {
    let mut object = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Machine",
        "metadata": {"name": name, "namespace": "clusters-one", "creationTimestamp": "2026-01-01T12:00:00Z"},
        "spec": {
            "clusterName": "one", "bootstrap": {},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": name},
        },
        "status": {"addresses": [
            {"type": "Hostname", "address": host},
            {"type": "InternalDNS", "address": format!("{host}.internal")},
            {"type": "ExternalDNS", "address": format!("{host}.example.com")},
            {"type": "InternalIP", "address": format!("10.0.0.{}", host.len())},
            {"type": "ExternalIP", "address": format!("fd00::{}", host.len())},
        ]},
    });
    for (key, value) in status.as_object().into_iter().flatten() {
        object["status"][key] = value.clone();
    }
    hyperplane_objects::read(&object).unwrap()
}

/// What is asked, and by whom.
#[derive(Clone)]
struct Ask<'a> {
    signer: &'a str,
    asker: &'a str,
    groups: &'a [&'a str],
    organisation: &'a str,
    name: &'a str,
    alternatives: &'a [&'a str],
    usages: &'a [&'a str],
    uid: &'a str,
    created: &'a str,
}

/// As a machine asks that is to become node a.
const FIRST: Ask<'_> = Ask {
    signer: CLIENT,
    asker: "system:bootstrapper",
    groups: &["system:bootstrappers", "system:authenticated"],
    organisation: "system:nodes",
    name: "system:node:a",
    alternatives: &[],
    usages: &["digital signature", "client auth"],
    uid: "1",
    created: "2026-01-01T12:05:00Z",
};

/// As node a asks that is to serve.
const SERVE: Ask<'_> = Ask {
    signer: SERVING,
    asker: "system:node:a",
    groups: &["system:nodes", "system:authenticated"],
    alternatives: &["a", "10.0.0.1"],
    usages: &["digital signature", "server auth"],
    ..FIRST
};

impl<'a> Ask<'a> {
    const fn named(self, name: &'a str) -> Self {
        Self { name, ..self }
    }

    const fn by(self, asker: &'a str) -> Self {
        Self { asker, ..self }
    }

    const fn in_groups(self, groups: &'a [&'a str]) -> Self {
        Self { groups, ..self }
    }

    const fn of(self, organisation: &'a str) -> Self {
        Self { organisation, ..self }
    }

    const fn also(self, alternatives: &'a [&'a str]) -> Self {
        Self { alternatives, ..self }
    }

    const fn to(self, usages: &'a [&'a str]) -> Self {
        Self { usages, ..self }
    }

    const fn signed_by(self, signer: &'a str) -> Self {
        Self { signer, ..self }
    }

    const fn at(self, created: &'a str) -> Self {
        Self { created, ..self }
    }

    const fn called(self, uid: &'a str) -> Self {
        Self { uid, ..self }
    }

    fn object(&self) -> CertificateSigningRequest {
        let mut object: CertificateSigningRequest = hyperplane_objects::read(json!({
            "metadata": {"name": "csr", "uid": self.uid, "resourceVersion": "7", "creationTimestamp": self.created},
            "spec": {
                "request": "", "signerName": self.signer, "username": self.asker, "groups": self.groups,
                "usages": self.usages,
            },
        }))
        .unwrap();
        object.spec.request = ByteString(self.pem().into_bytes());
        object
    }

    fn approved(&self) -> CertificateSigningRequest {
        let mut object = self.object();
        let status = json!({"conditions": [{"type": "Approved", "status": "True"}]});
        object.status = hyperplane_objects::read(&status).unwrap();
        object
    }

    fn pem(&self) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::OrganizationName, self.organisation);
        params.distinguished_name.push(DnType::CommonName, self.name);
        for name in self.alternatives {
            params.subject_alt_names.push(match name.parse() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) if name.contains('@') => SanType::Rfc822Name((*name).try_into().unwrap()),
                Err(_) => SanType::DnsName((*name).try_into().unwrap()),
            });
        }
        params
            .serialize_request(&KeyPair::generate().unwrap())
            .unwrap()
            .pem()
            .unwrap()
    }

    fn judged(&self, table: &Table) -> Verdict {
        judge(&self.object(), table)
    }
}

/// Machines a and bb.
fn table() -> Table {
    Table {
        machines: vec![
            Arc::new(machine("m-a", "a", &json!({}))),
            Arc::new(machine("m-b", "bb", &json!({}))),
        ],
        ..Table::default()
    }
}

fn table_with(status: &Value) -> Table {
    Table {
        machines: vec![Arc::new(machine("m-a", "a", status))],
        ..Table::default()
    }
}

fn approved(purpose: Purpose) -> Verdict {
    Verdict::Approved {
        purpose,
        machine: "m-a".to_owned(),
        node: "a".to_owned(),
    }
}

#[track_caller]
fn check_refused(what: &str, verdict: &Verdict, expected: &str) {
    let Verdict::Refused(refusal) = verdict else {
        panic!("{what}: {verdict:?}");
    };
    assert!(refusal.to_string().contains(expected), "{what}: {refusal}");
}

#[test]
fn machines_that_exist_are_let_in() {
    assert_eq!(FIRST.judged(&table()), approved(Purpose::FirstClient));
    let rsa = FIRST.to(&["digital signature", "key encipherment", "client auth"]);
    assert_eq!(rsa.judged(&table()), approved(Purpose::FirstClient));
    assert_eq!(SERVE.judged(&table()), approved(Purpose::Serving));
    let became = table_with(&json!({"nodeRef": {"name": "a"}}));
    let all = SERVE.also(&["a", "a.internal", "a.example.com", "10.0.0.1", "fd00::1"]);
    assert_eq!(all.judged(&became), approved(Purpose::Serving));
    // A provider that tells no names calls hosts as their machines.
    let nameless = table_with(&json!({"addresses": [], "initialization": {"infrastructureProvisioned": true}}));
    let ask = FIRST.named("system:node:m-a");
    assert!(matches!(ask.judged(&nameless), Verdict::Approved { node, .. } if node == "m-a"));
}

#[test]
fn names_that_come_late_do_not_make_a_second_node() {
    let own = FIRST.named("system:node:m-a");
    for steps in [json!({}), json!({"infrastructureProvisioned": false})] {
        let unmade = table_with(&json!({"addresses": [], "initialization": steps}));
        check_refused("no host yet", &own.judged(&unmade), "no machine for node m-a");
    }
    // It was let in under its own name, and then its provider told others.
    let joined = Table {
        nodes: vec!["m-a"],
        ..table()
    };
    check_refused(
        "it has a node",
        &FIRST.judged(&joined),
        "machine m-a is node m-a already",
    );
    let given = table();
    given.requests.borrow_mut().push(Arc::new(own.called("0").approved()));
    check_refused(
        "it has a certificate",
        &FIRST.judged(&given),
        "first certificate already",
    );
}

#[test]
fn forged_first_certificates_are_refused() {
    let cases = [
        ("name of nobody", FIRST.named("system:node:x"), "no machine for node x"),
        ("name of no node", FIRST.named("admin"), "common name"),
        ("empty name", FIRST.named("system:node:"), "no machine for node"),
        (
            "name of a machine that has others",
            FIRST.named("system:node:m-a"),
            "no machine",
        ),
        ("group", FIRST.of("system:masters"), "organization"),
        ("alternative name", FIRST.also(&["a"]), "DNS subjectAltNames"),
        ("alternative address", FIRST.also(&["10.0.0.1"]), "IP subjectAltNames"),
        ("usage", FIRST.to(&["digital signature", "server auth"]), "usages"),
        (
            "more usages",
            FIRST.to(&["digital signature", "client auth", "cert sign"]),
            "usages",
        ),
        ("no usage", FIRST.to(&[]), "usages"),
        ("asker", FIRST.by("alice"), "\"alice\" asks"),
        (
            "another node",
            FIRST.by("system:node:bb").in_groups(&["system:nodes"]),
            "asks",
        ),
        (
            "asker without the group",
            FIRST.in_groups(&["system:authenticated"]),
            "asks",
        ),
        (
            "older than the machine",
            FIRST.at("2026-01-01T11:59:49Z"),
            "older than machine m-a",
        ),
    ];
    for (what, ask, expected) in cases {
        check_refused(what, &ask.judged(&table()), expected);
    }
    let within = FIRST.at("2026-01-01T11:59:51Z");
    assert_eq!(
        within.judged(&table()),
        approved(Purpose::FirstClient),
        "clocks differ a little"
    );
}

#[test]
fn a_machine_becomes_one_node_once() {
    let became = |node: &str| table_with(&json!({"nodeRef": {"name": node}}));
    check_refused("itself again", &FIRST.judged(&became("a")), "is node a already");
    check_refused(
        "under its other name",
        &FIRST.judged(&became("a.internal")),
        "no machine",
    );
    for node in ["a", "a.internal"] {
        let table = Table {
            nodes: vec![node],
            ..table()
        };
        check_refused(node, &FIRST.judged(&table), "already");
    }
    // Somebody has a certificate under one of the two names, and has not shown up yet.
    for name in ["system:node:a", "system:node:a.internal"] {
        let mut given = FIRST.named(name).called("0").approved();
        let table = table();
        table.requests.borrow_mut().push(Arc::new(given.clone()));
        check_refused(name, &FIRST.judged(&table), "first certificate already");
        let same = FIRST.called("0");
        assert_eq!(
            same.judged(&table),
            approved(Purpose::FirstClient),
            "itself is no other"
        );
        given.metadata.creation_timestamp = hyperplane_objects::read(json!("2025-12-31T00:00:00Z")).unwrap();
        table.requests.replace(vec![Arc::new(given)]);
        assert_eq!(
            FIRST.judged(&table),
            approved(Purpose::FirstClient),
            "it was for a machine before"
        );
    }
}

#[test]
fn of_two_keys_that_ask_for_one_machine_neither_is_believed() {
    let own = FIRST.object();
    let judged_beside = |rival: CertificateSigningRequest| {
        let table = table();
        table
            .requests
            .replace(vec![Arc::new(own.clone()), Arc::new(rival.clone())]);
        [judge(&own, &table), judge(&rival, &table)]
    };
    let rival = FIRST.called("2");
    for name in ["system:node:a", "system:node:a.internal"] {
        for verdict in judged_beside(rival.clone().named(name).object()) {
            check_refused(name, &verdict, "asks for machine m-a with another key");
        }
    }
    let mut again = own.clone();
    again.metadata.uid = Some("2".to_owned());
    let mut denied = rival.object();
    denied.status = hyperplane_objects::read(json!({"conditions": [{"type": "Denied", "status": "True"}]})).unwrap();
    let mut garbage = rival.object();
    garbage.spec.request = ByteString(b"garbage".to_vec());
    let mut unsigned = rival.object();
    unsigned.spec.request = ByteString(forged(&unsigned));
    for (what, harmless) in [
        ("the same key", again),
        ("denied", denied),
        ("garbage", garbage),
        ("without the key", unsigned),
        (
            "for a machine before",
            rival.clone().at("2025-12-31T00:00:00Z").object(),
        ),
        ("for another machine", rival.clone().named("system:node:bb").object()),
        ("to serve", SERVE.called("2").object()),
        ("by somebody else", rival.clone().by("alice").object()),
        (
            "with a form that is never approved",
            rival.of("system:masters").object(),
        ),
    ] {
        let [verdict, _] = judged_beside(harmless);
        assert_eq!(verdict, approved(Purpose::FirstClient), "{what}");
    }
}

#[test]
fn machines_that_leave_or_cannot_be_told_apart_are_refused() {
    let mut leaving = machine("m-a", "a", &json!({}));
    leaving.metadata.deletion_timestamp = hyperplane_objects::read(json!("2026-01-01T12:01:00Z")).unwrap();
    let table = Table {
        machines: vec![Arc::new(leaving)],
        ..Table::default()
    };
    check_refused("leaving", &FIRST.judged(&table), "being deleted");
    assert_eq!(
        SERVE.judged(&table),
        approved(Purpose::Serving),
        "it serves until it is gone"
    );
    let twins = ["m-a", "m-b"].map(|name| Arc::new(machine(name, "a", &json!({}))));
    let table = Table {
        machines: twins.to_vec(),
        ..Table::default()
    };
    check_refused("twins", &FIRST.judged(&table), "m-a, m-b may all become node a");
    check_refused("twins that serve", &SERVE.judged(&table), "m-a, m-b");
}

#[test]
fn forged_serving_certificates_are_refused() {
    let cases = [
        ("another node's name", SERVE.named("system:node:bb"), "asks"),
        ("by another node", SERVE.by("system:node:bb"), "\"system:node:bb\" asks"),
        ("by the identity of all", SERVE.by("system:bootstrapper"), "asks"),
        ("without the group", SERVE.in_groups(&["system:authenticated"]), "asks"),
        ("group", SERVE.of("system:masters"), "organization"),
        (
            "name of another machine",
            SERVE.also(&["a", "bb"]),
            "\"bb\" is no name of machine m-a",
        ),
        ("name of everybody", SERVE.also(&["*.internal"]), "is no name"),
        (
            "address of another machine",
            SERVE.also(&["10.0.0.2"]),
            "10.0.0.2 is no address",
        ),
        (
            "address of nobody",
            SERVE.also(&["a", "192.0.2.1"]),
            "192.0.2.1 is no address",
        ),
        ("mail", SERVE.also(&["a", "a@example.com"]), "Email"),
        ("no names", SERVE.also(&[]), "subjectAltName is required"),
        ("usage", SERVE.to(&["digital signature", "client auth"]), "usages"),
    ];
    for (what, ask, expected) in cases {
        check_refused(what, &ask.judged(&table()), expected);
    }
    let foreign = SERVE.by("system:node:x").named("system:node:x");
    check_refused("no machine", &foreign.judged(&table()), "no machine for node x");
    let became = table_with(&json!({"nodeRef": {"name": "a.internal"}}));
    check_refused(
        "not the node that it became",
        &SERVE.judged(&became),
        "no machine for node a",
    );
}

/// The same request with another signature.
fn forged(object: &CertificateSigningRequest) -> Vec<u8> {
    let pem = String::from_utf8(object.spec.request.0.clone()).unwrap();
    // The last bytes are the signature.
    let lines: Vec<&str> = pem.lines().collect();
    let (last, rest) = (lines[lines.len() - 2], &lines[..lines.len() - 2]);
    let place = last.len() / 2;
    let other = if last.as_bytes()[place] == b'A' { "B" } else { "A" };
    let last = format!("{}{other}{}", &last[..place], &last[place + 1..]);
    format!("{}\n{last}\n{}\n", rest.join("\n"), lines[lines.len() - 1]).into_bytes()
}

#[test]
fn who_does_not_have_the_key_is_refused() {
    for ask in [FIRST, SERVE] {
        let mut object = ask.object();
        object.spec.request = ByteString(forged(&object));
        let Verdict::Refused(refusal) = judge(&object, &table()) else {
            panic!("it is forged")
        };
        assert!(
            matches!(refusal, Refusal::Signature | Refusal::Unreadable(_)),
            "{refusal}"
        );
    }
    let mut garbage = FIRST.object();
    garbage.spec.request = ByteString(b"garbage".to_vec());
    check_refused("garbage", &judge(&garbage, &table()), "cannot be read");
}

#[test]
fn the_rest_is_left_alone() {
    let renewal = FIRST.by("system:node:a").in_groups(&["system:nodes"]);
    for (what, ask) in [
        ("a renewal", renewal),
        ("another signer", FIRST.signed_by("kubernetes.io/kube-apiserver-client")),
        ("a signer of others", FIRST.signed_by("example.com/mine")),
    ] {
        assert_eq!(ask.judged(&table()), Verdict::Ignored, "{what}");
    }
    for status in [
        json!({"conditions": [{"type": "Approved", "status": "True"}]}),
        json!({"conditions": [{"type": "Denied", "status": "True"}]}),
        json!({"certificate": "AA=="}),
    ] {
        let mut object = FIRST.object();
        object.status = hyperplane_objects::read(&status).unwrap();
        assert_eq!(judge(&object, &table()), Verdict::Ignored, "{status}");
    }
}
