use super::*;

fn parse(method: &str, uri: &str) -> RequestInfo {
    RequestInfo::parse(&Method::from_bytes(method.as_bytes()).unwrap(), &uri.parse().unwrap())
}

/// verb, group, version, namespace, resource, name, subresource.
#[track_caller]
fn check(method: &str, uri: &str, expected: [&str; 7]) {
    let info = parse(method, uri);
    assert!(info.is_resource, "{uri} names a resource");
    let found = [
        &info.verb,
        &info.group,
        &info.version,
        &info.namespace,
        &info.resource,
        &info.name,
        &info.subresource,
    ];
    assert_eq!(found, expected, "{method} {uri}");
}

#[test]
fn resources_are_found_in_paths() {
    check(
        "GET",
        "/api/v1/namespaces",
        ["list", "", "v1", "", "namespaces", "", ""],
    );
    check(
        "GET",
        "/api/v1/namespaces/a",
        ["get", "", "v1", "a", "namespaces", "a", ""],
    );
    check(
        "PUT",
        "/api/v1/namespaces/a/finalize",
        ["update", "", "v1", "a", "namespaces", "a", "finalize"],
    );
    check(
        "PUT",
        "/api/v1/namespaces/a/status",
        ["update", "", "v1", "a", "namespaces", "a", "status"],
    );
    check(
        "GET",
        "/api/v1/namespaces/a/pods",
        ["list", "", "v1", "a", "pods", "", ""],
    );
    check("GET", "/api/v1/pods/", ["list", "", "v1", "", "pods", "", ""]);
    check(
        "POST",
        "/api/v1/namespaces/a/pods",
        ["create", "", "v1", "a", "pods", "", ""],
    );
    check(
        "HEAD",
        "/api/v1/namespaces/a/pods/p",
        ["get", "", "v1", "a", "pods", "p", ""],
    );
    check(
        "POST",
        "/api/v1/namespaces/a/pods/p/eviction",
        ["create", "", "v1", "a", "pods", "p", "eviction"],
    );
    check(
        "PATCH",
        "/apis/x.test/v1/namespaces/a/foos/f",
        ["patch", "x.test", "v1", "a", "foos", "f", ""],
    );
    check(
        "DELETE",
        "/apis/x.test/v1/bars/b",
        ["delete", "x.test", "v1", "", "bars", "b", ""],
    );
    check(
        "DELETE",
        "/apis/x.test/v1/bars",
        ["deletecollection", "x.test", "v1", "", "bars", "", ""],
    );
    check(
        "OPTIONS",
        "/apis/x.test/v1/bars",
        ["", "x.test", "v1", "", "bars", "", ""],
    );
}

#[test]
fn the_query_decides_between_list_watch_and_one_name() {
    let path = "/apis/x.test/v1/namespaces/a/foos";
    let list = |name| ["list", "x.test", "v1", "a", "foos", name, ""];
    let watch = |name| ["watch", "x.test", "v1", "a", "foos", name, ""];
    check("GET", &format!("{path}?watch=true"), watch(""));
    check("GET", &format!("{path}?watch=1"), watch(""));
    check("GET", &format!("{path}?watch="), watch(""));
    check("GET", &format!("{path}?watch=maybe"), watch(""));
    check("GET", &format!("{path}?watch=false"), list(""));
    check("GET", &format!("{path}?watch=0"), list(""));
    check("GET", &format!("{path}?fieldSelector=metadata.name%3Df"), list("f"));
    check(
        "GET",
        &format!("{path}?fieldSelector=metadata.name==f,spec.a=b&watch=1"),
        watch("f"),
    );
    check("GET", &format!("{path}?fieldSelector=metadata.name!=f"), list(""));
    check("GET", &format!("{path}?fieldSelector=metadata.name%3Da%2Fb"), list(""));
    check(
        "GET",
        &format!("{path}?fieldSelector=metadata.name%3Df&limit=x&watch=1"),
        watch(""),
    );
    check(
        "GET",
        &format!("{path}/f?watch=1"),
        ["get", "x.test", "v1", "a", "foos", "f", ""],
    );
}

#[test]
fn selectors_are_kept_for_those_who_decide_on_access() {
    let info = parse("DELETE", "/api/v1/pods?labelSelector=a%3Db&fieldSelector=x");
    assert_eq!(
        (info.label_selector.as_str(), info.field_selector.as_str()),
        ("a=b", "x")
    );
    let info = parse("GET", "/api/v1/namespaces/a/pods/p?labelSelector=a");
    assert_eq!(info.label_selector, "");
}

#[test]
fn other_paths_name_no_resource() {
    for path in [
        "/",
        "/api",
        "/api/v1",
        "/apis/x.test/v1",
        "/healthz",
        "/openapi/v3/apis/x.test/v1",
        "/API/v1/pods",
    ] {
        let info = parse("GET", path);
        assert!(!info.is_resource, "{path}");
        assert_eq!((info.verb.as_str(), info.path.as_str()), ("get", path));
    }
}

#[test]
fn paths_are_decoded_before_they_are_split() {
    check(
        "GET",
        "/apis/x.test/v1/namespaces/a/foos/f%2Fstatus",
        ["get", "x.test", "v1", "a", "foos", "f", "status"],
    );
    check(
        "GET",
        "/api/v1/namespaces//pods",
        ["list", "", "v1", "", "pods", "", ""],
    );
    let broken = parse("GET", "/api/v1/namespaces/a/pods/%zz");
    assert!(broken.is_malformed);
}

#[test]
fn verbs_in_paths_are_marked() {
    let info = parse("GET", "/api/v1/watch/namespaces/a/pods/p");
    assert!(info.has_path_verb);
    assert_eq!((info.verb.as_str(), info.resource.as_str()), ("watch", "pods"));
    assert!(parse("GET", "/api/v1/watch").has_path_verb);
    assert_eq!(parse("GET", "/api/v1/proxy/nodes/n/x").subresource, "");
}
