//! References inside of `spec.configuration`, whose parts have the shapes of OpenShift's configuration kinds. A table of
//! paths: whatever is not in it is not copied.

use hyperplane_api::hypershift::hosted_cluster::HostedClusterSpec;
use serde_json::Value;

use super::{Order, Purpose, SourceKind};

/// Where references stand. A star stands for every element of a list.
const PATHS: &[(SourceKind, &[&str])] = &[
    (
        SourceKind::Secret,
        &[
            "apiServer",
            "servingCerts",
            "namedCertificates",
            "*",
            "servingCertificate",
        ],
    ),
    (SourceKind::ConfigMap, &["apiServer", "clientCA"]),
    (
        SourceKind::Secret,
        &["authentication", "webhookTokenAuthenticator", "kubeConfig"],
    ),
    (SourceKind::ConfigMap, &["authentication", "oauthMetadata"]),
    (
        SourceKind::ConfigMap,
        &[
            "authentication",
            "oidcProviders",
            "*",
            "issuer",
            "issuerCertificateAuthority",
        ],
    ),
    (
        SourceKind::Secret,
        &[
            "authentication",
            "oidcProviders",
            "*",
            "oidcClients",
            "*",
            "clientSecret",
        ],
    ),
    (SourceKind::ConfigMap, &["image", "additionalTrustedCA"]),
    (SourceKind::ConfigMap, &["proxy", "trustedCA"]),
    (SourceKind::ConfigMap, &["scheduler", "policy"]),
    (
        SourceKind::Secret,
        &["ingress", "componentRoutes", "*", "servingCertKeyPairSecret"],
    ),
    (SourceKind::Secret, &["oauth", "templates", "login"]),
    (SourceKind::Secret, &["oauth", "templates", "providerSelection"]),
    (SourceKind::Secret, &["oauth", "templates", "error"]),
    (
        SourceKind::ConfigMap,
        &["oauth", "identityProviders", "*", "basicAuth", "ca"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "basicAuth", "tlsClientCert"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "basicAuth", "tlsClientKey"],
    ),
    (
        SourceKind::ConfigMap,
        &["oauth", "identityProviders", "*", "github", "ca"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "github", "clientSecret"],
    ),
    (
        SourceKind::ConfigMap,
        &["oauth", "identityProviders", "*", "gitlab", "ca"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "gitlab", "clientSecret"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "google", "clientSecret"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "htpasswd", "fileData"],
    ),
    (
        SourceKind::ConfigMap,
        &["oauth", "identityProviders", "*", "keystone", "ca"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "keystone", "tlsClientCert"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "keystone", "tlsClientKey"],
    ),
    (
        SourceKind::ConfigMap,
        &["oauth", "identityProviders", "*", "ldap", "ca"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "ldap", "bindPassword"],
    ),
    (
        SourceKind::ConfigMap,
        &["oauth", "identityProviders", "*", "openID", "ca"],
    ),
    (
        SourceKind::Secret,
        &["oauth", "identityProviders", "*", "openID", "clientSecret"],
    ),
    (
        SourceKind::ConfigMap,
        &["oauth", "identityProviders", "*", "requestHeader", "ca"],
    ),
];

/// Everything that the configuration refers to, each object once.
pub(super) fn orders(spec: &HostedClusterSpec) -> Vec<Order> {
    let Some(configuration) = &spec.configuration else {
        return Vec::new();
    };
    let value = serde_json::to_value(configuration).expect("a configuration has only text keys and finite numbers");
    let mut found: Vec<Order> = Vec::new();
    for (kind, path) in PATHS {
        visit(&value, path, "spec.configuration", &mut |field, name| {
            let is_known = found.iter().any(|order| order.kind == *kind && order.source == name);
            if !is_known && !name.is_empty() {
                found.push(order(*kind, field, name));
            }
        });
    }
    found
}

fn order(kind: SourceKind, field: String, name: &str) -> Order {
    Order {
        kind,
        purpose: Purpose::Configuration,
        field,
        source: name.to_owned(),
        target: name.to_owned(),
        keys: Vec::new(),
    }
}

/// Calls `take` with the field and the name of every reference under a path.
fn visit(value: &Value, path: &[&str], field: &str, take: &mut impl FnMut(String, &str)) {
    match path.split_first() {
        None => {
            if let Some(name) = value["name"].as_str() {
                take(format!("{field}.name"), name);
            }
        }
        Some((&"*", rest)) => {
            for (number, element) in value.as_array().into_iter().flatten().enumerate() {
                visit(element, rest, &format!("{field}[{number}]"), take);
            }
        }
        Some((key, rest)) => {
            if let Some(below) = value.get(key) {
                visit(below, rest, &format!("{field}.{key}"), take);
            }
        }
    }
}
