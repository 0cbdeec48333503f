//! What cannot be is told by flag and rule, all of it at once.

use hyperplane_recipes::{Manifest, Problem};

use crate::support::{cook, cook_line};

fn refused(line: &str) -> Vec<Problem> {
    match cook_line(line) {
        Ok(_) => panic!("{line}: nothing is wrong with it"),
        Err(problems) => problems,
    }
}

/// Each flag of the line is refused, by a rule with these words, and nothing else is.
fn check(line: &str, expected: &[(&str, &str)]) {
    let problems = refused(line);
    for (flag, words) in expected {
        let found = problems
            .iter()
            .any(|problem| problem.flag == *flag && problem.rule.contains(words));
        assert!(found, "{line}: {flag} ({words}) is not among {problems:#?}");
    }
    assert_eq!(problems.len(), expected.len(), "{line}: {problems:#?}");
}

#[test]
fn everything_is_told_at_once() {
    check(
        "cluster kubevirt Blue --version 1.99.0 --cluster-cidr 10.0.0.0/33 --memory much --arch sparc \
         --node-drain-timeout soon --toleration effect=Never",
        &[
            ("--name", "\"Blue\""),
            ("--version", "near are hyperplane.dev/kubernetes:v1.36"),
            ("--cluster-cidr", "longer than its address"),
            ("--memory", "8Gi"),
            ("--arch", "must be one of"),
            ("--node-drain-timeout", "90s, 20m or 1h30m"),
            ("--toleration", "NoSchedule, PreferNoSchedule, NoExecute"),
            ("--toleration", "has no key"),
        ],
    );
}

#[test]
fn names_and_domains_have_rules() {
    let long = format!("cluster none {} --expose-through-load-balancer", "a".repeat(60));
    check(&long, &[("--name", "longer than 63")]);
    let none = "cluster none a --expose-through-load-balancer";
    check(
        &format!("{none} --base-domain-prefix x"),
        &[("--base-domain-prefix", "needs --base-domain")],
    );
    check(
        &format!("{none} --base-domain not!a.domain"),
        &[("--base-domain", "example.com")],
    );
    check(&format!("{none} --infra-id UPPER"), &[("--infra-id", "lower-case")]);
    check(&format!("{none} --labels nothing"), &[("--labels", "write key=value")]);
    check(&format!("{none} --labels a=1,a=2"), &[("--labels", "two values")]);
    check(
        &format!("{none} --pausedUntil tomorrow"),
        &[("--pausedUntil", "2030-01-31T08:00:00Z")],
    );
    check(
        &format!("{none} --feature-set Everything"),
        &[("--feature-set", "TechPreviewNoUpgrade")],
    );
    check(
        &format!("{none} --disable-cluster-capabilities Ingress"),
        &[("--disable-cluster-capabilities", "together with Ingress")],
    );
}

#[test]
fn networks_fit_together() {
    let none = "cluster none a --expose-through-load-balancer";
    for (flags, flag, words) in [
        (
            "--cluster-cidr 172.31.128.0/17",
            "--service-cidr",
            "overlaps 172.31.128.0/17 of --cluster-cidr",
        ),
        ("--machine-cidr 172.20.0.0/16", "--machine-cidr", "172.20.0.1"),
        ("--cluster-cidr fd01::/48", "--cluster-cidr", "only IPv6"),
        ("--cluster-cidr 10.1.2.3/16", "--cluster-cidr", "bits behind its prefix"),
        ("--service-cidr here", "--service-cidr", "is no network"),
        (
            "--cluster-cidr 10.0.0.0/16,10.1.0.0/16,10.2.0.0/16",
            "--cluster-cidr",
            "there are 3",
        ),
        (
            "--default-dual --service-cidr 10.1.0.0/16",
            "--default-dual",
            "cannot go with",
        ),
        ("--network-type OpenShiftSDN", "--network-type", "not offered"),
        (
            "--network-type Calico --allocate-node-cidrs",
            "--allocate-node-cidrs",
            "needs --network-type Other",
        ),
    ] {
        let problems = refused(&format!("{none} {flags}"));
        let found = problems
            .iter()
            .any(|problem| problem.flag == flag && problem.rule.contains(words));
        assert!(found, "{flags}: {problems:#?}");
    }
}

#[test]
fn platforms_have_rules_of_their_own() {
    check(
        "cluster none a",
        &[(
            "--external-api-server-address",
            "no node of the management cluster was asked",
        )],
    );
    check(
        "cluster none a --expose-through-load-balancer --external-api-server-address 192.0.2.1",
        &[("--external-api-server-address", "leave one of them")],
    );
    check(
        "cluster agent a --agent-namespace Hosts --api-server-address 192.0.2.1",
        &[("--agent-namespace", "Hosts")],
    );
    check(
        "cluster kubevirt a --api-server-address 192.0.2.1",
        &[("--api-server-address", "NodePort")],
    );
    check(
        "cluster kubevirt a --infra-namespace b",
        &[("--infra-namespace", "needs --infra-kubeconfig-file")],
    );
    check(
        "cluster kubevirt a --attach-default-network false --cores 0",
        &[("--attach-default-network", "false needs"), ("--cores", "1 or more")],
    );
    // What only the whole object says.
    let problems = refused("cluster kubevirt a --arch arm64");
    assert!(problems[0].to_string().contains("arm64 only on AWS"), "{problems:#?}");
}

#[test]
fn a_node_tells_where_ports_are() {
    let words = ["cluster", "agent", "a", "--agent-namespace", "hosts"];
    let cluster = cook(&words, Some("192.0.2.7")).expect("a node was asked");
    assert!(cluster.yaml(false).contains("192.0.2.7"));
}

#[test]
fn hostnames_take_the_place_of_ports() {
    let line = "cluster agent a --agent-namespace hosts --external-dns-domain example.com";
    let text = cook_line(line).expect("names are enough").yaml(false);
    for name in ["api", "oauth", "konnectivity", "ignition"] {
        assert!(text.contains(&format!("hostname: {name}-a.example.com")), "{text}");
    }
    check(
        &format!("{line} --api-server-address 192.0.2.1"),
        &[("--external-dns-domain", "hostnames cannot go with node ports")],
    );
}

#[test]
fn pools_need_a_release_that_somebody_names() {
    check(
        "nodepool none a --cluster-name b",
        &[("--release-image", "or --version")],
    );
    check(
        "nodepool none a --cluster-name b --release-image hyperplane.dev/kubernetes:v1.99.0",
        &[("--release-image", "near are")],
    );
    check(
        "nodepool none a --cluster-name b --version 1.36.4 --release-image example.com/a:1",
        &[("--version", "cannot go with --release-image")],
    );
}

#[test]
fn what_is_sensitive_is_shown_only_to_those_who_ask() {
    let words = [
        "cluster",
        "none",
        "a",
        "--expose-through-load-balancer",
        "--pull-secret",
        "p",
    ];
    let cluster = cook(&words, None).expect("nothing is wrong");
    assert!(!cluster.yaml(false).contains("dXNlcjpwYXNz"));
    assert!(cluster.yaml(true).contains("dXNlcjpwYXNz"));
    assert_eq!(
        cluster.sensitive().map(Manifest::title).collect::<Vec<_>>(),
        ["Secret a-pull-secret"]
    );
    let open = cook_line("cluster none a --expose-through-load-balancer").expect("nothing is wrong");
    assert!(
        open.yaml(false).contains("auths"),
        "credentials of which there are none are no secret"
    );
}
